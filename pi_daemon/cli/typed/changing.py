"""Changing sessions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pi_daemon.cli.typed.base import (
    Instructions,
    Json,
    KeepRecent,
    Recover,
    Reserve,
    Session,
    SessionsDir,
    Socket,
    app,
    run,
)
from pi_daemon.cli.values import OpenCalls, Policy, Summarizer, choice

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
def move(
    session: Session,
    entry: Annotated[
        str, typer.Argument(metavar="ENTRY", help="Id, beginning of an id, `leaf`, or `start`: before the first entry.")
    ],
    before: Annotated[bool, typer.Option("--before", help="Before that user message, and print its text.")] = False,
    summarize: Annotated[bool, typer.Option("--summarize", help="Summarize the branch that is left.")] = False,
    summarizer: Annotated[Summarizer | None, typer.Option(**choice(Summarizer), help="Who makes the summary.")] = None,
    instructions: Instructions = None,
    label: Annotated[str | None, typer.Option("--label", help="Label the summary, or else the entry.")] = None,
    socket: Socket = None,
    sessions_dir: SessionsDir = None,
    json: Json = False,
) -> None:
    """Move a session's leaf: what is appended next goes there. Nothing is deleted."""
    from pi_daemon.cli.changes import Move, move

    if (summarizer is not None or instructions is not None) and not summarize:
        raise typer.BadParameter("--summarizer and --instructions are for --summarize.")
    chosen = summarizer.value if summarizer is not None else None
    wanted = Move(entry, before, summarize, chosen, instructions, label)
    run(json, socket, sessions_dir, lambda where, output: move(where, output, session, wanted))


@app.command(rich_help_panel=PANEL)
def compact(
    session: Session,
    keep_recent_tokens: KeepRecent = None,
    reserve_tokens: Reserve = None,
    instructions: Instructions = None,
    summary: Annotated[
        Path | None, typer.Option("--summary", metavar="FILE", help="The summary itself; - reads it from stdin.")
    ] = None,
    summarizer: Annotated[
        Summarizer | None, typer.Option(**choice(Summarizer), help="Who makes it; else the first that is there.")
    ] = None,
    retention: Annotated[
        Policy, typer.Option(**choice(Policy), help="What to do where the summary lacks facts.")
    ] = Policy.AMEND,
    open_calls: Annotated[
        OpenCalls, typer.Option(**choice(OpenCalls), help="What to do while a tool call at the leaf has no result.")
    ] = OpenCalls.REFUSE,
    full: Annotated[bool, typer.Option("--full", help="Print the summary.")] = False,
    socket: Socket = None,
    sessions_dir: SessionsDir = None,
    json: Json = False,
) -> None:
    """Summarize the older part of what the model sees. The file only grows: nothing of it is lost."""
    from pi_daemon.cli.compaction import Asked, compact

    if summary is not None and (summarizer is not None or instructions is not None):
        raise typer.BadParameter("--summarizer and --instructions are for a summary that is still to be made.")
    chosen = summarizer.value if summarizer is not None else None
    asked = Asked(keep_recent_tokens, reserve_tokens, instructions, summary, chosen, retention.value, open_calls.value)
    run(json, socket, sessions_dir, lambda where, output: compact(where, output, session, asked, full=full))


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
    """Rewrite a damaged session file so that it can be read: entries on one line are split, what can't be read is left
    out. The original is kept."""
    from pi_daemon.cli.files import repair

    run(json, socket, sessions_dir, lambda where, output: repair(where, output, session))
