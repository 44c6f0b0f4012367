"""What a compaction cuts off and a summary is told: ours against the reference's, wherever the leaf is."""

from __future__ import annotations

import os
import random
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from json.encoder import encode_basestring
from pathlib import Path
from typing import Any

import pytest

from pi_daemon.compaction.branch import BranchGathering, branch_portions, branch_sources
from pi_daemon.compaction.gather import Gathering, portions
from pi_daemon.compaction.listing import Listing
from pi_daemon.compaction.material import Material, Said
from pi_daemon.compaction.plan import Plan, Planner
from pi_daemon.compaction.settings import CompactionSettings
from pi_daemon.compaction.transcript import MAX_RESULT, transcript_line
from pi_daemon.session.errors import NothingToCompact
from pi_daemon.session.jstext import number_text, utf16_length
from pi_daemon.session.rawjson import loads
from pi_daemon.session.selection import select
from tests.compaction.planning import compaction, edit, result
from tests.conformance.sessions import AskPlans, Generate, Session, as_javascript, read
from tests.conformance.test_differences import HEADER
from tests.conformance.test_reference import FIRST_SEED, REAL_SESSIONS, damaged
from tests.session.entries import answer, line, text, user

pytestmark = pytest.mark.timeout(600)  # the first run may have to fetch the reference

LONG = os.environ.get("PI_DAEMON_LONG") == "1"
TREES = 200 if LONG else 40
EVERY_LEAF = 150
"""Sessions with more entries are asked at so many places, unless PI_DAEMON_LONG is set."""
SAMPLED = 24

SETTINGS = ((16_384, 0), (16_384, 200), (1_000, 3_000), (0, 20_000))
"""Tokens in reserve, and to be kept."""
BUDGETS = (0, 40, 600, 20_000)
MOVES = 12


class Comparison:
    """One session, and the reference's answers about it."""

    def __init__(self, session: Session, theirs: dict[str, Any], seen: Counter[str]) -> None:
        self.session = session
        self.heads = session.tree.entries
        assert theirs["entries"] == len(self.heads)
        self.place = {head.id: place for place, head in enumerate(self.heads)}
        self.values = theirs["values"]
        self.lists = theirs["lists"]
        self.texts = theirs["texts"]
        self.told: set[int] = set()
        self.seen = seen

    def lines(self, heads: Iterable[Any]) -> list[bytes]:
        return [self.session.line(head) for head in heads]

    def plan(self, leaf: int, setting: tuple[int, int], theirs: dict[str, Any] | None) -> None:
        plan = self.planned(leaf, setting)
        assert (plan is None) == (theirs is None)
        if plan is None or theirs is None:
            self.seen["nothing"] += 1
            return
        assert plan.leaf_id == self.heads[leaf].id
        assert self.place[plan.first_kept_id] == theirs["firstKept"]
        assert plan.is_split_turn == theirs["split"]
        assert plan.tokens_before == theirs["tokens"]
        gathering = Gathering(len(plan.history))
        for portion in portions(plan):
            assert gathering.give(portion.use, self.lines(portion.heads()))
        found = gathering.material
        assert [said.entry_id for said in found.all] == [source.head.id for source in (*plan.history, *plan.prefix)]
        self.same(found.history, theirs["history"])
        self.same(found.prefix, theirs["prefix"])
        assert found.previous == theirs["previous"]
        self.same_files(found, theirs["files"])
        listing = Listing(plan)
        while wanted := listing.wanted():
            listing.give(self.lines(wanted))
        assert (listing.files.read, listing.files.modified) == (found.read_files, found.modified_files)
        self.seen["split" if plan.is_split_turn else "whole"] += 1
        self.seen["prefix alone"] += not plan.history
        self.seen["previous"] += plan.compaction is not None
        self.seen["edited"] += any(source.edit for source in plan.history)

    def planned(self, leaf: int, setting: tuple[int, int]) -> Plan | None:
        path = self.session.tree.path(self.heads[leaf].id)
        try:
            planner = Planner(path, select(path), CompactionSettings(*setting))
            while wanted := planner.wanted():
                planner.give(self.lines(wanted))
        except NothingToCompact:
            return None
        return planner.plan

    def move(self, leaves: tuple[int, int], theirs: dict[str, Any]) -> None:
        branch = branch_sources(self.session.tree, *(self.heads[leaf].id for leaf in leaves))
        assert [self.place[head.id] for head in branch] == theirs["entries"]
        for budget, chosen in zip(BUDGETS, theirs["chosen"], strict=True):
            gathering = BranchGathering(budget)
            for portion in branch_portions(branch):
                if not gathering.give(portion.use, self.lines(portion.heads())):
                    break
            if "error" in chosen:
                # It takes the content of a message on a branch for granted, which ours reads as empty.
                assert any(b'"content":null' in line or b'"content"' not in line for line in self.lines(branch))
                continue
            found = gathering.material
            self.same(found.history, chosen["messages"])
            self.same_files(found, chosen["files"])
            assert gathering.tokens == chosen["tokens"]
            self.seen["branch"] += bool(found.history)

    def same(self, ours: Sequence[Said], number: int) -> None:
        theirs = self.lists[number]
        assert len(ours) == len(theirs)
        for said, value in zip(ours, theirs, strict=True):
            expected = self.values[value]
            assert said.message == expected or as_javascript(said.message) == as_javascript(expected)
            assert said.role == expected.get("role", "")
            if value not in self.told:
                self.told.add(value)
                if isinstance(self.texts[value], str):
                    assert as_theirs(transcript_line(said)) == without_nothing(self.texts[value])
                    self.seen["told"] += 1

    def same_files(self, found: Material, theirs: dict[str, list[str]]) -> None:
        assert found.read_files == theirs["readFiles"]
        assert found.modified_files == theirs["modifiedFiles"]
        self.seen["read"] += bool(found.read_files)
        self.seen["modified"] += bool(found.modified_files)


def as_theirs(line: str) -> str:
    """A line of our transcript in the reference's words. What it doesn't tell (images, the tool's name, whether it
    failed) is left out."""
    record: dict[str, Any] = loads(line.encode()) if line else {"from": ""}
    text = record.get("text", "")
    match record["from"]:
        case "user":
            return f"[User]: {text}" if text else ""
        case "assistant":
            calls = "; ".join(f"{call['name']}({arguments(call['arguments'])})" for call in record.get("calls", ()))
            parts = [f"[Assistant]: {text}"] if text else []
            return "\n\n".join([*parts, f"[Assistant tool calls]: {calls}"] if calls else parts)
        case "toolResult":
            missing = record.get("missing", 0)
            if missing:
                text += f"\n\n[... {utf16_length(text) + missing - MAX_RESULT} more characters truncated]"
            return f"[Tool result]: {text}" if text else ""
        case _:
            return ""


def without_nothing(theirs: str) -> str:
    """The reference tells of an answer's text even where it is empty."""
    return re.sub(r"\A\[Assistant\]: (?:\n\n(?=\[Assistant tool calls\]: )|\Z)", "", theirs)


def arguments(value: Any) -> str:
    if isinstance(value, str):
        units = value.encode("utf-16-le", "surrogatepass")
        value = [units[at : at + 2].decode("utf-16-le", "surrogatepass") for at in range(0, len(units), 2)]
    if isinstance(value, list):
        value = dict(zip(map(str, range(len(value))), value, strict=True))
    return ", ".join(f"{name}={stringified(value[name])}" for name in ordered(value)) if isinstance(value, dict) else ""


def stringified(value: Any) -> str:
    """JSON.stringify(value)."""
    if isinstance(value, str):
        return re.sub("[\ud800-\udfff]", lambda found: f"\\u{ord(found[0]):04x}", encode_basestring(value))
    if isinstance(value, dict):
        return "{" + ",".join(f"{stringified(name)}:{stringified(value[name])}" for name in ordered(value)) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(stringified, value)) + "]"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return number_text(value)


def ordered(value: dict[str, Any]) -> list[str]:
    """JavaScript's order of members: those that are an index come first, by number."""
    places = [name for name in value if re.fullmatch(r"0|[1-9][0-9]{0,8}", name)]
    return sorted(places, key=int) + [name for name in value if name not in places]


def question(file: Path, session: Session) -> dict[str, Any]:
    rng = random.Random(f"{file.name} {FIRST_SEED}")
    count = len(session.tree.entries)
    every = LONG or count <= EVERY_LEAF
    leaves = range(count) if every else sorted({*rng.sample(range(count), SAMPLED), count - 1})
    moves = [(rng.randrange(count), rng.randrange(count)) for _ in range(MOVES)] if count else []
    return {"file": str(file), "leaves": [*leaves], "settings": SETTINGS, "moves": moves, "budgets": BUDGETS}


def agree(files: Sequence[Path], ask_plans: AskPlans) -> Counter[str]:
    """Fails at the first difference; tells how often what was met."""
    sessions = [read(file) for file in files]
    questions = [question(file, session) for file, session in zip(files, sessions, strict=True)]
    seen: Counter[str] = Counter()
    for asked, session, theirs in zip(questions, sessions, ask_plans(questions), strict=True):
        compared = Comparison(session, theirs, seen)
        where = ""
        try:
            for leaf, plans in zip(asked["leaves"], theirs["plans"], strict=True):
                for setting, plan in zip(SETTINGS, plans, strict=True):
                    where = f"leaf {leaf}, {setting}"
                    compared.plan(leaf, setting, plan)
            for move, left in zip(asked["moves"], theirs["moves"], strict=True):
                where = f"move {move}"
                compared.move(move, left)
        except AssertionError as difference:
            difference.add_note(f"{asked['file']}: {where}")
            raise
    return seen


MET = {"nothing", "split", "whole", "prefix alone", "previous", "edited", "branch", "told", "read", "modified"}


@pytest.mark.slow
def test_plans_of_random_sessions(ask_plans: AskPlans, generate: Generate, tmp_path: Path) -> None:
    seen = agree(generate(tmp_path, range(FIRST_SEED, FIRST_SEED + TREES)), ask_plans)
    assert {what for what, times in seen.items() if times} >= MET, seen


@pytest.mark.slow
def test_plans_of_the_same_sessions_damaged(ask_plans: AskPlans, generate: Generate, tmp_path: Path) -> None:
    files = generate(tmp_path, range(FIRST_SEED, FIRST_SEED + TREES))
    for file in files:
        file.write_bytes(damaged(file.read_bytes(), random.Random(file.name)))
    agree(files, ask_plans)


def test_plans_of_odd_paths(ask_plans: AskPlans, tmp_path: Path) -> None:
    """What random sessions hardly ever come to."""
    start = [user("u", None, "x" * 40), answer("a", "u", [text("x" * 40)]), user("v", "a", "x" * 40)]
    tried = [*start, answer("b", "v", [text("no")])]
    usage = {"totalTokens": 500}
    system = {"role": "system", "content": "be"}
    sessions = {
        "older compaction behind an attempt": [
            *tried,
            compaction("c", "b", "v"),
            compaction("d", "c", "u"),
            edit("e", "d", "b"),
        ],
        "an edit that puts something in its place": [*tried, edit("e", "b", "b"), edit("f", "e", "u", "other")],
        "metadata alone": [
            line("model_change", "m", None, provider="p", modelId="m"),
            line("label", "l", "m", targetId="m", label="L"),
        ],
        "a compaction edited away": [*tried, compaction("c", "b", "v"), user("w", "c"), edit("e", "w", "c")],
        "compactions in a row": [*tried, compaction("c", "b", "v"), compaction("d", "c", "v"), user("w", "d")],
        "what it kept is gone": [*tried, compaction("c", "b", "gone"), user("w", "c"), answer("x", "w")],
        "it kept itself": [*tried, compaction("c", "b", "c", systemMessage=system), user("w", "c"), answer("x", "w")],
        "a result larger than what is kept": [*tried, result("r", "b", "x" * 90_000), answer("x", "r", usage=usage)],
        "two lines with one id": [*start, user("a", "u", "again"), answer("b", "a", [text("x")])],
        "a parent that is missing": [user("u", "gone", "x" * 40), *start[1:]],
    }
    files = []
    for name, lines in sessions.items():
        files.append(tmp_path / f"{name}.jsonl")
        files[-1].write_bytes(b"".join(line + b"\n" for line in [HEADER.rstrip(), *lines]))
    agree(files, ask_plans)


def test_a_loop_is_planned_to_its_end() -> None:
    """The reference never comes back from it."""
    data = HEADER + b"".join(line + b"\n" for line in (user("a", "c"), user("b", "a"), user("c", "b")))
    session = Session(data)
    planned = Comparison(session, {"entries": 3, "values": [], "lists": [], "texts": []}, Counter()).planned(2, (0, 0))
    assert planned is not None and planned.first_kept_id == "c" and len(planned.history) == 2


@pytest.mark.skipif(not REAL_SESSIONS.is_dir(), reason=f"no real sessions in {REAL_SESSIONS} (PI_DAEMON_SHARED)")
def test_plans_of_real_sessions(ask_plans: AskPlans) -> None:
    agree(sorted(REAL_SESSIONS.glob("*.jsonl")), ask_plans)
