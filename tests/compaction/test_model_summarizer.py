"""The model summarizer against a real HTTP server that speaks the wire formats."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from pi_daemon.compaction.brief import Brief
from pi_daemon.compaction.material import Material, Said
from pi_daemon.compaction.summarizers.asking import requests
from pi_daemon.compaction.summarizers.model import ModelSummarizer, model_name
from pi_daemon.compaction.summarizing import Made
from pi_daemon.session.errors import InvalidParams, SummarizerFailed
from tests.compaction.provider import WORDS, Provider, provider

SAID = Said("e1", "user", {"role": "user", "content": "Please build src/main.py"})
LATER = Said("e2", "user", {"role": "user", "content": "Then test it"})


@pytest.fixture
def served() -> Iterator[Provider]:
    with provider() as server:
        yield server


def summarizer(server: Provider, kind: str) -> ModelSummarizer:
    url = server.anthropic_url if kind == "anthropic" else server.url
    return ModelSummarizer(model_name(f"{kind}/m", url), lambda name: f"key of {name}")


def brief(*, prefix: bool = False, previous: str | None = None, instructions: str | None = None) -> Brief:
    material = Material([SAID], [LATER] if prefix else [], previous)
    return Brief(1 + prefix, previous, [], [], [], requests(material, 1_000, instructions), None)


def run(made: ModelSummarizer, wanted: Brief, told: list[str] | None = None) -> Made:
    return asyncio.run(made.summarize(wanted, (told if told is not None else []).append))


KINDS = pytest.mark.parametrize("kind", ["openai", "anthropic"])


@KINDS
def test_an_answer_is_the_summary_with_its_usage(served: Provider, kind: str) -> None:
    told: list[str] = []
    served.text = WORDS + 600 * "x"
    made = run(summarizer(served, kind), brief(instructions="Mind the tests"), told)
    assert made.text == served.text
    assert made.model == "m"
    assert made.usage == {
        "input": 60,
        "output": 20,
        "cacheRead": 40,
        "cacheWrite": 0,
        "totalTokens": 120,
        "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0},
    }
    assert any("characters" in words for words in told)
    sent = str(served.asked[0])
    assert "src/main.py" in sent and "Mind the tests" in sent
    assert f"key of {kind.upper()}_API_KEY" in (served.keys[0] or "")


@KINDS
def test_a_split_turn_is_asked_about_by_itself_and_after(served: Provider, kind: str) -> None:
    made = run(summarizer(served, kind), brief(prefix=True))
    assert len(served.asked) == 2
    assert "src/main.py" in str(served.asked[0]) and "Then test it" not in str(served.asked[0])
    assert "Then test it" in str(served.asked[1])
    assert made.text.count("Build src/main.py") == 2
    assert made.usage is not None and made.usage["totalTokens"] == 240


@KINDS
def test_a_previous_summary_is_to_be_updated(served: Provider, kind: str) -> None:
    run(summarizer(served, kind), brief(previous="## Goal\n- Ship on Friday"))
    assert "Ship on Friday" in str(served.asked[0])


@KINDS
@pytest.mark.parametrize("statuses", [["429"], ["500", "503"], ["529", "429", "500"]])
def test_what_passes_is_tried_again(served: Provider, kind: str, statuses: list[str]) -> None:
    served.plan = [*statuses, "ok"]
    told: list[str] = []
    assert run(summarizer(served, kind), brief(), told).text == WORDS
    assert [words.split(":")[0] for words in told] == [f"m refused with HTTP {status}" for status in statuses]
    assert len(served.asked) == len(statuses) + 1


@KINDS
@pytest.mark.parametrize("status", ["400", "401", "404", "429", "500"])
def test_what_does_not_pass_is_a_failure_that_says_what_to_do(served: Provider, kind: str, status: str) -> None:
    served.plan = [status]
    with pytest.raises(SummarizerFailed) as refusal:
        run(summarizer(served, kind), brief())
    assert status in refusal.value.message
    assert refusal.value.data["status"] == int(status)
    assert "secret" not in refusal.value.message
    assert len(served.asked) == (5 if status in ("429", "500") else 1)


@KINDS
@pytest.mark.parametrize(
    ("how", "words"),
    [
        ("empty", "empty"),
        ("cut", "cut off"),
        ("tool", "tool"),
        ("refusal", "refusal"),
        ("broken", ""),
        ("lost", ""),
        ("odd", "can't be read"),
        ("junk", "can't be read"),
    ],
)
def test_what_is_no_whole_answer_in_words_is_a_failure(served: Provider, kind: str, how: str, words: str) -> None:
    served.plan = [how]
    made = summarizer(served, kind)
    with pytest.raises(SummarizerFailed) as refusal:
        run(ModelSummarizer(made.model, lambda name: "key", retries=0), brief())
    assert words in refusal.value.message


@KINDS
def test_a_usage_without_numbers_costs_no_summary(served: Provider, kind: str) -> None:
    served.plan = ["null"]
    made = run(summarizer(served, kind), brief())
    assert made.text == WORDS
    assert made.usage is not None and made.usage["totalTokens"] == 0


@KINDS
def test_an_earlier_summary_may_hold_what_utf_8_cannot(served: Provider, kind: str) -> None:
    assert run(summarizer(served, kind), brief(previous="## Goal\n- \ud800 it")).text == WORDS


@KINDS
def test_the_second_request_failing_fails_the_whole(served: Provider, kind: str) -> None:
    served.plan = ["ok", "empty"]
    with pytest.raises(SummarizerFailed):
        run(summarizer(served, kind), brief(prefix=True))


@KINDS
def test_a_slow_stream_is_waited_for(served: Provider, kind: str) -> None:
    served.plan = ["slow"]

    async def ask() -> Made:
        task = asyncio.create_task(summarizer(served, kind).summarize(brief(), lambda words: None))
        await asyncio.to_thread(served.half.wait)
        assert not task.done()
        served.go_on.set()
        return await task

    assert asyncio.run(ask()).text == WORDS


@KINDS
def test_cancelling_ends_the_request(served: Provider, kind: str) -> None:
    served.plan = ["hang"]

    async def ask() -> None:
        task = asyncio.create_task(summarizer(served, kind).summarize(brief(), lambda words: None))
        await asyncio.to_thread(served.half.wait)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await asyncio.to_thread(served.gone.wait, 10)

    asyncio.run(ask())


def test_nobody_listens() -> None:
    with provider() as server:
        made = ModelSummarizer(model_name("m", server.url), lambda name: None, retries=0)
    with pytest.raises(SummarizerFailed, match="can't be asked"):
        run(made, brief())


def test_the_key_comes_from_the_environment_alone() -> None:
    made = ModelSummarizer(model_name("openai/gpt"), lambda name: None)
    assert not made.ready
    with pytest.raises(SummarizerFailed, match="OPENAI_API_KEY"):
        run(made, brief())


def test_a_server_of_ones_own_needs_no_key(served: Provider) -> None:
    made = ModelSummarizer(model_name("local-model", served.url), lambda name: None)
    assert made.ready
    assert run(made, brief()).text == WORDS
    assert served.asked[0]["model"] == "local-model"


@KINDS
@pytest.mark.parametrize("url", ["http://[::1", "http://\0/", "nonsense"])
def test_an_address_that_is_none(kind: str, url: str) -> None:
    made = ModelSummarizer(model_name(f"{kind}/m", url), lambda name: "k", retries=0)
    with pytest.raises(SummarizerFailed):
        run(made, brief())


@pytest.mark.parametrize("name", ["", "gpt", "openai/", "google/gemini"])
def test_a_name_that_is_none(name: str) -> None:
    with pytest.raises(InvalidParams, match="openai/NAME"):
        model_name(name)
