"""Delivers one notification, as a script in a process of its own: no run waits for it or ends with it.

It reads one JSON object with `command`, `webhook` and `facts` from standard input, and uses the standard library alone.
`python -I` runs it, so nothing in the folder of a run can take the place of what it imports.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener

PATIENCE = 5.0  # seconds, for the command and for the webhook
LONGEST = 12  # seconds, for everything: then this process ends itself


class NoRedirects(HTTPRedirectHandler):
    """The user named one address. What it answers does not choose another."""

    def redirect_request(self, *_: Any) -> None:
        return None


def run(command: list[str], data: bytes, facts: dict[str, str]) -> None:
    """Run the command without a shell: the facts are in its environment, and on its standard input as JSON."""
    named = {f"COUNCIL_{name.upper()}": value.replace("\0", "") for name, value in facts.items()}
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, **named},
        start_new_session=True,
    ) as program:
        try:
            program.communicate(data, timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(program.pid, signal.SIGKILL)  # also what it started


def post(webhook: str, data: bytes) -> None:
    """POST the facts as JSON."""
    handlers = [ProxyHandler({})] if urlsplit(webhook).scheme == "http" else []  # this machine needs no proxy
    request = Request(webhook, data, {"Content-Type": "application/json", "User-Agent": "council"}, method="POST")
    build_opener(NoRedirects, *handlers).open(request, timeout=PATIENCE).close()


def main() -> None:
    signal.alarm(LONGEST)  # an answer that comes byte by byte never times out
    order = json.load(sys.stdin)
    data = json.dumps(order["facts"]).encode()
    # Nobody is there to hear of a failure, and one way must not stop the other.
    if order["command"]:
        with suppress(OSError, ValueError):
            run(order["command"], data, order["facts"])
    if order["webhook"]:
        with suppress(OSError, ValueError):  # URLError is an OSError
            post(order["webhook"], data)


if __name__ == "__main__":
    main()
