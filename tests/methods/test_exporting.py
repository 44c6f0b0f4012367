"""session/export on the whole daemon: what comes out, where it may go, and what a failure leaves behind."""

from __future__ import annotations

import asyncio
import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from pi_daemon.engine import bodies
from pi_daemon.rpc.limits import Limits
from pi_daemon.storage.outside import NewFile
from pi_daemon.storage.system import Files
from tests.methods.conftest import Client, Refused, Scene, assistant, user


async def talk(client: Client, **more: Any) -> tuple[str, list[str]]:
    """A question, an answer with a label, then two branches; the leaf is on the later one."""
    session_id = (await client.call("session/create", cwd="/p", persist="immediate", **more))["sessionId"]
    reply = await client.call("session/append", sessionId=session_id, entries=[user("question"), assistant("answer")])
    ids = [entry["id"] for entry in reply["entries"]]
    left = await client.call("session/append", sessionId=session_id, entries=[user("left"), assistant("that way")])
    await client.call("session/label", sessionId=session_id, entryId=ids[1], label="here")
    right = await client.call("session/append", sessionId=session_id, entries=[user("right")], parentId=ids[1])
    return session_id, [*ids, *(entry["id"] for reply in (left, right) for entry in reply["entries"])]


def entries(text: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    header, *rest = [json.loads(line) for line in text.splitlines()]
    return header, rest


@pytest.mark.parametrize("portion", [1, 2_000])
def test_a_path_is_what_a_fork_of_it_would_be(scene: Scene, portion: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "AT_A_TIME", portion)

    async def main() -> None:
        async with scene.running():
            client = await scene.client()
            session_id, ids = await talk(client)
            (source,) = scene.files()
            for leaf in ids:
                target = scene.path / f"{leaf}.jsonl"
                options = {"sessionId": session_id, "format": "jsonl", "leafId": leaf}
                written = await client.call("session/export", **options, path=str(target))
                assert written == {"path": str(target)}
                assert stat.S_IMODE(target.stat().st_mode) == 0o600
                header, found = entries(target.read_text())
                text = (await client.call("session/export", **options))["text"]
                other, again = entries(text)
                assert header["id"] != other["id"] != session_id
                assert (header["cwd"], header["parentSession"], header["version"]) == ("/p", str(source), 3)
                assert [one for one in found if one["type"] != "label"] == [
                    one for one in again if one["type"] != "label"
                ]
                fork = await client.call("session/fork", sessionId=session_id, entryId=leaf)
                _, forked = entries(Path(fork["path"]).read_text())
                for one in [*found, *forked]:
                    if one["type"] == "label":
                        one["id"] = "made anew"
                assert found == forked
                await client.call("session/close", sessionId=fork["sessionId"])

    asyncio.run(main())


def test_a_tree_is_every_line_as_it_is(scene: Scene) -> None:
    async def main() -> None:
        async with scene.running():
            client = await scene.client()
            session_id, _ = await talk(client)
            await client.call("session/close", sessionId=session_id)
            (source,) = scene.files()
            whole = source.read_bytes() + b'\n  not JSON \xff\n{"type":"later",  "id" : "x","parentId":null,"n":1.0e2}'
            source.write_bytes(whole + b'\n{"torn')
            await client.call("session/open", sessionId=session_id, recover="skip")
            target = scene.path / "tree"
            await client.call("session/export", sessionId=session_id, format="tree", path=str(target))
            assert target.read_bytes() == whole + b"\n"
            with pytest.raises(Refused) as refused:
                await client.call("session/export", sessionId=session_id, format="tree")
            assert (refused.value.reason, refused.value.data["path"]) == ("invalidParams", "path")
            with pytest.raises(Refused) as refused:
                await client.call("session/export", sessionId=session_id, format="tree", leafId=None)
            assert refused.value.data["path"] == "leafId"

    asyncio.run(main())


@pytest.mark.parametrize("persist", ["never", "firstAssistant"])
def test_what_has_no_file_is_exported_too(scene: Scene, persist: str) -> None:
    async def main() -> None:
        async with scene.running():
            client = await scene.client()
            session_id = (await client.call("session/create", cwd="/p", persist=persist))["sessionId"]
            await client.call("session/append", sessionId=session_id, entries=[user("unwritten")])
            for format in ("jsonl", "tree"):
                text = (await client.call("session/export", sessionId=session_id, format=format))["text"]
                header, found = entries(text)
                assert "parentSession" not in header and (header["id"] == session_id) == (format == "tree")
                assert [one["message"]["content"] for one in found] == ["unwritten"]
            document = (await client.call("session/export", sessionId=session_id, format="markdown"))["text"]
            assert document.startswith("# unwritten\n")
            assert scene.files() == []

    asyncio.run(main())


def test_nothing_is_overwritten_nor_written_among_the_sessions(scene: Scene) -> None:
    async def main() -> None:
        async with scene.running():
            client = await scene.client()
            session_id, _ = await talk(client)
            (scene.path / "there").write_text("mine")
            (scene.path / "link").symlink_to(scene.path / "nowhere")
            (scene.path / "folder").mkdir()
            (scene.path / "inside").symlink_to(scene.sessions)
            (scene.path / "elsewhere").mkdir()
            (scene.sessions / "project").symlink_to(scene.path / "elsewhere")

            async def refused(path: str) -> tuple[str | None, Any]:
                with pytest.raises(Refused) as refusal:
                    await client.call("session/export", sessionId=session_id, format="jsonl", path=path)
                return refusal.value.reason, refusal.value.data.get("errno", refusal.value.data.get("path"))

            for name in ("there", "link", "folder"):
                assert await refused(str(scene.path / name)) == ("storageFailed", "EEXIST")
            assert (scene.path / "there").read_text() == "mine" and not (scene.path / "nowhere").exists()
            assert await refused(str(scene.path / "gone" / "x")) == ("storageFailed", "ENOENT")
            bad = [
                "x",
                "/x" * 500_000,
                "",
                "~/x",
                "/",
                str(scene.path) + "/",
                str(scene.path / "folder" / ".."),
                str(scene.path / ("x" * 250)),
            ]
            bad += [
                str(scene.sessions / "x.jsonl"),
                str(scene.path / "inside" / "x"),
                str(scene.path / "elsewhere" / "x"),
            ]
            bad += ["/tmp/a\0b", "/tmp/\ud83d"]
            for path in bad:
                assert await refused(path) == ("invalidParams", "path"), path
            odd = str(scene.path / "folder" / "two\nlines")
            assert (await client.call("session/export", sessionId=session_id, format="jsonl", path=odd)) == {
                "path": odd
            }
            assert [path.name for path in scene.path.rglob(".*")] == []

    asyncio.run(main())


def test_without_hard_links(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_links(self: Files, source: Path, target: Path) -> None:
        raise PermissionError(1, "no links here")

    async def main() -> None:
        async with scene.running():
            client = await scene.client()
            session_id, _ = await talk(client)
            monkeypatch.setattr(Files, "link", no_links)
            target = scene.path / "x.md"
            await client.call("session/export", sessionId=session_id, format="markdown", path=str(target))
            assert target.read_text().startswith("# question\n")
            assert [path.name for path in scene.path.glob(".*")] == []

    asyncio.run(main())


def test_somebody_else_takes_the_name_meanwhile(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    finish = NewFile.finish

    async def late(self: NewFile) -> None:
        Path(self.path).write_text("theirs")
        await finish(self)

    async def main() -> None:
        async with scene.running():
            client = await scene.client()
            session_id, _ = await talk(client)
            monkeypatch.setattr(NewFile, "finish", late)
            with pytest.raises(Refused) as refused:
                await client.call("session/export", sessionId=session_id, format="tree", path=str(scene.path / "x"))
            assert refused.value.data["errno"] == "EEXIST"
            assert (scene.path / "x").read_text() == "theirs" and list(scene.path.glob(".*")) == []

    asyncio.run(main())


def test_a_cancelled_export_leaves_nothing(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        async with scene.running():
            client = await scene.client()
            session_id, _ = await talk(client)
            begun, on = asyncio.Event(), asyncio.Event()
            write = NewFile.write

            async def slow(self: NewFile, data: bytes) -> None:
                await write(self, data)
                begun.set()
                await on.wait()

            monkeypatch.setattr(NewFile, "write", slow)
            params = {"sessionId": session_id, "format": "jsonl", "path": str(scene.path / "x")}
            answer = client.ask("session/export", params)
            await begun.wait()
            number = next(id for id, future in client._waiting.items() if future is answer)
            cancel = {"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": number}}
            client.connection.receive(json.dumps(cancel).encode())
            assert (await answer)["error"]["data"]["reason"] == "cancelled"
            assert not (scene.path / "x").exists() and list(scene.path.glob(".*")) == []

    asyncio.run(main())


def test_a_text_beyond_a_reply_is_refused_and_a_file_is_not(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        async with scene.running():
            client = await scene.client()
            client.connection.limits = Limits(reply_bytes=10_000)
            session_id, _ = await talk(client)
            await client.call("session/append", sessionId=session_id, entries=[user('"' * 2_400)])
            for size in (0, 2_400):  # too large once it is put into JSON, and too large at all
                await client.call("session/append", sessionId=session_id, entries=[user("\\" * size)])
                with pytest.raises(Refused) as refused:
                    await client.call("session/export", sessionId=session_id, format="tree")
                assert refused.value.reason == "tooLarge" and "path" in str(refused.value)
            await client.call("session/export", sessionId=session_id, format="tree", path=str(scene.path / "x"))
            (source,) = scene.files()
            assert (scene.path / "x").read_bytes() == source.read_bytes()

    asyncio.run(main())


def test_a_document(scene: Scene) -> None:
    call = {"type": "toolCall", "id": "c1", "name": "bash", "arguments": {"command": "ls", "n": 10**30}}
    said = [{"type": "thinking", "thinking": "hm </details>"}, {"type": "text", "text": "# I look\n<b>"}, call]
    result = {"role": "toolResult", "toolCallId": "c1", "toolName": "bash", "isError": True}
    image = {"type": "image", "mimeType": "image/png", "data": "AAAA"}
    output = {"type": "text", "text": "````\n" + "\n".join(map(str, range(300)))}

    async def main() -> None:
        async with scene.running():
            client = await scene.client()
            session_id, ids = await talk(client, name="A *name*")
            answer = {"role": "assistant", "content": said, "provider": "p", "model": "m2", "stopReason": "aborted"}
            drafts = [
                {"type": "message", "message": answer},
                {"type": "message", "message": {**result, "content": [output, image]}},
                {"type": "compaction", "summary": "so far\n## Goal\n> x", "tokensBefore": 1234},
            ]
            await client.call("session/append", sessionId=session_id, entries=drafts)
            document = (await client.call("session/export", sessionId=session_id, format="markdown"))["text"]
            lines = document.splitlines()
            assert lines[0] == "# A \\*name\\*"
            assert "- **Messages:** 2 from the user, 2 answers, 1 tool call, 2 failed" in lines
            assert [line for line in lines if line.startswith("## ")] == ["## 1. question", "## 2. right"]
            assert "**Label:** here" in lines and "### I look" in lines and "&lt;b>" in lines
            left = next(line for line in lines if "Another branch leaves here" in line)
            assert f"2 entries to `{ids[3]}`" in left or "3 entries" in left
            assert lines.index("answer") < lines.index(left) < lines.index("## 2. right")
            assert lines[lines.index("<summary>Thinking</summary>") + 2] == "hm &lt;/details>"
            assert "**Calls `bash`** `ls`" in lines and '{"n":1' + "0" * 30 + "}" in lines
            assert "**`bash` failed**" in lines and "`````" in lines and "*Image: image/png, 3 bytes*" in lines
            assert "… 211 lines left out …" in lines and "299" in lines and "**Ended: aborted**" in lines
            assert "> #### Goal" in lines and "> > x" in lines
            more = await client.call(
                "session/export", sessionId=session_id, format="markdown", thinking=False, full=True
            )
            assert "Thinking" not in more["text"] and "left out" not in more["text"]

    asyncio.run(main())


def test_edits_are_a_diff_and_calls_without_a_result_are_marked(scene: Scene) -> None:
    def call(number: int, **arguments: object) -> dict[str, object]:
        return {"type": "toolCall", "id": f"c{number}", "name": "edit", "arguments": {"path": "a.py", **arguments}}

    calls = [
        call(1, oldText="one\n```\n", newText="two\n"),
        call(2, edits=[{"oldText": "a", "newText": "b\nc"}, {"oldText": "d", "newText": ""}]),
        call(3, oldText="x"),
    ]
    result = {"role": "toolResult", "toolCallId": "c2", "toolName": "edit", "content": "done"}
    answer = {"role": "assistant", "content": calls, "provider": "p", "model": "m", "stopReason": "toolUse"}
    last = {**answer, "content": [call(4, oldText="y", newText="z")]}

    async def main() -> None:
        async with scene.running():
            client = await scene.client()
            session_id, _ = await talk(client)
            drafts = [{"type": "message", "message": one} for one in (answer, result, last)]
            await client.call("session/append", sessionId=session_id, entries=drafts)
            document = (await client.call("session/export", sessionId=session_id, format="markdown"))["text"]
            assert "**Calls `edit`** `a.py`\n\n````diff\n-one\n-```\n+two\n````\n" in document
            assert "```diff\n-a\n+b\n+c\n@@\n-d\n```\n" in document
            assert '```json\n{"oldText":"x"}\n```\n' in document
            assert document.count("**`edit` has no result for `a.py`**") == 2
            assert document.endswith("```diff\n-y\n+z\n```\n\n**`edit` has no result**\n\n")

    asyncio.run(main())


def test_progress_and_the_session_as_it_was(scene: Scene) -> None:
    async def main() -> None:
        async with scene.running():
            client = await scene.client()
            session_id, _ = await talk(client)
            (source,) = scene.files()
            before = source.stat()
            await client.call("session/export", sessionId=session_id, format="markdown", workDoneToken="t")
            assert [one["params"]["value"]["kind"] for one in client.told if one["method"] == "$/progress"] == [
                "begin",
                "end",
            ]
            after = os.stat(source)
            assert (before.st_mtime_ns, before.st_size) == (after.st_mtime_ns, after.st_size)
            with pytest.raises(Refused) as refused:
                await client.call("session/export", sessionId=session_id, format="jsonl", leafId="nobody")
            assert refused.value.reason == "entryNotFound"

    asyncio.run(main())
