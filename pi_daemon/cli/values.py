"""The values that options take, and what is said of those that they don't."""

from __future__ import annotations

import enum
import math
from typing import Any, TypeVar

import typer

E = TypeVar("E", bound=enum.StrEnum)


class Filter(enum.StrEnum):
    DEFAULT = "default"
    NO_TOOLS = "no-tools"
    USER_ONLY = "user-only"
    LABELED_ONLY = "labeled-only"
    ALL = "all"


class Format(enum.StrEnum):
    AGENT = "agent"
    LLM = "llm"


class ExportFormat(enum.StrEnum):
    JSONL = "jsonl"
    TREE = "tree"
    MARKDOWN = "markdown"


class Pairing(enum.StrEnum):
    REPORT = "report"
    REPAIR = "repair"


class Durability(enum.StrEnum):
    SYNCED = "synced"
    WRITTEN = "written"


class Summarizer(enum.StrEnum):
    CLIENT = "client"
    MODEL = "model"
    EXTRACTIVE = "extractive"


class Policy(enum.StrEnum):
    REPORT = "report"
    AMEND = "amend"
    REFUSE = "refuse"


class OpenCalls(enum.StrEnum):
    REFUSE = "refuse"
    WAIT = "wait"
    IGNORE = "ignore"


class Level(enum.StrEnum):
    WARNING = "warning"
    INFO = "info"
    DEBUG = "debug"


def choice(kind: type[E]) -> dict[str, Any]:
    """For an option that takes one of these, spelled in any case."""

    def parse(text: str) -> E:
        try:
            return kind(text.lower())
        except ValueError:
            names = [str(one) for one in kind]
            raise typer.BadParameter(f"{text!r} is none: take {', '.join(names[:-1])} or {names[-1]}.") from None

    return {"parser": parse, "metavar": f"[{'|'.join(kind)}]"}


def _count(text: str | int) -> int:
    try:
        if (number := int(text)) >= 0:
            return number
    except ValueError:
        pass
    raise typer.BadParameter(f"{text!r} is no count: give a whole number, 0 or more.")


def _minutes(text: str | float) -> float:
    try:
        if 0 <= (number := float(text)) < math.inf:
            return number
    except ValueError:
        pass
    raise typer.BadParameter(f"{text!r} are no minutes: give a number, 0 or more.")


COUNT: dict[str, Any] = {"parser": _count, "metavar": "N"}
TOKENS: dict[str, Any] = {"parser": _count, "metavar": "TOKENS"}
MINUTES: dict[str, Any] = {"parser": _minutes, "metavar": "MINUTES"}
