"""Text from sessions, made harmless for a terminal.

A tool result may hold anything: escape sequences that recolour, retitle or answer for the user, and marks that turn
the direction of writing around. Nothing of it reaches the terminal as a command.
"""

from __future__ import annotations

import re

_DANGEROUS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff]")
"""Control characters of both sets, line and paragraph separators, direction marks, half surrogate pairs."""

_JSON_DANGEROUS = re.compile(rb"\xc2[\x80-\x9f]|\x7f")
"""What JSON lets stand in a string although a terminal may obey it. These bytes occur nowhere else in JSON."""


def _visible(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    return "\ufffd" if 0xD800 <= code < 0xE000 else f"<U+{code:04X}>"


def block(text: str) -> str:
    """Many lines: newlines stay, tabs become spaces."""
    return _DANGEROUS.sub(_visible, text.replace("\r\n", "\n").expandtabs(4))


def line(text: str) -> str:
    """One line: tabs and line ends become spaces."""
    return _DANGEROUS.sub(_visible, re.sub(r"[\t\r\n]+", " ", text))


def json_bytes(data: bytes) -> bytes:
    """The same JSON value, without control characters in its bytes."""
    return _JSON_DANGEROUS.sub(lambda match: b"\\u%04x" % match[0][-1], data)
