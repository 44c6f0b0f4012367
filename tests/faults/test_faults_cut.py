"""Session files cut anywhere: they open or are refused as the rule says, and ten more entries go on, for us and for pi.

A file of 16 KB is cut at every byte, larger ones at every byte of the last two lines, around each line's end, and here
and there. The short run takes a part of those.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from pi_daemon.session.errors import SessionCorrupted
from tests.faults.support import LONG, TEN_IDS, Unsynced, ten_more
from tests.storage.pi import Pi
from tests.storage.support import HEADER, TIME, Place, dump, ids, kinds, message

TEXTS = ["plain", "größer 😀 日本語 \u2028", "x" * 1200, '"quoted" {\\"a\\":[1]}\n\ttab', ""]


def written(size: int) -> list[bytes]:
    """The lines of a session of about that many bytes."""
    lines, total, number = [HEADER], len(HEADER) + 1, 0
    while total < size:
        parent = f"e{number - 1}" if number else None
        more: dict[str, object] = {"nested": [{"deep": [None, 1.5, "}"]}]} if number % 4 == 3 else {}
        lines.append(message(f"e{number}", parent, TEXTS[number % len(TEXTS)] * (1 + number % 3), **more))
        total += len(lines[-1]) + 1
        number += 1
    lines.append(b'{"type":"custom","id":"half","parentId":"e0","timestamp":"%s","data":"\\ud83d"}' % TIME.encode())
    lines.append(dump({"type": "label", "id": "last", "parentId": "half", "timestamp": TIME, "targetId": "e0"}))
    return lines


def cuts(lines: list[bytes], everywhere: bool, by_chance: int) -> list[int]:
    ends = [0]
    for line in lines:
        ends.append(ends[-1] + len(line) + 1)
    if everywhere:
        return list(range(ends[-1] + 1))
    chosen = {end + off for end in ends for off in (-2, -1, 0, 1)}
    chosen |= set(range(ends[-3], ends[-1] + 1))
    chosen |= set(random.Random(ends[-1]).sample(range(ends[-1]), by_chance))
    return sorted(size for size in chosen if 0 <= size <= ends[-1])


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize(
    ("size", "everywhere", "by_chance"),
    [(16_000, LONG, 150), (1_000_000 if LONG else 60_000, False, 2000 if LONG else 30)],
    ids=["16 KB", "larger"],
)
async def test_a_file_cut_anywhere(tmp_path: Path, pi: Pi, size: int, everywhere: bool, by_chance: int) -> None:
    lines = written(size)
    whole = b"\n".join([*lines, b""])
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    names = [f"e{number}" for number in range(len(lines) - 3)] + ["half", "last"]
    paths: list[Path] = []
    expected: list[list[str]] = []

    def pi_agrees() -> None:
        assert pi("read", paths=[str(path) for path in paths]) == expected
        for path in paths:
            path.unlink()
        paths.clear()
        expected.clear()

    place, files = Place(tmp_path), Unsynced()
    for cut in cuts(lines, everywhere, by_chance):
        path = place.put(whole[:cut], f"{cut}.jsonl")
        if cut < len(HEADER):
            with pytest.raises(SessionCorrupted):
                await place.repository(files).open(place.ref(path))
            assert path.read_bytes() == whole[:cut]
            path.unlink()
            continue
        complete = [name for name, end in zip(names, starts[2:], strict=True) if end - 1 <= cut]
        torn = cut not in starts and cut + 1 not in starts
        loaded, log = await place.repository(files).open(place.ref(path))
        assert (ids(loaded.heads), kinds(loaded.damage)) == (complete, ["tornTail"] if torn else []), cut
        await log.close()
        expected.append(await ten_more(place, path, files))
        assert expected[-1] == [*complete, *TEN_IDS], cut
        paths.append(path)
        if len(paths) == 200:
            pi_agrees()
    pi_agrees()
    assert list(place.folder.iterdir()) == []
