"""Bytes that wait until the other side takes them."""

from __future__ import annotations

from collections.abc import Callable


class Pending:
    """Bytes on their way."""

    def __init__(self) -> None:
        self._pieces: list[memoryview] = []
        self.size = 0

    def __bool__(self) -> bool:
        return self.size > 0

    def add(self, data: bytes) -> None:
        self._pieces.append(memoryview(data))
        self.size += len(data)

    def clear(self) -> None:
        self._pieces.clear()
        self.size = 0

    def write(self, write: Callable[[memoryview], int]) -> None:
        """As much as is taken at once. Raises OSError."""
        done = 0
        try:
            while done < len(self._pieces):
                piece = self._pieces[done]
                taken = write(piece)
                self.size -= taken
                if taken < len(piece):
                    self._pieces[done] = piece[taken:]
                    return
                done += 1
        except BlockingIOError:
            return
        finally:
            del self._pieces[:done]
