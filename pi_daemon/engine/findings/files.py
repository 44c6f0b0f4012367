"""Each file that a path changed or read, against the file as it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

from msgspec import Struct

from pi_daemon.compaction.shown.elsewhere import ChangedElsewhere, Elsewhere
from pi_daemon.compaction.shown.evidence import Evidence, FileShown, may_change
from pi_daemon.compaction.shown.held import Verdict
from pi_daemon.compaction.shown.places import resolve, shown, sound, within
from pi_daemon.engine.findings.finding import FileState, FileStatus, Finding, some
from pi_daemon.session.dates import from_ms
from pi_daemon.storage.world import ALL_BYTES, Seen, World

FILES = 5_000
"""That one report looks at, those of the path first, the latest changed before the others."""

_LOOK_FIRST = "Read it again before changing it."
_STATES: dict[Verdict, FileState] = {
    "same": "asWritten",
    "lineEnds": "changed",
    "changed": "changed",
    "undone": "changed",
    "unknown": "unknown",
}


class Found(Struct):
    """What was seen of one file. `verdict` is None where its text wasn't compared, `why` says why not. `text` is what
    it holds, if that was read."""

    seen: Seen
    outside: bool = False
    verdict: Verdict | None = None
    why: str = ""
    text: str | None = None


class Comparing:
    """The files of one path. `below`: the entries that come after it. `folders`: the directories that count as the
    session's own, its cwd and the root of the work tree. To be used in a thread that may wait for a disk."""

    def __init__(
        self, world: World, evidence: Evidence, elsewhere: Elsewhere, below: Set[str], cwd: str, folders: Sequence[str]
    ) -> None:
        self._world = world
        self._evidence = evidence
        self._elsewhere = elsewhere
        self._below = below
        self._cwd = cwd
        self._folders = folders
        self._bytes = 0
        self._looked = 0
        self.files: list[FileStatus] = []
        self.findings: list[Finding] = []
        self.found: dict[str, Found] = {}

    def run(self) -> None:
        """Fill `files` (in the order of the last changes) and `findings`."""
        files = self._evidence.files
        changed = sorted((f for f in files.values() if f.changes), key=lambda f: -f.change_place)
        read = sorted((f for f in files.values() if not f.changes), key=lambda f: -f.read_place)
        latest = self._latest_names(changed)
        for file in changed:
            if latest.get(file.path, file.path) == file.path:  # else the same file goes on under another name
                self._changed(file)
        for file in read:
            self._read(file)
        for path, change in self._elsewhere.files.items():
            self._beside(path, change)
        for one in self._evidence.open:
            if one.act.changes_file and one.act.path is not None:
                self._text(self._look(resolve(one.act.path, self._cwd, self._world.home)))
        self.files.reverse()
        if self._looked > FILES:
            message = f"{self._looked - FILES:,} files of {self._looked:,} were not looked at: that is the limit."
            self.findings.append(Finding("fileUnknown", "info", message, "Look at them where they matter."))

    def _latest_names(self, changed: Sequence[FileShown]) -> Mapping[str, str]:
        """Path → the path under which the same file was changed last, where links give it several."""
        by_file: dict[str, str] = {}
        names: dict[str, str] = {}
        for file in changed[:FILES]:
            names[file.path] = by_file.setdefault(self._look(file.path).seen.real, file.path)
        return names

    # -- one file

    def _look(self, path: str) -> Found:
        if (known := self.found.get(path)) is not None:
            return known
        self._looked += 1
        if self._looked > FILES:
            return Found(Seen("unreadable", path), why="too many files")
        if not any(within(path, folder) for folder in self._folders):
            found = Found(Seen("other", path), outside=True)
        else:
            seen = self._world.look(path)
            outside = seen.what != "gone" and not any(within(seen.real, self._real(one)) for one in self._folders)
            found = Found(seen, outside=outside and seen.what != "unreadable")
        self.found[path] = found
        return found

    def _real(self, folder: str) -> str:
        return self._world.look(folder).real

    def _text(self, found: Found) -> str | None:
        """What it holds; a byte that isn't UTF-8 reads as U+FFFD, as for the agent."""
        if found.text is None and not found.why and not found.outside:
            if found.seen.what != "file":
                found.why = found.seen.why or "it is no file"
            elif self._bytes + found.seen.size > ALL_BYTES:
                found.why = "the files before it were much to read already"
            else:
                data = self._world.text(found.seen)
                if isinstance(data, str):
                    found.why = data
                else:
                    self._bytes += len(data)
                    found.text = data.decode(errors="replace")
        return found.text

    def _compare(self, file: FileShown) -> Found:
        found = self._look(file.path)
        if found.verdict is None and not found.outside and found.seen.what == "file" and file.held.known:
            text = self._text(found)
            if text is not None:
                found.verdict = file.held.compare(text)
                if found.verdict != "same" and "\0" in text[:8000] and not file.held.complete:
                    found.verdict, found.why = None, "it is binary"
        return found

    # -- changed on the path

    def _changed(self, file: FileShown) -> None:
        found = self._compare(file)
        state: FileState
        if found.outside:
            state = "outside"
        elif found.seen.what == "gone":
            state = "gone"
        elif found.seen.what == "folder":
            state = "changed"
        else:
            state = _STATES[found.verdict or "unknown"]
        path = shown(file.path, self._cwd)
        self.files.append(FileStatus(path, state, file.change_entry, file.change_tool, file.changes))
        if state != "asWritten":
            self._tell(file, found, state, path)

    def _tell(self, file: FileShown, found: Found, state: FileState, path: str) -> None:
        entry = file.change_entry
        named = self._named_later(file, file.change_place)
        by = f" A shell command of the path that came after it names the file ({named})." if named else ""
        if state == "outside":
            where = f"a link leads to {some([found.seen.real])}" if found.seen.what != "other" else "it lies"
            message = (
                f"Changed by {file.change_tool}, but {where} outside of the cwd and its repository: not looked at."
            )
            self._add("fileOutside", "info", message, "Look at it yourself if it matters.", entry, path)
        elif state == "gone":
            message = f"Changed by {file.change_tool} on this path, and gone now.{by}"
            advice = (
                "If it wasn't meant to go, write it again or restore it." if named else "Restore or write it again."
            )
            self._add("fileGone", "warning" if named else "problem", message, advice, entry, path)
        elif found.seen.what == "folder":
            self._add("fileChanged", "problem", "There is a directory in its place now.", "Look there.", entry, path)
        elif state == "unknown":
            why = found.why or "the calls don't show enough of its text"
            message = f"Whether it is as {file.change_tool} left it can't be told: {why}."
            self._add("fileUnknown", "info", message, _LOOK_FIRST, entry, path)
        elif found.verdict == "undone":
            message = f"It holds what it held before {file.change_tool} changed it: the change was undone."
            self._add("fileUndone", "problem", message + by, "Make the change again if it is wanted.", entry, path)
        elif found.verdict == "lineEnds":
            self._add("fileChanged", "info", "Only its line ends are others.", "Nothing, mostly.", entry, path)
        else:
            when = from_ms(found.seen.modified)
            whole = "It isn't as" if file.held.complete else "It lacks text that"
            message = f"{whole} {file.change_tool} left {'it' if file.held.complete else 'there'}; last changed {when}."
            self._add("fileChanged", "warning", message + by, _LOOK_FIRST, entry, path)

    def _named_later(self, file: FileShown, place: int) -> str:
        """The entry of the last shell command after `place` that names the file and may have changed it."""
        name = file.path.rpartition("/")[2]
        for shell in reversed(self._evidence.shell):
            if shell.place <= place:
                break
            if may_change(shell.command, name):
                return shell.entry_id
        return ""

    # -- read on the path, or changed beside it

    def _read(self, file: FileShown) -> None:
        found = self._compare(file)
        path, entry = shown(file.path, self._cwd), file.read_entry
        advice = "Have it read again before it is relied on."
        if found.outside or found.why:
            return
        if found.seen.what == "gone":
            self._add("readGone", "warning", "Read on this path, and gone now.", advice, entry, path)
        elif found.verdict in ("changed", "undone"):
            message = f"It isn't as it was when it was read; last changed {from_ms(found.seen.modified)}."
            self._add("readChanged", "warning", message, advice, entry, path)
        elif file.blind_read is not None and found.seen.what == "file" and found.seen.modified > file.blind_read:
            message = f"Changed {from_ms(found.seen.modified)}, after it was read; what was read can't be compared."
            self._add("readChanged", "warning", message, advice, entry, path)

    def _beside(self, path: str, change: ChangedElsewhere) -> None:
        found = self._look(path)
        own = self._evidence.files.get(path)
        text = self._text(found) if not found.outside and found.seen.what == "file" else None
        as_left = text is not None and change.holds(text) and (own is None or found.verdict != "same")
        later = change.result_id in self._below
        calls = "a call" if change.count == 1 else f"{change.count} calls"
        where = "after the end of this path" if later else "on another branch"
        message = f"Changed by {calls} {where}, which the path knows nothing of"
        if as_left:
            message += f"; the file is as {change.tool} left it there."
            advice = "Take that into account, or undo it: the model of this path believes it was never done."
        else:
            message += "; the file doesn't hold it now." if text is not None and found.verdict else "."
            advice = "Don't count on it here."
        kind = "changedLater" if later else "otherBranch"
        self._add(kind, "warning" if as_left else "info", message, advice, change.entry_id, shown(path, self._cwd))

    def _add(self, kind: str, severity: str, message: str, advice: str, entry: str, path: str) -> None:
        self.findings.append(Finding(kind, severity, message, advice, entry or None, sound(path)))  # type: ignore[arg-type]
