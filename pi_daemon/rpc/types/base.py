"""The base of all wire types, and the values that several of them share."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from msgspec import UNSET, Raw, Struct, UnsetType

__all__ = ["UNSET", "Json", "Options", "Raw", "Unset", "UnsetType", "Wire"]

Unset: TypeAlias = UnsetType
Json: TypeAlias = Any
"""A JSON value that the daemon passes on as it is."""


def wire_name(name: str) -> str:
    """`session_id` as the wire has it, `sessionId`."""
    head, *rest = name.split("_")
    return head + "".join(part.capitalize() for part in rest)


class Wire(Struct, rename="camel"):
    """A JSON object of the protocol. Members it doesn't name are ignored, as LSP has it."""


Durability: TypeAlias = Literal["memory", "written", "synced"]
Persist: TypeAlias = Literal["firstAssistant", "firstMessage", "immediate", "never"]
Cause: TypeAlias = Literal["append", "move", "compact", "external", "reload"]
Filter: TypeAlias = Literal["default", "noTools", "userOnly", "labeledOnly", "all"]


class Options(Wire, kw_only=True):
    """What a session can be set to. A member that is absent is left as it is; null means the default."""

    context_window: int | UnsetType | None = UNSET
    durability: Literal["written", "synced"] | UnsetType | None = UNSET
    auto_compact: bool | UnsetType | None = UNSET
    summarizer: str | UnsetType | None = UNSET
    reserve_tokens: int | UnsetType | None = UNSET
    keep_recent_tokens: int | UnsetType | None = UNSET


class Model(Wire, kw_only=True):
    """The model that the path has selected."""

    provider: str
    model_id: str


class DamageInfo(Wire, kw_only=True):
    """One thing that is wrong with a session file. `line` counts from 1; `offset` and `length` are bytes."""

    kind: str
    message: str
    line: int | None = None
    offset: int | None = None
    length: int | None = None
    entry_ids: list[str] = []


class Origin(Wire, kw_only=True):
    """The client that caused a change."""

    client_id: str
    name: str


class TreeNode(Wire, kw_only=True, omit_defaults=True):
    """One entry as a tree shows it. `preview` is at most 120 characters of text: never images, thinking or
    whole arguments. `role` only for messages, `label` only where there is one. `child_count` counts what the
    filter shows. `run`: with `fold`, how many entries this straight stretch stands for."""

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
