"""A daemon is killed, stopped, or taken over by a newer one: clients come back to the next one by themselves."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from typing import Any

import pytest
from home import Home, ended, eventually, kill
from pi_daemon_client import AppendedEvent, AsyncClient, ResyncEvent, ServerError, Watch

from pi_daemon.daemon.version import newer

pytestmark = pytest.mark.slow


def prompt(text: str, role: str = "user", **members: Any) -> dict[str, Any]:
    return {"type": "message", **members, "message": {"role": role, "content": text, "timestamp": 1}}


async def test_killed_in_the_middle_of_a_request(home: Home) -> None:
    async with home.editor() as editor:
        first = await editor.initialize()
        made = await editor.call("session/create", cwd="/project", persist="immediate")
        session = made["sessionId"]
        os.kill(home.pid, signal.SIGSTOP)
        appended = editor.send("session/append", {"sessionId": session, "entries": [prompt("a", id="a")]})
        await editor.taken()
        kill(home.pid)
        error = (await editor.answer(appended))["error"]
        assert (error["code"], error["data"]) == (1019, {"reason": "shuttingDown", "applied": "unknown"})
        replaced = await editor.told("daemon/replaced")
        assert replaced["daemonId"] not in ("", first["daemonId"]) and replaced["clientId"] != first["clientId"]
        since = {"instanceId": made["instanceId"], "revision": made["revision"]}
        subscribed = await editor.call("session/subscribe", sessionId=session, since=since)
        assert subscribed["fresh"] is True
        done = await editor.call("session/append", sessionId=session, entries=[prompt("a", id="a")])
        assert done["leafId"] == "a"
        assert (await editor.told("session/appended"))["origin"]["clientId"] == replaced["clientId"]
        assert len((await editor.call("session/entries", sessionId=session))["entries"]) == 1
        assert await editor.end() == 0


async def test_all_who_lose_one_daemon_find_one(home: Home) -> None:
    async with home.editor() as one:
        await one.initialize()
        async with home.editor() as two, home.editor() as three, home.editor() as four:
            editors = [one, two, three, four]
            for editor in editors[1:]:
                await editor.initialize()
            kill(home.pid)
            found = await asyncio.gather(*(editor.told("daemon/replaced") for editor in editors))
            assert len({told["daemonId"] for told in found}) == 1
            assert [record["event"] for record in home.records()].count("started") == 2


async def test_stopped_with_a_session_that_is_not_written(home: Home) -> None:
    """It is written before the next daemon may have it."""
    async with home.editor() as editor:
        await editor.initialize()
        made = await editor.call("session/create", cwd="/project")
        done = await editor.call("session/append", sessionId=made["sessionId"], entries=[prompt("typed")])
        assert done["durability"] == "memory" and not list(home.sessions.iterdir())
        pid = home.pid
        assert home.json("stop")["stopped"] is True
        await ended(pid)
        replaced = await editor.told("daemon/replaced")
        entries = (await editor.call("session/entries", sessionId=made["sessionId"]))["entries"]
        assert [entry["message"]["content"] for entry in entries] == ["typed"]
        assert (await editor.call("daemon/status"))["daemonId"] == replaced["daemonId"]


async def test_sigterm_drains(home: Home) -> None:
    async with home.editor() as editor:
        await editor.initialize()
        made = await editor.call("session/create", cwd="/project", persist="immediate")
        session, pid = made["sessionId"], home.pid
        os.kill(pid, signal.SIGSTOP)
        sent = [
            editor.send("session/append", {"sessionId": session, "entries": [prompt(str(n), id=f"e{n}")]})
            for n in range(50)
        ]
        await editor.sent()
        os.kill(pid, signal.SIGTERM)
        os.kill(pid, signal.SIGCONT)
        answers = [await editor.answer(id) for id in sent]
        await ended(pid)
        await editor.told("daemon/replaced")
        done = {f"e{n}" for n, answer in enumerate(answers) if "result" in answer}
        refused = [answer["error"]["data"] for answer in answers if "error" in answer]
        assert {data["reason"] for data in refused} <= {"shuttingDown"}
        kept = {entry["id"] for entry in (await editor.call("session/entries", sessionId=session))["entries"]}
        unknown = {f"e{n}" for n, answer in enumerate(answers) if _applied(answer) == "unknown"}
        assert done <= kept <= done | unknown


def _applied(answer: dict[str, Any]) -> Any:
    return answer["error"]["data"]["applied"] if "error" in answer else True


async def test_a_newer_one_takes_over(home: Home) -> None:
    async with home.editor(PI_DAEMON_VERSION="1.2.3") as old:
        first = await old.initialize()
        assert first["version"] == "1.2.3"
        made = await old.call("session/create", cwd="/project")
        await old.call("session/append", sessionId=made["sessionId"], entries=[prompt("typed")])
        pid = home.pid
        async with home.editor(PI_DAEMON_VERSION="1.10") as new:
            second = await new.initialize()
            assert second["version"] == "1.10" and second["daemonId"] != first["daemonId"]
            await ended(pid)
            replaced = await old.told("daemon/replaced")
            assert (replaced["daemonId"], replaced["version"]) == (second["daemonId"], "1.10")
            entries = (await new.call("session/entries", sessionId=made["sessionId"]))["entries"]
            assert [entry["message"]["content"] for entry in entries] == ["typed"]
            async with home.editor(PI_DAEMON_VERSION="1.2.3") as older:
                assert (await older.initialize())["daemonId"] == second["daemonId"]
            assert await old.end() == await new.end() == 0


async def test_many_newer_ones_take_over_once(home: Home) -> None:
    home.run("serve", "--detach", PI_DAEMON_VERSION="1.0")
    async with (
        home.editor(PI_DAEMON_VERSION="2.0") as one,
        home.editor(PI_DAEMON_VERSION="2.0") as two,
        home.editor(PI_DAEMON_VERSION="2.0") as three,
    ):
        found = await asyncio.gather(one.initialize(), two.initialize(), three.initialize())
        assert {greeting["version"] for greeting in found} == {"2.0"}
        assert len({greeting["daemonId"] for greeting in found}) == 1
        assert [record["event"] for record in home.records()].count("started") == 2


@pytest.mark.parametrize("newer", [False, True], ids=["killed", "taken over"])
async def test_the_next_one_is_started_like_the_one_before(home: Home, newer: bool) -> None:
    """By whoever comes first: with what others rely on, a port and the sessions that are served."""
    other = home.directory / "other"
    other.mkdir()
    options = ("--ws", "127.0.0.1:0", "--sessions-dir", "other", "--durability", "written", "--state-dir", "mine")
    home.run("serve", "--detach", "--socket", str(home.socket), *options, PI_DAEMON_VERSION="1.0")
    home.log = home.directory / "mine" / "daemon.log"
    del home.environment["PI_CODING_AGENT_SESSION_DIR"]  # which would want the daemon to serve that one
    async with home.editor(PI_DAEMON_VERSION="1.0") as editor:
        assert (await editor.initialize())["sessionsDir"] == str(other)
        if newer:
            async with home.editor(PI_DAEMON_VERSION="2.0") as newcomer:
                assert (await newcomer.initialize())["sessionsDir"] == str(other)
        else:
            kill(home.pid)
        await editor.told("daemon/replaced")
        status = await editor.call("daemon/status")
        assert status["sessionsDir"] == str(other)
        assert [transport.split(":")[0] for transport in status["transports"]] == ["unix", "websocket"]
        assert [record["event"] for record in home.records()].count("started") == 2
        session = (await editor.call("session/create", cwd="/project", persist="immediate"))["sessionId"]
        done = await editor.call("session/append", sessionId=session, entries=[prompt("a")])
        assert done["durability"] == "written"


async def test_serve_takes_over_too_but_not_from_its_like(home: Home) -> None:
    first = home.json("serve", "--detach", PI_DAEMON_VERSION="1.0")
    assert first["pid"] == home.pid
    told = home.json("serve", "--detach", code=1, PI_DAEMON_VERSION="1.0")
    assert told["error"]["reason"] == "alreadyServed"
    assert home.json("serve", "--detach", code=1, PI_DAEMON_VERSION="0.9")["error"]["reason"] == "alreadyServed"
    second = home.json("serve", "--detach", PI_DAEMON_VERSION="1.1")
    assert second["pid"] == home.pid != first["pid"]
    await ended(first["pid"])


async def test_an_older_one_that_does_not_answer_is_named(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is stopped and will go on: two daemons must not have the sessions."""
    from pi_daemon.daemon import takeover
    from pi_daemon.daemon.errors import NotResponding

    monkeypatch.setattr(takeover, "ASKING_SECONDS", 0.05)
    pid = home.json("serve", "--detach", PI_DAEMON_VERSION="1.0")["pid"]
    os.kill(pid, signal.SIGSTOP)
    with pytest.raises(NotResponding, match=f"kill {pid}"):
        await takeover.replace_older(home.socket, "2.0")
    os.kill(pid, signal.SIGCONT)


@pytest.mark.parametrize(("version", "words"), [(0, "update the client"), (2, "update pi-daemon")])
async def test_another_protocol(home: Home, version: int, words: str) -> None:
    async with home.editor() as editor:
        options = {"piDaemon": {"protocolVersion": version}}
        params = {"processId": None, "capabilities": {}, "initializationOptions": options}
        error = (await editor.request("initialize", params))["error"]
        assert (error["code"], error["data"]["protocolVersion"]) == (1020, 1)
        assert words in error["message"]
        assert (await editor.initialize())["protocolVersion"] == 1


async def test_the_python_client_goes_on_behind_the_bridge(home: Home) -> None:
    argv, environment = home.argv("connect"), home.environment
    async with await AsyncClient.connect_stdio(argv, env=environment, name="panel") as client:
        session = (await client.create_session("/project", persist="immediate", name="kept"))["sessionId"]
        first = dict(client.daemon)
        listened: list[bool] = []
        client.on_connection(listened.append)
        async with await client.watch(session) as watch:
            await client.append(session, [prompt("one")])
            assert isinstance(await anext(watch), AppendedEvent)
            os.kill(home.pid, signal.SIGSTOP)
            retried = asyncio.create_task(client.append(session, [prompt("two")], retry=True))
            lost = asyncio.create_task(client.append(session, [prompt("three")]))
            await asyncio.sleep(0)
            kill(home.pid)
            assert (await retried)["entries"]
            expected = ["one", "two"]
            try:
                await lost
            except ServerError as caught:
                assert (caught.reason, caught.data["applied"]) == ("shuttingDown", "unknown")
            else:  # a slow machine: the bridge got it when the daemon was dead already, and took it to the next one
                expected.append("three")
            assert client.daemon["daemonId"] != first["daemonId"]
            assert client.daemon["clientId"] != first["clientId"]
            await eventually(lambda: listened == [False, True])
            assert isinstance(await resynced(watch), ResyncEvent)
            texts = [entry["message"]["content"] async for entry in client.iter_entries(session) if "message" in entry]
            assert sorted(texts) == sorted(expected)
            await client.append(session, [prompt("four")])
            async with asyncio.timeout(30):
                while not isinstance(event := await anext(watch), AppendedEvent) or event.origin is None:
                    pass
            assert event.origin["clientId"] == client.daemon["clientId"]


async def resynced(watch: Watch) -> Any:
    async with asyncio.timeout(30):
        while not isinstance(event := await anext(watch), ResyncEvent):
            pass
    return event


async def test_the_python_client_and_a_daemon_that_leaves(home: Home) -> None:
    """What the old one refused untouched, the next one does, without anybody having asked for a retry."""
    argv, environment = home.argv("connect"), home.environment
    async with await AsyncClient.connect_stdio(argv, env=environment, name="panel") as client:
        session = (await client.create_session("/project", persist="immediate"))["sessionId"]
        pid = home.pid
        await client.stop_daemon()
        done = [await client.append(session, [prompt(str(number))], retry=True) for number in range(3)]
        await ended(pid)
        assert len({answer["leafId"] for answer in done}) == 3
        found = [json.dumps(entry) async for entry in client.iter_entries(session)]
        assert len(found) == 3


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("0.2.0", "0.1.9"),
        ("0.10", "0.9"),
        ("1.0", "1.0rc1"),
        ("1.0rc1", "1.0b3"),
        ("1.0.0.dev2", "1.0.0.dev1"),
        ("1.0a1", "1.0.dev9"),
        ("1.0.post1", "1.0"),
        ("v2", "1.9.9"),
    ],
)
def test_which_version_is_newer(one: str, other: str) -> None:
    assert newer(one, other) and not newer(other, one) and not newer(one, one)


@pytest.mark.parametrize("same", ["1.0.0", "1", "1.0+build.7", "1.0.0.0"])
def test_versions_that_are_the_same(same: str) -> None:
    assert not newer("1.0", same) and not newer(same, "1.0")


@pytest.mark.parametrize("words", ["", "unknown", "latest 2.0"])
def test_what_is_no_version_is_neither_newer_nor_older(words: str) -> None:
    assert not newer("1.0", words) and not newer(words, "1.0")
