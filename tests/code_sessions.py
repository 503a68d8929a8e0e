"""Code sessions for tests: begun as `council code` begins them, with turns that say what the test wants said."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import chdir
from datetime import UTC, datetime
from pathlib import Path
from unittest import mock

from council.candidates.base import Base
from council.config import settings
from council.engine.planner import Due
from council.lab.repository import Snapshot, open_repository, read_commit
from council.record.session import Session
from council.reports import derived
from council.runner import loop, start
from council.speakers.base import Spoken
from tests.helpers import User

LOOP = """---
name: loop
description: Drafts and trials until all pass.
seats:
  team: [architect, engineer]
  benches: {tester: {of: team, speaker: shell, run: pytest}}
phases:
  - name: loop
    rounds: [1, 3]
    order: {still: {of: trial}}
    steps:
      - {name: draft, sees: {mine: [draft, trial]}, reply: {solution: files}}
      - name: trial
        seats: benches
        sees: nothing
        reply: {tests: pass | fail | tampered | timeout | unknown, passed: list, failed: list}
    until: {green: {passes: trial}}
  - {name: judge, seats: architect, sees: standing}
---
"""
MEND = """---
name: mend
description: One seat drafts until its tests pass, a person may approve, and hidden tests run at the end.
seats:
  team: [engineer]
  benches: {tester: {of: team, speaker: shell, run: pytest, persona: test}}
  last: {examiner: {of: team, speaker: shell, run: pytest, tests: hidden, persona: test}}
  people: {human: {speaker: human}}
options: {gate: false, examine: false}
phases:
  - name: loop
    rounds: [1, 3]
    seats: team
    order: {still: {of: trial}}
    steps:
      - {name: draft, prompt: code-draft, sees: {mine: [draft, trial]}, reply: {solution: files}}
      - name: trial
        seats: benches
        prompt: positions
        sees: nothing
        reply: {tests: pass | fail | tampered | timeout | unknown, passed: list, failed: list, log: text}
    until: {green: {passes: trial}}
  - {name: approve, when: {option: gate}, seats: people, prompt: code-approve, sees: standing,
     reply: {approval: approve | reject, reason: text}}
  - name: exam
    when: {option: examine}
    seats: last
    prompt: positions
    sees: nothing
    reply: {tests: pass | fail | tampered | timeout | unknown, passed: list, failed: list, log: text}
---
"""
RIGHT = b"def add(a, b):\n    return a + b\n"
Say = Callable[[Due], str]


def write_file(path: str, data: bytes) -> str:
    return f"{path}\n```python\n{data.decode()}```\n"


def verdict(said: str, passed: int = 1, failed: int = 0) -> str:
    lists = (
        "\n".join(f"- {kind}{at}" for at in range(many)) or "none" for kind, many in (("p", passed), ("f", failed))
    )
    return "## Tests\n{}\n## Passed\n{}\n## Failed\n{}\n## Log\nnone\n".format(said, *lists)


def say(due: Due, draft: str = "", tests: str = "pass", exam: str = "pass", approval: str = "approve") -> str:
    """What each seat says, if the test does not say otherwise."""
    return {
        "draft": draft or write_file("src/app.py", RIGHT),
        "trial": verdict(tests),
        "exam": verdict(exam),
        "approve": f"## Approval\n{approval}\n## Reason\nnone\n",
    }[due.step.name]


def base_of(snapshot: Snapshot, folder: Path, hash_name: str = "sha1", **facts: object) -> Base:
    tests = {path: data for path, data in snapshot.files.items() if path.startswith("tests/")}
    tree = {path: data for path, data in snapshot.files.items() if path not in tests}
    own = {"commit": snapshot.commit, "repository": str(folder), "executable": [*snapshot.executable]}
    return Base(tree, tests, facts={**own, "hash": hash_name, **facts})


def hold(user: User, base: Base, say: Say = say, run: bool = True, **options: bool) -> Session:
    """A session about this base, spoken to its end."""
    workflow = user.write("mend.md", MEND)
    with mock.patch.dict(os.environ, user.environment, clear=True), chdir(user.work):
        config = settings.load()
        request = start.Request("Fix add.", str(workflow), options=options, speaker="replay", base=base, replay_of="x")
        session = start.begin(request, config)
        with session.hold():
            while (plan := session.plan()).due:
                for due in plan.due:
                    speak(session, config, due, say(due), run)
            derived.build(session, session.plan())
    return session


def speak(session: Session, config: settings.Config, due: Due, body: str, run: bool = True) -> None:
    brief = loop.prepare(session, config, due)
    session.write_briefs({due.id: brief.text})
    spoken = Spoken(body, trial={"bench": "pytest"} if due.seat.attributes.get("run") and run else None)
    when = datetime(2026, 1, 1, tzinfo=UTC)
    session.record(loop.receipt(session, due, brief.model, "replay", spoken, when, 1.0), body)


def about(user: User, folder: Path, say: Say = say, run: bool = True, **options: bool) -> Session:
    """A session about the newest commit of a repository."""
    repository = open_repository(folder)
    return hold(user, base_of(read_commit(repository), folder, repository.hash_name), say, run, **options)
