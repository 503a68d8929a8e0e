"""Tells the user that a person is needed or that a debate is over: by the terminal's bell, a command or a webhook.

Only the user's own Config.md says how. A notification never delays a run and never fails it: this file, as a script in
a process of its own, delivers it. `python -I` runs that, so nothing in the folder of a run can take the place of what
it imports, which is the standard library alone. Without `content`, nothing in it was written by anybody but this
program.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from council.next.record.session import Session

NEEDED, ENDED = "needed", "ended"
LONGEST_TOPIC = 200
PATIENCE = 5.0  # seconds, for the command and for the webhook
LONGEST = 12  # seconds, for everything: then the process ends itself


def notify(how: Mapping[str, Any], session: Session, event: str) -> None:
    """Say what happened to a session."""
    plan = session.plan
    state = "waiting" if event == NEEDED else "complete" if plan.done else "stopped"
    at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    facts = {"event": event, "session": session.id, "state": state, "at": at}
    if how.get("content"):
        from council.next.text import one_line

        facts["topic"] = one_line(session.topic, LONGEST_TOPIC)
        facts["turns"] = ", ".join(due.id for due in plan.due)
        facts["outcome"] = session.outcome.kind
    if how.get("bell") and sys.stderr is not None and sys.stderr.isatty():
        with suppress(OSError, ValueError):
            print("\a", end="", file=sys.stderr, flush=True)
    if how.get("command") or how.get("webhook"):
        hand_over({"command": how.get("command") or [], "webhook": how.get("webhook") or "", "facts": facts})


def hand_over(order: Mapping[str, Any]) -> None:
    """Start the process that delivers it. It outlives this one if it has to."""
    with suppress(OSError, ValueError):
        program = start([sys.executable, "-I", __file__])
        assert program.stdin is not None
        with program.stdin as pipe:  # an order is smaller than a pipe's buffer, so this does not wait
            pipe.write(json.dumps(order).encode())
        # A server runs for weeks: without this, each would stay in its table of processes.
        threading.Thread(target=program.wait, daemon=True).start()


def start(command: list[str], facts: Mapping[str, str] | None = None) -> subprocess.Popen[bytes]:
    """Start a program that says nothing and that no signal of ours ends."""
    nothing, environment = subprocess.DEVNULL, {**os.environ, **(facts or {})}
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=nothing, stderr=nothing, env=environment, start_new_session=True
    )


# ---- in a process of its own ----


def deliver() -> None:
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


def run(command: list[str], data: bytes, facts: dict[str, str]) -> None:
    """Run the command without a shell: the facts are in its environment, and on its standard input as JSON."""
    named = {f"COUNCIL_{name.upper()}": value.replace("\0", "") for name, value in facts.items()}
    with start(command, named) as program:
        try:
            program.communicate(data, timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(program.pid, signal.SIGKILL)  # also what it started


def post(webhook: str, data: bytes) -> None:
    """POST the facts as JSON. The user named one address: what it answers does not choose another."""
    from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener

    class NoRedirects(HTTPRedirectHandler):
        def redirect_request(self, *_: Any) -> None:
            return None

    handlers = [ProxyHandler({})] if urlsplit(webhook).scheme == "http" else []  # this machine needs no proxy
    request = Request(webhook, data, {"Content-Type": "application/json", "User-Agent": "council"}, method="POST")
    build_opener(NoRedirects, *handlers).open(request, timeout=PATIENCE).close()


if __name__ == "__main__":
    deliver()
