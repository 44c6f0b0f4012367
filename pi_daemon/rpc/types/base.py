"""The base of all wire types, and the values that several of them share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias, cast

from msgspec import UNSET, Raw, Struct, UnsetType

__all__ = ["UNSET", "Json", "Options", "Raw", "Unset", "UnsetType", "Wire"]

Unset: TypeAlias = UnsetType
Json: TypeAlias = Any
"""A JSON value that the daemon passes on as it is."""


def wire_name(name: str) -> str:
    """`session_id` as the wire has it, `sessionId`."""
    head, *rest = name.split("_")
    return head + "".join(part.capitalize() for part in rest)


def raw_array(items: Sequence[bytes]) -> list[Raw]:
    """A member that is an array of raw values, already put together: an encoder writes it as it is, in one piece."""
    return cast("list[Raw]", Raw(b"".join((b"[", b",".join(items), b"]"))))


class Wire(Struct, rename="camel"):
    """A JSON object of the protocol. Members it doesn't name are ignored, as LSP has it."""


Durability: TypeAlias = Literal["memory", "written", "synced"]
Persist: TypeAlias = Literal["firstAssistant", "firstMessage", "immediate", "never"]
Cause: TypeAlias = Literal["append", "move", "compact", "external", "reload"]
Policy: TypeAlias = Literal["report", "amend", "refuse"]
Filter: TypeAlias = Literal["default", "noTools", "userOnly", "labeledOnly", "all"]


class Options(Wire, kw_only=True):
    """What a session can be set to. A member that is absent is left as it is; null means the default.

    `context_window`: the model's context window in tokens; the daemon can't know it and asks nobody.
    `durability`: what an answered append promises: `written` survives kill −9, `synced` a loss of power. Default:
        `synced`.
    `auto_compact`: compact when an append passes the trigger, without being asked. Not again before the context has
        grown, where a compaction failed or could not make it small enough.
    `summarizer`: `client`, `model` or `extractive`; null: the first of these that is there.
    `reserve_tokens`: tokens of the window that are kept free for the answer; null: as pi's settings.json has it.
    `keep_recent_tokens`: about how many tokens of the newest messages a compaction keeps; null: as pi's settings.json
        has it.
    """

    context_window: int | UnsetType | None = UNSET
    durability: Literal["written", "synced"] | UnsetType | None = UNSET
    auto_compact: bool | UnsetType | None = UNSET
    summarizer: str | UnsetType | None = UNSET
    reserve_tokens: int | UnsetType | None = UNSET
    keep_recent_tokens: int | UnsetType | None = UNSET


class RetentionFact(Wire, kw_only=True, omit_defaults=True):
    """A fact that a summary lacked.

    `kind`: which kind of fact.
    `text`: the fact.
    `entry_id`: the entry that it comes from.
    """

    kind: str
    text: str
    entry_id: str | UnsetType = UNSET


class RetentionTally(Wire, kw_only=True):
    """How a summary did with one kind of fact.

    `kept`: how many of them it held.
    `asked`: how many it was asked for.
    """

    kept: int
    asked: int


class Retention(Wire, kw_only=True):
    """What a summary kept of the facts that it was asked for.

    `policy`: what was to be done about facts that it lacked.
    `score`: 0 to 1: the share that it held, each kind of fact with its weight.
    `score_after`: the same once what it lacked was added to it, as far as there was room.
    `kinds`: by kind of fact: `request` (the last one), `constraint`, `unfinished`, `superseded` (a rule or a step
        that doesn't hold any more and is still stated; asked about only where one is), `openCall`, `error` (that
        still stands), `modified`, `commit`, `reference`, `overcome` (an error that is none any more), `read`.
    `missing`: facts that it lacked, the most valuable first, at most 20.
    `missing_left_out`: how many more there were.
    """

    policy: Policy
    score: float
    score_after: float
    kinds: dict[str, RetentionTally]
    missing: list[RetentionFact]
    missing_left_out: int


class Model(Wire, kw_only=True):
    """A model, as a path has selected it.

    `provider`: the provider's name in the session file.
    `model_id`: the model's name there.
    """

    provider: str
    model_id: str


class DamageInfo(Wire, kw_only=True):
    """One thing that is wrong with a session file.

    `kind`: a broken line: `notJson`, `glued` (several entries on it), `notObject`, `noId`, `tooDeep`, `notUtf8`; a last
        line without an end: `tornTail`; the tree: `orphan`, `duplicateId`, `loop`; the file: `lateHeader`,
        `extraHeader`, `byteOrderMark`, `unversioned`, `newerVersion`, `noHeader`, `empty`; what another process did:
        `lost`, acknowledged entries are gone from the file.
    `message`: the same in words.
    `line`: the line, counted from 1.
    `offset`: where the line begins, in bytes.
    `length`: the line's length in bytes.
    `entry_ids`: the entries concerned: themselves, or those that lost an ancestor.
    """

    kind: str
    message: str
    line: int | None = None
    offset: int | None = None
    length: int | None = None
    entry_ids: list[str] = []


class Origin(Wire, kw_only=True):
    """The client that caused a change.

    `client_id`: the id that the daemon gave the client in `initialize`.
    `name`: what the client calls itself.
    """

    client_id: str
    name: str


class TreeNode(Wire, kw_only=True, omit_defaults=True):
    """One entry as a tree shows it.

    `id`: the entry's id.
    `parent_id`: the entry that it hangs under. In a filtered tree that is the nearest one shown.
    `type`: the entry's kind.
    `role`: the message's role, for messages.
    `preview`: at most 120 characters of text: never images, thinking or whole arguments.
    `label`: the label that the entry bears now.
    `timestamp`: the entry's own, as stored.
    `child_count`: how many of its children are shown.
    `on_path`: whether it lies on the path to the leaf.
    `run`: with `fold`, how many entries a straight stretch stands for.
    """

    id: str
    parent_id: str | None
    type: str
    role: str | UnsetType = UNSET
    preview: str
    label: str | UnsetType = UNSET
    timestamp: str
    child_count: int
    on_path: bool
    run: int | UnsetType = UNSET
