"""The answers that the program reads by name are declared as what they are read as, in every workflow."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import council.next
from council.next.errors import UsageError
from council.next.protocols.answers import ANSWERS
from council.next.protocols.outcome import Outcome
from council.next.replies.kinds import kind
from tests.next.debates import form, hold, workflow_of

PACKAGE = Path(council.next.__file__).parent
KINDS = ("text", "list", "code", "integer", "0-100", "id", "id | none", "vote", "yes | no")


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_of_another_kind_is_refused_by_its_place_and_name(name: str) -> None:
    wanted = {type(kind(one)) for one in ANSWERS[name]}
    for declared in KINDS:
        phases = [{"name": "talk", "steps": [{"name": "first"}, {"name": "second", "reply": {name: f"{declared} ?"}}]}]
        if type(kind(declared)) in wanted:
            assert name in [*workflow_of(phases).steps()][1].reply
            continue
        with pytest.raises(UsageError) as refused:
            workflow_of(phases)
        assert str(refused.value) == (
            f"test.md: phases[0] (talk): steps[1] (second): reply: {name} must be declared as "
            f'{" or ".join(ANSWERS[name])}, not as "{declared} ?"'
        )


def test_a_signature_that_may_be_left_out_is_not_asked_for_again() -> None:
    workflow = workflow_of([{"name": "talk", "reply": {"recommendation": "text", "signs": "vote ?"}}])
    plan = hold(workflow, lambda due: form(due, recommendation=f"What {due.seat.name} wants."))
    assert not any(turn.first for turn in plan.scene.turns)
    assert (Outcome(plan).kind, Outcome(plan).reason) == (
        "undecided",
        "nobody signs a text; ada, bo and cy spoke, signs unreadable",
    )


def test_every_answer_that_is_read_by_its_name_is_in_the_table() -> None:
    """Found where the code takes a name from answers, or lists the items of one."""
    read = set()
    for path in [*(PACKAGE / "protocols").glob("*.py"), *(PACKAGE / "engine").glob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Subscript) and ast.unparse(node.value).endswith("answers"):
                read |= {node.slice.value} if isinstance(node.slice, ast.Constant) else set()
            if isinstance(node, ast.Call) and node.args:
                called, last = ast.unparse(node.func), node.args[-1]
                names = [node.args[0]] if called.endswith("answers.get") else [last] if called == "items_of" else []
                read |= {one.value for one in names if isinstance(one, ast.Constant)}
    assert {"gate", "grant", "gist", "signs", "recommendation", "rulings", "accurate"} <= read
    assert read <= {*ANSWERS}
