"""Sessions for the panel to show."""

from __future__ import annotations

import base64
import json
import struct
import zlib
from pathlib import Path
from typing import Any

HOSTILE = (
    "<img src=x onerror=window.owned=1><script>window.owned=1</script>",
    "[a](javascript:window.owned=1) **<b onclick=window.owned=1>b</b>**",
    "</div></body><svg/onload=window.owned=1>",
    "{{constructor.constructor('window.owned=1')()}}",
    "\u202eesrever \x07 \x1b[31m",
)
"""What must be shown and never done."""


class Writer:
    """A session file, entry by entry; each hangs under the one before unless another parent is named."""

    def __init__(self, id: str, *, cwd: str = "/home/me/project", parent_session: str | None = None) -> None:
        header: dict[str, Any] = {"type": "session", "version": 3, "id": id, "timestamp": time(0), "cwd": cwd}
        if parent_session is not None:
            header["parentSession"] = parent_session
        self.id = id
        self.lines = [header]
        self.last: str | None = None

    def add(self, type: str, parent: str | None = "", **members: Any) -> str:
        number = len(self.lines)
        id = f"{number:08x}"
        under = self.last if parent == "" else parent
        self.lines.append({"type": type, "id": id, "parentId": under, "timestamp": time(number), **members})
        self.last = id
        return id

    def message(self, role: str, content: Any, parent: str | None = "", **members: Any) -> str:
        stamp = 1_767_225_600_000 + 1000 * len(self.lines)
        message = {"role": role, "content": content, "timestamp": stamp, **members}
        if role == "assistant":
            usage = {"input": 1000 + 40 * len(self.lines), "output": 50, "cacheRead": 0, "cacheWrite": 0}
            usage["totalTokens"] = usage["input"] + usage["output"]
            message = {"provider": "p", "model": "m", "api": "a", "stopReason": "stop", **message, "usage": usage}
        return self.add("message", parent, message=message)

    def user(self, text: str, parent: str | None = "") -> str:
        return self.message("user", text, parent)

    def assistant(self, text: str, parent: str | None = "") -> str:
        return self.message("assistant", [{"type": "text", "text": text}], parent)

    def call(self, name: str, arguments: dict[str, Any], result: Any, said: str = "I do it.", **details: Any) -> str:
        call = f"call_{len(self.lines)}"
        block = {"type": "toolCall", "id": call, "name": name, "arguments": arguments}
        self.message("assistant", [{"type": "text", "text": said}, block], stopReason="toolUse")
        content = [{"type": "text", "text": result}] if isinstance(result, str) else result
        return self.message("toolResult", content, toolCallId=call, toolName=name, isError=False, **details)

    def write(self, directory: Path) -> Path:
        path = directory / f"2026-01-01T00-00-00-000Z_{self.id}.jsonl"
        path.write_bytes(b"".join(json.dumps(line).encode() + b"\n" for line in self.lines))
        return path


def time(number: int) -> str:
    hours, rest = divmod(number, 3600)
    return f"2026-01-{1 + hours // 24:02d}T{hours % 24:02d}:{rest // 60:02d}:{rest % 60:02d}.000Z"


def image() -> str:
    """A PNG of 64 times 64 green pixels, as base64."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\0" + b"\x30\xa0\x60" * 64 for _ in range(64))
    head = struct.pack(">IIBBBBB", 64, 64, 8, 2, 0, 0, 0)
    data = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + data).decode()


REPLY = """## What I found

The parser reads **each line twice**. Two ways to mend it:

1. keep the first pass, and note offsets
2. drop it, and `mmap` the file

```python
def read(path):
    with open(path, "rb") as file:
        return [line for line in file]
```

| way | time | memory |
| --- | --- | --- |
| offsets | 40 ms | 2 MB |
| mmap | 31 ms | 0 MB |

> A foreign writer may truncate it, see https://example.org/mmap.
"""


def talk(id: str = "11111111-0000-4000-8000-000000000001") -> Writer:
    """Branches, a label, a branch summary, a compaction, edits, an image."""
    it = Writer(id)
    it.add("model_change", provider="p", modelId="m")
    it.user("Why is the parser slow?")
    it.call("read", {"path": "src/parser.py"}, "def parse(text):\n    return text", said="I look at it.")
    first = it.assistant(REPLY)
    it.user("Try mmap first", first)
    edits = [{"oldText": "def parse(text):\n    return text", "newText": "def parse(view):\n    return bytes(view)"}]
    it.call("edit", {"path": "src/parser.py", "edits": edits}, "Edited.", details={"diff": "- text\n+ view"})
    left = it.assistant("It crashes when the file is truncated.")
    side = it.user("And with a lock?", first)
    it.assistant("Locks don't help against another program.")
    it.add("branch_summary", first, fromId=left, summary="mmap was tried; it crashes on truncated files.")
    kept = it.user("Then keep offsets")
    it.call("bash", {"command": "pytest -q"}, "12 passed")
    it.message(
        "toolResult",
        [{"type": "text", "text": "a chart"}, {"type": "image", "data": image(), "mimeType": "image/png"}],
        toolCallId="none",
        toolName="plot",
        isError=False,
    )
    it.assistant("Offsets are as fast as mmap.")
    it.add("compaction", summary="## Goal\nMake the parser fast.", firstKeptEntryId=kept, tokensBefore=154_000)
    it.user("Now write the tests")
    it.assistant("They are written, and pass.")
    it.add("label", targetId=side, label="dead end")
    it.add("session_info", name="A faster parser")
    return it


def hostile(id: str = "11111111-0000-4000-8000-000000000003") -> Writer:
    it = Writer(id, cwd="/home/me/<b>bold</b>")
    for text in HOSTILE:
        it.user(text)
        it.call(text, {"path": text, "command": text, text: text}, text, said=text)
    bad = {"type": "image", "data": "PHN2Zy8+", "mimeType": "image/svg+xml"}
    it.message("user", [{"type": "text", "text": "images"}, bad, {"type": text, "x": text}])
    it.add(HOSTILE[0], data=HOSTILE[0])
    it.add("label", targetId="00000001", label=HOSTILE[0])
    it.add("session_info", name=HOSTILE[0])
    return it


def long(turns: int, id: str = "11111111-0000-4000-8000-000000000004", branch_every: int = 100) -> Writer:
    """Four entries a turn. Every so many turns there is a branch that was left."""
    it = Writer(id)
    for turn in range(turns):
        it.user(f"Question {turn}: " + "words " * 20)
        it.call("read", {"path": f"src/file{turn}.py"}, f"line {turn}\n" * 20, said=f"I read file {turn}.")
        end = it.assistant(f"Answer {turn}. " + "It is so. " * 20)
        if turn % branch_every == branch_every - 1:
            it.user(f"Another way {turn}")
            it.assistant("That leads nowhere.")
            it.last = end
    return it
