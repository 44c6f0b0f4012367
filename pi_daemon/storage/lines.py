"""Reading lines from a session file: one after the other, or those of some entries.

A session file is never mapped into memory: another process that truncates it would kill this one.
"""

from __future__ import annotations

import errno
import os
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence

from pi_daemon.storage.system import Files

BLOCK = 48 * 1024
"""Bytes read at once. Small enough to stay in the processor's cache between reading and decoding, temporaries included:
with 64 KB the same takes a tenth longer, with 1 MB half as long again."""

MAX_LINE = 512 << 20
"""Bytes of one line. pi can't read a longer one, since no string of its JavaScript engine holds it; and a file without
any newline must not fill the memory."""

_GAP = 4096
"""So many bytes between two lines may be read for nothing: a page costs less than a call."""

_AT_ONCE = 1 << 18
"""Lines that begin within so many bytes are read together, and cut apart while they are in the processor's cache; a
longer one is read by itself."""


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


def read_ranges(files: Files, fd: int, offsets: Sequence[int], lengths: Sequence[int]) -> list[bytes]:
    """The bytes at each offset, in the order asked for. Raises OSError, also where the file ends first."""
    if list(offsets) != sorted(offsets):
        order = sorted(range(len(offsets)), key=offsets.__getitem__)
        in_order = read_ranges(files, fd, [offsets[i] for i in order], [lengths[i] for i in order])
        found = [b""] * len(order)
        for place, data in zip(order, in_order, strict=True):
            found[place] = data
        return found
    lines: list[bytes] = []
    first = 0
    while first < len(offsets):
        start = offsets[first]
        last = bisect_left(offsets, start + _AT_ONCE, first + 1)
        while last - first > 1:
            stop = offsets[last - 1] + lengths[last - 1]
            wasted = stop - start - sum(lengths[first:last])
            if wasted <= (last - first) * _GAP and lengths[last - 1] <= _AT_ONCE:
                break
            last = (first + last) // 2
        block = _read_exactly(files, fd, offsets[last - 1] + lengths[last - 1] - start, start)
        if last - first == 1:
            lines.append(block)
        else:
            places = zip(offsets[first:last], lengths[first:last], strict=True)
            lines += [block[offset - start : offset - start + length] for offset, length in places]
        first = last
    return lines


def line_numbers(files: Files, fd: int, offsets: Iterable[int]) -> dict[int, int]:
    """The line, counted from 1, on which each byte lies. Reads the file up to the last one. Raises OSError."""
    found: dict[int, int] = {}
    position, line = 0, 1
    for offset in sorted(offsets):
        while position < offset and (block := files.read(fd, min(BLOCK, offset - position), position)):
            position += len(block)
            line += block.count(b"\n")
        found[offset] = line
    return found


def from_starts(lines: Sequence[bytes], starts: Sequence[int]) -> list[bytes]:
    """Of each line what lies from its start up to one byte before its end; whole, where that is 0."""
    return [line[start:-1] if start else line for line, start in zip(lines, starts, strict=True)]


def _read_exactly(files: Files, fd: int, size: int, offset: int) -> bytes:
    block = files.read(fd, size, offset)
    while len(block) < size:
        more = files.read(fd, size - len(block), offset + len(block))
        if not more:
            raise OSError(errno.ESTALE, os.strerror(errno.ESTALE))
        block += more
    return block
