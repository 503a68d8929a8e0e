"""A debate as Markdown, by the templates under `templates/documents/` and what overlays them in its session."""

from __future__ import annotations

from council.engine.contributions import Addition, ReportSection
from council.engine.planner import Plan
from council.record import files
from council.record.session import Session
from council.reports import transcript
from council.reports.documents import FOLDER, NOTHING, Overlaid, frozen, render
from council.reports.model import Effect, Fact, Round, Synthesis, Transcript, plain


def whole(debate: Transcript) -> str:
    """The transcript, from the heading to the receipts."""
    return render(f"{FOLDER}/transcript", debate.overlaid, **plain(debate))


def one_round(round: Round, overlaid: Overlaid = NOTHING) -> str:
    return render(f"{FOLDER}/round", overlaid, round=plain(round))


def section(made: ReportSection, overlaid: Overlaid = NOTHING, level: str = "#") -> str:
    """A protocol's own list; `level` is the mark of its first heading."""
    return render(f"{FOLDER}/section", overlaid, section=plain(made), level=level)


def synthesis(made: Synthesis, overlaid: Overlaid = NOTHING) -> str:
    return render(f"{FOLDER}/synthesis", overlaid, synthesis=plain(made))


def addition_text(addition: Addition) -> str:
    return render(f"{FOLDER}/_addition", NOTHING, addition=plain(addition))


def effect_text(effect: Effect) -> str:
    return render(f"{FOLDER}/_effect", NOTHING, effect=plain(effect))


def synthesis_of(session: Session, plan: Plan) -> str:
    """The synthesis of a debate and what the program adds to it; empty where nobody wrote one."""
    made = transcript.synthesis(session, plan)
    return synthesis(made, frozen(session)) if made else ""


def announcement(session: Session) -> str:
    """What a debate begins with on the screen: the heading, and where its files are."""
    facts = [*transcript.facts(session), Fact("Output", f"{files.tilde(session.folder)}/")]
    named = {"workflow": transcript.kind(session), "title": transcript.title(session)}
    return render(f"{FOLDER}/_heading", NOTHING, **named, facts=plain(facts))
