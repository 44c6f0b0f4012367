"""A daemon on stdin and stdout for the blocking client: some answers, and one notification for an append."""

from __future__ import annotations

import json
import sys
from typing import Any

from fake_daemon import greeting


def send(message: dict[str, Any]) -> None:
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    sys.stdout.buffer.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
    sys.stdout.buffer.flush()


def main() -> None:
    while header := sys.stdin.buffer.readline():
        sys.stdin.buffer.readline()
        message = json.loads(sys.stdin.buffer.read(int(header.split(b":")[1])))
        method, params = message["method"], message["params"]
        result: Any = {}
        if method == "exit":
            return
        if method == "initialize":
            result = greeting(None, params)  # type: ignore[arg-type]
        elif method == "echo":
            result = params
        elif method == "session/list":
            rest = params.get("cursor", "abc")
            result = {"sessions": [{"sessionId": rest[0]}]} | ({"nextCursor": rest[1:]} if rest[1:] else {})
        elif method == "session/subscribe":
            result = {"instanceId": "i1", "revision": 1, "leafId": None, "fresh": True}
        elif method == "session/rename":
            send({"id": message["id"], "error": {"code": 1001, "message": "unknown"}})
            continue
        if "id" in message:
            send({"id": message["id"], "result": result})
        if method == "session/append":
            common = {"sessionId": "s", "instanceId": "i1", "revision": 2, "origin": None}
            send({"method": "session/appended", "params": {**common, "entries": [], "cause": "append"}})


main()
