"""The protocol's requests as methods. Names are the protocol's in snake_case; results are its objects as they are
on the wire (`pi_daemon_client.types`).

Every method raises ServerError where the daemon refuses, ConnectionLost where the connection ends meanwhile.
An argument left at ABSENT is not sent; None is sent as null, which means something else.
"""

from __future__ import annotations

import enum
import uuid
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias, cast

from . import _types as t
from ._connection import ProgressCallback
from .errors import ServerError

_READINGS = 5
"""How often a tree of many pages is begun. Readers with different filters take the pages from each other."""


class Absent(enum.Enum):
    ABSENT = enum.auto()

    def __repr__(self) -> str:
        return self.name


ABSENT: Final = Absent.ABSENT
"""An argument that was not given."""

Draft: TypeAlias = Mapping[str, Any]
"""An entry to append: `type` and what belongs to it, without `parentId` and `timestamp`; `id` if the client wants
to choose it."""

Filter: TypeAlias = Literal["default", "noTools", "userOnly", "labeledOnly", "all"]
Position: TypeAlias = Literal["at", "before"]


def _given(**params: Any) -> dict[str, Any]:
    return {name: value for name, value in params.items() if value is not ABSENT}


class Methods:
    """The requests; `AsyncClient` sends them."""

    async def request(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        progress: ProgressCallback | None = None,
        retry: bool = False,
    ) -> Any:
        """Any method by its name. `retry`: send it again, on a new connection, where the old one took the answer
        with it; only for what may happen twice."""
        raise NotImplementedError

    # Whole sessions.

    async def create_session(
        self,
        cwd: str,
        *,
        id: str | Absent = ABSENT,
        name: str | Absent = ABSENT,
        parent_session: str | Absent = ABSENT,
        persist: Literal["firstAssistant", "firstMessage", "immediate", "never"] | Absent = ABSENT,
        options: t.Options | Absent = ABSENT,
    ) -> t.SessionState:
        """Makes a session and opens it. With the default `persist` nothing is on disk before the first assistant
        message: until then a lost daemon loses the session."""
        params = _given(cwd=cwd, id=id, name=name, parentSession=parent_session, persist=persist, options=options)
        return cast(t.SessionState, await self.request("session/create", params))

    async def open_session(
        self,
        session_id: str | Absent = ABSENT,
        *,
        path: str | Absent = ABSENT,
        recover: Literal["refuse", "skip"] | Absent = ABSENT,
        read_only: bool | Absent = ABSENT,
        options: t.Options | Absent = ABSENT,
    ) -> t.SessionState:
        """Opens a session by its id or its path, and keeps it open until `close_session`, also over a reconnect."""
        params = _given(sessionId=session_id, path=path, recover=recover, readOnly=read_only, options=options)
        return cast(t.SessionState, await self.request("session/open", params))

    async def close_session(self, session_id: str) -> None:
        """Watches of the session go on, after a ResyncEvent where nobody else had it open."""
        await self.request("session/close", {"sessionId": session_id})

    async def configure(
        self,
        session_id: str,
        *,
        context_window: int | Absent | None = ABSENT,
        durability: Literal["written", "synced"] | Absent | None = ABSENT,
        auto_compact: bool | Absent | None = ABSENT,
        summarizer: str | Absent | None = ABSENT,
        reserve_tokens: int | Absent | None = ABSENT,
        keep_recent_tokens: int | Absent | None = ABSENT,
    ) -> t.SessionState:
        """None sets an option back to its default."""
        params = _given(
            sessionId=session_id,
            contextWindow=context_window,
            durability=durability,
            autoCompact=auto_compact,
            summarizer=summarizer,
            reserveTokens=reserve_tokens,
            keepRecentTokens=keep_recent_tokens,
        )
        return cast(t.SessionState, await self.request("session/configure", params))

    async def list_sessions(
        self,
        *,
        cwd: str | Absent = ABSENT,
        cursor: str | Absent = ABSENT,
        limit: int | Absent = ABSENT,
        progress: ProgressCallback | None = None,
    ) -> t.ListResult:
        """One page, newest activity first."""
        params = _given(cwd=cwd, cursor=cursor, limit=limit)
        return cast(t.ListResult, await self.request("session/list", params, progress=progress))

    async def iter_sessions(
        self, *, cwd: str | Absent = ABSENT, progress: ProgressCallback | None = None
    ) -> AsyncIterator[t.SessionInfo]:
        """All pages."""
        cursor: str | Absent = ABSENT
        while True:
            page = await self.list_sessions(cwd=cwd, cursor=cursor, limit=1000, progress=progress)
            for session in page["sessions"]:
                yield session
            if "nextCursor" not in page:
                return
            cursor = page["nextCursor"]

    async def delete_session(self, session_id: str) -> t.DeleteResult:
        return cast(t.DeleteResult, await self.request("session/delete", {"sessionId": session_id}))

    async def fork(
        self,
        session_id: str,
        *,
        entry_id: str | Absent = ABSENT,
        position: Position | Absent = ABSENT,
        scope: Literal["path", "tree"] | Absent = ABSENT,
        cwd: str | Absent = ABSENT,
        id: str | Absent = ABSENT,
    ) -> t.SessionState:
        """A new session from the path to an entry (the leaf, if none is given), or from the whole tree."""
        params = _given(sessionId=session_id, entryId=entry_id, position=position, scope=scope, cwd=cwd, id=id)
        return cast(t.SessionState, await self.request("session/fork", params))

    async def rename(self, session_id: str, name: str) -> t.ChangeResult:
        """An empty name clears it."""
        params = {"sessionId": session_id, "name": name}
        return cast(t.ChangeResult, await self.request("session/rename", params))

    async def stats(self, session_id: str) -> t.StatsResult:
        return cast(t.StatsResult, await self.request("session/stats", {"sessionId": session_id}))

    async def export(
        self,
        session_id: str,
        format: Literal["jsonl", "tree", "markdown"],
        *,
        leaf_id: str | Absent | None = ABSENT,
        path: str | Absent = ABSENT,
        thinking: bool | Absent = ABSENT,
        full: bool | Absent = ABSENT,
        progress: ProgressCallback | None = None,
    ) -> t.ExportResult:
        """The text of a path or of the whole tree; with `path` the daemon writes it to that file, which must not be
        there yet."""
        params = _given(sessionId=session_id, format=format, leafId=leaf_id, path=path, thinking=thinking, full=full)
        return cast(t.ExportResult, await self.request("session/export", params, progress=progress))

    async def check(self, path: str) -> t.CheckResult:
        return cast(t.CheckResult, await self.request("session/check", {"path": path}))

    async def repair(self, path: str) -> t.RepairResult:
        return cast(t.RepairResult, await self.request("session/repair", {"path": path}))

    # Entries.

    async def append(
        self,
        session_id: str,
        entries: Sequence[Draft],
        *,
        parent_id: str | Absent | None = ABSENT,
        expected_leaf_id: str | Absent | None = ABSENT,
        retry: bool = False,
    ) -> t.AppendResult:
        """Appends a chain under the leaf, under `parent_id`, or as a root (None). With `expected_leaf_id` the
        daemon refuses with `leafMoved` where somebody else moved the leaf.

        `retry`: entries without an id get one here, and when the connection is lost the same entries are sent
        again on the next one. The daemon knows them by their ids, so they are appended once."""
        if retry:
            entries = [entry if "id" in entry else {**entry, "id": uuid.uuid4().hex} for entry in entries]
        params = _given(sessionId=session_id, entries=entries, parentId=parent_id, expectedLeafId=expected_leaf_id)
        return cast(t.AppendResult, await self.request("session/append", params, retry=retry))

    async def entries(
        self,
        session_id: str,
        *,
        ids: Sequence[str] | Absent = ABSENT,
        since: str | Absent = ABSENT,
        limit: int | Absent = ABSENT,
        progress: ProgressCallback | None = None,
    ) -> t.EntriesResult:
        """One page of stored entries in file order: those named, those after `since`, or all."""
        params = _given(sessionId=session_id, ids=ids, since=since, limit=limit)
        return cast(t.EntriesResult, await self.request("session/entries", params, progress=progress))

    async def iter_entries(
        self, session_id: str, *, since: str | Absent = ABSENT, progress: ProgressCallback | None = None
    ) -> AsyncIterator[dict[str, Any]]:
        """All pages of entries, from the first or after `since`."""
        while True:
            page = await self.entries(session_id, since=since, progress=progress)
            for entry in page["entries"]:
                yield entry
            if "nextSince" not in page:
                return
            since = page["nextSince"]

    async def tree(
        self,
        session_id: str,
        *,
        filter: Filter | Absent = ABSENT,
        fold: bool | Absent = ABSENT,
        cursor: str | Absent = ABSENT,
        progress: ProgressCallback | None = None,
    ) -> t.TreeResult:
        """One page of the tree's nodes."""
        params = _given(sessionId=session_id, filter=filter, fold=fold, cursor=cursor)
        return cast(t.TreeResult, await self.request("session/tree", params, progress=progress))

    async def whole_tree(
        self,
        session_id: str,
        *,
        filter: Filter | Absent = ABSENT,
        fold: bool | Absent = ABSENT,
        progress: ProgressCallback | None = None,
    ) -> t.TreeResult:
        """All pages of the tree, which are of one revision. Where the daemon has given up the pages meanwhile (it keeps
        those of the latest reader) they are read again, a few times."""
        for attempt in range(_READINGS):
            try:
                return await self._pages_of_tree(session_id, filter, fold, progress)
            except ServerError as error:
                if error.data.get("path") != "cursor" or attempt == _READINGS - 1:
                    raise
        raise AssertionError

    async def _pages_of_tree(
        self, session_id: str, filter: Filter | Absent, fold: bool | Absent, progress: ProgressCallback | None
    ) -> t.TreeResult:
        tree = page = await self.tree(session_id, filter=filter, fold=fold, progress=progress)
        while "nextCursor" in page:
            cursor = page["nextCursor"]
            page = await self.tree(session_id, filter=filter, fold=fold, cursor=cursor, progress=progress)
            tree["nodes"] += page["nodes"]
        return {"nodes": tree["nodes"], "leafId": tree["leafId"], "revision": tree["revision"]}

    async def path(self, session_id: str, *, leaf_id: str | Absent | None = ABSENT) -> t.PathResult:
        params = _given(sessionId=session_id, leafId=leaf_id)
        return cast(t.PathResult, await self.request("session/path", params))

    async def compare(self, session_id: str, a: str, b: str) -> t.CompareResult:
        params = {"sessionId": session_id, "a": a, "b": b}
        return cast(t.CompareResult, await self.request("session/compare", params))

    async def context(
        self,
        session_id: str,
        *,
        leaf_id: str | Absent | None = ABSENT,
        format: Literal["agent", "llm"] | Absent = ABSENT,
        pairing: Literal["report", "repair"] | Absent = ABSENT,
    ) -> t.ContextResult:
        params = _given(sessionId=session_id, leafId=leaf_id, format=format, pairing=pairing)
        return cast(t.ContextResult, await self.request("session/context", params))

    async def explain(
        self,
        session_id: str,
        *,
        entry_id: str | Absent = ABSENT,
        query: str | Absent = ABSENT,
        leaf_id: str | Absent | None = ABSENT,
        previews: bool | Absent = ABSENT,
        cursor: str | Absent = ABSENT,
        limit: int | Absent = ABSENT,
        progress: ProgressCallback | None = None,
    ) -> t.ExplainResult:
        """Why an entry, those that have a text, or all are in the context or not; one page."""
        params = _given(
            sessionId=session_id,
            entryId=entry_id,
            query=query,
            leafId=leaf_id,
            previews=previews,
            cursor=cursor,
            limit=limit,
        )
        return cast(t.ExplainResult, await self.request("session/explain", params, progress=progress))

    async def whole_explanation(
        self,
        session_id: str,
        *,
        query: str | Absent = ABSENT,
        leaf_id: str | Absent | None = ABSENT,
        previews: bool | Absent = ABSENT,
        progress: ProgressCallback | None = None,
    ) -> t.ExplainResult:
        """All pages of it, which are of one revision; read again like `whole_tree`."""
        for attempt in range(_READINGS):
            try:
                whole = page = await self.explain(
                    session_id, query=query, leaf_id=leaf_id, previews=previews, progress=progress
                )
                while "nextCursor" in page:
                    page = await self.explain(
                        session_id, query=query, previews=previews, cursor=page["nextCursor"], progress=progress
                    )
                    whole["entries"] += page["entries"]
                return {"entries": whole["entries"], "leafId": whole["leafId"], "revision": whole["revision"]}
            except ServerError as error:
                if error.data.get("path") != "cursor" or attempt == _READINGS - 1:
                    raise
        raise AssertionError

    async def move_leaf(
        self,
        session_id: str,
        entry_id: str | None,
        *,
        position: Position | Absent = ABSENT,
        summarize: bool | Absent = ABSENT,
        instructions: str | Absent = ABSENT,
        summary: str | Absent = ABSENT,
        label: str | Absent = ABSENT,
        summarizer: str | Absent = ABSENT,
        expected_leaf_id: str | Absent | None = ABSENT,
        progress: ProgressCallback | None = None,
    ) -> t.MoveLeafResult:
        """None moves the leaf before the first entry: the next append makes another root."""
        params = _given(
            sessionId=session_id,
            entryId=entry_id,
            position=position,
            summarize=summarize,
            instructions=instructions,
            summary=summary,
            label=label,
            summarizer=summarizer,
            expectedLeafId=expected_leaf_id,
        )
        return cast(t.MoveLeafResult, await self.request("session/moveLeaf", params, progress=progress))

    async def label(self, session_id: str, entry_id: str, label: str | None) -> t.ChangeResult:
        """None clears the label."""
        params = {"sessionId": session_id, "entryId": entry_id, "label": label}
        return cast(t.ChangeResult, await self.request("session/label", params))

    async def edit_context(self, session_id: str, target_id: str, replacement: t.Replacement | None) -> t.ChangeResult:
        """None omits what the target contributes."""
        params = {"sessionId": session_id, "targetId": target_id, "replacement": replacement}
        return cast(t.ChangeResult, await self.request("session/editContext", params))

    async def resume_report(
        self,
        session_id: str,
        *,
        leaf_id: str | Absent | None = ABSENT,
        tools: Sequence[str] | Absent = ABSENT,
        credentials: Sequence[str] | Absent = ABSENT,
    ) -> t.ResumeReportResult:
        """What may not be any more as the path has it: directory, git, files, running calls. `tools`, `credentials`:
        the names of what this client has; never values."""
        params = _given(sessionId=session_id, leafId=leaf_id, tools=tools, credentials=credentials)
        return cast(t.ResumeReportResult, await self.request("session/resumeReport", params))

    # Compactions.

    async def compaction_plan(
        self,
        session_id: str,
        *,
        reserve_tokens: int | Absent = ABSENT,
        keep_recent_tokens: int | Absent = ABSENT,
        context_window: int | Absent = ABSENT,
        requests: bool | Absent = ABSENT,
        instructions: str | Absent = ABSENT,
    ) -> t.CompactionPlanResult:
        """What `compact` would do; nothing is written."""
        params = _given(
            sessionId=session_id,
            reserveTokens=reserve_tokens,
            keepRecentTokens=keep_recent_tokens,
            contextWindow=context_window,
            requests=requests,
            instructions=instructions,
        )
        return cast(t.CompactionPlanResult, await self.request("session/compactionPlan", params))

    async def compact(
        self,
        session_id: str,
        *,
        reserve_tokens: int | Absent = ABSENT,
        keep_recent_tokens: int | Absent = ABSENT,
        context_window: int | Absent = ABSENT,
        instructions: str | Absent = ABSENT,
        summary: str | Absent = ABSENT,
        summarizer: str | Absent = ABSENT,
        retention: Literal["report", "amend", "refuse"] | Absent = ABSENT,
        open_calls: Literal["wait", "refuse", "ignore"] | Absent = ABSENT,
        progress: ProgressCallback | None = None,
    ) -> t.CompactResult:
        """Summarizes the older part of the context. May take as long as a model takes."""
        params = _given(
            sessionId=session_id,
            reserveTokens=reserve_tokens,
            keepRecentTokens=keep_recent_tokens,
            contextWindow=context_window,
            instructions=instructions,
            summary=summary,
            summarizer=summarizer,
            retention=retention,
            openCalls=open_calls,
        )
        return cast(t.CompactResult, await self.request("session/compact", params, progress=progress))

    # Notifications and the daemon. `watch` is the comfortable way to the first two.

    async def subscribe(self, session_id: str, *, since: t.SubscribeSince | Absent = ABSENT) -> t.SubscribeResult:
        params = _given(sessionId=session_id, since=since)
        return cast(t.SubscribeResult, await self.request("session/subscribe", params))

    async def unsubscribe(self, session_id: str) -> t.UnsubscribeResult:
        return cast(t.UnsubscribeResult, await self.request("session/unsubscribe", {"sessionId": session_id}))

    async def request_writer(self, session_id: str, *, release: bool | Absent = ABSENT) -> t.RequestWriterResult:
        """Have the daemon that holds the session for writing hand it over to the one that is asked."""
        params = _given(sessionId=session_id, release=release)
        return cast(t.RequestWriterResult, await self.request("session/requestWriter", params))

    # All sessions.

    async def search(
        self,
        query: str,
        *,
        cwd: str | Absent = ABSENT,
        role: str | Absent = ABSENT,
        model: str | Absent = ABSENT,
        label: str | Absent = ABSENT,
        after: str | Absent = ABSENT,
        before: str | Absent = ABSENT,
        cursor: str | Absent = ABSENT,
        limit: int | Absent = ABSENT,
    ) -> t.SearchResult:
        """One page of entries that say all of it. A page may be empty though there is a next one."""
        params = _given(
            query=query,
            cwd=cwd,
            role=role,
            model=model,
            label=label,
            after=after,
            before=before,
            cursor=cursor,
            limit=limit,
        )
        return cast(t.SearchResult, await self.request("session/search", params))

    async def catalog_totals(self, *, cwd: str | Absent = ABSENT) -> t.CatalogTotals:
        """Tokens and cost of all sessions; an answer that a fork has copied is counted once."""
        return cast(t.CatalogTotals, await self.request("catalog/totals", _given(cwd=cwd)))

    async def subscribe_catalog(self, *, cwd: str | Absent = ABSENT) -> t.CatalogStatus:
        """`catalog/changed` then comes to what `on_notification` was given. Subscribe again on a new connection."""
        return cast(t.CatalogStatus, await self.request("catalog/subscribe", _given(cwd=cwd)))

    async def unsubscribe_catalog(self, *, cwd: str | Absent = ABSENT) -> t.CatalogStatus:
        return cast(t.CatalogStatus, await self.request("catalog/unsubscribe", _given(cwd=cwd)))

    async def daemon_status(self) -> t.StatusResult:
        return cast(t.StatusResult, await self.request("daemon/status"))

    async def doctor(self, *, fix: bool | Absent = ABSENT, progress: ProgressCallback | None = None) -> t.DoctorResult:
        """Goes over the whole sessions directory. `fix` mends what can be mended, and deletes nothing."""
        return cast(t.DoctorResult, await self.request("daemon/doctor", _given(fix=fix), progress=progress))

    async def panel(self, session_id: str | Absent = ABSENT) -> t.PanelResult:
        """An address at which a browser of this machine may open the panel once, within a minute."""
        return cast(t.PanelResult, await self.request("daemon/panel", _given(sessionId=session_id)))

    async def stop_daemon(self, *, drain: bool | Absent = ABSENT) -> None:
        """Stops the daemon for everybody. This client then looks for a new one; close it if none is to come."""
        await self.request("daemon/stop", _given(drain=drain))
