"""Sessions that teach: a coder whose first attempt is red, a reflection, a green attempt, and a lesson drawn from it.

The verdicts are written as a bench would have spoken them, so that no sandbox is needed; the shelf is the real one.
"""

from __future__ import annotations

import asyncio
import dataclasses
import os
import random
import string
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from unittest import mock

from council.candidates.base import Base
from council.config import settings
from council.config.settings import Config
from council.engine.planner import Due
from council.lessons.lesson import Lesson
from council.lessons.store import Lessons, of_user
from council.record.session import Session
from council.reports import archive
from council.runner import loop
from council.runner.start import Request, begin
from council.speakers.base import Spoken
from council.speakers.shelf import Shelf
from tests.helpers import User

TOPIC = "Write the mean of a list of numbers in mean.py."
BASE = Base(
    tree={"README.md": b"Means.\n"},
    visible={"test_mean.py": b"from mean import mean\n\n\ndef test_mean():\n    assert mean([1, 3]) == 2\n"},
    hidden={"test_hidden.py": b"from mean import mean\n\n\ndef test_secret():\n    assert mean([7, 8, 9]) == 8\n"},
    facts={"bench": "pytest"},
)
TRIAL = "{tests: pass | fail | tampered | timeout | unknown, passed: list, failed: list, log: text}"
WORKFLOW = f"""---
name: mending
description: One member writes, a bench tries it, and what helped becomes a lesson.
seats:
  coder: engineer
  shelves: {{shelf: {{speaker: shelf}}}}
  tester: {{tester: {{of: coder, speaker: shell, run: pytest}}}}
  examiner: {{examiner: {{of: coder, speaker: shell, run: pytest, tests: hidden}}}}
  teacher: researcher
  person: {{reader: {{speaker: human}}}}
options: {{attempts: 3, exam: true, gate: false}}
phases:
  - {{name: recall, seats: shelves, sees: nothing, reply: {{lessons: list}}}}
  - name: loop
    rounds: [1, attempts]
    order: {{still: {{of: trial}}}}
    sees: [recall, {{mine: [draft, trial, reflect]}}]
    steps:
      - {{name: draft, prompt: work, reply: {{solution: files}}}}
      - {{name: trial, seats: tester, sees: nothing, reply: {TRIAL}}}
      - {{name: reflect, prompt: work, when: {{not: last_round}}, reply: {{change_next: text+}}}}
    until: {{green: {{passes: trial}}}}
  - name: teach
    seats: teacher
    sees: [recall, loop]
    prompt: work
    reply: {{applies: text, cause: text, lesson: text}}
  - name: gate
    when: {{option: gate}}
    seats: person
    sees: so_far
    prompt: work
    reply: {{approval: approve | reject}}
  - {{name: exam, when: {{option: exam}}, seats: examiner, sees: nothing, reply: {TRIAL}}}
---

# Mending

## Prompts

### Work

Write `mean`.
"""
LESSON = (
    "## Applies\n\nWhen a list may be empty.\n\n## Cause\n\nThe divisor was the length.\n\n"
    "## Lesson\n\nReturn early for an empty list.\n"
)
RED, GREEN = "fail", "pass"
BENCH_RECEIPT = {"bench": "pytest", "seconds": 0.1}


def draft(round: int) -> str:
    return f"mean.py\n```python\nattempt = {round}\n```\n"


def verdict(tests: str) -> str:
    passed, failed = ("- test_mean.py::test_mean", "none") if tests == GREEN else ("none", "- test_mean.py::test_mean")
    return f"## Tests\n\n{tests}\n\n## Passed\n\n{passed}\n\n## Failed\n\n{failed}\n\n## Log\n\n1 test\n"


SAID = {
    "02-loop-r01-1-draft/engineer": draft(1),
    "02-loop-r01-2-trial/tester-engineer": verdict(RED),
    "02-loop-r01-3-reflect/engineer": "## Change next\n\nThink of empty lists.\n",
    "02-loop-r02-1-draft/engineer": draft(2),
    "02-loop-r02-2-trial/tester-engineer": verdict(GREEN),
    "03-teach/researcher": LESSON,
    "05-exam/examiner-engineer": verdict(GREEN),
}


def made(number: int, change: str = "", **more: object) -> Lesson:
    """A lesson like others, with a session and a time of its own."""
    change = change or f"Check the bounds of list number {number} before the loop."
    one = Lesson("When a loop has bounds.", "The range was off by one.", change, f"s{number}", "04-lesson/teacher", "")
    return dataclasses.replace(one, made=f"2026-01-01T00:00:{number:06}", **more)  # type: ignore[arg-type]


def fill(folder: Path, lessons: int, questions: int) -> tuple[Lessons, list[str]]:
    """A folder with lessons of 60 words, as rare and as common as words are, and questions of 25."""
    rng = random.Random(7)
    known = ["".join(rng.choices(string.ascii_lowercase, k=rng.randint(3, 9))) for _ in range(5_000)]
    weights = [1 / (place + 1) for place in range(5_000)]

    def some(count: int) -> str:
        return " ".join(rng.choices(known, weights, k=count))

    folder.mkdir()
    for number in range(lessons):
        one = made(number, some(50), words=tuple(some(12).split()))
        (folder / f"{one.id}.md").write_bytes(one.encode())
    return Lessons(folder), [some(25) for _ in range(questions)]


def lessons_of(user: User) -> Lessons:
    return Lessons(user.home / "LESSONS")


def start(user: User, workflow: str = WORKFLOW, id: str | None = None, **how: object) -> Session:
    """A new session of the workflow."""
    place = user.settings / "Workflows" / "mending.md"
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(workflow)
    with mock.patch.dict(os.environ, user.environment, clear=True):
        request = Request(TOPIC, "mending", base=BASE, speaker="assistant", options=how, id=id)
        return begin(request, settings.load())


def hold(user: User, said: Mapping[str, str] = SAID, workflow: str = WORKFLOW, **how: object) -> Session:
    """A whole session with these words, finished as a run finishes it."""
    session = start(user, workflow, None, **how)
    carry_on(user, session, said)
    return session


def carry_on(user: User, session: Session, said: Mapping[str, str] = SAID) -> None:
    """Record what is due until nothing is, or until words are missing, and finish a session whose end is reached."""
    with mock.patch.dict(os.environ, user.environment, clear=True), session.hold():
        config = settings.load()
        while ready := [
            due for due in session.plan().due if due.seat.attributes.get("speaker") == "shelf" or due.id in said
        ]:
            for due in ready:
                speak(session, config, due, said)
        if session.plan().done:
            archive.finish(session, session.plan(), config.archive)


def speak(session: Session, config: Config, due: Due, said: Mapping[str, str]) -> None:
    """One turn: the shelf's own words, or those that were given, with the receipt of a bench where it is one."""
    brief = loop.prepare(session, config, due)
    session.write_briefs({due.id: brief.text})
    speaker = str(due.seat.attributes.get("speaker") or "assistant")
    if speaker == "shelf":
        spoken = asyncio.run(Shelf(of_user(config)).speak(brief, lambda _: None))
    else:
        spoken = Spoken(said[due.id], trial=BENCH_RECEIPT if speaker == "shell" else None)
    receipt = loop.receipt(session, due, brief.model, speaker, spoken, datetime(2026, 1, 1, tzinfo=UTC), 0.0)
    session.record(receipt, spoken.body)


def brief_of(session: Session, turn: str) -> str:
    return Path(session.brief_path(turn)).read_text("utf-8")
