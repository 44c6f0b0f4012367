"""A log in the middle of strangers, faults and crashes, against what a fresh reading of its file says."""

from __future__ import annotations

import asyncio
import errno
import os
import signal
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pi_daemon.session.errors import StorageFailed
from pi_daemon.session.head import Head
from pi_daemon.storage.scan import BROKEN
from tests.storage.support import HEADER, FaultyFiles, Place, dump, ids, message

REPOSITORY = Path(__file__).parents[2]

OURS = ["written", "synced", "large", "two"]
THEIRS = ["line", "lines", "no end", "fragment", "end", "garbage", "blank", "zeros"]
FAULTS = ["full", "short", "short for good", "between", "torn between"]
STEPS = st.lists(st.sampled_from([*OURS, *THEIRS, *FAULTS, "look", "touch", "reopen"]), max_size=25)


@settings(max_examples=60, deadline=None)
@given(STEPS)
def test_a_log_knows_what_its_file_says(steps: list[str]) -> None:
    with tempfile.TemporaryDirectory() as base:
        asyncio.run(follow(Place(Path(base)), steps))


async def follow(place: Place, steps: list[str]) -> None:
    """The entries that the log has told are, by their places, those that a fresh reading finds."""
    path = place.put([HEADER])
    files = FaultyFiles()
    repository = place.repository(files)
    _, log = await repository.open(place.ref(path))
    told: list[Head] = []
    acknowledged: list[str] = []
    number = 0

    def fresh() -> bytes:
        nonlocal number
        number += 1
        return message(f"e{number}", None, "x" * (number % 5))

    def add(data: bytes) -> None:
        with open(path, "ab") as file:
            file.write(data)

    for step in steps:
        if step in THEIRS:
            add(
                {
                    "line": fresh() + b"\n",
                    "lines": fresh() + b"\n" + fresh() + b"\n",
                    "no end": fresh(),
                    "fragment": fresh()[:30],
                    "end": b"\n",
                    "garbage": b"{]\n",
                    "blank": b" \n\n",
                    "zeros": b"\0" * 10,
                }[step]
            )
        elif step == "touch":
            os.utime(path)
        elif step == "look":
            found = await log.look()
            assert not found.replaced
            told += found.heads
        elif step == "reopen":
            await log.close()
            loaded, log = await repository.open(place.ref(path))
            told = list(loaded.heads)
        elif step == "full":
            files.fail["write"] = [errno.ENOSPC]
        elif step == "short":
            files.fail["write"] = [-37]
        elif step == "short for good":
            files.fail["write"] = [-37]
            files.fail["ftruncate"] = [errno.EIO]
        elif step == "between":
            files.before["write"] = [partial(add, b"\n" + fresh() + b"\n")]
        elif step == "torn between":
            files.before["write"] = [partial(add, fresh())]
        else:
            lines = [fresh() for _ in range(1 + (step == "two"))]
            if step == "large":
                lines.append(message(f"large{number}", None, "y" * 70_000))
            try:
                written = await log.append(lines, synced=step == "synced", persist=True)
            except StorageFailed as error:
                assert error.data["errno"] in ("ENOSPC", "EBUSY", "EIO")
                continue
            told += written.foreign
            content = path.read_bytes()
            for line, offset in zip(lines, written.offsets, strict=True):
                assert content[offset : offset + len(line) + 1] == line + b"\n"
                assert content[offset - 1 : offset] == b"\n"
                entry = message_head(line, offset)
                told.append(entry)
                acknowledged.append(entry.id)
    files.fail.clear()
    files.before.clear()
    told += (await log.look()).heads
    loaded, again = await place.repository().open(place.ref(path), recover=True)
    spoilt = {damage.offset for damage in loaded.damage if damage.kind in (*BROKEN, "tornTail")}
    # An entry whose line lacked its newline was one at once; what came behind it on its line has spoilt it since.
    assert [(h.offset, h.id) for h in told if h.offset not in spoilt] == [(h.offset, h.id) for h in loaded.heads]
    assert [name for name in ids(loaded.heads) if name in set(acknowledged)] == acknowledged
    assert await log.read(loaded.heads) == await again.read(loaded.heads)
    await log.close()
    await again.close()


def message_head(line: bytes, offset: int) -> Head:
    name = line.split(b'"id":"')[1].split(b'"')[0].decode()
    return Head("message", name, None, "", offset, len(line), None)


async def test_reading_goes_on_during_a_migration(place: Place) -> None:
    old = [dump({"type": "session", "id": "s1", "timestamp": "", "cwd": "/"})]
    old += [dump({"type": "message", "message": {"role": "user", "content": str(number)}}) for number in range(200)]
    path = place.put(old)
    loaded, log = await place.repository().open(place.ref(path))
    expected = await log.read(loaded.heads)

    async def read() -> None:
        for _ in range(20):
            assert await log.read(loaded.heads) == expected

    await asyncio.gather(read(), read(), log.append([message("new", loaded.heads[-1].id)], synced=True, persist=True))
    assert await log.read(loaded.heads) == expected


WRITER = """
import asyncio, sys
from pathlib import Path
from tests.storage.support import Place, message
async def main():
    place = Place(Path(sys.argv[1]))
    loaded, log = await place.repository().open(place.ref(Path(sys.argv[2])))
    number = len(loaded.heads)
    while True:
        lines = [message(f"e{number + i}", None, "x" * 3000) for i in range(number % 3 + 1)]
        written = await log.append(lines, synced=number % 7 == 0, persist=True)
        number += len(lines)
        print(number, flush=True)
asyncio.run(main())
"""


@pytest.mark.slow
async def test_what_was_acknowledged_survives_a_kill(place: Place) -> None:
    path = place.put([HEADER])
    for killed_after in (1, 20, 75):
        process = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(place.base), str(path)],
            stdout=subprocess.PIPE,
            text=True,
            cwd=REPOSITORY,
        )
        assert process.stdout is not None
        acknowledged = 0
        for _ in range(killed_after):
            acknowledged = int(process.stdout.readline())
        process.send_signal(signal.SIGKILL)
        acknowledged = int((["", *process.stdout.read().split()][-1]) or acknowledged)
        process.wait()
        process.stdout.close()
        loaded, log = await place.repository().open(place.ref(path))
        names = ids(loaded.heads)
        assert names == [f"e{number}" for number in range(len(names))]
        assert len(names) >= acknowledged
        await log.close()
