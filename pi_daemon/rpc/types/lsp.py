"""LSP's own types, with the members that documents use. Their meanings are LSP's."""

from __future__ import annotations

from typing import Any, TypeAlias

from msgspec import UNSET, Raw, UnsetType, field

from pi_daemon.rpc.types.base import Wire
from pi_daemon.rpc.types.lifecycle import ServerCapabilities


class _Sparse(Wire, kw_only=True, omit_defaults=True):
    """Members that are None are left out."""


class Position(Wire, gc=False):
    line: int
    character: int


class Range(Wire, gc=False):
    start: Position
    end: Position


class Location(Wire):
    uri: str
    range: Range


class LocationLink(Wire, kw_only=True):
    origin_selection_range: Range
    target_uri: str
    target_range: Range
    target_selection_range: Range


# What a client asks


class TextDocumentIdentifier(Wire):
    uri: str


class DocumentParams(Wire, kw_only=True):
    text_document: TextDocumentIdentifier


class PositionParams(DocumentParams, kw_only=True):
    position: Position


class ReferenceContext(Wire, kw_only=True):
    include_declaration: bool = False


class ReferenceParams(PositionParams, kw_only=True):
    context: ReferenceContext = field(default_factory=ReferenceContext)


class CodeActionContext(Wire, kw_only=True):
    only: list[str] | UnsetType | None = UNSET


class CodeActionParams(DocumentParams, kw_only=True):
    range: Range
    context: CodeActionContext = field(default_factory=CodeActionContext)


class DiagnosticParams(DocumentParams, kw_only=True):
    previous_result_id: str | UnsetType | None = UNSET


class WorkspaceSymbolParams(Wire, kw_only=True):
    query: str


class ExecuteCommandParams(Wire, kw_only=True):
    command: str
    arguments: list[Raw] | UnsetType | None = UNSET
    work_done_token: str | int | UnsetType = UNSET


class CommandTarget(Wire, kw_only=True):
    """The first argument of each command; the rest are those of the method that it stands for."""

    uri: str | UnsetType = UNSET
    session_id: str | UnsetType = UNSET
    entry_id: str | UnsetType | None = UNSET


# What it is answered


class DocumentSymbol(_Sparse, kw_only=True):
    name: str
    detail: str | None = None
    kind: int
    range: Range
    selection_range: Range
    children: list[DocumentSymbol] | None = None


class SymbolInformation(_Sparse, kw_only=True):
    name: str
    kind: int
    location: Location
    container_name: str | None = None


class MarkupContent(Wire, kw_only=True):
    kind: str
    value: str


class Hover(_Sparse, kw_only=True):
    contents: MarkupContent
    range: Range | None = None


class CallHierarchyItem(_Sparse, kw_only=True):
    name: str
    kind: int
    detail: str | None = None
    uri: str
    range: Range
    selection_range: Range
    data: Any = None


class CallHierarchyParams(Wire, kw_only=True):
    item: CallHierarchyItem


class IncomingCall(Wire, kw_only=True, rename={"from_": "from", "from_ranges": "fromRanges"}):
    from_: CallHierarchyItem
    from_ranges: list[Range]


class OutgoingCall(Wire, kw_only=True):
    to: CallHierarchyItem
    from_ranges: list[Range]


class DocumentLink(_Sparse, kw_only=True):
    range: Range
    target: str
    tooltip: str | None = None


class Command(_Sparse, kw_only=True):
    title: str
    command: str
    arguments: list[Any] | None = None


class CodeLens(Wire, kw_only=True):
    range: Range
    command: Command


class CodeAction(Wire, kw_only=True):
    title: str
    kind: str
    command: Command


class FoldingRange(_Sparse, kw_only=True):
    start_line: int
    end_line: int
    kind: str | None = None


class RelatedInformation(Wire, kw_only=True):
    location: Location
    message: str


class Diagnostic(_Sparse, kw_only=True):
    range: Range
    severity: int
    code: str
    source: str
    message: str
    related_information: list[RelatedInformation] | None = None


class PublishDiagnostics(Wire, kw_only=True):
    uri: str
    diagnostics: list[Diagnostic]


class DiagnosticReport(_Sparse, kw_only=True):
    kind: str
    result_id: str
    items: list[Diagnostic] | None = None


# What the daemon can do

Options: TypeAlias = dict[str, Any]


class DocumentCapabilities(ServerCapabilities, kw_only=True, omit_defaults=True):
    position_encoding: str | None = None
    text_document_sync: Options | None = None
    document_symbol_provider: bool = False
    hover_provider: bool = False
    definition_provider: bool = False
    references_provider: bool = False
    call_hierarchy_provider: bool = False
    document_link_provider: Options | None = None
    code_lens_provider: Options | None = None
    code_action_provider: Options | bool = False
    folding_range_provider: bool = False
    workspace_symbol_provider: bool = False
    execute_command_provider: Options | None = None
    diagnostic_provider: Options | None = None
