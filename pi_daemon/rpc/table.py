"""Every method and notification by name: its types, and one sentence of meaning.

The dispatcher, the generated documents and the clients read this table; there is no second list.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from pi_daemon.rpc.types import catalogue as cat
from pi_daemon.rpc.types import compaction as c
from pi_daemon.rpc.types import daemon as own
from pi_daemon.rpc.types import doctor as d
from pi_daemon.rpc.types import entries as e
from pi_daemon.rpc.types import explain as x
from pi_daemon.rpc.types import lifecycle as life
from pi_daemon.rpc.types import notifications as n
from pi_daemon.rpc.types import resume as r
from pi_daemon.rpc.types import sessions as s
from pi_daemon.rpc.types import stats as t
from pi_daemon.rpc.types import subscriptions as u


class Method(Struct, frozen=True):
    """`errors` are the reasons that belong to this method, beyond those any request may meet."""

    params: type[Any]
    result: type[Any]
    doc: str
    errors: tuple[str, ...] = ()


class Notification(Struct, frozen=True):
    params: type[Any]
    doc: str


_SESSION = ("sessionNotFound", "sessionCorrupted", "ambiguousSession")
_WRITE = (*_SESSION, "readOnly", "storageFailed", "sessionFailed", "writerBusy")

METHODS: dict[str, Method] = {
    "session/create": Method(
        s.CreateParams,
        s.SessionState,
        "Make a session, open it and subscribe to it.",
        ("sessionExists", "storageFailed"),
    ),
    "session/open": Method(
        s.OpenParams,
        s.SessionState,
        "Open a session and subscribe to it.",
        (*_SESSION, "outsideRoot", "storageFailed"),
    ),
    "session/configure": Method(s.ConfigureParams, s.SessionState, "Change what a session is set to.", _SESSION),
    "session/close": Method(
        s.SessionParams,
        life.Empty,
        "Unsubscribe, and free the writer when nobody else is there.",
        ("storageFailed",),
    ),
    "session/list": Method(s.ListParams, s.ListResult, "The sessions there are, newest activity first."),
    "session/delete": Method(
        s.SessionParams,
        s.DeleteResult,
        "Move a session to the trash; refused while another client has it open.",
        (*_SESSION, "busy", "storageFailed"),
    ),
    "session/append": Method(
        e.AppendParams,
        e.AppendResult,
        "Append entries; the leaf moves to the last one.",
        (*_WRITE, "entryNotFound", "leafMoved", "duplicateEntry", "invalidEntry"),
    ),
    "session/entries": Method(
        e.EntriesParams,
        e.EntriesResult,
        "Entries as they are stored, in file order.",
        (*_SESSION, "entryNotFound"),
    ),
    "session/tree": Method(e.TreeParams, e.TreeResult, "The tree as a flat list of nodes.", _SESSION),
    "session/path": Method(
        e.PathOfParams, e.PathResult, "The entries from the root to a leaf.", (*_SESSION, "entryNotFound")
    ),
    "session/compare": Method(
        e.CompareParams, e.CompareResult, "Where two entries' paths part.", (*_SESSION, "entryNotFound")
    ),
    "session/context": Method(
        e.ContextParams, e.ContextResult, "What the model is sent at a leaf.", (*_SESSION, "entryNotFound")
    ),
    "session/explain": Method(
        x.ExplainParams,
        x.ExplainResult,
        "Why entries are in the context at a leaf, or why they aren't: one, those with a text, or all.",
        (*_SESSION, "entryNotFound", "storageFailed"),
    ),
    "session/moveLeaf": Method(
        e.MoveLeafParams,
        e.MoveLeafResult,
        "Move the leaf: the next append goes there. No file changes without a summary or a label.",
        (*_WRITE, "entryNotFound", "leafMoved", "superseded", "busy", "summarizerFailed", "invalidSettings"),
    ),
    "session/fork": Method(
        s.ForkParams,
        s.SessionState,
        "A new session from a path or the whole tree of this one.",
        (*_SESSION, "entryNotFound", "sessionExists", "storageFailed"),
    ),
    "session/label": Method(
        e.LabelParams, e.ChangeResult, "Label an entry, or clear its label.", (*_WRITE, "entryNotFound")
    ),
    "session/rename": Method(e.RenameParams, e.ChangeResult, "Name the session.", _WRITE),
    "session/editContext": Method(
        e.EditContextParams,
        e.ChangeResult,
        "Replace or omit what an entry contributes to the context.",
        (*_WRITE, "entryNotFound", "invalidEntry"),
    ),
    "session/compactionPlan": Method(
        c.CompactionPlanParams,
        c.CompactionPlanResult,
        "What `session/compact` would cut, keep and say to a model; writes nothing.",
        (*_SESSION, "nothingToCompact", "superseded", "invalidSettings"),
    ),
    "session/compact": Method(
        c.CompactParams,
        c.CompactResult,
        "Summarize the older part of the context, and append a compaction that stands for it. Others go on meanwhile.",
        (
            *_WRITE,
            "nothingToCompact",
            "callOpen",
            "busy",
            "summarizerFailed",
            "leafMoved",
            "superseded",
            "invalidSettings",
        ),
    ),
    "session/resumeReport": Method(
        r.ResumeReportParams,
        r.ResumeReportResult,
        "What a resumed session can no longer take for granted: a path against the files, git and the client's tools.",
        (*_SESSION, "entryNotFound"),
    ),
    "session/stats": Method(
        s.SessionParams,
        t.StatsResult,
        "What a session amounts to: messages, tool calls, failures, tokens, cost, time; by model and by branch too.",
        _SESSION,
    ),
    "session/export": Method(
        s.ExportParams,
        s.ExportResult,
        "A session or a path of it as a session file, or as Markdown. With `path` the daemon writes it there: never "
        "over anything, whole or not at all.",
        (*_SESSION, "entryNotFound", "storageFailed", "tooLarge"),
    ),
    "session/check": Method(
        s.PathParams,
        s.CheckResult,
        "The damage of a file that need not be open.",
        ("sessionNotFound", "outsideRoot", "storageFailed"),
    ),
    "session/repair": Method(
        s.PathParams,
        s.RepairResult,
        "Rewrite a damaged file without what can't be read; the original is kept.",
        ("sessionNotFound", "sessionCorrupted", "outsideRoot", "busy", "storageFailed"),
    ),
    "session/requestWriter": Method(
        s.RequestWriterParams,
        s.RequestWriterResult,
        "Have the daemon that holds a session for writing hand it over.",
        (*_SESSION, "writerBusy", "readOnly", "storageFailed"),
    ),
    "session/subscribe": Method(
        u.SubscribeParams,
        u.SubscribeResult,
        "Hear of every change from now on, and catch up with what was missed.",
        _SESSION,
    ),
    "session/unsubscribe": Method(s.SessionParams, u.UnsubscribeResult, "Hear no more of a session."),
    "session/search": Method(
        cat.SearchParams, cat.SearchResult, "Entries of all sessions that say something, at once from what is indexed."
    ),
    "catalog/totals": Method(
        cat.CatalogParams,
        cat.CatalogTotals,
        "Tokens and cost of all sessions; what a fork has copied is counted once.",
        ("storageFailed",),
    ),
    "catalog/subscribe": Method(
        cat.CatalogParams, cat.CatalogStatus, "Hear of session files that come, change and go."
    ),
    "catalog/unsubscribe": Method(
        cat.CatalogParams, cat.CatalogStatus, "Hear no more of them: of one directory's, or of all."
    ),
    "daemon/status": Method(life.Empty, own.StatusResult, "What the daemon is doing."),
    "daemon/panel": Method(
        own.PanelParams,
        own.PanelResult,
        "Serve the panel to a browser of this machine. Only for clients of the Unix socket and of stdio.",
        ("unauthorized", "storageFailed"),
    ),
    "daemon/doctor": Method(
        d.DoctorParams,
        d.DoctorResult,
        "Go over the whole sessions directory: what is damaged, half written, duplicated or foreign, and what a repair "
        "would do. Changes nothing without `fix`, and deletes nothing.",
    ),
    "daemon/stop": Method(own.StopParams, life.Empty, "Stop the daemon for everybody."),
}

NOTIFICATIONS: dict[str, Notification] = {
    "session/leafChanged": Notification(n.LeafChanged, "The leaf is another."),
    "session/appended": Notification(n.Appended, "Entries were appended."),
    "session/compacted": Notification(n.Compacted, "A compaction was appended."),
    "session/compaction": Notification(n.Compaction, "A compaction that the daemon makes has begun or ended."),
    "session/labelChanged": Notification(n.LabelChanged, "An entry's label was set or cleared."),
    "session/renamed": Notification(n.Renamed, "The session's name was set or cleared."),
    "session/replaced": Notification(n.Replaced, "The file was rewritten or replaced, and loaded anew."),
    "session/damaged": Notification(n.Damaged, "Damage was found, or acknowledged entries are gone from the file."),
    "session/failed": Notification(n.Failed, "A write failed for good, or the file can't be opened as it is now."),
    "session/deleted": Notification(n.Deleted, "The session was deleted, or its file by another process."),
    "session/resync": Notification(n.Resync, "Notifications were left out."),
    "catalog/changed": Notification(cat.CatalogChanged, "Session files have come, changed or gone."),
    "daemon/replaced": Notification(
        n.DaemonReplaced,
        "From `pi-daemon connect`: the daemon behind it was replaced. Requests that were in flight have been answered "
        "with `shuttingDown`, open documents were opened again.",
    ),
    "$/progress": Notification(n.Progress, "How far a request with a workDoneToken has come."),
}

CLIENT_METHODS: dict[str, Method] = {
    "summarizer/summarize": Method(
        c.SummarizeParams,
        c.SummarizeResult,
        "Make a summary. Asked of clients that said `summarizer: true`, taken back by `$/cancelRequest`. After an "
        "error, or without an answer within `limits.summarizerSeconds`, another such client is asked.",
    ),
}
"""What the daemon asks of its clients."""

LIFECYCLE: dict[str, Method] = {
    "initialize": Method(
        life.InitializeParams,
        life.InitializeResult,
        "LSP's own; the first request of a connection.",
        ("unauthorized", "versionMismatch"),
    ),
    "shutdown": Method(life.Empty, type(None), "Ends the connection, never a shared daemon."),
}
