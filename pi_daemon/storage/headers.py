"""The header of a session file, looked for within bounds."""

from __future__ import annotations

from pi_daemon.session.entry import BadLine, read_line
from pi_daemon.session.head import Header
from pi_daemon.storage.lines import whole_lines
from pi_daemon.storage.scan import BYTE_ORDER_MARK, HEADER_WITHIN
from pi_daemon.storage.system import Files

HEADER_SCAN = 1 << 20
"""Bytes in which a header is looked for (pi 1.6.0's bound): opening a session reads on, looking around doesn't."""

_HEADER_BLOCK = 4096


def read_header(files: Files, fd: int) -> Header | None:
    """The first header within the first lines that can be read. Raises OSError."""
    parsed = 0
    for block, offset in whole_lines(files, fd, 0, HEADER_SCAN, _HEADER_BLOCK):
        for line in block.removeprefix(BYTE_ORDER_MARK if offset == 0 else b"").split(b"\n"):
            item = read_line(line.removesuffix(b"\r"), 0)
            if isinstance(item, Header):
                return item
            parsed += item is not None and not (isinstance(item, BadLine) and not item.counts)
            if parsed >= HEADER_WITHIN:
                return None
    return None
