"""What the entries beside a path show: changes of files that don't count for it, and results of its calls."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from pi_daemon.compaction.acts import Act, calls
from pi_daemon.compaction.shown import lines
from pi_daemon.compaction.shown.evidence import nested_acts
from pi_daemon.compaction.shown.held import unix_lines
from pi_daemon.compaction.shown.places import resolve
from pi_daemon.compaction.shown.tools import edits_of, written
from pi_daemon.session.head import Head, ToolResultFacts


class ChangedElsewhere(Struct):
    """`count`: calls that changed the file and went well; the rest is of the last one, `entry_id`
    its call and `result_id` its result."""

    count: int = 0
    entry_id: str = ""
    result_id: str = ""
    tool: str = ""
    whole: str | None = None
    parts: tuple[str, ...] = ()

    def holds(self, found: str) -> bool:
        """Whether the file is now as that change left it, as far as is known of it."""
        text = unix_lines(found)
        if self.whole is not None:
            return text == self.whole
        return bool(self.parts) and all(part in text for part in self.parts)


class Elsewhere:
    """Given the entries beside a path, in the order of the file, and the calls that have no result on the path.
    `results`: call id → the entry of its result."""

    def __init__(self, cwd: str, home: str, unanswered: Iterable[Act] = ()) -> None:
        self._cwd = cwd
        self._home = home
        self._waiting: dict[str, Act] = {act.call_id: act for act in unanswered}
        self.files: dict[str, ChangedElsewhere] = {}
        self.results: dict[str, str] = {}

    @staticmethod
    def wanted(heads: Iterable[Head]) -> list[Head]:
        """Those whose lines tell something."""
        return [head for head in heads if head.role in ("assistant", "toolResult")]

    def see(self, head: Head, line: bytes) -> None:
        """`line` as it is stored."""
        facts = head.facts
        if isinstance(facts, ToolResultFacts):
            self.results[facts.call_id] = head.id
            act = self._waiting.pop(facts.call_id, None)
            if act is not None or b"nestedCalls" in line:
                message = lines.message_of(line)
                if act is not None and message.get("isError") is not True:
                    self._changed(act, head.id)
                for nested in nested_acts(message, head.id, 0):
                    self._changed(nested, head.id)
        elif lines.may_call(line):
            for call_id, name, arguments in calls(lines.message_of(line)):
                act = Act(head.id, 0, call_id, name, arguments)
                if act.changes_file:
                    self._waiting[call_id] = act

    def _changed(self, act: Act, result_id: str) -> None:
        if act.path is None or not act.changes_file:
            return
        found = self.files.setdefault(resolve(act.path, self._cwd, self._home), ChangedElsewhere())
        found.count += 1
        found.entry_id, found.result_id, found.tool = act.entry_id, result_id, act.name
        whole = written(act.arguments)
        found.whole = None if whole is None else unix_lines(whole)
        edits = edits_of(act.arguments) or ()
        found.parts = tuple(unix_lines(new) for _, new in edits if new.strip())
