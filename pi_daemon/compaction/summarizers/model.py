"""Summaries by a model over HTTP: an OpenAI-compatible endpoint (so a local server too), or Anthropic.

Their own libraries do the speaking, with their retries: 429, 5xx and lost connections are tried again, ever later and
as the server asks. They are the extra `pi-daemon[llm]`, and come in only when a summary is wanted.
"""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from functools import partial
from typing import Any, Literal

from msgspec import Struct

from pi_daemon.compaction.prompts import Request
from pi_daemon.compaction.summarizers.asking import LARGEST, asked, requests
from pi_daemon.compaction.summarizing import MOST_CHARACTERS, Made, Tell, Work
from pi_daemon.session.errors import InvalidParams, PiDaemonError, SummarizerFailed

RETRIES = 4
"""With the libraries' waits of 0.5 s, doubled each time, a provider has some 8 s to recover, or as long as it asks."""

SILENCE_SECONDS = 120.0
"""Between two pieces of an answer. A reasoning model may think for a minute before its first word."""

TOLD_CHARACTERS = 500
"""As often it is told how much the model has written: a few times a second."""

KEYS = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY"}
"""The only place that keys come from: the daemon's environment."""


class ModelName(Struct, frozen=True):
    """`url`: of the endpoint; None: the provider's own."""

    provider: Literal["openai", "anthropic"]
    model: str
    url: str | None = None


def model_name(text: str, url: str | None = None) -> ModelName:
    """`openai/NAME` or `anthropic/NAME`; with a `url` of one's own, `NAME` alone is OpenAI-compatible. Raises
    InvalidParams."""
    provider, slash, model = text.partition("/")
    if slash and model and provider in KEYS:
        return ModelName("anthropic" if provider == "anthropic" else "openai", model, url)
    if url is not None and text:
        return ModelName("openai", text, url)
    raise InvalidParams(
        "Name the model as openai/NAME or anthropic/NAME, or give --model-url for a server of your own.", path="model"
    )


class ModelSummarizer:
    """`key` gives the value of an environment variable, or None."""

    name = "model"

    def __init__(self, model: ModelName, key: Callable[[str], str | None], retries: int = RETRIES) -> None:
        self.model = model
        self._key = key
        self._retries = retries

    @property
    def ready(self) -> bool:
        """Whether it can be asked: a server of one's own may want no key."""
        return self.model.url is not None or bool(self._key(KEYS[self.model.provider]))

    async def summarize(self, work: Work, tell: Tell) -> Made:
        variable = KEYS[self.model.provider]
        key = self._key(variable)
        if not self.ready:
            raise SummarizerFailed(f"{variable} isn't set in the daemon's environment: set it and start it anew.")
        library = await _library(self.model.provider)
        maker = library.AsyncAnthropic if self.model.provider == "anthropic" else library.AsyncOpenAI
        stream = _anthropic if self.model.provider == "anthropic" else _openai

        async def ask(client: Any, request: Request) -> Made:
            answer = _Answer()
            async with aclosing(stream(client, self.model, request, answer)) as pieces:
                async for piece in pieces:
                    answer.text += piece
                    if len(answer.text) > MOST_CHARACTERS:
                        raise SummarizerFailed("The model writes without an end: nothing was written.")
                    if len(answer.text) // TOLD_CHARACTERS != (len(answer.text) - len(piece)) // TOLD_CHARACTERS:
                        tell(f"{self.model.model} has written {len(answer.text):,} characters")
            return Made(answer.checked(), answer.usage, self.model.model)

        options = {"api_key": key or "none", "max_retries": self._retries, "timeout": SILENCE_SECONDS}
        try:
            async with maker(base_url=self.model.url, **options) as client:
                return await asked(work, await asyncio.to_thread(requests, work), partial(ask, client))
        except library.APIStatusError as error:
            raise _refused(error.status_code, self.model, variable) from None
        except library.APIError as error:
            words = f"{self.model.model} can't be asked ({type(error).__name__}): nothing was written; try again."
            raise SummarizerFailed(words, model=self.model.model) from None
        except PiDaemonError:
            raise
        except Exception as error:  # noqa: BLE001
            # The libraries build what they are sent unchecked, and let through what ends a stream: a server that
            # breaks off or speaks another format makes them, or us, stumble anywhere.
            words = f"What {self.model.model} sent can't be read ({type(error).__name__}): nothing was written."
            raise SummarizerFailed(words, model=self.model.model) from None


async def _library(name: str) -> Any:
    """Importing one takes up to a second. Raises SummarizerFailed where it isn't installed."""
    try:
        return await asyncio.to_thread(importlib.import_module, name)
    except ImportError:
        words = f"The library {name} is missing: install it with `pip install 'pi-daemon[llm]'`."
        raise SummarizerFailed(words) from None


class _Answer:
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


async def _openai(client: Any, name: ModelName, request: Request, answer: _Answer) -> AsyncGenerator[str, None]:
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


async def _anthropic(client: Any, name: ModelName, request: Request, answer: _Answer) -> AsyncGenerator[str, None]:
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


def _refused(status: int, name: ModelName, variable: str) -> SummarizerFailed:
    advice = {
        400: "the request may be too large for it: compact earlier, or choose a model with a larger window",
        401: f"look at {variable} in the daemon's environment",
        403: f"look at {variable} in the daemon's environment",
        404: "is that the model's name, and the right --model-url?",
        413: "the request is too large for it: compact earlier",
        429: "it has had too many requests; try again later",
    }
    words = advice.get(status, "the server failed; try again later" if status >= 500 else "see what the provider says")
    return SummarizerFailed(
        f"{name.model} refused with HTTP {status}, and nothing was written: {words}.", model=name.model, status=status
    )
