"""The secret that clients on TCP and WebSocket show: 256 bits in a file that only the user can read."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from pathlib import Path

from pi_daemon.daemon.paths import UnsafeDirectory, private_dir

TOKEN_NAME = "token"

_TOKEN_BYTES = 32


def token_path(state: Path) -> Path:
    return state / TOKEN_NAME


def token(state: Path) -> str:
    """The token in the state directory, made on the first call. Raises UnsafeDirectory."""
    path = token_path(private_dir(state))
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    except FileNotFoundError:
        return _make(path)
    except OSError as error:
        words = "is a symbolic link" if error.errno == errno.ELOOP else f"can't be read: {error.strerror}"
        raise UnsafeDirectory(f"{path} {words}: delete it, a new one will be made.") from error
    with open(descriptor, encoding="ascii") as file:
        found = os.fstat(descriptor)
        if found.st_uid != os.getuid() or stat.S_IMODE(found.st_mode) & 0o077:
            raise UnsafeDirectory(f"{path} can be read by other users: delete it, a new one will be made.")
        return file.read().strip()


def _make(path: Path) -> str:
    """Written aside and linked into place, so that whoever loses a race reads the winner's whole token."""
    made = secrets.token_urlsafe(_TOKEN_BYTES)
    aside = path.with_name(f"{TOKEN_NAME}.{os.getpid()}.{secrets.token_hex(4)}")
    descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    try:
        with open(descriptor, "w", encoding="ascii") as file:
            file.write(made + "\n")
        os.link(aside, path)
    except FileExistsError:
        return token(path.parent)
    finally:
        aside.unlink()
    return made
