"""What planning adds to the language: the answer type `tasks`, two kinds of documents, and the files of a work plan.

Every command imports this, and few of them plan: what reads and writes is imported when it is needed.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from council.engine.contributions import Record, artifact, following
from council.planning.tasks import FORMAT
from council.workflow.types import AnswerType, Unreadable, answer_type

MOST_PROBLEMS = 5  # that a seat is told of at once


def _read(body: str, brief: str, says_none: bool) -> Any:
    """The tasks as lines, once they are a plan. A seat that gave none, or a faulty plan, is asked again."""
    from council.planning import tasks, work

    if not (text := work.read_text(body, brief)).strip():
        return None
    found = tasks.read_tasks("" if says_none else text)
    if found.problems:
        more = len(found.problems) - MOST_PROBLEMS
        raise Unreadable("; ".join([*found.problems[:MOST_PROBLEMS], *([f"{more} more"] if more > 0 else [])]))
    return tuple(f"{task.id}: {task.title}" for task in found.tasks)


answer_type(
    AnswerType("tasks", "the tasks of a work plan, with what they depend on and when they are done", FORMAT, _read, "")
)


@artifact(files=("plan.json",), folders=("issues",))
def work_plan(record: Record) -> Mapping[str, bytes]:
    """The plan as data, and a text for each issue."""
    if not any(kind.type == "tasks" for _, step in record.workflow.steps() for _, kind in step.reply):
        return {}
    from council.planning import work

    return work.encode(record)


@following
def to_work(record: Record, folder: Path) -> Iterator[str]:
    """From a decision to work, if a person asked for it: as a planning, or as an issue."""
    from council.reports import decision, produce

    document, issue = folder / produce.MAIN, folder / produce.ISSUE
    if not (record.plan.done and decision.wants_issue(record.plan) and document.is_file()):
        return
    yield f"plan it: council planning --from planning-1 --document {shlex.quote(str(document))}"
    title = issue.read_text("utf-8", "replace").partition("\n")[0].removeprefix("# ") if issue.is_file() else ""
    if title:
        yield f"file it: gh issue create --title {shlex.quote(title)} --body-file {shlex.quote(str(issue))}"


@following
def next_council(record: Record, folder: Path) -> Iterator[str]:
    """How a planning goes on, if this was one of its councils and a person approved it."""
    from council.planning import store

    id, council = folder.name[: store.ID].rstrip("-"), folder.name[store.ID :]
    begun = (folder.parent.parent / store.FOLDER / f"{id}{store.ENDING}").is_file()
    if begun and council in store.COUNCILS[:-1] and "approved" in record.plan.scene.outcomes.values():
        yield f"go on with the planning: council planning {id}"
