"""What came of each session of a comparison, from its files alone."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from council.candidates.results import find_winner
from council.candidates.versions import follow
from council.engine.planner import Plan
from council.errors import CouncilError
from council.lab.arms import BASELINES, choose_sample, find_exam
from council.lab.experiment import GIVEN_UP, session_folder
from council.record import files
from council.record import session as sessions
from council.record.session import Session
from council.speakers.registry import describe
from council.text import one_line

SOLVED, FAILED, UNFINISHED = "solved", "failed", "unfinished"
ANSWER = re.compile(r"^\W*answer\W*\b([A-J])\b", re.I | re.M)


@dataclass(frozen=True)
class ArmResult:
    """How one arm did on one task. A session that was given up has failed; one that still runs is unfinished.

    `usd` is None if nobody knows it; `seconds` are those of all calls and trials, one after the other.
    """

    task: str
    arm: str
    session: str
    state: str
    why: str = ""
    calls: int = 0
    usd: float | None = 0.0
    seconds: float = 0.0
    tokens: int | None = 0
    models: tuple[str, ...] = ()
    ended: str = ""

    @property
    def solved(self) -> bool:
        return self.state == SOLVED


def read_result(folder: Path, task: str, arm: str, id: str, choice: str = "") -> ArmResult:
    place = session_folder(folder, id)
    given_up = read_mark(folder, id)
    try:
        session = sessions.open_(place) if place.is_dir() else None
        if session:
            session.read_turns()
    except CouncilError as wrong:
        return ArmResult(task, arm, id, FAILED, f"its session cannot be read: {wrong}", usd=None)
    if session is None:
        return ArmResult(task, arm, id, FAILED if given_up else UNFINISHED, given_up or "not begun")
    if "completed_at" not in session.metadata:
        state, why = (FAILED, given_up) if given_up else (UNFINISHED, "not at its end")
    else:
        fault = judge_choice(session.plan(), choice) if choice else judge_code(session.plan(), arm)
        state, why = (FAILED, fault) if fault else (SOLVED, "")
    models = {one.answered for one in session.receipts.values() if one.answered}
    ended = str(session.metadata.get("completed_at", ""))[:10]
    return ArmResult(task, arm, id, state, why, count_calls(session), *sum_up(session), tuple(sorted(models)), ended)


def judge_code(plan: Plan, arm: str) -> str:
    """Why the code that the session ends with is not right; empty if the hidden tests pass."""
    ledger = follow(plan.scene)
    if arm in BASELINES:
        candidate = choose_sample(plan)
    else:
        winner = find_winner(plan.scene, ledger)
        candidate = winner.version.candidate if winner else ""
    if not candidate:
        return "no version won" if ledger.versions else "nobody wrote any file"
    verdict = find_exam(ledger, candidate)
    return "" if verdict == "pass" else f"hidden tests: {verdict or 'not run'}"


def judge_choice(plan: Plan, right: str) -> str:
    """Why the answer is not right: most of those who spoke last must have chosen it, and nothing else as often."""
    moments = list(plan.scene.moments())
    named = [ANSWER.findall(turn.body) for turn in (moments[-1] if moments else ())]
    votes = Counter(found[-1].upper() for found in named if found).most_common(2)
    if not votes:
        return "no answer could be read"
    if len(votes) > 1 and votes[0][1] == votes[1][1]:
        return f"undecided between {votes[0][0]} and {votes[1][0]}"
    return "" if votes[0][0] == right else f"answered {votes[0][0]}, right is {right}"


def count_calls(session: Session) -> int:
    """The calls of models, those that failed too."""
    return sum(not describe(call.speaker).machine for call in session.calls())


def sum_up(session: Session) -> tuple[float | None, float, int | None]:
    """What the session took: dollars, seconds, tokens."""
    calls = session.calls()
    paid = [call.usd for call in calls]
    tokens = [None if call.sent is None or call.output is None else call.sent + call.output for call in calls]
    return (
        None if None in paid else round(math.fsum(usd for usd in paid if usd is not None), 6),
        round(math.fsum(call.seconds or 0.0 for call in calls), 3),
        None if None in tokens else sum(count for count in tokens if count is not None),
    )


# ---- sessions that could not be ended ----


def read_mark(folder: Path, id: str) -> str:
    """Why a session was given up; empty if it was not."""
    path = folder / GIVEN_UP / id
    return one_line(files.read(path, 2_000).decode("utf-8", "replace"), 300) if path.is_file() else ""


def mark(folder: Path, id: str, why: str) -> None:
    files.make_folder(folder / GIVEN_UP)
    files.replace(folder / GIVEN_UP / id, f"{why}\n".encode("utf-8", "replace"))


def unmark(folder: Path, id: str) -> None:
    files.remove(folder / GIVEN_UP / id)
