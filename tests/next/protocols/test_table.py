"""The table of endings: each protocol and each way in which it ends, with what is counted. It is held, not written.

`scripts/update-golden -k endings` writes `endings-table.md` again. Read the diff before you commit it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from council.next.protocols.outcome import Outcome
from council.next.workflow.model import Ref, Workflow
from tests.next.debates import workflow_of
from tests.next.protocols.held import Held, Vote, kit, signs
from tests.next.protocols.test_endings import BLOCKS, ESCALATES, IF1, NONE, OFFER, OPEN, R1, recommended, says, scores
from tests.next.protocols.test_kit import stubs  # noqa: F401

TABLE = Path(__file__).with_name("endings-table.md")
HEAD = """\
# Endings

Each protocol and the ways in which it can end. In a debate, Architect, Designer, Engineer and Researcher recommend R1
to R4, in this order. A row says what happens, what is counted, the kind of the outcome, how the phases ended, who
decided, the status of the filed document, and the exit code.

| protocol | what happens | counted | kind | ended | decided by | status | exit |
|---|---|---|---|---|---|---|--:|
"""
Rows = Iterator[tuple[str, str, Outcome]]
NO = signs("R1", rulings="K1: reject: too dear")


def held(workflow: Workflow, **votes: Any) -> Outcome:
    return Held(workflow, **votes).until().outcome


def debates() -> Rows:
    def row(
        what: str, challenges: Vote, closing: Vote | None = None, *gates: str, **more: Any
    ) -> tuple[str, str, Outcome]:
        workflow = more.pop("workflow", None) or kit("Debate", *gates, **more.pop("options", {}))
        return "debate", what, held(workflow, challenges=challenges, closing=closing or challenges, **more)

    half = {"A": R1, "D": R1, "E": signs("R3"), "R": signs("R3")}
    approve, absent = {"human": {"gate": "approve"}}, {"A": R1, "E": R1, "D": None, "R": None}
    yield row("all sign one text", {"all": R1})
    yield row("all sign it, one if a condition holds", {"all": R1, "D": IF1})
    yield row(
        "the same, and half of the signers reject the condition",
        {"all": R1, "D": IF1, "R": signs("R4")},
        {"all": R1, "A": NO, "E": NO},
    )
    yield row("the condition is first named in the closing", {"all": R1, "R": signs("R4")}, {"all": R1, "D": IF1})
    yield row("one signs its own text", {"all": R1, "R": signs("own")})
    yield row("one signs its own text, and a condition holds", {"all": R1, "D": IF1, "R": signs("own")})
    yield row("one signs none", {"all": R1, "D": NONE})
    yield row("one blocks", {"all": R1, "D": BLOCKS})
    yield row("three block", {"all": BLOCKS, "A": R1})
    yield row("two texts with two signatures each", half)
    yield row("all are undecided", {"all": OPEN})
    yield row("one is absent in the closing", {"all": R1, "R": signs("R4")}, {"all": R1, "D": None})
    yield row("two are absent in the closing", {"all": R1, "R": signs("R4")}, absent)
    yield row("three speak and cannot be read", {"all": "I agree with everybody.", "A": R1})
    yield row("one member alone", {"all": R1}, workflow=kit("Debate").with_members(["architect"]))
    yield row("a person speaks for one member", {"all": R1, "D": {**R1, "by": "ada"}})
    yield row("all agree, and a person approves", {"all": R1}, None, "synthesis", synthesis_gate=approve)
    yield row("split, and a person approves", half, None, "synthesis", synthesis_gate=approve)
    yield row("a person vetoes", {"all": R1}, None, "synthesis", synthesis_gate={"human": {"gate": "veto"}})
    yield row(
        "a person rejects before the synthesis",
        {"all": R1},
        None,
        "challenges",
        challenges_gate={"human": {"gate": "reject"}},
    )
    yield row("nobody answers at a gate", {"all": R1}, None, "challenges", challenges_gate={"human": None})
    yield row("all agree, with `accept: person`", {"all": R1}, options={"accept": "person"})
    budget = replace(kit("Debate"), halt={"costly": Ref("spent", {"calls": "6"})})
    yield row("the workflow's own budget is used up", {"all": R1}, workflow=budget)


def counts_without_votes() -> Rows:
    yield "quick", "all are heard", held(kit("Quick"))
    yield "quick", "three of four are absent", held(kit("Quick"), positions={"A": None, "D": None, "E": None})
    for kept in ("kept", "broken", "partly"):
        yield "confirm", f"the specialist says {kept}", held(kit("Confirm"), check={"all": {"kept": kept}})
    yield "confirm", "the specialist is absent", held(kit("Confirm"), check={"all": None})
    for name in ("Patchlist", "Tree"):
        yield name.lower(), "all are heard", held(kit(name))
    until = {"chosen": {"vote": {"field": "ranking", "method": "majority"}}}
    ranked = workflow_of([{"name": "choose", "reply": {"ranking": "list"}, "until": until}])
    yield (
        "a ranked vote",
        "two of three prefer alder",
        held(ranked, choose={"all": {"ranking": ("alder",)}, "cy": {"ranking": ("birch",)}}),
    )
    each = {seat: {"ranking": (seat,)} for seat in ("ada", "bo", "cy")}
    yield "a ranked vote", "three prefer three candidates", held(ranked, choose=each)


def delphi() -> Rows:
    def row(what: str, *rounds: Vote) -> tuple[str, str, Outcome]:
        return "delphi", what, held(kit("Delphi"), positions=rounds[0], challenge=[*rounds[1:]] or rounds[0])

    three, two = says(A="yes", D="yes", E="yes", R="no", S="no"), says(A="yes", D="yes", E="no", R="no")
    yield row("all give one answer, blind", {"all": {"says": "yes"}})
    yield row("three to two, and nobody moves", three)
    yield row("one moves, then all give one answer", three, {**three, **says(R="yes")}, {"all": {"says": "yes"}})
    yield row("two to two, and one is absent", {**two, "S": None})
    yield row("three of five are absent", {**three, "A": None, "D": None, "R": None})


def board() -> Rows:
    respond = {"all": {**signs("R1"), "challenges": ("R2: too dear",), "ready": "no", "gist": "g"}}
    usual: dict[str, Any] = {"respond": respond, "position": recommended()}

    def row(what: str, name: str = "Board", **more: Any) -> tuple[str, str, Outcome]:
        return name.lower(), what, held(kit(name, max_rounds="4"), **{**usual, **more})

    ready = {"all": {**respond["all"], "ready": "yes"}}
    adopt = {"human": {"decision": "adopt", "option": "A", "guidance": "only until the runway is 9 months"}}
    guide = {"human": {"decision": "guide", "guidance": "mind the runway"}}
    yield row("two thirds move on", respond=ready)
    yield row("it goes in circles", review={"gate-reviewer": {"ruling": "halt", "repeating_rounds": 9}})
    yield row("its rounds are used up")
    yield row("it goes deeper, and a person adopts an option", review=ESCALATES, guidance=adopt)
    yield row("it goes deeper, and a person guides", review=ESCALATES, guidance=guide)
    yield row("it goes deeper, and the person is absent", review=ESCALATES, guidance={"human": None})
    yield row(
        "most of those who check the document find it inaccurate",
        check={"all": {"accurate": "no"}, "ceo": {"accurate": "yes"}},
    )
    for name in ("Planning-1", "Planning-2"):
        seats = [seat.name for group in ("planners", "specialists") for seat in kit(name).groups.get(group, ())]
        position = {seat: {"recommendation": f"What {seat} wants."} for seat in (*seats, "contrarian")}
        yield row("two thirds move on", name, respond=ready, position=position)


def consensus() -> Rows:
    def row(what: str, propose: Any, **more: Any) -> tuple[str, str, Outcome]:
        options = {"escalation": False} if not more else {}
        return "consensus", what, held(kit("Consensus", **options), propose=propose, **(OFFER if more else {}), **more)

    adopt = {"human": {"decision": "adopt", "option": "B", "reason": "the runway is 9 months"}}
    rising = [{"all": scores(min(85, 8 * round))} for round in range(1, 11)]
    deep = {"all": scores(50, fundamental="yes")}
    yield row("every seat reaches the target", {"all": scores(95)})
    yield row("the same, and one blocks", {"all": scores(95), "database": scores(95, blocking=("no backup",))})
    yield row("the same, and all block", {"all": scores(95, blocking=("no backup",))})
    yield row("nothing rises, and nobody is asked", {"all": scores(50)})
    yield row("its rounds are used up, and nobody is asked", rising)
    yield row("nothing rises, and a person adopts an option", {"all": scores(50)}, appeal=adopt)
    yield row("it is fundamental, and a person adopts an option", deep, appeal=adopt)
    yield row("its rounds are used up, and a person adopts an option", rising, appeal=adopt)
    more = [{"human": {"decision": "continue", "grant": 1}}]
    yield row("its rounds are used up, and a person grants one more", [*rising, {"all": scores(95)}], appeal=more)
    yield row("nothing rises, and the person is absent", {"all": scores(50)}, appeal={"human": None})
    yield row(
        "six of ten are absent",
        {"all": None, **dict.fromkeys(("database", "test", "S", "protocol"), scores(95))},
    )


def perspectives() -> Rows:
    cast = {"all": {"perspectives": ("Cost: what it costs", "Safety: what can fail"), "opposed": ("Cost, Safety",)}}

    def row(what: str, reading: str, options: dict[str, Any], **more: Any) -> tuple[str, str, Outcome]:
        votes = {"analyze": cast, "evaluate": {"all": {"reading": reading}}, **more}
        return "perspectives", what, held(kit("Perspectives", **options), **votes)

    alone = {"checkpoints": False}
    for reading in ("agreement", "stagnation", "clear-winner", "new-ground"):
        yield row(f"the moderator reads {reading}", reading, alone)
    yield row("a person ends it", "new-ground", {}, checkpoint={"human": {"decision": "end"}})
    yield row("the person is absent at a checkpoint", "new-ground", {}, checkpoint={"human": None})
    yield row("nobody is cast", "agreement", alone, analyze={"all": {"perspectives": ("Cost: what it costs",)}})
    lost = {"the-cost": None, "cost": None, "safety": None, "moderator": {"reading": "agreement"}}
    yield row("all perspectives are absent", "agreement", alone, argue=lost, rebut=lost)


def table() -> str:
    rows = [row for held_ in (debates, delphi, board, consensus, perspectives, counts_without_votes) for row in held_()]
    lines = []
    for name, what, found in rows:
        ended = ", ".join(f"{phase}: {how}" for phase, how in found.ended.items() if how != "done")
        cells = (
            name,
            what,
            found.reason,
            found.kind,
            ended,
            found.decided_by,
            found.status or "not filed",
            str(found.exit_code),
        )
        lines.append(f"| {' | '.join(cells)} |\n")
    return HEAD + "".join(lines)


@pytest.mark.usefixtures("stubs")
@pytest.mark.golden
def test_golden_table_of_endings() -> None:
    text = table()
    if os.environ.get("COUNCIL_UPDATE_GOLDEN"):
        TABLE.write_text(text, "utf-8")
    assert text == TABLE.read_text("utf-8"), "if that is meant, run scripts/update-golden -k endings"
