"""The form of a summary: six sections in Markdown, then the file lists as pi 1.6.0 writes them.

`parse` also takes what others wrote: other headings, headings in Chinese, none at all. It loses no text: what has no
place of its own stands under its own heading, or under Critical Context where it has none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct, field

from pi_daemon.compaction.headings import HEADINGS, NONE, NOTHING, SPLIT_HEADING, Name, heading_of, is_split_heading
from pi_daemon.compaction.words import clean


class Section(Struct):
    """One that the form doesn't know."""

    heading: str
    items: list[str]


class Summary(Struct):
    """Each item is Markdown without its list marker and box; its further lines are dedented. `split` is the summary
    of how the turn began that the cut splits. Files are listed in `split` never."""

    goal: list[str] = field(default_factory=list)
    constraints: list[str] = field(default_factory=list)
    done: list[str] = field(default_factory=list)
    in_progress: list[str] = field(default_factory=list)
    blocked: list[str] = field(default_factory=list)
    decisions: list[str] = field(default_factory=list)
    next_steps: list[str] = field(default_factory=list)
    critical: list[str] = field(default_factory=list)
    others: list[Section] = field(default_factory=list)
    split: Summary | None = None
    read_files: list[str] = field(default_factory=list)
    modified_files: list[str] = field(default_factory=list)

    def items(self, name: Name) -> list[str]:
        found: list[str] = getattr(self, name)
        return found

    def folded(self) -> Summary:
        """With what `split` says among the rest, nothing twice."""
        if self.split is None:
            return self
        made = joined([self, self.split])
        made.read_files, made.modified_files = self.read_files, self.modified_files
        return made


def joined(summaries: Iterable[Summary]) -> Summary:
    """One that says what all of them say, in their order, nothing twice."""
    several = list(summaries)
    made = Summary(others=[section for one in several for section in one.others])
    for name in HEADINGS:
        made.items(name).extend(dict.fromkeys(item for one in several for item in one.items(name)))
    return made


_BOXED: dict[str, str] = {"done": "[x] ", "in_progress": "[ ] "}
_BOX = re.compile(r"(?:\[([ xX✓✔]?)\]\s+|\[([ xX✓✔]?)\]\Z)")
_BULLET = re.compile(r"( ?)([-*+•] +|\d{1,3}[.)] +|[-*+•]\Z|\d{1,3}[.)]\Z)(.*)")
_RULE = re.compile(r"(?:-{3,}|\*{3,}|_{3,})\s*\Z")
_OPENS = re.compile(r"<(read-files|modified-files)>[ \t]*\Z")


def render(summary: Summary, empty: bool = True) -> str:
    """The text. `empty`: sections without an item are there too, and say that they have none."""
    text = "\n\n".join(_parts(summary, empty))
    if summary.split is not None:
        text = join_split(text, "\n\n".join(_parts(summary.split, False)))
    return with_files(text, summary.read_files, summary.modified_files)


def join_split(history: str, prefix: str) -> str:
    """Both summaries in one text: that of the history, a rule, a heading that names the other one, the other one.
    File lists of either are kept apart by the caller (`with_files`)."""
    history, prefix = history.strip("\n"), prefix.strip("\n")
    return f"{history}\n\n---\n\n## {SPLIT_HEADING}\n\n{prefix}".strip("\n") if prefix else history


def with_files(text: str, read_files: Sequence[str], modified_files: Sequence[str]) -> str:
    """`text` with these lists at its end, in the place of those that it has."""
    body, _, _ = without_files(text)
    parts = [body.strip("\n")]
    for name, paths in (("read-files", read_files), ("modified-files", modified_files)):
        if lines := _paths(paths):
            parts.append("\n".join([f"<{name}>", *lines, f"</{name}>"]))
    return "\n\n".join(part for part in parts if part)


def without_files(text: str) -> tuple[str, list[str], list[str]]:
    """The text without its file lists; the paths read; the paths modified."""
    if "-files>" not in text:
        return text, [], []
    found: dict[str, list[str]] = {"read-files": [], "modified-files": []}
    lines = text.split("\n")
    last_end = {f"</{name}>": -1 for name in found}
    for at, line in enumerate(lines):
        if line.rstrip() in last_end:
            last_end[line.rstrip()] = at
    body: list[str] = []
    paths: list[str] | None = None
    end = ""
    for at, line in enumerate(lines):
        if paths is not None and line.rstrip() == end:
            paths = None
        elif paths is not None:
            paths.append(line)
        elif (opens := _OPENS.match(line)) and last_end[f"</{opens[1]}>"] > at:
            paths, end = found[opens[1]], f"</{opens[1]}>"
        else:
            body.append(line)
    return "\n".join(body), _paths(found["read-files"]), _paths(found["modified-files"])


def _paths(paths: Iterable[str]) -> list[str]:
    """Each once. A path that has a line end can't stand in such a list as it is: the line ends become spaces."""
    lines = (" ".join(clean(path).split("\n")).strip() for path in paths)
    return list(
        dict.fromkeys(
            line
            for line in lines
            if line
            and not line.startswith(("<read-files>", "<modified-"))
            and not line.startswith(("</read-files>", "</modified-"))
        )
    )


def _parts(summary: Summary, empty: bool) -> Iterator[str]:
    titled = False
    for name, (heading, level) in HEADINGS.items():
        items = [item for item in map(_tidy, summary.items(name)) if item]
        if not items and not empty:
            continue
        lines = [f"{'#' * level} {heading}"]
        if level == 3 and not titled:
            lines.insert(0, "## Progress")
            titled = True
        lines += _list(items, name == "next_steps", _BOXED.get(name, "")) if items else [NONE]
        yield "\n".join(lines)
    for section in summary.others:
        items = [item for item in map(_tidy, section.items) if item]
        title = " ".join(clean(section.heading).split()).strip("#*_:： ")
        if items and title:
            yield "\n".join([f"## {title}", *_list(items)])


def _list(items: Iterable[str], numbered: bool = False, box: str = "") -> Iterator[str]:
    for number, item in enumerate(items, 1):
        first, *rest = item.split("\n")
        marker = f"{number}. "
        if not numbered or heading_of(marker + first) is not None:
            marker = "- "
        yield marker + box + first
        indent = " " * len(marker)
        yield from (indent + line if line else "" for line in rest)


def _tidy(item: str) -> str:
    """Of an item what the form can hold: no blank lines in a row, nothing around it."""
    lines = [line.rstrip() for line in clean(item).expandtabs(4).split("\n")]
    kept = [line for at, line in enumerate(lines) if line or (at and lines[at - 1])]
    return "\n".join(kept).strip()


def parse(text: str) -> Summary:
    """What a summary says. Never fails."""
    body, read_files, modified_files = without_files(clean(text))
    made, split = Summary(read_files=read_files, modified_files=modified_files), None
    reader = _Reader(made)
    for line, quoted in _lines(body):
        if not quoted and is_split_heading(line) and split is None:
            reader.close()
            split = Summary()
            reader = _Reader(split)
        else:
            reader.line(line, quoted)
    reader.close()
    made.others = [section for section in made.others if section.items]
    if split is not None:
        split.others = [section for section in split.others if section.items]
        made.split = split if _says(split) else None
    return made


def _says(summary: Summary) -> bool:
    return bool(summary.others) or any(summary.items(name) for name in HEADINGS)


def _lines(body: str) -> Iterator[tuple[str, bool]]:
    """Each line, and whether it stands in a block of code that is closed again and begins at the margin."""
    lines = [line.rstrip() for line in body.expandtabs(4).split("\n")]
    close = -1
    for at, line in enumerate(lines):
        if at > close and line.startswith("```"):
            close = next((end for end in range(at + 1, len(lines)) if lines[end].startswith("```")), -1)
        yield line, at <= close


class _Reader:
    """Puts lines into the sections of one summary."""

    def __init__(self, summary: Summary) -> None:
        self._summary = summary
        self._name: Name | None = "critical"
        self._other: list[str] = []
        self._item: list[str] = []
        self._indent = 0
        self._blank = False

    def line(self, line: str, quoted: bool) -> None:
        if not line:
            self._blank = True
            return
        if not quoted and not line.startswith("  "):
            if (found := heading_of(line)) is not None:
                self.close()
                self._open(*found)
                return
            if _RULE.match(line):
                self.close()
                return
            if bullet := _BULLET.match(line):
                self.close()
                self._item = [bullet[3]]
                self._indent = len(bullet[1]) + len(bullet[2].rstrip()) + 1
                return
            if self._blank:
                self.close()
        if self._item and self._blank:
            self._item.append("")
        blanks = len(line) - len(line.lstrip(" "))
        self._item.append(line[min(blanks, self._indent) :])
        self._blank = False

    def _open(self, name: Name | None, title: str, rest: str) -> None:
        self._name = name
        if name is None:
            self._other = []
            self._summary.others.append(Section(title, self._other))
        if rest:
            self._item = [rest]

    def close(self) -> None:
        """The item that was read is whole."""
        item = _tidy("\n".join(self._item))
        self._item, self._indent, self._blank = [], 0, False
        name = self._name
        if name in ("done", "in_progress", "blocked", "next_steps"):
            start = 0
            while box := _BOX.match(item, start):
                ticked = bool((box[1] or box[2] or "").strip())
                name = "done" if ticked else name if name in ("next_steps", "blocked") else "in_progress"
                start = box.end()
            item = item[start:].strip()
        if not item or item.casefold().strip("*_() .（）") in NOTHING:
            return
        (self._other if name is None else self._summary.items(name)).append(item)
