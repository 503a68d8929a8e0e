"""The shell: a machine that tries candidates in the sandbox, with the bench that its seat names.

What the bench says is a turn. So a session reads the same for ever, and replays without a sandbox.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from council.speakers.base import Billing, Brief, Caption, Check, NotSetUp, Setup, Speaker, SpeakerType, Spoken

if TYPE_CHECKING:
    from council.candidates.base import Base
    from council.candidates.trials import DueTrial
    from council.config.benches import Bench
    from council.engine.planner import Due
    from council.record.session import Session
    from council.sandbox.model import Trial, Tried

BENCH, ENV = "bench", "env"  # facts of a base: a bench by name, and the project's virtual environment
LONGEST_LOG = 32_000  # characters of a log in the record: its end


@dataclass(frozen=True)
class Work:
    """What is to be tried: by which bench, and on which unchanged tree the candidate was written."""

    bench: str
    due: DueTrial
    base: Base


def job(session: Session, due: Due) -> tuple[str, Work]:
    """What is tried, in words and hashes: nothing that a member wrote is in a machine's brief."""
    from council.candidates import base
    from council.candidates.trials import find_trial

    project = base.read(session.extra)
    trial, bench = find_trial(due, project), _find_bench(session, due, project)
    what = f"Version {trial.version.number} of {trial.candidate}, as of {trial.version.id}" if trial.version else (
        f"Nothing that {trial.candidate} wrote: the unchanged tree" if trial.candidate else "The unchanged tree"
    )  # fmt: skip
    lines = [
        f"{what}, is tried by the bench `{bench}` with the {trial.kind} tests.", "",
        f"- tree: {len(trial.tree)} files, {base.hash_files(trial.tree)}",
        f"- tests: {len(trial.tests)} files, {base.hash_files(trial.tests)}",
        *([f"- of these, run: {len(trial.run)}"] if trial.run else []),
        *([f"- tests that do not count: {len(trial.void)}"] if trial.void else []),
    ]  # fmt: skip
    return "\n".join(lines) + "\n", Work(bench, trial, project)


def _find_bench(session: Session, due: Due, project: Base) -> str:
    """The bench that the seat names, or the option that it names, or else the base."""
    from council.candidates.versions import runs

    named = runs(due.seat)
    chosen = str(session.workflow.options.get(named, named) or "")
    return chosen if chosen not in ("", "auto") else str(project.facts.get(BENCH) or "")


class Shell(Speaker):
    name = "shell"

    def __init__(self, benches: Mapping[str, Bench]) -> None:
        self.benches = benches

    async def speak(self, brief: Brief, tell: Callable[[str], None]) -> Spoken:
        from council.replies.write import write

        work: Work = brief.work
        tried = await asyncio.to_thread(self.attempt, work)
        answers, cut = _answer(tried)
        body = write(brief.reply, answers)
        tell(body)
        return Spoken(body, trial=_receipt(work, tried, cut))

    def attempt(self, work: Work) -> Tried:
        from council.sandbox import benches, mutants
        from council.sandbox.model import FAIL, Trial, Tried

        due = work.due
        if due.misfit:
            return Tried(FAIL, log=f"The files do not fit, so no test was run: {due.misfit}.")

        def run(trial: Trial) -> Tried:
            return benches.try_out(trial, self.benches)

        env = str(work.base.facts.get(ENV) or "")
        trial = Trial(work.bench, due.tree, due.tests, due.run, due.void, Path(env) if env else None)
        return mutants.try_mutants(trial, work.base.tree, run) if due.kind == "mutants" else run(trial)


def _answer(tried: Tried) -> tuple[dict[str, Any], int]:
    """The answers that a step may ask for, and how many characters of the log were left out."""
    from council.candidates.versions import FAILED, PASSED, TESTS

    cut = max(0, len(tried.log) - LONGEST_LOG)
    log = f"… {cut:,} characters left out\n{tried.log[cut:]}" if cut else tried.log
    findings = [" ".join(f"{key}: {value}" for key, value in one.items()) for one in tried.findings]
    return {
        **tried.metrics, TESTS: tried.verdict, PASSED: tried.passed, FAILED: tried.failed, "log": log,
        "survivors": tried.survivors, "findings": findings,
    }, cut  # fmt: skip


def _receipt(work: Work, tried: Tried, cut: int) -> dict[str, Any]:
    """What was run on what, and how it ended."""
    from council.candidates.base import hash_files

    due = work.due
    return {
        "bench": work.bench, "tests": due.kind, "candidate": due.candidate,
        "version": due.version.id if due.version else None,
        "tree": hash_files(due.tree), "laid_over": hash_files(due.tests),
        "verdict": tried.verdict, "passed": len(tried.passed), "failed": len(tried.failed),
        **({"misfit": due.misfit} if due.misfit else {}), **({"log_cut": cut} if cut else {}),
        **tried.receipt,
    }  # fmt: skip


def _caption(trial: Mapping[str, Any]) -> Caption:
    """As in `3 of 5 tests pass, 0.4 s`."""
    passed, failed, verdict = trial.get("passed", 0), trial.get("failed", 0), trial.get("verdict", "")
    known = verdict in ("pass", "fail") and passed + failed
    text = f"{passed} of {passed + failed} tests pass" if known else str(verdict)
    text = "its files do not fit" if trial.get("misfit") else text
    seconds = f", {trial['seconds']:.1f} s" if "seconds" in trial else ""
    return Caption(text + seconds, "agree" if verdict == "pass" else "disagree")


def _make(setup: Setup) -> Speaker:
    from council.sandbox import benches

    return Shell(benches.load(setup.config))


def _obstacle(*_: Any) -> str:
    from council.sandbox import probe

    return probe.find_obstacle()


def _checks(_: object) -> Iterable[Check]:
    """Only where there is a sandbox at all: its room is optional."""
    if find_spec("council.sandbox"):
        yield "sandbox", _try_sandbox


def _try_sandbox() -> str:
    from council.sandbox import probe

    if obstacle := probe.find_obstacle():
        raise NotSetUp(f"no code can be run: {obstacle}")
    return probe.describe()


SPEAKER = SpeakerType(
    name=Shell.name,
    about="a bench, which tries code in the sandbox; a seat names it",
    make=_make,
    billing=Billing.FREE,
    machine=True,
    on_this_machine=True,
    obstacle=_obstacle,
    checks=_checks,
    benches=lambda config: config.benches,
    job=job,
    caption=_caption,
)
