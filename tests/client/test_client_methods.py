"""The client's methods against the daemon's table: none is missing, and each sends what the table's type takes."""

from __future__ import annotations

import asyncio
import inspect
import re
import typing
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pi_daemon_client
import pytest
from pi_daemon_client import ABSENT, AsyncClient, Client
from pi_daemon_client._events import EVENTS
from pi_daemon_client._methods import Methods

from pi_daemon.rpc.table import METHODS, NOTIFICATIONS

NAMES = {
    "session/create": "create_session",
    "session/open": "open_session",
    "session/close": "close_session",
    "session/list": "list_sessions",
    "session/delete": "delete_session",
    "catalog/totals": "catalog_totals",
    "catalog/subscribe": "subscribe_catalog",
    "catalog/unsubscribe": "unsubscribe_catalog",
    "daemon/status": "daemon_status",
    "daemon/stop": "stop_daemon",
}


def python_name(method: str) -> str:
    """session/moveLeaf is move_leaf; a name that would read badly without its noun keeps it."""
    return NAMES.get(method) or re.sub("([A-Z])", r"_\1", method.split("/")[1]).lower()


class Recorder(Methods):
    async def request(self, method: str, params: Mapping[str, Any] | None = None, **_: Any) -> Any:
        self.sent = (method, dict(params or {}))
        return {}


def sample(annotation: Any) -> Any:
    text = str(annotation)
    literal = re.search(r"Literal\[['\"](\w+)", text)
    for pattern, value in (("Literal", literal and literal[1]), ("Sequence", []), ("bool", True), ("int", 1)):
        if pattern in text.replace("Mapping", ""):
            return value
    if "SubscribeSince" in text:
        return {"instanceId": "i", "revision": 1}
    return {} if "Options" in text else None if "Replacement" in text else "x"


@pytest.mark.parametrize("method", METHODS)
def test_each_method_sends_what_the_table_takes(method: str) -> None:
    recorder = Recorder()
    function = getattr(recorder, python_name(method))
    hints = typing.get_type_hints(function, localns={"t": __import__("pi_daemon_client").types})
    local = {"progress", "retry"}
    names = [name for name in inspect.signature(function).parameters if name not in local]
    asyncio.run(function(**{name: sample(hints[name]) for name in names}))
    sent, params = recorder.sent
    assert sent == method
    fields = {field.encode_name for field in msgspec.structs.fields(METHODS[method].params)}
    assert set(params) == fields - {"workDoneToken"}
    msgspec.convert(params, METHODS[method].params)


def test_the_readme_names_each_method() -> None:
    readme = Path(pi_daemon_client.__file__).parents[1] / "README.md"
    rows = re.findall(r"^\| `(\w+/\w+)` \| `(\w+)` \|$", readme.read_text(), re.MULTILINE)
    assert rows == [(method, python_name(method)) for method in METHODS]


def test_what_is_not_given_is_not_sent() -> None:
    recorder = Recorder()
    asyncio.run(recorder.open_session(path="/x", read_only=ABSENT))
    assert recorder.sent == ("session/open", {"path": "/x"})


def test_each_notification_of_a_session_has_its_class() -> None:
    assert set(EVENTS) == set(NOTIFICATIONS) - {"session/resync", "catalog/changed", "daemon/replaced", "$/progress"}


def test_the_blocking_client_has_all_of_it() -> None:
    def public(of: type) -> set[str]:
        return {name for name in dir(of) if not name.startswith("_")}

    assert public(AsyncClient) - public(Client) == set()
