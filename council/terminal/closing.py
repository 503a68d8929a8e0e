"""The start and end of a run: with rules and a card on a terminal, in Markdown elsewhere."""

from __future__ import annotations

from council.record import files
from council.record.session import Session
from council.reports import heading as headings
from council.reports import markdown
from council.reports.model import Fact, Transcript
from council.terminal.screen import Screen
from council.terminal.transcript import card, heading, section
from council.text import harmless


def announce(session: Session, screen: Screen) -> None:
    """Show what is debated, by whom, and where the files are."""
    if paint := screen.paint:
        facts = [*headings.facts(session), Fact("Output", f"{files.tilde(session.folder)}/")]
        screen.painted("\n".join(heading(headings.kind(session), headings.title(session), facts, paint)))
    else:
        screen.out(markdown.announcement(session))


def show_sections(debate: Transcript, screen: Screen) -> None:
    """Show what a protocol produces besides a synthesis, such as a review's list."""
    paint = screen.paint
    for one in debate.sections.values():
        screen.painted(section(one, paint) if paint else harmless(markdown.section(one)))


def conclude(debate: Transcript, screen: Screen) -> None:
    """Show what council adds to the synthesis (already shown when it was written), and the verdict."""
    if debate.synthesis and debate.synthesis.preface:
        screen.out(f"*({debate.synthesis.preface})*\n")
    for addition in debate.synthesis.additions if debate.synthesis else ():
        screen.out(markdown.addition_text(addition))
    if paint := screen.paint:
        show_sections(debate, screen)
        screen.painted(f"{card(debate, paint)}\n")
        return
    if debate.absent:
        screen.out(f"**Degraded:** absent: {'; '.join(debate.absent)}\n")
    for one in debate.sections.values():
        screen.out(markdown.section(one, level="###"))
    screen.out(f"**Outcome:** {debate.verdict.outcome} ({debate.verdict.reason})\n")
    if debate.effect:
        screen.out(markdown.effect_text(debate.effect))
