"""The intake: order, short turns, and reading only while nothing waits."""

from __future__ import annotations

import asyncio

import pytest

from pi_daemon.transports import intake
from pi_daemon.transports.intake import Intake


class Reading:
    def __init__(self) -> None:
        self.paused = False

    def pause_reading(self) -> None:
        self.paused = True

    def resume_reading(self) -> None:
        self.paused = False


class House:
    """An intake whose deliveries take one millisecond each on a clock of its own."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        self.got: list[int] = []
        self.reading = Reading()
        monkeypatch.setattr(intake, "perf_counter", lambda: self.now)
        self.intake: Intake[int] = Intake(self.deliver)
        self.intake.attach(self.reading)

    def deliver(self, item: int) -> None:
        self.got.append(item)
        self.now += 0.001


async def test_a_long_pipeline_lets_others_have_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    house = House(monkeypatch)
    house.intake.take(range(10))
    assert house.got == [0, 1, 2] and house.reading.paused
    others = 0
    while house.reading.paused:
        others += 1
        await asyncio.sleep(0)
    assert others >= 3 and house.got == list(range(10))


async def test_what_comes_later_waits_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    house = House(monkeypatch)
    house.intake.take(range(5))
    house.intake.take([5])
    assert house.got == [0, 1, 2]
    await asyncio.sleep(0)
    assert house.got == list(range(6))


async def test_nothing_is_delivered_while_somebody_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    house = House(monkeypatch)
    house.intake.hold("a")
    house.intake.hold("b")
    house.intake.take([1])
    house.intake.release("a")
    await asyncio.sleep(0)
    assert house.got == [] and house.reading.paused
    house.intake.release("b")
    await asyncio.sleep(0)
    assert house.got == [1] and not house.reading.paused


async def test_after_discarding_only_the_end_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    house = House(monkeypatch)
    house.intake.take(range(9))
    house.intake.discard()
    await asyncio.sleep(0)
    assert house.got == [0, 1, 2] and not house.reading.paused
