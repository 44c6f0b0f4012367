"""The table of what summaries keep, on a session that is written for it."""

from __future__ import annotations

import json
from pathlib import Path

from tests.benchmarks.retention import markdown, rows
from tests.compaction.talk import Talk


def written(directory: Path) -> None:
    talk = Talk()
    for number in range(12):
        talk.user(f"Port component {number}. Never touch its tests.")
        talk.call("edit", "ok", path=f"src/{number}.ts")
        talk.answer(f"Component {number} is ported.")
    entries = [{"type": "session", "version": 3, "id": "s", "timestamp": "2026-01-05T08:00:00.000Z", "cwd": "/w"}]
    parent = None
    for one in talk.said:
        entries.append({"type": "message", "id": one.entry_id, "parentId": parent, "message": one.message})
        parent = one.entry_id
    summary = {"summary": "All ported.", "firstKeptEntryId": talk.said[-4].entry_id, "tokensBefore": 1}
    entries.append({"type": "compaction", "id": "last", "parentId": parent, **summary})
    for entry in entries[1:]:
        entry["timestamp"] = "2026-01-05T08:00:00.000Z"
    (directory / "one.jsonl").write_text("".join(json.dumps(entry) + "\n" for entry in entries))


def test_the_table_has_a_row_for_the_session_and_one_for_its_compaction(tmp_path: Path) -> None:
    written(tmp_path)
    whole, compacted = rows(tmp_path, 100, 6000)
    assert (whole.session, whole.extractive.score) == ("one", 1.0)
    assert whole.bad.score == 0.25  # what the file lists hold, which every summary gets
    assert whole.bad.amended_score == 1.0
    assert compacted.own is not None
    assert 0.0 < compacted.own.score < compacted.own.amended_score == 1.0
    assert compacted.messages == 44
    assert markdown([whole, compacted]).count("\n") == 3
