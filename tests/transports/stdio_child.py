"""A program that serves over its standard streams and prints where it shouldn't."""

from __future__ import annotations

import asyncio
import subprocess
import sys

from fake_service import FakeService

from pi_daemon.rpc.limits import Limits
from pi_daemon.transports.stdio import StdioServer


async def main() -> None:
    server = StdioServer(FakeService(Limits()).connect)
    await server.start()
    print("a stray print", flush=True)
    await asyncio.to_thread(subprocess.run, ["sh", "-c", "cat; echo a stray child"], check=True)
    await server.closed.wait()
    await server.close()
    sys.stderr.write("done\n")


asyncio.run(main())
