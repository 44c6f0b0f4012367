"""Version 1 and 2 files: read as version 3, and migrated to what was read."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import pytest

from pi_daemon.session.entry import read_line
from pi_daemon.session.head import CompactionFacts, Head
from pi_daemon.session.migrate import migrated_line
from pi_daemon.session.rawjson import dumps, loads, members
from tests.session.entries import TIME, read

V1 = b'{"type":"session","id":"old","timestamp":"%s","cwd":"/p"}\n' % TIME.encode()
V2 = V1.replace(b'"id"', b'"version":2,"id"')


def entry(type: str = "message", **members: Any) -> bytes:
    return dumps({"type": type, "timestamp": TIME, **members}) + b"\n"


def derived(ordinal: int, digits: int = 8) -> str:
    return sha256(f"old:{ordinal}".encode()).hexdigest()[:digits]


def migrated(data: bytes) -> list[Any]:
    """The values of the migrated lines, each of which reads as the head that the old line gave."""
    heads, _, reader = read(data)
    assert reader.header is not None
    found = []
    for head in heads:
        raw = migrated_line(head, data[head.offset : head.offset + head.length], reader.header.version)
        again = read_line(raw, head.offset)
        assert isinstance(again, Head)
        assert (again.type, again.id, again.parent_id, again.timestamp, again.facts) == (
            head.type,
            head.id,
            head.parent_id,
            head.timestamp,
            head.facts,
        )
        found.append(loads(raw))
    return found


@pytest.mark.parametrize("block", [1, 1 << 16])
def test_version_1_is_a_chain_with_derived_ids(block: int) -> None:
    data = V1 + entry(message={"role": "user"}) + b"no JSON\n\n42\nnull\n" + entry("custom") + b"[]\n" + entry("custom")
    heads, strays, reader = read(data, block)
    # Lines that parse count, null and what else is nothing to JavaScript doesn't.
    assert [head.id for head in heads] == [derived(1), derived(3), derived(5)]
    assert [head.parent_id for head in heads] == [None, derived(1), derived(3)]
    assert not reader.unversioned and len(strays) == 5
    assert [value["parentId"] for value in migrated(data)] == [None, derived(1), derived(3)]


def test_the_same_ids_at_each_reading() -> None:
    data = V1 + b"".join(entry("custom", n=n) for n in range(50))
    assert (
        [head.id for head in read(data)[0]] == [head.id for head in read(data, 1)[0]] == [*map(derived, range(1, 51))]
    )


def test_a_clash_takes_more_digits(monkeypatch: pytest.MonkeyPatch) -> None:
    class Digest:
        def __init__(self, _: bytes) -> None: ...

        def hexdigest(self) -> str:
            return "0" * 64

    monkeypatch.setattr("pi_daemon.session.migrate.sha256", Digest)
    heads, _, _ = read(V1 + entry("custom") * 3)
    assert [head.id for head in heads] == ["0" * 8, "0" * 9, "0" * 10]


@pytest.mark.parametrize(
    "index, first",
    [(1, derived(1)), (3, derived(3)), (0, None), (4, None), (99, None), (-1, None), (1.5, None), ("1", None)],
)
def test_an_index_becomes_an_id(index: Any, first: str | None) -> None:
    """Of the header, of what comes later or of nothing at all: no id (pi 1.6.0)."""
    data = V1 + entry("custom") * 2 + entry("compaction", summary="s", firstKeptEntryIndex=index) + entry("custom")
    heads, _, _ = read(data)
    facts = heads[2].facts
    assert isinstance(facts, CompactionFacts) and facts.first_kept == first
    value = migrated(data)[2]
    assert value.get("firstKeptEntryId") == first
    assert ("firstKeptEntryIndex" in value) is (not isinstance(index, int | float))


@pytest.mark.parametrize("header, ids", [(V1, {}), (V2, {"id": "a", "parentId": None})])
def test_the_role_of_custom_messages_is_renamed(header: bytes, ids: dict[str, Any]) -> None:
    data = header + entry(**ids, message={"role": "hookMessage", "content": "x"})
    heads, _, _ = read(data)
    assert heads[0].role == "custom"
    assert migrated(data)[0]["message"] == {"role": "custom", "content": "x"}


def test_version_2_has_its_own_ids() -> None:
    data = V2 + entry(id="b", parentId="a", message={"role": "user"}) + entry("custom")
    heads, strays, _ = read(data)
    assert [(head.id, head.parent_id) for head in heads] == [("b", "a")]
    assert len(strays) == 2


def test_only_what_must_change_changes() -> None:
    raw = (
        b'{"type":"message","id":"a","parentId":null, "message":{"role":"hookMessage","n":[1.0 ,1234567890123456789]}}'
    )
    heads, _, _ = read(V2 + raw)
    assert migrated_line(heads[0], raw, 2) == (
        b'{"type":"message","id":"a","parentId":null,"message":{"role":"custom","n":[1.0 ,1234567890123456789]}}'
    )
    same = raw.replace(b"hookMessage", b"custom")
    heads, _, _ = read(V2 + same)
    assert migrated_line(heads[0], same, 2) is same
    old = b'{"type":"message","message":{"role":"user","content":"\\ud83d","n":1.0}}'
    heads, _, _ = read(V1 + old)
    assert members(migrated_line(heads[0], old, 1))["message"] == b'{"role":"user","content":"\\ud83d","n":1.0}'


def test_an_explicit_version_1_is_version_1() -> None:
    heads, _, _ = read(V1.replace(b'"id"', b'"version":1,"id"') + entry("custom"))
    assert heads[0].id == derived(1)
