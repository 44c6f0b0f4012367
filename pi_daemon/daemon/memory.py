"""How the process treats memory. Both settings are for speed alone, and for the process that serves, not for tests."""

from __future__ import annotations

import ctypes
import gc

KEPT_BYTES = 32 * 1024 * 1024
"""Freed memory that the process keeps for the next large reply. glibc gives blocks above 128 KB back at once and gets
them anew, page by page: for a context of 6 MB that is a quarter of the work."""

_M_TRIM_THRESHOLD = -1
_M_MMAP_THRESHOLD = -3


def settle() -> None:
    """To be called once everything is imported."""
    gc.collect()
    gc.freeze()
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        return  # another C library
    mallopt(_M_MMAP_THRESHOLD, KEPT_BYTES)
    mallopt(_M_TRIM_THRESHOLD, KEPT_BYTES)
