"""The standard streams of a real process, and what may be connected to them."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from fake_service import FakeService
from lsprotocol import types as lsp
from peers import Peer, StreamWire
from pygls.lsp.client import LanguageClient

from pi_daemon.rpc.framing import frame
from pi_daemon.rpc.limits import Limits
from pi_daemon.transports.stdio import StdioServer

HERE = Path(__file__).parent
CHILD = (sys.executable, str(HERE / "stdio_child.py"))


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [str(HERE.parents[1]), *sys.path]))}


def message(id: int, method: str, **params: Any) -> bytes:
    return frame(json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).encode())


async def spawn(stdin: int, stdout: int) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *CHILD, stdin=stdin, stdout=stdout, stderr=asyncio.subprocess.PIPE, env=environment()
    )


async def test_stdout_is_the_protocol_alone() -> None:
    child = await spawn(asyncio.subprocess.PIPE, asyncio.subprocess.PIPE)
    assert child.stdin is not None and child.stdout is not None and child.stderr is not None
    child.stdin.write(message(1, "initialize") + message(2, "test/echo", value="é"))
    child.stdin.write(message(3, "shutdown") + frame(b'{"jsonrpc":"2.0","method":"exit"}'))
    peer = Peer(StreamWire(child.stdout, child.stdin))
    assert [(await peer.receive())["id"] for _ in range(3)] == [1, 2, 3]
    assert await peer.ended()
    errors = (await child.stderr.read()).decode()
    assert "a stray print\n" in errors and "a stray child\n" in errors and errors.endswith("done\n")
    assert await child.wait() == 0
    child.stdin.close()


async def test_the_end_of_stdin_ends_it_after_the_answers() -> None:
    child = await spawn(asyncio.subprocess.PIPE, asyncio.subprocess.PIPE)
    output, errors = await child.communicate(message(1, "initialize") + message(2, "test/echo", value=1))
    assert output.endswith(b'{"jsonrpc":"2.0","id":2,"result":{"value":1}}')
    assert errors.endswith(b"done\n") and child.returncode == 0


async def test_files_for_pipes(tmp_path: Path) -> None:
    source, target = tmp_path / "in", tmp_path / "out"
    value = "x" * 300_000
    source.write_bytes(message(1, "initialize") + message(2, "test/echo", value=value))
    service = FakeService(Limits())
    server = StdioServer(service.connect, service.limits, (os.open(source, os.O_RDONLY), _create(target)))
    await server.start()
    await server.closed.wait()
    await server.close()
    assert target.read_bytes().endswith(frame(b'{"jsonrpc":"2.0","id":2,"result":{"value":"%b"}}' % value.encode()))
    assert service.connections == []


def _create(path: Path) -> int:
    return os.open(path, os.O_WRONLY | os.O_CREAT)


async def test_a_terminal_keeps_its_mode() -> None:
    ours, theirs = os.openpty()
    service = FakeService(Limits())
    nothing = os.open(os.devnull, os.O_WRONLY)
    server = StdioServer(service.connect, service.limits, (os.dup(theirs), nothing))
    await server.start()
    assert os.get_blocking(theirs)
    os.write(ours, b"Content-Length: 1\n\n{\n")
    os.close(theirs)
    os.close(ours)
    await server.closed.wait()
    await server.close()


async def test_a_client_that_stops_reading_does_not_stop_the_loop() -> None:
    """The pipe is full and stays full; the loop goes on, and closing gives up after the linger time."""
    limits = Limits(linger_seconds=0.02)
    service = FakeService(limits)
    inward, outward = os.pipe(), os.pipe()
    server = StdioServer(service.connect, limits, (inward[0], outward[1]))
    await server.start()
    os.write(inward[1], message(1, "initialize") + message(2, "test/change", sessionId="s", count=3, size=100_000))
    os.write(inward[1], message(3, "test/wait", key="k"))
    await service.started["k"].wait()
    assert service.connections[0].statistics().queued_bytes > 100_000
    await server.close()
    await service.cancelled["k"].wait()
    for descriptor in (inward[1], outward[0]):
        os.close(descriptor)


@pytest.mark.slow
async def test_an_lsp_client_library_can_talk_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """pygls's own client, which knows nothing of us."""
    client = LanguageClient("a client", "1")
    monkeypatch.setenv("PYTHONPATH", environment()["PYTHONPATH"])
    await client.start_io(*CHILD)
    options = lsp.InitializeParams(capabilities=lsp.ClientCapabilities(), client_info=lsp.ClientInfo(name="pygls"))
    result = await client.initialize_async(options)
    assert result.server_info is not None and result.server_info.name == "fake"
    client.initialized(lsp.InitializedParams())
    echoed = await client.protocol.send_request_async("test/echo", {"value": 5})
    assert echoed.value == 5
    await client.shutdown_async(None)
    client.exit(None)
    assert client._server is not None and await client._server.wait() == 0
    await client.stop()
