"""A path of a session as a document that a person reads: Markdown, from one entry to the next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from msgspec import Struct

from pi_daemon.session.branches import Branch
from pi_daemon.session.dates import duration, to_ms
from pi_daemon.session.facts import Json
from pi_daemon.session.head import Head, Header
from pi_daemon.session.markdown import code, contained, plain, quoted
from pi_daemon.session.parts import Parts
from pi_daemon.session.rawjson import loads
from pi_daemon.session.tally import Tally
from pi_daemon.session.view import content_text

TITLE = 80
"""Characters of a heading."""

BRANCHES = 5
"""Branches that are named where they leave; of more it is said how many."""

LEVEL = 3
"""Of the highest heading that a text may have: the document's own are above."""

_SILENT = frozenset({"label", "session_info", "custom", "usage"})


class Look(Struct, frozen=True):
    """How a document is to look. `thinking`: folded, or left out. `full`: nothing is cut."""

    thinking: bool = True
    full: bool = False


class Document:
    """Give it the entries of the path in order; each call returns the next lines."""

    def __init__(
        self, look: Look, labels: Mapping[str, str], leaving: Mapping[str | None, Sequence[Branch]], name: str | None
    ) -> None:
        """`leaving` has the branches that leave the path, by the entry that they leave from."""
        self._labels = labels
        self._leaving = leaving
        self._name = name
        self._parts = Parts(look.thinking, look.full)
        self._turns = 0
        self._model: str | None = None

    def begin(self, header: Header, tally: Tally, title: str | None) -> list[str]:
        """The facts. `tally` is of the path; `title` the first thing the user said."""
        lines = [f"# {plain(self._name or title or 'Session ' + header.id, TITLE)}", ""]
        lines += [f"- **{what}:** {said}" for what, said in _facts(header, tally)]
        return [*lines, "", *self._left(None)]

    def entry(self, head: Head, line: bytes) -> list[str]:
        entry = loads(line) if head.type not in _SILENT else {}
        blocks = self._blocks(head, entry)
        label = self._labels.get(head.id)
        if label is not None and head.type not in _SILENT:
            blocks.append([f"**Label:** {plain(label)}"])
        lines = [line for block in blocks if block for line in (*block, "")]
        return [*lines, *self._left(head.id)]

    def end(self) -> list[str]:
        return [line for block in self._parts.unanswered() for line in (*block, "")]

    def _blocks(self, head: Head, entry: Json) -> list[list[str]]:
        match head.type:
            case "message":
                message = entry.get("message")
                return self._message(head, message) if isinstance(message, dict) else []
            case "compaction":
                before = entry.get("tokensBefore")
                tokens = f", {before:,} tokens," if isinstance(before, int) else ""
                return [self._summary(f"**Compacted.** What came before{tokens} goes on as this summary:", entry)]
            case "branch_summary":
                return [self._summary("**Summary of a branch that was left:**", entry)]
            case "custom_message":
                content = self._parts.content(entry.get("content"), LEVEL)
                return [[f"**{plain(str(entry.get('customType', 'custom')), TITLE)}**"], *content]
            case "model_change":
                model = f"{entry.get('provider')}/{entry.get('modelId')}"
                self._model = model
                return [[f"*Model: {code(model, TITLE)}*"]]
            case "thinking_level_change":
                return [[f"*Thinking: {plain(str(entry.get('thinkingLevel')), TITLE)}*"]]
            case "context_edit":
                how = "is left out of the context" if entry.get("replacement") is None else "reads otherwise"
                return [[f"*From here on {code(str(entry.get('targetId')), TITLE)} {how}.*"]]
            case _:
                return [] if head.type in _SILENT else [[f"*An entry of the kind {code(head.type, TITLE)}.*"]]

    def _message(self, head: Head, message: Json) -> list[list[str]]:
        content = message.get("content")
        match head.role:
            case "user":
                return [*self._parts.unanswered(), *self._turn(head, content)]
            case "assistant":
                before = self._parts.unanswered()
                return [*before, self._spoke(message), *self._parts.answer(content, LEVEL), _ended(message)]
            case "toolResult":
                return self._parts.result(message)
            case "bashExecution":
                return self._parts.shell(message)
            case "system":
                return [self._parts.system(message)]
            case _:
                return [[f"**{plain(str(head.role), TITLE)}**"], *self._parts.content(content, LEVEL)]

    def _turn(self, head: Head, content: object) -> list[list[str]]:
        self._turns += 1
        said = content_text(content, "\n")
        title = first_line(said)
        heading = f"## {self._turns}. {plain(title, TITLE) or '(no text)'}"
        when = f"*{_time(head.timestamp)} · {code(head.id, TITLE)}*"
        whole = said.strip() == title and len(title) <= TITLE
        return [[heading], [when], *self._parts.content(content, LEVEL, breaks=True, text=not whole)]

    def _spoke(self, message: Json) -> list[str]:
        """Who answers, where that is somebody else than before."""
        model = f"{message.get('provider')}/{message.get('model')}"
        if model == self._model:
            return []
        self._model = model
        return [f"*Model: {code(model, TITLE)}*"]

    def _summary(self, said: str, entry: Json) -> list[str]:
        return quoted([said, "", *contained(str(entry.get("summary") or ""), LEVEL)])

    def _left(self, entry_id: str | None) -> list[str]:
        found = self._leaving.get(entry_id, ())
        what = "Another branch leaves here" if entry_id is not None else "Another branch begins anew"
        lines = [
            f"> *{what}: {_plural(branch.count, 'entry', 'entries')} to {code(branch.tip.id, TITLE)}, "
            f"{_time(branch.tip.timestamp)}.*"
            for branch in found[:BRANCHES]
        ]
        if len(found) > BRANCHES:
            lines.append(f"> *And {len(found) - BRANCHES:,} more.*")
        return [line for one in lines for line in (one, "")]


def first_line(text: str) -> str:
    """The first line that says something."""
    return text.lstrip().split("\n", 1)[0].strip()


def _ended(message: Json) -> list[str]:
    reason = message.get("stopReason")
    if reason not in ("error", "aborted", "length"):
        return []
    why = message.get("errorMessage")
    return [f"**Ended: {reason}**" + (f" — {plain(why, 400)}" if isinstance(why, str) and why else "")]


def _facts(header: Header, tally: Tally) -> list[tuple[str, str]]:
    total, usage, span = tally.total, tally.total.usage, tally.span
    _, models = tally.finished()
    facts = [("Session", code(header.id)), ("Directory", code(header.cwd))]
    if header.parent_session is not None:
        facts.append(("Forked from", code(header.parent_session)))
    if span.first_ms is not None and span.last_ms is not None:
        active = f", {duration(span.active_ms / 1000)} of work" if span.active_ms else ""
        facts.append(("Time", f"{_at(span.first_ms)} to {_at(span.last_ms)}{active}"))
    named = [code("/".join(row.model), TITLE) for row in models if row.model is not None]
    if named:
        facts.append(("Model", ", ".join(named)))
    roles = total.messages_by_role
    said = f"{roles.get('user', 0):,} from the user, {_plural(roles.get('assistant', 0), 'answer')}"
    failed = total.failed_results + total.errors + total.aborted
    facts.append(
        ("Messages", f"{said}, {_plural(total.tool_calls, 'tool call')}" + (f", {failed:,} failed" if failed else ""))
    )
    tokens = [
        f"{number:,.0f} {what}"
        for number, what in (
            (usage.input, "in"),
            (usage.output, "out"),
            (usage.cache_read, "read from cache"),
            (usage.cache_write, "written to cache"),
        )
        if number
    ]
    if tokens:
        facts.append(("Tokens", ", ".join(tokens)))
    if usage.cost:
        facts.append(("Cost", f"{usage.cost:,.4f}"))
    return facts


def _plural(number: int, one: str, many: str | None = None) -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def _time(timestamp: str) -> str:
    ms = to_ms(timestamp)
    return _at(ms) if ms is not None else "at an unknown time"


def _at(ms: int) -> str:
    try:
        return datetime.fromtimestamp(ms / 1000, UTC).strftime("%Y-%m-%d %H:%M UTC")
    except (ValueError, OverflowError, OSError):
        return "at an unknown time"
