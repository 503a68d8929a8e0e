"""Tells the user that a person is needed or that a debate is over: by the terminal's bell, a command or a webhook.

Only the user's own Config.md says how. A notification never delays a run and never fails it: `notifier.py` delivers it
in a process of its own. Without `content`, nothing in it was written by anybody but this program.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from council.next.record.session import Session, now
from council.next.text import one_line

NEEDED, ENDED = "needed", "ended"
LONGEST_TOPIC = 200


def notify(how: Mapping[str, Any], session: Session, event: str) -> None:
    """Say what happened to a session."""
    plan = session.plan
    state = "waiting" if event == NEEDED else "complete" if plan.done else "stopped"
    facts = {"event": event, "session": session.id, "state": state, "at": now()}
    if how.get("content"):
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
    script = Path(__file__).with_name("notifier.py")
    with suppress(OSError, ValueError):
        program = subprocess.Popen(
            [sys.executable, "-I", str(script)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        assert program.stdin is not None
        with program.stdin as pipe:  # an order is smaller than a pipe's buffer, so this does not wait
            pipe.write(json.dumps(order).encode())
        # A server runs for weeks: without this, each would stay in its table of processes.
        threading.Thread(target=program.wait, daemon=True).start()
