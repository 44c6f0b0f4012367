"""session/explain over the wire: one entry, a text, all of them; and what is odd."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

import pytest

from pi_daemon.engine import explaining
from tests.methods.conftest import Client, Refused, Scene, assistant, user

Work = Callable[[Client, str], Awaitable[None]]


def line(type: str, id: str, parent: str | None, **members: Any) -> bytes:
    entry = {"type": type, "id": id, "parentId": parent, "timestamp": "2026-01-01T00:00:00.000Z", **members}
    return json.dumps(entry).encode()


def said(id: str, parent: str | None, text: str = "hello") -> bytes:
    return line("message", id, parent, message=user(text)["message"])


def answered(id: str, parent: str | None, text: str = "hi") -> bytes:
    return line("message", id, parent, message=assistant(text)["message"])


def compaction(id: str, parent: str, first: str, summary: str) -> bytes:
    return line("compaction", id, parent, summary=summary, firstKeptEntryId=first, tokensBefore=9)


def on(scene: Scene, lines: Iterable[bytes], work: Work, **options: Any) -> None:
    """Does it with a session of these lines; the file stays as it was."""
    header = b'{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/p"}'
    path = scene.sessions / "2026-01-01T00-00-00-000Z_s.jsonl"
    path.write_bytes(b"\n".join([header, *lines, b""]))
    before = path.read_bytes()

    async def main() -> None:
        async with scene.running():
            client = await scene.client()
            await client.call("session/open", path=str(path), **options)
            await work(client, "s")
        assert path.read_bytes() == before

    asyncio.run(main())


COVERED = [
    said("u1", None, "Please mend src/parse.py"),
    answered("a1", "u1", "I look at the Parser"),
    said("u2", "a1", "go on"),
    compaction("c", "u2", "u2", "## Goal\nmend the parser in src/parse.py, please"),
    said("u3", "c"),
    said("x1", "a1", "elsewhere"),
    said("x2", "x1", "deeper"),
    line("label", "l", "u3", targetId="u1", label="start"),
]


def test_one_entry(scene: Scene) -> None:
    async def work(client: Client, session: str) -> None:
        async def of(entry: str, **more: Any) -> dict[str, Any]:
            found = await client.call("session/explain", sessionId=session, entryId=entry, **more)
            assert "nextCursor" not in found
            (one,) = found["entries"]
            return one  # type: ignore[no-any-return]

        facts = {"summaryId": "c", "asked": 1, "kept": 1, "missing": []}
        covered = {"inContext": False, "reason": "compacted", "compactionId": "c", "facts": facts}
        kind = {"type": "message", "role": "user"}
        assert await of("u1") == {"id": "u1", **kind, **covered, "preview": "Please mend src/parse.py"}
        known = {"inContext": True, "messageIndex": 1, "sentIndex": 1}
        assert await of("u2") == {"id": "u2", **kind, **known, "reason": "asStored", "preview": "go on"}
        beside = {"inContext": False, "reason": "otherBranch", "branchId": "x1", "leftAtId": "a1"}
        assert await of("x2") == {"id": "x2", **kind, **beside, "preview": "deeper"}
        assert (await of("x2", leafId="x2"))["sentIndex"] == 3
        assert (await of("u1", leafId=None))["reason"] == "noLeaf"

    on(scene, COVERED, work)


def test_a_text(scene: Scene) -> None:
    async def work(client: Client, session: str) -> None:
        async def of(query: str) -> list[tuple[str, str, bool]]:
            found = await client.call("session/explain", sessionId=session, query=query)
            return [(one["id"], one["foundIn"], one["textInContext"]) for one in found["entries"]]

        assert await of("PARSE") == [("u1", "text", True), ("a1", "text", True), ("c", "summary", True)]
        assert await of("look at") == [("a1", "text", False)]
        assert await of("deeper") == [("x2", "text", False)]
        assert await of("start") == [("l", "other", False)]
        assert await of("nowhere") == []
        hit = (await client.call("session/explain", sessionId=session, query="look at"))["entries"][0]
        assert hit["snippet"] == "I look at the Parser" and hit["facts"]["asked"] == 0

    on(scene, COVERED, work)


def test_a_text_that_is_replaced_folded_or_noted_only(scene: Scene) -> None:
    def edited(id: str, parent: str, target: str, content: str | None) -> bytes:
        replacement = None if content is None else {"content": content}
        return line("context_edit", id, parent, targetId=target, replacement=replacement)

    lines = [
        line("message", "s1", None, message={"role": "system", "content": "be kind"}),
        said("u1", "s1", "the first wording"),
        line(
            "compaction",
            "c",
            "u1",
            summary="s",
            firstKeptEntryId="u1",
            tokensBefore=1,
            systemMessage={"role": "system", "content": "be kind"},
        ),
        said("u2", "c", "the second wording"),
        edited("e1", "u2", "u1", "another wording"),
        line("message", "r", "e1", message={"role": "toolResult", "content": [], "details": {"note": "aside"}}),
    ]

    async def work(client: Client, session: str) -> None:
        async def of(query: str) -> dict[str, bool]:
            found = await client.call("session/explain", sessionId=session, query=query)
            return {one["id"]: one["textInContext"] for one in found["entries"]}

        assert await of("kind") == {"s1": True, "c": True}
        assert await of("first") == {"u1": False}
        assert await of("wording") == {"u1": True, "u2": True, "e1": True}
        assert await of("aside") == {"r": False}

    on(scene, lines, work)


def test_all_in_pages_of_one_revision(scene: Scene) -> None:
    async def work(client: Client, session: str) -> None:
        whole = await client.call("session/explain", sessionId=session)
        assert [one["id"] for one in whole["entries"]] == ["u1", "a1", "u2", "c", "u3", "x1", "x2", "l"]
        assert "preview" not in whole["entries"][0]
        shown = await client.call("session/explain", sessionId=session, previews=True)
        assert shown["entries"][0]["preview"] == "Please mend src/parse.py"
        for more in ({}, {"query": "e"}):
            full = (await client.call("session/explain", sessionId=session, **more))["entries"]
            found, cursor = [], {}
            while True:
                page = await client.call("session/explain", sessionId=session, limit=3, **more, **cursor)
                assert page["revision"] == whole["revision"] and len(page["entries"]) <= 3
                found += page["entries"]
                if "nextCursor" not in page:
                    break
                cursor = {"cursor": page["nextCursor"]}
            assert found == full
        for bad in ("", "x", "x:1", "x:-1", "x:\u0661"):
            with pytest.raises(Refused) as refused:
                await client.call("session/explain", sessionId=session, cursor=bad)
            assert (refused.value.reason, refused.value.data["path"]) == ("invalidParams", "cursor")

    on(scene, COVERED, work)


@pytest.mark.parametrize(
    ("params", "path"),
    [
        ({"entryId": "u1", "query": "x"}, "query"),
        ({"query": ""}, "query"),
        ({"limit": 0}, "limit"),
        ({"limit": explaining.ROWS + 1}, "limit"),
        ({"query": "x", "limit": explaining.MOST_HITS + 1}, "limit"),
    ],
)
def test_parameters_that_make_no_sense(scene: Scene, params: dict[str, Any], path: str) -> None:
    async def work(client: Client, session: str) -> None:
        with pytest.raises(Refused) as refused:
            await client.call("session/explain", sessionId=session, **params)
        assert (refused.value.reason, refused.value.data["path"]) == ("invalidParams", path)

    on(scene, COVERED, work)


def test_damaged_lines_are_told_and_searched(scene: Scene) -> None:
    lost = said("u2", "a1", "the lost words")[:-2]
    lines = [said("u1", None), answered("a1", "u1"), lost, answered("a2", "u2"), said("u3", "a2")]

    async def work(client: Client, session: str) -> None:
        async def of(**params: Any) -> list[dict[str, Any]]:
            return (await client.call("session/explain", sessionId=session, **params))["entries"]  # type: ignore[no-any-return]

        everything = await of(previews=True)
        assert [one["id"] for one in everything] == ["u1", "a1", None, "a2", "u3"]
        damaged = {"inContext": False, "reason": "damagedLine", "line": 4}
        assert everything[2] == {"id": None, **damaged, "damage": everything[2]["damage"]}
        assert everything[0]["reason"] == "pathCut" and everything[0]["missingId"] == "u2"
        assert everything[0]["line"] == 4
        (by_id,) = await of(entryId="u2")
        assert by_id == {"id": "u2", **damaged, "damage": by_id["damage"]}
        (hit,) = await of(query="LOST words")
        assert (hit["reason"], hit["textInContext"]) == ("damagedLine", False) and "the lost words" in hit["snippet"]
        (orphan,) = await of(entryId="u3", leafId="a1")
        assert (orphan["reason"], orphan["rootId"], orphan["missingId"], orphan["line"]) == ("orphaned", "a2", "u2", 4)
        with pytest.raises(Refused) as refused:
            await of(entryId="nowhere")
        assert refused.value.reason == "entryNotFound"

    on(scene, lines, work, recover="skip")


def test_ids_used_twice_loops_and_orphans(scene: Scene) -> None:
    lines = [said("a", None, "old"), said("b", "a"), said("a", None, "new"), said("p", "q"), said("q", "p")]
    lines += [said("o", "gone"), said("z", "b")]

    async def work(client: Client, session: str) -> None:
        found = (await client.call("session/explain", sessionId=session))["entries"]
        assert [(one["id"], one["reason"]) for one in found] == [
            ("a", "sameIdLater"),
            ("b", "asStored"),
            ("a", "asStored"),
            ("p", "loop"),
            ("q", "loop"),
            ("o", "orphaned"),
            ("z", "asStored"),
        ]
        both = (await client.call("session/explain", sessionId=session, entryId="a"))["entries"]
        assert [one["preview"] for one in both] == ["old", "new"]

    on(scene, lines, work)


@pytest.mark.slow
def test_a_session_ten_thousand_entries_deep(scene: Scene) -> None:
    depth = 10_000
    lines = [said(f"e{n}", f"e{n - 1}" if n else None, f"text {n}") for n in range(depth)]
    lines += [compaction("c", f"e{depth - 1}", f"e{depth - 2}", "text 7")]

    async def work(client: Client, session: str) -> None:
        found = (await client.call("session/explain", sessionId=session))["entries"]
        assert [one["reason"] for one in found] == ["compacted"] * (depth - 2) + ["asStored"] * 2 + ["summary"]
        hits = (await client.call("session/explain", sessionId=session, query="text 7"))["entries"]
        assert len(hits) == explaining.HITS

    on(scene, lines, work)


def test_a_session_that_is_not_written_yet(scene: Scene) -> None:
    async def main() -> None:
        async with scene.running():
            client = await scene.client()
            session = (await client.call("session/create", cwd="/p"))["sessionId"]
            assert (await client.call("session/explain", sessionId=session))["entries"] == []
            await client.call("session/append", sessionId=session, entries=[user("kept in memory", id="u1")])
            (hit,) = (await client.call("session/explain", sessionId=session, query="MEMORY"))["entries"]
            assert (hit["id"], hit["textInContext"]) == ("u1", True)

    asyncio.run(main())


def test_pages_go_on_while_the_session_grows(scene: Scene) -> None:
    async def main() -> None:
        async with scene.running():
            client = await scene.client()
            session = (await client.call("session/create", cwd="/p"))["sessionId"]
            await client.call("session/append", sessionId=session, entries=[user(id=f"u{n}") for n in range(4)])
            first = await client.call("session/explain", sessionId=session, limit=2)
            await client.call("session/append", sessionId=session, entries=[user(), assistant()])
            rest = await client.call("session/explain", sessionId=session, cursor=first["nextCursor"])
            assert [one["id"] for one in rest["entries"]] == ["u2", "u3"] and "nextCursor" not in rest
            assert (rest["revision"], rest["leafId"]) == (first["revision"], "u3")

    asyncio.run(main())
