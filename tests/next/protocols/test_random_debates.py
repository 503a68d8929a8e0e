"""Any debate of any workflow of the core: what was counted was declared, and everything is the same from the files."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from council.next.engine.planner import Due, Plan
from council.next.engine.scene import Recorded, Turn
from council.next.protocols.ids import Register
from council.next.protocols.outcome import STATUS, Outcome
from council.next.replies.kinds import Signature
from council.next.text import fold
from council.next.workflow.model import Ref, Workflow
from tests.next.debates import any_reply, facts
from tests.next.protocols.held import kit

NAMES = ("Debate", "Quick", "Delphi", "Board", "Consensus", "Perspectives", "Planning-1", "Planning-2", "Confirm")
GATED = ("approved", "rejected", "vetoed", "unanswered")
LETTERS = "abcdefghijklmnopqrstuvwxyz"
ENOUGH = {"Debate": 24, "Quick": 6, "Delphi": 12, "Board": 10, "Consensus": 4, "Perspectives": 6, "Confirm": 4}


def workflow_of(name: str, rng: random.Random) -> Workflow:
    options = (
        {"max_rounds": rng.choice(["2", "4"])} if name in ("Board", "Consensus", "Planning-1", "Planning-2") else {}
    )
    gate = rng.choice([(), (), ("synthesis",)]) if name != "Confirm" else ()
    return kit(name, *gate, **options)


def hold(workflow: Workflow, rng: random.Random) -> tuple[Plan, dict[str, Recorded], dict[str, Due]]:
    """A debate in which turns come in one by one, in any order."""
    plan, said, asked = Plan(workflow, "seed"), dict[str, Recorded](), dict[str, Due]()
    while plan.advance(said).due:
        due = rng.choice(plan.due)
        ids = tuple(Register.of(plan.scene).items) or ("R1", "K1")
        said[due.id], asked[due.id] = any_reply(due, rng, ids), due
        assert len(said) < 1_500
    return plan, said, asked


@pytest.mark.parametrize(("name", "seed"), [(name, seed) for name in NAMES for seed in range(ENOUGH.get(name, 4))])
def test_any_debate(name: str, seed: int) -> None:
    examine(name, seed)


@pytest.mark.full
@pytest.mark.parametrize("block", range(100))
def test_ten_thousand_debates(block: int) -> None:
    for seed in range(100):
        examine(NAMES[seed % len(NAMES)], 1_000 + 100 * block + seed)


def examine(name: str, seed: int) -> None:
    rng = random.Random(f"{name} {seed}")
    workflow = workflow_of(name, rng)
    plan, said, asked = hold(workflow, rng)
    found = Outcome(plan)
    assert found.kind in STATUS
    assert found.status in {*STATUS.values(), "accepted on conditions, with dissent"}
    check_votes(found, plan)
    check_result(found, plan)
    check_calls(plan, name)
    for again in (Plan(workflow, "seed").advance(said), in_another_order(workflow, said, rng)):
        assert facts(again) == facts(plan)
        assert Outcome(again).as_data() == found.as_data()
    blind = [due for due in asked.values() if due.step.sees == (Ref("nothing"),)]
    assert blind or name == "Perspectives"
    assert not any(due.sees for due in blind), "nobody reads anything in a blind round, nor for a second try"
    check_cut(workflow, said, asked, rng)


def in_another_order(workflow: Workflow, said: dict[str, Recorded], rng: random.Random) -> Plan:
    """The same replies, which come in as another day would have it."""
    plan, come = Plan(workflow, "seed"), dict[str, Recorded]()
    while plan.advance(come).due:
        for due in rng.sample(plan.due, rng.randint(1, len(plan.due))):
            come[due.id] = said[due.id]
    return plan


def check_result(found: Outcome, plan: Plan) -> None:
    """Standing, status, who decided, endings and confidence, each written once more from its own definition."""
    assert found.kind == found.standing, "once a debate is over, nothing is open"
    members = {one.seat: one for one in found.count.voices}
    assert not {one.seat for one in found.dissents} & {one.seat for one in found.count.agreeing}
    assert {one.seat for one in found.dissents} <= {*members} | {one.by.seat for one in found.blocking}
    gates = [turn.answers.get("gate") for turn in plan.scene.turns if turn.step.endswith("-gate") and not turn.absent]
    adopted = any(turn.seat.is_person and turn.answers.get("decision") == "adopt" for turn in plan.scene.turns)
    if found.kind in ("vetoed", "rejected"):
        assert gates[-1] == {"vetoed": "veto", "rejected": "reject"}[found.kind]
    if found.kind == "decided by a person":
        assert adopted or gates[-1:] == ["approve"]
    by = {"vetoed": "person", "rejected": "person", "decided by a person": "person"}
    approved = gates[-1:] == ["approve"]
    for kind in ("agreed", "agreed on conditions", "agreed with dissent"):
        by[kind] = "both" if approved else "models"
    assert found.decided_by == by.get(found.kind, "")
    if found.status.startswith("accepted"):
        assert found.kind in by
        assert found.kind not in ("vetoed", "rejected")
    assert (found.converged is None) == (not found.count.of)
    assert not found.converged or found.kind in ("agreed", "agreed on conditions")
    for phase in plan.workflow.phases:
        ending = found.ended.get(phase.name)
        assert ending is None or ending in (*phase.until, "limit", "done", plan.halted, *GATED)
    most = {"split": 0, "undecided": 0, "insufficient": 0}.get(found.kind, 1 if found.dissents else 2)
    words = ("low", "medium", "high")
    assert found.confidence == (words[min(most, words.index(found.confidence_said))] if found.confidence_said else "")
    assert found.exit_code == (3 if found.kind in ("stopped", "insufficient") else 0)


def check_calls(plan: Plan, name: str) -> None:
    """No step speaks more often than its workflow says, whatever is answered. Second tries are counted apart."""
    spoken = Counter(turn.step for turn in plan.scene.turns)
    rounds = int(plan.workflow.options.get("max_rounds", 1))
    members = len(plan.workflow.seats(group for group in plan.workflow.groups if group not in ("gate", "pen")))
    if name in ("Board", "Planning-1", "Planning-2"):
        authors = 0 if name == "Board" else 1  # who writes the synthesis is a member too, and does not check it
        most = {"respond": members * rounds, "poll": members * (rounds - 1), "review": rounds - 1}
        most |= {"position": 5, "two-versions": 1, "synthesize": 2, "check": 2 * (members - authors)}
        assert all(spoken[step] <= many for step, many in most.items())
    elif name == "Delphi":
        assert spoken["positions"] == 5
        assert spoken["challenge"] in (0, 5, 10)
    elif name == "Debate":
        assert spoken["positions"] + spoken["challenges"] == 8
        assert spoken["closing"] in (0, 4)
        assert spoken["synthesis"] == 1


def check_votes(found: Outcome, plan: Plan) -> None:
    """Against a count that is written once more, from the declared answers alone."""
    turns = {turn.id: turn for turn in plan.scene.turns}
    asked = found.count.asked
    for one in found.count.voices:
        turn = turns[one.turn]
        assert one.silence or asked in turn.answers
        assert not (one.agrees and (turn.absent or one.blocking or one.refused))
    if found.count.target is not None:
        reached = [turns[one.turn].answers.get(asked, -1) >= found.count.target for one in found.count.voices]
        assert not found.kind.startswith("agreed") or all(reached)
        return
    sides = recount(plan, asked)
    votes = [sides[one.turn] for one in found.count.voices]
    assert votes == [one.side for one in found.count.voices]
    agreeing = {one.side for one in found.count.agreeing}
    assert len(agreeing) <= 1, "two who want different texts never agree"
    if found.kind.startswith("agreed"):
        assert 2 * Counter(votes)[found.follows] > len(votes)
        assert 2 * len(found.count.agreeing) > len(votes)
    if found.kind in ("agreed", "agreed on conditions"):
        assert not found.dissents
        assert not found.blocking


def recount(plan: Plan, asked: str) -> dict[str, str]:
    """What each turn signs, by a second and simpler reading of the rules."""
    ids: dict[str, str] = {}  # by the words of a text
    owner: dict[str, str] = {}
    own: dict[str, str] = {}
    replaced: set[str] = set()
    listed: set[str] = set()
    sides: dict[str, str] = {}
    vote: tuple[object, set[str]] = (None, set())
    for batch in plan.scene.batches:
        writer = plan.workflow.phase("synthesis")
        if writer and (batch[0].phase, batch[0].step) == (writer.name, writer.steps[0].name):
            continue
        for turn in batch:
            sides[turn.id] = signed_by(turn, asked, ids, own, listed)
        for turn in batch:
            words = fold(str(turn.answers.get("recommendation") or ""))
            seat = turn.seat.name
            if words and words not in ids:
                old = own.get(seat, "")
                if old and owner[old] == seat:
                    letter = LETTERS[list(owner.values()).count(seat)]
                    ids[words] = old.rstrip(LETTERS) + letter
                    replaced.add(old)
                else:
                    ids[words] = f"R{1 + len({id.rstrip(LETTERS) for id in ids.values()})}"
                owner[ids[words]] = seat
            if words:
                own[seat] = ids[words]
            if sides[turn.id] == "own":
                sides[turn.id] = own[seat]
        if asked == "signs" and "signs" in batch[0].asked:
            before = vote[1] if vote[0] == batch[0].moment else set()
            vote = (batch[0].moment, before | {sides[turn.id] for turn in batch})
        listed = {id for id in owner if id not in replaced or id in vote[1]}
    return sides


def signed_by(turn: Turn, asked: str, ids: dict[str, str], own: dict[str, str], listed: set[str]) -> str:
    given = turn.answers.get(asked)
    if not isinstance(given, Signature):
        return str(given) if given is not None else ""
    new = fold(str(turn.answers.get("recommendation") or ""))
    mine = own.get(turn.seat.name, "")
    if new and new not in ids and given.side in ("own", "none", mine):
        return "own"
    if given.side == "own":
        return ids.get(new, mine)
    return given.side if given.side in ("none", "undecided") or given.side in listed else ""


def check_cut(workflow: Workflow, said: dict[str, Recorded], asked: dict[str, Due], rng: random.Random) -> None:
    """A part of the record never decides, and who is asked again after a loss reads what it would have read. That a
    second try alone is lost shows in the links of later turns, so here it is lost with its first."""
    lost = {id for id in said if rng.random() < 0.3}
    kept = {id: one for id, one in said.items() if id.removesuffix(".2") not in lost}
    part = Plan(workflow, "seed").advance(kept)
    for due in part.due:
        assert due == asked[due.id]
    if part.due:
        found = Outcome(part)
        assert (found.kind, found.status) == ("", "")
