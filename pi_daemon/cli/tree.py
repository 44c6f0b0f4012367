"""`pi-daemon tree`: the branches of a session, what is labelled, the active path and the leaf."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import TYPE_CHECKING, NamedTuple

from pi_daemon_client.types import SessionState, TreeNode, TreeResult

from pi_daemon.cli import safe, titles
from pi_daemon.cli.naming import Opened, with_session
from pi_daemon.cli.output import Output, plural
from pi_daemon.cli.reach import Where
from pi_daemon.cli.shape import Row, rows

if TYPE_CHECKING:
    from rich.text import Text

_ID = 8
"""Characters of an entry's id: all of those that pi makes, the beginning of others."""

_KIND = (10, 21)
"""Columns of the kind of an entry at least and at most: a quarter of the terminal, all of what pi makes."""

_STYLES = {
    "user": "bold cyan",
    "assistant": "green",
    "toolResult": "blue",
    "bashExecution": "blue",
    "compaction": "magenta",
    "branch_summary": "magenta",
}


class Marks(NamedTuple):
    on_path: str
    beside: str
    leaf: str
    bar: str
    branch: str
    folded: str
    cut: str
    outside: str


UNICODE = Marks("●", "○", "◆", "│ ", "├─", "⋮", "…", "×")
ASCII = Marks("*", "o", "#", "| ", "|-", ":", "~", "x")

FILTERS = {
    "default": "default",
    "no-tools": "noTools",
    "user-only": "userOnly",
    "labeled-only": "labeledOnly",
    "all": "all",
}
"""As typed -> as the protocol has it."""


async def tree(
    where: Where, output: Output, name: str, *, filter: str, fold: bool, context: bool = False, recover: bool
) -> None:
    """`context`: mark what isn't in the context."""

    async def show(opened: Opened) -> None:
        async with output.working("Reading the tree") as progress:
            found = await opened.client.whole_tree(opened.id, filter=filter, progress=progress)  # type: ignore[arg-type]
            reasons = await _reasons(opened, found) if context else None
        if output.as_json:
            nodes = found["nodes"]
            if reasons is not None:
                told = [{"inContext": inside, "reason": why} for inside, why in map(reasons.__getitem__, _ids(nodes))]
                output.json(
                    {"sessionId": opened.id, **found, "nodes": [a | b for a, b in zip(nodes, told, strict=True)]}
                )
            else:
                output.json({"sessionId": opened.id, **found})
        else:
            title = await titles.of_opened(output, opened.client, opened.state)
            draw(output, opened.state, found, title=title, fold=fold, reasons=reasons)

    await with_session(where, name, output, show, recover=recover)


async def _reasons(opened: Opened, found: TreeResult) -> dict[str, tuple[bool, str]]:
    """Whether each entry is in the context at the tree's leaf, and why; by id."""
    explained = await opened.client.whole_explanation(opened.id, leaf_id=found["leafId"])
    told = {one["id"]: (one["inContext"], str(one["reason"])) for one in explained["entries"] if one["id"] is not None}
    # What came since the tree was read isn't drawn, what was lost since is none that the model knows.
    return {id: told.get(id, (False, "damagedLine")) for id in _ids(found["nodes"])}


def _ids(nodes: list[TreeNode]) -> list[str]:
    return [node["id"] for node in nodes]


def draw(
    output: Output,
    state: SessionState,
    found: TreeResult,
    *,
    title: str,
    fold: bool = True,
    reasons: dict[str, tuple[bool, str]] | None = None,
) -> None:
    from rich.text import Text

    marks = UNICODE if output.unicode else ASCII
    nodes = found["nodes"]
    count = counted(len(nodes), state["entryCount"])
    output.print(Text.assemble((title, "bold"), f"  {safe.line(state['sessionId'])}  {count}", ""))
    leaf = shown_leaf(found)
    outside = None if reasons is None else {name for name, (inside, _) in reasons.items() if not inside}
    for line in lines(rows(nodes, leaf, fold=fold), leaf, marks, output.columns, outside):
        output.line(line)
    if note := where_the_leaf_is(found, state["entryCount"]):
        output.print(note)
    if nodes:
        legend = f"{marks.on_path} active path  {marks.beside} other branches  {marks.leaf} leaf"
        if outside is not None:
            legend += f"  {marks.outside} not in the context (`pi-daemon why` says why)"
        output.print(Text(legend, "dim"))
    for damage in state["damage"]:
        where = "" if damage["line"] is None else f"line {damage['line']:,}: "
        output.print(Text(f"damaged: {where}{safe.line(damage['message'])}", "red"))


def counted(shown: int, there: int) -> str:
    return plural(there, "entry", "entries") if shown >= there else f"{shown:,} of {plural(there, 'entry', 'entries')}"


def shown_leaf(found: TreeResult) -> str | None:
    """The entry that is drawn as the leaf: where the filter hides that (a label, say), its nearest ancestor that
    shows. None where no entry of the path shows."""
    leaf, nodes = found["leafId"], found["nodes"]
    if any(node["id"] == leaf for node in nodes):
        return leaf
    # Of the path each entry comes before the one below it.
    return next((node["id"] for node in reversed(nodes) if node["onPath"]), None)


def where_the_leaf_is(found: TreeResult, entries: int) -> str | None:
    """What the lines of the tree don't say of it, if anything."""
    leaf = found["leafId"]
    if leaf is None:
        if not entries:
            return "There are no entries to show yet."
        return "The leaf is before the first entry: the next append makes another root."
    drawn = shown_leaf(found)
    if drawn == leaf:
        return None
    if not found["nodes"]:
        return f"There are no entries to show yet: {safe.line(leaf)}, the leaf, is none that this filter shows."
    if drawn is None:
        return f"The leaf is {safe.line(leaf)}; this filter shows no entry on the way to it."
    return f"The leaf itself is {safe.line(leaf)}, which this filter hides; {safe.line(drawn)} stands for it."


def lines(
    shown: list[Row],
    leaf_id: str | None,
    marks: Marks,
    columns: int | None = None,
    outside: Collection[str] | None = None,
) -> list[Text]:
    """`columns` of the terminal, so that long kinds leave room for the rest; None: nothing is cut. `outside`: entries
    that are to be marked as outside of the context; None: nothing is said of that."""
    from rich.text import Text

    result: list[Text] = []
    width = max((len(safe.line(kind(row.node))) for row in shown if not row.folded), default=0)
    if columns is not None:
        least, most = _KIND
        width = min(width, max(least, min(most, columns // 4)))
    for row in shown:
        if row.root and result:
            result.append(Text())
        result.append(_line(row, leaf_id, marks, width, outside))
    return result


def _line(row: Row, leaf_id: str | None, marks: Marks, width: int, outside: Collection[str] | None) -> Text:
    from rich.text import Text

    text = Text(no_wrap=True)
    text.append(marks.bar * (row.depth - row.side), "dim")
    if row.side:
        text.append(marks.branch, "dim")
    if row.folded:
        counts = Counter(kind(node) for node in row.folded)
        what = ", ".join(f"{number} {safe.line(one)}" for one, number in counts.most_common())
        if outside is not None and (out := sum(node["id"] in outside for node in row.folded)):
            what += f"; {marks.outside} {'all' if out == len(row.folded) else out} not in the context"
        text.append(f"{marks.folded} {len(row.folded):,} more: {what}", "dim")
        return text
    node = row.node
    leaf = node["id"] == leaf_id
    mark = marks.leaf if leaf else marks.on_path if node["onPath"] else marks.beside
    bright = node["onPath"] and (outside is None or node["id"] not in outside)
    text.append(mark, "bold yellow" if leaf else "bold" if bright else "dim")
    if outside is not None:
        text.append(f" {marks.outside if node['id'] in outside else ' '}", "dim")
    text.append(f" {safe.line(node['id'])[:_ID]:<{_ID}} ", "dim")
    style = _STYLES.get(kind(node), "default")
    called = safe.line(kind(node))
    called = called if len(called) <= width else called[: width - 1] + marks.cut
    text.append(f"{called:<{width}} ", style if bright else f"dim {style}")
    if "label" in node:
        text.append(f"[{safe.line(node['label'])}] ", "bold yellow")
    if leaf:
        text.append("<leaf> ", "bold yellow")
    text.append(safe.line(node["preview"]), "" if bright else "dim")
    return text


def kind(node: TreeNode) -> str:
    """What an entry is called: a message by its role, another by its type."""
    return node.get("role") or node["type"]
