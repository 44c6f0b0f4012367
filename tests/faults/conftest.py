"""The same event loop and directories as the storage tests have, and pi."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.storage.conftest import place, pytest_pyfunc_call
from tests.storage.pi import Pi

__all__ = ["place", "pytest_pyfunc_call"]


@pytest.fixture(scope="module")
def pi(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pi]:
    process = Pi(tmp_path_factory.mktemp("home"))
    yield process
    process.close()
