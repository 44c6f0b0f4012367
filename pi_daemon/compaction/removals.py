"""Which files commands took away or gave another name: what names them doesn't hold any more."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Sequence

from pi_daemon.compaction.acts import Act

COMMAND_CHARACTERS = 4000
"""Of a command that are looked at; longer ones carry a script or a file."""

_SPLIT = re.compile(r"&&|\|\||;|\n|\|")
_NAME = re.compile(r"(?<![A-Za-z0-9_/.~@\-])@?(?:[\w.~@\-]{0,100}[/\\]){0,20}[A-Za-z0-9_.\-]{0,100}\.[A-Za-z]\w{0,5}\b")
_FLAG = re.compile(r"-|\d*>|<|&")


class Removals:
    """What the acts, in their order, left of the files that they name."""

    def __init__(self, acts: Iterable[Act]) -> None:
        self._gone: dict[tuple[str, ...], str | None] = {}
        self._there: set[tuple[str, ...]] = set()
        for act in acts:
            if act.result is None or act.failed:
                continue
            if act.path and act.changes_file:
                self._make(_parts(act.path))
            elif act.command and ("rm" in act.command or "mv" in act.command or "cp " in act.command):
                self._run(act.command)

    def named(self, text: str) -> list[str]:
        """The names in a text that were files and are none any more."""
        if not self._gone:
            return []
        return [name for name in file_names(text) if self._is_gone(_parts(name))]

    def told(self) -> list[tuple[str, str | None]]:
        """The last part of each file that is gone, and its new name where it has one."""
        files = [(gone, new) for gone, new in self._gone.items() if "." in gone[-1] and "*" not in gone[-1]]
        return [(gone[-1], new) for gone, new in files if new is None or new.split("/")[-1] != gone[-1]]

    def _is_gone(self, parts: tuple[str, ...]) -> bool:
        gone = max((_common(parts, one) for one in self._gone), default=0)
        return gone > max((_common(parts, one) for one in self._there), default=0)

    def _make(self, parts: tuple[str, ...]) -> None:
        for gone in [gone for gone in self._gone if len(gone) <= len(parts) and _common(gone, parts)]:
            del self._gone[gone]
        self._there.add(parts)

    def _remove(self, parts: tuple[str, ...], new: str | None) -> None:
        if parts:
            self._there = {there for there in self._there if not _common(there, parts)}
            self._gone[parts] = new

    def _run(self, command: str) -> None:
        at: tuple[str, ...] = ()
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

    def _put(self, at: tuple[str, ...], source: str, target: str, many: bool, moved: bool) -> None:
        old, new = _parts(source), _parts(target)
        if not old:
            return
        if many or target.endswith(("/", ".")) or ("." in old[-1] and (not new or "." not in new[-1])):
            new = (*new, old[-1])
        if moved and old != new:
            self._remove(at + old, new[-1] if new[-1] != old[-1] else "/".join(new))
        self._make(at + new)


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


def _parts(path: str) -> tuple[str, ...]:
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
