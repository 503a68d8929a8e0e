"""The tasks of a work plan: read strictly, and never dropped in silence; plan.json and the issues that follow."""

from __future__ import annotations

import json
import time

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from council.config import overlays
from council.engine.contributions import Record
from council.planning import work
from council.planning.tasks import FORMAT, WorkItem, WorkPlan, read_tasks
from council.replies import parse
from council.workflow.loader import load
from tests.growth import compare
from tests.helpers import CODE
from tests.scripted import Script, play

SCHEMA = json.loads((CODE / "docs" / "plan.schema.json").read_text("utf-8"))
PLAIN = """### T1: Write the schema
- Depends on: none
- Done when: the migration runs on a copy

It keeps the old table.

### T2: Read from it
- Depends on: T1
- Done when:
  - every read goes there
  - the old table is idle

```sql
### T9: no task, but code
```
"""
BULLETS = """1. **T1: Write the schema**
   - **Depends on:** nothing
   - **Done when:** the migration runs
2. **T2: Read from it**
   - **Depends on:** T1 (the schema)
   - **Done when:** every read goes there
"""


def test_a_plan_is_read_with_everything_that_its_author_wrote():
    found = read_tasks(PLAIN)
    assert found.problems == ()
    assert found.tasks == (
        WorkItem("T1", "Write the schema", (), ("the migration runs on a copy",), "It keeps the old table."),
        WorkItem("T2", "Read from it", ("T1",), ("every read goes there", "the old table is idle"),
             "```sql\n### T9: no task, but code\n```"),
    )  # fmt: skip


@pytest.mark.parametrize(
    "text", [BULLETS, BULLETS.replace("1. ", "- ").replace("2. ", "- "), PLAIN.replace("###", "####")]
)
def test_other_forms_of_the_same_plan(text):
    found = read_tasks(text)
    assert not found.problems
    assert [(task.id, task.title, task.depends_on) for task in found.tasks] == [
        ("T1", "Write the schema", ()),
        ("T2", "Read from it", ("T1",)),
    ]


def task(id: str, depends: str = "none", done: str = "it works") -> str:
    return f"### {id}: Title of {id}\n- Depends on: {depends}\n- Done when: {done}\n"


CYCLE = task("T1", "T2") + task("T2", "T3") + task("T3", "T1")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "it has no task; begin each one with a line such as “### T1: Title”"),
        (FORMAT, "T1 depends on “[ids of the tasks that have to be done first”, which is not the id of a task"),
        (FORMAT, "T1 has no title"),
        (task("T1") + task("T1"), "the id T1 is given to 2 tasks"),
        (task("T1", "T7"), "T1 depends on T7, and there is no such task"),
        (task("T1", "T1"), "T1 depends on itself"),
        (CYCLE, "T1, T2 and T3 depend on each other: T1 → T2 → T3 → T1"),
        (task("T1", "the schema"), "T1 depends on “the schema”, which is not the id of a task"),
        ("### T1: A\n- Done when: so\n", "T1 does not say what it depends on; write “Depends on: none” if nothing"),
        (task("T1", done="n/a"), "T1 does not say when it is done"),
        (task("T1") + "### Prepare\n\nFirst of all.\n", "the heading “Prepare” has no id, such as T1"),
    ],
)  # fmt: skip
def test_what_is_no_plan_is_said(text, problem):
    assert problem in read_tasks(text).problems


def test_two_cycles_and_what_hangs_on_them():
    text = "".join([task("T1", "T2"), task("T2", "T1"), task("T3", "T1, T5"), task("T4", "T5"), task("T5", "T4")])
    found = read_tasks(text)
    assert [problem.partition(":")[0] for problem in found.problems] == [
        "T1 and T2 depend on each other", "T4 and T5 depend on each other",
    ]  # fmt: skip
    assert [one.id for one in found.in_order()] == ["T1", "T2", "T3", "T4", "T5"]


def test_the_titles_of_groups_drop_no_task():
    text = "### Phase 1\n#### T1: A\n- Depends on: none\n- Done when: so\n\n### Phase 2\n" + task("T2", "T1").replace(
        "###", "####"
    )
    assert [one.id for one in read_tasks(text).tasks] == ["T1", "T2"]


@given(st.lists(st.tuples(st.integers(1, 6), st.lists(st.integers(1, 7), max_size=3)), max_size=8))
def test_every_plan_is_in_order_or_said_to_be_none(shape):
    found = read_tasks(
        "".join(task(f"T{id}", ", ".join(f"T{other}" for other in others) or "none") for id, others in shape)
    )
    ids = [one.id for one in found.in_order()]
    assert sorted(ids) == sorted(f"T{id}" for id, _ in shape)
    sound = all(other in ids[: ids.index(one.id)] for one in found.tasks for other in one.depends_on)
    assert bool(found.problems) == (not sound or len(set(ids)) < len(ids) or not ids)


def test_a_plan_by_a_stranger_takes_no_time():
    began = time.process_time()
    chain = "".join(task(f"T{number}", f"T{number + 1}") for number in range(1, 600))
    for text in (chain, "### T1: " + "(" * 5000, "- Depends on: " + "T1," * 5000, " " * 9000 + "x", "**" * 5000):
        read_tasks(text)
    assert time.process_time() - began < 2


def name_ids(count: int) -> list[str]:
    return [f"{chr(65 + number // 1000)}{number % 1000}" for number in range(count)]


def chain(count: int) -> str:
    ids = name_ids(count)
    return "".join(task(id, following) for id, following in zip(ids, [*ids[1:], "none"], strict=True))


def cycle(count: int) -> str:
    ids = name_ids(count)
    return "".join(task(id, following) for id, following in zip(ids, [*ids[1:], ids[0]], strict=True))


def couples(count: int) -> str:
    """Each task with its neighbour, and with the first one."""
    ids = name_ids(count)
    return "".join(task(id, f"{ids[place ^ 1]}, {ids[0]}") for place, id in enumerate(ids))


@pytest.mark.parametrize(
    "write",
    [
        chain, cycle, couples,
        lambda count: "".join(task("T1", f"X{number}") for number in range(count)),
        lambda count: f"### T1: A\n- Depends on: {'!' * 40 * count}x\n- Done when: {'!' * 40 * count}x\n",
        lambda count: "### T1: A\n- Done when: a\n" + "  b\n" * 10 * count,
    ],
    ids=["chain", "cycle", "couples", "same-id", "signs", "lines"],
)  # fmt: skip
def test_a_plan_of_any_size_is_read_in_a_time_and_a_space_that_grow_with_it(write):
    """Eight times the plan may take sixteen times as long. The reply of one model decides how large it is."""

    def read(count: int) -> int:
        found = read_tasks(write(count))
        wrong, titles = work.find_faults(found), {one.id: one.title for one in found.tasks}
        return sum(len(work.write_issue(one, titles, wrong.get(one.id, ()), record)) for one in found.in_order())

    record = planned("")
    assert read(2_000) <= 16 * read(250) + 50_000
    assert compare(lambda: read(2_000), lambda: read(250), 16) <= 16


# ---- in a debate ----

PLANNING = load(*overlays.workflow_text("planning-3"))
NONE = "".join(f"\n\n## {title}\nnone" for title in ("Rejected", "Dissents", "Risks"))
TASKS = f"## Chosen\nSo.\n\n## Tasks\n{{}}{NONE}\n\n## Confidence\nhigh\n"
AGREE = {
    "challenges": ["Planner: late."],
    "risks": [],
    "stance": "agree",
    "blocking": [],
    "gist": "So.",
    "ready": "yes",
}
TURNS = {
    "positions/*": "So.", "respond/*": AGREE, "poll/*": {"move_on": "yes"},
    "review/*": {"ruling": "continue", "repeating_rounds": 0}, "check/*": {"accurate": "yes", "correction": []},
}  # fmt: skip


def planned(first: str, again: str = "") -> Record:
    turns = {**TURNS, "synthesize/*": TASKS.format(first), "synthesize/planner.2": TASKS.format(again)}
    script = Script("plan", "", PLANNING.with_members(PLANNING.members[:1]), "seed", 0.0, turns)
    played = play(script)
    return Record(PLANNING, played.end, "Move the sessions table.\nSoon.", {"session_id": "a-session"})


def test_the_plan_as_data_and_its_issues():
    record = planned(PLAIN)
    made = work.encode(record)
    data = json.loads(made["plan.json"])
    jsonschema.validate(data, SCHEMA)
    assert [one["issue"] for one in data["tasks"]] == [
        "issues/01-t1-write-the-schema.md", "issues/02-t2-read-from-it.md",
    ]  # fmt: skip
    assert set(made) == {"plan.json", *(one["issue"] for one in data["tasks"])}
    assert data["problems"] == []
    issue = made["issues/02-t2-read-from-it.md"].decode()
    assert issue.startswith("# T2: Read from it\n\n## Depends on\n\n- T1: Write the schema\n\n## Done when\n\n")
    assert "- [ ] every read goes there\n- [ ] the old table is idle\n" in issue
    assert issue.endswith("\nFrom the work plan of session a-session.\n")


def test_no_words_hide_a_condition_of_an_issue():
    hostile = "### T1: <img src=x>\n- Depends on: none\n- Done when:\n  - <!-- all reads --> works\n  - <details>\n"
    made = work.encode(planned(hostile + task("T2", "T1")))
    first, second = (text.decode() for name, text in made.items() if name.startswith("issues/"))
    assert "\n- [ ] \\<!-- all reads --> works\n- [ ] \\<details>\n" in first
    assert "\n- T1: \\<img src=x>\n" in second
    assert first.startswith("# T1: <img src=x>\n")  # the title, which no tracker reads as Markdown


def test_a_faulty_plan_is_sent_back_and_its_faults_are_kept():
    cycle = task("T1", "T2") + task("T2", "T1")
    better = planned(cycle, PLAIN)
    asked = [turn.problems for turn in better.plan.scene.turns if turn.step == "synthesize"]
    assert asked == [()]
    assert work.read_work(better) == read_tasks(PLAIN)
    worse = planned(cycle, cycle)
    (problem,) = json.loads(work.encode(worse)["plan.json"])["problems"]
    assert problem == "T1 and T2 depend on each other: T1 → T2 → T1"
    issue = work.encode(worse)["issues/01-t1-title-of-t1.md"].decode()
    assert f"> **The plan is wrong here:** {problem}." in issue


def test_the_words_of_the_author_stay_in_the_document():
    reply = dict(PLANNING.phases[-1].steps[0].reply)
    body = TASKS.format(PLAIN)
    assert parse.outline(tuple(reply.items()), body).answers["tasks"] == PLAIN.strip("\n")
    assert parse.read(tuple(reply.items()), body).found["tasks"] == ("T1: Write the schema", "T2: Read from it")


def test_a_debate_without_tasks_has_no_plan():
    board = load(*overlays.workflow_text("board"))
    assert work.read_work(Record(board, planned(PLAIN).plan)) is None
    assert WorkPlan().in_order() == ()
