"""Which files commands took away or gave another name: what names them doesn't hold any more."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

from pi_daemon.compaction.acts import Act

COMMAND_CHARACTERS = 4000
"""Of a command that are looked at; longer ones carry a script or a file."""

DEPTH = 24
"""Parts of a path that are looked at, the last ones."""

_SPLIT = re.compile(r"&&|\|\||;|\n|\|")
_NAME = re.compile(r"(?<![A-Za-z0-9_/.~@\-])@?(?:[\w.~@\-]{0,100}[/\\]){0,20}[A-Za-z0-9_.\-]{0,100}\.[A-Za-z]\w{0,5}\b")
_FLAG = re.compile(r"-|\d*>|<|&")


Path: TypeAlias = tuple[str, ...]
"""Its parts."""


class Removals:
    """What the acts, in their order, left of the files that they name."""

    def __init__(self, acts: Iterable[Act]) -> None:
        self._new_names: dict[Path, str | None] = {}
        self._gone = _Paths()
        self._there = _Paths()
        for act in acts:
            if act.result is None or act.failed:
                continue
            if act.path and act.changes_file:
                self._make(_parts(act.path))
            elif act.command and ("rm" in act.command or "mv" in act.command or "cp " in act.command):
                self._run(act.command)

    def named(self, text: str) -> list[str]:
        """The names in a text that were files and are none any more."""
        if not self._new_names:
            return []
        return [name for name in file_names(text) if self._is_gone(_parts(name))]

    def told(self) -> list[tuple[str, str | None]]:
        """The last part of each file that is gone, and its new name where it has one."""
        files = [(gone, new) for gone, new in self._new_names.items() if "." in gone[-1] and "*" not in gone[-1]]
        return [(gone[-1], new) for gone, new in files if new is None or new.split("/")[-1] != gone[-1]]

    def _is_gone(self, parts: Path) -> bool:
        gone = max((_common(parts, one) for one in self._gone.like(parts)), default=0)
        return gone > max((_common(parts, one) for one in self._there.like(parts)), default=0)

    def _make(self, parts: Path) -> None:
        for gone in self._gone.like(parts):
            if len(gone) <= len(parts):
                self._gone.discard(gone)
                del self._new_names[gone]
        self._there.add(parts)

    def _remove(self, parts: Path, new: str | None) -> None:
        if parts:
            for there in self._there.like(parts):
                self._there.discard(there)
            self._gone.add(parts)
            self._new_names[parts] = new

    def _run(self, command: str) -> None:
        at: Path = ()
        for words in _commands(command):
            name, *arguments = words
            if name == "git" and arguments and arguments[0] in ("rm", "mv"):
                name, *arguments = arguments
            paths = [word for word in arguments if not _FLAG.match(word)]
            if name == "cd" and paths:
                at = _parts(paths[0]) if paths[0].startswith(("/", "~")) else at + _parts(paths[0])
            elif name == "rm" and "--cached" not in arguments:
                for path in paths:
                    self._remove(at + _parts(path), None)
            elif name in ("mv", "cp") and len(paths) > 1:
                *sources, target = paths
                for source in sources:
                    self._put(at, source, target, len(sources) > 1, moved=name == "mv")

    def _put(self, at: Path, source: str, target: str, many: bool, moved: bool) -> None:
        old, new = _parts(source), _parts(target)
        if not old:
            return
        if many or target.endswith(("/", ".")) or ("." in old[-1] and (not new or "." not in new[-1])):
            new = (*new, old[-1])
        if moved and old != new:
            self._remove(at + old, new[-1] if new[-1] != old[-1] else "/".join(new))
        self._make(at + new)


class _Paths:
    """A set of paths that finds those which may be other names of one: of two, one is the end of the other."""

    def __init__(self) -> None:
        self._with_end: dict[Path, set[Path]] = {}

    def add(self, path: Path) -> None:
        for end in _ends(path):
            self._with_end.setdefault(end, set()).add(path)

    def discard(self, path: Path) -> None:
        for end in _ends(path):
            self._with_end[end].discard(path)

    def like(self, path: Path) -> list[Path]:
        ends = _ends(path)
        shorter = [end for end in ends if end in self._with_end.get(end, ())]
        return list({*shorter, *self._with_end.get(ends[0], ())}) if ends else []


def _ends(path: Path) -> list[Path]:
    """What one may be called by: all of it, and what is left without the first parts. Of a very deep one, the last."""
    return [path[at:] for at in range(max(0, len(path) - DEPTH), len(path))]


def file_names(text: str) -> list[str]:
    """What looks like the name of a file, each once."""
    return list(dict.fromkeys(_NAME.findall(text)))


def _commands(command: str) -> Iterator[list[str]]:
    text = command[:COMMAND_CHARACTERS].split("<<", 1)[0]
    for piece in _SPLIT.split(text):
        try:
            words = shlex.split(piece)
        except ValueError:  # a quotation that was split
            continue
        if words:
            yield words


def _parts(path: str) -> Path:
    parts: list[str] = []
    for part in re.split(r"[/\\]", path.removeprefix("@")):
        if part == ".." and parts:
            parts.pop()
        elif part not in ("", ".", ".."):
            parts.append(part)
    return tuple(parts)


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """How many parts they share where one is the end of the other, as far as both go; else 0."""
    length = min(len(one), len(other))
    return length if length and one[-length:] == other[-length:] else 0
