"""Files of version 1 and 2, read as if they were version 3.

Version 1 has no ids: the entries are a chain in file order. An entry's id is derived, so that it is the same at
each reading until the file is migrated, and after it: the first 8 hex digits of SHA-256(session id, ordinal), more
of them on a clash. The ordinal counts the lines that parse, the header is 0; so does `firstKeptEntryIndex`, which
version 1 has where later ones name an id. Version 2 calls the role `custom` still `hookMessage`.
"""

from __future__ import annotations

from hashlib import sha256

from pi_daemon.session.facts import Json
from pi_daemon.session.head import CompactionFacts, Head
from pi_daemon.session.rawjson import dumps, join, loads, members

OLD_CUSTOM_ROLE = "hookMessage"


class LegacyIds:
    """Gives the entries of one version 1 file their ids, in file order."""

    def __init__(self, session_id: str) -> None:
        self._session_id = session_id
        self._taken: set[str] = set()
        self._by_ordinal: dict[int, str] = {}
        self._last: str | None = None

    def adopt(self, entry: Json, ordinal: int) -> None:
        """Set `id`, `parentId` and, for a compaction, `firstKeptEntryId` of the value `entry`.

        As in pi 1.6.0, ids that are there are replaced, and an index that points ahead names nothing.
        """
        digits = sha256(f"{self._session_id}:{ordinal}".encode("utf-8", "surrogatepass")).hexdigest()
        name = next(digits[:n] for n in range(8, len(digits) + 1) if digits[:n] not in self._taken)
        self._taken.add(name)
        self._by_ordinal[ordinal] = name
        entry["id"] = name
        entry["parentId"] = self._last
        self._last = name
        index = entry.get("firstKeptEntryIndex")
        if entry.get("type") == "compaction" and isinstance(index, int | float) and index in self._by_ordinal:
            entry["firstKeptEntryId"] = self._by_ordinal[int(index)]

    @staticmethod
    def rename_role(entry: Json) -> None:
        """The change from version 2 to 3."""
        message = entry.get("message")
        if entry.get("type") == "message" and isinstance(message, dict) and message.get("role") == OLD_CUSTOM_ROLE:
            message["role"] = "custom"


def migrated_line(head: Head, line: bytes, version: int) -> bytes:
    """The version 3 line of an entry of a version 1 or 2 file, `head` being what the reader made of it.

    Only what must change changes, every other member keeps its bytes.
    """
    parts = members(line)
    changed = False
    if version < 2:
        parts["id"] = dumps(head.id)
        parts["parentId"] = dumps(head.parent_id)
        if isinstance(head.facts, CompactionFacts) and isinstance(
            loads(parts.get("firstKeptEntryIndex", b"null")), int | float
        ):
            del parts["firstKeptEntryIndex"]
            if head.facts.first_kept is not None:
                parts["firstKeptEntryId"] = dumps(head.facts.first_kept)
        changed = True
    if head.role == "custom":
        message = members(parts["message"])
        if loads(message["role"]) == OLD_CUSTOM_ROLE:
            message["role"] = b'"custom"'
            parts["message"] = join(message)
            changed = True
    return join(parts) if changed else line
