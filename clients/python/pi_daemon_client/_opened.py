"""Which sessions a client holds open, and how to open them again as they were."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class OpenSessions:
    """Follows the requests that succeeded. `requests` are the parameters of `session/open` for each, by session id;
    `configured` those of `session/configure` for sessions that this client has not opened."""

    def __init__(self) -> None:
        self.requests: dict[str, dict[str, Any]] = {}
        self.configured: dict[str, dict[str, Any]] = {}

    def __contains__(self, session_id: str) -> bool:
        return session_id in self.requests

    def follow(self, method: str, params: Mapping[str, Any], result: Any) -> None:
        if method in ("session/open", "session/create", "session/fork"):
            self._opened(params, result)
        elif method == "session/configure":
            self._configured(params)
        elif method in ("session/close", "session/delete"):
            self.forget(params["sessionId"])

    def forget(self, session_id: str) -> None:
        self.requests.pop(session_id, None)
        self.configured.pop(session_id, None)

    def _configured(self, params: Mapping[str, Any]) -> None:
        session_id = params["sessionId"]
        opened = self.requests.get(session_id)
        if opened is None:
            self.configured[session_id] = {**self.configured.get(session_id, {}), **params}
        else:
            opened["options"] = {**opened.get("options", {}), **_without_id(params)}

    def _opened(self, params: Mapping[str, Any], result: Any) -> None:
        configured = self.configured.pop(result["sessionId"], {})
        known = self.requests.get(result["sessionId"]) or {"options": _without_id(configured)}
        # An id may belong to several files; who opened by path meant that one.
        name = {"path": result["path"]} if "path" in params else {"sessionId": result["sessionId"]}
        kept = {name: params[name] for name in ("recover", "readOnly") if name in params}
        options = {**known.get("options", {}), **params.get("options", {})}
        self.requests[result["sessionId"]] = {**name, **kept, **({"options": options} if options else {})}


def _without_id(params: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in params.items() if name != "sessionId"}
