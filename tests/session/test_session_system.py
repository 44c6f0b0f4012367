"""Several system messages as one."""

from __future__ import annotations

from typing import Any

import pytest

from pi_daemon.session.rawjson import dumps, loads
from pi_daemon.session.system import fold_system


def fold(*messages: dict[str, Any], timestamp_ms: int | None = None) -> Any:
    folded = fold_system([dumps(message) for message in messages], timestamp_ms)
    return folded and loads(folded)


def system(content: Any = "", **members: Any) -> dict[str, Any]:
    return {"role": "system", "content": content, "timestamp": 1, **members}


def test_none() -> None:
    assert fold() is None
    assert fold({"role": "user", "content": "system"}) is None


def test_contents_are_joined() -> None:
    blocks = [{"type": "text", "text": "b"}, {"type": "image"}, {"type": "text", "text": "c"}]
    assert fold(system("a"), system(""), {"role": "user"}, system(blocks)) == system("a\n\nb\nc")


def test_sections_are_replaced_by_name_and_removed_by_null() -> None:
    found = fold(
        system(sections={"a": "1", "b": "2"}), system(sections={"a": None, "c": "3"}), system(sections={"a": "4"})
    )
    assert list(found["sections"].items()) == [("b", "2"), ("c", "3"), ("a", "4")]
    assert "sections" not in fold(system(sections={"a": "1"}), system(sections={"a": None}))


def test_tools_come_and_go_by_name() -> None:
    found = fold(
        system(toolsAdded=[{"name": "read", "v": 1}, {"name": "bash"}]),
        system(toolsRemoved=[{"name": "bash"}, {"name": "never"}], toolsAdded=[{"name": "read", "v": 2}]),
    )
    assert found["toolsAdded"] == [{"name": "read", "v": 2}]
    assert "toolsAdded" not in fold(system(toolsAdded=[{"name": "a"}]), system(toolsRemoved=[{"name": "a"}]))


def test_the_time_is_the_first_or_the_one_given() -> None:
    assert fold(system(), system(timestamp=2))["timestamp"] == 1
    assert fold(system(timestamp=None), system(timestamp=2))["timestamp"] == 2
    assert fold(system(timestamp=None))["timestamp"] == 0
    assert fold(system(), timestamp_ms=9)["timestamp"] == 9


def test_tools_and_sections_keep_their_bytes() -> None:
    tool = b'{"name":"a","n":[1.0,1e999,123456789012345678901],"s":"\\ud83d"}'
    folded = fold_system(
        [b'{"role":"system","content":"\\ud83d","toolsAdded":[%s],"sections":{"a":"\\/"},"timestamp":1.0}' % tool]
    )
    assert folded == (
        b'{"role":"system","content":"\\ud83d","sections":{"a":"\\/"},"toolsAdded":[' + tool + b'],"timestamp":1.0}'
    )


@pytest.mark.parametrize("member", ["sections", "toolsAdded", "toolsRemoved", "content"])
@pytest.mark.parametrize("value", [None, 5, "text", [5], {"a": 5}])
def test_odd_members(member: str, value: Any) -> None:
    assert fold(system(**{member: value}))["role"] == "system"
