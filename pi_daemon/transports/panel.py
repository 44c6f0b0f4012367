"""The panel for browsers: its files, and on the same port the WebSocket that it speaks over.

Of files it knows a handful by their exact paths, read beforehand: no path of a request ever becomes one of the file
system. They hold no secrets. Only the page that came from here may open the WebSocket, and then it still has to bring
what the gate knows.
"""

from __future__ import annotations

import http
from collections.abc import Mapping
from typing import ClassVar

from msgspec import Struct
from websockets.datastructures import Headers
from websockets.http11 import Request, Response
from websockets.typing import Origin

from pi_daemon.rpc.connection import Gate
from pi_daemon.rpc.limits import Limits
from pi_daemon.transports.server import ConnectionFactory
from pi_daemon.transports.websocket import WebSocketServer

HOST = "127.0.0.1"

SOCKET_PATH = "/socket"

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src data: blob:; connect-src 'self' ws://{address}; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; "
    "trusted-types 'none'"
)

_HEADERS = {
    "Cache-Control": "no-store",
    "Connection": "close",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


class File(Struct, frozen=True):
    """One file of the panel, with its content type."""

    type: str
    data: bytes


class PanelServer(WebSocketServer):
    """`files` by path, "/" among them. `port` 0 takes a free one."""

    name: ClassVar[str] = "panel"

    def __init__(
        self,
        port: int,
        connect: ConnectionFactory,
        gate: Gate,
        files: Mapping[str, File],
        limits: Limits = Limits(),  # noqa: B008 (frozen)
    ) -> None:
        super().__init__(HOST, port, connect, gate, limits)
        self._files = files

    async def start(self) -> None:
        await super().start()
        self.origins = [Origin(self.origin)]
        self._hosts = {self.address}

    @property
    def origin(self) -> str:
        return f"http://{self.address}"

    @property
    def port(self) -> int:
        return int(self.address.rpartition(":")[2])

    def page(self, request: Request) -> Response | None:
        if "Upgrade" in request.headers:
            return None if request.path == SOCKET_PATH else self._plain(http.HTTPStatus.NOT_FOUND)
        if getattr(request, "method", "GET") != "GET":
            return self._plain(http.HTTPStatus.METHOD_NOT_ALLOWED)
        file = self._files.get(request.path)
        return self._plain(http.HTTPStatus.NOT_FOUND) if file is None else self._response(http.HTTPStatus.OK, file)

    def _plain(self, status: http.HTTPStatus) -> Response:
        return self._response(status, File("text/plain; charset=utf-8", f"{status.phrase}\n".encode()))

    def _response(self, status: http.HTTPStatus, file: File) -> Response:
        headers = Headers(_HEADERS)
        headers["Content-Security-Policy"] = _POLICY.format(address=self.address)
        headers["Content-Type"] = file.type
        headers["Content-Length"] = str(len(file.data))
        return Response(status.value, status.phrase, headers, file.data)
