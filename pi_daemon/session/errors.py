"""Every situation in which a request about a session is refused, one class each.

    PiDaemonError
    ├── SessionNotFound        no session has that id, no file that path, or its file is gone by now
    ├── SessionExists          the id is taken in that directory
    ├── SessionCorrupted       the file is damaged where a parent link went with it, or is no session
    ├── AmbiguousSession       several files carry the id
    ├── EntryNotFound          the session has no such entry
    ├── LeafMoved              the leaf is another than the caller expected
    ├── DuplicateEntry         the id is in use with other content
    ├── InvalidEntry           a draft that can't become an entry
    ├── InvalidParams          a parameter is of the wrong type or out of range
    ├── WriterBusy             another process holds the writer lease
    ├── ReadOnly               the session can be read but not written
    ├── StorageFailed          the operating system refused a read or a write
    ├── SessionFailed          an earlier fsync failed: what is in the file is uncertain
    ├── NothingToCompact       no entry lies before the cut point
    ├── SummarizerFailed       no usable summary came back
    ├── CallOpen               a tool call at the leaf has no result yet, and the request doesn't wait for it
    ├── Superseded             while a summary was made, the session went another way
    ├── InvalidSettings        pi's settings.json holds a value that makes no sense
    ├── Busy                   a compaction or a summarizing move is under way, or another client has the session open
    ├── Overloaded             more requests in flight than the connection's limit
    ├── OutsideRoot            the path resolves to a place that holds no sessions
    ├── Unauthorized           the token is missing or wrong, or this isn't for who came this way
    ├── TooLarge               a message, an entry or a reply passes its limit
    ├── ShuttingDown           the daemon or the connection is going away
    └── VersionMismatch        the client speaks a protocol version this daemon doesn't

`reason` is the stable name that clients match on; the message says what to do next. `data` is what
goes into the error's `data` beside the reason. No message carries file content.
"""

from __future__ import annotations

from typing import Any, ClassVar


class PiDaemonError(Exception):
    """The base of all refusals. `data` holds only JSON values."""

    reason: ClassVar[str] = "internalError"

    def __init__(self, message: str, **data: Any) -> None:
        super().__init__(message)
        self.message = message
        self.data: dict[str, Any] = data


class SessionNotFound(PiDaemonError):
    reason = "sessionNotFound"


class SessionExists(PiDaemonError):
    reason = "sessionExists"


class SessionCorrupted(PiDaemonError):
    """`data`: `damage` (a list of Damage as JSON), `recoverable`, `copy` (a path or None)."""

    reason = "sessionCorrupted"


class AmbiguousSession(PiDaemonError):
    """`data`: `paths`."""

    reason = "ambiguousSession"


class EntryNotFound(PiDaemonError):
    """`data`: `entryId`."""

    reason = "entryNotFound"


class LeafMoved(PiDaemonError):
    """`data`: `leafId`, the leaf as it is."""

    reason = "leafMoved"


class DuplicateEntry(PiDaemonError):
    """`data`: `entryId`."""

    reason = "duplicateEntry"


class InvalidEntry(PiDaemonError):
    """`data`: `index` (which draft), `path` (which member)."""

    reason = "invalidEntry"


class InvalidParams(PiDaemonError):
    """`data`: `path`, the parameter's name."""

    reason = "invalidParams"


class WriterBusy(PiDaemonError):
    """`data`: `owner`: pid, host, since, client."""

    reason = "writerBusy"


class ReadOnly(PiDaemonError):
    reason = "readOnly"


class StorageFailed(PiDaemonError):
    """`data`: `errno` (its name, such as ENOSPC)."""

    reason = "storageFailed"


class SessionFailed(PiDaemonError):
    reason = "sessionFailed"


class NothingToCompact(PiDaemonError):
    reason = "nothingToCompact"


class SummarizerFailed(PiDaemonError):
    reason = "summarizerFailed"


class CallOpen(PiDaemonError):
    """`data`: `openCalls`, as `session/compactionPlan` has them; `leftMs`: after so long they are given up on."""

    reason = "callOpen"


class Superseded(PiDaemonError):
    """`data`: `entryId`, the compaction or the edit that came in between."""

    reason = "superseded"


class InvalidSettings(PiDaemonError):
    """`data`: `file`, `key` ("" for the whole file)."""

    reason = "invalidSettings"


class Busy(PiDaemonError):
    reason = "busy"


class Overloaded(PiDaemonError):
    reason = "overloaded"


class OutsideRoot(PiDaemonError):
    reason = "outsideRoot"


class Unauthorized(PiDaemonError):
    reason = "unauthorized"


class TooLarge(PiDaemonError):
    """`data`: `limit` (its name), `bytes` (the limit)."""

    reason = "tooLarge"


class ShuttingDown(PiDaemonError):
    """`data`: `applied`: true, false or "unknown"."""

    reason = "shuttingDown"


class VersionMismatch(PiDaemonError):
    """`data`: `protocolVersion`, what this daemon speaks."""

    reason = "versionMismatch"
