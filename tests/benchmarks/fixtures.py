"""Session files to measure on: made from a seed, kept in a cache directory, never taken from anybody.

The lines look like what an agent writes: a user's words, answers with thinking and tool calls, results with code,
quotes, newlines and some text that isn't ASCII, usage, and now and then a change of model, a label or a side branch.
"""

from __future__ import annotations

import hashlib
import os
import random
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import orjson

EPOCH = datetime(2026, 1, 5, 8, 0, tzinfo=UTC)
POOL_TEXTS = 48
POOL_CHARACTERS = 6_000
CATCH_UP = 300
"""Over how many entries the size is brought back to what was asked for."""
BRANCH_EVERY = 1_000
"""With branches: after so many entries one goes back twenty and starts again from there."""

_PROSE = (
    "the parser reads one line at a time and keeps where it began",
    "that test fails on the second run because the cache isn't cleared",
    "the message says \"cannot read property 'id' of undefined\"",
    "größere Dateien brauchen länger, die Grenze liegt bei 50 MB",
    "用户希望保留原来的行为,只改变错误信息",
    "done ✅ — see the naïve version in C:\\work\\old for comparison 🙂",
    "the leaf moved while the answer was under way, so we look again",
)
_CODE = (
    "def read(path: str) -> list[str]:\n    with open(path, encoding='utf-8') as file:\n        return list(file)\n",
    'const found = entries.find((entry) => entry.id === id);\nif (!found) throw new Error(`no "${id}"`);\n',
    "for (size_t i = 0; i < n; i++) {\n\tbuffer[i] = '\\0';\n}\n",
    '{"name": "demo", "scripts": {"build": "tsc -p .", "test": "vitest --run"}}\n',
    "    11 | async fn main() -> Result<(), Box<dyn Error>> {\n    12 |     let text = fs::read_to_string(path)?;\n",
    'src/app.py:41: error: Argument 1 to "load" has incompatible type "str | None"; expected "str"\n',
)


class Writer:
    """Writes one session file of about `size` bytes in `count` entries."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.pool = [self._text() for _ in range(POOL_TEXTS)]
        self.calls: list[str] = []

    def _text(self) -> str:
        parts: list[str] = []
        length = 0
        while length < POOL_CHARACTERS:
            part = self.random.choice(_CODE if self.random.random() < 0.5 else _PROSE)
            parts.append(part)
            length += len(part) + 1
        return " ".join(parts)

    def text(self, length: int) -> str:
        text = self.random.choice(self.pool)
        piece = self.random.choice(_PROSE) + "\n" + text[:length]
        while len(piece) < length:
            piece += self.random.choice(self.pool)
        return piece[:length]

    def entry(self, index: int, length: int, at: datetime) -> dict[str, Any]:
        """The own members of entry `index`, with about `length` bytes of text."""
        milliseconds = int(at.timestamp() * 1000)
        chance = self.random.random()
        if chance < 0.004:
            return {"type": "model_change", "provider": "anthropic", "modelId": f"model-{index % 3}"}
        if chance < 0.006:
            return {"type": "thinking_level_change", "thinkingLevel": self.random.choice(["off", "low", "high"])}
        if chance < 0.008:
            return {"type": "custom", "customType": "extension.state", "data": {"step": index, "text": self.text(80)}}
        if self.calls:
            call = self.calls.pop()
            return {
                "type": "message",
                "message": {
                    "role": "toolResult",
                    "toolCallId": call,
                    "toolName": "read",
                    "content": [{"type": "text", "text": self.text(length + length // 2)}],
                    "isError": index % 37 == 0,
                    "timestamp": milliseconds,
                },
            }
        if index % 9 == 0:
            content = [{"type": "text", "text": self.text(max(40, length // 3))}]
            return {"type": "message", "message": {"role": "user", "content": content, "timestamp": milliseconds}}
        blocks: list[dict[str, Any]] = []
        if index % 4 == 1:
            blocks.append({"type": "thinking", "thinking": self.text(length // 3), "thinkingSignature": "c2lnbmF0dXJl"})
        blocks.append({"type": "text", "text": self.text(length // 3)})
        for number in range(self.random.choice((0, 1, 1, 1, 2))):
            call = f"toolu_{index:08d}{number}"
            self.calls.append(call)
            arguments = {"path": f"src/module_{index % 211}.py", "offset": index % 400, "note": self.text(length // 4)}
            blocks.append({"type": "toolCall", "id": call, "name": "read", "arguments": arguments})
        tokens = 2_000 + index * 37 % 150_000
        return {
            "type": "message",
            "message": {
                "role": "assistant",
                "content": blocks,
                "api": "anthropic-messages",
                "provider": "anthropic",
                "model": "model-1",
                "usage": {
                    "input": tokens,
                    "output": 120,
                    "cacheRead": 900,
                    "cacheWrite": 0,
                    "totalTokens": tokens + 1_020,
                    "cost": {"input": 0.0061, "output": 0.0018, "cacheRead": 0.0003, "cacheWrite": 0, "total": 0.0082},
                },
                "stopReason": "toolUse" if self.calls else "stop",
                "timestamp": milliseconds,
            },
        }

    def lines(self, session_id: str, count: int, size: int, *, branches: bool, kept: int | None) -> Iterator[bytes]:
        """The lines without newlines. `kept`: a compaction at the end that keeps so many entries before it."""
        yield header(session_id)
        written = 0
        ids: list[str] = []
        at = EPOCH
        for index in range(count):
            at += timedelta(milliseconds=self.random.randrange(200, 9_000))
            entry_id = f"{index * 2654435761 % 2**32:08x}"
            parent = ids[-1] if ids else None
            if branches and index and index % BRANCH_EVERY == 0:
                parent = ids[-20]
            stamp = iso(at)
            if kept is not None and index == count - 1:
                own: dict[str, Any] = {
                    "type": "compaction",
                    "summary": "## Goal\n" + self.text(1_500),
                    "firstKeptEntryId": ids[-kept],
                    "tokensBefore": 190_000,
                    "details": {"readFiles": ["src/app.py"], "modifiedFiles": ["src/main.py"]},
                }
            else:
                mean = size / count
                behind = mean * index - written
                length = int((mean + behind / CATCH_UP) * self.random.choice((0.3, 0.5, 0.7, 1.0, 3.0)))
                own = self.entry(index, max(24, length - 400), at)
            line = orjson.dumps({"type": own["type"], "id": entry_id, "parentId": parent, "timestamp": stamp, **own})
            written += len(line) + 1
            ids.append(entry_id)
            yield line


def iso(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%S.") + f"{at.microsecond // 1000:03d}Z"


def header(session_id: str) -> bytes:
    """`cwd` is a directory that exists everywhere: pi asks for one."""
    return orjson.dumps({"type": "session", "version": 3, "id": session_id, "timestamp": iso(EPOCH), "cwd": "/"})


class Fixtures:
    """Makes what is missing in `root` and gives its path. Files are named by how they were made."""

    def __init__(self, root: Path) -> None:
        made_by = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:10]
        self.root = root / f"fixtures-{made_by}"
        if root.is_dir():
            for old in root.glob("fixtures-*"):
                if old != self.root:
                    shutil.rmtree(old)
        self.root.mkdir(parents=True, exist_ok=True)

    def session(self, count: int, size: int, *, branches: bool = False, kept: int | None = None) -> Path:
        """A file of `count` entries and about `size` bytes. Its session id is its stem."""
        name = f"bench-{count}-{size}" + ("-branches" if branches else "") + (f"-kept-{kept}" if kept else "")
        path = self.root / f"{name}.jsonl"
        if not path.exists():
            staged = path.with_suffix(".part")
            with staged.open("wb", buffering=1 << 20) as file:
                for line in Writer(count).lines(name, count, size, branches=branches, kept=kept):
                    file.write(line + b"\n")
            staged.rename(path)
        return path

    def directory(self, target: Path, files: int, size: int) -> None:
        """`files` sessions of `size` bytes altogether under `target`, one folder a project, ids distinct."""
        mean = size / files
        factors = (0.1, 0.15, 0.25, 0.4, 0.6, 0.8, 1.2, 1.8, 2.3, 2.4)
        bodies: list[bytes] = []
        for number, factor in enumerate(factors):
            wanted = int(mean * factor)
            lines = Writer(number).lines("template", max(4, wanted // 1_100), wanted, branches=False, kept=None)
            bodies.append(b"\n".join([*lines][1:]) + b"\n")
        for number in range(files):
            folder = target / f"--bench-project-{number % 40}--"
            folder.mkdir(parents=True, exist_ok=True)
            at = EPOCH + timedelta(minutes=number)
            session_id = f"0197bench-{number:05d}"
            name = iso(at).replace(":", "-").replace(".", "-") + f"_{session_id}.jsonl"
            with open(folder / name, "wb", buffering=0) as file:
                os.writev(file.fileno(), [header(session_id) + b"\n", bodies[number * 7 % len(bodies)]])
