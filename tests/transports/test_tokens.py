"""TCP and WebSocket want the token, whoever asks; nothing else is told without it."""

from __future__ import annotations

from pathlib import Path

import pytest
from fake_service import TOKEN, FakeService
from peers import house

from pi_daemon.rpc.limits import Limits
from pi_daemon.transports.server import CannotListen
from pi_daemon.transports.stream import TcpServer
from pi_daemon.transports.websocket import WebSocketServer

open_ports = pytest.mark.parametrize("transport", ["tcp", "websocket"])


@open_ports
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"initializationOptions": None},
        {"initializationOptions": {"piDaemon": None}},
        {"initializationOptions": {"piDaemon": {}}},
        {"initializationOptions": {"piDaemon": {"token": ""}}},
        {"initializationOptions": {"piDaemon": {"token": TOKEN[:-1]}}},
        {"initializationOptions": {"piDaemon": {"token": TOKEN + "\x00"}}},
        {"initializationOptions": {"piDaemon": {"token": "\ud83d"}}},
    ],
)
async def test_without_the_token_the_connection_ends(
    transport: str, options: dict[str, object], tmp_path: Path
) -> None:
    async with house(transport, tmp_path) as house_, house_.raw() as peer:
        answer = await peer.call("initialize", capabilities={}, **options)
        assert (answer["error"]["code"], answer["error"]["data"]) == (1017, {"reason": "unauthorized"})
        assert TOKEN not in str(answer)
        assert await peer.ended()


@open_ports
async def test_nothing_works_before_the_token(transport: str, tmp_path: Path) -> None:
    async with house(transport, tmp_path) as house_, house_.raw() as peer:
        for method in ("test/echo", "shutdown", "session/list"):
            assert (await peer.call(method))["error"]["code"] == -32002
        assert house_.service.connections == []


async def test_unix_and_stdio_ask_for_none(tmp_path: Path) -> None:
    for transport in ("unix", "stdio"):
        async with house(transport, tmp_path) as house_, house_.raw() as peer:
            assert "result" in await peer.call("initialize", capabilities={})


@pytest.mark.parametrize("kind", [TcpServer, WebSocketServer])
@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
async def test_no_port_opens_without_a_token(kind: type[TcpServer | WebSocketServer], host: str) -> None:
    with pytest.raises(CannotListen, match="token"):
        await kind(host, 0, FakeService(Limits()).connect, "").start()


async def test_a_port_in_use(tmp_path: Path) -> None:
    async with house("tcp", tmp_path) as house_:
        port = int(house_.server.address.split(":")[1])
        with pytest.raises(CannotListen, match="another port"):
            await TcpServer("127.0.0.1", port, FakeService(Limits()).connect, TOKEN).start()


async def test_no_such_address() -> None:
    with pytest.raises(CannotListen, match="no address"):
        await TcpServer("256.1.1.1.invalid.", 0, FakeService(Limits()).connect, TOKEN).start()
