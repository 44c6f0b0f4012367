"""Parameters and result of daemon/doctor."""

from __future__ import annotations

from typing import Literal

from msgspec import UNSET, UnsetType

from pi_daemon.rpc.types.base import DamageInfo, Wire


class DoctorParams(Wire, kw_only=True):
    """What to do.

    `fix`: mend what `repair` names; false changes nothing.
    `work_done_token`: where to report progress.
    """

    fix: bool = False
    work_done_token: str | int | UnsetType = UNSET


class DoctorFinding(Wire, kw_only=True):
    """One thing in the sessions directory.

    `kind`: problems: `damaged` (lines that can't be read, or a file that only can be read), `halfWritten` (a last line
        without an end), `empty`, `leftover` (a file of the daemon's own that was never finished), `duplicated` (several
        files with one session id, or one file under several names), `unreadable`; notes: `irregular` (orphans, ids used
        again, second headers: read as well as can be), `linked` (a link to a session beside it), `foreign` (no
        session), `misplaced` (not in the folder of its cwd, or called after another id), `outside` (a link that leads
        out, or nowhere), `notRead` (too large to be read whole), `parentMissing` (the session that it was forked from
        is gone).
    `problem`: false: a note, nothing has to be done.
    `path`: the file or folder; where its name is no UTF-8, with U+FFFD for what isn't.
    `message`: what is wrong, in words.
    `session_id`: the id in its header, where it has one.
    `others`: the other files concerned.
    `repair`: what `fix` does about it: `repair` the file as `session/repair` does, or move it to the state directory
        (`putAway`); null: nothing, as nothing is ever deleted.
    `damage`: what is wrong with the file, the first of it.
    `damage_count`: how much that is altogether.
    `status`: `found`: nothing was tried; `fixed`; `skipped`: somebody has it open, or wrote to it less than a minute
        ago; `failed`.
    `outcome`: the same in words, where something was tried.
    `kept_at`: where the file as it was is kept.
    """

    kind: str
    problem: bool
    path: str
    message: str
    session_id: str | None
    others: list[str]
    repair: Literal["repair", "putAway"] | None
    damage: list[DamageInfo]
    damage_count: int
    status: Literal["found", "fixed", "skipped", "failed"]
    outcome: str | None
    kept_at: str | None


class DoctorResult(Wire, kw_only=True):
    """How the sessions directory is.

    `sessions_dir`: the directory.
    `folders`: how many were looked into.
    `files`: how many session files were looked at.
    `bytes`: their size.
    `problems`: how many problems there are yet.
    `findings`: problems and notes, by path.
    `left_out`: how many more there are: of either kind 2,000 are told.
    """

    sessions_dir: str
    folders: int
    files: int
    bytes: int
    problems: int
    findings: list[DoctorFinding]
    left_out: int
