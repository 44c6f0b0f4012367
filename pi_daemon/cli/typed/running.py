"""The daemon itself: run it, join it, show it, look after it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pi_daemon.cli.fast import IDLE_MINUTES
from pi_daemon.cli.typed.base import Idle, Json, SessionsDir, Socket, absolute, address, app, run
from pi_daemon.cli.values import COUNT, MINUTES, TOKENS, Durability, Level, Summarizer, choice

PANEL = "The daemon"


@app.command(rich_help_panel=PANEL)
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
    context_window: Annotated[
        int | None, typer.Option("--context-window", **TOKENS, help="The model's window, for sessions that don't say.")
    ] = None,
    reserve_tokens: Annotated[
        int | None, typer.Option("--reserve-tokens", **TOKENS, help="Kept free in it; else as pi's settings have it.")
    ] = None,
    keep_recent_tokens: Annotated[
        int | None,
        typer.Option("--keep-recent-tokens", **TOKENS, help="Left by a compaction; else as pi's settings have it."),
    ] = None,
    auto_compact: Annotated[
        bool, typer.Option("--auto-compact", help="Compact sessions by itself when their window is nearly full.")
    ] = False,
    summarizer: Annotated[
        Summarizer | None,
        typer.Option(**choice(Summarizer), help="Who makes summaries; else the first of these that is there."),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            metavar="NAME",
            help="The model that makes summaries: openai/NAME, anthropic/NAME, or NAME with --model-url. Wants "
            "`pip install 'pi-daemon\\[llm]'` and the provider's key in the environment. [PI_DAEMON_MODEL]",
        ),
    ] = None,
    model_url: Annotated[
        str | None,
        typer.Option("--model-url", metavar="URL", help="A server of one's own. [PI_DAEMON_MODEL_URL]"),
    ] = None,
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
        socket=absolute(socket),
        tcp=address(tcp, "--tcp"),
        websocket=address(ws, "--ws"),
        sessions_dir=absolute(sessions_dir),
        state_dir=absolute(state_dir),
        durability=durability.value,
        context_window=context_window,
        reserve_tokens=reserve_tokens,
        keep_recent_tokens=keep_recent_tokens,
        auto_compact=auto_compact,
        summarizer=summarizer.value if summarizer is not None else None,
        model=model,
        model_url=model_url,
        idle=60 * minutes,
        level=log_level.value if log_level is not None else None,
    )
    raise typer.Exit(serve(serving, detached=detach, as_json=json))


@app.command(rich_help_panel=PANEL)
def connect(socket: Socket = None, sessions_dir: SessionsDir = None, idle: Idle = None) -> None:
    """Join the one shared daemon over stdin and stdout, as an editor does; start it where none runs. A client stays
    connected when the daemon is replaced."""
    from pi_daemon.cli import fast

    fast.connect(absolute(socket), absolute(sessions_dir), idle)


@app.command(rich_help_panel=PANEL)
def demo(
    keep: Annotated[bool, typer.Option("--keep", help="Leave the demo's files where they are.")] = False,
    json: Json = False,
) -> None:
    """Show the whole of it: a daemon, an editor, a second client that watches, branches, forks, a crash."""
    from pi_daemon.cli.demo import demo

    run(json, None, None, lambda where, output: demo(output, keep=keep))


@app.command(rich_help_panel=PANEL)
def panel(
    session: Annotated[str | None, typer.Argument(metavar="[SESSION]", help="The session to begin with.")] = None,
    no_open: Annotated[
        bool,
        typer.Option("--no-open", help="Print the address, good for once and a minute, and stay until interrupted."),
    ] = False,
    socket: Socket = None,
    sessions_dir: SessionsDir = None,
    json: Json = False,
) -> None:
    """Show sessions and their branches in the browser. The shared daemon serves it to this machine alone; it is started
    where none runs."""
    from pi_daemon.cli.panel import panel

    run(
        json,
        absolute(socket),
        absolute(sessions_dir),
        lambda where, output: panel(where, output, session, open=not no_open),
    )


@app.command(rich_help_panel=PANEL)
def status(socket: Socket = None, json: Json = False) -> None:
    """Say what the running daemon is doing. Exit code 5 where none runs."""
    from pi_daemon.cli.process import status

    run(json, socket, None, status)


@app.command(rich_help_panel=PANEL)
def stop(
    drain: Annotated[
        bool, typer.Option("--drain/--no-drain", help="Let running requests finish and write what is not written.")
    ] = True,
    socket: Socket = None,
    json: Json = False,
) -> None:
    """Stop the running daemon. Exit code 5 where none runs, or none that answers."""
    from pi_daemon.cli.process import stop

    run(json, socket, None, lambda where, output: stop(where, output, drain=drain))


@app.command(rich_help_panel=PANEL)
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

    run(
        json,
        absolute(socket),
        None,
        lambda where, output: logs(where, output, count=count, follow=follow, state_dir=absolute(state_dir)),
    )


@app.command(rich_help_panel=PANEL)
def service(
    install: Annotated[bool, typer.Option("--install", help="Write them where systemd looks for them.")] = False,
    idle: Annotated[float, typer.Option("--idle", **MINUTES, help="As of `serve`.")] = IDLE_MINUTES,
    socket: Socket = None,
    sessions_dir: SessionsDir = None,
    json: Json = False,
) -> None:
    """Print the systemd user units that start the daemon when somebody connects."""
    from pi_daemon.cli.service import service

    run(
        json,
        absolute(socket),
        absolute(sessions_dir),
        lambda where, output: service(where, output, install=install, idle=idle),
    )
