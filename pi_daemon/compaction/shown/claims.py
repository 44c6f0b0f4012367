"""What a summary says was changed."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from pi_daemon.compaction.form import parse, without_files

_CHANGED = re.compile(
    r"\b(?:creat|add|writ|wrote|modif|updat|edit|chang|implement|fix|refactor|rewr|replac|renam|mov|remov|delet)\w*"
    r"|新增|创建|添加|写入|修改|更新|编辑|实现|修复|重构|替换|删除",
    re.IGNORECASE,
)
_PATH = re.compile(r"`([^`\s]{1,300})`|(?<![\w/.~@-])((?:[\w.@~-]{1,100}/){1,30}[\w.@-]{0,100}\.\w{1,10})(?![\w/])")
_LOOKS_LIKE_FILE = re.compile(r"[\w.@~/\\-]*[\w-]\.[A-Za-z]\w{0,9}\Z")


class Claim(Struct, frozen=True):
    """`listed`: in a list of modified files, and not only in a sentence."""

    path: str
    entry_id: str
    listed: bool


def claims(entry: dict[str, Any], entry_id: str) -> list[Claim]:
    """The files that a compaction or a branch summary says were changed."""
    summary = entry.get("summary")
    text, _, modified = without_files(summary) if isinstance(summary, str) else ("", [], [])
    details = entry.get("details")
    if isinstance(details, dict) and not entry.get("fromHook"):
        listed = details.get("modifiedFiles")
        modified += [path for path in listed if isinstance(path, str)] if isinstance(listed, list) else []
    found = {path: Claim(path, entry_id, True) for path in modified if path}
    for item in parse(text).folded().done:
        if _CHANGED.search(item):
            for path in _paths(item):
                found.setdefault(path, Claim(path, entry_id, False))
    return list(found.values())


def _paths(item: str) -> Iterable[str]:
    for quoted, bare in _PATH.findall(item):
        path = quoted or bare
        if _LOOKS_LIKE_FILE.match(path) and "/" in path:
            yield path
