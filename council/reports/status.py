"""How a document says in one line how its question was decided, by whom, and who dissents."""

from __future__ import annotations

from collections.abc import Iterator

from council.engine.planner import Plan
from council.engine.scene import Turn
from council.protocols import outcome as ending
from council.protocols.consensus import find_escalations, find_score_field
from council.protocols.dissenters import describe_dissenters, find_dissenters
from council.protocols.stances import CONSENSUS, CONSENSUS_WITH_DISSENT, assess, assess_stances
from council.record.session import Session
from council.record.turn_file import HAND
from council.reports import tally
from council.reports.front_matter import list_people, name_person
from council.reports.sources import name_seat
from council.text import join_words, one_line
from council.workflow import gates
from council.workflow.model import Seat

LONGEST_CHOICE = 120  # characters of a choice in a person's own words; the decision has all of them
ACCEPTED, PROPOSED, REJECTED = "accepted", "proposed", "rejected"
MODELS, PEOPLE, UNKNOWN = "models", "people", "models or people (entered by hand)"


def is_accepted(plan: Plan, written: bool) -> bool:
    """Whether the count, a rule or a person decided it, and the decision is `written`. Otherwise it is what somebody
    proposes."""
    now = assess(plan.scene)
    return (written or _is_adopted(plan)) and tally.is_carried(plan, now) and not tally.asked_no_stance(plan, now)


def name_status(plan: Plan, written: bool) -> str:
    """The status in a word: `accepted`, `proposed` or `rejected`."""
    denied = ending.find_denial(plan)
    if denied and denied.outcome in (gates.VETOED, gates.REJECTED):
        return REJECTED
    return ACCEPTED if is_accepted(plan, written) else PROPOSED


def describe_status(session: Session, plan: Plan, written: bool) -> str:
    """How the question was decided; then everybody who dissents, and who of those that were counted was not heard."""
    dissenters = find_dissenters(plan.scene)
    named = {one.turn.seat.name for one in dissenters}
    decided = _describe_decision(session, plan, bool(dissenters), written)
    against = describe_dissenters(dissenters, by_a_person=_is_adopted(plan))
    return "; ".join(filter(None, [decided, against, *_describe_silence(plan, named)]))


def _is_adopted(plan: Plan) -> bool:
    return any(one.adopted for one in find_escalations(plan.scene)[-1:])


def _describe_decision(session: Session, plan: Plan, dissent: bool, written: bool) -> str:
    phase, now = find_deciding_phase(session, plan), assess(plan.scene)
    if denied := ending.find_denial(plan):
        return f"{name_status(plan, written)} ({denied.verdict.reason})"
    if not (written or _is_adopted(plan)):
        return f"{PROPOSED} (the synthesis states no decision)"
    if find_score_field(session.workflow, phase):
        return _describe_scored(plan, phase)
    lack = tally.describe_lack(plan, now) or (tally.NO_STANCE if tally.asked_no_stance(plan, now) else "")
    if lack:
        return f"{PROPOSED} ({lack})"
    if now.stances and not now.own:
        return f"{ACCEPTED}{' with dissent' if dissent else ''}: {tally.format_votes(now)}"
    if now.own:
        return f"{ACCEPTED}: {ending.outcome(plan, now)} ({ending.reason(plan, now)})"
    return f"{ACCEPTED}: {ending.outcome(plan, now)}, as the {tally.name_author(plan)} recommends"


def _describe_scored(plan: Plan, phase: str) -> str:
    """How a phase ended in which everybody said how satisfied they are."""
    outcome = plan.scene.outcomes.get(phase, "not over")
    last = max((turn.round for turn in plan.scene.named(phase)), default=0)
    rounds = f"after {last} round{'' if last == 1 else 's'}"
    if outcome == CONSENSUS:
        dissent = assess_stances(plan.scene).outcome == CONSENSUS_WITH_DISSENT
        return f"accepted by {CONSENSUS_WITH_DISSENT if dissent else CONSENSUS} {rounds}"
    asked = [one for one in find_escalations(plan.scene) if (one.phase, one.round) == (phase, last)]
    if asked and asked[0].adopted:
        if not asked[0].choice:
            return f"ended by a person, who chose no option, {rounds} ({outcome})"
        return f"accepted: decided by a person, {one_line(asked[0].option, LONGEST_CHOICE)}, {rounds} ({outcome})"
    return f"undecided {rounds} ({outcome})"


def _describe_silence(plan: Plan, named: set[str]) -> Iterator[str]:
    now = assess(plan.scene)
    titles = {turn.seat.name: name_seat(turn.seat) for turn in plan.scene.turns}
    silent = [seat for seat, stance in now.stances.items() if stance is None and seat not in named]
    unheard = [titles.get(seat, seat) for seat in silent if seat not in now.unreadable]
    unread = [titles.get(seat, seat) for seat in silent if seat in now.unreadable]
    if unheard:
        yield f"{join_words(unheard)} {'were' if len(unheard) > 1 else 'was'} not heard"
    if unread:
        yield f"what {join_words(unread)} answered could not be read"


def find_deciding_phase(session: Session, plan: Plan) -> str:
    """The phase that decides: the last one that asks for scores, or else the last one before the synthesis."""
    phases = [name for name, _ in ending.rounds(plan)]
    scored = [name for name in phases if find_score_field(session.workflow, name)]
    return (scored or phases or [""])[-1]


# ---- by whom ----


def describe_deciders(
    session: Session, plan: Plan, members: list[Seat], written: bool, together: str = ""
) -> dict[str, str]:
    """Who decided it or only debated it, and whether each of them is a person or a model. The members are named one by
    one, or `together`."""
    people, heard = (list_people(session, plan, deciding=deciding) for deciding in (True, False))
    roles = _describe_roles(session, plan, members, together)
    if people:
        others = f"; debated by {roles}" if roles else ""
        return {"verb": "Decided by", "who": f"{join_words(map(_introduce, people))}{others}"}
    heard_too = f"; {join_words(map(_introduce, heard))} {'were' if len(heard) > 1 else 'was'} heard" if heard else ""
    return {
        "verb": "Decided by" if is_accepted(plan, written) else "Debated by",
        "who": f"{roles or 'nobody'}{heard_too or ('; no person took part' if PEOPLE not in roles else '')}",
    }


def _describe_roles(session: Session, plan: Plan, members: list[Seat], together: str) -> str:
    """`models in the roles of CTO and CFO`, with people by their names."""
    kinds: dict[str, list[str]] = {}
    for seat in members:
        turns = [turn for turn in plan.scene.turns if turn.seat.name == seat.name and not turn.absent]
        kind, name = _find_kind(session, turns[-1]) if turns else (MODELS, "")
        kinds.setdefault(kind, []).append(f"{name_seat(seat)} ({name})" if name else name_seat(seat))
    if together and len(kinds) == 1 and PEOPLE not in kinds:
        return f"{next(iter(kinds))} in the roles of {together}"
    named = {kind: list(dict.fromkeys(names)) for kind, names in kinds.items()}
    parts = [f"{kind} in the role{'s'[: len(names) - 1]} of {join_words(names)}" for kind, names in named.items()]
    return join_words(parts) if parts else ""


def _find_kind(session: Session, turn: Turn) -> tuple[str, str]:
    """Whether a person spoke for a seat, and their name; replies without a trace of a call may be anybody's."""
    receipt = session.receipts.get(turn.id)
    if turn.seat.is_person or (receipt and receipt.by):
        return PEOPLE, name_person(session, turn)
    by_hand = receipt is not None and receipt.recorded_by == HAND and not receipt.answered
    return (UNKNOWN if by_hand else MODELS), ""


def _introduce(person: str) -> str:
    return person if person == "a person" else f"{person} (a person)"
