"""The index's file: an SQLite database in the state directory, which anybody may delete at any time.

One daemon at a time writes it, held by a lock beside it; others read. What can't be read, is of another version or
turns out to be damaged is deleted and made anew.
"""

from __future__ import annotations

import contextlib
import logging
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from pi_daemon.storage.system import Files, make_folder

logger = logging.getLogger(__name__)

VERSION = 2
"""Of the tables and of what lies in them. Another one is rebuilt."""

BUSY_SECONDS = 5.0
"""How long to wait for another process that checkpoints or recovers."""

CACHE_KB = 8 * 1024

_TABLES = """
CREATE TABLE sessions (path TEXT PRIMARY KEY, row BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE replies (path TEXT NOT NULL, data BLOB NOT NULL);
CREATE INDEX replies_path ON replies (path);
CREATE TABLE files (id INTEGER PRIMARY KEY AUTOINCREMENT, path TEXT NOT NULL UNIQUE, dev INTEGER NOT NULL,
    ino INTEGER NOT NULL, "end" INTEGER NOT NULL, lines INTEGER NOT NULL, mark BLOB NOT NULL);
CREATE TABLE blocks (id INTEGER PRIMARY KEY, file INTEGER NOT NULL, start INTEGER NOT NULL, "end" INTEGER NOT NULL,
    line INTEGER NOT NULL, chars INTEGER NOT NULL);
CREATE INDEX blocks_file ON blocks (file, id);
CREATE TABLE counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
CREATE VIRTUAL TABLE grams USING fts5(text, content='', tokenize="trigram case_sensitive 1", detail=none, columnsize=0);
"""

_ELSEWHERE = {
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_NOMEM,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_INTERRUPT,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_PERM,
}
"""What is the matter with the disk or with another process; everything else is the matter with the file."""


def damaged(error: sqlite3.Error) -> bool:
    """Whether the file is to be made anew."""
    code = getattr(error, "sqlite_errorcode", None)
    return code is None or (code & 0xFF) not in _ELSEWHERE


@contextlib.contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All of the block or nothing."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        with contextlib.suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


class Database:
    """For one thread to write: `writer` gives its connection; `reader` another one, for another thread."""

    def __init__(self, path: Path, files: Files) -> None:
        self.path = path
        self._files = files
        self._lock: int | None = None
        self._writer: sqlite3.Connection | None = None
        self._writer_state: os.stat_result
        self._reader: sqlite3.Connection | None = None
        self._reader_of: tuple[int, int] | None = None

    def writer(self) -> sqlite3.Connection | None:
        """None while another daemon writes it, or where it can't be written. Raises nothing."""
        if self._writer is None and self._hold():
            for _ in range(2):
                try:
                    self._writer = self._made()
                    self._writer_state = os.stat(self.path)
                    break
                except (sqlite3.Error, OSError) as error:
                    if isinstance(error, OSError) or not damaged(error):
                        logger.warning("the index can't be written: %s", error)
                        break
                    self.remove()
        return self._writer

    def lost(self) -> bool:
        """Whether somebody has deleted what we hold; it is let go then. For the writer's thread."""
        lock = self._lock
        if lock is not None and not _names(self.path.with_suffix(".lock"), self._files.fstat(lock)):
            self.release()  # another daemon may have made one anew, and hold it
            return True
        if self._writer is not None and not _names(self.path, self._writer_state):
            self.remove()
            return True
        return False

    @property
    def held(self) -> bool:
        """Whether it is ours to write."""
        return self._lock is not None

    def reader(self) -> sqlite3.Connection | None:
        """None where there is no index of this version. Raises sqlite3.Error for one that is damaged."""
        try:
            state = os.stat(self.path)
        except OSError:
            return None
        if self._reader is not None and self._reader_of != (state.st_dev, state.st_ino):
            self.close_reader()
        if self._reader is None:
            connection = self._connect()
            try:
                connection.execute("PRAGMA query_only = on")
                if connection.execute("PRAGMA user_version").fetchone() != (VERSION,):
                    connection.close()
                    return None
            except sqlite3.Error:
                connection.close()
                raise
            self._reader, self._reader_of = connection, (state.st_dev, state.st_ino)
        return self._reader

    def close_reader(self) -> None:
        reader, self._reader = self._reader, None
        if reader is not None:
            with contextlib.suppress(sqlite3.Error):
                reader.close()

    def close_writer(self) -> None:
        writer, self._writer = self._writer, None
        if writer is not None:
            with contextlib.suppress(sqlite3.Error):
                writer.close()

    def remove(self) -> None:
        """Begin anew. For the writer's thread."""
        self.close_writer()
        for suffix in ("-wal", "-shm", ""):
            with contextlib.suppress(OSError):
                self._files.unlink(Path(f"{self.path}{suffix}"))

    def release(self) -> None:
        self.close_writer()
        lock, self._lock = self._lock, None
        if lock is not None:
            self._files.close(lock)

    def _hold(self) -> bool:
        if self._lock is not None:
            return True
        try:
            make_folder(self._files, self.path.parent)
            fd = self._files.open(self.path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC)
        except OSError as error:
            logger.warning("there can be no index: %s", error)
            return False
        held = False
        try:
            held = self._files.lock(fd)
        except OSError as error:
            logger.warning("the index can't be locked: %s", error)
        finally:
            if not held:
                self._files.close(fd)
        if held:
            self._lock = fd
        return held

    def _made(self) -> sqlite3.Connection:
        with contextlib.suppress(FileExistsError):
            fd = self._files.open(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC)  # for us alone
            self._files.close(fd)
        connection = self._connect()
        try:
            connection.execute("PRAGMA journal_mode = wal")
            version = connection.execute("PRAGMA user_version").fetchone()
            if version != (VERSION,):
                if version != (0,) or connection.execute("SELECT count(*) FROM sqlite_master").fetchone() != (0,):
                    raise sqlite3.DatabaseError("another version")
                connection.executescript(f"BEGIN IMMEDIATE; {_TABLES} PRAGMA user_version = {VERSION}; COMMIT;")
        except BaseException:
            connection.close()
            raise
        return connection

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.path, BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        try:
            connection.execute("PRAGMA synchronous = normal")
            connection.execute(f"PRAGMA cache_size = -{CACHE_KB}")
            connection.execute("PRAGMA cell_size_check = on")
            connection.execute("PRAGMA journal_size_limit = 67108864")
        except sqlite3.Error:
            connection.close()
            raise
        return connection


def _names(path: Path, state: os.stat_result) -> bool:
    try:
        return os.path.samestat(os.stat(path), state)
    except OSError:
        return False
