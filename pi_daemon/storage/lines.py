"""Reading lines from a session file: one after the other, or those of some entries.

A session file is never mapped into memory: another process that truncates it would kill this one.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Sequence

from pi_daemon.storage.system import Files

BLOCK = 64 * 1024
"""Bytes read at once. Small enough to stay in the processor's cache between reading and decoding: with 1 MB blocks
the same takes half as long again."""

MAX_LINE = 512 << 20
"""Bytes of one line. pi can't read a longer one, since no string of its JavaScript engine holds it; and a file without
any newline must not fill the memory."""

_GAP = 4096
"""Lines this close are read together, with what lies between them: a page costs less than a call."""

_AT_ONCE = 1 << 20
"""Lines are read together up to this many bytes; beyond, a line is read by itself, whatever its length."""


def whole_lines(
    files: Files, fd: int, start: int, stop: int | None = None, size: int = BLOCK
) -> Iterator[tuple[bytes, int]]:
    """Blocks of whole lines and their offsets, from `start` to `stop` or the end of the file. Only the last block may
    lack its newline. A block has about `size` bytes, or holds one line that is longer. Raises OSError, EMSGSIZE for a
    line beyond MAX_LINE."""
    buffer = bytearray(size)
    view = memoryview(buffer)
    carried: list[bytes] = []
    position = start
    while taken := files.read_into(fd, view if stop is None else view[: stop - position], position):
        position += taken
        cut = buffer.rfind(b"\n", 0, taken) + 1
        if cut:
            block = b"".join((*carried, view[:cut]))
            yield block, start
            start += len(block)
            carried.clear()
        if cut < taken:
            carried.append(bytes(view[cut:taken]))
            if position - start > MAX_LINE:
                raise OSError(errno.EMSGSIZE, os.strerror(errno.EMSGSIZE))
    if carried:
        yield b"".join(carried), start


def read_ranges(files: Files, fd: int, ranges: Sequence[tuple[int, int]]) -> list[bytes]:
    """The bytes of each (offset, length), in the order asked for. Raises OSError, also where the file ends first."""
    found: list[bytes] = [b""] * len(ranges)
    order: Sequence[int] = range(len(ranges))
    if any(ranges[i][0] > ranges[i + 1][0] for i in range(len(ranges) - 1)):
        order = sorted(order, key=lambda i: ranges[i][0])
    first = 0
    while first < len(order):
        start, length = ranges[order[first]]
        stop = start + length
        last = first + 1
        while last < len(order):
            offset, length = ranges[order[last]]
            if offset - stop > _GAP or offset + length - start > _AT_ONCE:
                break
            stop = max(stop, offset + length)
            last += 1
        block = _read_exactly(files, fd, stop - start, start)
        if last - first == 1:
            found[order[first]] = block
        else:
            for i in order[first:last]:
                offset, length = ranges[i]
                found[i] = block[offset - start : offset - start + length]
        first = last
    return found


def _read_exactly(files: Files, fd: int, size: int, offset: int) -> bytes:
    block = files.read(fd, size, offset)
    while len(block) < size:
        more = files.read(fd, size - len(block), offset + len(block))
        if not more:
            raise OSError(errno.ESTALE, os.strerror(errno.ESTALE))
        block += more
    return block
