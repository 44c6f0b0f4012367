"""Whatever happens between a client and its daemons, each request gets one answer, and an answer reaches who asked."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from test_bridge_relay import greeting

from pi_daemon.daemon.bridge.state import Bridge, Stage
from pi_daemon.rpc.errors import error_object

METHODS = ["session/append", "textDocument/hover", "initialized"]
NUMBERS = st.integers(0, 4)


def encode(**message: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **message}).encode()


class ClientAndDaemons(RuleBasedStateMachine):
    """The model: what the client waits for, what the daemon was asked and hasn't answered, and the other way round."""

    def __init__(self) -> None:
        super().__init__()
        self.bridge = Bridge()
        self.bridge.found()
        self.connected = True
        self.daemons = 1
        self.waits: list[Any] = []
        """Ids that the client has sent and that weren't answered."""
        self.asked: list[Any] = []
        """Ids that the present daemon was sent and hasn't answered."""
        self.questions: list[int] = []
        """Ids of the daemon's requests that the client hasn't answered."""
        self.old_questions: list[int] = []
        self.given_up = False
        self.number = 100

    def take(self) -> None:
        for data in self.bridge.to_client:
            message = json.loads(data)
            if "method" not in message:
                self.waits.remove(message["id"])
            elif message["method"] == "$/cancelRequest":
                assert message["params"]["id"] in self.old_questions
        self.bridge.to_client.clear()
        for data in self.bridge.to_daemon:
            message = json.loads(data)
            if "method" in message and "id" in message:
                assert message["id"] not in self.asked
                self.asked.append(message["id"])
            elif "method" not in message:
                self.questions.remove(message["id"])
        self.bridge.to_daemon.clear()

    @initialize(done=st.sampled_from([True, True, True, False]))
    def introduce(self, done: bool) -> None:
        if done:
            self.request("initialize", again=False)
            self.answer(fails=False, place=0, compact=True)
            self.notify("initialized")

    @rule(method=st.sampled_from([*METHODS, *METHODS, "initialize", "shutdown"]), again=st.booleans())
    def request(self, method: str, again: bool) -> None:
        if again and self.waits and self.bridge.stage is not Stage.SHUT:
            id = self.waits[-1]  # one that is in flight: refused at once, without an answer to the first
        else:
            self.number += 1
            id = self.number
        self.waits.append(id)
        self.bridge.from_client(encode(id=id, method=method, params={}))
        self.take()

    @rule(method=st.sampled_from(METHODS))
    def notify(self, method: str) -> None:
        self.bridge.from_client(encode(method=method, params={}))
        self.take()

    @precondition(lambda self: self.connected and self.asked)
    @rule(fails=st.booleans(), place=st.integers(0, 10), compact=st.booleans())
    def answer(self, fails: bool, place: int, compact: bool) -> None:
        id = self.asked.pop(place % len(self.asked))
        result = (
            {"error": {"code": 1, "message": "", "data": {}}}
            if fails and isinstance(id, int)
            else {"result": greeting(self.daemons)}
        )
        data = encode(id=id, **result)
        self.bridge.from_daemon(json.dumps(json.loads(data), separators=(",", ":")).encode() if compact else data)
        self.take()

    @precondition(lambda self: self.connected and self.bridge.stage is Stage.OPEN)
    @rule()
    def ask(self) -> None:
        self.number += 1
        self.questions.append(self.number)
        self.bridge.from_daemon(encode(id=self.number, method="summarizer/summarize", params={}))
        self.take()

    @precondition(lambda self: self.questions)
    @rule()
    def reply(self) -> None:
        waiting = not self.connected or self.bridge.stage is Stage.RETURNING
        id = self.questions[0]
        self.bridge.from_client(encode(id=id, result={}))
        self.take()
        assert waiting or id not in self.questions

    @precondition(lambda self: self.old_questions)
    @rule()
    def reply_too_late(self) -> None:
        """Nobody may take it for an answer to somebody else."""
        before = list(self.questions)
        self.bridge.from_client(encode(id=self.old_questions.pop(), result={}))
        self.take()
        assert self.questions == before

    @precondition(lambda self: self.connected)
    @rule()
    def lose(self) -> None:
        self.connected = False
        self.old_questions += self.questions
        self.questions.clear()
        self.asked.clear()
        self.bridge.lost()
        self.take()

    @precondition(lambda self: not self.connected and not self.given_up)
    @rule()
    def find(self) -> None:
        self.connected = True
        self.daemons += 1
        self.bridge.found()
        self.take()

    @precondition(lambda self: not self.connected)
    @rule()
    def give_up(self) -> None:
        self.given_up = True
        self.bridge.give_up(error_object("daemonUnavailable", "No."))
        self.take()

    @invariant()
    def nobody_waits_for_nothing(self) -> None:
        """What the client waits for is with the daemon, or will be as soon as there is one."""
        if self.given_up:
            assert not self.waits
        elif self.connected and self.bridge.stage is not Stage.RETURNING:
            assert sorted(self.waits) == sorted(id for id in self.asked if isinstance(id, int))
        else:
            assert bool(self.waits) <= self.bridge.needs_daemon


TestClientAndDaemons = ClientAndDaemons.TestCase
TestClientAndDaemons.settings = settings(max_examples=150, stateful_step_count=30, deadline=None)


@pytest.mark.parametrize("params", [b"[]", b"{}", b'{"textDocument":{"uri":1}}', b'{"textDocument":{"uri":"a"}}'])
def test_documents_that_make_no_sense_are_the_daemons_to_refuse(params: bytes) -> None:
    bridge = Bridge()
    bridge.found()
    for method in ("didOpen", "didChange", "didClose", "didSave"):
        bridge.from_client(b'{"jsonrpc":"2.0","method":"textDocument/%b","params":%b}' % (method.encode(), params))
    assert len(bridge.to_daemon) == 4
