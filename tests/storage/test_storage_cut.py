"""A session file cut at every byte, as a crash may leave it: what was whole is there, and ten more entries go on."""

from __future__ import annotations

import pytest

from pi_daemon.session.errors import SessionCorrupted
from tests.storage.support import FaultyFiles, Place, chain, ids, kinds

HEADER = b'{"type":"session","version":3,"id":"s1","timestamp":"2026-01-31T12:00:00.000Z","cwd":"/home"}'
LINES = [
    '{"type":"custom","id":"a","parentId":null,"timestamp":"","data":"größer 😀"}'.encode(),
    b'{"type":"custom","id":"b","parentId":"a","timestamp":"","data":{"half":"\\ud83d","n":[1,{"x":"}"}]}}',
    '{"type":"label","id":"c","parentId":"b","timestamp":"","targetId":"a","label":"日本"}'.encode(),
]
TEN = chain(*"0123456789")


@pytest.mark.slow
async def test_a_file_cut_at_every_byte(place: Place) -> None:
    whole = b"\n".join([HEADER, *LINES, b""])
    files = FaultyFiles()
    starts = [len(HEADER) + 1]
    for line in LINES:
        starts.append(starts[-1] + len(line) + 1)
    for size in range(len(whole) + 1):
        path = place.put(whole[:size])
        repository = place.repository(files)  # a new one has written nothing to the file yet
        if size < len(HEADER):
            with pytest.raises(SessionCorrupted):
                await repository.open(place.ref(path))
            assert path.read_bytes() == whole[:size]
            continue
        loaded, log = await repository.open(place.ref(path))
        entries = [name for name, end in zip("abc", starts[1:], strict=True) if end - 1 <= size]
        torn = size not in starts and size + 1 not in starts
        assert (ids(loaded.heads), kinds(loaded.damage)) == (entries, ["tornTail"] if torn else []), size
        assert path.read_bytes() == whole[:size]
        damage = []
        for line in TEN:
            damage += (await log.append([line], synced=False, persist=True)).damage
        assert [one.kind in ("notJson", "notUtf8") for one in damage] == [True] * torn
        await log.close()
        again, log = await repository.open(place.ref(path))
        assert ids(again.heads) == [*entries, *"0123456789"], size
        assert [one.kind in ("notJson", "notUtf8") for one in again.damage] == [True] * torn
        assert await log.read(again.heads) == [*LINES[: len(entries)], *TEN]
        assert path.read_bytes().startswith(whole[:size])
        await log.close()
