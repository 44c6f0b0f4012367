"""A stranger who rewrites a file in place while it is being read: what comes of it is of one file or of the other."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

import pytest

from pi_daemon.session.errors import PiDaemonError
from tests.storage.support import CWD, HEADER, TIME, FaultyFiles, Place, dump, header, ids, message

OLD = [message(f"old{n}", f"old{n - 1}" if n else None, "before " * 120) for n in range(600)]
NEW = [message(f"new{n}", f"new{n - 1}" if n else None, "behind " * 123) for n in range(600)]
"""Each longer than a block that is read at once, and no line where one of the other is."""

OLD_1 = [dump({"type": "message", "message": {"role": "user", "content": "before " * 120}})] * 600
HEADER_1 = dump({"type": "session", "id": "s1", "timestamp": TIME, "cwd": CWD})

REWRITES = {
    "longer": b"".join(line + b"\n" for line in [HEADER, *NEW]),
    "shorter": b"".join(line + b"\n" for line in [HEADER, *NEW[:80]]),
}


class Meanwhile(FaultyFiles):
    """Does something right before the call with that number, of all calls from now on."""

    def __init__(self) -> None:
        super().__init__()
        self.left = -1
        self.action: Callable[[], object] = lambda: None

    def at(self, number: int, action: Callable[[], object]) -> None:
        self.left, self.action = number, action

    def _call(self, name: str) -> int:
        if self.left == 0:
            self.action()
        self.left -= 1
        return super()._call(name)


async def known(place: Place, path: Path) -> list[str]:
    """The ids that the file has as it is now."""
    loaded, log = await place.repository().open(place.ref(path))
    await log.close()
    return ids(loaded.heads)


@pytest.mark.parametrize("version", [1, 3])
@pytest.mark.parametrize("rewrite", REWRITES)
async def test_a_copy_is_whole(tmp_path: Path, version: int, rewrite: str) -> None:
    refused = 0
    for number in itertools.count():
        place, files = Place(tmp_path / str(number)), Meanwhile()
        path = place.put([HEADER, *OLD] if version == 3 else [HEADER_1, *OLD_1])
        repository = place.repository(files)
        old = await known(place, path)
        files.at(number, lambda path=path: path.write_bytes(REWRITES[rewrite]))
        try:
            loaded, log = await repository.copy(place.ref(path), header("s2"))
        except PiDaemonError:
            refused += 1
            assert list(place.folder.iterdir()) == [path]
        else:
            await log.close()
            assert ids(loaded.tree.entries) in (old, await known(place, path))
            assert loaded.damage == []
        if files.left >= 0:
            break
    assert refused


@pytest.mark.parametrize("rewrite", REWRITES)
async def test_what_is_opened_is_whole(tmp_path: Path, rewrite: str) -> None:
    for number in itertools.count():
        place, files = Place(tmp_path / str(number)), Meanwhile()
        path = place.put([HEADER, *OLD])
        old = await known(place, path)
        files.at(number, lambda path=path: path.write_bytes(REWRITES[rewrite]))
        loaded, log = await place.repository(files).open(place.ref(path))
        found = ids(loaded.heads)
        assert found in (old, await known(place, path))
        assert loaded.damage == []
        seen = await log.look()
        assert seen.replaced == (found == old and path.read_bytes() == REWRITES[rewrite])
        await log.close()
        if files.left >= 0:
            break


@pytest.mark.parametrize("rewrite", REWRITES)
async def test_lines_that_are_read_are_those_that_were_asked_for(tmp_path: Path, rewrite: str) -> None:
    refused = 0
    for number in itertools.count():
        place, files = Place(tmp_path / str(number)), Meanwhile()
        path = place.put([HEADER, *OLD])
        loaded, log = await place.repository(files).open(place.ref(path))
        files.at(number, lambda path=path: path.write_bytes(REWRITES[rewrite]))
        try:
            assert await log.read(loaded.heads) == OLD
        except PiDaemonError:
            refused += 1
        await log.close()
        if files.left >= 0:
            break
    assert refused


async def test_a_file_that_grows_while_it_is_read_is_no_reason_to_refuse(tmp_path: Path) -> None:
    for number in itertools.count():
        place, files = Place(tmp_path / str(number)), Meanwhile()
        path = place.put([HEADER, *OLD])

        def grow(path: Path = path) -> None:
            with path.open("ab") as file:
                file.write(message("more", "old599") + b"\n")

        files.at(number, grow)
        loaded, log = await place.repository(files).copy(place.ref(path), header("s2"))
        assert ids(loaded.tree.entries)[:600] == [f"old{n}" for n in range(600)]
        await log.close()
        if files.left >= 0:
            break
