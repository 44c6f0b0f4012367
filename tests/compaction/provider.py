"""A model provider over loopback that speaks the wire formats of OpenAI and Anthropic, and misbehaves as it is told."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

WORDS = "## Goal\n- [ ] Build src/main.py"


class Provider(ThreadingHTTPServer):
    """`plan` says how each request is answered, the last one for all that follow: `ok`, `slow` (the answer stops in the
    middle until `go_on`), `refusal`, `tool`, `empty`, `cut` (at the limit), `broken` (the stream ends in the middle),
    `lost` (so does the connection), `odd` (JSON of no known shape in the middle), `junk` (no JSON), `null` (numbers
    that are none in the usage), `hang` (as `slow`, for ever), or a status such as `429`. `asked` are the requests as
    they came."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.plan: list[str] = ["ok"]
        self.asked: list[dict[str, Any]] = []
        self.paths: list[str] = []
        self.keys: list[str | None] = []
        self.go_on = threading.Event()
        self.half = threading.Event()
        self.gone = threading.Event()
        self.text = WORDS

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    @property
    def anthropic_url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is what some tests are about."""


@contextmanager
def provider() -> Iterator[Provider]:
    server = Provider()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.go_on.set()
        server.shutdown()
        thread.join()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    server: Provider

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        server = self.server
        server.asked.append(body)
        server.paths.append(self.path)
        server.keys.append(self.headers.get("authorization") or self.headers.get("x-api-key"))
        how = server.plan.pop(0) if len(server.plan) > 1 else server.plan[0]
        if how.isdigit():
            self._refuse(int(how))
            return
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        if how == "lost":
            self.send_header("content-length", "1000000")
        self.end_headers()
        events = _anthropic(how, server.text) if "messages" in self.path else _openai(how, server.text)
        for number, event in enumerate(events):
            if number == 2 and how in ("slow", "hang"):
                server.half.set()
                self._wait(how)
            if number == 2 and how in ("broken", "lost"):
                return
            if number == 2 and how in ("odd", "junk"):
                data = "[1]" if how == "odd" else "{junk"
                self.wfile.write(f"event: message_delta\ndata: {data}\n\n".encode())
            self.wfile.write(event.encode())
            self.wfile.flush()

    def _wait(self, how: str) -> None:
        """Until the test says so, or the client is gone."""
        self.connection.settimeout(0.02)
        while not (how == "slow" and self.server.go_on.is_set()):
            try:
                if not self.connection.recv(1):
                    self.server.gone.set()
                    return
            except TimeoutError:
                if self.server.go_on.is_set():
                    return
        self.connection.settimeout(None)

    def _refuse(self, status: int) -> None:
        body = json.dumps({"error": {"type": "trouble", "message": "a secret of the provider"}}).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.send_header("retry-after-ms", "1")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


def _openai(how: str, text: str) -> Iterator[str]:
    def chunk(delta: dict[str, Any], finish: str | None = None) -> str:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return _data({"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]})

    yield chunk({"role": "assistant", "content": ""})
    if how == "refusal":
        yield chunk({"refusal": "I won't."})
    elif how == "tool":
        call = {"index": 0, "id": "t", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
        yield chunk({"tool_calls": [call]})
    elif how != "empty":
        half = len(text) // 2
        yield chunk({"content": text[:half]})
        yield chunk({"content": text[half:]})
    yield chunk({}, {"tool": "tool_calls", "cut": "length"}.get(how, "stop"))
    usage = {
        "prompt_tokens": 100,
        "completion_tokens": 20,
        "total_tokens": 120,
        "prompt_tokens_details": {"cached_tokens": 40},
    }
    if how == "null":
        usage = dict.fromkeys(usage)
    yield _data(
        {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [], "usage": usage}
    )
    yield "data: [DONE]\n\n"


def _anthropic(how: str, text: str) -> Iterator[str]:
    def event(name: str, **members: Any) -> str:
        return f"event: {name}\n" + _data({"type": name, **members})

    usage = {"input_tokens": 60, "cache_read_input_tokens": 40, "cache_creation_input_tokens": 0, "output_tokens": 1}
    if how == "null":
        usage = dict.fromkeys(usage)
    message = {"id": "m", "type": "message", "role": "assistant", "content": [], "model": "m", "usage": usage}
    yield event("message_start", message={**message, "stop_reason": None, "stop_sequence": None})
    if how == "tool":
        block = {"type": "tool_use", "id": "t", "name": "ls", "input": {}}
        yield event("content_block_start", index=0, content_block=block)
    else:
        yield event("content_block_start", index=0, content_block={"type": "text", "text": ""})
    if how not in ("empty", "tool"):
        half = len(text) // 2
        for part in (text[:half], text[half:]):
            yield event("content_block_delta", index=0, delta={"type": "text_delta", "text": part})
    yield event("content_block_stop", index=0)
    stop = {"tool": "tool_use", "cut": "max_tokens", "refusal": "refusal"}.get(how, "end_turn")
    yield event(
        "message_delta",
        delta={"stop_reason": stop, "stop_sequence": None},
        usage={"output_tokens": None if how == "null" else 20},
    )
    yield event("message_stop")


def _data(value: dict[str, Any]) -> str:
    return f"data: {json.dumps(value)}\n\n"
