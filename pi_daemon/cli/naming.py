"""Which session, and which entry, a person means: by id, by the beginning of an id, by path, by its name, or
`last`."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar

from pi_daemon_client import ABSENT, Absent, AsyncClient, ServerError, types

from pi_daemon.cli import safe, titles
from pi_daemon.cli.exits import Exit, Failure
from pi_daemon.cli.listing import home, unique
from pi_daemon.cli.output import Output
from pi_daemon.cli.reach import Where, private, reach

T = TypeVar("T")
ProgressCallback = Callable[[dict[str, Any]], None]

LAST = "last"
LEAF = "leaf"

_BESIDE_THE_CONVERSATION = frozenset({"label", "session_info", "usage", "custom"})
"""Kinds of entries that say something about the session, not in it."""

_A_LOOK = 4
"""Entries that are read at a time on the way from the leaf to the conversation; few, as each may be large."""

_SHOWN = 5
"""Candidates that are named where a name fits several."""


class Opened(NamedTuple):
    client: AsyncClient
    state: types.SessionState

    @property
    def id(self) -> str:
        return self.state["sessionId"]


def as_path(name: str) -> Path | None:
    """The file that `name` is the path of; None where it doesn't look like a path, or nothing is there: it may be what
    a session is called. Raises Failure for a directory."""
    path = _path(name)
    if path is None or not path.exists():
        return None
    if path.is_dir():
        raise Failure(
            Exit.NOT_FOUND,
            f"{path} is a directory, no session.",
            hint="`pi-daemon list --sessions-dir` lists the sessions in a directory.",
            reason="noSession",
        )
    return path


def _path(name: str) -> Path | None:
    looks_like_one = os.sep in name or name.endswith(".jsonl")
    return Path(os.path.abspath(os.path.expanduser(name))) if looks_like_one else None


async def with_file(where: Where, path: Path, output: Output, action: Callable[[AsyncClient], Awaitable[T]]) -> T:
    """Does it with a daemon that may read this file: the usual one, or where that has the file outside its directory
    and the user named none, one for the file's own directory."""
    async with reach(where, output, for_file=True) as client:
        try:
            return await action(client)
        except ServerError as error:
            if error.reason != "outsideRoot" or not where.standard:
                raise
    async with output.working("Starting"):
        client = await private(where.beside(path))
    async with client:
        return await action(client)


async def with_session(
    where: Where,
    name: str,
    output: Output,
    action: Callable[[Opened], Awaitable[T]],
    *,
    write: bool = False,
    recover: bool = False,
) -> T:
    """Opens the session and does it. Raises Failure, ServerError, ConnectionLost, Unreachable."""
    how = Opening(write, recover)
    if (path := as_path(name)) is not None:
        file = path

        async def by_path(client: AsyncClient) -> T:
            async with output.working("Opening"):
                state = await how.open(client, path=str(file))
            return await action(Opened(client, state))

        return await with_file(where, path, output, by_path)
    async with reach(where, output) as client:
        async with output.working("Looking for the session") as progress:
            state = await _by_name(client, name, how, output, progress)
        return await action(Opened(client, state))


@dataclass(frozen=True)
class Opening:
    write: bool
    recover: bool

    async def open(
        self, client: AsyncClient, session_id: str | Absent = ABSENT, *, path: str | Absent = ABSENT
    ) -> types.SessionState:
        skip: Literal["skip"] | Absent = "skip" if self.recover else ABSENT
        read_only = ABSENT if self.write else True
        return await client.open_session(session_id, path=path, recover=skip, read_only=read_only)

    async def open_listed(self, client: AsyncClient, session: types.SessionInfo) -> types.SessionState:
        """By path where there is a file: an id may belong to several."""
        if session["path"] is not None:
            return await self.open(client, path=session["path"])
        return await self.open(client, session["sessionId"])


async def _by_name(
    client: AsyncClient, name: str, how: Opening, output: Output, progress: ProgressCallback
) -> types.SessionState:
    if name == LAST:
        newest = (await client.list_sessions(limit=1, progress=progress))["sessions"]
        if not newest:
            raise Failure(
                Exit.NOT_FOUND,
                f"There is no session in {client.daemon['sessionsDir']}.",
                hint="Name another directory with --sessions-dir.",
                reason="sessionNotFound",
            )
        return await how.open_listed(client, newest[0])
    try:
        return await how.open(client, name)
    except ServerError as error:
        if error.reason not in ("sessionNotFound", "invalidParams"):
            raise
    return await how.open_listed(client, await listed(client, name, output, progress))


async def listed(client: AsyncClient, name: str, output: Output, progress: ProgressCallback) -> types.SessionInfo:
    """The one session whose id is `name` or begins so, else the one that is called so. Raises Failure."""
    ids: list[str] = []
    found: list[types.SessionInfo] = []
    called: list[types.SessionInfo] = []
    async for session in client.iter_sessions(progress=progress):
        ids.append(session["sessionId"])
        if name and session["sessionId"].startswith(name):
            found.append(session)
        elif name and session["name"] == name:
            called.append(session)
    found = [session for session in found if session["sessionId"] == name] or found or called
    if len(found) == 1:
        return found[0]
    if not found:
        path = _path(name)
        raise Failure(
            Exit.NOT_FOUND,
            f"There is no file {path}, and no session is called so."
            if path is not None
            else f"No session in {client.daemon['sessionsDir']} has the id or the name {name}, and no id begins so.",
            hint="`pi-daemon list` shows the sessions there are; --sessions-dir names another directory.",
            reason="sessionNotFound",
        )
    names = [f"{session['path'] or session['sessionId']}" for session in found]
    raise Failure(
        Exit.NOT_FOUND,
        f"{len(found)} sessions fit {name}.",
        hint=_choose(_described(output, found, ids)),
        reason="ambiguousSession",
        data={"paths": names},
    )


async def entry_id(opened: Opened, name: str) -> str:
    """The entry whose id is `name` or begins so, or `leaf`. Raises Failure."""
    if name == LEAF:
        return await _leaf_of_the_conversation(opened)
    if await _stored(opened, name):
        return name
    tree = await opened.client.whole_tree(opened.id, filter="all")
    ids = _beginning(name, [node["id"] for node in tree["nodes"]])
    if not ids:
        # No tree shows all: an answer that calls tools and says nothing is left out, and a usage too.
        ids = _beginning(name, [entry["id"] async for entry in opened.client.iter_entries(opened.id)])
    if len(ids) == 1:
        return ids[0]
    if not ids:
        hint = f"`pi-daemon tree {opened.id}` shows the entries with their ids."
        raise Failure(Exit.NOT_FOUND, f"No entry has the id {name}.", hint=hint, reason="entryNotFound")
    raise Failure(
        Exit.NOT_FOUND, f"{len(ids)} entries fit {name}.", hint=_choose([*map(safe.line, ids)]), reason="ambiguousEntry"
    )


async def _stored(opened: Opened, name: str) -> bool:
    try:
        await opened.client.entries(opened.id, ids=[name])
    except ServerError as error:
        if error.reason != "entryNotFound":
            raise
        return False
    return True


def _beginning(name: str, ids: list[str]) -> list[str]:
    return list(dict.fromkeys(one for one in ids if name and one.startswith(name)))


async def _leaf_of_the_conversation(opened: Opened) -> str:
    """The last entry of the path that belongs to the conversation: to label the label that was set before, or to fork
    before it, is nobody's wish. Raises Failure."""
    path = (await opened.client.path(opened.id))["entryIds"]
    for end in range(len(path), 0, -_A_LOOK):
        found = await opened.client.entries(opened.id, ids=path[max(0, end - _A_LOOK) : end])
        kinds = {entry["id"]: entry["type"] for entry in found["entries"]}
        for one in reversed(path[max(0, end - _A_LOOK) : end]):
            if kinds.get(one) not in _BESIDE_THE_CONVERSATION:
                return one
    if path:
        words = f"On the path to the leaf ({path[-1]}) is nothing of the conversation."
        raise Failure(Exit.NOT_FOUND, words, hint="Name an entry by its id.", reason="entryNotFound")
    raise Failure(Exit.NOT_FOUND, "The leaf is before the first entry.", reason="entryNotFound")


def _described(output: Output, sessions: list[types.SessionInfo], ids: list[str]) -> list[str]:
    """What one would type for each: as much of its id as no other of `ids` begins with, its path where several have
    that; and what it is."""
    shortest, times = unique(ids), Counter(ids)
    typed = [
        shortest[session["sessionId"]] if times[session["sessionId"]] == 1 else session["path"] or session["sessionId"]
        for session in sessions
    ]
    width = max(map(len, typed[:_SHOWN]))
    called = [titles.of_listed(output, session) or titles.UNNAMED for session in sessions]
    places = [safe.line(home(session["cwd"])) for session in sessions]
    rows = zip(typed, called, places, strict=True)
    return [f"    {safe.line(one):<{width}}  {title}  ({place})" for one, title, place in rows]


def _choose(names: list[str]) -> str:
    rest = len(names) - _SHOWN
    return "\n".join(["Say which:", *names[:_SHOWN], *([f"and {rest} more"] if rest > 0 else [])])
