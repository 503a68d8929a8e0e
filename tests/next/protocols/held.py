"""Debates of the kit that are held in memory, vote by vote, and what they came to."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import council.next
from council.next.engine.planner import Due, Plan
from council.next.engine.scene import Recorded
from council.next.protocols.outcome import Outcome
from council.next.replies.kinds import Choice, Ident, Items, Kind, Number, Signature, Text
from council.next.replies.write import write
from council.next.workflow import gates
from council.next.workflow.loader import load
from council.next.workflow.model import Workflow

KIT = Path(council.next.__file__).parent / "kit" / "Workflows"
MEMBERS = {"A": "architect", "D": "designer", "E": "engineer", "R": "researcher", "S": "security"}
Vote = Mapping[str, Any]  # by the member's letter: answers, None for an absence, or words that nobody can read


def kit(name: str, *gate: str, **options: Any) -> Workflow:
    workflow = load((KIT / f"{name}.md").read_text("utf-8"), f"{name}.md").with_options(options)
    return gates.insert(workflow, gate)


def signs(side: str, why: str = "", **answers: Any) -> dict[str, Any]:
    lists = {
        name: (value,) if isinstance(value, str) else tuple(value) for name, value in answers.items() if name in LISTS
    }
    return {"signs": Signature(side, why), **answers, **lists}


LISTS = ("conditions", "blocking", "rulings")


def usual(kind: Kind) -> Any:
    """An answer that decides nothing."""
    if isinstance(kind, Choice):
        return kind.options[0]
    if isinstance(kind, Number):
        return kind.low
    if isinstance(kind, Items):
        return ("something",) if kind.filled else ()
    return (
        "none"
        if isinstance(kind, Ident)
        else "some words"
        if isinstance(kind, Text)
        else Signature("undecided", "all of it")
    )


class Held:
    """Speaks for everybody. `votes` are those of the steps named; everybody else gives the usual answers."""

    def __init__(self, workflow: Workflow, seed: str = "seed", /, **votes: Any) -> None:
        self.plan, self.votes, self.tries = Plan(workflow, seed), votes, 0
        self.said: dict[str, Recorded] = {}
        self.briefs: dict[str, Due] = {}

    def reply(self, due: Due) -> Recorded:
        given = self.votes.get(due.step.name.replace("-", "_"), {})
        vote: Any = given[min(due.round, len(given)) - 1] if isinstance(given, list) else given
        letter = next((letter for letter, seat in MEMBERS.items() if seat == due.seat.name), due.seat.name)
        answers = vote.get(letter, vote.get("all", {}))
        if answers is None:
            return Recorded("", absent="no answer")
        if isinstance(answers, str):
            return Recorded(answers)
        by = answers.get("by", "")
        text = due.step.name == "positions" and f"What {due.seat.name} would do."
        usuals = {name: usual(kind) for name, kind in due.step.reply.items() if not kind.optional}
        if text and "recommendation" in usuals:
            usuals["recommendation"] = text
        if "normative" in usuals:
            usuals["normative"] = "no"
        if "follows" in usuals:
            usuals["follows"] = Outcome(self.plan).follows or "none"
        own = {name: value for name, value in answers.items() if name in due.step.reply}
        talk = answers.get("talk", f"{due.seat.name} speaks in round {due.round} of {due.step.name}, at some length.")
        return Recorded(write(due.step.reply, {**usuals, **own}, talk), by=by)

    def until(self, step: str = "") -> Held:
        """Hold the debate, up to the first turn of a step."""
        while self.plan.advance(self.said).due:
            for due in self.plan.due:
                if due.step.name == step:
                    return self
                self.said[due.id] = self.reply(due)
                self.briefs[due.id] = due
            assert len(self.said) < 2_000
        return self

    @property
    def outcome(self) -> Outcome:
        return Outcome(self.plan)


def debate(challenges: Vote, closing: Vote | None = None, *gate: str, **more: Any) -> Outcome:
    options = more.pop("options", {})
    held = Held(kit("Debate", *gate, **options), challenges=challenges, closing=closing or challenges, **more)
    return held.until().outcome


def standing(challenges: Vote, **more: Any) -> Outcome:
    """What the votes give before the closing round."""
    held = Held(kit("Debate"), challenges=challenges, **more).until("closing")
    return held.outcome
