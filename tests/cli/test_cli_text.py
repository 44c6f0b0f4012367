"""What reaches a terminal is harmless, and what goes wrong says what to do."""

from __future__ import annotations

import asyncio
import io
import json
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pi_daemon_client import ConnectionLost, ServerError, Unreachable, dumps

from pi_daemon.cli import safe
from pi_daemon.cli.exits import Exit, failure_of
from pi_daemon.cli.output import PATIENCE, Output

ANY = st.text(st.characters(exclude_categories=()))
FORBIDDEN = [*range(0x20), *range(0x7F, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A), *range(0xD800, 0xE000)]


@given(ANY)
@settings(max_examples=100, deadline=None)
def test_no_control_character_comes_through(text: str) -> None:
    assert not set(map(ord, safe.line(text))) & set(FORBIDDEN)
    assert not set(map(ord, safe.block(text))) & (set(FORBIDDEN) - {0x0A})
    safe.block(text).encode()


def test_what_is_harmless_stays() -> None:
    assert safe.line("Größe: 日本 👍  x") == "Größe: 日本 👍  x"
    assert safe.block("a\r\nb\tc\n\x1b[31m") == "a\nb   c\n\u241b[31m"


@given(ANY)
@settings(max_examples=100, deadline=None)
def test_json_stays_the_same_value(text: str) -> None:
    printed = safe.json_bytes(dumps({"value": text}))
    assert json.loads(printed) == {"value": text}
    assert not set(map(ord, printed.decode())) & set(FORBIDDEN)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ServerError(1001, "m", {"reason": "sessionNotFound"}), Exit.NOT_FOUND),
        (ServerError(1003, "m", {"reason": "sessionCorrupted"}), Exit.DAMAGED),
        (ServerError(1021, "m", {"reason": "ambiguousSession", "paths": ["/a", "/b"]}), Exit.NOT_FOUND),
        (ServerError(1008, "m", {"reason": "writerBusy", "owner": {"pid": 7}}), Exit.FAILED),
        (ServerError(-32603, "m", {}), Exit.FAILED),
        (ConnectionLost("gone"), Exit.NO_DAEMON),
        (Unreachable("nobody"), Exit.NO_DAEMON),
    ],
)
def test_errors_have_their_exit_code(error: Exception, code: Exit) -> None:
    failure = failure_of(error)  # type: ignore[arg-type]
    assert failure.code == code
    if isinstance(error, ServerError) and error.reason == "ambiguousSession":
        assert failure.hint is not None and "/b" in failure.hint
    if isinstance(error, ServerError) and error.reason == "writerBusy":
        assert failure.hint is not None and "process 7" in failure.hint


def test_starting_is_cheap() -> None:
    """The list of commands must not import what only some of them need."""
    import subprocess

    heavy = ["asyncio", "msgspec", "rich.table", "pi_daemon_client", "pi_daemon.daemon.server"]
    code = f"import sys, pi_daemon.cli.typed; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_command_says_what_it_waits_for_a_second_after_it_began(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever of its steps it is at, and once: a step within another has no line of its own."""
    shown = Terminal()
    monkeypatch.setattr(sys, "stderr", shown)
    output = Output(False)
    output._since -= PATIENCE

    async def main() -> None:
        async with output.working("Opening"), output.working("Looking") as progress:
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            progress({"message": "Reading", "percentage": 5})
            assert shown.getvalue()

    asyncio.run(main())
