"""What is derived from a session's record: rounds, convergence, synthesis, transcript and the archived copy.

All of it can be deleted and is made again byte for byte: nothing here looks at a clock or at an earlier result.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from council.engine.anonymity import named
from council.engine.planner import Plan
from council.engine.rules_course import repeated
from council.engine.scene import Turn
from council.protocols import board as boardroom
from council.protocols import outcome as ending
from council.protocols import perspectives as casting
from council.protocols.metrics import SAME
from council.protocols.mind_changes import is_control
from council.record import files
from council.record.session import Session
from council.record.turn_file import sha256
from council.reports import did_it_help as hindsight
from council.speakers.local import download as embedded
from council.text import WORD, one_line, slug
from council.workflow.model import Phase, Seat

DERIVED = ("convergence.json", "synthesis.md", "transcript.md", "decision.md", "issue.md", "patchlist.md")


def derived(session: Session, plan: Plan) -> dict[str, bytes]:
    """Every derived file of the session as it stands, by name."""
    from council.reports import filing as documents
    from council.reviews import report as review  # they are written with what stands here

    made = {f"round-{number}.md": round_text(session, plan, *key) for number, key in enumerate(ending.rounds(plan), 1)}
    if (facts := ending.convergence(plan)) is not None:
        facts |= hindsight.facts(session, plan, ending.numbers(plan))
        made["convergence.json"] = json.dumps(facts, indent=2, ensure_ascii=False) + "\n"
    if plan.done and (text := ending.synthesis(plan)):
        made["synthesis.md"] = text
    if text := review.text(session, plan):
        made["patchlist.md"] = text
    made |= documents.derived(session, plan)
    made["transcript.md"] = transcript(session, plan)
    return {name: files.encode(text) for name, text in made.items()}


def is_derived(name: str) -> bool:
    return name in DERIVED or (name.startswith("round-") and name.endswith(".md"))


def build(session: Session, plan: Plan) -> list[Path]:
    """Write the derived files, and remove one that the record no longer supports."""
    made = derived(session, plan)
    files.replace_all({session.folder / name: data for name, data in made.items()})
    for path in session.folder.iterdir():
        if is_derived(path.name) and path.name not in made:
            files.remove(path)
    return [session.folder / name for name in made]


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
    if receipt and receipt.typed:
        yield "typed in by the host: no receipt of a real call"
    if receipt and not same_model(receipt.asked, receipt.answered):
        yield f"asked of {receipt.asked}, answered by {receipt.answered}"
    if receipt and receipt.stop == "max_tokens":
        yield "cut off: the model reached its limit of tokens"
    for problem in turn.problems:
        yield f"not answered: {problem}"
    yield from boardroom.remarks(turn, session.workflow.all_seats())
    yield from casting.remarks(turn, plan.scene, session.workflow)
    share = round(repeated(turn, plan.scene) or 0.0, 2) if casting.is_cast(turn.seat, plan.scene) else 0.0
    if share > SAME:
        yield f"{share * 100:.0f} % of it stood in its own turn a round before"


def _receipt_id(session: Session, turn: Turn) -> str:
    return f"{turn.id}.2" if turn.first is not None and f"{turn.id}.2" in session.receipts else turn.id


def length_remark(session: Session, turn: Turn) -> str:
    """Whether a turn kept to the number of words that the round asked for; the answers below it do not count."""
    low, dash, high = str(session.workflow.options.get("words", "")).partition("-")
    if not dash or not low.isdigit() or not high.isdigit() or turn.phase == ending.SYNTHESIS:
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
    """What must be known of a model that ran on this machine. Once somebody has spoken, the receipts alone tell who."""
    spoken = {receipt.answered for receipt in session.receipts.values() if receipt.speaker == "local"}
    to_come = {session.metadata.get("model", embedded.NAME)} if session.metadata["speaker"] == "local" else set()
    names = (spoken if session.receipts else to_come) - {None}
    told = [embedded.SMALL_PRINT if name == embedded.NAME else f"{name}, run on this machine" for name in names]
    return "; ".join(sorted(told))


def rounds_planned(session: Session) -> str:
    options = session.workflow.options
    spoken = [
        one for one in session.workflow.phases if one.name != ending.SYNTHESIS and not is_control(one.name, options)
    ]
    least = sum(phase.least for phase in spoken if phase.when is None)
    most = sum(phase.most for phase in spoken)
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
    from council.reviews import report as review

    return re.sub(r"^(?=#{1,4} )", "##", review.text(session, plan), flags=re.M)


def help_text(session: Session, plan: Plan) -> str:
    """Whether the debate helped, and who was moved by what; then what one seat said without it, if one was asked."""
    told = hindsight.section(session, plan, ending.numbers(plan))
    alone = [turn for turn in plan.scene.turns if is_control(turn.phase, plan.scene.options)] if told else []
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
        state = f"{receipt.speaker}{', absent' if receipt.absent else ', typed in' if receipt.typed else ''}"
        rows.append(f"| {turn} | {state} | {receipt.asked or '-'} | {receipt.answered or '-'} | {tokens} | {usd} |")
    return "\n".join(rows) + "\n"


def totals(session: Session) -> dict[str, Any]:
    """What the debate took, from its receipts. A price that nobody knows makes the sum unknown, not smaller.

    `fsum`, because its sum is the same in whatever order the turns came in.
    """
    all_receipts = list(session.receipts.values())
    prices = [receipt.usd for receipt in all_receipts]
    return {
        "calls": len(all_receipts),
        "input_tokens": sum(receipt.input + receipt.cache_read + receipt.cache_write for receipt in all_receipts),
        "output_tokens": sum(receipt.output for receipt in all_receipts),
        "usd": None if None in prices else round(math.fsum(price or 0.0 for price in prices), 6),
    }


def ended_at(session: Session) -> datetime:
    """When the last word was spoken. From the receipts, so that it is the same however often it is asked."""
    begun = datetime.fromisoformat(session.metadata["started_at"])
    ends = [datetime.fromisoformat(one.started) + timedelta(seconds=one.seconds) for one in session.receipts.values()]
    return max([begun, *ends])


def archive(session: Session, plan: Plan, root: Path) -> Path:
    """The transcript's copy in the archive: its name follows from the record, so a second try makes no second file."""
    data = derived(session, plan)["transcript.md"]
    ended = ended_at(session)
    name = slug(str(session.metadata["topic"])) or session.workflow.name
    folder = root / f"{ended:%Y-%m}"
    files.make_folder(folder)
    path = folder / f"{ended:%Y-%m-%d-%H%M%S}_COUNCIL_{name}.md"
    temp = folder / f".{session.id}{files.TEMP}"
    if not files.claim(path, data, temp):
        path = path if _is_of(session, path) else path.with_name(f"{path.stem}_{session.id[-8:]}.md")
        files.replace(path, data, temp)
    return path


def _is_of(session: Session, path: Path) -> bool:
    """Whether an archived copy is this session's: it may have changed since, by a person's word on a review."""
    return f"\n**Session ID:** {session.id}\n".encode() in files.read(path)[:4096]


def finish(session: Session, plan: Plan, root: Path) -> Path:
    """The last act of a debate: derived files, archive, the facts that say that it is complete, and its document."""
    from council.reports import filing as documents

    build(session, plan)
    path = archive(session, plan, root)
    session.merge(**completion(session, plan), archived_to=files.tilde(path))
    if home := documents.project(Path.cwd()):
        documents.place(session, plan, home / documents.PLACE)
    return path


def completion(session: Session, plan: Plan) -> Mapping[str, Any]:
    return {
        "completed_at": ended_at(session).isoformat(timespec="seconds"),
        "rounds_completed": len(ending.rounds(plan)),
        "outcome": ending.outcome(plan),
        "absent": sorted({turn.seat.name for turn in ending.absences(plan)}),
        "totals": totals(session),
    }
