"""What only a WebSocket has: a handshake that a web page can send, frames of several kinds."""

from __future__ import annotations

import asyncio
import base64
import json
from pathlib import Path

import pytest
from peers import House, Peer, StreamWire, WebSocketWire, house
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosedError, InvalidStatus

KEY = base64.b64encode(b"0123456789abcdef").decode()


def request(house_: House, *headers: str, host: str | None = "", line: str = "GET / HTTP/1.1") -> bytes:
    """A handshake. `host` empty: as it should be; None: without."""
    lines = [
        line,
        "Upgrade: websocket",
        "Connection: Upgrade",
        f"Sec-WebSocket-Key: {KEY}",
        "Sec-WebSocket-Version: 13",
    ]
    if host is not None:
        lines.append(f"Host: {host or house_.server.address}")
    return "\r\n".join([*lines, *headers, "", ""]).encode()


async def status(house_: House, data: bytes) -> int:
    """The status of the response, and that nothing else than a closed connection follows a refusal."""
    host, port = house_.server.address.split(":")
    wire = StreamWire(*await asyncio.open_connection(host, int(port)))
    try:
        await wire.send_bytes(data)
        head = await wire.reader.readuntil(b"\r\n\r\n")
        found = int(head.split(b" ")[1])
        if found != 101:
            await wire.rest()
        return found
    finally:
        await wire.close()


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "https://editor.example.evil.example",
        "http://editor.example",
        "https://editor.example:8443",
        "null",
        "file://",
        "vscode-webview://0123456789abcdef",
        "http://127.0.0.1",
        "http://localhost:3000",
        "http://[::1]",
        "127.0.0.1",
        "http://192.168.1.5:3000",
        "",
    ],
)
async def test_pages_of_other_origins_are_refused(origin: str, tmp_path: Path) -> None:
    async with house("websocket", tmp_path) as house_:
        assert await status(house_, request(house_, f"Origin: {origin}")) == 403
        assert await status(house_, request(house_, "Origin: https://editor.example", f"Origin: {origin}")) != 101
        assert house_.service.connections == []


async def test_an_allowed_origin_still_needs_the_token(tmp_path: Path) -> None:
    async with (
        house("websocket", tmp_path) as house_,
        connect(f"ws://{house_.server.address}", origin="https://editor.example", proxy=None) as connection,
    ):
        peer = Peer(WebSocketWire(connection))
        assert (await peer.call("initialize", capabilities={}))["error"]["code"] == 1017


@pytest.mark.parametrize("host", ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "localhost", None])
async def test_a_name_that_was_rebound_to_us_is_refused(host: str | None, tmp_path: Path) -> None:
    async with house("websocket", tmp_path) as house_:
        port = house_.server.address.split(":")[1]
        assert await status(house_, request(house_, host=host.format(port=port) if host else None)) == 403


async def test_names_of_ours(tmp_path: Path) -> None:
    async with house("websocket", tmp_path) as house_:
        port = house_.server.address.split(":")[1]
        for host in (f"127.0.0.1:{port}", f"LOCALHOST:{port}", f"[::1]:{port}"):
            assert await status(house_, request(house_, host=host)) == 101
        assert await status(house_, request(house_, f"Host: localhost:{port}")) == 403


async def test_what_is_no_handshake(tmp_path: Path) -> None:
    async with house("websocket", tmp_path) as house_:
        host = f"Host: {house_.server.address}"
        assert await status(house_, f"GET / HTTP/1.1\r\n{host}\r\n\r\n".encode()) == 426
        assert await status(house_, request(house_, line="POST / HTTP/1.1")) == 405
        assert await status(house_, request(house_, "X: " + "a" * 1_000_000)) == 431
        assert await status(house_, request(house_, *[f"X-{number}: a" for number in range(10_000)])) == 431


async def test_a_connection_that_speaks_the_framed_protocol_is_closed(tmp_path: Path) -> None:
    async with house("websocket", tmp_path) as house_:
        host, port = house_.server.address.split(":")
        wire = StreamWire(*await asyncio.open_connection(host, int(port)))
        await wire.send(b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}')
        assert b"result" not in await wire.rest()
        await wire.close()


async def test_no_compression(tmp_path: Path) -> None:
    async with (
        house("websocket", tmp_path) as house_,
        connect(f"ws://{house_.server.address}", compression="deflate", proxy=None) as connection,
    ):
        assert connection.protocol.extensions == []


async def test_binary_frames_are_refused(tmp_path: Path) -> None:
    async with house("websocket", tmp_path) as house_, house_.client() as peer:
        assert isinstance(peer.wire, WebSocketWire)
        await peer.wire.connection.send(b'{"jsonrpc":"2.0","id":1,"method":"test/echo","params":{"value":1}}')
        with pytest.raises(ConnectionClosedError) as caught:
            await peer.wire.connection.recv()
        assert caught.value.rcvd is not None and caught.value.rcvd.code == 1003


async def test_a_message_in_fragments(tmp_path: Path) -> None:
    async with house("websocket", tmp_path) as house_, house_.client() as peer:
        assert isinstance(peer.wire, WebSocketWire)
        message = json.dumps({"jsonrpc": "2.0", "id": "f", "method": "test/echo", "params": {"value": "é" * 50}})
        await peer.wire.connection.send([message[at : at + 1] for at in range(len(message))])
        assert (await peer.receive())["result"]["value"] == "é" * 50


async def test_fragments_over_the_limit(tmp_path: Path) -> None:
    async with house("websocket", tmp_path, body_bytes=1000) as house_, house_.client() as peer:
        assert isinstance(peer.wire, WebSocketWire)
        with pytest.raises(ConnectionClosedError) as caught:
            await peer.wire.connection.send(["x" * 400] * 3)
            await peer.wire.connection.recv()
        assert caught.value.rcvd is not None and caught.value.rcvd.code == 1009


async def test_pings_are_answered_and_cannot_pile_up(tmp_path: Path) -> None:
    async with house("websocket", tmp_path) as house_, house_.client() as peer:
        assert isinstance(peer.wire, WebSocketWire)
        await (await peer.wire.connection.ping())
        (channel,) = house_.server.channels  # type: ignore[union-attr]
        paused, pause = asyncio.Event(), channel._transport.pause_reading
        channel._transport.pause_reading = lambda: (pause(), paused.set())
        peer.wire.connection.transport.pause_reading()
        peer.wire.connection.transport.write((b"\x89\xfd\x00\x00\x00\x00" + b"p" * 125) * 100_000)
        await paused.wait()
        assert channel._transport.get_write_buffer_size() < 1_000_000
        peer.wire.connection.transport.resume_reading()
        assert (await peer.call("test/echo", value=1))["result"] == {"value": 1}


async def test_a_close_is_answered(tmp_path: Path) -> None:
    async with house("websocket", tmp_path) as house_, house_.client() as peer:
        assert isinstance(peer.wire, WebSocketWire)
        await peer.send({"id": 1, "method": "test/wait", "params": {"key": "k"}})
        await house_.service.started["k"].wait()
        await peer.wire.connection.close()
        assert peer.wire.connection.close_code == 1000
        await house_.service.cancelled["k"].wait()


async def test_the_library_logs_no_token(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(0)
    async with house("websocket", tmp_path) as house_, house_.client() as peer:
        await peer.call("test/echo", value="secret in a message")
    ours = [record for record in caplog.records if record.name.startswith("pi_daemon")]
    assert not any("secret" in record.getMessage() or "horse" in record.getMessage() for record in ours)


async def test_a_plain_http_client_is_told_nothing(tmp_path: Path) -> None:
    async with house("websocket", tmp_path) as house_:
        with pytest.raises(InvalidStatus):
            async with connect(f"ws://{house_.server.address}", origin="https://evil.example", proxy=None):
                pass
