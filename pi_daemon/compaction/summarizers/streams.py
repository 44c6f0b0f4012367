"""What models send, piece by piece, in the formats of OpenAI and Anthropic."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any, Literal

from msgspec import Struct

from pi_daemon.compaction.prompts import Request
from pi_daemon.compaction.summarizers.asking import LARGEST
from pi_daemon.session.errors import SummarizerFailed


class ModelName(Struct, frozen=True):
    """`url`: of the endpoint; None: the provider's own."""

    provider: Literal["openai", "anthropic"]
    model: str
    url: str | None = None


class Answer:
    """What came of one request. `ended` is why the model stopped, None while it hasn't."""

    def __init__(self) -> None:
        self.text = ""
        self.ended: str | None = None
        self.usage: dict[str, Any] | None = None

    def checked(self) -> str:
        """The text, if it is a whole answer in words. Raises SummarizerFailed."""
        flaw = _FLAWS.get(self.ended or "")
        if flaw is not None or not self.text.strip():
            raise SummarizerFailed(f"The model's answer {flaw or 'is empty'}: nothing was written.")
        return self.text


_FLAWS = {
    "": "broke off",
    "length": "was cut off at its limit; raise reserveTokens, or let the model think less",
    "max_tokens": "was cut off at its limit; raise reserveTokens, or let the model think less",
    "model_context_window_exceeded": "was cut off at the end of the model's window; compact earlier",
    "tool_calls": "calls a tool instead",
    "function_call": "calls a tool instead",
    "tool_use": "calls a tool instead",
    "pause_turn": "broke off",
    "content_filter": "was withheld by a filter",
    "refusal": "is a refusal",
}


async def openai(client: Any, name: ModelName, request: Request, answer: Answer) -> AsyncGenerator[str, None]:
    # Servers of one's own know the old name of the limit, OpenAI's newer models want the new one.
    limit = "max_completion_tokens" if name.url is None else "max_tokens"
    made = await client.chat.completions.create(
        model=name.model,
        messages=[
            {"role": "system", "content": request.system_prompt},
            {"role": "user", "content": _sendable(request.text)},
        ],
        stream=True,
        stream_options={"include_usage": True},
        **{limit: request.max_tokens},
    )
    async with made as stream:
        async for chunk in stream:
            if chunk.usage is not None:
                cached = _count(getattr(getattr(chunk.usage, "prompt_tokens_details", None), "cached_tokens", 0))
                given = max(_count(getattr(chunk.usage, "prompt_tokens", 0)) - cached, 0)
                answer.usage = _usage(given, getattr(chunk.usage, "completion_tokens", 0), cached, 0)
            for choice in chunk.choices:
                if getattr(choice.delta, "refusal", None):
                    answer.ended = "refusal"
                elif answer.ended is None and choice.finish_reason is not None:
                    answer.ended = choice.finish_reason
                if choice.delta.content:
                    yield choice.delta.content


async def anthropic(client: Any, name: ModelName, request: Request, answer: Answer) -> AsyncGenerator[str, None]:
    made = await client.messages.create(
        model=name.model,
        system=request.system_prompt,
        messages=[{"role": "user", "content": _sendable(request.text)}],
        max_tokens=request.max_tokens,
        stream=True,
    )
    given: dict[str, Any] = {}
    async with made as stream:
        async for event in stream:
            if event.type == "message_start":
                given = event.message.usage.model_dump()
            elif event.type == "content_block_delta" and event.delta.type == "text_delta":
                yield event.delta.text
            elif event.type == "message_delta":
                answer.ended = event.delta.stop_reason
                given = given | {key: value for key, value in event.usage.model_dump().items() if value is not None}
                answer.usage = _usage(
                    given.get("input_tokens"),
                    given.get("output_tokens"),
                    given.get("cache_read_input_tokens"),
                    given.get("cache_creation_input_tokens"),
                )


def _sendable(text: str) -> str:
    """Without lone surrogates, which a session may hold and UTF-8 can't."""
    return text.encode(errors="replace").decode()


def _count(value: object) -> int:
    """What a server gives as a number of tokens; what is none counts as 0."""
    return value if isinstance(value, int) and 0 <= value < LARGEST else 0


def _usage(given: object, written: object, cache_read: object, cache_write: object) -> dict[str, Any]:
    """As entries of pi have it. What it costs nobody tells us; pi's sums need the members."""
    found = {"input": given, "output": written, "cacheRead": cache_read, "cacheWrite": cache_write}
    parts = {name: _count(value) for name, value in found.items()}
    return {**parts, "totalTokens": sum(parts.values()), "cost": {**dict.fromkeys(parts, 0), "total": 0}}


STREAMS = {"openai": openai, "anthropic": anthropic}
"""By provider: the pieces of the text that the model writes. What else there is to know of it goes into the answer."""
