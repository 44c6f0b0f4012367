"""What every transport promises alike."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from peers import House, Peer, StreamWire, WebSocketWire, each_framed, each_transport, house
from websockets.exceptions import WebSocketException

from pi_daemon.rpc.framing import frame

ODD = rb'{ "jsonrpc":"1.0", "type_name":[1.0,1e5,123456789012345678901234567890], "t":"\ud83d" }'


@each_transport
async def test_the_handshake(transport: str, tmp_path: Path) -> None:
    async with house(transport, tmp_path) as house_, house_.raw() as peer:
        early = await peer.call("test/echo", value=1)
        assert early["error"]["code"] == -32002 and early["error"]["data"]["reason"] == "notInitialized"
        await peer.send({"method": "$/anything"}, {"method": "initialized", "params": {}})
        ours = (await peer.initialize(protocolVersion=1))["result"]["capabilities"]["experimental"]["piDaemon"]
        assert ours["clientId"] == house_.service.connections[0].client.client_id
        assert ours["limits"]["jsonDepth"] == 500
        assert house_.service.connections[0].client.name == "a test"
        assert (await peer.initialize())["error"]["code"] == -32600
        assert (await peer.call("test/echo", value=1))["result"] == {"value": 1}


@each_transport
async def test_another_protocol_version_is_refused(transport: str, tmp_path: Path) -> None:
    async with house(transport, tmp_path) as house_, house_.raw() as peer:
        error = (await peer.initialize(protocolVersion=2))["error"]
        assert (error["code"], error["data"]) == (1020, {"reason": "versionMismatch", "protocolVersion": 1})
        assert "result" in await peer.initialize()


@each_transport
async def test_values_come_back_as_they_went_in(transport: str, tmp_path: Path) -> None:
    async with house(transport, tmp_path) as house_, house_.client() as peer:
        for id in (b'"\\ud83d"', b"12345678901234567890123", b"1.50", b'"a"'):
            await peer.wire.send(b'{"jsonrpc":"2.0","id":%b,"method":"test/echo","params":{"value":%b}}' % (id, ODD))
            assert await peer.wire.receive() == b'{"jsonrpc":"2.0","id":%b,"result":{"value":%b}}' % (id, ODD)


@each_transport
async def test_a_large_message_there_and_back(transport: str, tmp_path: Path) -> None:
    async with house(transport, tmp_path) as house_, house_.client() as peer:
        value = ["é" * 1000] * 1000
        assert (await peer.call("test/echo", value=value))["result"]["value"] == value


@each_transport
async def test_unknown_methods(transport: str, tmp_path: Path) -> None:
    async with house(transport, tmp_path) as house_, house_.client() as peer:
        for method in ("test/nothing", "$/nothing", "test/unserved", "shutdown\x00"):
            error = (await peer.call(method))["error"]
            assert (error["code"], error["data"]["reason"]) == (-32601, "methodNotFound")
        await peer.send({"method": "$/nothing"}, {"method": "test/echo", "params": 5}, {"method": "$/cancelRequest"})
        await peer.send({"method": "$/cancelRequest", "params": {"id": []}}, {"method": "$/cancelRequest", "params": 1})
        assert (await peer.call("test/echo", value=1))["result"] == {"value": 1}


@each_transport
async def test_what_is_no_request_is_answered_and_costs_nothing(transport: str, tmp_path: Path) -> None:
    async with house(transport, tmp_path) as house_, house_.client() as peer:
        request = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "test/echo", "params": {"value": 1}}).encode()
        for message, code, reason in (
            (b"{", -32700, "parseError"),
            (b"", -32700, "parseError"),
            (b'"\xff"', -32700, "parseError"),
            (b"[%b,%b]" % (request, request), -32600, "invalidRequest"),
            (b"[]", -32600, "invalidRequest"),
            (b'{"jsonrpc":"2.0","id":null,"method":"test/echo"}', -32600, "invalidRequest"),
            (b'{"jsonrpc":"2.0","id":[1],"method":"test/echo"}', -32600, "invalidRequest"),
            (b'{"jsonrpc":"2.0"}', -32600, "invalidRequest"),
        ):
            await peer.wire.send(message)
            answer = await peer.receive()
            assert (answer["id"], answer["error"]["code"]) == (None, code)
            assert answer["error"]["data"]["reason"] == reason
        assert (await peer.call("test/echo", value=1))["result"] == {"value": 1}


@each_transport
async def test_bad_parameters_are_named(transport: str, tmp_path: Path) -> None:
    async with house(transport, tmp_path) as house_, house_.client() as peer:
        error = (await peer.call("test/change", sessionId="s", count="many"))["error"]
        assert (error["code"], error["data"]) == (-32602, {"reason": "invalidParams", "path": "count"})
        error = (await peer.call("test/change"))["error"]
        assert (error["code"], error["data"]["path"]) == (-32602, "sessionId")


@each_transport
async def test_depth(transport: str, tmp_path: Path) -> None:
    async with house(transport, tmp_path) as house_, house_.client() as peer:
        for depth, code in ((498, None), (499, 1018), (5000, 1018), (200_000, 1018)):
            value = b"[" * depth + b"]" * depth
            await peer.wire.send(
                b'{"jsonrpc":"2.0","id":%d,"method":"test/echo","params":{"value":%b}}' % (depth, value)
            )
            message = await peer.wire.receive()
            assert message is not None
            if code is None:
                assert message == b'{"jsonrpc":"2.0","id":%d,"result":{"value":%b}}' % (depth, value)
            else:
                answer = json.loads(message)
                assert (answer["id"], answer["error"]["code"]) == (depth, code)
                assert answer["error"]["data"] == {"reason": "tooLarge", "limit": "jsonDepth"}


@each_transport
async def test_a_message_over_the_limit(transport: str, tmp_path: Path) -> None:
    async with house(transport, tmp_path, body_bytes=1000) as house_, house_.client() as peer:
        await peer.send({"id": "large", "method": "test/echo", "params": {"value": "x" * 100_000}})
        if transport == "websocket":
            assert await peer.ended()
            assert isinstance(peer.wire, WebSocketWire) and peer.wire.connection.close_code == 1009
        else:
            answer = await peer.receive()
            assert (answer["id"], answer["error"]["code"]) == ("large", 1018)
            assert answer["error"]["data"] == {"reason": "tooLarge", "limit": "bodyBytes", "bytes": 1000}
            assert (await peer.call("test/echo", value=1))["result"] == {"value": 1}


@each_transport
async def test_an_answer_over_the_limit(transport: str, tmp_path: Path) -> None:
    async with house(transport, tmp_path, reply_bytes=1000) as house_, house_.client() as peer:
        error = (await peer.call("test/echo", value="x" * 2000))["error"]
        assert (error["code"], error["data"]["limit"]) == (1018, "replyBytes")


@each_transport
async def test_a_bug_is_told_without_a_word_of_it(
    transport: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with house(transport, tmp_path) as house_, house_.client() as peer:
        error = (await peer.call("test/bug"))["error"]
        assert (error["code"], error["data"]) == (-32603, {"reason": "internalError"})
        assert "secret" not in json.dumps(error) and "secret" in caplog.text
        error = (await peer.call("test/refuse"))["error"]
        assert (error["code"], error["data"]) == (1004, {"reason": "entryNotFound", "entryId": "e"})


@each_transport
async def test_cancelling(transport: str, tmp_path: Path) -> None:
    async with house(transport, tmp_path) as house_, house_.client() as peer:
        await peer.send({"id": "a", "method": "test/wait", "params": {"key": "a"}})
        await house_.service.started["a"].wait()
        await peer.send(*[{"method": "$/cancelRequest", "params": {"id": "a"}}] * 2)
        answer = await peer.receive()
        assert (answer["id"], answer["error"]["code"]) == ("a", -32800)
        assert answer["error"]["data"]["reason"] == "cancelled"
        await house_.service.cancelled["a"].wait()
        # what is done already, what was never asked, and what has not begun yet
        await peer.send({"method": "$/cancelRequest", "params": {"id": "a"}})
        await peer.send({"method": "$/cancelRequest", "params": {"id": 99}})
        await peer.send(
            {"id": 1.0, "method": "test/wait", "params": {"key": "b"}},
            {"method": "$/cancelRequest", "params": {"id": 1}},
        )
        answer = await peer.receive()
        assert (answer["id"], answer["error"]["code"]) == (1.0, -32800)
        assert (await peer.call("test/echo", value=1))["result"] == {"value": 1}


@each_transport
async def test_an_id_in_flight_is_refused(transport: str, tmp_path: Path) -> None:
    async with house(transport, tmp_path) as house_, house_.client() as peer:
        await peer.send({"id": 1, "method": "test/wait", "params": {"key": "a"}})
        await peer.wire.send(b'{"jsonrpc":"2.0","id":1.0,"method":"test/echo","params":{"value":1}}')
        assert (await peer.receive())["error"]["code"] == -32600
        house_.service.gates["a"].set()
        assert await peer.receive() == {"jsonrpc": "2.0", "id": 1, "result": {}}
        await peer.send({"id": 1, "method": "test/echo", "params": {"value": 2}})
        assert (await peer.receive())["result"] == {"value": 2}


@each_transport
async def test_overload(transport: str, tmp_path: Path) -> None:
    async with house(transport, tmp_path, requests_in_flight=4) as house_, house_.client() as peer:
        await peer.send(*({"id": id, "method": "test/wait", "params": {"key": "k"}} for id in range(7)))
        for id in (4, 5, 6):
            answer = await peer.receive()
            assert (answer["id"], answer["error"]["code"]) == (id, 1015)
        house_.service.gates["k"].set()
        assert [(await peer.receive())["id"] for _ in range(4)] == [0, 1, 2, 3]
        assert (await peer.call("test/echo", value=1))["result"] == {"value": 1}


@each_transport
async def test_pipelined_requests_begin_in_order(transport: str, tmp_path: Path) -> None:
    async with house(transport, tmp_path) as house_, house_.client() as peer:
        await peer.send(*({"id": id, "method": "test/echo", "params": {"value": id}} for id in range(100)))
        assert [(await peer.receive())["result"]["value"] for _ in range(100)] == list(range(100))


@each_transport
async def test_an_answer_precedes_the_notifications_it_causes(transport: str, tmp_path: Path) -> None:
    async with house(transport, tmp_path) as house_, house_.client() as peer:
        change = {"method": "test/change", "params": {"sessionId": "s", "count": 2}}
        await peer.send(
            {"id": "one", **change},
            {"id": "two", **change},
            {"id": "three", "method": "test/change", "params": {"sessionId": "s", "fails": True}},
        )
        got = [await peer.receive() for _ in range(8)]
        order = [message.get("id") or message["params"]["revision"] for message in got]
        revisions = [item for item in order if isinstance(item, int)]
        assert revisions == [1, 2, 3, 4, 5]
        assert {item for item in order if isinstance(item, str)} == {"one", "two", "three"}
        # with the first steps run alternately, one made 1 and 4, two 2 and 5, three 3
        assert order.index("one") < order.index(1) and order.index("two") < order.index(2)
        assert order.index("three") < order.index(3)


@each_transport
async def test_progress(transport: str, tmp_path: Path) -> None:
    async with house(transport, tmp_path) as house_, house_.client() as peer:
        assert (await peer.call("test/steps", count=3, workDoneToken="t"))["result"] == {}
        values = [message["params"]["value"] for message in peer.notified]
        assert [message["method"] for message in peer.notified] == ["$/progress"] * len(values)
        assert all(message["params"]["token"] == "t" for message in peer.notified)
        assert values[0] == {"kind": "begin", "title": "test/steps", "message": "step 0", "percentage": 0}
        assert values[-1] == {"kind": "end"}
        peer.notified.clear()
        await peer.call("test/steps", count=3)
        await peer.call("test/steps", count=0, workDoneToken=1)
        assert peer.notified == []


@each_transport
async def test_the_daemon_may_ask(transport: str, tmp_path: Path) -> None:
    async with house(transport, tmp_path) as house_, house_.client() as peer:
        await peer.send({"id": 50, "method": "test/ask", "params": {"value": "?"}})
        question = await peer.receive()
        assert (question["method"], question["params"]) == ("test/question", {"value": "?"})
        await peer.send({"id": 777, "result": "of nothing"}, {"id": question["id"], "result": ["!"]})
        assert (await peer.receive())["result"] == {"value": ["!"]}


@each_transport
async def test_shutdown_and_exit(transport: str, tmp_path: Path) -> None:
    async with house(transport, tmp_path) as house_, house_.client() as peer:
        await peer.send({"id": "w", "method": "test/wait", "params": {"key": "k"}})
        assert (await peer.call("shutdown"))["result"] is None
        assert (await peer.call("test/echo", value=1))["error"]["code"] == -32600
        assert (await peer.call("shutdown"))["error"]["code"] == -32600
        house_.service.gates["k"].set()
        assert (await peer.receive())["id"] == "w"
        await peer.send({"method": "exit"})
        assert await peer.ended()
        await peer.wire.close()
        await house_.service.someone_left.wait()
        assert len(house_.service.left) == 1


@each_transport
async def test_exit_with_requests_in_flight(transport: str, tmp_path: Path) -> None:
    async with house(transport, tmp_path) as house_, house_.client() as peer:
        await peer.send({"id": 1, "method": "test/wait", "params": {"key": "k"}}, {"method": "exit"})
        assert await peer.ended()
        await peer.wire.close()
        await house_.service.someone_left.wait()


@each_transport
async def test_a_client_that_vanishes(transport: str, tmp_path: Path) -> None:
    async with house(transport, tmp_path) as house_:
        async with house_.client() as peer:
            await peer.send({"id": 1, "method": "test/wait", "params": {"key": "k"}})
            await house_.service.started["k"].wait()
            if isinstance(peer.wire, StreamWire):
                peer.wire.vanish()
        if transport == "stdio":  # until we write, it can't be told from one that has no more to ask
            house_.service.gates["k"].set()
        await house_.service.someone_left.wait()
        assert house_.service.cancelled["k"].is_set() == (transport != "stdio")


@each_framed
async def test_a_client_that_has_no_more_to_ask_gets_its_answers(transport: str, tmp_path: Path) -> None:
    async with house(transport, tmp_path) as house_, house_.client() as peer:
        assert isinstance(peer.wire, StreamWire)
        await peer.send({"id": 1, "method": "test/wait", "params": {"key": "k"}})
        peer.wire.writer.write_eof()
        await house_.service.started["k"].wait()
        house_.service.gates["k"].set()
        assert (await peer.receive())["id"] == 1
        assert await peer.ended()


async def fill(house_: House, slow: Peer, sessions: int) -> None:
    """Change sessions until the peer, which doesn't read, must have missed something."""
    for number in range(sessions):
        change = {"sessionId": f"s{number}", "count": 40, "size": 50_000}
        await slow.send({"id": f"f{number}", "method": "test/change", "params": change})


@each_transport
async def test_a_client_that_does_not_read_is_resynced_and_costs_the_others_nothing(
    transport: str, tmp_path: Path
) -> None:
    async with house(transport, tmp_path, outbox_bytes=200_000) as house_, house_.client() as slow:
        await fill(house_, slow, 2)
        if transport != "stdio":
            async with house_.client() as other:
                assert (await other.call("test/echo", value=1))["result"] == {"value": 1}
        seen: dict[str, list[int]] = {"s0": [], "s1": []}
        answers: set[str] = set()
        resynced: set[str] = set()
        while len(answers) < 2 or len(resynced) < 2:
            message = await slow.receive()
            if "id" in message:
                answers.add(message["id"])
            elif message["method"] == "session/resync":
                resynced.add(message["params"]["sessionId"])
                assert message["params"]["revision"] == 40
            else:
                seen[message["params"]["sessionId"]].append(message["params"]["revision"])
        for revisions in seen.values():
            assert len(revisions) < 40 and revisions == list(range(1, len(revisions) + 1))
        await slow.call("test/change", sessionId="s0")
        while (later := await slow.receive())["method"] != "test/changed":
            pass
        assert later["params"]["revision"] == 41


@each_transport
async def test_answers_are_all_kept_for_a_client_that_reads_late(transport: str, tmp_path: Path) -> None:
    async with house(transport, tmp_path, answers_backlog_bytes=300_000) as house_, house_.client() as peer:
        value = "x" * 50_000
        requests = ({"id": id, "method": "test/echo", "params": {"value": value}} for id in range(200))
        sending = asyncio.create_task(peer.send(*requests))
        got = [(await peer.receive())["id"] for _ in range(200)]
        await sending
        assert got == list(range(200))
        assert house_.service.most_queued < 2_000_000


@each_transport
async def test_closing_the_server_ends_every_client(transport: str, tmp_path: Path) -> None:
    async with house(transport, tmp_path) as house_, house_.client() as peer:
        await peer.send({"id": 1, "method": "test/wait", "params": {"key": "k"}})
        await house_.service.started["k"].wait()
        closing = asyncio.create_task(house_.server.close())
        assert await peer.ended()
        await peer.wire.close()
        await closing


@each_framed
async def test_one_byte_at_a_time(transport: str, tmp_path: Path) -> None:
    async with house(transport, tmp_path) as house_:
        stream = await house_.stream()
        peer = Peer(stream)
        await peer.initialize()
        for id in range(2):
            for byte in frame(json.dumps({"jsonrpc": "2.0", "id": id, "method": "test/refuse"}).encode()):
                await stream.send_bytes(bytes([byte]))
            assert (await peer.receive())["id"] == id
        await stream.close()


@each_framed
@pytest.mark.parametrize(
    "header", [b"Content-Length: -1\r\n\r\n", b"Content-Length: 2\r\ncontent-length: 2\r\n\r\n", b"\r\n"]
)
async def test_a_header_without_a_length_is_told_and_ends_the_connection(
    transport: str, header: bytes, tmp_path: Path
) -> None:
    async with house(transport, tmp_path) as house_, house_.client() as peer:
        assert isinstance(peer.wire, StreamWire)
        await peer.wire.send_bytes(header + frame(b"{}"))
        answer = await peer.receive()
        assert (answer["id"], answer["error"]["code"]) == (None, -32700)
        assert await peer.ended()


@each_framed
@pytest.mark.parametrize("start", [b"POST / HTTP/1.1\r\n", b"GET ", b"Host: localhost\r\n"])
async def test_http_is_closed_without_a_word(transport: str, start: bytes, tmp_path: Path) -> None:
    async with house(transport, tmp_path) as house_:
        stream = await house_.stream()
        await stream.send_bytes(start)
        assert await stream.rest() == b""
        await stream.close()


@pytest.mark.parametrize("transport", ["unix", "tcp", "websocket"])
async def test_a_client_that_never_begins_is_dropped(transport: str, tmp_path: Path) -> None:
    async with house(transport, tmp_path, handshake_seconds=0.02) as house_, house_.raw() as peer:
        assert await peer.ended()


@pytest.mark.parametrize("transport", ["unix", "tcp", "websocket"])
async def test_clients_are_bounded(transport: str, tmp_path: Path) -> None:
    async with house(transport, tmp_path, clients=2) as house_, house_.client() as one, house_.client() as two:
        with pytest.raises((AssertionError, OSError, WebSocketException)):
            async with house_.client():
                pass
        assert (await one.call("test/echo", value=1))["result"] == {"value": 1}
        await two.wire.close()
        await house_.service.someone_left.wait()
        async with house_.client() as three:
            assert (await three.call("test/echo", value=3))["result"] == {"value": 3}
