"""Where a planning is: read from its sessions alone, so it is right even if other commands carried them on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from council.config import places
from council.config.settings import Config
from council.engine.planner import Plan
from council.planning.store import Planning
from council.record import session as sessions
from council.record.session import Session
from council.record.turn_file import sha256
from council.reports import filing, front_matter, markdown, produce, verify
from council.text import one_line
from council.workflow import gates

NOT_BEGUN, APPROVED = "not begun", "approved"
GATED = "synthesis"
ENDED = (gates.REJECTED, gates.VETOED, gates.NOT_APPROVED)


@dataclass(frozen=True)
class CouncilStage:
    """One council: the state of its session, or how it ended. `remark` is what a person said at its gate, `unfiled` why
    its document is only in the session."""

    council: str
    session: str
    state: str = NOT_BEGUN
    why: str = ""
    remark: str = ""
    document: Path | None = None
    unfiled: str = ""


def open_session(settings: Config, id: str) -> Session | None:
    """The session with this id; None if it has not begun."""
    if not places.exists(settings, id):
        return None
    found = sessions.open_(places.find(settings, id))
    found.read_turns()
    return found


def read_stage(settings: Config, council: str, id: str) -> CouncilStage:
    """Where one council is. A session that is over but not finished yet is interrupted."""
    if not places.exists(settings, id):
        return CouncilStage(council, id)
    status = verify.status(places.find(settings, id))
    if status.session is None or status.plan is None or status.state != "complete":
        return CouncilStage(council, id, status.state, status.why)
    state, remark = read_gate(status.session, status.plan)
    filed, unfiled = filing.find_places(status.session, status.plan)
    return CouncilStage(council, id, state, status.why, remark, next(iter(filed.values()), None), unfiled)


def read_gate(session: Session, plan: Plan) -> tuple[str, str]:
    """How the gate at the end of a council was decided, and what the person said."""
    gate = next((phase for phase in session.workflow.phases if phase.gates), None)
    if gate is None:
        return APPROVED, ""
    turns = [turn for turn in plan.scene.turns if turn.phase == gate.name]
    said = str(turns[-1].answers.get(gates.REASON, "")) if turns and not turns[-1].absent else ""
    approved = plan.scene.outcomes.get(gate.name) == APPROVED
    given = str(turns[-1].answers.get(gates.GATE, "")) if turns else ""
    ended = {gates.REJECT: gates.REJECTED, gates.VETO: gates.VETOED}.get(given, gates.NOT_APPROVED)
    return APPROVED if approved else ended, said.strip()


def read_stages(settings: Config, planning: Planning) -> list[CouncilStage]:
    return [read_stage(settings, council, id) for council, id in planning.sessions.items()]


def describe(stages: list[CouncilStage]) -> str:
    """Where the planning is, in a few words."""
    for stage in stages:
        if stage.state in ENDED:
            because = f": {one_line(stage.remark, 200)}" if stage.remark else ""
            return f"ended: {stage.council} {stage.state}{because}"
        if stage.state == "waiting":
            return f"{stage.council} waits for you"
        if stage.state != APPROVED:
            return f"{stage.council} {stage.state}"
    return "complete"


def file_document(session: Session) -> list[Path]:
    """File the document of a finished council, where a command was killed before it did. What somebody has edited stays
    as it is, and is returned."""
    home = filing.find_home(session)[0]
    if not home:
        return []
    placed = filing.place(filing.make(session, session.plan()), filing.Filing(home / filing.PLACE))
    changed = [path for path, same in placed.items() if not same and path.suffix == ".md"]
    return [path for path in changed if not front_matter.is_as_written(path.read_text("utf-8", "replace"))]


def hand_on(session: Session, plan: Plan) -> Iterator[tuple[str, str]]:
    """What the next council starts from, by name: the document with its hash, and what the person said of it."""
    made = filing.make(session, plan).texts.get(produce.MAIN, "")
    text = made or markdown.synthesis_of(session, plan)
    name = produce.MAIN if made else "synthesis.md"
    yield f"{session.id}/{name}, sha256 {sha256(text.encode('utf-8', 'backslashreplace'))}", text
    _, remark = read_gate(session, plan)
    if remark:
        yield f"remark of the person who approved {session.id}", remark
