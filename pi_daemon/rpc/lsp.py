"""The methods of LSP that documents answer, with the types of their parameters.

Beside `table`, whose methods are this protocol's own: what these mean stands in LSP, so nothing is generated from them.
"""

from __future__ import annotations

from typing import Any

from pi_daemon.rpc.table import Method
from pi_daemon.rpc.types import lsp


def _method(params: type[Any], doc: str) -> Method:
    return Method(params, object, doc)


DOCUMENT_METHODS: dict[str, Method] = {
    "textDocument/documentSymbol": _method(lsp.DocumentParams, "The branches, their turns, and what is in those."),
    "textDocument/hover": _method(lsp.PositionParams, "What the line is, in words."),
    "textDocument/definition": _method(lsp.PositionParams, "The entry that an id names."),
    "textDocument/references": _method(lsp.ReferenceParams, "The children of an entry, and who else names it."),
    "textDocument/prepareCallHierarchy": _method(lsp.PositionParams, "The entry on the line."),
    "callHierarchy/incomingCalls": _method(lsp.CallHierarchyParams, "The entry before it."),
    "callHierarchy/outgoingCalls": _method(lsp.CallHierarchyParams, "The entries after it: more than one is a fork."),
    "textDocument/documentLink": _method(
        lsp.DocumentParams, "The parent session, and files that tools were called on."
    ),
    "textDocument/diagnostic": _method(lsp.DiagnosticParams, "What is wrong with the file."),
    "textDocument/codeLens": _method(lsp.DocumentParams, "What can be done at turns and ends of branches."),
    "textDocument/codeAction": _method(lsp.CodeActionParams, "What can be done at an entry."),
    "textDocument/foldingRange": _method(lsp.DocumentParams, "Turns."),
    "workspace/symbol": _method(lsp.WorkspaceSymbolParams, "Sessions by name and first message."),
    "workspace/executeCommand": _method(lsp.ExecuteCommandParams, "Has the daemon do what a lens or an action says."),
}

OPEN = "textDocument/didOpen"
CLOSE = "textDocument/didClose"
NOTIFICATIONS: dict[str, type[Any]] = {OPEN: lsp.DocumentParams, CLOSE: lsp.DocumentParams}
"""What a client tells that counts. The text that it sends along doesn't: the file is the truth."""
