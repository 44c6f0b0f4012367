"""Ways into a local daemon that were used elsewhere, each tried on every transport that it concerns.

The advisories stand beside the tests. Beside these:
- the directory, the socket, the peer's user, what somebody else put there before us: test_unix_socket.py; the state
  directory: tests/daemon/test_connect_start.py
- the token, and that no port opens without one (CVE-2025-52882): test_tokens.py
- Origin (CVE-2025-24010, CVE-2025-30360), Host (CVE-2025-66414, CVE-2026-34742), compression: test_websocket.py
- depth (CVE-2024-27454, CVE-2025-67221), size, clients, requests, a client that doesn't read: test_conformance.py
- links and containment below the transports (CVE-2025-53109): tests/storage/test_storage_layout.py
"""

from __future__ import annotations

import asyncio
import hmac
import json
import os
import stat
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from living import living
from peers import Peer, StreamWire, WebSocketWire, each_framed, each_transport, house
from websockets.asyncio.client import connect

from pi_daemon.cli.reach import daemon_command
from pi_daemon.daemon.errors import UnsafeDirectory
from pi_daemon.daemon.token import token, token_path
from pi_daemon.engine import hub as hubs
from pi_daemon.rpc import codec, connection
from pi_daemon.rpc.framing import frame
from pi_daemon.rpc.limits import Limits

each_port = pytest.mark.parametrize("transport", ["tcp", "websocket"])
each_listening = pytest.mark.parametrize("transport", ["unix", "tcp", "websocket"])

HEADER = '{"type":"session","version":3,"id":"%s","timestamp":"2026-01-31T12:00:00.000Z","cwd":"/p"}\n'


def everything(base: Path) -> dict[str, tuple[int, int]]:
    """Each file outside of the daemon's own directories, with what would show that it was touched."""
    found = (path for path in base.rglob("*") if not path.is_relative_to(base / "state"))
    return {str(path): (path.lstat().st_size, path.lstat().st_mtime_ns) for path in found if not path.is_dir()}


# Session ids and paths (GHSA-5xfq-5mr7-426q; CVE-2026-35397: containment by prefix; CVE-2025-53109 and 53110: a prefix
# and a link; CVE-2024-28179: checked on one transport and not on another)

IDS = [
    *("../s1", "..", "../../etc/passwd", "a/b", "/etc/passwd", "s1\0", "s1\0.jsonl", "%2e%2e", "%2e%2e%2fs1"),
    *("C:\\s1", "..\\s1", "\\\\host\\s1", "s1\n", "s\n1", "", " ", ".", "-s1", "~", "s" * 300, "\u202es1", "s1\ud83d"),
]


@each_transport
async def test_a_session_id_that_is_a_path(transport: str, tmp_path: Path) -> None:
    async with living(transport, tmp_path) as house_, house_.client() as peer:
        source = (await peer.call("session/create", cwd="/p", persist="immediate"))["result"]["sessionId"]
        (tmp_path / "s1.jsonl").write_text(HEADER % "s1")
        before = everything(tmp_path)
        for odd in IDS:
            for method, params in (
                ("session/create", {"cwd": "/p", "id": odd, "persist": "immediate"}),
                ("session/fork", {"sessionId": source, "id": odd}),
                ("session/open", {"sessionId": odd}),
                ("session/append", {"sessionId": odd, "entries": [{"type": "custom", "customType": "c"}]}),
                ("session/delete", {"sessionId": odd}),
            ):
                error = (await peer.call(method, **params)).get("error")
                assert error is not None and error["code"] == -32602, (method, odd)
                assert error["data"]["path"] == ("id" if "id" in params else "sessionId")
        assert everything(tmp_path) == before


@each_transport
async def test_a_session_id_that_is_a_link(transport: str, tmp_path: Path) -> None:
    """The file of that name is a link out of the roots, or to where nothing is yet."""
    async with living(transport, tmp_path) as house_, house_.client() as peer:
        (tmp_path / "outside.jsonl").write_text(HEADER % "evil")
        link = house_.sessions / "2026-01-31T12-00-00-000Z_evil.jsonl"
        link.symlink_to(tmp_path / "outside.jsonl")
        before = everything(tmp_path)
        for method in ("session/open", "session/tree", "session/delete", "session/fork"):
            assert (await peer.call(method, sessionId="evil"))["error"]["data"]["reason"] == "sessionNotFound"
        for method in ("session/open", "session/check", "session/repair"):
            assert (await peer.call(method, path=str(link)))["error"]["data"]["reason"] == "outsideRoot"
        assert (await peer.call("session/list"))["result"]["sessions"] == []
        assert everything(tmp_path) == before


@each_transport
async def test_the_path_of_a_session_that_leads_out(transport: str, tmp_path: Path) -> None:
    async with living(transport, tmp_path) as house_, house_.client() as peer:
        sessions = house_.sessions
        twin = tmp_path / "sessions-evil"
        twin.mkdir()
        (twin / "x.jsonl").write_text(HEADER % "x")
        (sessions / "deep").mkdir()
        (sessions / "deep" / "down").symlink_to(twin)
        before = everything(tmp_path)
        for path, reason in (
            (f"{twin}/x.jsonl", "outsideRoot"),
            (f"{sessions}-evil/x.jsonl", "outsideRoot"),
            (f"{sessions}/../sessions-evil/x.jsonl", "outsideRoot"),
            (f"{sessions}/deep/down/x.jsonl", "outsideRoot"),
            (f"{sessions}/deep/down/../x.jsonl", "outsideRoot"),
            (f"//{twin}/x.jsonl", "outsideRoot"),
            ("/proc/self/root/etc/passwd", "outsideRoot"),
            ("/dev/stdin", "outsideRoot"),
            ("/etc/passwd", "outsideRoot"),
            (f"{sessions}/%2e%2e/sessions-evil/x.jsonl", "sessionNotFound"),
            (f"{sessions}/" + "x" * 300 + ".jsonl", "sessionNotFound"),
            (f"{sessions}/x\n.jsonl", "sessionNotFound"),
            ("../sessions-evil/x.jsonl", "invalidParams"),
            ("C:\\x.jsonl", "invalidParams"),
            (f"{sessions}/x\0.jsonl", "invalidParams"),
            ("", "invalidParams"),
        ):
            for method in ("session/open", "session/check", "session/repair"):
                error = (await peer.call(method, path=path))["error"]
                assert error["data"]["reason"] == reason, (method, path)
        assert everything(tmp_path) == before


# The token


@each_port
async def test_the_token_is_compared_in_constant_time(
    transport: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared: list[tuple[bytes, bytes]] = []
    compare = hmac.compare_digest

    def watched(given: bytes, wanted: bytes) -> bool:
        compared.append((given, wanted))
        return compare(given, wanted)

    monkeypatch.setattr(connection.hmac, "compare_digest", watched)
    async with living(transport, tmp_path) as house_:
        made = house_.token
        assert made is not None
        for given in (made[:-1] + "~", "", made):
            async with house_.raw() as peer:
                assert ("result" in await peer.initialize(token=given)) == (given == made)
        assert compared == [(given.encode(), made.encode()) for given in (made[:-1] + "~", "", made)]


def test_the_token_has_256_bits_in_a_file_of_ours_alone(tmp_path: Path) -> None:
    made = token(tmp_path / "state")
    assert len(made) >= 43 and made == token(tmp_path / "state") != token(tmp_path / "other")
    assert stat.S_IMODE(token_path(tmp_path / "state").lstat().st_mode) == 0o600
    assert [path.name for path in (tmp_path / "state").iterdir()] == ["token"]


def test_a_token_that_others_may_know_is_refused(tmp_path: Path) -> None:
    state = tmp_path / "state"
    token(state)
    path = token_path(state)
    path.chmod(0o640)
    with pytest.raises(UnsafeDirectory, match="other users"):
        token(state)
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UnsafeDirectory, match="link"):
        token(state)
    state.chmod(0o755)
    with pytest.raises(UnsafeDirectory, match="chmod 700"):
        token(state)


async def test_a_token_in_the_url_is_none(tmp_path: Path) -> None:
    """CVE-2026-25253: a URL is kept in histories and logs, so nothing may work with one."""
    async with living("websocket", tmp_path) as house_:
        for uri in (f"/?token={house_.token}", f"/{house_.token}"):
            async with connect(f"ws://{house_.server.address}{uri}", proxy=None) as one:
                answer = await Peer(WebSocketWire(one)).call("initialize", capabilities={})
                assert answer["error"]["code"] == 1017


@pytest.mark.slow
async def test_the_token_is_in_no_argument_variable_or_log(tmp_path: Path) -> None:
    """With every request logged, those included that bring it where it doesn't belong."""
    arguments = ("--tcp", "127.0.0.1:0", "--ws", "127.0.0.1:0", "--log-level", "debug")
    async with process(tmp_path, *arguments) as daemon:
        said = [await daemon.said("listening on tcp"), await daemon.said("listening on websocket")]
        tcp, websocket = (line.decode().split(":", 1)[1].strip().rsplit(":", 1)[1] for line in said)
        secret = (tmp_path / "state" / "token").read_text().strip()
        peer = Peer(StreamWire(*await asyncio.open_connection("127.0.0.1", int(tcp))))
        assert "error" in await peer.call("initialize", token=secret)
        await peer.wire.close()
        peer = Peer(StreamWire(*await asyncio.open_connection("127.0.0.1", int(tcp))))
        assert "result" in await peer.initialize(token=secret)
        for method, params in ((secret, {}), ("session/open", {"path": f"/{secret}"}), ("session/list", {"cwd": 1})):
            assert "error" in await peer.call(method, **params)
        await peer.wire.close()
        async with connect(f"ws://127.0.0.1:{websocket}/?token={secret}", proxy=None) as one:
            assert "result" in await Peer(WebSocketWire(one)).initialize(token=secret)
        for name in ("cmdline", "environ"):
            assert secret.encode() not in Path(f"/proc/{daemon.pid}/{name}").read_bytes()
        told = await daemon.end()
    files = [path for path in (tmp_path / "state").rglob("*") if path.name != "token" and path.is_file()]
    logged = b"".join(path.read_bytes() for path in files)
    assert b"session/open" in logged and secret.encode() not in told + logged


# Ports (CVE-2026-22812: one that nobody asked for)


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments", [["--stdio"], ["--socket", "{base}/run/socket"], []], ids=["stdio", "unix", "none"]
)
async def test_no_port_opens_that_nobody_asked_for(arguments: list[str], tmp_path: Path) -> None:
    given = [argument.format(base=tmp_path) for argument in arguments]
    async with process(tmp_path, *given) as daemon:
        if arguments == ["--stdio"]:
            assert "result" in await Peer(daemon.wire).call("initialize", capabilities={})
        else:
            await daemon.said("started")
        ours = {os.readlink(one) for one in Path(f"/proc/{daemon.pid}/fd").iterdir()}
        assert not [inode for inode in ports() if f"socket:[{inode}]" in ours]
        assert not (tmp_path / "state" / "token").exists()


def ports() -> Iterator[str]:
    """The inodes of all Internet sockets of this machine."""
    for name in ("tcp", "tcp6", "udp", "udp6"):
        for line in Path(f"/proc/net/{name}").read_text().splitlines()[1:]:
            yield line.split()[9]


class Process:
    """`pi-daemon serve`; `wire` are its standard streams."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdin is not None and process.stdout is not None and process.stderr is not None
        self._process = process
        self.pid = process.pid
        self.wire = StreamWire(process.stdout, process.stdin)
        self._errors = process.stderr
        self._told = b""

    async def said(self, words: str) -> bytes:
        """The line of stderr that has these words."""
        while words.encode() not in (line := await self._errors.readline()):
            assert line, self._told
            self._told += line
        self._told += line
        return line

    async def end(self) -> bytes:
        """All that it said."""
        if self._process.returncode is None:
            self._process.terminate()
        output, errors = await self._process.communicate()
        return self._told + output + errors


class process:
    """Runs `pi-daemon serve` with these arguments and directories of its own."""

    def __init__(self, base: Path, *arguments: str) -> None:
        self._argv, self._environment = daemon_command(
            *("serve", *arguments, "--sessions-dir", str(base / "sessions"), "--state-dir", str(base / "state"))
        )
        (base / "runtime").mkdir(mode=0o700)
        self._environment |= {"XDG_RUNTIME_DIR": str(base / "runtime"), "HOME": str(base)}

    async def __aenter__(self) -> Process:
        pipe = asyncio.subprocess.PIPE
        self._process = Process(
            await asyncio.create_subprocess_exec(
                *self._argv, env=self._environment, stdin=pipe, stdout=pipe, stderr=pipe
            )
        )
        return self._process

    async def __aexit__(self, *_: object) -> None:
        await self._process.end()


# What a browser can send to a port

REQUEST = b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}'


@each_transport
@pytest.mark.parametrize("verb", ["POST", "GET", "PUT", "HEAD", "OPTIONS", "DELETE", "PATCH", "CONNECT", "TRACE"])
async def test_the_body_of_an_http_request_runs_nothing(transport: str, verb: str, tmp_path: Path) -> None:
    """The body of a form may be a whole message with its header; no byte of ours may come back."""
    async with house(transport, tmp_path) as house_:
        head = f"{verb} / HTTP/1.1\r\nHost: {house_.server.address}\r\nContent-Length: {len(REQUEST)}\r\n\r\n"
        wire = await raw_stream(house_)
        await wire.send_bytes(head.encode() + REQUEST + frame(REQUEST))
        answer = await wire.rest()
        assert b"jsonrpc" not in answer and house_.service.connections == []
        assert answer == b"" or (transport == "websocket" and answer.startswith(b"HTTP/1.1 4"))
        await wire.close()


async def raw_stream(house_: Any) -> StreamWire:
    """A client's bytes, where a WebSocket's are no messages yet."""
    if house_.transport != "websocket":
        wire = await house_.wire()
        assert isinstance(wire, StreamWire)
        return wire
    host, port = house_.server.address.split(":")
    return StreamWire(*await asyncio.open_connection(host, int(port)))


# Framing

FATAL = {
    "minus one": b"Content-Length: -1\r\n\r\n",
    "plus five": b"Content-Length: +5\r\n\r\n12345",
    "400 digits": b"Content-Length: " + b"9" * 400 + b"\r\n\r\n",
    "twice": b"Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}",
    "twice, different": b"Content-Length: 2\r\ncontent-length: 3\r\n\r\n{}",
    "hex": b"Content-Length: 0x10\r\n\r\n",
    "1 MB header line": b"X: " + b"a" * 1_000_000 + b"\r\n",
    "10,000 headers": b"".join(b"X-%d: a\r\n" % number for number in range(10_000)) + b"\r\n",
    "beyond all measure": b"Content-Length: 9999999999999999\r\n\r\n{",
}


@each_framed
@pytest.mark.parametrize("begun", [True, False], ids=["initialized", "at once"])
@pytest.mark.parametrize("sent", FATAL.values(), ids=FATAL.keys())
async def test_a_length_that_is_none_ends_the_connection(
    transport: str, sent: bytes, begun: bool, tmp_path: Path
) -> None:
    async with house(transport, tmp_path) as house_:
        wire = await house_.stream()
        peer = Peer(wire)
        if begun:
            await peer.initialize()
        wire.writer.write(sent + frame(REQUEST))
        answer = await peer.receive()
        assert answer["id"] is None and answer["error"]["code"] in (-32700, 1018)
        assert await peer.ended()
        await wire.close()


@each_framed
async def test_a_length_of_nothing_is_a_message_that_is_none(transport: str, tmp_path: Path) -> None:
    async with house(transport, tmp_path) as house_, house_.client() as peer:
        assert isinstance(peer.wire, StreamWire)
        await peer.wire.send_bytes(b"Content-Length: 0\r\n\r\n")
        assert (await peer.receive())["error"]["code"] == -32700
        assert (await peer.call("test/echo", value=1))["result"] == {"value": 1}


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param(b"\x81\xff" + b"\xff" * 8 + b"mask", id="a length beyond 63 bits"),
        pytest.param(b"\x81\xff\x7f" + b"\xff" * 7 + b"mask", id="a length of 63 bits"),
        pytest.param(b"\x81\x02{}", id="not masked"),
        pytest.param(b"\xc1\x82mask{}", id="compressed"),
        pytest.param(b"\x83\x82mask{}", id="no such kind"),
        pytest.param(b"\x80\x82mask{}", id="the rest of nothing"),
        pytest.param(b"\x09\x82mask{}", id="a ping in parts"),
        pytest.param(b"\x89\xfe\x01\x00mask" + b"a" * 256, id="a large ping"),
    ],
)
async def test_a_frame_that_is_none_ends_the_websocket(sent: bytes, tmp_path: Path) -> None:
    async with house("websocket", tmp_path) as house_, house_.client() as peer:
        assert isinstance(peer.wire, WebSocketWire)
        peer.wire.connection.transport.write(sent)
        assert await peer.ended()
        assert peer.wire.connection.close_code in (1002, 1009)


@each_listening
@pytest.mark.parametrize(
    "sent", [b"", b"Content-", b"Content-Length: 60000000\r\n\r\n{", b"GET / HTTP/1.1\r\nHost: a\r\n"]
)
async def test_what_never_comes_is_not_waited_for(transport: str, sent: bytes, tmp_path: Path) -> None:
    async with house(transport, tmp_path, handshake_seconds=0.02) as house_:
        wire = await raw_stream(house_)
        await wire.send_bytes(sent)
        assert b"result" not in await wire.rest()
        await wire.close()


@each_listening
async def test_one_byte_now_and_then_gains_no_time(transport: str, tmp_path: Path) -> None:
    async with house(transport, tmp_path, handshake_seconds=0.05) as house_:
        wire = await raw_stream(house_)
        start = b"GET / HTTP/1.1\r\nX: " if transport == "websocket" else b"Content-Length: 60000000\r\n\r\n"
        await wire.send_bytes(start)
        ending = asyncio.create_task(wire.rest())
        while not ending.done():
            try:
                await wire.send_bytes(b"a")
            except OSError:
                break
            await asyncio.sleep(0.001)
        assert b"result" not in await ending
        await wire.close()


@each_framed
async def test_a_body_that_never_comes_keeps_nobody(transport: str, tmp_path: Path) -> None:
    async with house(transport, tmp_path) as house_, house_.client() as peer:
        assert isinstance(peer.wire, StreamWire)
        await peer.send({"id": 1, "method": "test/refuse"})
        await peer.wire.send_bytes(b"Content-Length: 60000000\r\n\r\n{")
        assert (await peer.receive())["id"] == 1
        if transport != "stdio":
            async with house_.client() as other:
                assert (await other.call("test/echo", value=1))["result"] == {"value": 1}


async def test_a_websocket_byte_by_byte(tmp_path: Path) -> None:
    async with house("websocket", tmp_path) as house_, house_.client() as peer:
        assert isinstance(peer.wire, WebSocketWire)
        message = b'{"jsonrpc":"2.0","id":1,"method":"test/refuse"}'
        for byte in b"\x81" + bytes([0x80 | len(message)]) + bytes(4) + message:
            peer.wire.connection.transport.write(bytes([byte]))
            await asyncio.sleep(0)
        assert (await peer.receive())["id"] == 1


# Depth (CVE-2024-27454, CVE-2025-67221) where a value is passed on, and large messages


@each_transport
async def test_deep_values_reach_no_file(transport: str, tmp_path: Path) -> None:
    async with living(transport, tmp_path) as house_, house_.client() as peer:
        session = (await peer.call("session/create", cwd="/p", persist="immediate"))["result"]["sessionId"]
        draft = '{"type":"custom","customType":"c","data":%s}'
        append = '{"jsonrpc":"2.0","id":"%s","method":"session/append","params":{"sessionId":"%s","entries":[%s]}}'
        for opening, closing in (("[", "]"), ('{"a":', "}")):
            for depth in (600, 100_000):
                deep = draft % (opening * depth + "1" + closing * depth)
                await peer.wire.send((append % (depth, session, deep)).encode())
                answer = await peer.answer()
                assert (answer["id"], answer["error"]["code"]) == (str(depth), 1018)
        (path,) = house_.sessions.glob("*.jsonl")
        assert path.read_bytes().count(b"\n") == 1


@each_transport
async def test_a_large_message_is_checked_beside_the_loop(
    transport: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Others are served while it is checked, and what its sender sent behind it waits: answers come in order."""
    checking, go_on = asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()
    decode = codec.decode

    def slow(message: bytes) -> codec.Envelope:
        if len(message) > connection.CHECKED_AT_ONCE_BYTES:
            loop.call_soon_threadsafe(checking.set)
            assert go_on.wait(30)
        return decode(message)

    monkeypatch.setattr(codec, "decode", slow)
    async with house(transport, tmp_path) as house_, house_.client() as peer:
        large = {"id": 1, "method": "test/echo", "params": {"value": "x" * connection.CHECKED_AT_ONCE_BYTES}}
        sending = asyncio.create_task(send_all(peer, large))
        await checking.wait()
        if transport != "stdio":
            async with house_.client() as other:
                assert (await other.call("test/echo", value=1))["result"] == {"value": 1}
        go_on.set()
        assert [(await peer.receive())["id"] for _ in range(4)] == [1, 2, None, 4]
        await sending


async def send_all(peer: Peer, large: dict[str, Any]) -> None:
    """More than is read while the first of them is checked."""
    await peer.send(large, {"id": 2, "method": "test/refuse"})
    await peer.wire.send(b"[" * connection.CHECKED_AT_ONCE_BYTES + b"[")
    await peer.send({"id": 4, "method": "test/refuse"})


# Caps


@each_transport
async def test_drafts_in_an_append_are_bounded(transport: str, tmp_path: Path) -> None:
    async with living(transport, tmp_path, drafts_in_append=3) as house_, house_.client() as peer:
        session = (await peer.call("session/create", cwd="/p", persist="immediate"))["result"]["sessionId"]
        draft = {"type": "custom", "customType": "c"}
        error = (await peer.call("session/append", sessionId=session, entries=[draft] * 4))["error"]
        assert (error["code"], error["data"]["path"]) == (-32602, "entries")
        assert (
            len((await peer.call("session/append", sessionId=session, entries=[draft] * 3))["result"]["entries"]) == 3
        )


@each_transport
async def test_open_sessions_are_bounded(transport: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hubs, "OPEN_SESSIONS", 3)
    async with living(transport, tmp_path) as house_, house_.client() as peer:
        made = [await peer.call("session/create", cwd="/p", persist="immediate") for _ in range(4)]
        assert made[3]["error"]["data"] == {"reason": "overloaded", "limit": "openSessions", "openSessions": 3}
        await peer.call("session/close", sessionId=made[0]["result"]["sessionId"])
        assert "result" in await peer.call("session/create", cwd="/p", persist="immediate")


def test_every_cap_is_told() -> None:
    told = Limits().report()
    assert {"headerLineBytes", "headerCount", "bodyBytes", "jsonDepth", "draftsInAppend", "clients"} <= told.keys()
    assert all(value > 0 for value in told.values()), json.dumps(told)
