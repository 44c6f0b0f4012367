"""Files beside a socket that only their user can have written."""

from __future__ import annotations

import os
import stat
from pathlib import Path

WRITE, TOUCH = 0o022, 0o077


def read_own(path: Path, most: int, others: int = WRITE) -> bytes | None:
    """The first `most` bytes of a regular file that is ours, and on which others have none of these permissions; None
    for anything else, a link to one included."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        found = os.fstat(descriptor)
        ours = stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid()
        return os.read(descriptor, most) if ours and not stat.S_IMODE(found.st_mode) & others else None
    except OSError:
        return None
    finally:
        os.close(descriptor)
