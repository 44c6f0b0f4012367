"""Summaries by a model over HTTP: an OpenAI-compatible endpoint (so a local server too), or Anthropic.

Their own libraries do the speaking; when it is tried again is decided here, so that whoever waits hears of it. They are
the extra `pi-daemon[llm]`, and come in only when a summary is wanted.
"""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Callable, Iterator
from contextlib import aclosing
from functools import partial
from typing import Any

from pi_daemon.compaction.brief import Brief, Form
from pi_daemon.compaction.prompts import Request
from pi_daemon.compaction.summarizers.asking import asked, checked
from pi_daemon.compaction.summarizers.streams import STREAMS, Answer, ModelName
from pi_daemon.compaction.summarizing import MOST_CHARACTERS, Made, Tell
from pi_daemon.session.errors import InvalidParams, PiDaemonError, SummarizerFailed

RETRIES = 4
"""After 429, 5xx and lost connections. With waits of 0.5 s, doubled each time, a provider has some 8 s to recover, or
as long as it asks for."""

FIRST_WAIT_SECONDS = 0.5

LONGEST_WAIT_SECONDS = 60.0
"""What a provider may ask for at most: longer, and whoever waits had better be told."""

ANSWER_SECONDS = 300.0
"""For one request with all its tries, as for a client that makes summaries."""

SILENCE_SECONDS = 120.0
"""Between two pieces of an answer. A reasoning model may think for a minute before its first word."""

TOLD_CHARACTERS = 500
"""As often it is told how much the model has written: a few times a second."""

KEYS = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY"}
"""The only place that keys come from: the daemon's environment."""


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
    form: Form = "requests"

    def __init__(self, model: ModelName, key: Callable[[str], str | None], retries: int = RETRIES) -> None:
        self.model = model
        self._key = key
        self._retries = retries

    @property
    def ready(self) -> bool:
        """Whether it can be asked: a server of one's own may want no key."""
        return self.model.url is not None or bool(self._key(KEYS[self.model.provider]))

    async def summarize(self, brief: Brief, tell: Tell) -> Made:
        variable = KEYS[self.model.provider]
        key = self._key(variable)
        if not self.ready:
            raise SummarizerFailed(f"{variable} isn't set in the daemon's environment: set it and start it anew.")
        library = await _library(self.model.provider)
        maker = library.AsyncAnthropic if self.model.provider == "anthropic" else library.AsyncOpenAI
        stream = STREAMS[self.model.provider]

        async def ask(client: Any, request: Request) -> Made:
            answer = Answer()
            async with aclosing(stream(client, self.model, request, answer)) as pieces:
                async for piece in pieces:
                    answer.text += piece
                    if len(answer.text) > MOST_CHARACTERS:
                        raise SummarizerFailed("The model writes without an end: nothing was written.")
                    if len(answer.text) // TOLD_CHARACTERS != (len(answer.text) - len(piece)) // TOLD_CHARACTERS:
                        tell(f"{self.model.model} has written {len(answer.text):,} characters")
            return Made(answer.checked(), answer.usage, self.model.model)

        async def patient(client: Any, request: Request) -> Made:
            async with asyncio.timeout(ANSWER_SECONDS):
                for wait in _waits(self._retries):
                    try:
                        return await ask(client, request)
                    except library.APIError as error:
                        asked_for = _wait_after(error, library, wait)
                        if asked_for is None:
                            raise
                        status = getattr(error, "status_code", None)
                        why = f"refused with HTTP {status}" if status is not None else "can't be reached"
                        tell(f"{self.model.model} {why}: trying again in {asked_for:.0f} s")
                        await asyncio.sleep(asked_for)
            raise AssertionError

        async def answered(client: Any, request: Request) -> Made:
            return await asyncio.to_thread(checked, await patient(client, request))

        options = {"api_key": key or "none", "max_retries": 0, "timeout": SILENCE_SECONDS}
        try:
            async with maker(base_url=self.model.url, **options) as client:
                return await asked(brief.requests, brief.previous, partial(answered, client))
        except TimeoutError:
            words = f"{self.model.model} has not answered within {ANSWER_SECONDS:.0f} s: nothing was written."
            raise SummarizerFailed(words, model=self.model.model) from None
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


def _waits(retries: int) -> Iterator[float | None]:
    """Seconds after each try, None after the last one."""
    for attempt in range(retries):
        yield FIRST_WAIT_SECONDS * 2**attempt
    yield None


def _wait_after(error: Any, library: Any, wait: float | None) -> float | None:
    """Seconds after which it may go well, as the server asks or else `wait`; None where it won't."""
    status = getattr(error, "status_code", None)
    if status is None:
        passes = isinstance(error, library.APIConnectionError) and not isinstance(error, library.APITimeoutError)
    else:
        passes = status in (408, 409, 429) or status >= 500
    if wait is None or not passes:
        return None
    headers = getattr(getattr(error, "response", None), "headers", {})
    for name, unit in (("retry-after-ms", 1000), ("retry-after", 1)):
        try:
            return min(LONGEST_WAIT_SECONDS, max(0.0, float(headers[name]) / unit))
        except (KeyError, ValueError):
            continue
    return wait


async def _library(name: str) -> Any:
    """Importing one takes up to a second. Raises SummarizerFailed where it isn't installed."""
    try:
        return await asyncio.to_thread(importlib.import_module, name)
    except ImportError:
        words = f"The library {name} is missing: install it with `pip install 'pi-daemon[llm]'`."
        raise SummarizerFailed(words) from None


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
