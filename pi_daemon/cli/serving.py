"""`pi-daemon serve`: the daemon in this process, or in one of its own in the background."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pi_daemon.session.errors import PiDaemonError

if TYPE_CHECKING:
    from pi_daemon.compaction.summarizers.streams import ModelName
    from pi_daemon.daemon.launch import Report
    from pi_daemon.daemon.server import Daemon


@dataclass(frozen=True)
class Serving:
    """What was typed. `idle` in seconds, addresses as host and port; where `level`, `model` or `model_url` are None,
    `PI_DAEMON_LOG_LEVEL`, `PI_DAEMON_MODEL` and `PI_DAEMON_MODEL_URL` count."""

    stdio: bool = False
    socket: Path | None = None
    tcp: tuple[str, int] | None = None
    websocket: tuple[str, int] | None = None
    sessions_dir: Path | None = None
    state_dir: Path | None = None
    durability: Literal["written", "synced"] = "synced"
    context_window: int | None = None
    reserve_tokens: int | None = None
    keep_recent_tokens: int | None = None
    auto_compact: bool = False
    summarizer: str | None = None
    model: str | None = None
    model_url: str | None = None
    idle: float = 0
    level: str | None = None

    def arguments(self) -> tuple[str, ...]:
        """As they would be typed, for a daemon in the background."""
        said = {
            "--socket": self.socket,
            "--tcp": self.tcp and _typed(*self.tcp),
            "--ws": self.websocket and _typed(*self.websocket),
            "--sessions-dir": self.sessions_dir,
            "--state-dir": self.state_dir,
            "--durability": self.durability if self.durability != "synced" else None,
            "--context-window": self.context_window,
            "--reserve-tokens": self.reserve_tokens,
            "--keep-recent-tokens": self.keep_recent_tokens,
            "--summarizer": self.summarizer,
            "--model": self.model,
            "--model-url": self.model_url,
            "--idle": f"{self.idle / 60:g}",
            "--log-level": self.level,
        }
        typed = [part for name, value in said.items() if value is not None for part in (name, str(value))]
        return (*typed, "--auto-compact") if self.auto_compact else tuple(typed)


def _typed(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def serve(serving: Serving, *, detached: bool, as_json: bool) -> int:
    """Returns the exit code when the daemon has left; where it goes on in the background, when it listens."""
    if not detached:
        try:
            _run(serving, None)
        except PiDaemonError as error:
            print(f"pi-daemon: {error.message}", file=sys.stderr)
            return 1
        return 0
    from pi_daemon.daemon.launch import Report, detach

    outcome = detach()
    if not isinstance(outcome, Report):
        return _tell(outcome, as_json)
    try:
        _run(serving, outcome)
    except PiDaemonError as error:
        outcome.send({"error": {"reason": error.reason, "message": error.message}})
        return 1
    except Exception as error:
        outcome.send({"error": {"reason": "startFailed", "message": f"The daemon failed: {error!r}"}})
        raise
    return 0


def _run(serving: Serving, report: Report | None) -> None:
    from pi_daemon.daemon.server import Address, Config
    from pi_daemon.daemon.server import serve as run
    from pi_daemon.engine.options import SessionOptions

    config = Config(
        stdio=serving.stdio,
        socket=serving.socket,
        tcp=Address(*serving.tcp) if serving.tcp is not None else None,
        websocket=Address(*serving.websocket) if serving.websocket is not None else None,
        sessions_dir=serving.sessions_dir,
        state_dir=serving.state_dir,
        options=SessionOptions(
            context_window=serving.context_window,
            durability=serving.durability,
            auto_compact=serving.auto_compact,
            summarizer=serving.summarizer,
            reserve_tokens=serving.reserve_tokens,
            keep_recent_tokens=serving.keep_recent_tokens,
        ),
        model=_model(serving),
        idle=serving.idle,
        arguments=serving.arguments(),
    )

    def ready(daemon: Daemon) -> None:
        if report is not None:
            report.send({"pid": os.getpid(), "version": daemon.shared.version, "transports": daemon.shared.transports})

    level = serving.level or os.environ.get("PI_DAEMON_LOG_LEVEL") or "info"
    run(config, level=level, detached=report is not None, ready=ready)


def _model(serving: Serving) -> ModelName | None:
    """The model to summarize with. Raises InvalidParams."""
    text = serving.model or os.environ.get("PI_DAEMON_MODEL")
    if not text:
        return None
    from pi_daemon.compaction.summarizers.model import model_name

    return model_name(text, serving.model_url or os.environ.get("PI_DAEMON_MODEL_URL") or None)


def _tell(told: dict[str, Any], as_json: bool) -> int:
    if not told:
        words = "The daemon ended as soon as it had started: see `pi-daemon logs`."
        told = {"error": {"reason": "startFailed", "message": words}}
    error = told.get("error")
    if as_json:
        print(json.dumps(told))
    elif error is not None:
        print(f"pi-daemon: {error['message']}", file=sys.stderr)
    else:
        print(f"Process {told['pid']} listens on {', '.join(told['transports'])}.")
    return 1 if error is not None else 0
