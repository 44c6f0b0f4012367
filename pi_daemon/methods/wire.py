"""What the engine holds, as the protocol shows it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, assert_never

import msgspec
from msgspec import UNSET, UnsetType, structs

from pi_daemon.compaction.settings import MAX_TOKENS
from pi_daemon.engine import events as happened
from pi_daemon.engine import reading
from pi_daemon.engine.live import LiveSession
from pi_daemon.rpc import codec
from pi_daemon.rpc.types import notifications as n
from pi_daemon.rpc.types.base import DamageInfo, Model, Options, Origin, TreeNode, Wire, wire_name
from pi_daemon.rpc.types.sessions import SessionState
from pi_daemon.session.errors import InvalidParams
from pi_daemon.session.head import Damage
from pi_daemon.storage.layout import check_id


async def state(session: LiveSession, client_id: str) -> SessionState:
    """As `client_id` sees it. Raises StorageFailed where an estimate has to read bodies and can't."""
    tokens = await reading.size(session)
    settings = session.trail.selection()
    return SessionState(
        session_id=session.session_id,
        path=session.path,
        cwd=session.header.cwd,
        name=session.tree.name,
        parent_session=session.header.parent_session,
        leaf_id=session.leaf_id,
        revision=session.revision,
        instance_id=session.instance_id,
        entry_count=len(session.tree),
        model=model(settings.model),
        thinking_level=settings.thinking_level,
        context_tokens=tokens,
        persisted=session.log.persisted,
        read_only=session.why_read_only(client_id) or False,
        options=options(session),
        damage=damage(session.damage),
    )


def options(session: LiveSession) -> Options:
    """What the session is set to, the numbers as they count."""
    values = structs.asdict(session.options)
    counts = session.compaction_settings
    values |= {"reserve_tokens": counts.reserve_tokens, "keep_recent_tokens": counts.keep_recent_tokens}
    return Options(**values)


def check_tokens(params: Wire, *names: str) -> None:
    """Raises InvalidParams where one of the members isn't a number of tokens that makes sense."""
    for name in names:
        value = getattr(params, name)
        if isinstance(value, int) and (not 0 <= value <= MAX_TOKENS or (name == "context_window" and value == 0)):
            words = f"Give a positive number of tokens, at most {MAX_TOKENS}, or null for the default."
            raise InvalidParams(words, path=wire_name(name))


def check_new_id(session_id: str | UnsetType) -> None:
    """Raises InvalidParams for an `id` that no new session can have."""
    try:
        if session_id is not UNSET:
            check_id(session_id)
    except InvalidParams as error:
        raise InvalidParams(error.message, path="id") from error


def damage(found: Sequence[Damage]) -> list[DamageInfo]:
    return [DamageInfo(**msgspec.structs.asdict(one)) for one in found]


def model(selected: tuple[str, str] | None) -> Model | None:
    return Model(provider=selected[0], model_id=selected[1]) if selected is not None else None


def messages(change: happened.Change) -> list[bytes]:
    """The notifications of a change, encoded once for all who hear of it."""
    if change.messages is None:
        change.messages = [codec.notification(*_notification(event, change)) for event in change.events]
    return change.messages


def _notification(event: happened.Event, change: happened.Change) -> tuple[str, n.SessionNotification]:
    origin = change.origin
    common: dict[str, Any] = {
        "session_id": change.session_id,
        "instance_id": change.instance_id,
        "revision": change.revision,
        "origin": Origin(client_id=origin.client_id, name=origin.name) if origin is not None else None,
    }
    match event:
        case happened.Appended(nodes, cause):
            return "session/appended", n.Appended(**common, entries=[_node(x) for x in nodes], cause=cause)
        case happened.LeafChanged(leaf_id, previous, cause):
            leaf = n.LeafChanged(**common, leaf_id=leaf_id, previous_leaf_id=previous, cause=cause)
            return "session/leafChanged", leaf
        case happened.CompactionStatus(compaction_id, status, reason, automatic):
            going = n.Compaction(
                **common,
                compaction_id=compaction_id,
                status=status,
                reason=reason if reason is not None else UNSET,
                automatic=automatic,
            )
            return "session/compaction", going
        case happened.Compacted(entry_id, first_kept, before, after, cause, retention):
            compacted = n.Compacted(
                **common,
                entry_id=entry_id,
                first_kept_entry_id=first_kept,
                tokens_before=before,
                tokens_after=after,
                retention=msgspec.Raw(retention) if retention is not None else UNSET,
                cause=cause,
            )
            return "session/compacted", compacted
        case happened.LabelChanged(target_id, label, entry_id):
            labelled = n.LabelChanged(**common, target_id=target_id, label=label, entry_id=entry_id)
            return "session/labelChanged", labelled
        case happened.Renamed(name, entry_id):
            return "session/renamed", n.Renamed(**common, name=name, entry_id=entry_id)
        case happened.Replaced(reason):
            return "session/replaced", n.Replaced(**common, reason=reason)
        case happened.Damaged(found, lost):
            damaged = n.Damaged(**common, damage=damage(found), lost=list(lost) if lost else UNSET)
            return "session/damaged", damaged
        case happened.Failed(reason, errno):
            return "session/failed", n.Failed(**common, reason=reason, errno=errno)
        case happened.Deleted(trashed_to):
            where = trashed_to if trashed_to is not None else UNSET
            return "session/deleted", n.Deleted(**common, trashed_to=where)
    assert_never(event)


def _node(facts: happened.NodeFacts) -> TreeNode:
    """An entry that has just been appended: nothing hangs under it yet."""
    head = facts.head
    return TreeNode(
        id=head.id,
        parent_id=facts.parent_id,
        type=head.type,
        role=head.role or UNSET,
        preview=facts.preview,
        timestamp=head.timestamp,
        child_count=0,
        on_path=True,
    )
