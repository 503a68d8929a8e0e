"""The kit's workflows: each loads, and every name in it is known with the arguments that it is given."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from council.next import extras, rooms
from council.next.checks.names import find_problems
from council.next.engine import registry
from council.next.engine.planner import Plan
from council.next.errors import UsageError
from council.next.replies import kinds
from council.next.workflow.model import Workflow
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


def examine(workflow: Workflow) -> None:
    assert find_problems(workflow) == []
    assert sum(any(name in step.reply for step in workflow.steps()) for name in ASKED_ONCE) <= 1
    assert Plan(workflow).advance({}).due


@pytest.mark.parametrize("name", CORE)
def test_a_workflow_of_the_core_names_only_what_there_is(name: str) -> None:
    examine(kit(name))


@pytest.mark.usefixtures("stubs")
@pytest.mark.parametrize("name", OPTIONAL)
def test_a_workflow_of_an_optional_room_loads_where_the_room_is(name: str) -> None:
    examine(kit(name))


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
