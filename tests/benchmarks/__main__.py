"""`python -m tests.benchmarks`: our figures and the reference's, in one run, interleaved, as a table.

What is missing is made or fetched first: session files in .cache/benchmarks, pi and a Node by npm in .cache/reference.
"""

from __future__ import annotations

import argparse
import gc
import sys
import time
from pathlib import Path

import msgspec

from tests.benchmarks import (
    appending,
    cataloguing,
    compacting,
    connecting,
    documents,
    explaining,
    intake,
    listing,
    notifying,
    opening,
    passing,
    planning,
    reading,
    torn,
    watching,
)
from tests.benchmarks.fixtures import Fixtures
from tests.benchmarks.processes import REPOSITORY, Pi, Workshop
from tests.benchmarks.run import FULL, QUICK, Benchmark, Run
from tests.benchmarks.table import Machine, Row, machine, markdown
from tests.benchmarks.wire import PeerError

BENCHMARKS: dict[str, Benchmark] = {
    "open": opening.run,
    "torn": torn.run,
    "append": appending.latency,
    "synced": appending.synced,
    "context": reading.context,
    "tree": reading.tree,
    "explain": explaining.explain,
    "entries": reading.entries,
    "plan": planning.run,
    "compact": compacting.run,
    "message": intake.run,
    "list": listing.run,
    "catalogue": cataloguing.run,
    "notify": notifying.run,
    "watch": watching.run,
    "passing": passing.run,
    "connect": connecting.run,
    "outline": documents.outline,
    "hover": documents.hover,
}


class Report(msgspec.Struct):
    machine: Machine
    rows: list[Row]


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sessions and one round: does it run at all?")
    parser.add_argument("--only", action="append", choices=BENCHMARKS, metavar="NAME", help=", ".join(BENCHMARKS))
    parser.add_argument("--rounds", type=int, help=f"how often each is measured (default {FULL.rounds})")
    parser.add_argument("--scale", type=float, default=1.0, help="of the catalogue's files and bytes (default 1)")
    parser.add_argument("--json", action="store_true", help="print the machine and the rows as JSON")
    parser.add_argument("--without-reference", action="store_true", help="measure pi-daemon and the bare loops alone")
    parser.add_argument("--cache", type=Path, default=REPOSITORY / ".cache/benchmarks")
    return parser.parse_args()


def main() -> int:
    """0 when all targets are met, 1 when one is missed, 2 when something could not be measured."""
    options = arguments()
    size = QUICK if options.quick else FULL
    if options.rounds:
        size = msgspec.structs.replace(size, rounds=options.rounds)
    files, volume = int(size.catalogue_files * options.scale), int(size.catalogue_bytes * options.scale)
    size = msgspec.structs.replace(size, catalogue_files=files, catalogue_bytes=volume)
    cache = options.cache.resolve()
    workshop = Workshop(cache)
    gc.disable()
    try:
        pi = None if options.without_reference else Pi.installed(workshop.folder())
        run = Run(size=size, fixtures=Fixtures(cache), workshop=workshop, pi=pi)
        where = machine(workshop.root, pi.node_version if pi else "none")
        rows: list[Row] = []
        for name in options.only or BENCHMARKS:
            began = time.monotonic()
            try:
                rows += BENCHMARKS[name](run)
            except PeerError as error:
                rows.append(Row(what=name, on="", unit="", failed=str(error)))
                print(f"{name}: {error}", file=sys.stderr)
            print(f"{name}: {time.monotonic() - began:.0f} s", file=sys.stderr)
        report = Report(where, rows)
    finally:
        workshop.close()
    if options.json:
        print(msgspec.json.format(msgspec.json.encode(report)).decode())
    else:
        print(report.machine.line(), markdown(rows), sep="\n\n")
    if any(row.failed for row in rows):
        return 2
    return 1 if any(row.met is False for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
