"""The two agents that members are, and what they know of themselves: only their brief says who they are."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from council.config import overlays, personas
from council.engine.planner import Due, plan
from council.prompts import brief as briefs
from council.record import session
from council.speakers.registry import machine_of
from council.workflow.model import Seat
from tests import coding
from tests.helpers import User
from tests.scripted import Played, names, played

ROOT = Path(__file__).resolve().parent.parent
AGENTS = sorted((ROOT / "agents").glob("*.md"))
PERSONAS = personas.parse((ROOT / "AgentPersonalities.md").read_text("utf-8"), "AgentPersonalities.md")
CONTROL = "control"  # answers the bare question, so that the debate's answer can be compared with one of no persona
SCRIPTED = [name for name in names() if name.split("/")[0] in overlays.workflows()]


def test_there_are_two_agents_whatever_the_number_of_personas() -> None:
    assert [path.name for path in AGENTS] == ["council-chair.md", "council-member.md"]


@pytest.mark.parametrize("path", AGENTS, ids=lambda path: path.name)
def test_an_agent_has_no_tools_and_reads_nothing_but_its_brief(path: Path) -> None:
    written, text = path.read_text("utf-8").split("---\n", 2)[1:]
    keys = yaml.safe_load(written)
    assert keys == {
        "name": path.stem, "description": keys["description"], "model": "sonnet", "tools": [], "omitClaudeMd": True,
    }  # fmt: skip
    assert '\ndescription: "' in written, "an unquoted colon makes some clients drop the agent in silence"
    assert len(keys["description"]) < 80, "every conversation pays for it, council or not"
    assert "answer with these two words alone: no brief" in " ".join(text.split())
    assert "council brief SESSION TURN" in text


# ---- the persona is in the brief ----


def described(seat: Seat) -> str:
    """The perspective of a seat that the kit has a persona for."""
    return str(PERSONAS.get(seat.persona, {}).get("perspective", ""))


def begin(user: User, workflow: str, debate: Played | None = None) -> session.Session:
    program = debate.script.workflow if debate else None
    seats = tuple(seat.name for seat in program.members) if program else ()
    if coding.tries_code(workflow):
        return session.open_(coding.start_kit(user, workflow, only=seats, options=program.options if program else {}))
    only = [f"--only={','.join(seats)}"] if seats else []
    given = [f"-o{name}={str(value).lower()}" for name, value in program.options.items()] if program else []
    ended = user.council("start", "--workflow", workflow, *only, *given, "Shall we follow spec.md?")
    assert ended.code == 0, ended.text
    return session.open_(user.session)


@pytest.mark.parametrize("name", SCRIPTED)
def test_every_brief_of_a_debate_says_who_its_seat_is(name: str, tmp_path: Path) -> None:
    """Of each step the first brief of each seat, and those of the last batch."""
    debate = played(name)
    found = begin(User(tmp_path), name.split("/", maxsplit=1)[0], debate)
    first = {
        (one.step.name, one.seat.name): at for at, batch in reversed([*enumerate(debate.batches)]) for one in batch
    }
    batches = sorted({*first.values(), len(debate.batches) - 1})
    plans = [plan(found.workflow, debate.before(batch), debate.script.seed) for batch in batches]
    due = [one for now in plans for one in now.due if is_member(one) and one.seat.name != CONTROL]
    assert {one.id for one in due} >= {one.id for one in debate.batches[0] if is_member(one)}
    assert [one.id for one in due if " ".join(described(one.seat).split()) not in text_of(found, one)] == []


def is_member(due: Due) -> bool:
    """Neither a person nor a machine: a model that has to be told who it is."""
    return not (due.of_a_person or machine_of(due.seat))


def text_of(found: session.Session, due: Due) -> str:
    shared, own, _ = briefs.render(found, due)
    return " ".join(f"{shared}{own}".split())


@pytest.mark.parametrize("workflow", sorted(overlays.workflows()))
def test_the_first_briefs_of_every_workflow_say_who_their_seats_are(workflow: str, tmp_path: Path) -> None:
    user = User(tmp_path)
    user.write("spec.md", "A plan.")
    found = begin(user, workflow)
    due = found.plan().due
    assert due
    for one in filter(is_member, due):
        assert described(one.seat), f"{one.seat.name} has no persona"
        assert " ".join(described(one.seat).split()) in text_of(found, one)
