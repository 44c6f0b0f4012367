"""The benchmarks' own client: blocking sockets, bytes counted, nothing decoded that needn't be.

Both sides are read in the same manner, so that what is measured is the peer and not its client.
"""

from __future__ import annotations

import fcntl
import select
import socket
import struct
import subprocess
import time
from collections.abc import Callable, Sequence
from typing import Any

import orjson

READ_BYTES = 1 << 18
PIPE_BYTES = 1 << 20
"""What Linux lets an unprivileged process give a pipe; the default of 64 KB would hold pi back."""
ANSWER_SECONDS = 120

_BLANK = b"\r\n\r\n"


class PeerError(RuntimeError):
    """The peer answered with an error, or left. The message is what it said."""


def framed(body: bytes) -> bytes:
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


def request_body(request_id: int, method: str, params: Any) -> bytes:
    return orjson.dumps({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params})


def is_notification(body: bytes | bytearray) -> bool:
    return b'"method"' in body[:48]


class Splitter:
    """Cuts a stream into message bodies."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> list[bytes]:
        buffer = self._buffer
        buffer += data
        bodies: list[bytes] = []
        start = 0
        while (end := buffer.find(_BLANK, start)) >= 0:
            length = _length(bytes(buffer[start:end]))
            if len(buffer) < end + 4 + length:
                break
            bodies.append(bytes(buffer[end + 4 : end + 4 + length]))
            start = end + 4 + length
        del buffer[:start]
        return bodies


def _length(head: bytes) -> int:
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-length":
            return int(value)
    raise PeerError(f"no Content-Length in {head!r}")


class Peer:
    """One connection to a Unix socket with Content-Length framing."""

    def __init__(self, path: str) -> None:
        self.socket = socket.socket(socket.AF_UNIX)
        limit = struct.pack("@ll", ANSWER_SECONDS, 0)  # by the kernel: Python's timeout would poll before each read
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, limit)
        self.socket.connect(path)
        self.notifications = 0
        self._buffer = bytearray()
        self._next_id = 0

    def close(self) -> None:
        self.socket.close()

    def initialize(self) -> dict[str, Any]:
        result: dict[str, Any] = self.call(
            "initialize", {"processId": None, "clientInfo": {"name": "benchmark"}, "capabilities": {}}
        )
        self.socket.sendall(framed(orjson.dumps({"jsonrpc": "2.0", "method": "initialized", "params": {}})))
        return result

    def call(self, method: str, params: Any) -> Any:
        """The decoded result. Raises PeerError."""
        answer: dict[str, Any] = orjson.loads(self.request(method, params))
        return answer["result"]

    def request(self, method: str, params: Any) -> bytes | bytearray:
        """The answer's body, as it came. Raises PeerError."""
        return self.exchange(self.prepare(method, params))

    def prepare(self, method: str, params: Any) -> bytes:
        self._next_id += 1
        return framed(request_body(self._next_id, method, params))

    def exchange(self, message: bytes) -> bytes | bytearray:
        self.socket.sendall(message)
        while True:
            body = self.receive()
            if not is_notification(body):
                break
            self.notifications += 1
        if b'"error"' in body[:64]:
            raise PeerError(bytes(body[:2_000]).decode(errors="replace"))
        return body

    def receive(self) -> bytes | bytearray:
        """The body of the next message; a large one is read straight into its place."""
        buffer = self._buffer
        while (end := buffer.find(_BLANK)) < 0:
            self._more(buffer)
        length = _length(bytes(buffer[:end]))
        body = bytes(buffer[end + 4 : end + 4 + length])
        del buffer[: end + 4 + len(body)]
        if len(body) == length:
            return body
        whole = bytearray(length)
        whole[: len(body)] = body
        with memoryview(whole) as view:
            filled = len(body)
            while filled < length:
                count = self.socket.recv_into(view[filled:])
                if not count:
                    raise PeerError("the peer closed the connection")
                filled += count
        return whole

    def _more(self, buffer: bytearray) -> None:
        data = self.socket.recv(READ_BYTES)
        if not data:
            raise PeerError("the peer closed the connection")
        buffer += data


class Lines:
    """JSON lines over a child's pipes, as pi's RPC mode speaks them."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin is not None and process.stdout is not None
        self.input = process.stdin
        self.output = process.stdout
        fcntl.fcntl(self.output.fileno(), fcntl.F_SETPIPE_SZ, PIPE_BYTES)

    def request(self, kind: str) -> bytearray:
        """The line that answers, whole and undecoded, whether it says success or not."""
        self.input.write(b'{"id":"1","type":"%b"}\n' % kind.encode())
        self.input.flush()
        while True:
            line = self._line()
            if b'"type":"response"' in line[:80]:
                return line

    def _line(self) -> bytearray:
        """Nothing is in flight beyond the line that is waited for, so its newline ends what is read."""
        line = bytearray()
        while not line.endswith(b"\n"):
            data = self.output.read1(PIPE_BYTES)  # type: ignore[attr-defined]
            if not data:
                raise PeerError("pi left")
            line += data
        return line


class Crowd:
    """Many connections to one peer, read by one loop."""

    def __init__(self, peers: Sequence[Peer]) -> None:
        self._poll = select.epoll()
        self._members = {peer.socket.fileno(): (peer, Splitter()) for peer in peers}
        for descriptor in self._members:
            self._poll.register(descriptor, select.EPOLLIN)

    def close(self) -> None:
        self._poll.close()

    def run(self, on_message: Callable[[Peer, bytes, float], bool]) -> None:
        """Hands each message with the time it was whole to `on_message`, until that returns False."""
        members = self._members
        going = True
        while going:
            ready = self._poll.poll(ANSWER_SECONDS)
            if not ready:
                raise PeerError(f"no message within {ANSWER_SECONDS} s")
            for descriptor, _ in ready:
                peer, splitter = members[descriptor]
                data = peer.socket.recv(READ_BYTES)
                now = time.perf_counter()
                if not data:
                    raise PeerError("the peer closed the connection")
                for body in splitter.feed(data):
                    going = on_message(peer, body, now) and going
