"""A daemon, its clients and a stranger who writes to the same file."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from pi_daemon_client import AppendedEvent, LeafChangedEvent

from pi_daemon.cli.demo.process import DemoDaemon

pytestmark = pytest.mark.slow


def test_an_external_append_reaches_every_client(tmp_path: Path) -> None:
    async def main() -> None:
        daemon = DemoDaemon(tmp_path)
        await daemon.start()
        try:
            async with await daemon.connect("panel") as client:
                state = await client.create_session("/p", persist="immediate")
                session_id, path = state["sessionId"], state["path"]
                assert path is not None
                async with await client.watch(session_id) as events:
                    line = {"type": "custom", "id": "theirs", "parentId": None, "timestamp": "", "customType": "c"}
                    with open(path, "ab") as file:
                        file.write(json.dumps(line).encode() + b"\n")
                    async with asyncio.timeout(20):
                        async for event in events:
                            if isinstance(event, LeafChangedEvent):
                                assert event.params["leafId"] == "theirs"
                                assert event.params["cause"] == "external"
                                assert event.params["origin"] is None
                                break
                            assert isinstance(event, AppendedEvent)
        finally:
            await daemon.kill()

    asyncio.run(main())
