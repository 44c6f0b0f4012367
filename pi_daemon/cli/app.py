"""The command line: what can be typed. Each command imports what it does when it does it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
import typer.core

from pi_daemon.cli.fast import IDLE_MINUTES
from pi_daemon.cli.values import COUNT, MINUTES, Durability, Filter, Format, Level, Pairing, choice

if TYPE_CHECKING:
    from pi_daemon.cli.exits import Exit
    from pi_daemon.cli.output import Output
    from pi_daemon.cli.reach import Where

EPILOG = (
    "A SESSION is named by its id, the beginning of its id, its path, its name, or `last`. "
    "Exit codes: 0 done, 1 refused or failed, 2 the command line makes no sense, 3 no such session or entry, or an "
    "ambiguous name, or a file that is no session, 4 the file is damaged, 5 no daemon, 130 interrupted, 141 the reader "
    "of the output has gone."
)


class _Commands(typer.core.TyperGroup):
    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except Exception as error:
            # An option that isn't there. Where pi keeps the sessions of a project is called `--home-me-project--`.
            option = getattr(error, "option_name", None)
            if isinstance(option, str) and (os.sep in option or os.path.lexists(option)):
                error.message = f"{error.message}. A path that begins with -- is written ./{option}"  # type: ignore[attr-defined]
            raise


app = typer.Typer(
    cls=_Commands,
    name="pi-daemon",
    help="Sessions of the pi coding agent as trees, served to many clients at once.",
    epilog=EPILOG,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Session = Annotated[str, typer.Argument(metavar="SESSION", help="Id, beginning of an id, path, name, or `last`.")]
Sessions = Annotated[
    list[str], typer.Argument(metavar="SESSION...", help="Ids, beginnings of ids, paths, names, or `last`.")
]
Socket = Annotated[
    Path | None, typer.Option("--socket", metavar="PATH", help="The daemon's Unix socket, where not the standard one.")
]
SessionsDir = Annotated[
    Path | None,
    typer.Option("--sessions-dir", metavar="DIR", help="Where the sessions lie, where not in pi's own directory."),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Recover = Annotated[bool, typer.Option("--recover", help="Read what can be read of a damaged file.")]


Idle = Annotated[
    float | None,
    typer.Option(
        "--idle",
        **MINUTES,
        help="Leave so long after the last client; 0 never. Default: 10, and 0 with --stdio, --tcp or --ws.",
    ),
]


def _run(
    as_json: bool,
    socket: Path | None,
    sessions_dir: Path | None,
    do: Callable[[Where, Output], Coroutine[Any, Any, Exit | None]],
    *,
    can_recover: bool = False,
) -> None:
    """Does it, and ends the process with what it returns or what its failure means."""
    import asyncio

    from pi_daemon_client import ClientError

    from pi_daemon.cli.exits import Exit, Failure, failure_of
    from pi_daemon.cli.output import Output
    from pi_daemon.cli.reach import Where

    output = Output(as_json)
    try:
        try:
            code = asyncio.run(do(Where(socket, sessions_dir), output))
        except (Failure, ClientError) as error:
            failure = error if isinstance(error, Failure) else failure_of(error, recover=can_recover)
            output.fail(failure)
            code = failure.code
        sys.stdout.flush()
    except BrokenPipeError:
        # Nothing more can be said there; what is still buffered must not be tried again at the end of the process.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = Exit.BROKEN_PIPE
    except KeyboardInterrupt:
        code = Exit.INTERRUPTED
    raise typer.Exit(int(code or 0))


def _version(wanted: bool) -> None:
    if wanted:
        from pi_daemon import __version__

        typer.echo(f"pi-daemon {__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_version, help="Print the version.")
    ] = False,
) -> None: ...


@app.command()
def serve(
    stdio: Annotated[bool, typer.Option("--stdio", help="Serve stdin and stdout.")] = False,
    socket: Annotated[
        Path | None, typer.Option("--socket", metavar="PATH", help="Serve a Unix socket at PATH.")
    ] = None,
    tcp: Annotated[
        str | None, typer.Option("--tcp", metavar="HOST:PORT", help="Serve TCP; clients want the token.")
    ] = None,
    ws: Annotated[
        str | None, typer.Option("--ws", metavar="HOST:PORT", help="Serve WebSocket; clients want the token.")
    ] = None,
    sessions_dir: SessionsDir = None,
    state_dir: Annotated[
        Path | None, typer.Option("--state-dir", metavar="DIR", help="Where the daemon keeps what is its own.")
    ] = None,
    durability: Annotated[
        Durability,
        typer.Option(**choice(Durability), help="What an acknowledged append survives: power loss, or kill -9 alone."),
    ] = Durability.SYNCED,
    idle: Idle = None,
    log_level: Annotated[
        Level | None,
        typer.Option(**choice(Level), help="What goes to the log; with debug, every request. [PI_DAEMON_LOG_LEVEL]"),
    ] = None,
    detach: Annotated[
        bool, typer.Option("--detach", help="Go on in the background, and return when it listens.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="With --detach: print one JSON object.")] = False,
) -> None:
    """Run the daemon. Transports can be combined; with none of them it serves the Unix socket at its standard place."""
    if (detach and stdio) or (json and not detach):
        raise typer.BadParameter("--detach and --stdio exclude each other, and --json wants --detach.")
    from pi_daemon.cli.serving import Serving, serve

    beside = stdio or tcp is not None or ws is not None
    minutes = idle if idle is not None else 0 if beside else IDLE_MINUTES
    serving = Serving(
        stdio=stdio,
        socket=_absolute(socket),
        tcp=_address(tcp, "--tcp"),
        websocket=_address(ws, "--ws"),
        sessions_dir=_absolute(sessions_dir),
        state_dir=_absolute(state_dir),
        durability=durability.value,
        idle=60 * minutes,
        level=log_level.value if log_level is not None else None,
    )
    raise typer.Exit(serve(serving, detached=detach, as_json=json))


def _absolute(path: Path | None) -> Path | None:
    return None if path is None else path.expanduser().absolute()


def _address(text: str | None, option: str) -> tuple[str, int] | None:
    """HOST:PORT, [HOST]:PORT for IPv6, or a port alone, which is one of this machine."""
    if text is None:
        return None
    host, _, port = text.rpartition(":")
    if not port.isascii() or not port.isdigit() or int(port) > 65535:
        raise typer.BadParameter(f"{text!r} is not HOST:PORT", param_hint=option)
    return host.removeprefix("[").removesuffix("]") or "127.0.0.1", int(port)


@app.command()
def connect(socket: Socket = None, sessions_dir: SessionsDir = None, idle: Idle = None) -> None:
    """Join the one shared daemon over stdin and stdout, as an editor does; start it where none runs. A client stays
    connected when the daemon is replaced."""
    from pi_daemon.cli import fast

    fast.connect(_absolute(socket), _absolute(sessions_dir), idle)


@app.command()
def demo(
    keep: Annotated[bool, typer.Option("--keep", help="Leave the demo's files where they are.")] = False,
    json: Json = False,
) -> None:
    """Show the whole of it: a daemon, an editor, a second client that watches, branches, forks, a crash."""
    from pi_daemon.cli.demo import demo

    _run(json, None, None, lambda where, output: demo(output, keep=keep))


@app.command("list")
def list_command(
    cwd: Annotated[
        Path | None, typer.Option("--cwd", metavar="DIR", help="Only sessions of this project directory.")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", **COUNT, help="How many to show; 0 shows all.")] = 40,
    socket: Socket = None,
    sessions_dir: SessionsDir = None,
    json: Json = False,
) -> None:
    """List sessions, newest activity first."""
    from pi_daemon.cli.listing import list_sessions

    directory = None if cwd is None else str(cwd.absolute())
    _run(json, socket, sessions_dir, lambda where, output: list_sessions(where, output, cwd=directory, limit=limit))


@app.command()
def tree(
    session: Session,
    filter: Annotated[Filter, typer.Option(**choice(Filter), help="Which entries to show.")] = Filter.DEFAULT,
    fold: Annotated[bool, typer.Option("--fold/--no-fold", help="Shorten long straight stretches.")] = True,
    recover: Recover = False,
    socket: Socket = None,
    sessions_dir: SessionsDir = None,
    json: Json = False,
) -> None:
    """Draw a session's tree: branches, labels, the active path and the leaf."""
    from pi_daemon.cli.tree import FILTERS, tree

    _run(
        json,
        socket,
        sessions_dir,
        lambda where, output: tree(where, output, session, filter=FILTERS[filter], fold=fold, recover=recover),
        can_recover=True,
    )


@app.command()
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

    _run(
        json,
        socket,
        sessions_dir,
        lambda where, output: context(
            where, output, session, leaf=leaf, format=format, pairing=pairing, full=full, recover=recover
        ),
        can_recover=True,
    )


@app.command()
def check(sessions: Sessions, socket: Socket = None, sessions_dir: SessionsDir = None, json: Json = False) -> None:
    """Say what is wrong with session files. Changes nothing; exit code 4 where something is wrong, of several files the
    highest one. Several with --json are one object with `files`."""
    from pi_daemon.cli.files import check

    _run(json, socket, sessions_dir, lambda where, output: check(where, output, sessions))


@app.command()
def repair(session: Session, socket: Socket = None, sessions_dir: SessionsDir = None, json: Json = False) -> None:
    """Rewrite a damaged session file without what can't be read. The original is kept."""
    from pi_daemon.cli.files import repair

    _run(json, socket, sessions_dir, lambda where, output: repair(where, output, session))


@app.command()
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
    _run(
        json,
        socket,
        sessions_dir,
        lambda where, output: fork(
            where, output, session, entry, before=before, tree=tree, cwd=directory, new_id=id, recover=recover
        ),
        can_recover=True,
    )


@app.command()
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
    _run(json, socket, sessions_dir, lambda where, output: label(where, output, session, entry, text))


@app.command()
def rename(
    session: Session,
    name: Annotated[str, typer.Argument(metavar="NAME", help="An empty one takes the name away.")],
    socket: Socket = None,
    sessions_dir: SessionsDir = None,
    json: Json = False,
) -> None:
    """Name a session."""
    from pi_daemon.cli.changes import rename

    _run(json, socket, sessions_dir, lambda where, output: rename(where, output, session, name))


@app.command()
def status(socket: Socket = None, json: Json = False) -> None:
    """Say what the running daemon is doing. Exit code 5 where none runs."""
    from pi_daemon.cli.process import status

    _run(json, socket, None, status)


@app.command()
def stop(
    drain: Annotated[
        bool, typer.Option("--drain/--no-drain", help="Let running requests finish and write what is not written.")
    ] = True,
    socket: Socket = None,
    json: Json = False,
) -> None:
    """Stop the running daemon."""
    from pi_daemon.cli.process import stop

    _run(json, socket, None, lambda where, output: stop(where, output, drain=drain))


@app.command()
def logs(
    count: Annotated[int, typer.Option("-n", "--lines", **COUNT, help="How many lines to show.")] = 50,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Show what comes, until interrupted.")] = False,
    socket: Socket = None,
    state_dir: Annotated[
        Path | None, typer.Option("--state-dir", metavar="DIR", help="As it was given to the daemon.")
    ] = None,
    json: Json = False,
) -> None:
    """Show what the daemon has said of itself: who came, what took long, what failed. It never says what was sent."""
    from pi_daemon.cli.logs import logs

    _run(
        json,
        _absolute(socket),
        None,
        lambda where, output: logs(where, output, count=count, follow=follow, state_dir=_absolute(state_dir)),
    )


@app.command()
def service(
    install: Annotated[bool, typer.Option("--install", help="Write them where systemd looks for them.")] = False,
    idle: Annotated[float, typer.Option("--idle", **MINUTES, help="As of `serve`.")] = IDLE_MINUTES,
    socket: Socket = None,
    sessions_dir: SessionsDir = None,
    json: Json = False,
) -> None:
    """Print the systemd user units that start the daemon when somebody connects."""
    from pi_daemon.cli.service import service

    _run(
        json,
        _absolute(socket),
        _absolute(sessions_dir),
        lambda where, output: service(where, output, install=install, idle=idle),
    )
