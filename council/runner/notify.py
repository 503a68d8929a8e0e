"""Tells the user that a person is needed, or that a debate has ended: by the terminal's bell, a command, a webhook.

Only the user's own Config.md says how. A notification never delays a run and never fails it.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Collection, Iterable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from council.config.notifications import Notifications
from council.engine.planner import Due, Plan
from council.protocols import outcome
from council.record.session import Session
from council.runner import notifier
from council.text import one_line

NEEDED, ENDED = "needed", "ended"
COMPLETE, STOPPED = "complete", "stopped"
BELL = "\a"
LONGEST_TOPIC = 200


def call_person(how: Notifications, session: Session, turns: Iterable[Due]) -> None:
    """A person's turn is due, and the debate waits for it."""
    send(how, write_facts(how, session, NEEDED, "waiting", turns=", ".join(due.id for due in turns)))


def report_stop(how: Notifications, session: Session, called: Collection[str]) -> None:
    """A run stops before the end: a person is needed who was not `called` before, or something else is wrong."""
    people = [due for due in session.plan().due if due.of_a_person]
    if not people:
        report_end(how, session, STOPPED)
    elif not {due.id for due in people} <= set(called):
        call_person(how, session, people)


def report_by_hand(how: Notifications, session: Session, before: Plan) -> None:
    """A reply by hand, or a trial after it, led on from this plan: to the end, or to a person who was not due then."""
    now, known = session.plan(), {due.id for due in before.due}
    people = [due for due in now.due if due.of_a_person]
    if now.done and not before.done:
        report_end(how, session, COMPLETE)
    elif not {due.id for due in people} <= known:
        call_person(how, session, people)


def report_end(how: Notifications, session: Session, state: str) -> None:
    """A run is over: the debate is complete, or it stopped before that."""
    ended = outcome.outcome(session.plan()) if state == COMPLETE else ""
    send(how, write_facts(how, session, ENDED, state, outcome=ended))


def write_facts(how: Notifications, session: Session, event: str, state: str, **content: str) -> dict[str, str]:
    """What a notification says. Without content, nothing of it was written by anybody but this program."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    facts = {"event": event, "session": session.id, "state": state, "at": now}
    if not how.content:
        return facts
    return facts | {"topic": one_line(str(session.metadata["topic"]), LONGEST_TOPIC), **content}


def send(how: Notifications, facts: dict[str, str]) -> None:
    """Ring, and hand the rest to a process of its own, which outlives this one if it has to."""
    if how.bell and sys.stderr is not None and sys.stderr.isatty():
        with suppress(OSError, ValueError):
            print(BELL, end="", file=sys.stderr, flush=True)
    if not how.outside:
        return
    order = json.dumps({"command": how.command, "webhook": how.webhook, "facts": facts})
    with suppress(OSError, ValueError):
        program = subprocess.Popen(
            [sys.executable, "-I", str(Path(notifier.__file__))],
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        assert program.stdin is not None
        with program.stdin as pipe:  # smaller than a pipe's buffer, so this does not wait
            pipe.write(order.encode())
        # A server runs for weeks: without this, each would stay in its table of processes.
        threading.Thread(target=program.wait, daemon=True).start()
