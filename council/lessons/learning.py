"""What a finished session leaves: lessons from its own trials, and counts of the lessons that it was shown.

A session that begins on this machine gets a ticket, and its end uses it up. So a session that came in an archive, a
replay or a session in a project teaches nothing; and no session teaches twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from council.candidates import base as bases
from council.candidates.diffs import parse_diff
from council.candidates.versions import (
    FAILED,
    HIDDEN,
    PASSED,
    RED,
    TESTS,
    VISIBLE,
    Version,
    follow,
    ids_of,
    kind_of,
    runs,
)
from council.config import settings
from council.config.settings import Config
from council.engine.planner import Plan
from council.engine.scene import Scene, Turn
from council.engine.views import look
from council.errors import CouncilError, Damaged
from council.lessons.answers import APPLIES, CAUSE, LESSON, SHOWN
from council.lessons.general import Particular, describe_task, generalize
from council.lessons.lesson import LONGEST, Lesson
from council.lessons.store import of_user
from council.lessons.words import split
from council.record import catalog, files
from council.record.session import Session

TICKETS = ".tickets"
NOTHING = "none"  # what a seat says instead of a text that it does not have
MOST_WORDS = 40  # of a task, that its lessons are found by
LANGUAGES = {"py": "python", "js": "javascript", "mjs": "javascript", "ts": "typescript", "go": "go", "rs": "rust"}


# ---- tickets ----


def open_ticket(session: Session) -> None:
    """Let a new session teach, and count what it is shown."""
    config = settings.load()
    if may_learn(session, config):
        with suppress(CouncilError):  # without a ticket it teaches nothing, and nothing else is wrong
            folder = of_user(config).folder / TICKETS
            files.make_folder(folder)
            files.fill(folder / session.id, _sign(session))


def may_learn(session: Session, config: Config) -> bool:
    """Whether it is the user's own: in the home, and no repetition of another session."""
    return session.folder.parent == config.sessions and "replay_of" not in session.metadata


def _sign(session: Session) -> bytes:
    """What only this session has, and no other one of the same name."""
    return session.key("lessons").encode()


# ---- the end of a session ----


def learn(session: Session, plan: Plan) -> None:
    """Keep what the session taught and count what it was shown, once."""
    config = settings.load()
    lessons = of_user(config)
    ticket = lessons.folder / TICKETS / session.id
    if not may_learn(session, config) or not _is_valid(ticket, session):
        return
    with lessons.hold():
        lessons.add(list(make_lessons(session, plan.scene)))
        shown = [id for receipt in session.receipts.values() for id in (receipt.trial or {}).get(SHOWN, ())]
        lessons.count(dict.fromkeys(map(str, shown)), session.id, has_won(plan.scene))
        files.remove(ticket)
        for other in ticket.parent.iterdir():
            if not catalog.exists(config.sessions, other.name):  # of a session that was removed
                with suppress(CouncilError):
                    files.remove(other)


def _is_valid(ticket: Path, session: Session) -> bool:
    try:
        return files.read(ticket, 200) == _sign(session)
    except (OSError, Damaged):
        return False


# ---- red and green ----


@dataclass(frozen=True)
class Repair:
    """A version whose tests failed, the reflection on that, and the candidate's next version, whose tests passed."""

    failed: Version
    red: Turn
    reflection: Turn
    repaired: Version
    green: Turn

    @property
    def episode(self) -> tuple[str, ...]:
        return self.failed.id, self.red.id, self.reflection.id, self.repaired.id, self.green.id


def find_repairs(session: Session, scene: Scene) -> Iterator[Repair]:
    """Every red version whose next version was green, as benches of this session really found."""
    ledger = follow(scene)
    for candidate, versions in ledger.versions.items():
        checks = [
            check
            for check in ledger.checks.get(candidate, [])
            if kind_of(check.turn.seat) == VISIBLE and session.receipts[check.turn.id].trial
        ]
        for failed, repaired in pairwise(versions):
            red = [one.turn for one in checks if one.version == failed and one.verdict == RED]
            green = [one.turn for one in checks if one.version == repaired and one.green]
            if red and green and ledger.is_green(repaired) and not ledger.is_green(failed):
                between = scene.turns[scene.turns.index(red[-1]) : scene.turns.index(repaired.turn)]
                thought = [one for one in between if one.seat.about == candidate and not runs(one.seat) and one.body]
                if thought:
                    yield Repair(failed, red[-1], thought[-1], repaired, green[-1])


def has_won(scene: Scene) -> bool:
    """Whether tests passed in the end: the hidden ones if there were any, else those that the writers saw."""
    ledger = follow(scene)
    hidden = {
        check.turn.seat.name: check.green
        for checks in ledger.checks.values()
        for check in checks
        if kind_of(check.turn.seat) == HIDDEN
    }
    standing = filter(None, map(ledger.standing, ledger.candidates))
    return any(hidden.values()) if hidden else any(map(ledger.is_green, standing))


# ---- lessons ----


def make_lessons(session: Session, scene: Scene) -> Iterator[Lesson]:
    """The lessons that seats drew from the repairs of this session."""
    base = bases.read(session.extra)
    for place, turn in enumerate(scene.turns):
        before = replace(scene, turns=scene.turns[:place])
        if not turn.answers.get(LESSON) or saw_hidden_tests(session, turn, before):
            continue
        repairs = [one for one in find_repairs(session, before) if turn.seat.of in ("", one.repaired.candidate)]
        if repairs:
            paths = {
                path for one in follow(before).versions.values() for version in one for path in version.files.written
            }
            task = describe_task([*base.tree, *base.visible, *base.hidden, *paths], base.hidden.values())
            lesson = describe(session, task, turn, repairs[-1])
            if lesson.change:
                yield lesson


def saw_hidden_tests(session: Session, turn: Turn, before: Scene) -> bool:
    """Whether the seat was shown what a hidden trial said. Then it may teach nothing: its words could give it away."""
    (step,) = (step for phase, step in session.workflow.steps() if (phase.name, step.name) == (turn.phase, turn.step))
    scene = before.at(turn.phase, turn.round, turn.round)
    return any(kind_of(seen.turn.seat) == HIDDEN for seen in look(step.sees, turn.seat, scene))


def describe(session: Session, task: Particular, turn: Turn, repair: Repair) -> Lesson:
    trial = session.receipts[repair.green.id].trial or {}
    said: dict[str, Any] = {
        name: generalize(str(turn.answers.get(answer) or ""), task, LONGEST[name])
        for name, answer in (("applies", APPLIES), ("cause", CAUSE), ("change", LESSON))
    }
    said = {name: "" if text.strip(".").casefold() == NOTHING else text for name, text in said.items()}
    return Lesson(
        **said,
        session=session.id,
        turn=turn.id,
        made=session.receipts[turn.id].started,
        episode=repair.episode,
        words=find_task_words(str(session.metadata["topic"]), task),
        language=find_language(repair.repaired),
        bench=str(trial.get("bench") or ""),
        before=count_tests(repair.red),
        after=count_tests(repair.green),
    )


def find_task_words(topic: str, task: Particular) -> tuple[str, ...]:
    """The words that the task is about, without its paths."""
    plain = " ".join(word for word in topic.split() if not task.is_in(word))
    return tuple(dict.fromkeys(split(plain)))[:MOST_WORDS]


def find_language(version: Version) -> str:
    """The language of most of its files; empty if it is none that council knows."""
    known = [LANGUAGES.get(path.rpartition(".")[2], "") for path in sorted(list_paths(version))]
    return max(known, key=known.count, default="")


def list_paths(version: Version) -> set[str]:
    """The files that it writes, deletes or changes."""
    files = version.files
    return {*files.written, *(change.path for change in (parse_diff(files.diff) if files.diff else ()))}


def count_tests(trial: Turn) -> str:
    """`fail, 2 of 5`: the verdict, and how many tests passed."""
    passed, failed = (len(ids_of(trial, answer)) for answer in (PASSED, FAILED))
    return f"{trial.answers[TESTS]}, {passed} of {passed + failed}"
