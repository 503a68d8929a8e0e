"""What a comparison found. Everything follows from the folder's files, so the same folder gives the same bytes."""

from __future__ import annotations

import html
import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

from council.lab import experiment, results
from council.lab.arms import BEST
from council.lab.experiment import Experiment
from council.lab.results import UNFINISHED, ArmResult
from council.lab.statistics import Interval, Pairs, pair, wilson
from council.text import harmless, join_words

SCHEMA = 1


@dataclass(frozen=True)
class ArmReport:
    """One arm over all tasks that count. A sum is None where a part of it is unknown."""

    arm: str
    solved: int
    of: int
    interval: Interval
    calls: int
    tokens: int | None
    usd: float | None
    seconds: float

    @property
    def share(self) -> float:
        return self.solved / self.of if self.of else 0.0

    def encode(self) -> dict[str, Any]:
        return {
            "arm": self.arm, "solved": self.solved, "of": self.of, "pass_at_1": round(self.share, 6),
            "low": round(self.interval.low, 6), "high": round(self.interval.high, 6), "calls": self.calls,
            "tokens": self.tokens, "usd": self.usd, "seconds": self.seconds,
            "usd_per_solved": _per(self.usd, self.solved), "seconds_per_solved": _per(self.seconds, self.solved),
        }  # fmt: skip


def _per(whole: float | None, count: int) -> float | None:
    return None if whole is None or not count else round(whole / count, 6)


@dataclass(frozen=True)
class LabReport:
    """A comparison. Only tasks that every arm has finished count: `results` are theirs. A session that was given up has
    finished, and failed.
    """

    plan: Experiment
    arms: tuple[ArmReport, ...]
    pairs: tuple[tuple[str, str, Pairs], ...]
    results: tuple[ArmResult, ...]
    unfinished: tuple[str, ...]
    uneven: tuple[str, ...]

    @property
    def set(self) -> str:
        """The set's name, without the folders of this machine."""
        kind, colon, rest = self.plan.set.partition(":")
        return f"{kind}{colon}{Path(rest).name}" if kind == "file" else self.plan.set

    @property
    def tasks(self) -> int:
        return self.arms[0].of if self.arms else 0

    @property
    def models(self) -> list[str]:
        return sorted({model for one in self.results for model in one.models})

    @property
    def failures(self) -> list[ArmResult]:
        return [one for one in self.results if not one.solved]

    @property
    def last_day(self) -> str:
        return max((one.ended for one in self.results), default="")

    def encode(self) -> dict[str, Any]:
        """As docs/lab.schema.json describes it."""
        plan = self.plan.encode()
        pairs = [
            {"first": one, "second": other, "both": found.both, "first_only": found.first}
            | {"second_only": found.second, "neither": found.neither, "p": round(found.p, 6)}
            for one, other, found in self.pairs
        ]
        return {
            "schema": SCHEMA, "set": self.set, "workflow": self.plan.workflow, "options": plan["options"],
            "speaker": self.plan.speaker, "models": self.models, "seed": self.plan.seed, "set_size": self.plan.of,
            "planned": len(self.plan.tasks), "tasks": self.tasks, "until": self.last_day,
            "arms": [arm.encode() for arm in self.arms],
            "pairs": pairs,
            "uneven": list(self.uneven), "unfinished": list(self.unfinished),
            "results": [{**asdict(one), "models": list(one.models)} for one in self.results],
        }  # fmt: skip


def compose(folder: Path) -> LabReport:
    """Read every session of the plan."""
    plan = experiment.read(folder)
    counted: list[dict[str, ArmResult]] = []
    unfinished = []
    for task in plan.tasks:
        choice = str(task.get("choice", ""))
        read = {arm: results.read_result(folder, task["id"], arm, task["sessions"][arm], choice) for arm in plan.arms}
        if any(one.state == UNFINISHED for one in read.values()):
            unfinished.append(str(task["id"]))
        else:
            counted.append(read)
    workflow = next(arm for arm in plan.arms if arm not in ("single", BEST))
    uneven = [task[BEST].task for task in counted if BEST in task and task[BEST].calls != task[workflow].calls]
    return LabReport(
        plan, tuple(_sum_up(arm, [task[arm] for task in counted]) for arm in plan.arms),
        tuple(
            (one, other, pair((task[one].solved, task[other].solved) for task in counted))
            for one, other in combinations(plan.arms, 2)
        ),
        tuple(one for task in counted for one in task.values()), tuple(unfinished), tuple(uneven),
    )  # fmt: skip


def _sum_up(arm: str, found: Sequence[ArmResult]) -> ArmReport:
    solved = sum(one.solved for one in found)
    usd, tokens = [one.usd for one in found], [one.tokens for one in found]
    return ArmReport(
        arm, solved, len(found), wilson(solved, len(found)), sum(one.calls for one in found),
        None if None in tokens else sum(count for count in tokens if count is not None),
        None if None in usd else round(math.fsum(one for one in usd if one is not None), 6),
        round(math.fsum(one.seconds for one in found), 1),
    )  # fmt: skip


# ---- Markdown ----


def write_markdown(report: LabReport, plot: str = "") -> str:
    return "\n".join(_lines(report, plot)) + "\n"


def _lines(report: LabReport, plot: str) -> Iterator[str]:
    plan = report.plan
    yield f"# {plan.workflow} on {report.set}: {report.tasks} tasks"
    yield ""
    yield harmless(_describe(report))
    if not report.tasks:
        yield "\nNo task was finished by every arm yet, so nothing can be said."
        return
    if plot:
        yield f"\n![The share of tasks that each arm solved, with its interval]({plot})"
    yield "\n| arm | solved | pass@1 | 95 % interval | calls | cost | cost per solved | seconds per solved |"
    yield "|---|---|---|---|---|---|---|---|"
    for arm in report.arms:
        known = arm.encode()
        yield (
            f"| {arm.arm} | {arm.solved} of {arm.of} | {arm.share:.1%} | "
            f"{arm.interval.low:.1%} to {arm.interval.high:.1%} | {arm.calls} | {_dollars(arm.usd)} | "
            f"{_dollars(known['usd_per_solved'])} | {_seconds(known['seconds_per_solved'])} |"
        )
    yield "\n## Do the arms differ?\n"
    yield "On the same tasks, by McNemar's exact test (two-sided):\n"
    yield "| first | second | both solved | only the first | only the second | neither | p |"
    yield "|---|---|---|---|---|---|---|"
    for one, other, found in report.pairs:
        counts = f"{found.both} | {found.first} | {found.second} | {found.neither}"
        yield f"| {one} | {other} | {counts} | {found.p:.3f} |"
    yield ""
    yield from (f"- {_conclude(one, other, found)}" for one, other, found in report.pairs)
    if len(report.pairs) > 1:
        yield (
            f"\nThese are {len(report.pairs)} comparisons: by chance alone, one of 20 would have p < 0.05. "
            "Intervals that overlap do not show that two arms are equal."
        )
    yield "\n## Every failure\n"
    yield "| task | arm | why | session |\n|---|---|---|---|"
    for result in report.failures:
        yield f"| {cite(result.task)} | {result.arm} | {cite(result.why)} | `{result.session}` |"
    if report.unfinished:
        yield f"\nNot finished by every arm, and not counted: {', '.join(map(cite, report.unfinished))}."
    if report.uneven:
        yield f"\nThe calls of {BEST} differ from the workflow's for {', '.join(map(cite, report.uneven))}."


def _describe(report: LabReport) -> str:
    plan = report.plan
    by = f"{join_words(report.models)} (`--speaker {plan.speaker}`)" if report.models else f"`--speaker {plan.speaker}`"
    options = "".join(f", {name}={value}" for name, value in sorted(plan.options.items()))
    return (
        f"{report.tasks} of {len(plan.tasks)} planned tasks are finished, of {plan.of} in the set, in an order "
        f"shuffled by seed {plan.seed}. Answered by {by}. Workflow: {plan.workflow}{options}. {BEST} makes as many "
        f"calls for a task as the workflow made for it. Last session: {report.last_day or 'none'}. "
        "`council lab report` made this page from the sessions; the guide to the lab says what is measured."
    )


def _conclude(one: str, other: str, found: Pairs) -> str:
    if found.p >= 0.05:
        return f"{one} and {other}: no difference is shown (p = {found.p:.3f})."
    better, worse = (one, other) if found.first > found.second else (other, one)
    return f"{better} solves more than {worse} (p = {found.p:.3f})."


def cite(text: str) -> str:
    """Words of a set or a session, which neither break a table nor become HTML."""
    return html.escape(harmless(text), quote=False).replace("|", "\\|")


def _dollars(usd: float | None) -> str:
    return "unknown" if usd is None else f"${usd:.4f}" if usd else "$0"


def _seconds(seconds: float | None) -> str:
    return "–" if seconds is None else f"{seconds:.1f}"
