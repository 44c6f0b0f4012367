"""What the engine knows of storage: a repository of sessions, and the log of one session.

A session is named by a SessionRef. Files are the default behind these protocols (`files`), memory
serves `persist: never` and tests (`memory`); one conformance suite runs over both.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Collection, Sequence
from typing import Annotated, Literal, Protocol

from msgspec import Meta, Struct

from pi_daemon.session.errors import SessionCorrupted
from pi_daemon.session.head import Damage, Head, Header
from pi_daemon.session.tree import SessionTree


class SessionRef(Struct, frozen=True):
    """Names one session. `location` is opaque to the engine: a real path for files."""

    session_id: str
    location: str


class Loaded(Struct):
    """A session as storage found it.

    `tree` is the caller's to go on with; `damage` includes its. `read_only` says why nothing may be
    appended (the protocol shows it), or is None. `migrates` is True for a version 1 or 2 file whose
    first append will rewrite it as version 3. `skipped` is what opening it without `recover` would be refused with.
    """

    ref: SessionRef
    header: Header
    tree: SessionTree
    damage: list[Damage]
    read_only: str | None = None
    migrates: bool = False
    skipped: SessionCorrupted | None = None

    @property
    def heads(self) -> list[Head]:
        """In file order, doubled ids included."""
        return self.tree.entries


class Written(Struct, frozen=True):
    """Where a batch went. `offsets[i]` is the place of line i; `durability` what is promised for it.

    `foreign` are the heads of entries that another process had written before ours, in file order,
    `damage` what was wrong between them. Empty when nobody else wrote. `kept` are the places of all lines before this
    batch, where it is the first that is written.
    """

    offsets: list[int]
    durability: Literal["memory", "written", "synced"]
    foreign: list[Head] = []
    damage: list[Damage] = []
    kept: list[int] = []


class Foreign(Struct, frozen=True):
    """What a look at the file found that we didn't write. `replaced`: it is not the file we knew.

    `lost` are the ids of entries that we had written and that aren't in it any more; `kept_at` is the file that has
    their lines, if they could be kept. Every look says so until the log is closed.
    """

    heads: list[Head] = []
    damage: list[Damage] = []
    replaced: bool = False
    lost: list[str] = []
    kept_at: str | None = None


def losses(lost: Sequence[str], kept_at: str | None) -> list[Damage]:
    """What is said of entries that were lost, nothing where there are none."""
    if not lost:
        return []
    where = f"; their lines are kept in {kept_at}" if kept_at is not None else ""
    words = f"another process rewrote the file without {len(lost)} entries that were written to it{where}"
    return [Damage("lost", words, entry_ids=list(lost))]


class Owner(Struct, frozen=True):
    """Who holds a session for writing, as the holder says itself. `since` is ISO 8601; `contact` how its daemon is
    reached, which is nothing for clients."""

    pid: Annotated[int, Meta(gt=0)]
    host: str
    since: str
    client: str | None = None
    contact: str | None = None


class SessionSummary(Struct, frozen=True):
    """What a listing shows of a session that need not be open. Times are ISO 8601 with ms and Z; `models` are
    `provider/model`, in the order in which they first answered. `damaged`: lines that can't be read were seen."""

    ref: SessionRef
    cwd: str
    name: str | None
    parent_session: str | None
    created: str
    modified: str
    message_count: int
    first_message: str
    size: int
    models: tuple[str, ...] = ()
    damaged: bool = False


class Wanted(Struct, frozen=True):
    """What is looked for. `after` and `before` in ms since 1970; `model` with or without its provider; `role` of a
    message, or the type of an entry that is none; `label` of the entry."""

    query: str
    cwd: str | None = None
    role: str | None = None
    model: str | None = None
    label: str | None = None
    after: float | None = None
    before: float | None = None
    cursor: str | None = None
    limit: int = 20


class SearchHit(Struct, frozen=True):
    """An entry that says what was looked for. `on_path`: the file's last entry descends from it; `tip_id` is the last
    entry that does, None where it can't be told. `snippet` is one line."""

    ref: SessionRef
    entry_id: str
    type: str
    role: str | None
    timestamp: str
    snippet: str
    on_path: bool
    tip_id: str | None
    name: str | None = None
    cwd: str = ""


class SearchPage(Struct, frozen=True):
    """`complete`: the text of all sessions was searched; else `done` of `total` bytes of session files."""

    hits: list[SearchHit]
    complete: bool
    cursor: str | None = None
    done: int = 0
    total: int = 0


class SessionChange(Struct, frozen=True):
    """A session file has come, changed or gone."""

    kind: Literal["created", "changed", "deleted"]
    ref: SessionRef
    cwd: str


class TotalsOf(Struct, frozen=True):
    """Over many sessions, each answer counted once. `repeated` are the copies in forks that were not counted."""

    sessions: int
    messages: int
    replies: int
    repeated: int
    input: float
    output: float
    cache_read: float
    cache_write: float
    cost: float


class Finder(Protocol):
    """Answers from what is known of all sessions, at once with what is there."""

    async def search(self, wanted: Wanted) -> SearchPage:
        """Raises InvalidParams for a query that says nothing, or a cursor that no search gave."""

    async def totals(self, cwd: str | None) -> TotalsOf: ...


class CheckReport(Struct, frozen=True):
    """`opens` is False where session/open would refuse without `recover: "skip"`."""

    path: str
    session_id: str | None
    entry_count: int
    opens: bool
    damage: list[Damage]


class RepairReport(Struct, frozen=True):
    """`original_kept_at` is None where nothing needed repair and nothing was written. `dropped` lines were left out,
    `rewritten` ones made readable."""

    path: str
    original_kept_at: str | None
    dropped: list[Damage]
    rewritten: list[Damage] = []


class Finding(Struct):
    """Something that is wrong in a sessions directory, or worth a note (`problem` is False).

    `kind`: damaged, halfWritten, irregular, empty, leftover, duplicated, linked, foreign, unreadable, misplaced,
    outside, notRead or parentMissing. `others` are the other files concerned, `repair` what mends it: "repair" the
    file, "putAway" a leftover of ours. `damage` are the first of `damage_count`. `settled`: nobody has written to the
    file for a while.
    """

    kind: str
    path: str
    message: str
    problem: bool = True
    session_id: str | None = None
    others: list[str] = []
    repair: Literal["repair", "putAway"] | None = None
    damage: list[Damage] = []
    damage_count: int = 0
    settled: bool = True


class Examined(Struct):
    """A whole sessions directory: how many folders, session files and bytes of them were looked at, and what was found,
    by path. `left_out` counts findings beyond those."""

    folders: int = 0
    files: int = 0
    bytes: int = 0
    findings: list[Finding] = []
    left_out: int = 0


Progress = Callable[[int, int], None]
"""Called with (done, total) from the loop's thread."""


class MovedLeaf(Struct, frozen=True):
    """`leaf_id` None is a leaf too: before the first entry. `size` is the session file's, in bytes."""

    location: str
    leaf_id: str | None
    size: int


class SessionLog(Protocol):
    """The append-only lines of one session. One owner calls it; calls are not made concurrently,
    but for `read`."""

    @property
    def ref(self) -> SessionRef: ...

    @property
    def persisted(self) -> bool:
        """False while the lines are in memory alone."""

    @property
    def size(self) -> int:
        """Bytes of the file as far as it is known; 0 while the lines are in memory alone."""

    async def append(self, lines: Sequence[bytes], *, synced: bool, persist: bool) -> Written:
        """Append `lines` (no newline in them) as one batch.

        `persist=False` on a log that isn't persisted keeps them in memory (durability "memory");
        `persist=True` writes everything kept so far, exclusively, before them.
        Raises StorageFailed (nothing of the batch counts), SessionFailed after a failed fsync,
        ReadOnly, WriterBusy, SessionExists where the file appeared meanwhile.
        """

    async def sync(self) -> None:
        """Make everything durable that the file holds, whoever wrote it; nothing where there is no file. Raises
        StorageFailed, SessionFailed as `append` does."""

    @property
    def held(self) -> bool:
        """Whether this log holds the writer lease of a session that is written."""

    async def take(self, client: str | None = None, *, asked: bool = False) -> None:
        """Hold the session for writing, until `release` or `close`; `client` is who others are told of. The first
        append takes it by itself. After a `release` either waits until another has come for it, or long enough for
        that; not where it is `asked` for. Raises WriterBusy while another process holds it, and as `append` does."""

    async def release(self) -> None:
        """Let others write. Comes after a batch that is being written."""

    async def owner(self) -> Owner | None:
        """Who holds it, ourselves included; None where nobody does, or nobody knows who."""

    @property
    def unseen(self) -> bool:
        """Whether lines of ours have yet to be seen in the file, by a look some seconds after they were written."""

    async def look(self) -> Foreign:
        """Read what others have appended since we last looked. Writes nothing."""

    async def read(self, heads: Sequence[Head], starts: Sequence[int] | None = None) -> list[bytes]:
        """The lines of `heads`, as stored (a version 1 or 2 entry: as migrated); where `starts` has a number, what
        lies from there up to one byte before the line's end. Raises StorageFailed where the file is gone or isn't
        the one the heads came from."""

    def content(self) -> AsyncIterator[bytes]:
        """Header and lines as they are, byte for byte, each with its newline; an unfinished last line is left out.
        Raises StorageFailed as `read` does."""

    async def raw(self, spans: Sequence[tuple[int, int]]) -> list[bytes]:
        """The bytes of the file at each (offset, length), as they lie there. Raises StorageFailed as `read` does, and
        where there is no file."""

    async def close(self) -> None: ...


class NewFile(Protocol):
    """A file outside of the sessions that is being written. Others see it when it is finished, or never. Each method
    raises StorageFailed."""

    @property
    def path(self) -> str: ...

    async def write(self, data: bytes) -> None: ...

    async def finish(self) -> None:
        """With errno EEXIST where something else got the name meanwhile. Nothing is left then."""

    async def drop(self) -> None:
        """Leave nothing. Comes after a write that is under way; nothing new after `finish`."""


class Repository(Protocol):
    """Where sessions live."""

    async def create(self, header: Header, lines: Sequence[bytes] = (), *, persist: bool) -> tuple[Loaded, SessionLog]:
        """A new session with these lines. `persist=False` reserves {cwd, id} and writes nothing yet.
        Raises SessionExists, StorageFailed."""

    async def find(self, session_id: str) -> SessionRef:
        """Raises SessionNotFound, AmbiguousSession, InvalidParams for an id that is no id."""

    async def ref(self, path: str) -> SessionRef:
        """Raises SessionNotFound, OutsideRoot, SessionCorrupted for a file that is no session."""

    async def open(self, ref: SessionRef, *, recover: bool = False) -> tuple[Loaded, SessionLog]:
        """Raises SessionNotFound, SessionCorrupted, StorageFailed."""

    async def copy(self, source: SessionRef, header: Header) -> tuple[Loaded, SessionLog]:
        """A new session: every line of `source` byte for byte under a new header (a version 1 or 2
        source: its lines as migrated). Raises as create and open do."""

    async def list(self, cwd: str | None, progress: Progress | None = None) -> list[SessionSummary]:
        """Newest activity first; files that can't be read are left out."""

    async def page(
        self,
        cwd: str | None,
        after: tuple[str, str] | None,
        limit: int,
        progress: Progress | None = None,
        open_at: Collection[str] = (),
    ) -> Sequence[SessionSummary]:
        """Up to `limit` of them that come after one that was modified then and has that location; newest activity
        first. `open_at`: where something may have been written just now."""

    async def delete(self, ref: SessionRef) -> str | None:
        """To the trash; where it went, if that is known. Raises SessionNotFound, StorageFailed."""

    async def look_after_closed(self) -> Sequence[tuple[str, Foreign]]:
        """Look for what was written to sessions that were closed some seconds ago. Gives what was lost, by location;
        to be called every few seconds."""

    async def check(self, path: str) -> CheckReport: ...

    async def repair(self, path: str) -> RepairReport: ...

    async def examine(self, progress: Progress | None = None) -> Examined:
        """Go over everything there is. Changes nothing."""

    async def put_away(self, path: str) -> str:
        """Move a leftover of ours to the state directory; where it is now. Raises OutsideRoot, InvalidParams for what
        is none, StorageFailed."""

    async def new_file(self, path: str) -> NewFile:
        """Raises InvalidParams for a path that is not absolute or lies among the sessions, StorageFailed, with errno
        EEXIST where something is there."""


class LeafMemory(Protocol):
    """Where leaves are remembered that were moved and not yet appended to."""

    async def remember(self, location: str, leaf_id: str | None, size: int) -> None:
        """`size`: of the session's file; once it is another, this counts no more. Raises StorageFailed."""

    async def recall(self, location: str, size: int) -> MovedLeaf | None:
        """None where no leaf was moved, or the file's size is another by now."""
