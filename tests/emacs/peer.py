"""Another client of the daemon, for tests in Emacs: a line of JSON on stdin is a request, its answer a line on stdout.

`{"method": ..., "params": ...}` goes to the daemon; `{"kill": true}` ends the daemon with kill -9."""

from __future__ import annotations

import json
import os
import signal
import sys

from pi_daemon_client import Client, ServerError


def main() -> None:
    with Client.connect_unix(name="peer") as client:
        for line in sys.stdin:
            asked = json.loads(line)
            if "kill" in asked:
                os.kill(client.request("daemon/status", {})["pid"], signal.SIGKILL)
                answer = {"result": None}
            else:
                try:
                    answer = {"result": client.request(asked["method"], asked["params"])}
                except ServerError as error:
                    answer = {"error": {"reason": error.reason, "message": str(error)}}
            print(json.dumps(answer), flush=True)


main()
