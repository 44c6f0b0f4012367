"""What the daemon says of itself: structured, bounded, private, and nothing of what it was sent."""

from __future__ import annotations

import json
import logging
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from home import Home, mode

from pi_daemon.daemon import log
from pi_daemon.session.errors import StorageFailed

SECRET = "correct horse battery staple"


@pytest.fixture
def records(tmp_path: Path) -> Iterator[Path]:
    """The process's log goes there, as a detached daemon's does; what logging was before is put back."""
    root, ours, stderr = logging.getLogger(), logging.getLogger("pi_daemon"), os.dup(2)
    before = root.handlers[:], root.level, ours.level
    root.handlers = []
    yield tmp_path / "daemon.log"
    for handler in root.handlers:
        handler.close()
    root.handlers[:], root.level, ours.level = before[0], before[1], before[2]
    os.dup2(stderr, 2)
    os.close(stderr)


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def test_a_record_is_one_object_on_one_line(records: Path) -> None:
    log.start(records, "info", stderr=True)
    logger = logging.getLogger("pi_daemon.test")
    logger.info("listening on %s", "unix:\n/x", extra={"fields": {"sessionId": "s\u2028", "ms": 1.5}})
    logger.debug("not wanted")
    logging.getLogger("asyncio").info("not wanted either")
    (found,) = lines(records)
    assert found.pop("time").endswith("Z") and found.pop("pid") == os.getpid()
    assert found == {"level": "info", "event": "listening on unix:\n/x", "sessionId": "s\u2028", "ms": 1.5}
    assert mode(records) == 0o600


def test_an_exception_is_told_without_its_words(records: Path) -> None:
    log.start(records, "info", stderr=True)
    logger = logging.getLogger("pi_daemon.test")
    for error in (ValueError(SECRET), StorageFailed("can't write: no room", errno="ENOSPC"), PermissionError(13, "no")):
        try:
            raise error
        except Exception:
            logger.exception("failed")
    logging.getLogger("asyncio").error("Task of %r was destroyed", SECRET)
    first, second, third, fourth = lines(records)
    assert first["exception"]["type"] == "ValueError" and "message" not in first["exception"]
    assert any("test_an_exception" in place for place in first["exception"]["at"])
    assert second["exception"]["message"] == "can't write: no room"
    assert "Errno 13" in third["exception"]["message"]
    assert fourth["event"] == "Task of %r was destroyed"
    assert SECRET not in records.read_text()


def test_it_is_rotated(records: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log, "LOG_BYTES", 2000)
    log.start(records, "info", stderr=True)
    for number in range(200):
        logging.getLogger("pi_daemon").info("%03d", number)
    files = sorted(records.parent.iterdir())
    assert [file.name for file in files] == ["daemon.log", "daemon.log.1", "daemon.log.2", "daemon.log.3"]
    assert all(file.stat().st_size <= 2000 and mode(file) == 0o600 for file in files)
    kept = [record["event"] for file in [*files[:0:-1], files[0]] for record in lines(file)]
    assert kept == [f"{number:03d}" for number in range(200 - len(kept), 200)]


def test_a_link_in_its_place_is_not_followed(records: Path) -> None:
    records.symlink_to(records.parent / "elsewhere")
    with pytest.raises(OSError, match="symbolic"):
        log.start(records, "info", stderr=True)
    assert not (records.parent / "elsewhere").exists()


def test_what_the_interpreter_says_goes_there_too(records: Path) -> None:
    log.start(records, "nonsense", stderr=False)
    os.write(2, b"Fatal Python error\n")
    logging.getLogger("pi_daemon").info("after it")
    first, second = records.read_bytes().splitlines()
    assert first == b"Fatal Python error" and json.loads(second)["event"] == "after it"


def test_little_goes_to_stderr(records: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log.start(None, "info", stderr=True)
    logging.getLogger("pi_daemon").info("started", extra={"fields": {"version": "1"}})
    logging.getLogger("pi_daemon.rpc").info("of a client")
    logging.getLogger("pi_daemon.rpc").warning("of a client that matters")
    sys.stderr.flush()
    said = capsys.readouterr().err.splitlines()
    assert [line.split(" ", 3)[3] for line in said] == ["started  version=1", "of a client that matters"]


@pytest.mark.slow
async def test_nothing_of_a_session_is_in_it(home: Home) -> None:
    """With every request logged: answered, refused, malformed."""
    async with home.editor(PI_DAEMON_LOG_LEVEL="debug") as editor:
        client = (await editor.initialize())["clientId"]
        made = await editor.call("session/create", cwd="/project", persist="immediate", name=SECRET)
        session = made["sessionId"]
        message = {"role": "user", "content": SECRET, "timestamp": 1}
        await editor.call("session/append", sessionId=session, entries=[{"type": "message", "message": message}])
        for entry in ({"type": "message", "message": {"role": SECRET}}, {"type": SECRET}, {SECRET: 1}, SECRET):
            await editor.request("session/append", {"sessionId": session, "entries": [entry]})
        await editor.request("session/append", {"sessionId": session, "entries": [], "expectedLeafId": SECRET})
        await editor.request("session/tree", {"sessionId": session, "filter": SECRET})
        await editor.request("session/open", {"sessionId": "nothing"})
        await editor.request(SECRET, {SECRET: SECRET})
        await editor.call("session/context", sessionId=session)
        assert await editor.end() == 0
    await home.logged("client went")
    assert SECRET not in home.log.read_text()
    requests = [record for record in home.records() if record["event"] == "request"]
    appended = next(record for record in requests if record["method"] == "session/append")
    assert appended["clientId"] == client and appended["sessionId"] == session and appended["ms"] >= 0
    refused = next(record for record in requests if record["method"] == "session/open")
    assert (refused["reason"], refused["sessionId"]) == ("sessionNotFound", "nothing")
