"""Every template of the kit renders for every step, round and ending that generated debates reach."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from council.next.config import places
from council.next.engine.planner import Due
from council.next.engine.scene import Recorded
from council.next.prompts.brief import Brief, freeze
from council.next.prompts.facts import facts
from council.next.prompts.sandbox import Sandbox, references
from council.next.record.session import Session
from council.next.replies.kinds import Choice, Number
from council.next.replies.write import write
from council.next.workflow.loader import load
from tests.next.debates import answer, any_reply
from tests.next.prompts.kit import KIT_TEMPLATES, begun, hold
from tests.next.protocols.held import KIT
from tests.next.protocols.test_kit import CORE, stubs

WITH_STUBS = stubs  # the kinds of answers and the words of the optional rooms
OPTIONS: dict[str, list[dict[str, Any]]] = {
    "Delphi": [{"control": True}],
    "Debate": [{"patchlist": True}, {"three_rounds": True}],
    "Perspectives": [{"checkpoints": True}, {"token_budget": 200}, {"checkpoints": False}],
    "Tree": [{"planning": "central"}, {"planning": "decentral"}],
}
MOST_SEEDS = 12
OTHERS = ("Planning-3", "Tree")  # of optional rooms, with templates of the core
CHOICES: dict[str, tuple[str, ...]] = {
    "perspectives": ("Performance: speed", "Simplicity: few parts"),
    "opposed": ("Performance, Simplicity",),
    "specialists": ("Database: it stores", "Protocol: it sends"),
}


def lively(due: Due, rng: random.Random) -> Recorded:
    """A reply that lets a debate go on: mostly whole, of any value, now and then without what was asked."""
    if rng.random() < 0.2:
        return any_reply(due, rng)
    given: dict[str, Any] = {
        name: CHOICES.get(name) or answer(kind, rng) for name, kind in due.step.reply.items() if rng.random() < 0.9
    }
    for name, kind in due.step.reply.items():
        if isinstance(kind, Number) and kind.high == 100:
            given[name] = rng.choice([40, 60, 89, 90, 95])
        elif isinstance(kind, Choice) and "new-ground" in kind.options and rng.random() < 0.7:
            given[name] = "new-ground"
        elif isinstance(kind, Choice) and "escalate" in kind.options and due.round > 2:
            given[name] = rng.choice(["escalate", "halt"])
    return Recorded(write(due.step.reply, given, f"Some words of {due.seat.name} in round {due.round}."))


def held(root: Path, name: str, seed: int) -> Iterator[tuple[Session, Due, Brief]]:
    rng = random.Random(seed)
    found: list[tuple[Due, Brief]] = []

    def speak(due: Due, brief: Brief) -> Recorded:
        found.append((due, brief))
        return lively(due, rng)

    gates = ["synthesis"] if seed % 2 and name not in ("Confirm", "Tree") else []
    options = OPTIONS.get(name, [{}])
    with begun(root, name, gates=gates, options=options[seed % len(options)], id=f"seed-{seed}") as session:
        hold(session, speak)
        yield from ((session, due, brief) for due, brief in found)


@pytest.mark.usefixtures("stubs")
@pytest.mark.parametrize("name", [*CORE, *OTHERS])
def test_every_step_has_its_brief(name: str, tmp_path: Path) -> None:
    steps, every, seed = set[str](), {""}, 0
    while seed < 2 or (every - steps and seed < MOST_SEEDS):
        for session, due, brief in held(tmp_path, name, seed):
            assert brief.shared.strip() or due.seat.is_person
            assert "\n\n\n" not in brief.text, (due.id, brief.text)
            assert session.key("cut", due.id) not in brief.text
            assert brief.text.count("# Now:") == 1, due.id
            for kind in due.step.reply.values():
                assert kind.placeholder() in brief.text, due.id
            assert ("# Once more" in brief.text) == (due.first is not None)
            steps.add(due.step.name)
            every = {step.name for step in session.workflow.steps()}
        seed += 1
    assert steps >= every, "debates never reach these"


def test_every_template_of_the_kit_is_reached_and_names_what_there_is() -> None:
    names = {name for name in KIT_TEMPLATES if not name.startswith("report/")}
    partials = {name for name in names if name.rpartition("/")[2].startswith("_")}
    included = {one for name in names for one in references(KIT_TEMPLATES[name])}
    assert included <= names
    assert partials - {"_task.md.j2"} <= included, "nothing includes these"
    sandbox = Sandbox(KIT_TEMPLATES)
    for name in names:
        unknown = {one for one in sandbox.names(name) if not facts.knows(one)} - {"cut"}
        assert not unknown, name


# What the people who asked for these protocols want each brief to say, in their words or nearly so.
ASKED_FOR = {
    "Debate": [
        "Your perspective focuses on: ",
        "first person",
        "specific and substantive",
        "key concern",
        "You will answer them in the next round",
        "I disagree with Marcus's point about",
        "Challenge assumptions",
        "build on what you agree with",
        "Keep your own perspective",
        "genuine friction: engage with their actual arguments",
        "Where does the council agree?",
        "Where do you still disagree",
        "final recommendation",
        "forced consensus is worse than acknowledged tension",
        "- B1: [issue] → [proposed change]",
        "what most members agreed on",
        "by the weight of the arguments",
    ],
    "Board": [
        "I think X, because Y",
        '"Looks good" without a reason is sent back',
        "Your dissent goes into the document",
        "Do not give in to save time, or to anybody's rank",
        "Stay within the question",
        "write no code",
        "those that the others have missed",
        "at least one, to what matters most",
        "If two thirds say yes",
        "has nothing new been said",
        "why it was not taken",
        "There is one round of corrections",
        "the ambitious version",
        "Stepping stone",
    ],
    "Consensus": [
        '"Add 50 ms at the 99th percentile", not "slower"',
        "For every problem, propose a solution",
        "do not stay just below",
        "say what you need from it",
        "If unsure, include it",
        "what exactly would raise your score",
        "fundamental trade-off",
        "The debate has stalled",
        "not building it",
    ],
    "Perspectives": [
        "two for a choice between two things, three or four",
        '"Time to Market", not "the product manager"',
        "pull in opposite directions",
        "the same arguments return",
        "one side prevails",
        "two always remain",
        "Call back perspectives that left the question",
        "create a workflow from this decision?",
        "continue, guide, or end?",
        "the confidence is low",
    ],
}


@pytest.mark.parametrize("name", ASKED_FOR)
def test_the_briefs_say_what_was_asked_for(name: str) -> None:
    workflow = load((KIT / f"{name}.md").read_text("utf-8"), name)
    words = " ".join(" ".join(freeze(workflow, [places.KIT]).values()).split())
    assert [one for one in ASKED_FOR[name] if one not in words] == []
