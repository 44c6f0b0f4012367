"""Paths as the tools of pi take them. Text in, text out: nothing asks whether a file is there."""

from __future__ import annotations

import posixpath
import re
from urllib.parse import unquote

_SPACES = re.compile("[\u00a0\u2000-\u200a\u202f\u205f\u3000]")
_SURROGATES = re.compile("[\ud800-\udfff]")
_FILE_URL = "file://"


def resolve(path: str, cwd: str, home: str) -> str:
    """Where a tool of an agent in `cwd` goes for `path`, without `.` and `..`: odd spaces are spaces, an @ before it
    is dropped, ~ is the home directory (pi 1.6.0)."""
    name = _SPACES.sub(" ", path).removeprefix("@")
    if name == "~" or name.startswith("~/"):
        name = home + name[1:]
    elif name.startswith(f"{_FILE_URL}/"):
        name = unquote(name[len(_FILE_URL) :])
    found = posixpath.normpath(posixpath.join(cwd, name))
    return found[1:] if found.startswith("//") else found


def within(path: str, folder: str) -> bool:
    """Whether `path` is `folder` or lies in it, by name. Both are absolute and normalized."""
    return path == folder or path.startswith(folder if folder.endswith("/") else f"{folder}/")


def shown(path: str, cwd: str) -> str:
    """As it is told to clients: relative to `cwd` where it lies in it, and without half surrogate pairs."""
    inside = path != cwd and within(path, cwd)
    return sound(posixpath.relpath(path, cwd) if inside else path)


def sound(text: str) -> str:
    """Without half surrogate pairs, which UTF-8 can't have."""
    return _SURROGATES.sub("\ufffd", text)
