"""The panel, from when somebody asks for it: a port of the loopback, which nobody listens on before."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from pi_daemon.daemon.pages import Pages
from pi_daemon.rpc.limits import Limits
from pi_daemon.session.errors import StorageFailed
from pi_daemon.transports.server import CannotListen, ConnectionFactory

if TYPE_CHECKING:
    from pi_daemon.transports.panel import File, PanelServer

logger = logging.getLogger(__name__)

DIRECTORY = Path(__file__).parents[1] / "panel_files"
"""What Vite has made of `clients/panel`."""

FILES = {
    "/": ("index.html", "text/html; charset=utf-8"),
    "/panel.js": ("panel.js", "text/javascript; charset=utf-8"),
    "/panel.css": ("panel.css", "text/css; charset=utf-8"),
}
"""By path: the file's name, and its content type."""


class Panel:
    """`serving` is told of the server once it listens. `remember`: where pages are kept for the next daemon."""

    def __init__(
        self,
        connect: ConnectionFactory,
        limits: Limits,
        remember: Path | None,
        serving: Callable[[PanelServer], None],
    ) -> None:
        self._connect = connect
        self._limits = limits
        self._serving = serving
        self._pages = Pages(remember)
        self._server: PanelServer | None = None
        self._beginning = asyncio.Lock()

    async def resume(self) -> None:
        """Listen where a former daemon did, if pages that it let in may come back."""
        if self._pages.recall():
            try:
                await self._listen(self._pages.port)
            except (CannotListen, StorageFailed) as error:
                logger.warning("the panel's port is taken", extra={"fields": {"reason": error.reason}})

    async def address(self, session_id: str | None) -> str:
        """One to be opened once. Raises StorageFailed."""
        async with self._beginning:
            if self._server is None:
                try:
                    await self._listen(0)
                except CannotListen as error:
                    raise StorageFailed(error.message) from error
        assert self._server is not None
        session = "" if session_id is None else f"/{quote(session_id, safe='')}"
        return f"{self._server.origin}/#{self._pages.code()}{session}"

    async def _listen(self, port: int) -> None:
        from pi_daemon.transports.panel import PanelServer

        server = PanelServer(port, self._connect, self._pages, _files(), self._limits)
        await server.start()
        self._pages.serve(server.port)
        self._server = server
        self._serving(server)


def _files() -> dict[str, File]:
    """By path. Raises StorageFailed."""
    from pi_daemon.transports.panel import File

    try:
        return {path: File(type, (DIRECTORY / name).read_bytes()) for path, (name, type) in FILES.items()}
    except OSError as error:
        raise StorageFailed(f"The panel's files can't be read: {error.strerror}.") from error
