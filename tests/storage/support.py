"""Sessions to test with: their lines, their directories, and an operating system that fails when told."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from pi_daemon.session.head import Damage, Head, Header
from pi_daemon.storage.files import FileRepository
from pi_daemon.storage.layout import Layout
from pi_daemon.storage.protocols import SessionRef
from pi_daemon.storage.system import Files

CWD = "/home/me/project"
TIME = "2026-01-31T12:00:00.000Z"


def dump(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "surrogatepass")


def message(entry_id: str, parent_id: str | None, text: str = "hello", **more: Any) -> bytes:
    content = {"role": "user", "content": text, "timestamp": 1769860800000}
    return dump(
        {"type": "message", "id": entry_id, "parentId": parent_id, "timestamp": TIME, "message": content, **more}
    )


def chain(*ids: str, after: str | None = None) -> list[bytes]:
    return [message(entry_id, parent) for entry_id, parent in zip(ids, [after, *ids], strict=False)]


def header(session_id: str = "s1", cwd: str = CWD, timestamp: str = TIME, parent: str | None = None) -> Header:
    return Header(session_id, timestamp, cwd, parent_session=parent)


HEADER = dump({"type": "session", "version": 3, "id": "s1", "timestamp": TIME, "cwd": CWD})


def ids(heads: Iterable[Head]) -> list[str]:
    return [head.id for head in heads]


def kinds(damage: Iterable[Damage]) -> list[str]:
    return [one.kind for one in damage]


class Place:
    """A sessions directory with a folder a project, and what belongs to it, below `base`."""

    def __init__(self, base: Path, flat: bool = False) -> None:
        self.base = base
        self.sessions = base / "sessions"
        self.state = base / "state"
        self.locks = base / "locks"
        self.flat = flat
        self.sessions.mkdir(parents=True, exist_ok=True)

    def repository(self, files: Files | None = None) -> FileRepository:
        return FileRepository(Layout(self.sessions, self.flat), self.state, lock_dir=self.locks, files=files)

    @property
    def folder(self) -> Path:
        return self.sessions if self.flat else self.sessions / "--home-me-project--"

    def put(self, content: bytes | Sequence[bytes], name: str = "2026-01-31T12-00-00-000Z_s1.jsonl") -> Path:
        """A file as another program left it; a list of lines gets a newline after each."""
        self.folder.mkdir(exist_ok=True)
        path = self.folder / name
        path.write_bytes(content if isinstance(content, bytes) else b"".join(line + b"\n" for line in content))
        return path

    def ref(self, path: Path, session_id: str = "s1") -> SessionRef:
        return SessionRef(session_id, str(path))

    def kept(self) -> list[Path]:
        """The copies in the state directory."""
        return sorted(path for path in self.state.rglob("*") if path.is_file())

    def strays(self) -> list[Path]:
        """What lies beside the sessions and is none."""
        return sorted(path for path in self.sessions.rglob("*") if path.name.startswith("."))


class FaultyFiles(Files):
    """The operating system, until told otherwise.

    `fail[name]` is a list of what the next calls of that name do: None goes on, an errno fails, a negative number -n
    takes n bytes of a write. `fail_at` fails the call with that number, of all calls from 0 or of those of `fail_kind`,
    with `errno`, which may be such a number too, and with `lasting` every one after it. `before[name]` are functions
    that run before the next calls of that name: what other processes do in between. Each question for the time takes a
    millisecond, and `sleep` what it says.
    """

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.counts: Counter[str] = Counter()
        self.fail: dict[str, list[int | None]] = {}
        self.before: dict[str, list[Any]] = {}
        self.fail_at = -1
        self.fail_kind: str | None = None
        self.lasting = False
        self.errno = 5
        self.time = 1000.0
        self.slept = 0.0

    def _call(self, name: str) -> int:
        """Raises the error that is due; or how many bytes a write may take, 0 for all."""
        self.calls.append(name)
        number = len(self.calls) - 1 if self.fail_kind is None else self.counts[name]
        self.counts[name] += 1
        if self.before.get(name):
            action = self.before[name].pop(0)
            if action is not None:
                action()
        due = self.fail[name].pop(0) if self.fail.get(name) else None
        meant = self.fail_kind in (None, name)
        if meant and self.fail_at >= 0 and (number == self.fail_at or (self.lasting and number >= self.fail_at)):
            due = self.errno
        if due is not None and due > 0:
            raise OSError(due, os.strerror(due))
        return -(due or 0)

    def open(self, path: str | Path, flags: int, mode: int = 0o600) -> int:
        self._call("open")
        return super().open(path, flags, mode)

    def stat(self, path: str | Path) -> os.stat_result:
        self._call("stat")
        return super().stat(path)

    def fstat(self, fd: int) -> os.stat_result:
        self._call("fstat")
        return super().fstat(fd)

    def read_into(self, fd: int, buffer: memoryview, offset: int) -> int:
        self._call("read_into")
        return super().read_into(fd, buffer, offset)

    def read(self, fd: int, size: int, offset: int) -> bytes:
        self._call("read")
        return super().read(fd, size, offset)

    def write(self, fd: int, data: bytes | memoryview) -> int:
        room = self._call("write")
        return super().write(fd, bytes(data)[:room] if room else data)

    def position(self, fd: int) -> int:
        self._call("position")
        return super().position(fd)

    def fsync(self, fd: int) -> None:
        self._call("fsync")
        super().fsync(fd)

    def fdatasync(self, fd: int) -> None:
        self._call("fdatasync")
        super().fdatasync(fd)

    def ftruncate(self, fd: int, size: int) -> None:
        self._call("ftruncate")
        super().ftruncate(fd, size)

    def chmod(self, fd: int, mode: int) -> None:
        self._call("chmod")
        super().chmod(fd, mode)

    def link(self, source: Path, target: Path) -> None:
        self._call("link")
        super().link(source, target)

    def rename(self, source: Path, target: Path) -> None:
        self._call("rename")
        super().rename(source, target)

    def unlink(self, path: Path) -> None:
        self._call("unlink")
        super().unlink(path)

    def mkdir(self, path: Path) -> None:
        self._call("mkdir")
        super().mkdir(path)

    def entries(self, folder: Path) -> Sequence[os.DirEntry[str]]:
        self._call("entries")
        return super().entries(folder)

    def lock(self, fd: int) -> bool:
        self._call("lock")
        return super().lock(fd)

    def unlock(self, fd: int) -> None:
        self._call("unlock")
        super().unlock(fd)

    def trash(self, path: Path) -> None:
        self._call("trash")
        super().trash(path)

    def now(self) -> float:
        self.time += 0.001
        return self.time

    def sleep(self, seconds: float) -> None:
        if self.before.get("sleep"):
            self.before["sleep"].pop(0)()
        self.slept += seconds
        self.time += seconds
