"""Delivers one notification: run as a script in a process of its own, so that no run waits for it or ends with it.

It reads one JSON object on standard input: `command`, `webhook` and `facts`. It uses nothing but the standard library,
and it is started with `python -I`, so nothing in the folder of a run can take the place of what it imports.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener

PATIENCE = 5.0  # seconds, for the command and for the webhook
LONGEST = 12  # seconds, for everything: then this process ends itself


class _NoRedirects(HTTPRedirectHandler):
    """The user named one address. What it answers does not choose another."""

    def redirect_request(self, *_: Any) -> None:
        return None


def deliver(command: list[str], webhook: str, facts: dict[str, str]) -> list[str]:
    """Run the command and call the webhook. Returns what went wrong, without the address and the facts."""
    data = json.dumps(facts).encode()
    problems = [run(command, data, facts)] if command else []
    problems += [post(webhook, data)] if webhook else []
    return [problem for problem in problems if problem]


def run(command: list[str], data: bytes, facts: dict[str, str]) -> str:
    """Run the command with the facts in its environment and as JSON on its standard input; empty if all is well."""
    named = {f"COUNCIL_{name.upper()}": value.replace("\0", "") for name, value in facts.items()}
    try:
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, **named}, start_new_session=True,
        ) as program:  # fmt: skip
            try:
                program.communicate(data, timeout=PATIENCE)
            except subprocess.TimeoutExpired:
                with suppress(ProcessLookupError):
                    os.killpg(program.pid, signal.SIGKILL)  # also what it started
                return f"the command did not end within {PATIENCE:g} s"
            return f"the command ended with exit code {program.returncode}" if program.returncode else ""
    except (OSError, ValueError) as failure:
        return f"the command cannot be started: {getattr(failure, 'strerror', None) or failure}"


def post(webhook: str, data: bytes) -> str:
    """POST the facts as JSON; empty if it was taken."""
    handlers = [ProxyHandler({})] if urlsplit(webhook).scheme == "http" else []  # this machine needs no proxy
    request = Request(webhook, data, {"Content-Type": "application/json", "User-Agent": "council"}, method="POST")
    try:
        with build_opener(_NoRedirects, *handlers).open(request, timeout=PATIENCE):
            return ""
    except HTTPError as refused:
        refused.close()
        return f"the webhook answered with {refused.code}"
    except (OSError, URLError, ValueError) as failure:
        return f"the webhook cannot be reached: {type(getattr(failure, 'reason', failure)).__name__}"


def main() -> None:
    signal.alarm(LONGEST)  # an answer that comes byte by byte never times out
    order = json.load(sys.stdin)
    deliver(order["command"], order["webhook"], order["facts"])


if __name__ == "__main__":
    main()
