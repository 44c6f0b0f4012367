"""Which sessions a client holds open, and how to open them again as they were."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class OpenSessions:
    """Follows the requests that succeeded. `requests` are the parameters of `session/open` for each, by session id."""

    def __init__(self) -> None:
        self.requests: dict[str, dict[str, Any]] = {}

    def __contains__(self, session_id: str) -> bool:
        return session_id in self.requests

    def follow(self, method: str, params: Mapping[str, Any], result: Any) -> None:
        if method in ("session/open", "session/create", "session/fork"):
            self._opened(params, result)
        elif method == "session/configure" and (opened := self.requests.get(params["sessionId"])) is not None:
            changed = {name: value for name, value in params.items() if name != "sessionId"}
            opened["options"] = {**opened.get("options", {}), **changed}
        elif method in ("session/close", "session/delete"):
            self.requests.pop(params["sessionId"], None)

    def _opened(self, params: Mapping[str, Any], result: Any) -> None:
        known = self.requests.get(result["sessionId"], {})
        # An id may belong to several files; who opened by path meant that one.
        name = {"path": result["path"]} if "path" in params else {"sessionId": result["sessionId"]}
        kept = {name: params[name] for name in ("recover", "readOnly") if name in params}
        options = {**known.get("options", {}), **params.get("options", {})}
        self.requests[result["sessionId"]] = {**name, **kept, **({"options": options} if options else {})}
