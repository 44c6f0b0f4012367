"""The reasons of `session/explain` in words. They hold texts of the file: make them safe before they are printed."""

from __future__ import annotations

from pi_daemon_client.types import ExplainedEntry

FACT = 60
"""Characters of a fact that is named within a sentence."""

_STORED = {"asStored": "as they are stored", "edited": "as a context edit has them", "summary": "summaries"}


def phrase(entry: ExplainedEntry, *, brief: bool = False) -> str:
    """What goes on after "is in the context:" or "is not in the context:". `brief`: of a summary's facts the numbers
    alone, for one sentence among many."""
    if entry["inContext"]:
        return _inside(entry)
    by, compaction = entry.get("byId", ""), entry.get("compactionId", "")
    root, missing, target = entry.get("rootId", ""), entry.get("missingId"), entry.get("targetId", "")
    match entry["reason"]:
        case "neverEnters":
            kind = entry.get("type", "")
            return "it holds no message" if kind == "message" else f"entries of the type {kind} never enter a context"
        case "emptySummary":
            return "its summary is empty"
        case "excluded":
            return "it is the output of a command that was kept out of the context"
        case "unknownRole":
            return f"no provider is sent messages of the role {entry.get('role', '')!r}"
        case "sameIdLater":
            return "a later line has the same id and counts"
        case "damagedLine":
            return f"it is on line {entry.get('line', '?')}, which can't be read: {entry.get('damage', '')}"
        case "noLeaf":
            return "the leaf is before the first entry"
        case "otherBranch" | "afterLeaf":
            return _beside(entry, brief)
        case "orphaned":
            took = f", perhaps with line {entry['line']}, which can't be read" if "line" in entry else ""
            if root == entry["id"]:
                return f"its parent {missing} is missing{took}"
            return f"the chain of its parents ends at {root}, whose parent {missing} is missing{took}"
        case "loop":
            return f"its parents form a loop, which is cut at {root}"
        case "pathCut":
            took = f", perhaps with line {entry['line']}, which can't be read" if "line" in entry else ""
            if missing is None:
                return f"the path to the leaf begins at {root}, where a loop is cut"
            return f"the path to the leaf begins at {root}, whose parent {missing} is missing{took}"
        case "compacted":
            before = f" (and by {entry['firstCompactionId']} before)" if "firstCompactionId" in entry else ""
            return f"covered by compaction {compaction}{before}{_named(entry, brief)}"
        case "olderCompaction":
            return f"compaction {compaction} came after it{_named(entry, brief)}"
        case "foldedSystem":
            return f"a system message, folded into compaction {compaction}"
        case "droppedSystem":
            why = f"which {by} omits" if by else "which doesn't carry it on"
            return f"a system message before compaction {compaction}, {why}"
        case "omitted":
            return f"omitted by the context edit {by}"
        case "setting":
            what = "model" if entry.get("type") == "model_change" else "thinking level"
            return f"it is no message, but it counts: it sets the {what}"
        case "overridden":
            what = f"a later edit of {target} counts: {by}" if target else f"overridden by {by}"
            return f"it is no message, and {what}"
        case "edit":
            return f"it is no message, but it counts: it edits {target}"
        case "editsNothing":
            return f"it edits {target}, where there is nothing that it could change"
    return entry["reason"]


def _inside(entry: ExplainedEntry) -> str:
    held, sent = entry.get("messageIndex", 0) + 1, entry.get("sentIndex", 0) + 1
    place = f"message {held}" if held == sent else f"message {held} (the provider's {sent})"
    match entry["reason"]:
        case "edited":
            return f"{place}, as the context edit {entry.get('byId', '')} has it"
        case "summary":
            return f"{place}, a summary"
    return f"{place}, as it is stored"


def _beside(entry: ExplainedEntry, brief: bool) -> str:
    branch, left = entry.get("branchId", ""), entry.get("leftAtId")
    if entry["reason"] == "afterLeaf":
        where = f"after the leaf {left}" + (f", below {branch}" if branch != entry["id"] else "")
    elif left is None:
        where = f"on a tree of its own, below the root {branch}" if branch != entry["id"] else "another root"
    elif branch == entry["id"]:
        where = f"on another branch, which it begins at {left}"
    else:
        where = f"on another branch, which left at {left} with {branch}"
    if "summaryId" not in entry:
        return where
    return f"{where}; {entry['summaryId']} sums that branch up{_count(entry, ' and', brief)}"


def _named(entry: ExplainedEntry, brief: bool) -> str:
    if "byId" in entry:
        return f", whose summary {entry['byId']} omits"
    return _count(entry, ", whose summary", brief)


def _count(entry: ExplainedEntry, words: str, brief: bool) -> str:
    """What the summary says of the entry, if it was asked."""
    facts = entry.get("facts")
    if facts is None:
        return ""
    kept, asked = facts["kept"], facts["asked"]
    if brief:
        return f" ({kept} of {asked} {'fact' if asked == 1 else 'facts'})" if asked else ""
    if not asked:
        return " (it states no path, error or request that the summary could lack)"
    if asked > 1:
        return f"{words} names {kept or 'none'} of its {asked} facts"
    if kept or not facts["missing"]:
        return f"{words} {'names' if kept else 'lacks'} its one fact"
    fact = facts["missing"][0]
    text = fact["text"] if len(fact["text"]) <= FACT else f"{fact['text'][: FACT - 3]}..."
    return f"{words} lacks its one fact ({fact['kind']}: {text})"


def groups(entry: ExplainedEntry) -> str:
    """What entries that are in the context, or out of it, for the same reason are counted as."""
    if entry["inContext"]:
        return _STORED.get(entry["reason"], entry["reason"])
    match entry["reason"]:
        case "compacted":
            return f"covered by compaction {entry.get('compactionId', '')}"
        case "otherBranch" | "orphaned" | "loop" | "pathCut":
            left = entry.get("leftAtId") or entry.get("rootId")
            words = {"otherBranch": "on another branch", "orphaned": "orphaned", "loop": "in a loop"}
            what = words.get(entry["reason"], "not below the entry at which the path is cut")
            return f"{what}, from {left}" if left else f"{what}, with a root of its own"
        case "afterLeaf":
            return "after the leaf"
        case "neverEnters":
            return f"of the type {entry.get('type', '')}, which never enters a context"
        case "setting" | "overridden" | "edit" | "editsNothing":
            return "settings and context edits, which are no messages"
        case "excluded":
            return "output of commands that was kept out of the context"
        case "olderCompaction":
            return "older compactions"
        case "damagedLine":
            return "lines that can't be read"
        case "omitted":
            return "omitted by a context edit"
        case _:
            return phrase(entry)
