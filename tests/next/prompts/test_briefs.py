"""Briefs: what a seat is asked, exactly; from the frozen templates alone, and the same in every process."""

from __future__ import annotations

from pathlib import Path

from council.next.prompts.brief import render, write
from council.next.record.files import sha256
from council.next.record.session import Session
from tests.next.prompts.kit import ID, begun, hold
from tests.next.protocols.held import Held


def spoken(session: Session) -> Held:
    held = Held(session.workflow)
    held.plan = session.plan
    return held


def test_a_debate_is_held_by_its_briefs(tmp_path: Path) -> None:
    with begun(tmp_path) as session:
        held = spoken(session)
        briefs = hold(session, lambda due, _: held.reply(due))
        assert session.outcome.kind == "undecided"
        for id, brief in briefs.items():
            assert session.brief(id) == brief.text.encode()
            assert session.receipts[id].brief == brief.hash == sha256(brief.text.encode())


def test_what_a_batch_shares_is_stored_once(tmp_path: Path) -> None:
    with begun(tmp_path) as session:
        one, other, *_ = (write(session, due) for due in session.plan.due)
        assert one.shared == other.shared != ""
        assert one.own != other.own
        names = sorted(path.name for path in (tmp_path / ID / "briefs" / "01-positions").iterdir())
        assert names == ["architect.md", "designer.md", "engineer.md", "researcher.md", "shared.md"]
        assert all(one.text[:cut].strip() for cut in one.cuts)
        assert one.cuts[-1] == len(one.shared)


def test_a_stored_brief_is_used_as_it_is(tmp_path: Path) -> None:
    with begun(tmp_path) as session:
        due = session.plan.due[0]
        first = write(session, due)
        session.program["templates"]["positions.md.j2"] = "something else{{ cut }}"
        again = write(session, due)
        assert (again.shared, again.own, again.hash) == (first.shared, first.own, first.hash)
        assert render(session, due).text == "something else"
