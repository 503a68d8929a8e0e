"""Candidates: what is read as files, which version stands, and who is asked again."""

from __future__ import annotations

import pytest

from council.candidates.base import Base
from council.candidates.files import Files
from council.candidates.trials import find_trial
from council.candidates.versions import follow, lay
from council.checks.lint import lint
from council.engine.planner import Due, plan
from council.engine.scene import RecordedTurn
from council.workflow.loader import load
from tests.code_sessions import LOOP


def answer(due: Due) -> str:
    """The engineer passes at once, the architect in the second round."""
    if due.step.name == "draft":
        return f"src/{due.seat.name}.py\n```python\nround = {due.round}\n```\n"
    if due.step.name == "trial":
        passed = due.seat.about == "engineer" or due.round > 1
        return f"## Tests\n{'pass' if passed else 'fail'}\n## Passed\nnone\n## Failed\nnone\n"
    return "The second."


def test_only_red_candidates_are_asked_again() -> None:
    workflow, said = load(LOOP, "loop"), dict[str, RecordedTurn]()
    assert lint(workflow) == []
    batches, seen = list[list[str]](), list[str]()
    while (now := plan(workflow, said, "seed")).due:
        batches.append([due.id.partition("-")[2] for due in now.due])
        seen = [shown.turn.id for due in now.due for shown in due.sees]
        said |= {due.id: RecordedTurn(answer(due)) for due in now.due}
    assert batches == [
        ["loop-r01-1-draft/architect", "loop-r01-1-draft/engineer"],
        ["loop-r01-2-trial/tester-architect", "loop-r01-2-trial/tester-engineer"],
        ["loop-r02-1-draft/architect"],
        ["loop-r02-2-trial/tester-architect"],
        ["judge/architect"],
    ]
    assert seen == ["01-loop-r01-1-draft/engineer", "01-loop-r02-1-draft/architect"]
    ledger = follow(now.scene)
    standing = ledger.standing("architect")
    assert standing is not None
    assert (standing.number, standing.parent and standing.parent.number) == (2, 1)
    assert standing.files == Files({"src/architect.py": "round = 2\n"})
    assert lay(standing, Base({"README": b"x"})) == {"README": b"x", "src/architect.py": b"round = 2\n"}


SIEGE = """---
name: siege
description: Two drafts, an attack on each, a checker, and a defense only of what was broken.
seats:
  team: [architect, engineer]
  benches:
    - {tester: {of: team, speaker: shell, run: pytest}}
    - {besieger: {of: team, speaker: shell, run: pytest, tests: attack}}
    - {checker: {of: team, speaker: shell, run: ruff}}
phases:
  - {name: draft, sees: nothing, reply: {solution: files}}
  - {name: trial, seats: tester, sees: nothing, reply: {tests: pass | fail | unknown, passed: list, failed: list}}
  - {name: check, seats: checker, sees: nothing, reply: {tests: pass | fail | unknown, findings: list}}
  - {name: assault, seats: besieger, sees: nothing, reply: {tests: pass | fail | unknown, passed: list, failed: list}}
  - {name: defend, when: {passes: {step: trial, least: 1}}, order: ORDER, reply: {solution: files}}
  - {name: last, when: {passes: {step: trial, least: 2}}, seats: architect}
---
"""


def hold_siege(order: str, assault: str) -> list[str]:
    """The architect's draft passes, and is then attacked with this verdict. The engineer's passes nothing."""
    workflow, said = load(SIEGE.replace("ORDER", order), "siege"), dict[str, RecordedTurn]()
    while (now := plan(workflow, said, "seed")).due:
        for due in now.due:
            verdicts = {"trial": "pass" if due.seat.about == "architect" else "fail", "assault": assault}
            tried = f"## Tests\n{verdicts.get(due.step.name, 'fail')}\n## Passed\nnone\n## Failed\nnone\n"
            written = f"a.py\n```python\n{due.id!r}\n```\n"
            body = f"{tried}## Findings\n- a.py:1: unused\n" if due.seat.name.startswith("checker") else tried
            said |= {due.id: RecordedTurn(written if due.step.reply[0][0] == "solution" else body)}
    ledger = follow(now.scene)
    assert ledger.is_green(ledger.versions["architect"][0]), "a checker makes nothing red"
    return [id for id in said if "defend" in id or "last" in id]


def test_only_what_a_bench_said_exactly_so_is_asked_again() -> None:
    exactly, usual = "{still: {of: assault, exactly: true}}", "{still: {of: assault}}"
    assert hold_siege(exactly, "fail") == ["05-defend/architect", "05-defend/engineer"]
    assert hold_siege(exactly, "unknown") == []
    assert hold_siege(usual, "unknown") == ["05-defend/architect", "05-defend/engineer"]
    assert hold_siege(usual, "pass") == []


BESIEGED = """---
name: besieged
description: A draft, and an attack on it.
seats:
  team: [architect]
  critics: [{red: {of: team, persona: engineer}}]
  benches: [{besieger: {of: team, speaker: shell, run: pytest, tests: attack, persona: executor}}]
phases:
  - {name: draft, seats: team, sees: nothing, reply: {solution: files}}
  - {name: attack, seats: red, sees: nothing, reply: {attack: files}}
  - {name: assault, seats: besieger, sees: nothing, reply: {tests: pass | fail, passed: list, failed: list}}
  - {name: defend, order: {still: {of: assault, exactly: true}}, seats: team, reply: {solution: files}}
---
"""


@pytest.mark.parametrize(
    ("path", "failed", "red"),
    [
        ("tests/test_x.py", "tests/test_x_attack1.py::test_x", 1), ("tests/test_x.py", "tests/test_x_attack1.py", 0),
        ("tests/test_x.py", "tests/test_y.py", 0), ("tests/x.test.js", "tests/x_attack1.test.js::adds", 1),
        ("tests/x.test.js", "tests/x_attack1.test.js", 0), ("sum/x_test.go", "sum::TestX", 1),
        ("sum/x_test.go", "sum", 0), ("x_test.go", "::TestX", 1),
    ],
)  # fmt: skip
def test_an_attack_counts_only_if_a_test_of_it_fails(path: str, failed: str, red: int) -> None:
    """A file that cannot be imported is named itself: it would be red on every candidate, and shows no weakness."""
    workflow, said = load(BESIEGED, "besieged"), dict[str, RecordedTurn]()
    while (now := plan(workflow, said, "seed")).due:
        for due in now.due:
            written = f"{path}\n```python\ndef test_x(): assert 0\n```\n"
            told = f"## Tests\nfail\n## Passed\nnone\n## Failed\n- {failed}\n"
            said |= {due.id: RecordedTurn(told if due.step.name == "assault" else written)}
    assert ("04-defend/architect" in said) == bool(red)
    assert len(follow(now.scene).accepted.get("architect", [])) == red


def test_an_attack_that_cannot_be_laid_out_is_left_out() -> None:
    """Else an attacker could make any candidate red that it has read."""
    workflow, said = load(BESIEGED, "besieged"), dict[str, RecordedTurn]()
    project = Base({"a.py": b"", "src/b.py": b""}, {"tests/test_calc.py": b""})
    paths = ("sum.py/test_a.py", "tests/test_b.py", "tests/test_calc.py/test_c.py", "tests/test_d.pth")
    attack = "".join(f"File: `{path}`\n```python\ndef test_x(): assert 0\n```\n" for path in paths)
    words = {"draft": "sum.py\n```python\ndef add(): ...\n```\n", "attack": attack}
    while (now := plan(workflow, said, "seed")).due[0].step.name in words:
        said |= {due.id: RecordedTurn(words[due.step.name]) for due in now.due}
    trial = find_trial(now.due[0], project)
    assert (trial.misfit, trial.run) == ("", ("tests/test_b_attack1.py",))
    assert sorted(trial.tests) == ["tests/test_b_attack1.py", "tests/test_calc.py"]


ELECTION = """---
name: election
description: Two drafts, a vote, and hidden tests.
seats:
  team: [architect, engineer]
  benches:
    - {tester: {of: team, speaker: shell, run: pytest}}
    - {examiner: {of: team, speaker: shell, run: pytest, tests: hidden}}
phases:
  - {name: draft, sees: nothing, reply: {solution: files}}
  - {name: trial, seats: tester, sees: nothing, reply: {tests: pass | fail | tampered | timeout | unknown}}
  - {name: rank, seats: team, reply: {ranking: list}, until: {chosen: {vote: {field: ranking, method: plurality}}}}
  - name: exam
    seats: examiner
    order: winner
    sees: nothing
    reply: {tests: pass | fail | tampered | timeout | unknown}
---
"""


@pytest.mark.parametrize(
    ("green", "ballots", "examined"),
    [
        (("architect", "engineer"), ("engineer", "engineer"), ["examiner-engineer"]),
        (("engineer",), ("architect", "engineer"), ["examiner-engineer"]),
        (("architect", "engineer"), ("architect", "engineer"), []),
    ],
    ids=["elected", "a tie, and only one is green", "a tie"],
)
def test_hidden_tests_run_on_the_winner_alone(
    green: tuple[str, ...], ballots: tuple[str, ...], examined: list[str]
) -> None:
    workflow, said = load(ELECTION, "election"), dict[str, RecordedTurn]()
    assert lint(workflow) == []
    words = dict(zip(("architect", "engineer"), ballots, strict=True))
    seats = list[str]()
    while (now := plan(workflow, said, "seed")).due:
        for due in now.due:
            verdict = "pass" if due.seat.about in green else "fail"
            text = {"draft": answer(due), "rank": f"## Ranking\n- {words.get(due.seat.name)}\n"}
            said[due.id] = RecordedTurn(text.get(due.step.name, f"## Tests\n{verdict}\n"))
        seats = [due.seat.name for due in now.due if due.step.name == "exam"]
    assert seats == examined
