"""Summaries by a connected client that offered to make them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial

from msgspec import UNSET

from pi_daemon.compaction.brief import Brief, Form
from pi_daemon.compaction.prompts import Request
from pi_daemon.compaction.summarizers.asking import asked, checked
from pi_daemon.compaction.summarizing import MOST_CHARACTERS, Made, Tell
from pi_daemon.engine.events import Origin
from pi_daemon.engine.offload import offload
from pi_daemon.engine.questioned import QUESTION_COST
from pi_daemon.methods.shared import Shared
from pi_daemon.rpc import codec
from pi_daemon.rpc.connection import Connection, PeerError
from pi_daemon.rpc.errors import Refused
from pi_daemon.rpc.types.compaction import SummarizeParams, SummarizeResult
from pi_daemon.session.errors import PiDaemonError, SummarizerFailed
from pi_daemon.session.rawjson import loads
from pi_daemon.session.view import one_line

ERROR_CHARACTERS = 200
"""Of what a client says went wrong, to be passed on to who asked."""


class ClientSummarizer:
    """Asks the clients that offer, whoever wants the summary first. Where one leaves, fails or takes too long, the next
    takes over, one that has come meanwhile included."""

    name = "client"
    form: Form = "requests"

    def __init__(self, shared: Shared, asker: str | None) -> None:
        self._shared = shared
        self._asker = asker

    async def summarize(self, brief: Brief, tell: Tell) -> Made:
        failed: list[tuple[str, str]] = []
        tried: set[str] = set()

        async def ask(request: Request) -> Made:
            while (connection := self._next(tried)) is not None:
                name = connection.client.name or "a client"
                tell(f"Summarizing ({name})")
                try:
                    made = await _ask(connection, request)
                except _Failed as failure:
                    tried.add(connection.client.client_id)
                    failed.append((name, str(failure)))
                    continue
                return await offload(QUESTION_COST * len(made.text), partial(checked, made))
            raise _nobody(failed)

        return await asked(brief.requests, brief.previous, ask)

    def _next(self, tried: set[str]) -> Connection | None:
        willing = [c for c in offering(self._shared, self._asker) if c.client.client_id not in tried]
        return willing[0] if willing else None


def offer(shared: Shared, origin: Origin | None) -> ClientSummarizer | None:
    """None while no client offers."""
    asker = origin.client_id if origin is not None else None
    return ClientSummarizer(shared, asker) if offering(shared, asker) else None


def offering(shared: Shared, asker: str | None) -> list[Connection]:
    """Clients that make summaries; the one that asks for it comes first."""
    found = [connection for connection in shared.connections.values() if connection.client.summarizer]
    return sorted(found, key=lambda connection: connection.client.client_id != asker)


class _Failed(Exception):
    """This client has no summary for us."""


async def _ask(connection: Connection, request: Request) -> Made:
    """Raises _Failed."""
    params = wire_request(request)
    try:
        async with asyncio.timeout(connection.limits.summarizer_seconds):
            raw = await connection.request("summarizer/summarize", params)
        result = codec.reader(SummarizeResult).read(raw)
    except TimeoutError:
        raise _Failed("took too long") from None
    except PeerError as error:
        raise _Failed("left" if error.error is None else f"answered: {_words(error.error)}") from None
    except (PiDaemonError, Refused):
        raise _Failed("gave no `summary`") from None
    if not result.summary.strip():
        raise _Failed("gave an empty summary")
    if len(result.summary) > MOST_CHARACTERS:
        raise _Failed(f"gave a summary of more than {MOST_CHARACTERS:,} characters")
    usage = result.usage if isinstance(result.usage, dict) else None
    return Made(result.summary, usage, None if result.model is UNSET else result.model)


def _words(error: bytes) -> str:
    """What the client says went wrong, on one line."""
    found = loads(error) if error else None
    message = found.get("message") if isinstance(found, dict) else None
    return one_line(message, ERROR_CHARACTERS) if isinstance(message, str) and message.strip() else "an error"


def wire_request(request: Request) -> SummarizeParams:
    """As a client is asked."""
    return SummarizeParams(
        kind=request.kind,
        system_prompt=request.system_prompt,
        prompt=request.prompt,
        conversation=request.conversation,
        previous_summary=request.previous_summary if request.previous_summary is not None else UNSET,
        instructions=request.instructions if request.instructions is not None else UNSET,
        max_tokens=request.max_tokens,
    )


def _nobody(failed: Sequence[tuple[str, str]]) -> SummarizerFailed:
    told = ", ".join(f"{name} {how}" for name, how in failed)
    words = "No client is left that makes summaries: send the text as `summary`, or name another summarizer."
    return SummarizerFailed(f"{words} ({told})" if told else words)
