"""A section that a protocol registers: in the transcript, on the page, as a file and at the end of a run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from council.engine.contributions import Part, Record, ReportSection, section
from tests.helpers import User, script

WORKFLOW = """---
name: ask
seats: {members: [architect, engineer], chair: chair}
phases:
  - {name: positions, reply: {stance: agree | disagree, unsure_of: list}}
  - {name: synthesis, role: synthesis, seats: chair, reply: {recommended_path: text}}
---
"""
PATH = "Build it in two steps: first the part that all want.\n\nThen build the other one, after a month."
WORDS = {
    "01-positions/architect": "Yes.\n\n## Stance\nagree\n\n## Unsure of\n- Who *pays*?",
    "01-positions/engineer": "Yes.\n\n## Stance\nagree\n\n## Unsure of\nnone",
    "02-synthesis/chair": f"So be it.\n\n## Recommended path\n{PATH}",
}


def hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: str) -> tuple[User, str]:
    """A debate with one section more, and what the run printed."""

    def unsure(record: Record) -> ReportSection | None:
        """What the members are unsure of."""
        last = record.plan.scene.last_words("unsure_of").values()
        parts = tuple(Part(turn.seat.label, "\n".join(f"- {item}" for item in items)) for turn, items in last if items)
        return ReportSection("Open questions", "Somebody is unsure.", parts, answer) if parts else None

    section.find("patchlist")  # all rooms have registered theirs
    monkeypatch.setitem(section.known, "unsure", unsure)
    user = User(tmp_path)
    user.write(".council/Workflows/ask.md", WORKFLOW)
    ended = user.council("ask", "Shall we?", "--speaker", "replay", "--from", script(user, WORDS))
    assert ended.code == 0, ended.text
    assert user.council("verify").code == 0
    return user, ended.out


def test_every_reader_sees_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    user, printed = hold(tmp_path, monkeypatch, answer="")
    expected = "# Open questions\n\nSomebody is unsure.\n\n## Architect (Serena)\n\n- Who *pays*?\n"
    assert (user.session / "unsure.md").read_text("utf-8") == expected
    below = re.sub("^#", "###", expected, flags=re.M)
    assert below in (user.session / "transcript.md").read_text("utf-8")
    assert below in printed


def test_on_the_page_it_has_its_title_and_hides_no_recommendation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = hold(tmp_path, monkeypatch, answer="")[0].council("show", "--html").out
    assert "<h2>Open questions</h2>\n<p>Somebody is unsure.</p>" in page
    assert "<li>Who <em>pays</em>?</li>" in page
    assert '<section class="panel path" dir="auto">\n<h2>Recommended path' in page


def test_a_section_that_is_the_answer_stands_for_the_recommendation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = hold(tmp_path, monkeypatch, answer="one question is open.")[0].council("show", "--html").out
    assert '<p class="answer" dir="auto">One question is open.</p>' in page
    assert "<h2>Open questions</h2>" not in page
    assert 'class="panel path' not in page
