"""Whatever happens to the files: what is known of them is what one finds who looks for the first time."""

from __future__ import annotations

import asyncio
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from pi_daemon.storage.index import blocks, keeper
from tests.storage.indexing import Desk, answer
from tests.storage.support import HEADER, Place, message

WORDS = ["needle", "haystack", "用户", "core/cut.py", "x"]
QUERIES = ["needle", "hay", "用户", "cut.py needle", "needle-1"]

SCRIBBLES = [b"{", b"nonsense\n", b"\n", b'{"type":"custom"}\n', b"\xff\n"]

Known = tuple[Any, Any, Any]


class Files(RuleBasedStateMachine):
    """Files come, grow, branch, are torn, rewritten, renamed and go; the index is lost; daemons come and go."""

    base: Path

    @initialize()
    def begin(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.place = Place(self.base / "run")
        self.count = 0
        self.paths: dict[str, list[str]] = {}
        self.desk = self.start()

    def start(self, state: str = "state") -> Desk:
        async def begin() -> Desk:
            desk = Desk(self.place, state=self.base / state)
            desk.indexed.follow()
            return desk

        return self.loop.run_until_complete(begin())

    def said(self, word: str) -> str:
        self.count += 1
        return f"{word} {'needle' if self.count % 2 else 'hay'}-{self.count % 7} " * (1 + self.count % 3)

    def pick(self, number: int) -> str:
        return sorted(self.paths)[number % len(self.paths)]

    def touched(self, *paths: str) -> None:
        self.desk.indexed.note(paths)

    @rule(word=st.sampled_from(WORDS))
    def create(self, word: str) -> None:
        name = f"{len(self.paths)}-{self.count}.jsonl"
        entry = f"e{self.count}"
        path = self.place.put(
            [HEADER.replace(b"s1", f"s{self.count}".encode()), message(entry, None, self.said(word))], name
        )
        self.paths[str(path)] = [entry]
        self.touched(str(path))

    @precondition(lambda self: self.paths)
    @rule(number=st.integers(0, 99), word=st.sampled_from(WORDS), back=st.integers(0, 5), model=st.booleans())
    def append(self, number: int, word: str, back: int, model: bool) -> None:
        path = self.pick(number)
        ids = self.paths[path]
        parent = ids[-1 - min(back, len(ids) - 1)] if back < 5 else None
        entry = f"e{self.count}"
        text = self.said(word)
        line = answer(entry, parent, text, responseId=f"r{self.count % 5}") if model else message(entry, parent, text)
        with open(path, "ab") as file:
            file.write(line + b"\n")
        ids.append(entry)
        self.touched(path)

    @precondition(lambda self: self.paths)
    @rule(
        number=st.integers(0, 99), data=st.sampled_from([b"{", b"nonsense\n", b"\n", b'{"type":"custom"}\n', b"\xff\n"])
    )
    def scribble(self, number: int, data: bytes) -> None:
        path = self.pick(number)
        with open(path, "ab") as file:
            file.write(data)
        self.touched(path)

    @precondition(lambda self: self.paths)
    @rule(number=st.integers(0, 99), word=st.sampled_from(WORDS), in_place=st.booleans())
    def rewrite(self, number: int, word: str, in_place: bool) -> None:
        path = self.pick(number)
        entry = f"e{self.count}"
        content = (
            HEADER.replace(b"s1", f"w{self.count}".encode()) + b"\n" + message(entry, None, self.said(word)) + b"\n"
        )
        if in_place:
            Path(path).write_bytes(content)
        else:
            Path(path + ".new").write_bytes(content)
            os.rename(path + ".new", path)
        self.paths[path] = [entry]
        self.touched(path)

    @precondition(lambda self: self.paths)
    @rule(number=st.integers(0, 99))
    def delete(self, number: int) -> None:
        path = self.pick(number)
        os.unlink(path)
        del self.paths[path]
        self.touched(path)

    @precondition(lambda self: self.paths)
    @rule(number=st.integers(0, 99))
    def rename(self, number: int) -> None:
        path = self.pick(number)
        self.count += 1
        new = str(Path(path).with_name(f"renamed-{self.count}.jsonl"))
        os.rename(path, new)
        self.paths[new] = self.paths.pop(path)
        self.touched(path, new)

    @rule(unseen=st.booleans())
    def restart(self, unseen: bool) -> None:
        self.loop.run_until_complete(self.desk.indexed.stop())
        if unseen and self.paths:
            path = sorted(self.paths)[0]
            entry = f"e{self.count}"
            with open(path, "ab") as file:
                file.write(b"\n" + message(entry, self.paths[path][-1], self.said("unseen")) + b"\n")
            self.paths[path].append(entry)
        self.desk = self.start()

    @rule()
    def lose(self) -> None:
        self.loop.run_until_complete(self.desk.indexed.stop())
        shutil.rmtree(self.base / "state", ignore_errors=True)
        self.desk = self.start()

    @rule()
    def wait(self) -> None:
        self.loop.run_until_complete(self.desk.indexed_all())

    @rule()
    def compare(self) -> None:
        fresh = self.start("fresh")
        try:
            expected = self.loop.run_until_complete(self.known(fresh))
        finally:
            self.loop.run_until_complete(fresh.indexed.stop())
            shutil.rmtree(self.base / "fresh", ignore_errors=True)
        assert self.loop.run_until_complete(self.known(self.desk)) == expected

    async def known(self, desk: Desk) -> Known:
        await desk.indexed_all()
        listed = await desk.listed()
        found = {
            query: sorted(
                (hit.ref.location, hit.entry_id, hit.role or "", hit.snippet, hit.on_path, hit.tip_id or "")
                for hit in await desk.hits(query)
            )
            for query in QUERIES
        }
        return listed, found, await desk.indexed.totals(None)

    @invariant()
    def lists_each_once(self) -> None:
        if hasattr(self, "desk"):
            listed = self.loop.run_until_complete(self.desk.listed())
            assert sorted(one.ref.location for one in listed) == sorted(self.paths)

    def teardown(self) -> None:
        if hasattr(self, "desk"):
            self.compare()
            self.loop.run_until_complete(self.desk.indexed.stop())
            self.loop.close()


@pytest.mark.slow
def test_the_index_is_what_a_rebuild_would_be(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(blocks, "BLOCK_CHARS", 120)
    monkeypatch.setattr(keeper, "PORTION_CHARS", 300)

    class Machine(Files):
        runs = 0

        def __init__(self) -> None:
            Machine.runs += 1
            self.base = tmp_path / str(Machine.runs)
            super().__init__()

    run_state_machine_as_test(Machine, settings=settings(max_examples=15, stateful_step_count=20, deadline=None))
