"""Every entry explained at every leaf, held against the context there: sessions that the reference writes, the same
damaged, and real ones where those are at hand."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.conformance.sessions import Generate, Session, read
from tests.conformance.test_reference import FIRST_SEED, REAL_SESSIONS, damaged
from tests.session.explained import agree

pytestmark = pytest.mark.timeout(600)  # the first run may have to fetch the reference

TREES = 30
"""Random sessions a run."""

LEAVES = 60
"""Of a session with more entries so many are looked at: the first and the last ones, and some between."""


def explained(session: Session, file: Path) -> None:
    heads = session.tree.entries
    lines = {id(head): session.line(head) for head in heads}
    leaves = list(dict.fromkeys(head.id for head in heads))
    if len(leaves) > LEAVES:
        leaves = [*leaves[:10], *random.Random(file.name).sample(leaves[10:-10], LEAVES - 20), *leaves[-10:]]
    try:
        for leaf in (None, *leaves):
            agree(session.tree, lines, leaf)
    except AssertionError as difference:
        difference.add_note(file.name)
        raise


@pytest.mark.slow
def test_random_sessions(generate: Generate, tmp_path: Path) -> None:
    for file in generate(tmp_path, range(FIRST_SEED, FIRST_SEED + TREES)):
        explained(read(file), file)
        file.write_bytes(damaged(file.read_bytes(), random.Random(file.name)))
        explained(read(file), file)


@pytest.mark.skipif(not REAL_SESSIONS.is_dir(), reason=f"no real sessions in {REAL_SESSIONS} (PI_DAEMON_SHARED)")
@pytest.mark.slow
def test_real_sessions() -> None:
    for file in sorted(REAL_SESSIONS.glob("*.jsonl")):
        explained(read(file), file)
