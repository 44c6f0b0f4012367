"""The outbox: order, bounds, and what replaces what was left out."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from pi_daemon.rpc.limits import Limits
from pi_daemon.rpc.outbox import Outbox


class Wire:
    """A sink that takes messages until `room` is used up; what is beyond is its backlog."""

    def __init__(self, room: int = 1_000_000) -> None:
        self.room = room
        self.sent: list[bytes] = []
        self.backlog = 0

    def send(self, *messages: bytes) -> None:
        for message in messages:
            self.sent.append(message)
            self.room -= len(message)
        self.backlog = max(0, -self.room)

    def read(self) -> None:
        """The client reads all there is."""
        self.room, self.backlog = 1_000_000, 0


class Request:
    def __init__(self) -> None:
        self.answered = False
        self.holds: list[str] = []


def resync(session_id: str) -> bytes | None:
    return b"resync " + session_id.encode() if session_id != "closed" else None


def outbox(wire: Wire, **caps: int) -> Outbox:
    return Outbox(wire, Limits(**caps), resync)


def test_a_change_waits_for_the_answer_of_its_cause_and_later_ones_wait_behind_it() -> None:
    wire, cause = Wire(), Request()
    box = outbox(wire)
    box.notify("s", [b"1a", b"1b"], cause)
    box.notify("s", [b"2"])
    box.notify("other", [b"3"])
    assert wire.sent == [b"3"]
    box.send(b"answer", cause)
    assert wire.sent == [b"3", b"answer", b"1a", b"1b", b"2"]
    box.notify("s", [b"4"], cause)
    assert wire.sent[-1] == b"4"


def test_pipelined_causes_release_in_the_order_of_the_changes() -> None:
    wire, first, second = Wire(), Request(), Request()
    box = outbox(wire)
    box.notify("s", [b"1"], first)
    box.notify("s", [b"2"], second)
    box.notify("s", [b"3"])
    box.send(b"answer 2", second)
    assert wire.sent == [b"answer 2"]
    box.send(b"answer 1", first)
    assert wire.sent == [b"answer 2", b"answer 1", b"1", b"2", b"3"]


def test_a_request_that_fails_after_its_change_still_releases_it() -> None:
    wire, cause = Wire(), Request()
    box = outbox(wire)
    box.notify("s", [b"1"], cause)
    box.notify("t", [b"2"], cause)
    box.send(b"error", cause)
    assert wire.sent == [b"error", b"1", b"2"]


def test_beyond_the_bound_one_resync_stands_for_all() -> None:
    wire = Wire(room=0)
    box = outbox(wire, outbox_bytes=10)
    for number in range(10):
        box.notify("s", [b"%d......." % number])
    box.notify("t", [b"t"])
    box.send(b"answer")
    assert wire.sent == [b"0......."] and box.queued == 3
    wire.read()
    box.drained()
    assert wire.sent == [b"0.......", b"1.......", b"t", b"answer", b"resync s"]
    box.notify("s", [b"later"])
    assert wire.sent[-1] == b"later" and (box.resyncs, box.queued, box.queued_bytes) == (1, 0, 0)


def test_the_bound_counts_messages_too() -> None:
    wire = Wire(room=0)
    box = outbox(wire, outbox_messages=3)
    for _ in range(9):
        box.notify("s", [b"x"])
    assert box.queued == 3


def test_answers_are_never_left_out() -> None:
    wire = Wire(room=0)
    box = outbox(wire, outbox_bytes=1, outbox_messages=1)
    for number in range(50):
        box.send(b"%d" % number)
    assert box.answer_backlog > 50
    wire.read()
    box.drained()
    assert wire.sent == [b"%d" % number for number in range(50)]


def test_a_resync_waits_for_the_answer_of_the_change_it_stands_for() -> None:
    wire, cause = Wire(), Request()
    box = outbox(wire, outbox_bytes=10)
    box.notify("s", [b"12345678"], cause)
    box.notify("s", [b"12345678"], cause)
    box.drained()
    assert wire.sent == []
    box.send(b"answer", cause)
    assert wire.sent == [b"answer", b"resync s"]
    assert (box.queued, box.queued_bytes) == (0, 0)


def test_a_session_that_is_gone_needs_no_resync() -> None:
    wire = Wire(room=0)
    box = outbox(wire, outbox_bytes=1)
    for _ in range(3):
        box.notify("closed", [b"12"])
    wire.read()
    box.drained()
    assert wire.sent == [b"12"] and box.resyncs == 0


def test_one_message_over_the_bound_is_sent_where_nothing_waits() -> None:
    wire = Wire()
    box = outbox(wire, outbox_bytes=3)
    box.notify("s", [b"123456"])
    assert wire.sent == [b"123456"]


def test_closing_hands_everything_over() -> None:
    wire = Wire(room=0)
    box = outbox(wire)
    box.send(b"1")
    box.send(b"2")
    box.flush()
    assert wire.sent == [b"1", b"2"] and box.queued == 0


steps = st.lists(
    st.one_of(
        st.tuples(st.just("change"), st.sampled_from("st"), st.booleans()),
        st.tuples(st.just("answer"), st.just(""), st.booleans()),
        st.tuples(st.just("read"), st.just(""), st.booleans()),
        st.tuples(st.just("stall"), st.just(""), st.booleans()),
    ),
    max_size=40,
)


@settings(max_examples=150, deadline=None)
@given(steps=steps, cap=st.sampled_from([6, 12, 1000]))
def test_each_session_is_told_every_change_in_order_or_a_resync(steps: list[tuple[str, str, bool]], cap: int) -> None:
    """Whatever the order of changes, answers and stalls: a session's changes come in order, a gap is followed by its
    resync before any later change, each answer comes once and before the changes it caused."""
    wire = Wire()
    box = outbox(wire, outbox_bytes=cap)
    open_requests: list[tuple[int, Request]] = []
    changes = {"s": 0, "t": 0}
    caused: dict[bytes, int] = {}
    answers = asked = 0

    def answer() -> None:
        nonlocal answers
        number, request = open_requests.pop()
        answers += 1
        box.send(b"answer %d" % number, request)

    for step, session, flag in steps:
        if step == "change":
            message = b"%s %d" % (session.encode(), changes[session])
            changes[session] += 1
            request = None
            if flag:
                asked += 1
                request = Request()
                open_requests.append((asked, request))
                caused[message] = asked
            box.notify(session, [message], request)
        elif step == "answer" and open_requests:
            answer()
        elif step == "read":
            wire.read()
            box.drained()
        elif step == "stall":
            wire.room = 0
    while open_requests:
        answer()
    wire.read()
    box.drained()

    assert (box.queued, box.queued_bytes) == (0, 0)
    assert sum(message.startswith(b"answer") for message in wire.sent) == answers
    for session in changes:
        expected = 0
        for message in wire.sent:
            if message == b"resync " + session.encode():
                expected = -1
            elif message.startswith(session.encode() + b" "):
                number = int(message[2:])
                assert number == expected or (expected < 0 and number >= 0)
                expected = number + 1
        assert expected in (-1, changes[session])
    for message, number in caused.items():
        if message in wire.sent:
            assert wire.sent.index(b"answer %d" % number) < wire.sent.index(message)
