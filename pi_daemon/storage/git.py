"""What git says of a work tree. Only looks: no lock is taken, the index isn't refreshed, nothing is fetched, and no
program that the repository's configuration names is run."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from pi_daemon.storage.processes import end

SECONDS = 10.0
"""One git command may take so long: a status of a million files on a cold disk does not end within it, and who asks
waits for all of them."""

OUTPUT = 4 * 1024 * 1024
"""Bytes of one command's output that are read: some 40,000 paths, more than anybody looks at."""

FILTERS = 100
"""Filters of a configuration that are switched off one by one; with more of them the status is not asked for."""

_ALWAYS = (
    *("--no-pager", "--literal-pathspecs"),
    *("-c", "core.fsmonitor=false"),
    *("-c", f"core.hooksPath={os.devnull}"),
)
_KEPT = ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_CEILING_DIRECTORIES", "GIT_EXEC_PATH")
"""Of git's own variables. The others say which repository to take: the daemon may have been started in another."""

Trouble = Literal["noGit", "noRepository", "refused", "timeout", "failed"]
_UNTRUSTED = re.compile(rb"dubious ownership|safe\.directory")
_NO_REPOSITORY = re.compile(rb"not a git repository", re.IGNORECASE)
HASH = re.compile(r"[0-9a-f]{4,64}\Z")


class GitTrouble(Exception):
    """`kind`: the program isn't there, there is no repository, git refuses one of another owner, it took too long, or
    it failed otherwise."""

    def __init__(self, kind: Trouble) -> None:
        super().__init__(kind)
        self.kind: Trouble = kind


class Dirty(Struct, frozen=True):
    """`status` is git's two letters, `??` for what it doesn't know. `path` is absolute; a name that isn't UTF-8 has
    half surrogate pairs in it, as Python has it."""

    path: str
    status: str


class Status(Struct):
    """`head` is None without commits, `branch` None where HEAD is detached. `complete`: all that is dirty is there."""

    root: str
    head: str | None
    branch: str | None
    dirty: list[Dirty]
    complete: bool = True


class Roots(Struct, frozen=True):
    """`work_tree` is None in a bare repository or inside of `.git`."""

    work_tree: str | None
    superproject: str | None = None


async def roots(folder: str) -> Roots:
    """The repository that `folder` lies in. Raises GitTrouble."""
    inside, _ = await _run(folder, "rev-parse", "--is-bare-repository", "--is-inside-work-tree")
    if inside.split() != [b"false", b"true"]:
        return Roots(None)
    work_tree, _ = await _run(folder, "rev-parse", "--show-toplevel")
    above, _ = await _run(folder, "rev-parse", "--show-superproject-working-tree")
    return Roots(_path(work_tree), _path(above) or None)


async def status(root: str) -> Status:
    """Of the work tree with that root. Raises GitTrouble."""
    off = await _filters_off(root)
    what = ("--porcelain=v2", "--branch", "-z", "--ignore-submodules=dirty", "--no-renames", "--untracked-files=all")
    output, complete = await _run(root, "status", *what, settings=off)
    found = Status(root, None, None, [], complete)
    records = output.split(b"\0")
    for record in records[:-1]:
        line = os.fsdecode(record)
        if line.startswith("# branch.oid ") and not line.endswith("(initial)"):
            found.head = line.removeprefix("# branch.oid ")
        elif line.startswith("# branch.head ") and not line.endswith(" (detached)"):
            found.branch = line.removeprefix("# branch.head ")
        elif line.startswith(("1 ", "u ")):
            parts = line.split(" ", 8 if line[0] == "1" else 10)
            found.dirty.append(Dirty(os.path.join(root, parts[-1]), parts[1]))
        elif line.startswith("? "):
            found.dirty.append(Dirty(os.path.join(root, line[2:]), "??"))
    return found


async def _filters_off(root: str) -> list[str]:
    """Settings under which no filter of file contents is run. Raises GitTrouble."""
    names, _ = await _run(root, "config", "--null", "--name-only", "--get-regexp", r"^filter\..", fails=True)
    filters = {os.fsdecode(name).rpartition(".")[0] for name in names.split(b"\0") if b"." in name}
    if len(filters) > FILTERS or any("=" in name for name in filters):
        raise GitTrouble("failed")
    return [
        part
        for name in sorted(filters)
        for setting in ("clean=", "smudge=", "process=", "required=false")
        for part in ("-c", f"{name}.{setting}")
    ]


async def missing(root: str, hashes: Sequence[str]) -> set[str]:
    """Those of `hashes`, or beginnings of some, that name no commit in the repository. Raises GitTrouble."""
    wanted = [one for one in hashes if HASH.match(one)]
    if not wanted:
        return set()
    asked = "".join(f"{one}^{{commit}}\n" for one in wanted).encode()
    output, _ = await _run(root, "cat-file", "--batch-check=%(objecttype)", given=asked)
    said = output.splitlines()
    return {one for one, line in zip(wanted, said, strict=False) if line.endswith(b" missing")}


async def ahead(root: str, commit: str) -> tuple[int, int]:
    """How many commits HEAD has that `commit` hasn't, and the other way round. Raises GitTrouble."""
    output, _ = await _run(root, "rev-list", "--count", "--left-right", f"HEAD...{commit}", "--")
    left, right = output.split()
    return int(left), int(right)


async def branches_with(root: str, commit: str) -> list[str]:
    """The local branches that have the commit, some of them. Raises GitTrouble."""
    what = ("--count=5", "--format=%(refname:short)", f"--contains={commit}", "refs/heads")
    output, _ = await _run(root, "for-each-ref", *what)
    return output.decode(errors="replace").split()


def _path(output: bytes) -> str:
    return os.fsdecode(output.removesuffix(b"\n"))


def _environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_") or name in _KEPT}
    return kept | {
        "LC_ALL": "C",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        # An older git doesn't know the first; the second can't be undone by a repository's configuration, which
        # `protocol.allow` can: a URL of ext:: is a command.
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_ALLOW_PROTOCOL": "",
        "GIT_NO_REPLACE_OBJECTS": "1",
    }


async def _run(
    folder: str, *arguments: str, settings: Sequence[str] = (), given: bytes = b"", fails: bool = False
) -> tuple[bytes, bool]:
    """What it prints, and whether that is all of it. `fails`: an exit code of 1 says there is nothing. Raises
    GitTrouble."""
    try:
        process = await asyncio.create_subprocess_exec(
            "git",
            *("-C", folder),
            *_ALWAYS,
            *settings,
            *arguments,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=_environment(),
            start_new_session=True,
        )
    except FileNotFoundError:
        raise GitTrouble("noGit") from None
    except (OSError, ValueError):
        raise GitTrouble("failed") from None
    said = asyncio.ensure_future(_output(process.stderr))
    giving = asyncio.ensure_future(_give(process.stdin, given))
    try:
        async with asyncio.timeout(SECONDS):
            output, complete = await _output(process.stdout)
            if not complete:
                return output[: output.rfind(b"\0") + 1], False
            errors, _ = await said
            code = await process.wait()
    except TimeoutError:
        raise GitTrouble("timeout") from None
    finally:
        await end(process, said, giving)
    if code == 0 or (fails and code == 1):
        return output, True
    if _UNTRUSTED.search(errors):
        raise GitTrouble("refused")
    raise GitTrouble("noRepository" if _NO_REPOSITORY.search(errors) else "failed")


async def _give(stream: asyncio.StreamWriter | None, data: bytes) -> None:
    assert stream is not None
    with contextlib.suppress(ConnectionError):
        stream.write(data)
        await stream.drain()
    stream.close()


async def _output(stream: asyncio.StreamReader | None) -> tuple[bytes, bool]:
    """As much as is read of it, and whether that is all."""
    assert stream is not None
    pieces: list[bytes] = []
    size = 0
    while size <= OUTPUT and (piece := await stream.read(64 * 1024)):
        pieces.append(piece)
        size += len(piece)
    return b"".join(pieces), size <= OUTPUT
