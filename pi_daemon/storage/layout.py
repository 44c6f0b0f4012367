"""Where sessions lie and what their files are called.

pi 1.6.0 knows two layouts: one folder a project below `sessions/`, named after the working directory, and a flat
directory that a user chose. Both are read wherever they are found; a new session goes where pi would
put it. A project folder's name loses information (`/a/b` and `/a-b` share one), so nothing reads a
working directory back from it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec
from msgspec import Struct

from pi_daemon.session.errors import InvalidParams, OutsideRoot
from pi_daemon.session.head import Header
from pi_daemon.storage.system import PATH_BYTES, Files, refusal

SUFFIX = ".jsonl"

MAX_ID = 200
"""Characters in a session id. A file name may have 255 bytes, and 32 of them are the time and the suffix."""

_ID = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?", re.ASCII)
_TIMESTAMP = re.compile(r"[0-9TZ:.+-]{1,40}", re.ASCII)


def check_id(session_id: str) -> str:
    """The id, if it is one (pi 1.6.0's rule). Raises InvalidParams; called before an id meets a path."""
    if len(session_id) > MAX_ID or _ID.fullmatch(session_id) is None:
        raise InvalidParams(
            f"a session id has 1 to {MAX_ID} letters, digits, '.', '_' or '-', and no sign at its start or end",
            path="sessionId",
        )
    return session_id


def folder_name(cwd: str) -> str:
    """The project folder of a working directory: `--home-me-project--`."""
    return "--" + re.sub(r"[/\\:]", "-", re.sub(r"^[/\\]", "", cwd)) + "--"


def file_name(header: Header) -> str:
    """`2026-01-31T12-00-00-000Z_<id>.jsonl`. Raises InvalidParams for an id or a time that is none."""
    if _TIMESTAMP.fullmatch(header.timestamp) is None:
        raise InvalidParams("the timestamp isn't ISO 8601", path="timestamp")
    return re.sub(r"[:.]", "-", header.timestamp) + "_" + check_id(header.id) + SUFFIX


class Layout(Struct, frozen=True):
    """The sessions directory, and whether new sessions lie flat in it or in a folder a project."""

    sessions_dir: Path
    flat: bool

    def folder(self, cwd: str) -> Path:
        """Where a new session of `cwd` goes. Raises InvalidParams for a cwd that is no absolute path."""
        if not os.path.isabs(cwd) or "\0" in cwd:
            raise InvalidParams("the working directory must be an absolute path", path="cwd")
        base = Path(os.path.realpath(self.sessions_dir))
        return base if self.flat else base / folder_name(os.path.normpath(cwd))

    def roots(self, files: Files) -> list[Path]:
        """The real directories that may hold sessions: the sessions directory, and the target of each
        directory link directly in it. An unreadable sessions directory has no links."""
        return self.places(files)[0]

    def places(self, files: Files) -> tuple[list[Path], list[Path]]:
        """The roots, and the real directories in which session files lie: the sessions directory and each one directly
        below it. The sessions directory comes first in both. Folders whose paths aren't UTF-8 are left out, as what is
        in them can't be told to a client."""
        base = Path(os.path.realpath(self.sessions_dir))
        roots, folders = [base], [base]
        for entry in _entries(files, base):
            if not _is_dir(entry):
                continue
            real = os.path.realpath(entry.path) if entry.is_symlink() else entry.path
            if is_utf8(real):
                folders.append(Path(real))
                if entry.is_symlink():
                    roots.append(folders[-1])
        return list(dict.fromkeys(roots)), list(dict.fromkeys(folders))

    def session_files(self, files: Files) -> Iterator[str]:
        """The real path of each `.jsonl` file that lies in the sessions directory or in a folder
        directly below it, each once. Folders that can't be read are left out, links that lead
        out of the roots too."""
        roots, folders = self.places(files)
        seen: set[str] = set()
        for folder in folders:
            for path in folder_files(files, folder, roots):
                if path not in seen:
                    seen.add(path)
                    yield path

    def check(self, files: Files) -> None:
        """Raises StorageFailed for a sessions directory that is there and can't be read."""
        try:
            files.entries(Path(os.path.realpath(self.sessions_dir)))
        except (FileNotFoundError, NotADirectoryError):
            return
        except OSError as error:
            raise refusal(error, "read the sessions directory") from error

    def contained(self, files: Files, path: str) -> Path:
        """The real path of `path`. Raises OutsideRoot where that isn't below a root, InvalidParams where
        it is no absolute path. Whether a file is there is not asked."""
        if not os.path.isabs(path) or "\0" in path or not _encodes(path):
            raise InvalidParams("the path of a session file must be absolute", path="path")
        real = Path(os.path.realpath(path))
        base = Path(os.path.realpath(self.sessions_dir))
        if not real.is_relative_to(base) and not any(real.is_relative_to(root) for root in self.roots(files)):
            raise OutsideRoot("the path leads out of the directories that hold sessions")
        return real


def folder_files(files: Files, folder: Path, roots: list[Path]) -> Iterator[str]:
    """The real paths of the session files directly in `folder`. One that isn't UTF-8 can't be told to a client, and is
    left out."""
    for entry in _entries(files, folder):
        if not entry.name.endswith(SUFFIX) or not is_utf8(entry.path):
            continue
        try:
            if not entry.is_file():
                continue
            if not entry.is_symlink():
                yield entry.path
                continue
        except OSError:
            continue
        real = Path(os.path.realpath(entry.path))
        if any(real.is_relative_to(root) for root in roots):
            yield str(real)


def is_utf8(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_dir(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False  # a link in a circle, or to where we may not look


def _encodes(path: str) -> bool:
    """Whether it can name a file at all: a lone surrogate that JSON lets pass can't."""
    try:
        return len(os.fsencode(path)) < PATH_BYTES
    except UnicodeEncodeError:
        return False


def _entries(files: Files, folder: Path) -> list[os.DirEntry[str]]:
    try:
        return list(files.entries(folder))
    except OSError:
        return []


def find_layout(sessions_dir: str | None, environ: Mapping[str, str], home: Path) -> Layout:
    """The layout of this user, as pi 1.6.0 finds it: `sessions_dir` (a command-line option), else
    PI_CODING_AGENT_SESSION_DIR, else the setting `sessionDir` of pi's settings.json: such a directory is flat.
    Else `sessions` in PI_CODING_AGENT_DIR or `~/.pi/agent`, with a folder a project."""
    pi = agent_dir(environ, home)
    chosen = sessions_dir or environ.get("PI_CODING_AGENT_SESSION_DIR") or _session_dir_setting(pi)
    if chosen:
        return Layout(_expand(chosen, home), flat=True)
    return Layout(pi / "sessions", flat=False)


class Chosen(Struct, frozen=True):
    """A sessions directory that somebody has chosen, and what says so, for messages."""

    directory: Path
    by: str

    def means(self, directory: str) -> bool:
        return os.path.realpath(directory) == os.path.realpath(self.directory)


def chosen_dir(environ: Mapping[str, str], home: Path) -> Chosen | None:
    """What pi's variables and its setting choose; None where it is the standard directory of this user."""
    said = environ.get("PI_CODING_AGENT_SESSION_DIR")
    if said:
        return Chosen(_expand(said, home), "PI_CODING_AGENT_SESSION_DIR")
    pi = agent_dir(environ, home)
    setting = _session_dir_setting(pi)
    if setting:
        return Chosen(_expand(setting, home), f"sessionDir in {pi / 'settings.json'}")
    return Chosen(pi / "sessions", "PI_CODING_AGENT_DIR") if environ.get("PI_CODING_AGENT_DIR") else None


def agent_dir(environ: Mapping[str, str], home: Path) -> Path:
    """pi's own directory: PI_CODING_AGENT_DIR, else `~/.pi/agent`."""
    return _expand(environ.get("PI_CODING_AGENT_DIR") or str(home / ".pi" / "agent"), home)


class _Settings(Struct, rename="camel"):
    session_dir: str | None = None


def _session_dir_setting(agent_dir: Path) -> str | None:
    try:
        return msgspec.json.decode((agent_dir / "settings.json").read_bytes(), type=_Settings).session_dir
    except (OSError, msgspec.MsgspecError, RecursionError):
        return None  # pi starts with defaults too when its settings can't be read


def _expand(path: str, home: Path) -> Path:
    if path == "~":
        return home
    if path.startswith("~/"):
        return home / path[2:]
    return Path(os.path.abspath(path))
