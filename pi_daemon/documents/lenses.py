"""What can be done at a line, as code lenses and code actions. Doing it is a command's (see `commands`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from pi_daemon.documents.asked import Asked
from pi_daemon.documents.branches import HIDDEN
from pi_daemon.documents.names import kind_of, short
from pi_daemon.rpc.types.lsp import CodeAction, CodeActionParams, CodeLens, Command, Position, Range
from pi_daemon.session.head import Head

KIND = "refactor.pi-daemon"

LABEL = 40
"""Characters of a label that is made of an entry's first words."""

ACTION_ENTRIES = 1
"""A selection over many lines is about its first entry."""

LENSES = 1_000
"""Entries with lenses at most, the newest: a client asks for those of the whole document at every change."""


def command(asked: Asked, title: str, name: str, entry_id: str | None, **more: Any) -> Command:
    arguments: dict[str, Any] = {"uri": asked.uri, "sessionId": asked.session.session_id}
    if entry_id is not None:
        arguments["entryId"] = entry_id
    return Command(title=title, command=f"pi-daemon.{name}", arguments=[arguments | more])


async def lenses(asked: Asked) -> list[CodeLens]:
    """At users' messages, at the ends of branches, and at the leaf."""
    tree, leaf_id = asked.session.tree, asked.session.leaf_id
    found: list[CodeLens] = []
    shown: list[tuple[Head, int]] = []
    for head, line in zip(reversed(asked.view.index.heads), reversed(asked.view.index.lines), strict=True):
        if len(shown) >= LENSES:
            break
        special = head.role == "user" or head.id == leaf_id or not tree.has_children(head.id)
        if special and tree.get(head.id) is head:
            shown.append((head, line))
    for head, line in reversed(shown):
        where = Range(Position(line, 0), Position(line, 0))
        if head.id == leaf_id:
            found.append(CodeLens(range=where, command=command(asked, "◆ leaf: explain", "explain", head.id)))
            found.append(CodeLens(range=where, command=command(asked, "compact", "compact", None)))
        else:
            found.append(CodeLens(range=where, command=command(asked, "move the leaf here", "moveLeaf", head.id)))
        found.append(CodeLens(range=where, command=command(asked, "fork here", "fork", head.id)))
    return found


async def actions(asked: Asked, params: CodeActionParams) -> Sequence[CodeAction | Command]:
    only = params.context.only
    if only and not any(kind == KIND or KIND.startswith(f"{kind}.") or not kind for kind in only):
        return []
    heads = asked.view.index.between(params.range.start.line, params.range.end.line)[:ACTION_ENTRIES]
    made = [one for head, _ in heads for one in await _at(asked, head)]
    if asked.editor.actions:
        return [CodeAction(title=one.title, kind=KIND, command=one) for one in made]
    return made


async def _at(asked: Asked, head: Head) -> list[Command]:
    tree = asked.session.tree
    if tree.get(head.id) is not head:
        return []
    return list(_commands(asked, head, (await asked.view.items([head]))[head].text))


def _commands(asked: Asked, head: Head, text: str) -> Iterator[Command]:
    if head.id != asked.session.leaf_id:
        yield command(asked, "Move the leaf here", "moveLeaf", head.id)
    if head.role == "user" or head.type == "custom_message":
        yield command(asked, "Move the leaf before this message", "moveLeaf", head.id, position="before")
    yield command(asked, "Fork a new session here", "fork", head.id)
    label = asked.session.tree.labels.get(head.id)
    if label is not None:
        yield command(asked, f"Clear the label “{short(label, LABEL)}”", "label", head.id, label=None)
    elif head.type not in HIDDEN:
        words = short(text, LABEL) or kind_of(head)
        yield command(asked, f"Label this entry “{words}”", "label", head.id, label=words)
    yield command(asked, "Compact the session at its leaf", "compact", None)
    yield command(asked, "Explain this entry", "explain", head.id)
