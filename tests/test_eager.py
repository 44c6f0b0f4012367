"""A coroutine that is started at once goes on as a task would."""

from __future__ import annotations

import asyncio

import pytest

from pi_daemon.eager import start


def test_what_never_waits_needs_no_task() -> None:
    async def main() -> None:
        done: list[int] = []

        async def work() -> None:
            finished: asyncio.Future[int] = asyncio.get_running_loop().create_future()
            finished.set_result(1)
            done.append(await finished)

        assert start(work()) is None
        assert done == [1]

    asyncio.run(main())


def test_what_waits_goes_on_in_order() -> None:
    async def main() -> None:
        said: list[str] = []
        gate = asyncio.Event()

        async def work(name: str) -> None:
            said.append(f"{name} begins")
            await gate.wait()
            said.append(f"{name} goes on")
            await asyncio.sleep(0)
            said.append(f"{name} ends")

        tasks = [start(work("a")), start(work("b"))]
        assert said == ["a begins", "b begins"]
        gate.set()
        await asyncio.gather(*filter(None, tasks))
        assert said[2:] == ["a goes on", "b goes on", "a ends", "b ends"]

    asyncio.run(main())


@pytest.mark.parametrize("turns", [0, 1, 2])
def test_cancelling_reaches_the_work(turns: int) -> None:
    async def main() -> None:
        said: list[str] = []

        async def work() -> None:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                said.append("cancelled")
                await asyncio.sleep(0)
                said.append("cleaned up")
                raise

        task = start(work())
        assert task is not None
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert said == ["cancelled", "cleaned up"]

    asyncio.run(main())


def test_errors_come_out() -> None:
    async def main() -> None:
        async def at_once() -> None:
            raise ValueError("at once")

        async def later() -> None:
            await asyncio.sleep(0)
            raise ValueError("later")

        with pytest.raises(ValueError, match="at once"):
            start(at_once())
        task = start(later())
        assert task is not None
        with pytest.raises(ValueError, match="later"):
            await task

    asyncio.run(main())
