"""Deleting: to the trash, and never by any other way."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest
from send2trash.exceptions import TrashPermissionError  # type: ignore[import-untyped]

from pi_daemon.session.errors import SessionNotFound, StorageFailed
from tests.storage.support import HEADER, FaultyFiles, Place


class Trash(FaultyFiles):
    """A trash below a directory, that may fail."""

    def __init__(self, directory: Path) -> None:
        super().__init__()
        self.directory = directory
        self.error: OSError | None = None

    def trash(self, path: Path) -> None:
        if self.error is not None:
            raise self.error
        self.directory.mkdir(exist_ok=True)
        path.rename(self.directory / "some name")


async def test_it_tells_where_the_file_went(place: Place) -> None:
    path = place.put([HEADER])
    trash = Trash(place.base / "trash")
    assert await place.repository(trash).delete(place.ref(path)) == str(place.base / "trash" / "some name")
    assert (place.base / "trash" / "some name").read_bytes() == HEADER + b"\n"
    assert not path.exists()
    with pytest.raises(SessionNotFound):
        await place.repository(trash).delete(place.ref(path))


async def test_a_trash_that_copies_tells_nothing(place: Place) -> None:
    """Across file systems the library copies and unlinks."""
    path = place.put([HEADER])
    trash = Trash(place.base / "trash")
    trash.trash = os.unlink  # type: ignore[method-assign]
    assert await place.repository(trash).delete(place.ref(path)) is None


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (OSError(errno.ENOSPC, "full"), "ENOSPC"),
        (OSError("no mount point"), "EIO"),
        (TrashPermissionError("/mnt"), "EACCES"),
        (PermissionError(errno.EACCES, "no"), "EACCES"),
    ],
)
async def test_without_a_trash_the_file_stays(place: Place, error: OSError, code: str) -> None:
    path = place.put([HEADER])
    trash = Trash(place.base / "trash")
    trash.error = error
    with pytest.raises(StorageFailed) as caught:
        await place.repository(trash).delete(place.ref(path))
    assert caught.value.data["errno"] == code
    assert "yourself" in caught.value.message
    assert path.read_bytes() == HEADER + b"\n"


async def test_the_library_itself(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    plat_other = pytest.importorskip("send2trash.plat_other")
    if plat_other.send2trash is not __import__("send2trash").send2trash:
        pytest.skip("the desktop has a trash of its own")
    path = place.put([HEADER])
    trash = place.base / "Trash"
    monkeypatch.setattr(plat_other, "HOMETRASH_B", os.fsencode(trash))
    monkeypatch.setattr(plat_other, "get_dev", lambda path: 1)
    where = await place.repository().delete(place.ref(path))
    assert where == str(trash / "files" / path.name)
    assert Path(where).read_bytes() == HEADER + b"\n"
