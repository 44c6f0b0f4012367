"""Everything that lies in a sessions directory: session files, and what is none."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from pi_daemon.storage.layout import SUFFIX, Layout, is_utf8
from pi_daemon.storage.protocols import Finding
from pi_daemon.storage.publish import is_staged
from pi_daemon.storage.system import Files

LEFTOVER_SECONDS = 600.0
"""So long after its last write a file of our own that has no name yet is one that nobody will finish."""


class Rounds(Struct):
    """`files` are the real paths of what is called as a session is, each once; `findings` what else there is."""

    folders: int = 0
    files: list[str] = []
    findings: list[Finding] = []


class _Walk:
    def __init__(self, files: Files, layout: Layout) -> None:
        self._files = files
        self._roots = layout.roots(files)
        self._base = self._roots[0]
        self._found: dict[str, None] = {}
        self._seen: set[str] = set()
        self._findings: list[Finding] = []

    def go(self) -> Rounds:
        self._folder(str(self._base), top=True)
        return Rounds(len(self._seen), list(self._found), self._findings)

    def _note(self, kind: str, path: str, message: str, *, problem: bool = False, **more: object) -> None:
        self._findings.append(Finding(kind, shown(path), message, problem, **more))  # type: ignore[arg-type]

    def _folder(self, path: str, *, top: bool) -> None:
        if path in self._seen:
            return
        self._seen.add(path)
        try:
            entries = sorted(self._files.entries(Path(path)), key=lambda entry: entry.name)
        except FileNotFoundError:
            return  # it has gone meanwhile, or there are no sessions yet
        except OSError as error:
            words = f"the folder can't be read: {os.strerror(error.errno or 0)}; no session in it is found"
            self._note("unreadable", path, words, problem=True)
            return
        folders = [folder for entry in entries if (folder := self._entry(entry, top)) is not None]
        for folder in folders:
            self._folder(folder, top=False)

    def _entry(self, entry: os.DirEntry[str], top: bool) -> str | None:
        """Gives the real path of a folder to go into."""
        path = entry.path
        if not is_utf8(path):
            self._note("foreign", path, "the name is no UTF-8, so no client can be told of it, and it is left out")
            return None
        try:
            if entry.is_symlink():
                return self._link(entry, top)
            if entry.is_dir():
                return self._inner(path, top)
            regular = entry.is_file()
        except OSError as error:
            self._note("unreadable", path, f"it can't be looked at: {os.strerror(error.errno or 0)}", problem=True)
            return None
        self._file(path, regular)
        return None

    def _inner(self, path: str, top: bool) -> str | None:
        if top:
            return path
        self._note("foreign", path, "a folder within a project's folder: no session in it is found")
        return None

    def _link(self, entry: os.DirEntry[str], top: bool) -> str | None:
        path = entry.path
        real = os.path.realpath(path)
        if not is_utf8(real):
            self._note("foreign", path, "the link leads to a name that is no UTF-8, and is left out")
        elif not os.path.exists(real):
            self._note("outside", path, "the link leads nowhere")
        elif entry.is_dir():
            return self._inner(path, top) and real
        elif not any(Path(real).is_relative_to(root) for root in self._roots):
            self._note("outside", path, f"the link leads out of the sessions directory, to {real}, and is not followed")
        elif entry.name.endswith(SUFFIX):
            self._note("linked", path, "a second name for a session, by a link", others=[real])
            self._found[real] = None
        else:
            self._note("foreign", path, "no session file by its name")
        return None

    def _file(self, path: str, regular: bool) -> None:
        name = os.path.basename(path)
        if not regular:
            self._note("foreign", path, "no file: a pipe, a socket or a device")
        elif is_staged(name):
            self._staged(path)
        elif name.endswith(SUFFIX):
            self._found[path] = None
        else:
            self._note("foreign", path, "no session file by its name")

    def _staged(self, path: str) -> None:
        try:
            state = self._files.stat(path)
        except OSError:
            return  # it has its name by now
        if self._files.wall() - state.st_mtime >= LEFTOVER_SECONDS and state.st_uid == os.geteuid():
            words = "a session file of ours that was never finished"
            self._note("leftover", path, words, problem=True, repair="putAway")


def rounds(files: Files, layout: Layout) -> Rounds:
    """What can't be looked at is a finding, never an error."""
    return _Walk(files, layout).go()


def shown(path: str) -> str:
    """As a client can be told of it."""
    return path if is_utf8(path) else os.fsencode(path).decode(errors="replace")


def same_content(files: Files, one: int, other: int, size: int, block: int = 1 << 20) -> bool:
    """Whether the first `size` bytes behind two descriptors are the same. Raises OSError."""
    return all(
        a == b for a, b in zip(_blocks(files, one, size, block), _blocks(files, other, size, block), strict=True)
    )


def _blocks(files: Files, fd: int, size: int, block: int) -> Iterator[bytes]:
    for start in range(0, size, block):
        yield files.read(fd, min(block, size - start), start)
