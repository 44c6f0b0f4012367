"""The desk's side: `python -m pi_daemon.daemon.desk`, which the daemon starts."""

from __future__ import annotations

import gc
import os
import sys
import threading
import traceback
from queue import SimpleQueue
from typing import BinaryIO

from pi_daemon.compaction.brief import Order
from pi_daemon.compaction.briefing import Briefing
from pi_daemon.daemon.desk import frames

NO_MEMORY = 12
"""ENOMEM, as an exit code."""

NICENESS = 10
"""It gives way to the daemon, and to whatever else the user waits for."""


def main() -> None:
    os.nice(NICENESS)
    gc.disable()  # what a summary is drawn from stays until the end, and looking for rubbish in it takes a third more
    given: SimpleQueue[bytes] = SimpleQueue()
    threading.Thread(target=_receive, args=(sys.stdin.buffer, given), daemon=True).start()
    try:
        briefing = Briefing(frames.read(given.get(), Order))
        while (frame := given.get()) != frames.END:
            _send(frames.MORE if briefing.give(*frames.portion_of(frame)) else frames.ENOUGH)
        _send(frames.written(briefing.brief()))
    except MemoryError:
        os._exit(NO_MEMORY)
    except Exception:  # noqa: BLE001
        _send(frames.written(frames.Trouble(traceback.format_exc())))


def _receive(source: BinaryIO, given: SimpleQueue[bytes]) -> None:
    """Nobody is left who wants the brief when nothing comes any more, and none will be made where this fails: then it
    ends, whatever it is doing."""
    try:
        while len(length := source.read(frames.LENGTH_BYTES)) == frames.LENGTH_BYTES:
            given.put(source.read(int.from_bytes(length, "big")))
        os._exit(0)
    except MemoryError:
        os._exit(NO_MEMORY)
    finally:
        os._exit(1)


def _send(frame: bytes) -> None:
    sys.stdout.buffer.write(frames.framed(frame))
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
