"""What is compared: the workflow in question, a single call, and the best of several calls. Each arm is a workflow, and
each task has one session of each arm.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from council.candidates.versions import HIDDEN, TESTS, Ledger, follow, kind_of, runs
from council.cli.options import workflow_options
from council.config import overlays
from council.engine.planner import Plan
from council.errors import UsageError
from council.text import did_you_mean
from council.workflow.loader import load
from council.workflow.model import Workflow

SINGLE, BEST = "single", "best-of-n"
BASELINES = (SINGLE, BEST)
WRITER = "generator"
MOST_SAMPLES = 64
QUIET: Mapping[str, Any] = {"lessons": False, "document": "none"}
TRIAL = "{tests: pass | fail | tampered | timeout | unknown, passed: list, failed: list, log: text}"

CODE = """---
name: {name}
description: {description}
seats:
  coders:
{coders}
  tester: {{tester: {{of: coders, speaker: shell, run: bench, persona: executor}}}}
  examiner: {{examiner: {{of: coders, speaker: shell, run: bench, tests: hidden, persona: executor}}}}
options: {{bench: pytest}}
phases:
  - {{name: draft, prompt: code-draft, seats: coders, sees: nothing, reply: {{solution: files}}}}
  - {{name: trial, seats: tester, sees: nothing, reply: {trial}}}
  - {{name: exam, seats: examiner, sees: nothing, reply: {trial}}}
---

# {name}

{description}
"""
QUESTION = """---
name: {name}
description: {description}
seats:
  members:
{coders}
phases:
  - {{name: answer, seats: members, sees: nothing}}
---

# {name}

{description}

# Prompts

## answer

Answer the question. Think first, in a few sentences; then write the line "Answer: X" with the letter of your choice.
"""


def write_baseline(samples: int, code: bool) -> str:
    """The workflow of a number of calls that know nothing of each other."""
    names = [WRITER] if samples == 1 else [f"{WRITER}-{number}" for number in range(1, samples + 1)]
    persona = "generator" if code else "researcher"
    return (CODE if code else QUESTION).format(
        name=SINGLE if samples == 1 else f"best-of-{samples}",
        description="One call." if samples == 1 else f"{samples} calls; the visible tests choose one.",
        coders="\n".join(f"    - {name}: {{persona: {persona}}}" for name in names), trial=TRIAL,
    )  # fmt: skip


def check_workflow(name: str, code: bool) -> Workflow:
    """The workflow in question. It is refused if nothing could tell whether its answers are right."""
    workflow = load(*overlays.workflow_text(name))
    examined = any(runs(seat) and kind_of(seat) == HIDDEN for seat in workflow.all_seats())
    if code and not examined:
        raise UsageError(f"{name} runs no hidden tests, so nothing tells whether its code is right; see docs/lab.md")
    return workflow


def check_baselines(names: Sequence[str]) -> tuple[str, ...]:
    for name in names:
        if name not in BASELINES:
            raise UsageError(f"--against {name}: no such arm; {did_you_mean(name, BASELINES)}")
    return tuple(name for name in BASELINES if name in names)


def choose_sample(plan: Plan) -> str:
    """The candidate that the visible tests choose: the first that passes them, or else the first of all."""
    ledger = follow(plan.scene)
    versions = {name: version for name in ledger.versions if (version := ledger.standing(name))}
    names = sorted(versions, key=_number)
    return next((name for name in names if ledger.is_green(versions[name])), next(iter(names), ""))


def _number(name: str) -> int:
    return int(name.rpartition("-")[2]) if name[-1:].isdigit() else 0


def find_exam(ledger: Ledger, candidate: str) -> str:
    """What the hidden tests said of the candidate's standing version; empty if they were not run."""
    version = ledger.standing(candidate)
    made = [
        check
        for check in ledger.checks.get(candidate, [])
        if kind_of(check.turn.seat) == HIDDEN and check.version == version
    ]
    return str(made[-1].turn.answers.get(TESTS, "")) if made else ""


def order(workflow: str, against: Sequence[str]) -> tuple[str, ...]:
    """The arms of each task in the order in which they run: how many calls the last one takes is known only then."""
    return (*(arm for arm in against if arm == SINGLE), workflow, *(arm for arm in against if arm == BEST))


def choose_options(workflow: Workflow, given: Sequence[str]) -> dict[str, Any]:
    """The options that were asked for. Unless they say otherwise, no lessons are shown or kept: a task must not help
    with the next, and no document is written into a project.
    """
    quiet = {name: value for name, value in QUIET.items() if name in workflow.options}
    return quiet | workflow_options({"options": given})
