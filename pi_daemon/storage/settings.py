"""pi's settings.json: the user's in pi's directory, a project's in `.pi` of its working directory."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from pi_daemon.compaction.settings import PiSettings, parse_settings
from pi_daemon.session.errors import InvalidSettings
from pi_daemon.storage.layout import agent_dir
from pi_daemon.storage.threads import in_thread

MAX_BYTES = 1024 * 1024
"""A settings file is a few KB; what is larger is something else."""

FILES = 256
"""Files that are remembered: two for each of the projects that somebody works on."""


class _Known(Struct, frozen=True):
    stamp: tuple[int, int, int]
    settings: PiSettings


class SettingsFiles:
    """Reads them again only where they changed. A file that isn't there says nothing."""

    def __init__(self, environ: Mapping[str, str], home: Path) -> None:
        self._user = agent_dir(environ, home) / "settings.json"
        self._known: dict[Path, _Known] = {}

    async def read(self, cwd: str) -> PiSettings:
        """What counts for sessions of `cwd`: the project's file over the user's. Raises InvalidSettings."""
        return await in_thread(self._read_both, cwd)

    def _read_both(self, cwd: str) -> PiSettings:
        user = self._read(self._user)
        if not os.path.isabs(cwd):
            return user
        return self._read(Path(cwd) / ".pi" / "settings.json").over(user)

    def _read(self, path: Path) -> PiSettings:
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except (OSError, ValueError):
            self._known.pop(path, None)
            return PiSettings()
        try:
            found = os.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode):
                return PiSettings()
            stamp = (found.st_ino, found.st_size, found.st_mtime_ns)
            known = self._known.get(path)
            if known is not None and known.stamp == stamp:
                return known.settings
            raw = b""
            while len(raw) <= MAX_BYTES and (part := os.read(descriptor, MAX_BYTES + 1)):
                raw += part
        finally:
            os.close(descriptor)
        if len(raw) > MAX_BYTES:
            raise InvalidSettings(
                f"{path} has more than {MAX_BYTES} bytes: is it a settings file?", file=str(path), key=""
            )
        settings = parse_settings(raw, str(path))
        if len(self._known) >= FILES:
            self._known.clear()
        self._known[path] = _Known(stamp, settings)
        return settings
