"""The tree as a call hierarchy: who comes before an entry, and what follows it; more than one is a fork."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec import Struct

from pi_daemon.documents.asked import Asked
from pi_daemon.documents.branches import HIDDEN
from pi_daemon.documents.names import LEAF, ON_PATH, kind_of, name_of, symbol_of
from pi_daemon.rpc.types.lsp import CallHierarchyItem, CallHierarchyParams, IncomingCall, OutgoingCall, PositionParams
from pi_daemon.session.head import Head


class _Data(Struct, rename="camel"):
    entry_id: str


async def prepare(asked: Asked, params: PositionParams) -> list[CallHierarchyItem] | None:
    head = asked.view.index.on_line(params.position.line)
    return await _items(asked, [head]) if head is not None else None


async def incoming(asked: Asked, params: CallHierarchyParams) -> list[IncomingCall]:
    head = _entry(asked, params)
    tree = asked.session.tree
    above = tree.parent(head) if head is not None else None
    while above is not None and above.type in HIDDEN and (further := tree.parent(above)) is not None:
        above = further
    items = await _items(asked, [above] if above is not None else [])
    return [IncomingCall(from_=item, from_ranges=[item.selection_range]) for item in items]


async def outgoing(asked: Asked, params: CallHierarchyParams) -> list[OutgoingCall]:
    head = _entry(asked, params)
    tree = asked.session.tree
    found: list[Head] = []
    waiting = tree.children(head.id)[::-1] if head is not None else []
    while waiting:
        child = waiting.pop()
        below = tree.children(child.id) if child.type in HIDDEN else []
        if below:
            waiting += below[::-1]
        else:
            found.append(child)
    return [OutgoingCall(to=item, from_ranges=[params.item.selection_range]) for item in await _items(asked, found)]


def _entry(asked: Asked, params: CallHierarchyParams) -> Head | None:
    try:
        return asked.session.tree.get(msgspec.convert(params.item.data, _Data).entry_id)
    except msgspec.ValidationError:
        return None


async def _items(asked: Asked, heads: Sequence[Head]) -> list[CallHierarchyItem]:
    session = asked.session
    known = await asked.view.items(heads)
    found: list[CallHierarchyItem] = []
    for head in heads:
        whole = asked.view.range_of(head)
        if whole is not None:
            mark = LEAF if head.id == session.leaf_id else ON_PATH if head in session.trail.path else ""
            children = len(session.tree.children(head.id))
            found.append(
                CallHierarchyItem(
                    name=mark + name_of(head, known[head].text, session.tree.labels),
                    kind=symbol_of(head),
                    detail=kind_of(head) + (f", {children} branches" if children > 1 else ""),
                    uri=asked.uri,
                    range=whole,
                    selection_range=whole,
                    data={"entryId": head.id},
                )
            )
    return found
