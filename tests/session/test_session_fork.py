"""The entries of a fork. The reference agrees on random sessions (tests/conformance)."""

from __future__ import annotations

from collections.abc import Callable

from pi_daemon.session.fork import fork_lines
from pi_daemon.session.rawjson import loads
from tests.session.entries import TIME, Chain, line, user


def fork(chain: Chain, leaf: str | None) -> list[bytes]:
    path = chain.tree.path(leaf)
    return fork_lines(chain.tree, path, chain.of(path), counter())


def counter() -> Callable[[set[str]], str]:
    numbers = iter(range(99))

    def new_id(taken: set[str]) -> str:
        name = f"new{next(numbers)}"
        assert name not in taken
        return name

    return new_id


def test_a_path_without_labels_is_its_lines() -> None:
    odd = b'{ "type":"message", "id":"b", "parentId":"a", "message":{"role":"user","content":"\\ud83d","n":1.0} }'
    chain = Chain(user("a", None), odd, user("c", "a"), line("later_kind", "d", "b", x=[1e300]))
    assert fork(chain, "d") == [chain.lines["a"], odd, chain.lines["d"]]
    assert fork(chain, None) == []


def test_labels_move_to_the_end() -> None:
    chain = Chain(
        line("label", "l0", None, targetId="b", label="early"),
        user("a", "l0"),
        line("label", "l1", "a", targetId="a", label="one"),
        line("label", "l2", "l1", targetId="l1", label="on a label"),
        user("b", "l2"),
        user("other", "a"),
        b'{"type":"label","id":"l3","parentId":"other","timestamp":"2027","targetId":"a","label":"two"}',
        line("label", "l4", "l3", targetId="other", label="elsewhere"),
        line("compaction", "k", "b", summary="s", firstKeptEntryId="l1", tokensBefore=1),
    )
    found = [loads(raw) for raw in fork(chain, "k")]
    assert [(entry["id"], entry["parentId"]) for entry in found] == [
        ("a", None),
        ("b", "a"),
        ("k", "b"),
        ("new0", "k"),
        ("new1", "new0"),
    ]
    assert found[2]["firstKeptEntryId"] == "b"
    assert found[3:] == [
        {"type": "label", "id": "new0", "parentId": "k", "timestamp": TIME, "targetId": "b", "label": "early"},
        {"type": "label", "id": "new1", "parentId": "new0", "timestamp": "2027", "targetId": "a", "label": "two"},
    ]


def test_the_other_members_keep_their_bytes() -> None:
    chain = Chain(
        line("label", "l", None, targetId="a", label="x"),
        b'{"type":"custom","id":"a","parentId":"l","data":[1.0, 123456789012345678901,"\\ud83d"]}',
    )
    assert fork(chain, "a")[0] == (
        b'{"type":"custom","id":"a","parentId":null,"data":[1.0, 123456789012345678901,"\\ud83d"]}'
    )


def test_a_compaction_that_keeps_itself_or_nothing_stays() -> None:
    for first in ("k", "nowhere", "a"):
        chain = Chain(
            user("a", None), line("compaction", "k", "a", summary="s", firstKeptEntryId=first, tokensBefore=1)
        )
        assert fork(chain, "k")[1] == chain.lines["k"]


def test_an_orphan_becomes_the_root() -> None:
    chain = Chain(user("a", "gone"), user("b", "a"))
    assert [loads(raw)["parentId"] for raw in fork(chain, "b")] == [None, "a"]
