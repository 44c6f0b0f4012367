"""`pi-daemon service`: systemd starts the daemon when somebody connects to its socket."""

from __future__ import annotations

import os
from pathlib import Path

from pi_daemon.cli import safe
from pi_daemon.cli.exits import Exit, Failure
from pi_daemon.cli.output import Output
from pi_daemon.cli.reach import Where
from pi_daemon.daemon import launch, systemd

_NEXT = f"systemctl --user daemon-reload && systemctl --user enable --now {systemd.NAME}.socket"


async def service(where: Where, output: Output, *, install: bool, idle: float) -> None:
    arguments = ["serve", "--idle", f"{idle:g}"]
    if where.sessions_dir is not None:
        arguments += ["--sessions-dir", str(where.sessions_dir)]
    kept = launch.environment()
    environment = {name: kept[name] for name in (*launch.DIRECTORIES, "PYTHONPATH") if name in kept}
    units = systemd.units(launch.command(*arguments), environment, where.socket)
    directory = _directory()
    if install:
        _install(directory, units)
    if output.as_json:
        output.json({"units": units, "directory": str(directory), "installed": install, "next": _NEXT})
        return
    for name, text in units.items():
        if install:
            output.print(f"Wrote {safe.line(str(directory / name))}.")
        else:
            output.print(f"# {safe.line(str(directory / name))}", *map(safe.line, text.splitlines()), "")
    output.print(_NEXT if install else "`pi-daemon service --install` writes them there.")


def _directory() -> Path:
    return Path(os.environ.get("XDG_CONFIG_HOME") or "~/.config").expanduser() / "systemd" / "user"


def _install(directory: Path, units: dict[str, str]) -> None:
    """All or none. Raises Failure for a file there that we didn't write."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for name in units:
            path = directory / name
            if path.is_symlink() or (path.exists() and not path.read_text(errors="replace").startswith(systemd.MARK)):
                words = f"{path} is there already and was not written by this command: remove it first."
                raise Failure(Exit.FAILED, words, reason="exists")
        for name, text in units.items():
            aside = directory / f".{name}.{os.getpid()}"
            aside.write_text(text)
            aside.replace(directory / name)
    except OSError as error:
        raise Failure(Exit.FAILED, f"{error.filename or directory} can't be written: {error.strerror}.") from error
