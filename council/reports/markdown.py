"""Renders a debate as Markdown with the templates under `templates/documents/` and the session's overlays."""

from __future__ import annotations

from council.engine.contributions import Addition, ReportSection
from council.engine.planner import Plan
from council.record import files
from council.record.session import Session
from council.reports import heading, transcript
from council.reports.documents import FOLDER, NOTHING, Overlaid, frozen_templates, render
from council.reports.model import Effect, Fact, Round, Synthesis, Transcript, plain

LONGEST_NAME = 40  # characters of a member's, in an announcement


def whole(debate: Transcript) -> str:
    """The transcript, from the heading to the receipts."""
    return render(f"{FOLDER}/transcript", debate.overlaid, **plain(debate))


def one_round(round: Round, overlaid: Overlaid = NOTHING) -> str:
    return render(f"{FOLDER}/round", overlaid, round=plain(round))


def section(made: ReportSection, overlaid: Overlaid = NOTHING, level: str = "#") -> str:
    """A protocol's own list; `level` is the Markdown of its top heading."""
    return render(f"{FOLDER}/section", overlaid, section=plain(made), level=level)


def synthesis(made: Synthesis, overlaid: Overlaid = NOTHING) -> str:
    return render(f"{FOLDER}/synthesis", overlaid, synthesis=plain(made))


def addition_text(addition: Addition) -> str:
    return render(f"{FOLDER}/_addition", NOTHING, addition=plain(addition))


def effect_text(effect: Effect) -> str:
    return render(f"{FOLDER}/_effect", NOTHING, effect=plain(effect))


def synthesis_of(session: Session, plan: Plan) -> str:
    """The synthesis of a debate with what council adds to it; empty if there is none."""
    made = transcript.synthesis(session, plan)
    return synthesis(made, frozen_templates(session)) if made else ""


def announcement(session: Session) -> str:
    """The start of a debate on the screen: its heading, and where its files are. Assistants read it too, so names that
    a project chose are short.
    """
    facts = [*heading.facts(session, longest=LONGEST_NAME), Fact("Output", f"{files.tilde(session.folder)}/")]
    named = {"workflow": heading.kind(session), "title": heading.title(session)}
    return render(f"{FOLDER}/_heading", NOTHING, **named, facts=plain(facts))
