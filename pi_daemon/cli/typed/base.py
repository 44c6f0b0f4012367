"""What all commands have in common: the parser, the options that several take, and how one is run."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
import typer.core

from pi_daemon.cli.values import MINUTES, TOKENS

if TYPE_CHECKING:
    from pi_daemon.cli.exits import Exit
    from pi_daemon.cli.output import Output
    from pi_daemon.cli.reach import Where

EPILOG = (
    "A SESSION is named by its id, the beginning of its id, its path, its name, or `last`. "
    "Exit codes: 0 done, 1 refused or failed, 2 the command line makes no sense, 3 no such session or entry, or an "
    "ambiguous name, or a file that is no session, or nothing found, 4 the file is damaged, 5 no daemon, "
    "130 interrupted, 141 the reader of the output has gone."
)


class _Commands(typer.core.TyperGroup):
    """Says what is wrong with a command line as an object too, where one was asked for."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        typed = tuple(args)
        ctx.meta[_TYPED] = typed
        try:
            return super().parse_args(ctx, args)
        except Exception as error:
            _tell(error, typed)
            raise

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except Exception as error:
            # An option that isn't there. Where pi keeps the sessions of a project is called `--home-me-project--`.
            option = getattr(error, "option_name", None)
            if isinstance(option, str) and (os.sep in option or os.path.lexists(option)):
                error.message = f"{error.message}. A path that begins with -- is written ./{option}"  # type: ignore[attr-defined]
            _tell(error, ctx.meta[_TYPED])
            raise


_TYPED = "pi_daemon.typed"


def _tell(error: Exception, typed: Sequence[str]) -> None:
    """The parser prints it for people, later and on stderr, as it does without --json."""
    message = getattr(error, "format_message", None)
    options = typed[: typed.index("--")] if "--" in typed else typed
    if message is None or "--json" not in options:
        return
    from pi_daemon.cli.exits import Exit, Failure
    from pi_daemon.cli.output import Output

    command = getattr(getattr(error, "ctx", None), "command_path", "pi-daemon")
    failure = Failure(Exit.USAGE, message(), hint=f"`{command} --help` says more.", reason="invalidParams")
    Output(True).json(failure.as_json())


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


KeepRecent = Annotated[
    int | None, typer.Option("--keep-recent-tokens", **TOKENS, help="About so much of the newest stays as it is.")
]
Reserve = Annotated[
    int | None, typer.Option("--reserve-tokens", **TOKENS, help="Kept free in the window; a summary may have 80 %.")
]
Instructions = Annotated[
    str | None, typer.Option("--instructions", metavar="TEXT", help="What the summary is to look after.")
]
Idle = Annotated[
    float | None,
    typer.Option(
        "--idle",
        **MINUTES,
        help="Leave so long after the last client; 0 never. Default: 10, and 0 with --stdio, --tcp or --ws.",
    ),
]


def run(
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
        _say_no_more()
        code = Exit.BROKEN_PIPE
    except OSError as error:
        if error.errno not in _FULL:
            raise
        _say_no_more()
        output.as_json = False
        output.fail(Failure(Exit.FAILED, f"What is printed can't be written: {error.strerror}."))
        code = Exit.FAILED
    except KeyboardInterrupt:
        code = Exit.INTERRUPTED
    raise typer.Exit(int(code or 0))


_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
"""What may become of a file that the output goes to."""


def _say_no_more() -> None:
    """What is still buffered for stdout must not be tried again at the end of the process."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


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


def absolute(path: Path | None) -> Path | None:
    return None if path is None else path.expanduser().absolute()


def address(text: str | None, option: str) -> tuple[str, int] | None:
    """HOST:PORT, [HOST]:PORT for IPv6, or a port alone, which is one of this machine."""
    if text is None:
        return None
    host, _, port = text.rpartition(":")
    if not port.isascii() or not port.isdigit() or int(port) > 65535:
        raise typer.BadParameter(f"{text!r} is not HOST:PORT", param_hint=option)
    return host.removeprefix("[").removesuffix("]") or "127.0.0.1", int(port)
