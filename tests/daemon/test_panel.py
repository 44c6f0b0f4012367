"""Who may have the panel: the address is good once, and only this machine's page gets anywhere."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import stat
from collections.abc import AsyncIterator
from typing import Any

import pytest
from home import PATIENCE, Home, eventually
from pi_daemon_client import AsyncClient, ServerError
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus, WebSocketException

from pi_daemon.daemon.server import Config, Daemon

pytestmark = pytest.mark.slow


@contextlib.asynccontextmanager
async def serving(home: Home) -> AsyncIterator[Daemon]:
    daemon = Daemon(Config(socket=home.socket, sessions_dir=home.sessions, state_dir=home.state))
    await daemon.start()
    try:
        yield daemon
    finally:
        await daemon.close()


async def address(home: Home, session_id: str | None = None) -> tuple[str, str]:
    """host:port, and what stands behind the #."""
    async with await AsyncClient.connect_unix(home.socket, reconnect=None) as client:
        url = (await client.panel(session_id) if session_id is not None else await client.panel())["url"]
    origin, _, secret = url.partition("/#")
    assert origin.startswith("http://127.0.0.1:")
    return origin.removeprefix("http://"), secret


async def raw(host: str, *lines: str) -> tuple[int, dict[str, str], bytes]:
    """Status, headers and body of the answer to a request, after which nothing comes."""
    reader, writer = await asyncio.open_connection(*host.split(":"))
    try:
        writer.write("\r\n".join([*lines, "", ""]).encode())
        head, _, body = (await reader.read()).partition(b"\r\n\r\n")
        first, *rest = head.decode().split("\r\n")
        headers = dict(line.split(": ", 1) for line in rest)
        assert len(headers) == len(rest)
        return int(first.split(" ")[1]), headers, body
    finally:
        writer.close()
        await writer.wait_closed()


async def get(host: str, path: str = "/", **headers: str) -> tuple[int, dict[str, str], bytes]:
    sent = {"Host": host, **headers}
    return await raw(host, f"GET {path} HTTP/1.1", *(f"{name}: {value}" for name, value in sent.items()))


async def enter(host: str, token: str | None, origin: str | None = "") -> dict[str, Any]:
    """The answer to `initialize`. `origin` empty: as the page has it."""
    given = f"http://{host}" if origin == "" else origin
    async with connect(f"ws://{host}/socket", origin=given, proxy=None) as page:  # type: ignore[arg-type]
        ours = {"protocolVersion": 1, **({} if token is None else {"token": token})}
        params = {"processId": None, "capabilities": {}, "initializationOptions": {"piDaemon": ours}}
        await page.send(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}))
        answer: dict[str, Any] = json.loads(await page.recv())
        return answer


async def enter_again(host: str, token: str | None) -> dict[str, Any]:
    """The same once there is a daemon again."""
    async with asyncio.timeout(PATIENCE):
        while True:
            with contextlib.suppress(OSError, WebSocketException):
                return await enter(host, token)
            await asyncio.sleep(0.02)


def token_of(answer: dict[str, Any]) -> str | None:
    found: str | None = answer["result"]["capabilities"]["experimental"]["piDaemon"].get("token")
    return found


def refused(answer: dict[str, Any]) -> bool:
    return bool(answer.get("error", {}).get("data", {}).get("reason") == "unauthorized")


async def test_nothing_listens_before_somebody_asks(home: Home) -> None:
    async with serving(home) as daemon:
        assert daemon.shared.transports == [f"unix:{home.socket}"]
        first, _ = await address(home)
        second, _ = await address(home)
        assert first == second
        assert daemon.shared.transports[1:] == [f"panel:{first}"]
    with pytest.raises(OSError):
        await asyncio.open_connection(*first.split(":"))


async def test_a_code_is_exchanged_once(home: Home) -> None:
    async with serving(home):
        host, code = await address(home)
        token = token_of(await enter(host, code))
        assert token is not None and token != code
        assert refused(await enter(host, code))
        again = await enter(host, token)
        assert "result" in again and token_of(again) is None
        assert "result" in await enter(host, token)


async def test_codes_are_told_with_the_session_behind_them(home: Home) -> None:
    async with serving(home):
        host, secret = await address(home, "a/b #c")
        code, _, session = secret.partition("/")
        assert session == "a%2Fb%20%23c"
        assert "result" in await enter(host, code)


@pytest.mark.parametrize("token", [None, "", "x", "\ud83d", "a" * 100_000])
async def test_without_the_code_nobody_comes_in(home: Home, token: str | None) -> None:
    async with serving(home):
        host, code = await address(home)
        assert refused(await enter(host, token))
        assert refused(await enter(host, code[:-1]))
        ordinary = home.state / "token"
        assert not ordinary.exists() or refused(await enter(host, ordinary.read_text().strip()))
        assert "result" in await enter(host, code)


async def test_a_refused_connection_is_closed(home: Home) -> None:
    async with serving(home):
        host, _ = await address(home)
        async with connect(f"ws://{host}/socket", origin=f"http://{host}", proxy=None) as page:  # type: ignore[arg-type]
            await page.send('{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}')
            assert b"1017" in str(await page.recv()).encode()
            with pytest.raises(ConnectionClosed):
                await page.recv()


@pytest.mark.parametrize(
    "origin",
    [
        None,
        "null",
        "file://",
        "http://evil.example",
        "http://127.0.0.1",
        "http://127.0.0.1:1",
        "https://127.0.0.1:{port}",
        "http://localhost:{port}",
        "http://127.0.0.1:{port}.evil.example",
        "http://127.0.0.1:{port}/",
        "vscode-webview://0123456789abcdef",
    ],
)
async def test_pages_of_other_origins_are_refused(home: Home, origin: str | None) -> None:
    async with serving(home):
        host, code = await address(home)
        other = origin.format(port=host.split(":")[1]) if origin is not None else None
        with pytest.raises(InvalidStatus) as caught:
            await enter(host, code, other)
        assert caught.value.response.status_code == 403
        assert "result" in await enter(host, code)


@pytest.mark.parametrize(
    "name", ["evil.example:{port}", "localhost:{port}", "127.0.0.1", "127.0.0.1:1", "[::1]:{port}"]
)
async def test_a_name_that_was_rebound_to_us_is_refused(home: Home, name: str) -> None:
    async with serving(home):
        host, _ = await address(home)
        status, _, body = await get(host, Host=name.format(port=host.split(":")[1]))
        assert status == 403 and b"<" not in body
        assert (await raw(host, "GET / HTTP/1.1"))[0] == 403
        assert (await raw(host, "GET / HTTP/1.1", f"Host: {host}", f"Host: {host}"))[0] == 403


async def test_the_files_and_their_headers(home: Home) -> None:
    async with serving(home):
        host, code = await address(home)
        types = {"/": "text/html", "/panel.js": "text/javascript", "/panel.css": "text/css"}
        for path, type in types.items():
            status, headers, body = await get(host, path)
            assert status == 200 and headers["Content-Type"] == f"{type}; charset=utf-8"
            assert int(headers["Content-Length"]) == len(body) > 0
            assert headers["Cache-Control"] == "no-store" and headers["X-Content-Type-Options"] == "nosniff"
            assert headers["Referrer-Policy"] == "no-referrer" and headers["X-Frame-Options"] == "DENY"
            assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
            policy = dict(part.strip().split(" ", 1) for part in headers["Content-Security-Policy"].split(";"))
            assert policy["default-src"] == "'none'" and policy["script-src"] == policy["style-src"] == "'self'"
            assert policy["connect-src"] == f"'self' ws://{host}" and policy["img-src"] == "data: blob:"
            assert policy["frame-ancestors"] == policy["base-uri"] == policy["form-action"] == "'none'"
            assert not {"Set-Cookie", "Access-Control-Allow-Origin"} & set(headers)
            assert code.encode() not in body


@pytest.mark.parametrize(
    "path",
    [
        "/index.html",
        "/panel.js/",
        "//panel.js",
        "/panel.js?x",
        "/PANEL.JS",
        "/../panel.js",
        "/../../../../../../etc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/..%2fdaemon%2fpages.py",
        "/..\\..\\etc\\passwd",
        "/panel.js%00.css",
        "/panel_files/panel.js",
        "http://127.0.0.1/panel.js",
        "/etc/passwd",
        "/socket",
        "*",
        "",
    ],
)
async def test_no_other_path_is_a_file(home: Home, path: str) -> None:
    async with serving(home):
        host, _ = await address(home)
        status, headers, body = await get(host, path)
        assert status in (400, 404) and b"root:" not in body and len(body) < 100
        assert headers.get("Content-Type", "text/plain").startswith("text/plain")


async def test_other_methods_and_other_sockets(home: Home) -> None:
    async with serving(home):
        host, _ = await address(home)
        for method in ("POST", "PUT", "HEAD", "OPTIONS"):
            assert (await raw(host, f"{method} / HTTP/1.1", f"Host: {host}"))[0] in (400, 405)
        with pytest.raises(InvalidStatus) as caught:
            async with connect(f"ws://{host}/", origin=f"http://{host}", proxy=None):  # type: ignore[arg-type]
                pass
        assert caught.value.response.status_code == 404


async def test_only_over_the_users_own_socket(home: Home) -> None:
    async with serving(home):
        host, code = await address(home)
        async with connect(f"ws://{host}/socket", origin=f"http://{host}", proxy=None) as page:  # type: ignore[arg-type]
            options = {"piDaemon": {"token": code}}
            for number, (method, params) in enumerate(
                [("initialize", {"capabilities": {}, "initializationOptions": options}), ("daemon/panel", {})]
            ):
                message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
                await page.send(json.dumps(message))
                answer = json.loads(await page.recv())
            assert refused(answer)
            await page.send('{"jsonrpc":"2.0","id":9,"method":"daemon/status"}')
            assert "result" in json.loads(await page.recv())


async def test_the_next_daemon_knows_the_page(home: Home) -> None:
    async with serving(home):
        host, code = await address(home)
        other = (await address(home))[1]
        token = token_of(await enter(host, code))
        kept = home.socket.with_name("daemon.sock.panel")
        assert stat.S_IMODE(kept.stat().st_mode) == 0o600
        assert token is not None and token.encode() not in kept.read_bytes() and code.encode() not in kept.read_bytes()
    async with serving(home) as daemon:
        assert f"panel:{host}" in daemon.shared.transports
        assert "result" in await enter(host, token)
        assert refused(await enter(host, other))
    log = home.state / "daemon.log"
    assert not log.exists() or token not in log.read_text()


async def test_another_program_has_the_port(home: Home) -> None:
    async with serving(home):
        host, code = await address(home)
        token = token_of(await enter(host, code))
    with socket.create_server(("127.0.0.1", int(host.split(":")[1]))):
        async with serving(home) as daemon:
            assert len(daemon.shared.transports) == 1
            elsewhere, _ = await address(home)
            assert elsewhere != host
            assert refused(await enter(elsewhere, token))


async def test_files_that_are_missing(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pi_daemon.daemon.panel.DIRECTORY", home.directory)
    async with serving(home):
        with pytest.raises(ServerError) as caught:
            await address(home)
        assert caught.value.reason == "storageFailed"


async def test_the_command_prints_the_address_and_stays(home: Home) -> None:
    process = await asyncio.create_subprocess_exec(
        *home.argv("panel", "--no-open"),
        env=home.environment,
        cwd=home.directory,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    line = (await process.stdout.readline()).decode()
    host, _, code = line.strip().removeprefix("http://").partition("/#")
    token = token_of(await enter(host, code))
    os.kill(home.pid, 9)
    assert "result" in await enter_again(host, token)
    process.send_signal(2)
    rest, errors = await process.communicate()
    assert process.returncode == 130 and rest == b"" and errors == b""
    assert code not in home.log.read_text() and str(token) not in home.log.read_text()


@pytest.mark.parametrize("name", ["last", "0123", "A name", "path"])
async def test_the_command_takes_a_session(home: Home, name: str) -> None:
    session_id = "01234567-0000-4000-8000-000000000000"
    header = {"type": "session", "version": 3, "id": session_id, "timestamp": "2026-01-01T00:00:00.000Z", "cwd": "/p"}
    named = {"type": "session_info", "id": "a", "parentId": None, "timestamp": header["timestamp"], "name": "A name"}
    path = home.sessions / f"2026-01-01T00-00-00-000Z_{session_id}.jsonl"
    path.write_text(f"{json.dumps(header)}\n{json.dumps(named)}\n")
    process = await asyncio.create_subprocess_exec(
        *home.argv("panel", str(path) if name == "path" else name, "--no-open"),
        env=home.environment,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    line = (await process.stdout.readline()).decode()
    process.send_signal(2)
    await process.communicate()
    assert line.strip().endswith(f"/{session_id}")


def test_a_session_that_is_not_there(home: Home) -> None:
    assert home.json("panel", "nothing", "--no-open", code=3)["error"]["reason"] == "sessionNotFound"


async def test_the_browser_is_not_told_the_code_in_its_arguments(home: Home) -> None:
    """It is given a file of the user's own, which leads on and is gone when the page has come."""
    script = home.directory / "browser"
    took = 'echo "$@" > "$HOME/argv"; cp "${1#file://}" "$HOME/page"; stat -c %a "${1#file://}" > "$HOME/mode"'
    script.write_text(f"#!/bin/sh\n{took}\n")
    script.chmod(0o700)
    process = await asyncio.create_subprocess_exec(
        *home.argv("panel"),
        env={**home.environment, "BROWSER": f"{script} %s", "TMPDIR": str(home.directory)},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
    )
    mode = home.directory / "mode"
    await eventually(lambda: mode.exists() and mode.read_text())
    page = (home.directory / "page").read_text()
    url = page.partition("url=")[2].partition('"')[0]
    host, _, code = url.removeprefix("http://").partition("/#")
    assert code and code not in (home.directory / "argv").read_text()
    assert (home.directory / "mode").read_text().strip() == "600"
    async with connect(f"ws://{host}/socket", origin=f"http://{host}", proxy=None) as opened:  # type: ignore[arg-type]
        params = {
            "capabilities": {},
            "clientInfo": {"name": "pi-daemon panel"},
            "initializationOptions": {"piDaemon": {"token": code}},
        }
        await opened.send(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}))
        out, _ = await process.communicate()
    assert process.returncode == 0 and b"The panel is open" in out
    assert list(home.directory.glob("pi-daemon-panel-*")) == []
