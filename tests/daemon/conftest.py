"""Coroutine tests run in an event loop of their own. `home`: a user without a daemon."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Iterator

import pytest
from home import Home


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = pyfuncitem._fixtureinfo.argnames
    asyncio.run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names}))
    return True


@pytest.fixture
def home() -> Iterator[Home]:
    with Home() as made:
        yield made
