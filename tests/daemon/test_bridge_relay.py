"""The bridge with a client on pipes and daemons of the test's own, in one process: what it does when they are slow,
mute, full, dead or no daemons at all."""

from __future__ import annotations

import json
import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from pi_daemon.daemon.bridge import relay as relay_module
from pi_daemon.daemon.bridge.relay import ClientGone, Relay
from pi_daemon.daemon.bridge.state import Bridge
from pi_daemon.daemon.errors import DaemonUnavailable, NotResponding
from pi_daemon.rpc.framing import frame
from pi_daemon.session.errors import PiDaemonError
from pi_daemon.storage.layout import Chosen

Message = dict[str, Any]


class End:
    """One end of a connection, read and written as the other side would."""

    def __init__(self, reading: Any, writing: Any) -> None:
        self.reading, self.writing = reading, writing

    def send(self, **message: Any) -> None:
        self.writing.write(frame(json.dumps({"jsonrpc": "2.0", **message}).encode()))
        self.writing.flush()

    def receive(self) -> Message | None:
        header = self.reading.readline()
        if not header:
            return None
        assert self.reading.readline() == b"\r\n"
        message: Message = json.loads(self.reading.read(int(header.split(b":")[1])))
        return message

    def close(self) -> None:
        self.reading.close()
        self.writing.close()


class Daemons:
    """Gives the bridge a new daemon whenever it wants one; the test is that daemon."""

    def __init__(self) -> None:
        self.ends: list[End] = []
        self.came = threading.Semaphore(0)
        self.refuse: PiDaemonError | None = None
        self.at_once: Callable[[End], None] | None = None

    def join(self) -> socket.socket:
        if self.refuse is not None:
            raise self.refuse
        ours, theirs = socket.socketpair()
        end = End(ours.makefile("rb"), ours.makefile("wb"))
        ours.close()
        self.ends.append(end)
        if self.at_once is not None:
            self.at_once(end)
        self.came.release()
        return theirs

    def next(self) -> End:
        assert self.came.acquire(timeout=20)
        return self.ends[-1]


class Running:
    def __init__(self, client: End, daemons: Daemons, thread: threading.Thread) -> None:
        self.client, self.daemons, self.thread = client, daemons, thread
        self.outcome: Any = None

    def left(self) -> Any:
        self.thread.join(20)
        assert not self.thread.is_alive()
        return self.outcome


@contextmanager
def bridge(sessions_dir: Path | None = None, daemons: Daemons | None = None) -> Iterator[Running]:
    to_bridge, from_client = os.pipe()
    to_client, from_bridge = os.pipe()
    daemons = daemons or Daemons()

    def run() -> None:
        try:
            wanted = Chosen(sessions_dir, "--sessions-dir") if sessions_dir is not None else None
            running.outcome = Relay(Bridge(wanted), to_bridge, from_bridge, daemons.join).run()
        except (PiDaemonError, ClientGone) as error:
            running.outcome = error
        finally:
            os.close(to_bridge)
            os.close(from_bridge)

    thread = threading.Thread(target=run, daemon=True)
    client = End(os.fdopen(to_client, "rb"), os.fdopen(from_client, "wb"))
    running = Running(client, daemons, thread)
    thread.start()
    try:
        yield running
    finally:
        client.close()
        for end in daemons.ends:
            end.close()
        thread.join(20)
        assert not thread.is_alive()


def greeting(number: int = 1, directory: str = "/s") -> Message:
    ours = {
        "protocolVersion": 1,
        "daemonId": f"daemon-{number}",
        "clientId": f"client-{number}",
        "features": {},
        "limits": {},
        "sessionsDir": directory,
    }
    return {
        "serverInfo": {"name": "pi-daemon", "version": f"{number}.0"},
        "capabilities": {"experimental": {"piDaemon": ours}},
    }


PARAMS = {"processId": 7, "clientInfo": {"name": "editor"}, "capabilities": {"x": [1, "\ud83d"]}}


def introduce(running: Running) -> End:
    """The client initializes; the daemon it has then."""
    running.client.send(id="i", method="initialize", params=PARAMS)
    daemon = running.daemons.next()
    asked = daemon.receive()
    assert asked is not None and asked["params"] == PARAMS
    daemon.send(id="i", result=greeting())
    answer = running.client.receive()
    assert answer is not None and answer["result"] == greeting()
    running.client.send(method="initialized", params={})
    assert daemon.receive() == {"jsonrpc": "2.0", "method": "initialized", "params": {}}
    return daemon


def returned(running: Running, number: int) -> End:
    """The next daemon, once it knows the client."""
    daemon = running.daemons.next()
    asked = daemon.receive()
    assert asked is not None and (asked["method"], asked["params"]) == ("initialize", PARAMS)
    daemon.send(id=asked["id"], result=greeting(number))
    assert daemon.receive() == {"jsonrpc": "2.0", "method": "initialized", "params": {}}
    return daemon


def replaced(number: int) -> Message:
    params = {"daemonId": f"daemon-{number}", "clientId": f"client-{number}", "version": f"{number}.0"}
    return {"jsonrpc": "2.0", "method": "daemon/replaced", "params": params}


def opened(uri: str, text: str, version: int = 1) -> Message:
    return {"textDocument": {"uri": uri, "languageId": "jsonl", "version": version, "text": text}}


def test_both_directions_and_the_end() -> None:
    with bridge() as running:
        daemon = introduce(running)
        running.client.send(id=1, method="test/echo", params={"text": "\ud83d", "big": 10**30})
        asked = daemon.receive()
        assert asked is not None and asked["params"] == {"text": "\ud83d", "big": 10**30}
        daemon.send(id=1, result={"big": 10**30})
        assert running.client.receive() == {"jsonrpc": "2.0", "id": 1, "result": {"big": 10**30}}
        daemon.send(id=5, method="summarizer/summarize", params={})
        assert running.client.receive() == {"jsonrpc": "2.0", "id": 5, "method": "summarizer/summarize", "params": {}}
        running.client.send(id=5, result={"summary": "s"})
        assert daemon.receive() == {"jsonrpc": "2.0", "id": 5, "result": {"summary": "s"}}
        running.client.send(id=2, method="shutdown")
        assert daemon.receive() is not None
        daemon.send(id=2, result=None)
        assert running.client.receive() == {"jsonrpc": "2.0", "id": 2, "result": None}
        running.client.send(method="exit")
        assert daemon.receive() == {"jsonrpc": "2.0", "method": "exit"}
        daemon.close()
        assert running.left() is True


def test_another_daemon_gets_what_the_first_one_knew() -> None:
    with bridge() as running:
        daemon = introduce(running)
        for uri in ("a", "b"):
            running.client.send(method="textDocument/didOpen", params=opened(uri, "one\ntwo\n"))
        change = {"range": {"start": {"line": 1, "character": 0}, "end": {"line": 1, "character": 3}}, "text": "2"}
        changed = {"textDocument": {"uri": "a", "version": 2}, "contentChanges": [{"text": "1\n2"}, change]}
        running.client.send(method="textDocument/didChange", params=changed)
        running.client.send(method="textDocument/didClose", params={"textDocument": {"uri": "b"}})
        running.client.send(id=1, method="session/append", params={})
        for _ in range(5):
            assert daemon.receive() is not None
        daemon.send(id=77, method="summarizer/summarize", params={})
        assert running.client.receive() is not None
        daemon.close()

        failed = running.client.receive()
        assert failed is not None and failed["id"] == 1
        assert failed["error"]["code"] == 1019
        assert failed["error"]["data"] == {"reason": "shuttingDown", "applied": "unknown"}
        assert running.client.receive() == {"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": 77}}
        running.client.send(id=77, result="for nobody")
        running.client.send(id=2, method="session/subscribe", params={})
        daemon = returned(running, 2)
        again = daemon.receive()
        assert again is not None and again["params"] == opened("a", "1\n2")
        again = daemon.receive()
        assert again is not None and again["params"]["contentChanges"] == [change]
        assert again["params"]["textDocument"] == {"uri": "a", "version": 2}
        assert running.client.receive() == replaced(2)
        asked = daemon.receive()
        assert asked is not None and (asked["id"], asked["method"]) == (2, "session/subscribe")
        daemon.send(id=2, result={})
        assert running.client.receive() == {"jsonrpc": "2.0", "id": 2, "result": {}}


def test_an_initialize_that_was_under_way_is_sent_again() -> None:
    with bridge() as running:
        running.client.send(id="i", method="initialize", params=PARAMS)
        daemon = running.daemons.next()
        assert daemon.receive() is not None
        daemon.close()
        daemon = running.daemons.next()
        asked = daemon.receive()
        assert asked is not None and (asked["id"], asked["params"]) == ("i", PARAMS)
        daemon.send(id="i", result=greeting(2))
        assert running.client.receive() == {"jsonrpc": "2.0", "id": "i", "result": greeting(2)}


def test_a_daemon_that_does_not_take_the_client_any_more() -> None:
    """As after an update that changed the protocol: the client is told what the daemon says, whatever it asks."""
    with bridge() as running:
        introduce(running).close()
        running.client.send(id=1, method="session/list")
        daemon = running.daemons.next()
        asked = daemon.receive()
        assert asked is not None
        error = {"code": 1020, "message": "update", "data": {"reason": "versionMismatch", "protocolVersion": 2}}
        daemon.send(id=asked["id"], error=error)
        assert running.client.receive() == {"jsonrpc": "2.0", "id": 1, "error": error}
        assert running.client.receive() is None
        assert isinstance(running.left(), DaemonUnavailable)


def test_a_refused_initialize_can_be_sent_again() -> None:
    with bridge() as running:
        running.client.send(id=1, method="initialize", params={"initializationOptions": {"piDaemon": {"x": 1}}})
        daemon = running.daemons.next()
        assert daemon.receive() is not None
        daemon.send(id=1, error={"code": 1020, "message": "m", "data": {"reason": "versionMismatch"}})
        refused = running.client.receive()
        assert refused is not None and refused["error"]["code"] == 1020
        running.daemons.came.release()
        introduce(running)


def test_one_that_never_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relay_module, "GREETING_SECONDS", 0.05)
    with bridge() as running:
        running.client.send(id=1, method="initialize", params=PARAMS)
        told = running.client.receive()
        assert told is not None and told["error"]["data"]["cause"] == "notResponding"
        assert running.client.receive() is None
        assert isinstance(running.left(), NotResponding)


def test_one_that_speaks_something_else() -> None:
    daemons = Daemons()
    daemons.at_once = lambda end: (end.writing.write(b"HTTP/1.1 400 Bad Request\r\n\r\n"), end.writing.flush(), None)[2]
    with bridge(daemons=daemons) as running:
        running.client.send(id=1, method="initialize", params=PARAMS)
        told = running.client.receive()
        assert told is not None and told["error"]["data"]["cause"] == "notResponding"


def test_daemons_that_end_as_soon_as_they_have_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relay_module, "FIRST_PAUSE_SECONDS", 0.0001)
    daemons = Daemons()
    with bridge(daemons=daemons) as running:
        running.daemons.next().close()
        daemons.at_once = End.close
        running.client.send(id=1, method="initialize", params=PARAMS)
        told = running.client.receive()
        assert told is not None and "again and again" in told["error"]["message"]
        assert running.client.receive() is None
        assert len(daemons.ends) == 1 + relay_module.ATTEMPTS


def test_daemons_that_die_of_their_client_are_not_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each was greeted and answered: what killed it may be over."""
    monkeypatch.setattr(relay_module, "FIRST_PAUSE_SECONDS", 0.0001)
    with bridge() as running:
        daemon = introduce(running)
        for number in range(2, 2 * relay_module.ATTEMPTS):
            daemon.close()
            daemon = returned(running, number)
            assert running.client.receive() == replaced(number)


def test_a_client_that_only_listens_learns_that_nobody_is_there_any_more() -> None:
    with bridge() as running:
        daemon = introduce(running)
        running.daemons.refuse = DaemonUnavailable("Not any more.")
        daemon.close()
        assert running.client.receive() is None
        assert isinstance(running.left(), DaemonUnavailable)


def test_no_daemon_and_a_client_that_asks_nothing() -> None:
    daemons = Daemons()
    daemons.refuse = DaemonUnavailable("Not today.")
    with bridge(daemons=daemons) as running:
        running.client.writing.close()
        assert running.client.receive() is None
        assert isinstance(running.left(), DaemonUnavailable)


def test_a_client_that_ends_its_side_gets_its_answers() -> None:
    with bridge() as running:
        daemon = introduce(running)
        running.client.send(id=1, method="session/list")
        running.client.writing.close()
        asked = daemon.receive()
        assert asked is not None
        assert daemon.receive() is None
        daemon.send(id=1, result=[])
        daemon.close()
        assert running.client.receive() == {"jsonrpc": "2.0", "id": 1, "result": []}
        assert running.client.receive() is None
        assert running.left() is False


def test_a_client_that_reads_no_more() -> None:
    with bridge() as running:
        daemon = introduce(running)
        running.client.reading.close()
        daemon.send(method="session/renamed", params={})
        assert isinstance(running.left(), ClientGone)
        assert daemon.receive() is None


def test_after_shutdown_no_other_daemon_is_wanted() -> None:
    with bridge() as running:
        daemon = introduce(running)
        running.client.send(id=1, method="shutdown")
        daemon.receive()
        daemon.close()
        assert running.client.receive() == {"jsonrpc": "2.0", "id": 1, "result": None}
        running.client.send(id=2, method="session/list")
        refused = running.client.receive()
        assert refused is not None and refused["error"]["code"] == -32600
        running.client.send(method="exit")
        assert running.left() is True
        assert len(running.daemons.ends) == 1


@pytest.mark.parametrize("how", ["closes", "shuts down", "exits"])
def test_a_client_that_leaves_with_its_daemon_starts_no_other(monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    monkeypatch.setattr(relay_module, "PARTING_SECONDS", 20)
    with bridge() as running:
        introduce(running).close()
        if how == "shuts down":
            running.client.send(id=1, method="shutdown")
            assert running.client.receive() == {"jsonrpc": "2.0", "id": 1, "result": None}
        if how == "closes":
            running.client.writing.close()
        else:
            running.client.send(method="exit")
        assert running.left() is (how == "shuts down")
        assert len(running.daemons.ends) == 1


def test_what_is_no_message_is_answered_as_the_daemon_would() -> None:
    with bridge() as running:
        daemon = introduce(running)
        running.client.writing.write(frame(b'{"jsonrpc": "2.0", "id": 1, '))
        running.client.writing.flush()
        header = daemon.reading.readline()
        assert header == b"Content-Length: 28\r\n"
        assert daemon.reading.read(2 + 28).endswith(b'"id": 1, ')
        running.client.writing.write(b"Content-Length: many\r\n\r\n")
        running.client.writing.flush()
        refused = running.client.receive()
        assert refused is not None and (refused["id"], refused["error"]["code"]) == (None, -32700)
        assert daemon.receive() is None


def test_neither_side_piles_up_here() -> None:
    """A client that doesn't read stops the daemon, and the other way round; nothing is lost."""
    with bridge() as running:
        daemon = introduce(running)
        count, text = 300, "x" * 10_000

        def talk(end: End) -> None:
            for number in range(count):
                end.send(method="test/told", params={"number": number, "text": text})

        talkers = [threading.Thread(target=talk, args=(end,), daemon=True) for end in (daemon, running.client)]
        for talker in talkers:
            talker.start()
        for talker in talkers:
            talker.join(0.1)
            assert talker.is_alive()
        for end in (running.client, daemon):
            for number in range(count):
                told = end.receive()
                assert told is not None and told["params"]["number"] == number
        for talker in talkers:
            talker.join(20)
