"""Lengths and numbers as JavaScript has them: strings are UTF-16, and estimates count their code units."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from json.encoder import encode_basestring
from typing import Any

_surrogates = re.compile("[\ud800-\udfff]").findall


def utf16_length(text: str) -> int:
    """Code units; a lone surrogate is one."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def number_text(value: float) -> str:
    """What Number.prototype.toString gives; "null" beyond the doubles, as JSON.stringify has it."""
    if isinstance(value, int) and -(2**53) <= value <= 2**53:
        return str(value)
    try:
        value = float(value)
    except OverflowError:
        return "null"
    if not math.isfinite(value):
        return "null"
    if value == 0:
        return "0"
    sign, places, exponent = Decimal(repr(value)).normalize().as_tuple()
    digits = "".join(map(str, places))
    point = len(digits) + int(exponent)
    if len(digits) <= point <= 21:
        text = digits.ljust(point, "0")
    elif 0 < point <= 21:
        text = f"{digits[:point]}.{digits[point:]}"
    elif -6 < point <= 0:
        text = f"0.{'0' * -point}{digits}"
    else:
        fraction = f".{digits[1:]}" if len(digits) > 1 else ""
        text = f"{digits[0]}{fraction}e{point - 1:+d}"
    return f"-{text}" if sign else text


def stringify_length(value: Any) -> int:
    """Code units of JSON.stringify(value)."""
    length = 0
    waiting = [value]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            length += _quoted_length(value)
        elif value is None or value is True:
            length += 4
        elif value is False:
            length += 5
        elif isinstance(value, dict):
            length += 2 + sum(map(_quoted_length, value)) + len(value) + max(len(value) - 1, 0)
            waiting.extend(value.values())
        elif isinstance(value, list):
            length += 2 + max(len(value) - 1, 0)
            waiting.extend(value)
        else:
            length += len(number_text(value))
    return length


def _quoted_length(text: str) -> int:
    if text.isascii():
        return len(encode_basestring(text))
    quoted = encode_basestring(text)
    # JSON.stringify writes a lone surrogate as an escape of six characters.
    return utf16_length(quoted) + 5 * len(_surrogates(quoted))
