"""The work plan of a finished debate: `plan.json`, and a text for each issue. Both follow from the record alone."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from council.engine.contributions import Record
from council.planning.tasks import WorkItem, WorkPlan, read_tasks
from council.protocols import outcome
from council.replies import parse
from council.reports.words import contain_line, place_below
from council.text import one_line, slug
from council.workflow.model import Kind

TASKS, PLAN, ISSUES = "tasks", "plan.json", "issues"
SCHEMA = 1
MOST_FAULTS, LONGEST_FAULT = 20, 1_000  # of one task: each task of a large cycle has the whole cycle


def read_text(body: str, brief: str) -> str:
    """What a reply has below its heading for the tasks, as its author wrote it."""
    return parse.outline(((TASKS, Kind(TASKS)),), body, brief).answers.get(TASKS, "")


def read_work(record: Record) -> WorkPlan | None:
    """The plan that the debate ends with, also a faulty one; None if it was asked for none.

    A second try counts if it has tasks at all."""
    asked = {step.name for _, step in record.workflow.steps() if TASKS in {kind.type for _, kind in step.reply}}
    written = [turn for turn in outcome.find_syntheses(record.plan) if turn.step in asked]
    if not record.plan.done or not written or written[-1].absent:
        return None
    replies = [said for said in (written[-1].first, written[-1].said) if said]
    texts = [text for said in replies if (text := read_text(said.body, said.brief))]
    return read_tasks(texts[-1] if texts else "")


def encode(record: Record) -> Mapping[str, bytes]:
    """The files of the plan, by name."""
    if (work := read_work(record)) is None:
        return {}
    ordered = work.in_order()
    titles, wrong = {one.id: one.title for one in work.tasks}, find_faults(work)
    made = {PLAN: json.dumps(describe(work, record), indent=2, ensure_ascii=False) + "\n"}
    for number, task in enumerate(ordered, 1):
        made[name_issue(number, task)] = write_issue(task, titles, wrong.get(task.id, ()), record)
    return {name: text.encode("utf-8", "backslashreplace") for name, text in made.items()}


def describe(work: WorkPlan, record: Record) -> dict[str, Any]:
    """As docs/plan.schema.json describes it."""
    return {
        "schema": SCHEMA,
        "session": str(record.facts.get("session_id", "")),
        "title": one_line(record.topic.strip().partition("\n")[0], 200),
        "outcome": outcome.outcome(record.plan),
        "tasks": [
            {
                "id": task.id, "title": task.title, "depends_on": [*task.depends_on], "done_when": [*task.done_when],
                "details": task.details, "issue": name_issue(number, task),
            }
            for number, task in enumerate(work.in_order(), 1)
        ],
        "problems": [*work.problems],
    }  # fmt: skip


def name_issue(number: int, task: WorkItem) -> str:
    return f"{ISSUES}/{number:02}-{slug(f'{task.id} {task.title}', 60)}.md"


def find_faults(work: WorkPlan) -> dict[str, list[str]]:
    """What is wrong with the plan, by the ids that it is about."""
    found: dict[str, list[str]] = {}
    ids = {task.id for task in work.tasks}
    for problem in work.problems:
        fault = one_line(problem, LONGEST_FAULT)
        for id in ids.intersection(problem.replace(",", "").split()):
            found.setdefault(id, []).append(fault)
    return found


def write_issue(task: WorkItem, titles: Mapping[str, str], wrong: Sequence[str], record: Record) -> str:
    """The text of an issue: its first line is the title, for `gh issue create --title`. `titles` are those of all,
    `wrong` is what is wrong with this one."""
    return (
        "\n".join([f"# {task.id}: {task.title or '(no title)'}", "", *_describe_task(task, titles, wrong, record)])
        + "\n"
    )


def _describe_task(task: WorkItem, titles: Mapping[str, str], wrong: Sequence[str], record: Record) -> Iterator[str]:
    if wrong:
        more = [f"{len(wrong) - MOST_FAULTS} more faults are in {PLAN}"] if len(wrong) > MOST_FAULTS else []
        yield from (
            *(f"> **The plan is wrong here:** {contain_line(fault)}." for fault in [*wrong[:MOST_FAULTS], *more]),
            "",
        )
    if task.depends_on:
        yield from ("## Depends on", "")
        yield from (f"- {id}: {contain_line(titles[id])}" if id in titles else f"- {id}" for id in task.depends_on)
        yield ""
    yield from ("## Done when", "")
    yield from ([f"- [ ] {contain_line(one)}" for one in task.done_when] or ["*(The plan does not say.)*"])
    if task.details.strip():
        yield from ("", "## Details", "", place_below(task.details, 2))
    yield from ("", f"From the work plan of session {record.facts.get('session_id', '')}.")
