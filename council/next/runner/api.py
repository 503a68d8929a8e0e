"""The Python API: hold a debate, go on with one, and read one. It prints nothing and never asks.

Sessions, settings and speakers are those of the command line, so `council recover` continues what a program begins.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from council.next.config import places
from council.next.config.settings import Settings, load
from council.next.errors import CouncilError
from council.next.record import catalog
from council.next.record.session import Session
from council.next.reports.finish import finish
from council.next.reports.state import state
from council.next.runner import process
from council.next.runner.budget import Budget, Limits
from council.next.runner.loop import Run
from council.next.runner.prepare import Request, agree_to_price, lay, prepare, say_nothing
from council.next.speakers.base import Speaker
from council.next.speakers.choose import REPLAY, Mix, choose, read_seats
from council.next.text import encode


@dataclass(frozen=True)
class DebateResult:
    """A debate as far as it is. `state` is what state.json holds, and `kind` what the debate came to."""

    session_id: str
    folder: Path
    kind: str
    answer: str
    title: str
    reason: str
    topic: str
    workflow: str
    members: tuple[str, ...]
    due: tuple[str, ...]
    state: Mapping[str, Any]

    @property
    def is_over(self) -> bool:
        return not self.due

    @property
    def synthesis(self) -> str:
        """The text of the seat that wrote the result, word for word. Empty before there is one."""
        written = self.state["synthesis"]
        return str(written["content"]) if written else ""

    @property
    def transcript(self) -> str:
        return (self.folder / "transcript.md").read_text("utf-8")


def run(  # noqa: PLR0913 (they are named like the options of the command line)
    topic: str,
    *,
    workflow: str = "debate",
    with_members: Sequence[str] = (),
    without_members: Sequence[str] = (),
    only_members: Sequence[str] = (),
    mode: str = "deliberative",
    options: Mapping[str, Any] | None = None,
    gates: Sequence[str] = (),
    files: Sequence[str | Path] = (),
    documents: Mapping[str, str] | None = None,
    evidence: Sequence[str | Path] = (),
    evidence_commands: Sequence[str] = (),
    after: str = "",
    id: str = "",
    speaker: str | Speaker = "",
    source: str = "",
    **limits: Any,
) -> DebateResult:
    """Hold a debate. `speaker` is a name or an object of your own. The limits are those of `Limits`."""
    settings, bounds = load(), Limits(**limits)
    chosen = speaker if isinstance(speaker, Speaker) else choose(settings, speaker, source, None, say_nothing)
    request = Request(
        topic=topic,
        workflow=workflow,
        with_=tuple(with_members),
        without=tuple(without_members),
        only=tuple(only_members),
        mode=mode,
        options=options or {},
        gates=tuple(gates),
        files=tuple(map(Path, files)),
        documents=tuple((name, encode(text)) for name, text in (documents or {}).items()),
        evidence=(*(("file", str(one)) for one in evidence), *(("command", one) for one in evidence_commands)),
        after=places.find_session(settings.home, after) if after else None,
        id=id,
        speaker=chosen.name,
        source=chosen.source,
    )
    table = lay(request, settings)
    agree_to_price(request, table, chosen, settings, bounds)
    with prepare(request, settings, table) as session:
        return hold(session, chosen, settings, bounds)


def recover(session: str = "last", *, speaker: str | Speaker = "", source: str = "", **limits: Any) -> DebateResult:
    """Go on with a debate where it stopped, with the speakers and models that it began with. What was said is never
    asked or billed again."""
    settings, bounds = load(), Limits(**limits)
    found = places.find_session(settings.home, session)
    with found.hold():
        if not found.plan.due:  # a kill may have come between the last turn and the files that follow from it
            finish(found, settings.home)
            return result_of(found)
        before = begun_with(found, settings)
        settings = load(flags={"tiers": before["models"]} if before.get("models") else {})
        wanted = speaker or str(before.get("speaker") or "")
        if not isinstance(wanted, Speaker):
            seats = read_seats(settings, before.get("seats") or {})
            source = source or str(before.get("source") or "") * (wanted == REPLAY)
            usual = choose(settings, wanted, source, None, say_nothing)
            wanted = Mix(settings, usual, seats) if seats else usual
        return hold(found, wanted, settings, bounds)


def begun_with(session: Session, settings: Settings) -> dict[str, Any]:
    """Whom a session began with: the speaker, what it replays, the models, and those of single seats. Nothing of a
    session from elsewhere, which must not choose whom this machine calls; nobody chose the models of one by hand."""
    if not catalog.is_ours(places.marks(settings.home), session):
        return {}
    keys = ("speaker", "source", "models", "seats") if session.program.get("speaker") else ("seats",)
    return {key: session.program[key] for key in keys if session.program.get(key)}


def load_session(session: str = "last") -> DebateResult:
    """A session by its id, or a part of it."""
    return result_of(places.find_session(load().home, session))


def hold(session: Session, speaker: Speaker, settings: Settings, limits: Limits) -> DebateResult:
    budget = Budget.within(limits, settings, session)
    try:
        process.run(Run(session, speaker, settings, budget, quorum=limits.quorum, wait=limits.wait))
    except CouncilError as failure:
        failure.session_id = session.id
        raise
    return result_of(session)


def result_of(session: Session) -> DebateResult:
    outcome, metadata = session.outcome, session.metadata
    return DebateResult(
        session_id=session.id,
        folder=session.folder,
        kind=outcome.kind,
        answer=outcome.answer,
        title=outcome.title,
        reason=outcome.reason,
        topic=session.topic,
        workflow=session.workflow.name,
        members=tuple(metadata["members"]),
        due=tuple(due.id for due in session.plan.due),
        state=state(session),
    )
