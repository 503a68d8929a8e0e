"""What is derived from a session's record: rounds, convergence, synthesis, transcript and the archived copy.

All of it can be deleted and is made again byte for byte: nothing here looks at a clock or at an earlier result.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from council.engine.anonymity import named
from council.engine.planner import Plan
from council.engine.rules import repeated
from council.engine.scene import Turn
from council.protocols import board, perspectives
from council.protocols import outcome as ending
from council.protocols.consensus import SAME
from council.protocols.mind_changes import is_control
from council.record import files
from council.record.session import Session
from council.record.turn_file import sha256
from council.reports import did_it_help
from council.speakers import registry
from council.text import WORD, one_line
from council.workflow.model import Phase, Seat


def round_text(session: Session, plan: Plan, phase: str, round: int) -> str:
    number = ending.rounds(plan).index((phase, round)) + 1
    turns = ending.turns_of(plan, phase, round)
    steps = len({turn.step for turn in turns}) > 1
    title = f"### Round {number}: {ending.heading(phase)}\n"
    return "\n".join([title, *(turn_text(session, plan, turn, step=steps) for turn in turns)])


def turn_text(session: Session, plan: Plan, turn: Turn, step: bool = False) -> str:
    """One turn for a reader. The mark before it names the turn and its hash, which no text can hold of itself."""
    icon = str(turn.seat.attributes.get("icon") or "")
    label = " ".join(filter(None, [icon, turn.seat.label, f"({ending.heading(turn.step)})" if step else ""]))
    remarks = list(remarks_on(session, plan, turn))
    said = f"*absent: {one_line(turn.absent, 300)}*" if turn.absent else named(turn, session.workflow, plan.scene)
    parts = [f"<!-- {turn.id} sha256:{sha256(files.encode(turn.body))} -->", f"**{label}:**", ""]
    parts += [f"*({remark})*" for remark in remarks] + ([""] if remarks else [])
    if turn.first is not None:
        parts += [_first_reply(session, turn), ""]
    return "\n".join([*parts, said.rstrip("\n"), ""])


def _first_reply(session: Session, turn: Turn) -> str:
    again = session.said.get(f"{turn.id}.2")
    outcome = "asked again, it gave none" if again and again.absent else "asked again, it wrote what follows"
    assert turn.first is not None
    told = f"*(The first reply could not be read in full; {outcome}. First reply:)*"
    return f"{told}\n\n{turn.first.body.rstrip()}\n\n*(Then:)*"


def remarks_on(session: Session, plan: Plan, turn: Turn) -> Iterator[str]:
    """What a reader has to know of a turn besides its words."""
    if turn.absent:
        return
    if told := length_remark(session, turn):
        yield told
    receipt = session.receipts.get(_receipt_id(session, turn))
    if receipt and registry.typed_in(receipt):
        yield "typed in by the host: no receipt of a real call"
    if receipt and not same_model(receipt.asked, receipt.answered):
        yield f"asked of {receipt.asked}, answered by {receipt.answered}"
    if receipt and receipt.stop == "max_tokens":
        yield "cut off: the model reached its limit of tokens"
    for problem in turn.problems:
        yield f"not answered: {problem}"
    yield from board.remarks(turn, session.workflow.all_seats())
    yield from perspectives.remarks(turn, plan.scene, session.workflow)
    share = round(repeated(turn, plan.scene) or 0.0, 2) if perspectives.is_cast(turn.seat, plan.scene) else 0.0
    if share > SAME:
        yield f"{share * 100:.0f} % of it stood in its own turn a round before"


def _receipt_id(session: Session, turn: Turn) -> str:
    return f"{turn.id}.2" if turn.first is not None and f"{turn.id}.2" in session.receipts else turn.id


def length_remark(session: Session, turn: Turn) -> str:
    """Whether a turn kept to the number of words that the round asked for; the answers below it do not count."""
    low, dash, high = str(session.workflow.options.get("words", "")).partition("-")
    if not dash or not low.isdigit() or not high.isdigit() or ending.is_synthesis(turn.phase, session.workflow):
        return ""
    words = len(WORD.findall(turn.prose))
    return "" if int(low) <= words <= int(high) else f"{words} words; {low}-{high} were asked for"


def same_model(asked: str | None, answered: str | None) -> bool:
    """A dated name of the model that was asked for is that model."""
    return asked is None or answered is None or answered == asked or answered.startswith(f"{asked}-20")


def announcement(session: Session) -> str:
    """What a debate begins with on the screen: the heading, and where its files are."""
    return header(session) + f"**Output:** {files.tilde(session.folder)}/\n"


def header(session: Session, cast: Iterable[Seat] = ()) -> str:
    """What stands above every transcript. No path is in it: the same record gives the same bytes anywhere."""
    labels = ", ".join(seat.label for seat in (*session.workflow.table, *cast))
    lines = [
        f"## Council {ending.heading(session.workflow.name)}: {one_line(session.metadata['topic'], 200)}\n",
        f"**Session ID:** {session.id}",
        f"**Council Members:** {labels}",
        f"**Rounds:** {rounds_planned(session)}",
    ]
    if told := _small_print(session):
        lines.append(f"**Model:** {told}")
    if source := session.metadata.get("replay_of"):
        lines.append(
            f"**Replay of:** {one_line(str(source))} (these words were spoken before; this is no debate of its own)"
        )
    return "\n".join(lines) + "\n"


def cast(session: Session, plan: Plan) -> list[Seat]:
    """Whoever sat down while the debate ran: no group of the workflow names them."""
    seated = session.workflow.seat_names()
    return list({turn.seat.name: turn.seat for turn in plan.scene.turns if turn.seat.name not in seated}.values())


def _small_print(session: Session) -> str:
    """What a reader must know of the models. Once a turn is recorded, the receipts alone say which."""
    spoken = {(receipt.speaker, receipt.answered) for receipt in session.receipts.values() if receipt.answered}
    to_come = {(session.metadata["speaker"], session.metadata.get("model"))}
    notes = {registry.describe(name).note(model) for name, model in (spoken if session.receipts else to_come)}
    return "; ".join(sorted(notes - {""}))


def rounds_planned(session: Session) -> str:
    flow = session.workflow
    spoken = [one for one in flow.phases if not ending.is_synthesis(one.name, flow) and not is_control(one.name, flow)]
    least = sum(phase.min_rounds for phase in spoken if phase.when is None)
    most = sum(phase.max_rounds for phase in spoken)
    return f"{least}-{most} (adaptive based on convergence)" if least < most else str(least)


def transcript(session: Session, plan: Plan) -> str:
    """The whole debate for a reader, from the announcement to the receipts."""
    parts = [header(session, cast(session, plan)), *ending.degraded(plan)]
    for phase in session.workflow.phases:
        parts += _phase_parts(session, plan, phase)
    if text := patchlist(session, plan):
        parts.append(text)
    if plan.done and (text := ending.synthesis(plan)):
        parts.append(text)
    if told := help_text(session, plan):
        parts.append(told)
    if not plan.done:
        open_turns = ", ".join(due.seat.label for due in plan.due)
        parts.append(f"*(This debate is not finished: {plan.due[0].phase.name} waits for {open_turns}.)*\n")
    return "\n".join([*parts, receipts_table(session)])


def patchlist(session: Session, plan: Plan) -> str:
    """A review's list as a part of something longer; empty where there is none."""
    from council.reviews import report

    return re.sub(r"^(?=#{1,4} )", "##", report.text(plan, session.topic, session.metadata), flags=re.M)


def help_text(session: Session, plan: Plan) -> str:
    """Whether the debate helped, and who was moved by what; then what one seat said without it, if one was asked."""
    told = did_it_help.section(session, plan, ending.numbers(plan))
    alone = [turn for turn in plan.scene.turns if is_control(turn.phase, plan.scene)] if told else []
    return "\n".join([told, *(turn_text(session, plan, turn) for turn in alone)]) if told else ""


def _phase_parts(session: Session, plan: Plan, phase: Phase) -> list[str]:
    parts = [round_text(session, plan, *key) for key in ending.rounds(plan) if key[0] == phase.name]
    for note in plan.notes:
        if note.phase == phase.name and (told := ending.decision_text(plan, note)):
            parts = [*parts, told] if note.kind in ("ended", "halted") else [told, *parts]
    return parts


def receipts_table(session: Session) -> str:
    rows = [
        "### Receipts\n",
        "| turn | speaker | asked | answered | tokens in / out | usd |",
        "|---|---|---|---|---|---|",
    ]
    for turn, receipt in sorted(session.receipts.items()):
        tokens = f"{receipt.input + receipt.cache_read + receipt.cache_write} / {receipt.output}"
        usd = "unknown" if receipt.usd is None else f"{receipt.usd:.4f}"
        remark = ", absent" if receipt.absent else ", typed in" if registry.typed_in(receipt) else ""
        state = f"{receipt.speaker}{remark}"
        rows.append(f"| {turn} | {state} | {receipt.asked or '-'} | {receipt.answered or '-'} | {tokens} | {usd} |")
    return "\n".join(rows) + "\n"
