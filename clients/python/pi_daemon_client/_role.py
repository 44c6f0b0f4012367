"""What this client does for the daemon: make summaries, if it was given how to."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias, cast

from . import _types as t

logger = logging.getLogger(__name__)

Summarizer: TypeAlias = Callable[[t.SummarizeParams], "t.SummarizeResult | Awaitable[t.SummarizeResult]"]
"""Makes a summary of what it is given. One that is no coroutine function runs in a thread. What it raises tells the
daemon to ask somebody else, and is logged."""

_METHOD = "summarizer/summarize"
_FAILED = -32603
_CANCELLED = -32800
_UNKNOWN = -32601


class Role:
    """Answers the daemon's requests on one connection; `send` sends a message."""

    def __init__(self, summarizer: Summarizer | None, send: Callable[[dict[str, Any]], None]) -> None:
        self.summarizer = summarizer
        self._send = send
        self._running: dict[Any, asyncio.Task[None]] = {}

    def asked(self, number: Any, method: str, params: dict[str, Any]) -> None:
        if method != _METHOD or self.summarizer is None:
            self._refuse(number, _UNKNOWN, f"this client does not answer {method}")
            return
        task = asyncio.get_running_loop().create_task(self._summarize(number, self.summarizer, params))
        self._running[number] = task
        task.add_done_callback(lambda _: self._running.pop(number, None))

    def cancel(self, number: Any) -> None:
        """The daemon doesn't want that answer any more."""
        task = self._running.get(number)
        if task is not None:
            task.cancel()

    def end(self) -> None:
        """Nobody waits for any answer any more."""
        for task in list(self._running.values()):
            task.cancel()

    async def _summarize(self, number: Any, summarizer: Summarizer, params: dict[str, Any]) -> None:
        wanted = cast(t.SummarizeParams, params)
        try:
            if inspect.iscoroutinefunction(summarizer):
                result = await summarizer(wanted)
            else:
                result = await asyncio.to_thread(summarizer, wanted)
                if inspect.isawaitable(result):
                    result = await result
        except asyncio.CancelledError:
            self._refuse(number, _CANCELLED, "cancelled")
            raise
        except Exception as error:
            logger.warning("the summarizer failed", exc_info=error)
            self._refuse(number, _FAILED, f"the summarizer failed: {type(error).__name__}: {error}".rstrip(": "))
            return
        self._send({"jsonrpc": "2.0", "id": number, "result": result})

    def _refuse(self, number: Any, code: int, message: str) -> None:
        self._send({"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": message}})
