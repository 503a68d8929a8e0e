"""The heading of a debate: what it is, who sits, how many rounds it has, and what readers must know of its models."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from council.engine.planner import Plan
from council.protocols import outcome
from council.protocols.mind_changes import is_control
from council.protocols.specialists import is_analysis, list_table
from council.record.session import Session
from council.reports import in_force
from council.reports.model import Fact
from council.speakers import registry
from council.text import one_line
from council.workflow.model import Seat


def kind(session: Session) -> str:
    """The kind of debate: its workflow, as a title."""
    return outcome.heading(session.workflow.name)


def title(session: Session) -> str:
    return one_line(session.metadata["topic"], 200)


def facts(
    session: Session, cast: Iterable[Seat] = (), longest: int | None = None, plan: Plan | None = None
) -> Iterator[Fact]:
    """The heading of every transcript. It contains no path: the same record gives the same bytes anywhere.

    `longest` is how many characters of each member's name are shown. With the `plan` of a debate that is over, the
    rounds are those that there were.
    """
    yield Fact("Session ID", session.id)
    yield Fact("Council Members", _list_members(session, cast, longest))
    spoken = len(outcome.rounds(plan)) if plan is not None and plan.done else None
    yield Fact("Rounds", _rounds_planned(session) if spoken is None else str(spoken))
    if note := _small_print(session):
        yield Fact("Model", note, caution=True)
    if used := in_force.describe_without_paths(session):
        note = f"{used}: files that were used in place of council's own"
        yield Fact("Overlays", used, caution=used.startswith("project"), note=note)
    if source := session.metadata.get("replay_of"):
        yield Fact("Replay of", f"{one_line(str(source))} (recorded replies, not a new debate)", caution=True)
    elif replayed := count_replayed(session):
        yield Fact("Replayed", f"{replayed} (recorded replies, not spoken in this debate)", caution=True)


def _list_members(session: Session, cast: Iterable[Seat], longest: int | None) -> str:
    """Everybody at the table. Before an analysis of who should sit: those who will, and those whom it chooses from."""

    def labels(seats: Iterable[Seat]) -> str:
        return ", ".join(seat.label if longest is None else one_line(seat.label, longest) for seat in seats)

    plan, flow = session.plan(), session.workflow
    if not (plan.due and is_analysis(plan.due[0].phase.name, flow)):
        return labels((*list_table(flow, plan.scene), *cast))
    always = (seat for seat in flow.table if seat not in flow.members)
    return f"{labels(always)}, and those whom an analysis chooses from {labels(flow.members)}"


def count_replayed(session: Session) -> str:
    """How many turns are the words of another session or of a script; empty if none are."""
    replayed = sum(registry.describe(receipt.speaker).replays for receipt in session.receipts.values())
    return f"{replayed} of {len(session.receipts)} turns" if replayed else ""


def cast(session: Session, plan: Plan) -> list[Seat]:
    """The seats that joined while the debate ran: no group of the workflow lists them."""
    seated = session.workflow.seat_names()
    return list({turn.seat.name: turn.seat for turn in plan.scene.turns if turn.seat.name not in seated}.values())


def _small_print(session: Session) -> str:
    """What readers must know about the models. Once a turn is recorded, only the receipts count."""
    spoken = {(receipt.speaker, receipt.answered) for receipt in session.receipts.values() if receipt.answered}
    to_come = {(session.speaker, session.metadata.get("model"))}
    notes = {registry.describe(name).note(model) for name, model in (spoken if session.receipts else to_come)}
    return "; ".join(sorted(notes - {""}))


def _rounds_planned(session: Session) -> str:
    flow = session.workflow
    beside = (outcome.is_synthesis, is_control)
    spoken = [one for one in flow.phases if one.numbered and not any(test(one.name, flow) for test in beside)]
    least = sum(phase.min_rounds for phase in spoken if phase.when is None)
    most = sum(phase.max_rounds for phase in spoken)
    return f"{max(least, 1)}-{most} (adaptive based on convergence)" if max(least, 1) < most else str(most)


def absences(plan: Plan) -> Iterator[str]:
    """Who was missing, in which phase, and why."""
    for turn in outcome.absences(plan):
        yield f"{turn.seat.label} in {turn.phase} ({one_line(turn.absent or '', 120)})"
