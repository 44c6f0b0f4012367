"""How the process uses what the system gives it: memory and file descriptors. For the process that serves, not for
tests."""

from __future__ import annotations

import codecs
import ctypes
import gc
import resource
import sys

KEPT_BYTES = 32 * 1024 * 1024
"""Freed memory that the process keeps for the next large reply. glibc gives blocks above 128 KB back at once and gets
them anew, page by page: for a context of 6 MB that is a quarter of the work."""

DESCRIPTORS = 8192
"""Wanted where the soft limit is lower: 1,024 is a usual one, and every session and every client takes one."""

SWITCH_SECONDS = 0.0001
"""After so long a thread that computes lets the loop go on: about the time of an append. By default it is 5 ms, and an
append waits for that at each of its system calls while a context is put together or a large message is checked."""

CODECS = ("utf-16", "utf-16-le", "utf-16-be")
"""Each is a module that is imported when it is first used, by which time a descriptor for that may be missing."""

_M_TRIM_THRESHOLD = -1
_M_MMAP_THRESHOLD = -3
_M_ARENA_MAX = -8


def settle() -> None:
    """To be called once everything is imported."""
    for name in CODECS:
        codecs.lookup(name)
    gc.collect()
    gc.freeze()
    sys.setswitchinterval(SWITCH_SECONDS)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < DESCRIPTORS:
        wanted = DESCRIPTORS if hard == resource.RLIM_INFINITY else min(DESCRIPTORS, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        return  # another C library
    # One heap: with one for each of the threads that work on files, what one of them has freed the others don't get,
    # and the process grows by some MB while sessions come and go. They take turns at the interpreter's lock anyway.
    mallopt(_M_ARENA_MAX, 1)
    mallopt(_M_MMAP_THRESHOLD, KEPT_BYTES)
    mallopt(_M_TRIM_THRESHOLD, KEPT_BYTES)
