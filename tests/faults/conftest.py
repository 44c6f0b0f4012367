"""The same event loop and directories as the storage tests have."""

from __future__ import annotations

from tests.storage.conftest import place, pytest_pyfunc_call

__all__ = ["place", "pytest_pyfunc_call"]
