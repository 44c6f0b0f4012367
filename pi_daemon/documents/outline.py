"""The outline: branches, turns within them, answers and tool calls within those, and nothing deeper.

The turns of the first branch (the active path) are on the top level, with every other branch beside them, wherever it
forks off. What is on the active path begins with a dot, the leaf with a diamond.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from pi_daemon.documents.branches import Branch, Turn, turns
from pi_daemon.documents.names import EVENT, LEAF, NAMESPACE, ON_PATH, Item, kind_of, name_of, short, symbol_of
from pi_daemon.documents.view import View
from pi_daemon.engine.offload import OFFLOAD_BYTES, offload
from pi_daemon.rpc import codec
from pi_daemon.rpc.types.lsp import DocumentSymbol, Location, Position, Range, SymbolInformation
from pi_daemon.session.head import AssistantFacts, Head, ToolResultFacts

STEPS = 20_000
"""Answers and tool calls that are shown, the newest ones of the active path first: more, no window can take, and each
has a body that must be read. The turns are shown in any case."""

_WORK_BYTES = 200
"""What an entry counts for when it is decided whether to make an outline in a thread."""


class Source(Struct):
    """What an outline is made of. `lines` are those of the entries, from 0; `dropped` counts the steps left out, by
    the turn's first entry."""

    branches: list[tuple[Branch, list[Turn]]]
    lines: Mapping[Head, int]
    items: Mapping[Head, Item]
    labels: Mapping[str, str]
    results: Mapping[str, object]
    leaf_id: str | None
    dropped: dict[str, int]


async def gather(view: View) -> Source:
    """Reads the bodies that are shown. Raises StorageFailed."""
    tree, leaf_id = view.session.tree, view.session.leaf_id
    lines = dict(zip(view.index.heads, view.index.lines, strict=True))
    found: list[tuple[Branch, list[Turn]]] = []
    straight = await view.branches()

    def take_apart() -> tuple[dict[str, int], list[Head]]:
        for branch in straight:
            branch.heads = [head for head in branch.heads if head in lines]
            if parts := turns(branch.heads):
                found.append((branch, parts))
        dropped = _drop(found)
        wanted: list[Head] = []
        for branch, parts in found:
            wanted += (branch.origin,) if branch.origin is not None else ()
            for turn in parts:
                wanted += (turn.head,) if turn.head is not None else ()
                wanted += [head for head in turn.steps if head.role != "toolResult"]
        return dropped, wanted

    dropped, wanted = await offload(_WORK_BYTES * len(lines), take_apart)
    items = await view.items(wanted)
    return Source(found, lines, items, tree.labels, view.results, leaf_id, dropped)


def _drop(found: Sequence[tuple[Branch, list[Turn]]]) -> dict[str, int]:
    room = STEPS
    dropped: dict[str, int] = {}
    for _, parts in found:
        for turn in reversed(parts):
            room -= len(turn.steps)
            if room < 0 and turn.head is not None:
                dropped[turn.head.id] = len(turn.steps)
                turn.steps = []
    return dropped


async def document_symbols(view: View, uri: str, hierarchical: bool) -> bytes:
    """The answer, encoded. Raises StorageFailed."""
    session = view.session
    key = (session.instance_id, session.revision, uri, hierarchical)
    if view.kept is not None and view.kept[0] == key:
        return view.kept[1]
    source = await gather(view)

    def make() -> bytes:
        symbols = outline(source)
        return codec.encode(symbols if hierarchical else flat(symbols, uri))

    made = await offload(_WORK_BYTES * len(source.lines), make)
    if len(made) <= OFFLOAD_BYTES * 16:
        view.kept = key, made
    return made


def outline(source: Source) -> list[DocumentSymbol]:
    symbols: list[DocumentSymbol] = []
    for number, (branch, parts) in enumerate(source.branches):
        on_path = {head.id for head in branch.heads[: branch.active]}
        made = _Maker(source, on_path).turns(parts)
        symbols += made if number == 0 else [_branch(source, branch, parts, made)]
    symbols.sort(key=lambda symbol: symbol.range.start.line)
    return symbols


def _branch(source: Source, branch: Branch, parts: Sequence[Turn], made: list[DocumentSymbol]) -> DocumentSymbol:
    labels = source.labels
    first = next((turn.head for turn in parts if turn.head is not None), None) or parts[0].steps[0]
    labelled = next((labels[head.id] for head in branch.heads if head.id in labels), None)
    words = labelled or source.items[first].text if first in source.items else labelled
    places = [source.lines[head] for head in branch.heads]
    count = f"{len(branch.heads)} entries" if len(branch.heads) > 1 else "1 entry"
    origin = source.items.get(branch.origin) if branch.origin is not None else None
    left = f", from “{short(origin.text, 40)}”" if origin is not None and origin.text else ""
    last = branch.heads[max(range(len(places)), key=places.__getitem__)]
    return DocumentSymbol(
        name=f"⎇ {short(words or kind_of(first))}",
        detail=f"branch, {count}{left}",
        kind=NAMESPACE,
        range=Range(Position(min(places), 0), Position(max(places), last.length)),
        selection_range=_whole(source, min(branch.heads, key=source.lines.__getitem__)),
        children=made,
    )


class _Maker:
    """Symbols of one branch; `on_path` are its entries that are active."""

    def __init__(self, source: Source, on_path: set[str]) -> None:
        self.source = source
        self._on_path = on_path

    def turns(self, parts: Sequence[Turn]) -> list[DocumentSymbol]:
        found: list[DocumentSymbol] = []
        for turn in parts:
            steps = [symbol for head in turn.steps for symbol in self._step(head)]
            if turn.head is None:
                found += steps
                continue
            symbol = self._symbol(turn.head)
            symbol.children = steps or None
            dropped = self.source.dropped.get(turn.head.id)
            if dropped:
                symbol.detail = ", ".join(filter(None, (symbol.detail, f"{dropped} entries not shown")))
            lines = self.source.lines
            first = min(map(lines.__getitem__, [turn.head, *turn.steps]))
            last = max([turn.head, *turn.steps], key=lines.__getitem__)
            symbol.range = Range(Position(first, 0), Position(lines[last], last.length))
            found.append(symbol)
        return found

    def _step(self, head: Head) -> list[DocumentSymbol]:
        """An answer, with each of its tool calls beside it; an answer that only calls tools is those calls."""
        if head.facts.__class__ is ToolResultFacts:
            return [self._symbol(head, "result of a tool call")] if head.id == self.source.leaf_id else []
        item = self.source.items.get(head)
        calls = item.calls if item is not None else ()
        facts = head.facts
        only_calls = bool(calls) and isinstance(facts, AssistantFacts) and not facts.has_text
        shown = [] if only_calls else [self._symbol(head)]
        for call_id, words in calls:
            symbol = self._symbol(head, words)
            symbol.kind = EVENT
            symbol.detail = "tool call" if call_id in self.source.results else "tool call without a result"
            shown.append(symbol)
        return shown

    def _symbol(self, head: Head, words: str | None = None) -> DocumentSymbol:
        source = self.source
        if words is None:
            item = source.items.get(head)
            words = item.text if item is not None else ""
        mark = LEAF if head.id == source.leaf_id else ON_PATH if head.id in self._on_path else ""
        whole = _whole(source, head)
        return DocumentSymbol(
            name=mark + name_of(head, words, source.labels),
            detail=_detail(head, head.id == source.leaf_id),
            kind=symbol_of(head),
            range=whole,
            selection_range=whole,
        )


def _whole(source: Source, head: Head) -> Range:
    line = source.lines[head]
    return Range(Position(line, 0), Position(line, head.length))


def _detail(head: Head, leaf: bool) -> str | None:
    parts = ["leaf"] if leaf else []
    facts = head.facts
    if head.role != "user":
        parts.append(kind_of(head))
    if isinstance(facts, AssistantFacts):
        parts += [short(facts.model)] if facts.model else []
        parts += [f"{facts.usage_tokens:,.0f} tokens"] if facts.usage_tokens else []
        parts += [facts.stop_reason] if facts.stop_reason in ("error", "aborted", "length") else []
    return ", ".join(parts) or None


def flat(symbols: Sequence[DocumentSymbol], uri: str) -> list[SymbolInformation]:
    """For clients that know no hierarchy: depth first, each with the name of what it is in."""
    found: list[SymbolInformation] = []
    waiting: list[tuple[DocumentSymbol, str | None]] = [(symbol, None) for symbol in reversed(symbols)]
    while waiting:
        symbol, container = waiting.pop()
        place = Location(uri, symbol.selection_range)
        found.append(SymbolInformation(name=symbol.name, kind=symbol.kind, location=place, container_name=container))
        waiting += [(child, symbol.name) for child in reversed(symbol.children or ())]
    return found
