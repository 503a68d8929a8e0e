"""The kit's workflows: each loads, and every name in it is known with the arguments that it is given."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from council.next import extras, rooms
from council.next.engine import registry
from council.next.engine.planner import Plan
from council.next.errors import UsageError
from council.next.replies import kinds
from council.next.workflow.loader import read_condition
from council.next.workflow.model import AllOf, AnyOf, Cast, Condition, Not, Ref, Workflow
from tests.next.protocols.held import KIT, kit

STUBS = Path(__file__).parent.parent / "stubs"
CORE = ("Debate", "Quick", "Delphi", "Board", "Consensus", "Perspectives", "Planning-1", "Planning-2", "Confirm")
OPTIONAL = ("Patchlist", "Planning-3", "Code", "Reflexion", "RedBlue", "Evolve", "Tree")
# Answers that a person or the program reads by name, of which each has one meaning in every workflow.
ASKED_ONCE = ("signs", "says", "satisfaction_score")


@pytest.fixture
def stubs(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(extras, "__path__", [*extras.__path__, str(STUBS)])
    rooms.of_the_kit.cache_clear()
    words = (registry.rules, registry.orders, registry.views, registry.checks, kinds.NAMED)
    before = [dict(known) for known in words]  # type: ignore[call-overload]
    yield
    for known, names in zip(words, before, strict=True):
        for name in {*known} - {*names}:
            del known[name]
    for name in [name for name in sys.modules if name.startswith("council.next.extras.optional")]:
        del sys.modules[name]
    rooms.of_the_kit.cache_clear()


def refs(condition: Condition | None) -> Iterator[Ref]:
    if isinstance(condition, AnyOf | AllOf):
        for one in condition.of:
            yield from refs(one)
    elif isinstance(condition, Not):
        yield from refs(condition.of)
    elif condition:
        yield condition


def check_rule(ref: Ref, workflow: Workflow) -> None:
    for parameter, value in registry.rules.arguments(ref):
        if parameter.annotation == "Place":
            assert value in workflow.places()
        elif "Condition" in str(parameter.annotation) and isinstance(value, dict):
            for inner in refs(read_condition(value, None)):  # type: ignore[arg-type]
                check_rule(inner, workflow)


def examine(workflow: Workflow) -> None:
    conditions: list[Any] = [*workflow.halt.values()]
    for phase in workflow.phases:
        conditions += [phase.when, *phase.until.values(), *(step.when for step in phase.steps)]
        for step in phase.steps:
            list(registry.orders.arguments(step.order))
            for seen in step.sees:
                if seen.name not in workflow.places():
                    list(registry.views.arguments(seen))
            for seat in step.seats:
                if isinstance(seat, Cast):
                    name, _, answer = seat.source.partition(".")
                    assert answer in next(one.reply for one in workflow.steps() if one.name == name)
    for condition in conditions:
        for ref in refs(condition):
            check_rule(ref, workflow)
            for place in ref.args if ref.name == "ended" else ():
                assert place in workflow.places()
    assert sum(any(name in step.reply for step in workflow.steps()) for name in ASKED_ONCE) <= 1


@pytest.mark.parametrize("name", CORE)
def test_a_workflow_of_the_core_names_only_what_there_is(name: str) -> None:
    workflow = kit(name)
    examine(workflow)
    assert Plan(workflow).advance({}).due


@pytest.mark.usefixtures("stubs")
@pytest.mark.parametrize("name", OPTIONAL)
def test_a_workflow_of_an_optional_room_loads_where_the_room_is(name: str) -> None:
    workflow = kit(name)
    examine(workflow)
    assert Plan(workflow).advance({}).due


@pytest.mark.parametrize("name", OPTIONAL)
def test_and_where_it_is_not_the_missing_word_is_named(name: str) -> None:
    with pytest.raises(UsageError, match=r'unknown key "(run|under)"|"(findings|tasks)" is not a kind of answer'):
        kit(name)


def test_every_workflow_of_the_kit_is_tried() -> None:
    assert {path.stem for path in KIT.glob("*.md")} - {"Recovery"} == {*CORE, *OPTIONAL}


@pytest.mark.parametrize("word", ["mixed", "stance", "dissent_kept", "cites", "disagreement", "outcome"])
def test_no_workflow_uses_a_word_that_is_gone(word: str) -> None:
    for path in KIT.glob("*.md"):
        frontmatter = path.read_text("utf-8").split("\n---\n")[0]
        assert not re.search(rf"\b{word}\b", frontmatter), path.name
