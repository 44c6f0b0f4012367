"""Changing sessions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pi_daemon.cli.typed.base import Json, Recover, Session, SessionsDir, Socket, app, run

PANEL = "Change"


@app.command(rich_help_panel=PANEL)
def fork(
    session: Session,
    entry: Annotated[
        str | None, typer.Argument(metavar="[ENTRY]", help="Where to fork; the leaf, if none is given.")
    ] = None,
    before: Annotated[bool, typer.Option("--before", help="Before that user message, and print its text.")] = False,
    tree: Annotated[bool, typer.Option("--tree", help="Copy the whole tree, not one path.")] = False,
    cwd: Annotated[Path | None, typer.Option("--cwd", metavar="DIR", help="The new session's directory.")] = None,
    id: Annotated[str | None, typer.Option("--id", help="The new session's id.")] = None,
    recover: Recover = False,
    socket: Socket = None,
    sessions_dir: SessionsDir = None,
    json: Json = False,
) -> None:
    """Make a new session from a path of this one."""
    from pi_daemon.cli.changes import fork

    directory = None if cwd is None else str(cwd.absolute())
    run(
        json,
        socket,
        sessions_dir,
        lambda where, output: fork(
            where, output, session, entry, before=before, tree=tree, cwd=directory, new_id=id, recover=recover
        ),
        can_recover=True,
    )


@app.command(rich_help_panel=PANEL)
def label(
    session: Session,
    entry: Annotated[str, typer.Argument(metavar="ENTRY", help="Id, beginning of an id, or `leaf`.")],
    text: Annotated[str | None, typer.Argument(metavar="[LABEL]")] = None,
    clear: Annotated[bool, typer.Option("--clear", help="Take the label away.")] = False,
    socket: Socket = None,
    sessions_dir: SessionsDir = None,
    json: Json = False,
) -> None:
    """Label an entry."""
    from pi_daemon.cli.changes import label

    if clear == bool(text):
        raise typer.BadParameter("Give a label, or --clear.", param_hint="LABEL")
    run(json, socket, sessions_dir, lambda where, output: label(where, output, session, entry, text))


@app.command(rich_help_panel=PANEL)
def rename(
    session: Session,
    name: Annotated[str, typer.Argument(metavar="NAME", help="An empty one takes the name away.")],
    socket: Socket = None,
    sessions_dir: SessionsDir = None,
    json: Json = False,
) -> None:
    """Name a session."""
    from pi_daemon.cli.changes import rename

    run(json, socket, sessions_dir, lambda where, output: rename(where, output, session, name))


@app.command(rich_help_panel=PANEL)
def repair(session: Session, socket: Socket = None, sessions_dir: SessionsDir = None, json: Json = False) -> None:
    """Rewrite a damaged session file without what can't be read. The original is kept."""
    from pi_daemon.cli.files import repair

    run(json, socket, sessions_dir, lambda where, output: repair(where, output, session))
