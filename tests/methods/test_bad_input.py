"""What a client may get wrong: a typed error, the connection and the file as they were."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import pytest

from pi_daemon.rpc.table import METHODS
from tests.methods.conftest import Refused, Scene, assistant, user

GOOD: dict[str, dict[str, Any]] = {
    "session/create": {"cwd": "/p"},
    "session/open": {"sessionId": "s"},
    "session/configure": {"sessionId": "s"},
    "session/close": {"sessionId": "s"},
    "session/list": {},
    "session/delete": {"sessionId": "s"},
    "session/append": {"sessionId": "s", "entries": [user()]},
    "session/entries": {"sessionId": "s"},
    "session/tree": {"sessionId": "s"},
    "session/path": {"sessionId": "s"},
    "session/compare": {"sessionId": "s", "a": "x", "b": "y"},
    "session/context": {"sessionId": "s"},
    "session/explain": {"sessionId": "s"},
    "session/moveLeaf": {"sessionId": "s", "entryId": None},
    "session/fork": {"sessionId": "s"},
    "session/label": {"sessionId": "s", "entryId": "x", "label": "l"},
    "session/rename": {"sessionId": "s", "name": "n"},
    "session/editContext": {"sessionId": "s", "targetId": "x", "replacement": None},
    "session/compactionPlan": {"sessionId": "s"},
    "session/compact": {"sessionId": "s"},
    "session/resumeReport": {"sessionId": "s"},
    "session/stats": {"sessionId": "s"},
    "session/export": {"sessionId": "s", "format": "jsonl"},
    "session/check": {"path": "/x"},
    "session/repair": {"path": "/x"},
    "session/requestWriter": {"sessionId": "s"},
    "session/subscribe": {"sessionId": "s"},
    "session/unsubscribe": {"sessionId": "s"},
    "session/search": {"query": "x"},
    "catalog/totals": {},
    "catalog/subscribe": {},
    "catalog/unsubscribe": {},
    "daemon/status": {},
    "daemon/panel": {},
    "daemon/doctor": {},
    "daemon/stop": {},
}
VALUES: list[Any] = [None, True, 7, -1.5, "text", [], {}, [[]], [1]]


def takes(kind: Any, value: Any) -> bool:
    try:
        msgspec.convert(value, kind, strict=True)
    except msgspec.ValidationError:
        return False
    return True


def cases() -> list[Any]:
    found = []
    for method, signature in METHODS.items():
        for field in msgspec.structs.fields(signature.params):
            kind = field.type
            if kind == list[msgspec.Raw]:
                kind = list[Any]
            wrong = [value for value in VALUES if not takes(kind, value)]
            assert wrong, (method, field.encode_name)
            found.append(pytest.param(method, field.encode_name, wrong, id=f"{method}-{field.encode_name}"))
    return found


def test_an_id_that_no_session_can_have_is_named_as_it_was_given(scene: Scene) -> None:
    async def main() -> None:
        async with scene.running():
            client = await scene.client()
            made = await client.call("session/create", cwd="/p")
            for method, params in (
                ("session/create", {"cwd": "/p", "id": "../../evil"}),
                ("session/fork", {"sessionId": made["sessionId"], "id": "../../evil"}),
                ("session/open", {"sessionId": "../../evil"}),
            ):
                with pytest.raises(Refused) as refused:
                    await client.call(method, **params)
                assert refused.value.reason == "invalidParams"
                assert refused.value.data["path"] == ("id" if "id" in params else "sessionId")

    asyncio.run(main())


def test_every_method_is_here() -> None:
    assert GOOD.keys() == METHODS.keys()


@pytest.mark.parametrize(("method", "name", "wrong"), cases())
def test_a_parameter_of_a_wrong_type_is_named(scene: Scene, method: str, name: str, wrong: list[Any]) -> None:
    async def main() -> None:
        async with scene.running():
            client = await scene.client()
            for value in wrong:
                with pytest.raises(Refused) as refused:
                    await client.call(method, **(GOOD[method] | {name: value}))
                assert (refused.value.code, refused.value.reason) == (-32602, "invalidParams")
                assert refused.value.data["path"].split(".")[0].split("[")[0] == name
            assert (await client.call("daemon/status"))["pid"]

    asyncio.run(main())


@pytest.mark.parametrize(
    ("method", "name"),
    [(m, f.encode_name) for m, s in METHODS.items() for f in msgspec.structs.fields(s.params) if f.required],
)
def test_a_missing_parameter_is_named(scene: Scene, method: str, name: str) -> None:
    async def main() -> None:
        async with scene.running():
            client = await scene.client()
            with pytest.raises(Refused) as refused:
                await client.call(method, **{key: value for key, value in GOOD[method].items() if key != name})
            assert (refused.value.code, refused.value.data["path"]) == (-32602, name)

    asyncio.run(main())


@pytest.mark.parametrize("method", [m for m in METHODS if "sessionId" in GOOD[m]])
def test_an_unknown_session(scene: Scene, method: str) -> None:
    async def main() -> None:
        async with scene.running():
            client = await scene.client()
            if method in ("session/close", "session/unsubscribe"):
                await client.call(method, **GOOD[method])
                return
            with pytest.raises(Refused) as refused:
                await client.call(method, **GOOD[method])
            assert refused.value.reason == "sessionNotFound"
            for other in ("../../etc/passwd", "/etc/passwd", "a\0b", "C:\\x", "a\nb", "%2e%2e", "", "x" * 300, "a/b"):
                with pytest.raises(Refused) as refused:
                    await client.call(method, **(GOOD[method] | {"sessionId": other}))
                assert refused.value.reason in ("sessionNotFound", "invalidParams")

    asyncio.run(main())


UNKNOWN_ENTRY: list[tuple[str, dict[str, Any]]] = [
    ("session/append", {"entries": [user()], "parentId": "nowhere"}),
    ("session/append", {"entries": [{"type": "label", "targetId": "nowhere", "label": "x"}]}),
    ("session/entries", {"ids": ["nowhere"]}),
    ("session/entries", {"since": "nowhere"}),
    ("session/path", {"leafId": "nowhere"}),
    ("session/compare", {"a": "nowhere", "b": "u1"}),
    ("session/context", {"leafId": "nowhere"}),
    ("session/explain", {"entryId": "nowhere"}),
    ("session/explain", {"leafId": "nowhere"}),
    ("session/resumeReport", {"leafId": "nowhere"}),
    ("session/moveLeaf", {"entryId": "nowhere"}),
    ("session/moveLeaf", {"entryId": "nowhere", "position": "before"}),
    ("session/fork", {"entryId": "nowhere"}),
    ("session/fork", {"entryId": "nowhere", "position": "before"}),
    ("session/fork", {"entryId": "nowhere", "scope": "tree"}),
    ("session/label", {"entryId": "nowhere", "label": "x"}),
    ("session/editContext", {"targetId": "nowhere", "replacement": None}),
]


@pytest.mark.parametrize(("method", "params"), UNKNOWN_ENTRY)
def test_an_unknown_entry(scene: Scene, method: str, params: dict[str, Any]) -> None:
    async def main() -> None:
        async with scene.running():
            client = await scene.client()
            session_id = (await client.call("session/create", cwd="/p"))["sessionId"]
            await client.call("session/append", sessionId=session_id, entries=[user(id="u1"), assistant()])
            (path,) = scene.files()
            before = path.read_bytes()
            with pytest.raises(Refused) as refused:
                await client.call(method, sessionId=session_id, **params)
            assert refused.value.reason == "entryNotFound"
            assert refused.value.data["entryId"] == "nowhere"
            assert path.read_bytes() == before
            assert scene.files() == [path]

    asyncio.run(main())


BAD_DRAFTS: list[Any] = [
    7,
    "text",
    [],
    None,
    {},
    {"type": 7},
    {"type": ""},
    {"type": "session", "id": "x", "cwd": "/"},
    {"type": "message"},
    {"type": "message", "message": "text"},
    {"type": "message", "message": {"role": 1}},
    {"type": "custom", "customType": "c", "parentId": None},
    {"type": "custom", "customType": "c", "timestamp": "2026-01-01T00:00:00.000Z"},
    {"type": "custom", "customType": "c", "id": "../x"},
    {"type": "custom", "customType": "c", "id": 7},
    {"type": "custom", "customType": "c", "id": "x" * 200},
    {"type": "label", "label": "no target"},
    {"type": "compaction", "summary": 1, "tokensBefore": 1},
    {"type": "compaction", "summary": "s"},
    {"type": "context_edit", "targetId": "u1", "replacement": 1},
    {"type": "context_edit", "targetId": "u1"},
    {"type": "branch_summary", "summary": "s"},
    {"type": "model_change", "provider": "p"},
    {"type": "session_info", "name": 5},
]


@pytest.mark.parametrize("bad", BAD_DRAFTS)
def test_a_draft_that_is_no_entry(scene: Scene, bad: Any) -> None:
    async def main() -> None:
        async with scene.running():
            client = await scene.client()
            session_id = (await client.call("session/create", cwd="/p"))["sessionId"]
            await client.call("session/append", sessionId=session_id, entries=[user(id="u1"), assistant()])
            (path,) = scene.files()
            before = path.read_bytes()
            with pytest.raises(Refused) as refused:
                await client.call("session/append", sessionId=session_id, entries=[user("good"), bad])
            assert (refused.value.code, refused.value.reason, refused.value.data["index"]) == (1007, "invalidEntry", 1)
            assert path.read_bytes() == before
            again = await client.call("session/append", sessionId=session_id, entries=[user("good")])
            assert again["revision"] == 2

    asyncio.run(main())


def test_errors_carry_no_content(scene: Scene) -> None:
    async def main() -> None:
        async with scene.running():
            client = await scene.client()
            session_id = (await client.call("session/create", cwd="/p"))["sessionId"]
            for draft in ({"type": "message", "message": "SECRET"}, {"type": "custom", "id": "SECRET/x"}, "SECRET"):
                answer = await client.ask("session/append", {"sessionId": session_id, "entries": [draft]})
                assert "SECRET" not in str(answer["error"])

    asyncio.run(main())


SURROGATE = '"\\ud800"'


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("session/list", f'{{"limit":{SURROGATE}}}'),
        ("session/list", SURROGATE),
        ("session/create", f'{{"cwd":"/p","persist":{SURROGATE}}}'),
        ("session/create", f'{{"cwd":"/p","options":{SURROGATE}}}'),
        ("session/open", f'{{"sessionId":"s","readOnly":{SURROGATE}}}'),
        ("session/append", f'{{"sessionId":"s","entries":{SURROGATE}}}'),
        ("session/append", f'{{"sessionId":"s","entries":[{SURROGATE}]}}'),
        ("session/open", '{"path":"/w/\\ud800"}'),
        ("session/check", '{"path":"/w/\\ud800"}'),
        ("session/repair", '{"path":"/w/\\ud800"}'),
        ("session/tree", f'{{"sessionId":{SURROGATE}}}'),
    ],
)
def test_a_lone_surrogate_where_it_makes_no_sense(scene: Scene, method: str, params: str) -> None:
    async def main() -> None:
        async with scene.running():
            client = await scene.client()
            message = f'{{"jsonrpc":"2.0","id":50,"method":"{method}","params":{params}}}'
            answer = await client.ask_raw(50, message.encode())
            assert answer["error"]["data"]["reason"] in ("invalidParams", "invalidEntry", "sessionNotFound")
            assert (await client.call("daemon/status"))["pid"]

    asyncio.run(main())
