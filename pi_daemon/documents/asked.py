"""A question about a document, and who asks it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from pi_daemon.documents.positions import Encoding, negotiate
from pi_daemon.documents.view import View
from pi_daemon.engine.live import LiveSession

Json = Mapping[str, Any]


class Editor(Struct, frozen=True):
    """What an LSP client can do, by the capabilities that it sent."""

    encoding: Encoding = "utf-16"
    hierarchical: bool = False
    markdown: bool = False
    links: bool = False
    actions: bool = False
    pulls: bool = False
    refreshes_lenses: bool = False
    refreshes_diagnostics: bool = False
    shows_documents: bool = False
    folds: int | None = None

    @classmethod
    def of(cls, capabilities: object) -> Editor:
        """What makes no sense reads as absent."""
        document, workspace = ("textDocument",), ("workspace",)
        formats = _at(capabilities, *document, "hover", "contentFormat")
        folds = _at(capabilities, *document, "foldingRange", "rangeLimit")
        return cls(
            encoding=negotiate(_at(capabilities, "general", "positionEncodings")),
            hierarchical=_at(capabilities, *document, "documentSymbol", "hierarchicalDocumentSymbolSupport") is True,
            markdown=isinstance(formats, list) and "markdown" in formats,
            links=_at(capabilities, *document, "definition", "linkSupport") is True,
            actions=_at(capabilities, *document, "codeAction", "codeActionLiteralSupport") is not None,
            pulls=_at(capabilities, *document, "diagnostic") is not None,
            refreshes_lenses=_at(capabilities, *workspace, "codeLens", "refreshSupport") is True,
            refreshes_diagnostics=_at(capabilities, *workspace, "diagnostics", "refreshSupport") is True,
            shows_documents=_at(capabilities, "window", "showDocument", "support") is True,
            folds=folds if isinstance(folds, int) and folds > 0 else None,
        )

    @property
    def asks_for_diagnostics(self) -> bool:
        """Whether it asks for diagnostics itself, and can be told when to: then none are pushed, for it would show
        them twice."""
        return self.pulls and self.refreshes_diagnostics


def _at(value: object, *names: str) -> object:
    for name in names:
        if not isinstance(value, dict):
            return None
        value = value.get(name)
    return value


class Asked(Struct):
    """A document that is a session, for the time of one question. The view is caught up."""

    uri: str
    session: LiveSession
    view: View
    editor: Editor
