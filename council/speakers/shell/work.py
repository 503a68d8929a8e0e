"""What the shell is to try. It is found from the record alone, so a machine's brief is the same whenever written."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from council.candidates import base
from council.candidates.base import Base, hash_files
from council.candidates.trials import REPLACED, DueTrial, find_trial
from council.candidates.versions import EXECUTABLE, runs
from council.sandbox.model import FAIL, PASS, TAMPERED, Trial
from council.speakers.shell import ENV

if TYPE_CHECKING:
    from council.engine.planner import Due
    from council.record.session import Session
    from council.workflow.model import Reply

UNNAMED = ("", "none")
SETTLED = (PASS, FAIL, TAMPERED)  # verdicts that the same trial would give again


@dataclass(frozen=True)
class Earlier:
    """A trial that the session has on record."""

    turn: str
    body: str
    trial: Mapping[str, Any]


@dataclass(frozen=True)
class Work:
    """What is to be tried, and by which benches. `inputs` is the hash of all that decides the result but the tools;
    `earlier` are the trials of the same inputs, asked for the same answers.
    """

    due: DueTrial
    project: Base
    benches: tuple[str, ...]
    tree: str
    tests: str
    inputs: str
    earlier: tuple[Earlier, ...]

    @property
    def env(self) -> Path | None:
        named = str(self.project.facts.get(ENV) or "")
        return Path(named) if named else None

    def make_trial(self, bench: str) -> Trial:
        due, allowed = self.due, tuple(self.project.facts.get(REPLACED, ()))
        executable = tuple(self.project.facts.get(EXECUTABLE, ()))
        return Trial(bench, due.tree, due.tests, due.run, due.void, self.env, self.project.tree, allowed, executable)


def find_job(session: Session, due: Due) -> tuple[str, Work]:
    """The brief of a trial, and its work. The brief has only names and hashes, and nothing that a member wrote."""
    project = base.read(session.extra)
    trial = find_trial(due, project)
    benches = _find_benches(session, due)
    tree, tests = hash_files(trial.tree), hash_files(trial.tests)
    inputs = hash_facts([benches, trial.kind, tree, tests, trial.run, trial.void, trial.misfit])
    work = Work(trial, project, benches, tree, tests, inputs, tuple(_find_earlier(session, inputs, due.step.reply)))
    return _describe(work), work


def _find_benches(session: Session, due: Due) -> tuple[str, ...]:
    """The benches that the seat names, or that the option names which it names."""
    named = runs(due.seat)
    chosen = str(session.workflow.options.get(named, named))
    return tuple(dict.fromkeys(name for part in chosen.split(",") if (name := part.strip()) not in UNNAMED))


def _find_earlier(session: Session, inputs: str, reply: Reply) -> Iterator[Earlier]:
    asked = {(phase.name, step.name): step.reply for phase, step in session.workflow.steps()}
    for turn, said in session.said.items():
        receipt, trial = session.receipts[turn], said.trial or {}
        same = trial.get("inputs") == inputs and trial.get("verdict") in SETTLED
        if same and "cached" not in trial and asked.get((receipt.phase, receipt.step)) == reply:
            yield Earlier(turn, said.body, trial)


def _describe(work: Work) -> str:
    due = work.due
    who = f"what {due.candidate} wrote" if due.candidate else "the unchanged tree"
    if due.candidate:
        who = f"version {due.version.number} of {due.candidate}" if due.version else f"the tree before {due.candidate}"
    lines = [
        f"Try {who} with the {due.kind} tests.",
        "",
        f"- bench: {', '.join(work.benches) or 'none'}",
        *([f"- written in: {due.version.id}"] if due.version else []),
        f"- tree: {len(due.tree)} files, {work.tree}",
        f"- tests: {len(due.tests)} files, {work.tests}",
        *([f"- run only: {len(due.run)} of these files"] if due.run else []),
        *([f"- tests that do not count: {len(due.void)}"] if due.void else []),
    ]
    return "\n".join(lines) + "\n"


def hash_facts(facts: Any) -> str:
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode("utf-8", "backslashreplace")).hexdigest()
