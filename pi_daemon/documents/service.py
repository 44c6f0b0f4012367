"""What documents add to the daemon: handlers for LSP's methods, what is told without being asked, capabilities.

A document that is no session of ours is answered with nothing: what there is to say of it is one diagnostic. It need
not be open to be asked about.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

from msgspec import Raw, UnsetType

from pi_daemon.documents import diagnostics, folding, hierarchy, hover, lenses, links, outline, sessions
from pi_daemon.documents.asked import Asked, Editor
from pi_daemon.documents.commands import COMMANDS, parameters, target_of
from pi_daemon.documents.opened import Client, OpenDocument
from pi_daemon.documents.standing import standing
from pi_daemon.documents.uris import path_of, uri_of
from pi_daemon.documents.view import View
from pi_daemon.engine.hub import Hub
from pi_daemon.engine.live import LiveSession
from pi_daemon.engine.offload import offload
from pi_daemon.rpc import codec
from pi_daemon.rpc.call import Call
from pi_daemon.rpc.connection import Connection, PeerError
from pi_daemon.rpc.lsp import CLOSE, NOTIFICATIONS, OPEN
from pi_daemon.rpc.service import Handler
from pi_daemon.rpc.types import lsp
from pi_daemon.rpc.types.base import Wire
from pi_daemon.rpc.types.lifecycle import Experimental, InitializeParams
from pi_daemon.session.errors import EntryNotFound, PiDaemonError, SessionCorrupted, SessionNotFound
from pi_daemon.storage.protocols import SessionRef

logger = logging.getLogger(__name__)

Answer = Callable[[Asked, Any], Awaitable[Any]]
Perform = Callable[[Call, str, Any], Awaitable[Any]]


class Documents:
    """One for each daemon. `perform` serves a method of the protocol as if the client had asked for it."""

    def __init__(self, hub: Hub, perform: Perform) -> None:
        self.hub = hub
        self._perform = perform
        self._clients: dict[str, Client] = {}
        self._views: WeakKeyDictionary[LiveSession, View] = WeakKeyDictionary()
        hub.noticed = self._files_changed
        self.handlers: Mapping[str, Handler] = {
            "textDocument/documentSymbol": self._about(_outline, []),
            "textDocument/hover": self._about(hover.hover, None, followed=True),
            "textDocument/definition": self._about(links.definition, None),
            "textDocument/references": self._about(links.references, []),
            "textDocument/prepareCallHierarchy": self._about(hierarchy.prepare, None),
            "callHierarchy/incomingCalls": self._about(hierarchy.incoming, []),
            "callHierarchy/outgoingCalls": self._about(hierarchy.outgoing, []),
            "textDocument/documentLink": self._about(_links, []),
            "textDocument/codeLens": self._about(_lenses, []),
            "textDocument/codeAction": self._about(lenses.actions, []),
            "textDocument/foldingRange": self._about(_folds, []),
            "textDocument/diagnostic": self._diagnostic,
            "workspace/symbol": self._symbols,
            "workspace/executeCommand": self._execute,
        }

    # -- what the service asks

    def capabilities(
        self, connection: Connection, params: InitializeParams, experimental: Experimental
    ) -> lsp.DocumentCapabilities:
        given = None if isinstance(params.capabilities, UnsetType) else params.capabilities
        editor = Editor.of(given)
        self._clients[connection.client.client_id] = Client(connection, editor)
        pull = {"interFileDependencies": False, "workspaceDiagnostics": False}
        return lsp.DocumentCapabilities(
            experimental=experimental,
            position_encoding=editor.encoding,
            text_document_sync={"openClose": True, "change": 0},
            document_symbol_provider=True,
            hover_provider=True,
            definition_provider=True,
            references_provider=True,
            call_hierarchy_provider=True,
            document_link_provider={"resolveProvider": False},
            code_lens_provider={"resolveProvider": False},
            code_action_provider={"codeActionKinds": [lenses.KIND]} if editor.actions else True,
            folding_range_provider=True,
            workspace_symbol_provider=True,
            execute_command_provider={"commands": list(COMMANDS)},
            diagnostic_provider=pull if editor.asks_for_diagnostics else None,
        )

    def notified(self, connection: Connection, method: str, params: Raw | UnsetType) -> None:
        """Whatever is wrong with a notification, there is nobody to tell."""
        client = self._clients.get(connection.client.client_id)
        kind = NOTIFICATIONS.get(method)
        if client is None or kind is None:
            return
        try:
            uri = codec.reader(kind).read(params).text_document.uri
        except PiDaemonError:
            return
        before = client.documents.pop(uri, None)
        if before is not None:
            client.spawn(before.close())
        if method == OPEN:
            document = client.documents[uri] = OpenDocument(self, client, uri)
            client.spawn(document.open())
        assert method in (OPEN, CLOSE)

    async def left(self, connection: Connection) -> None:
        """The client is gone."""
        client = self._clients.pop(connection.client.client_id, None)
        for document in list(client.documents.values()) if client is not None else []:
            await document.close()

    def _files_changed(self, paths: Iterable[str]) -> None:
        changed = set(paths)
        for client in self._clients.values():
            for document in client.documents.values():
                if document.waits and document.place in changed:
                    document.changed()

    # -- documents and their sessions

    async def find(self, uri: str) -> SessionRef:
        path = path_of(uri)
        if path is None:
            raise SessionNotFound("Only files are sessions: open one by a file URI.")
        return await self.hub.find(path=path)

    async def asked(self, uri: str, session: LiveSession, editor: Editor) -> Asked:
        view = self._views.get(session)
        if view is None:
            view = self._views[session] = View(session)
        await view.catch_up()
        return Asked(uri, session, view, editor)

    async def refused(self, uri: str, error: PiDaemonError) -> list[lsp.Diagnostic]:
        found = [diagnostics.of_refusal(error)]
        path = path_of(uri)
        if isinstance(error, SessionCorrupted) and path is not None:
            try:
                report = await self.hub.files.check(path)
            except PiDaemonError:
                return found
            found += [diagnostics.of_damage(one, (one.line or 1) - 1) for one in report.damage[: diagnostics.MOST]]
        return found

    def _about(self, answer: Answer, otherwise: Any, *, followed: bool = False) -> Handler:
        """A handler about one document; `otherwise` is the answer about what is no session. `followed`: for an open
        document what the daemon has heard of by itself will do, for a person waits who moves a mouse."""

        async def handler(call: Call, params: Any) -> Any:
            uri = params.item.uri if isinstance(params, lsp.CallHierarchyParams) else params.text_document.uri
            client = self._clients[call.connection.client.client_id]
            try:
                look = not followed or uri not in client.documents
                async with self.hub.use_file(await self._ref(client, uri), look=look) as session:
                    return await answer(await self.asked(uri, session, client.editor), params)
            except PiDaemonError as error:
                logger.debug("%s: %s", call.method, error.message)
                return otherwise

        return handler

    async def _ref(self, client: Client, uri: str) -> SessionRef:
        """That of a document that is open is known."""
        document = client.documents.get(uri)
        known = document.ref if document is not None else None
        return known or await self.find(uri)

    # -- what is about more than one document

    async def _diagnostic(self, call: Call, params: lsp.DiagnosticParams) -> lsp.DiagnosticReport:
        uri = params.text_document.uri
        client = self._clients[call.connection.client.client_id]
        try:
            async with self.hub.use_file(await self._ref(client, uri)) as session:
                found = await diagnostics.items(await self.asked(uri, session, client.editor))
        except PiDaemonError as error:
            found = await self.refused(uri, error)
        name = diagnostics.result_id(found)
        if name == params.previous_result_id:
            return lsp.DiagnosticReport(kind="unchanged", result_id=name)
        return lsp.DiagnosticReport(kind="full", result_id=name, items=found)

    async def _symbols(self, call: Call, params: lsp.WorkspaceSymbolParams) -> list[lsp.SymbolInformation]:
        return await sessions.symbols(self.hub, params.query)

    async def _execute(self, call: Call, params: lsp.ExecuteCommandParams) -> Any:
        """Raises InvalidParams, and what the method raises that does it."""
        target, raw = target_of(params)
        client = self._clients[call.connection.client.client_id]
        if isinstance(target.session_id, UnsetType):
            ref = await self.find("" if isinstance(target.uri, UnsetType) else target.uri)
        else:
            ref = await self.hub.find(session_id=target.session_id)
        method = COMMANDS[params.command]
        if not method:
            return await self._explain(client, ref, target)
        done = await self._perform(call, method, parameters(method, raw, ref.session_id))
        if method == "session/fork":
            await self._show(client, done.session_id, done.path)
        return done

    async def _explain(self, client: Client, ref: SessionRef, target: lsp.CommandTarget) -> dict[str, str]:
        async with self.hub.use_file(ref) as session:
            entry_id = target.entry_id if isinstance(target.entry_id, str) else session.leaf_id
            head = session.tree.get(entry_id) if entry_id is not None else None
            if head is None:
                raise EntryNotFound("The session has no such entry.", entryId=entry_id)
            words = standing(session, head)
            asked = await self.asked(uri_of(ref.location), session, client.editor)
            text = await hover.entry_text(asked, head)
        client.connection.notify("window/showMessage", _Message(type=_INFO, message=words))
        return {"entryId": head.id, "standing": words, "text": text}

    async def _show(self, client: Client, session_id: str, path: str | None) -> None:
        """A fork opens in the editor as a document, and is followed as one."""
        session = self.hub.loaded(session_id)
        if session is not None:
            await self.hub.unsubscribe(session, client.connection.client.client_id)
        if path is not None and client.editor.shows_documents:
            client.spawn(_ask_to_show(client.connection, uri_of(path)))


class _Message(Wire):
    type: int
    message: str


class _Shown(Wire, kw_only=True):
    uri: str
    take_focus: bool = True


_INFO = 3


async def _ask_to_show(connection: Connection, uri: str) -> None:
    try:
        await connection.request("window/showDocument", _Shown(uri=uri))
    except PeerError:
        return


async def _outline(asked: Asked, params: lsp.DocumentParams) -> Raw:
    return Raw(await outline.document_symbols(asked.view, asked.uri, asked.editor.hierarchical))


async def _links(asked: Asked, params: lsp.DocumentParams) -> list[lsp.DocumentLink]:
    return await links.document_links(asked)


async def _lenses(asked: Asked, params: lsp.DocumentParams) -> list[lsp.CodeLens]:
    return await lenses.lenses(asked)


async def _folds(asked: Asked, params: lsp.DocumentParams) -> list[lsp.FoldingRange]:
    heads, lines = asked.view.index.heads[:], asked.view.index.lines[:]
    return await offload(_FOLDED_BYTES * len(heads), partial(folding.folds, heads, lines, asked.editor.folds))


_FOLDED_BYTES = 100
"""What an entry counts for when it is decided whether to fold in a thread."""
