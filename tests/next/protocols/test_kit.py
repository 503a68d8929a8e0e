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
from tests.next.protocols.held import KIT, Held, kit

STUBS = Path(__file__).parent.parent / "stubs"
CORE = ("Debate", "Quick", "Delphi", "Board", "Consensus", "Perspectives", "Planning-1", "Planning-2", "Confirm")
OPTIONAL = ("Patchlist", "Planning-3", "Code", "Reflexion", "RedBlue", "Evolve", "Tree")
BESIDE = ("AgentPersonalities.md", "Config.md", "SPEC.md")
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


@pytest.mark.parametrize("name", CORE)
def test_a_workflows_text_names_each_way_in_which_its_rounds_end(name: str) -> None:
    workflow = kit(name)
    body = body_of("Board" if name.startswith("Planning") else name)
    for phase in workflow.phases:
        if phase.numbered and not phase.role and workflow.span(phase)[1] > 1:
            assert {f"*{ending}*" for ending in (*phase.until, "limit")} <= {*re.findall(r"\*[a-z-]+\*", body)}


def test_security_has_the_last_word_and_the_domain_is_shuffled_in_rounds_1_4_7_and_10() -> None:
    never = {"satisfaction_score": 50, "fundamental": "no"}
    going_on = {"decision": "continue", "grant": 0, "option": "A"}
    held = Held(kit("Consensus", analysis=False), propose={"all": never}, appeal={"all": going_on}).until()
    order: dict[int, list[str]] = {}
    for turn in held.plan.scene.named("propose"):
        order.setdefault(turn.round, []).append(turn.seat.name)
    assert [*order] == [*range(1, 11)]
    assert {tuple(seats[-4:]) for seats in order.values()} == {("observability", "operations", "test", "security")}
    domain = [seats[:-4] for seats in order.values()]
    assert domain[0] == domain[1] == domain[2] != domain[3] == domain[4] == domain[5]
    assert domain[5] != domain[6] == domain[7] == domain[8] != domain[9]


@pytest.mark.parametrize("word", ["stance", "*mixed*", "*cap*", "*unmoved*", "max-iterations", "conformed", "settled*"])
def test_no_workflows_text_uses_a_word_that_is_gone(word: str) -> None:
    for path in KIT.glob("*.md"):
        assert word not in body_of(path.stem).lower(), path.name


@pytest.mark.parametrize("name", [*CORE, *OPTIONAL, "Recovery"])
def test_a_workflows_text_is_clean_and_leads_where_it_says(name: str) -> None:
    body = body_of(name)
    assert {*re.findall(r"`([A-Z][A-Za-z0-9]+\.md)`", body)} <= {*(path.name for path in KIT.glob("*.md")), *BESIDE}
    lines = body.splitlines()
    assert not any(line != line.rstrip() or "\t" in line for line in lines)
    assert max(len(line) for line in lines if not line.startswith("|")) <= 140
    for line, before in zip(lines[1:], lines, strict=False):
        assert not line.startswith("#") or not before, f"{line}: a heading needs an empty line above it"


def body_of(name: str) -> str:
    text = (KIT / f"{name}.md").read_text("utf-8")
    return text.split("\n---\n", 1)[1] if text.startswith("---") else text


@pytest.mark.parametrize("word", ["mixed", "stance", "dissent_kept", "cites", "disagreement", "outcome"])
def test_no_workflow_uses_a_word_that_is_gone(word: str) -> None:
    for path in KIT.glob("*.md"):
        frontmatter = path.read_text("utf-8").split("\n---\n")[0]
        assert not re.search(rf"\b{word}\b", frontmatter), path.name
