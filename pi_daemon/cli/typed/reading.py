"""Looking at sessions; nothing is changed."""

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
    Sessions,
    SessionsDir,
    Socket,
    absolute,
    app,
    run,
)
from pi_daemon.cli.values import COUNT, TOKENS, ExportFormat, Filter, Format, Pairing, choice

PANEL = "Look"


@app.command("list", rich_help_panel=PANEL)
def list_command(
    cwd: Annotated[
        Path | None, typer.Option("--cwd", metavar="DIR", help="Only sessions of this project directory.")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", **COUNT, help="How many to show; 0 shows all.")] = 40,
    totals: Annotated[
        bool, typer.Option("--totals", help="Also tokens and cost, forked answers counted once.")
    ] = False,
    socket: Socket = None,
    sessions_dir: SessionsDir = None,
    json: Json = False,
) -> None:
    """List sessions, newest activity first."""
    from pi_daemon.cli.listing import list_sessions

    directory = None if cwd is None else str(cwd.absolute())
    run(
        json,
        socket,
        sessions_dir,
        lambda where, output: list_sessions(where, output, cwd=directory, limit=limit, totals=totals),
    )


@app.command(rich_help_panel=PANEL)
def search(
    query: Annotated[str, typer.Argument(metavar="QUERY", help='Words and "phrases"; all of them have to occur.')],
    cwd: Annotated[
        Path | None, typer.Option("--cwd", metavar="DIR", help="Only in sessions of this project directory.")
    ] = None,
    role: Annotated[
        str | None, typer.Option("--role", metavar="ROLE", help="Only what a user, assistant, toolResult, … said.")
    ] = None,
    model: Annotated[
        str | None, typer.Option("--model", metavar="MODEL", help="Only answers of models whose name has this.")
    ] = None,
    label: Annotated[str | None, typer.Option("--label", metavar="LABEL", help="Only entries with this label.")] = None,
    after: Annotated[str | None, typer.Option("--after", metavar="TIME", help="Only since then, ISO 8601.")] = None,
    before: Annotated[str | None, typer.Option("--before", metavar="TIME", help="Only before then, ISO 8601.")] = None,
    limit: Annotated[int, typer.Option("--limit", **COUNT, help="How many to show; 0 shows all.")] = 20,
    wait: Annotated[
        float, typer.Option("--wait", metavar="SECONDS", min=0, help="So long until all sessions are indexed.")
    ] = 5.0,
    socket: Socket = None,
    sessions_dir: SessionsDir = None,
    json: Json = False,
) -> None:
    """Find where something was said, in all sessions. ○ marks what lies on a branch that was left. Exit code 3
    where nothing was found."""
    from pi_daemon.cli.search import Asked, search

    directory = None if cwd is None else str(cwd.absolute())
    asked = Asked(query, directory, role, model, label, after, before)
    run(
        json,
        socket,
        sessions_dir,
        lambda where, output: search(where, output, asked, limit=limit, wait=wait),
    )


@app.command(rich_help_panel=PANEL)
def tree(
    session: Session,
    filter: Annotated[Filter, typer.Option(**choice(Filter), help="Which entries to show.")] = Filter.DEFAULT,
    fold: Annotated[
        bool | None,
        typer.Option(
            "--fold/--no-fold",
            help="Shorten long straight stretches, but for compactions, summaries of branches and labels. Default: "
            "--fold, and --no-fold with --filter user-only.",
        ),
    ] = None,
    context: Annotated[bool, typer.Option("--context", help="Mark what the model doesn't know.")] = False,
    recover: Recover = False,
    socket: Socket = None,
    sessions_dir: SessionsDir = None,
    json: Json = False,
) -> None:
    """Draw a session's tree: branches, labels, the active path and the leaf."""
    from pi_daemon.cli.tree import FILTERS, tree

    run(
        json,
        socket,
        sessions_dir,
        lambda where, output: tree(
            where,
            output,
            session,
            filter=FILTERS[filter],
            fold=filter is not Filter.USER_ONLY if fold is None else fold,
            context=context,
            recover=recover,
        ),
        can_recover=True,
    )


@app.command(rich_help_panel=PANEL)
def context(
    session: Session,
    leaf: Annotated[
        str | None, typer.Option("--leaf", metavar="ENTRY", help="At this entry, not at the session's leaf.")
    ] = None,
    format: Annotated[
        Format, typer.Option(**choice(Format), help="As the agent holds it, or as a provider is sent it.")
    ] = Format.AGENT,
    pairing: Annotated[
        Pairing,
        typer.Option(**choice(Pairing), help="Report tool calls and results without their counterpart, or mend them."),
    ] = Pairing.REPORT,
    full: Annotated[bool, typer.Option("--full", help="Show long texts whole.")] = False,
    recover: Recover = False,
    socket: Socket = None,
    sessions_dir: SessionsDir = None,
    json: Json = False,
) -> None:
    """Show what the model would see: messages, where each comes from, tokens, problems."""
    from pi_daemon.cli.context import context

    run(
        json,
        socket,
        sessions_dir,
        lambda where, output: context(
            where, output, session, leaf=leaf, format=format, pairing=pairing, full=full, recover=recover
        ),
        can_recover=True,
    )


@app.command(rich_help_panel=PANEL)
def show(
    session: Session,
    entries: Annotated[
        list[str], typer.Argument(metavar="ENTRY...", help="Ids, beginnings of ids, or `leaf`.", show_default=False)
    ],
    recover: Recover = False,
    socket: Socket = None,
    sessions_dir: SessionsDir = None,
    json: Json = False,
) -> None:
    """Show entries in full: texts, thinking, tool calls with their arguments, results, summaries."""
    from pi_daemon.cli.show import show

    run(
        json,
        socket,
        sessions_dir,
        lambda where, output: show(where, output, session, entries, recover=recover),
        can_recover=True,
    )


@app.command(rich_help_panel=PANEL)
def resume(
    session: Session,
    leaf: Annotated[
        str | None,
        typer.Option("--leaf", metavar="ENTRY", help="Of the path to this entry, not to the session's leaf."),
    ] = None,
    tool: Annotated[
        list[str] | None, typer.Option("--tool", metavar="NAME", help="A tool you have; name all. Repeatable.")
    ] = None,
    credential: Annotated[
        list[str] | None,
        typer.Option("--credential", metavar="NAME", help="A credential you have, by name only; name all. Repeatable."),
    ] = None,
    full: Annotated[bool, typer.Option("--full", help="Show every finding, and files that are as written.")] = False,
    recover: Recover = False,
    socket: Socket = None,
    sessions_dir: SessionsDir = None,
    json: Json = False,
) -> None:
    """Say what a resumed session can't take for granted: directory, git, files and calls, as they are now."""
    from pi_daemon.cli.resume import Asked, resume

    asked = Asked(leaf, tool or None, credential or None)
    run(
        json,
        socket,
        sessions_dir,
        lambda where, output: resume(where, output, session, asked, full=full, recover=recover),
        can_recover=True,
    )


@app.command(rich_help_panel=PANEL)
def why(
    session: Session,
    entry: Annotated[
        str | None, typer.Argument(metavar="[ENTRY]", help="Its id, the beginning of it, or `leaf`; without one: all.")
    ] = None,
    query: Annotated[
        str | None, typer.Option("--query", metavar="TEXT", help="The entries that have this text, in any case.")
    ] = None,
    leaf: Annotated[
        str | None, typer.Option("--leaf", metavar="ENTRY", help="At this entry, not at the session's leaf.")
    ] = None,
    every: Annotated[
        bool, typer.Option("--all", help="List each entry, where they are summed up by their reasons else.")
    ] = False,
    recover: Recover = False,
    socket: Socket = None,
    sessions_dir: SessionsDir = None,
    json: Json = False,
) -> None:
    """Say why the model knows an entry or a text, or why it doesn't. Exit code 3 where no entry has the text."""
    from pi_daemon.cli.why import why

    run(
        json,
        socket,
        sessions_dir,
        lambda where, output: why(
            where, output, session, entry=entry, query=query, leaf=leaf, every=every, recover=recover
        ),
        can_recover=True,
    )


@app.command(rich_help_panel=PANEL)
def plan(
    session: Session,
    keep_recent_tokens: KeepRecent = None,
    reserve_tokens: Reserve = None,
    window: Annotated[
        int | None, typer.Option("--window", **TOKENS, help="The model's context window, where the session has none.")
    ] = None,
    instructions: Instructions = None,
    full: Annotated[bool, typer.Option("--full", help="Also what a model would be asked, and all files.")] = False,
    socket: Socket = None,
    sessions_dir: SessionsDir = None,
    json: Json = False,
) -> None:
    """Show what `compact` would summarize and keep. Nothing is written."""
    from pi_daemon.cli.compaction import Asked, plan

    if window == 0:
        raise typer.BadParameter("A window has at least one token.", param_hint="--window")
    asked = Asked(keep_recent_tokens, reserve_tokens, instructions, window=window)
    run(json, socket, sessions_dir, lambda where, output: plan(where, output, session, asked, full=full))


@app.command(rich_help_panel=PANEL)
def stats(
    session: Session,
    window: Annotated[
        int | None, typer.Option("--window", **TOKENS, help="The model's context window, where the session has none.")
    ] = None,
    full: Annotated[bool, typer.Option("--full", help="Show all branches.")] = False,
    recover: Recover = False,
    socket: Socket = None,
    sessions_dir: SessionsDir = None,
    json: Json = False,
) -> None:
    """Add a session up: tokens, cost, tool calls, failures and time, by model and by branch."""
    from pi_daemon.cli.stats import stats

    if window == 0:
        raise typer.BadParameter("A window has at least one token.", param_hint="--window")
    run(
        json,
        socket,
        sessions_dir,
        lambda where, output: stats(where, output, session, window=window, full=full, recover=recover),
        can_recover=True,
    )


@app.command(rich_help_panel=PANEL)
def export(
    session: Session,
    format: Annotated[
        ExportFormat | None,
        typer.Option(
            **choice(ExportFormat),
            help="A session file of one path, every line of the file, or a document to read. "
            "Default: what the name of the FILE says, else jsonl.",
        ),
    ] = None,
    leaf: Annotated[
        str | None, typer.Option("--leaf", metavar="ENTRY", help="The path to this entry, not to the session's leaf.")
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write it there, where nothing is yet: to FILE.md, FILE.jsonl, or into a directory by the session's "
            "id. Else, and for `-`, it is printed.",
        ),
    ] = None,
    thinking: Annotated[
        bool, typer.Option("--thinking/--no-thinking", help="In a document: with what the model thought, folded.")
    ] = True,
    full: Annotated[bool, typer.Option("--full", help="In a document: long tool results whole.")] = False,
    recover: Recover = False,
    socket: Socket = None,
    sessions_dir: SessionsDir = None,
    json: Json = False,
) -> None:
    """Take a path of a session elsewhere, as a session file or as Markdown. Nothing is overwritten."""
    from pi_daemon.cli.export import export

    chosen = format.value if format is not None else None
    run(
        json,
        socket,
        sessions_dir,
        lambda where, output: export(
            where,
            output,
            session,
            format=chosen,
            leaf=leaf,
            file=None if file is not None and str(file) == "-" else absolute(file),
            thinking=thinking,
            full=full,
            recover=recover,
        ),
        can_recover=True,
    )


@app.command(rich_help_panel=PANEL)
def check(sessions: Sessions, socket: Socket = None, sessions_dir: SessionsDir = None, json: Json = False) -> None:
    """Say what is wrong with session files. Changes nothing; exit code 4 where something is wrong, of several files the
    highest one. Several with --json are one object with `files`."""
    from pi_daemon.cli.files import check

    run(json, socket, sessions_dir, lambda where, output: check(where, output, sessions))


@app.command(rich_help_panel=PANEL)
def doctor(
    directory: Annotated[
        Path | None, typer.Argument(metavar="[DIR]", help="The sessions directory, where not the usual one.")
    ] = None,
    fix: Annotated[
        bool,
        typer.Option(
            "--fix",
            help="Mend what can be mended, but for files that were written to within the last minute. "
            "Originals are kept, nothing is deleted.",
        ),
    ] = False,
    full: Annotated[bool, typer.Option("--full", help="Show all files.")] = False,
    socket: Socket = None,
    sessions_dir: SessionsDir = None,
    json: Json = False,
) -> None:
    """Go over all session files: what is damaged, half written, there twice, or no session. Exit code 4 where something
    is wrong."""
    from pi_daemon.cli.doctor import doctor

    if directory is not None and sessions_dir is not None:
        raise typer.BadParameter("Give DIR or --sessions-dir.", param_hint="DIR")
    run(
        json,
        socket,
        absolute(directory) or sessions_dir,
        lambda where, output: doctor(where, output, fix=fix, full=full),
    )
