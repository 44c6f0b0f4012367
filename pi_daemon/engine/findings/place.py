"""Whether the directory of a session is there, and where else it may be."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import NamedTuple

from pi_daemon.compaction.shown.evidence import Evidence
from pi_daemon.compaction.shown.places import within
from pi_daemon.engine.findings.finding import CwdState, Finding, said
from pi_daemon.storage.world import Seen, World

FILES_ASKED = 50
"""Files of a path by which a directory is known again, the latest."""

_STATES: dict[str, CwdState] = {"folder": "there", "gone": "gone", "unreadable": "unreadable"}


class Place(NamedTuple):
    """`moved_to`: directory → how many of the path's files it has, of `asked`; the likeliest first."""

    state: CwdState
    moved_to: dict[str, int]
    asked: int
    nearest: str


def look(world: World, evidence: Evidence, cwd: str) -> Place:
    """To be called in a thread that may wait for a disk."""
    if not cwd.startswith("/"):
        seen = Seen("gone", cwd)  # a path of Windows, or none
    else:
        seen = world.look(cwd)
    state = _STATES.get(seen.what, "notDirectory")
    if state == "there" and not os.access(cwd, os.R_OK | os.X_OK):
        state = "unreadable"
    if state != "gone":
        return Place(state, {}, 0, "")
    files = [path for path in evidence.files if within(path, cwd)][-FILES_ASKED:]
    found: dict[str, int] = {}
    for folder in world.near(cwd):
        found[folder] = sum(world.look(os.path.join(folder, os.path.relpath(one, cwd))).what == "file" for one in files)
    ordered = dict(sorted(found.items(), key=lambda item: -item[1]))
    return Place(state, ordered, len(files), world.nearest(cwd) if cwd.startswith("/") else "")


def findings(place: Place, cwd: str, same_repository: Sequence[str]) -> list[Finding]:
    """`same_repository`: those of `moved_to` whose repository has a commit that the path shows."""
    if place.state == "there":
        return []
    if place.state == "notDirectory":
        message = "The session's directory is a file now."
        return [Finding("cwdNotDirectory", "problem", message, "Fork the session into another directory.", path=cwd)]
    if place.state == "unreadable":
        message = "The session's directory can't be read."
        advice = "Check its permissions; nothing below it could be compared."
        return [Finding("cwdUnreadable", "problem", message, advice, path=cwd)]
    message = "The session's directory isn't there; nothing in it could be compared."
    if place.nearest == "/" or not cwd.startswith("/"):
        message += " Not even the top of its path is: perhaps it is on another machine."
    else:
        message += f" What is there of its path is {said(place.nearest)}."
    advice = "Bring the directory back, or fork the session into the one that has taken its place."
    found = [Finding("cwdGone", "problem", message, advice, path=cwd)]
    for folder, count in place.moved_to.items():
        sure = folder in same_repository
        reasons = ["its repository has a commit that this path made or saw"] if sure else []
        if place.asked:
            reasons.append(f"it has {count} of {place.asked} files that this path names")
        if place.asked and not count and not sure:
            continue  # a name alone, and what is in it speaks against it
        why = ", and ".join(reasons) or "nothing but its name speaks for it"
        message = f"{said(folder)} may be the same directory: {why}."
        advice = "If it is, fork the session with that directory as its cwd."
        found.append(Finding("cwdElsewhere", "warning" if sure or count else "info", message, advice, path=folder))
    return found
