"""Six debates as files that a person can read. Nothing in them is changed that somebody has not read."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from council.next.record.session import Session
from council.next.reports.build import build, page
from council.next.reports.documents import document_of
from council.next.reports.filing import kinds_of
from tests.next.reports.goldens import SESSIONS

FOLDER = Path(__file__).parent / "goldens"
KINDS = {"dissent": ["adr", "madr"], "conditions": ["decision", "issue"], "vetoed": ["adr"]}


def texts(session: Session, name: str) -> dict[str, str]:
    build(session)
    documents = {f"{kind}.md": document_of(session, kind) for kind in KINDS.get(name, kinds_of(session))}
    found = {"transcript.md": (session.folder / "transcript.md").read_text("utf-8"), **documents}
    if name == "dissent":
        found["page.html"] = page(session)
        found["synthesis.md"] = (session.folder / "synthesis.md").read_text("utf-8")
    return {file: re.sub(r"[0-9a-f]{64}", "HASH", text) for file, text in found.items()}


@pytest.mark.golden
@pytest.mark.parametrize("name", SESSIONS)
def test_a_debate_is_shown_as_somebody_has_read_it(name: str, tmp_path: Path) -> None:
    found = texts(SESSIONS[name](tmp_path), name)
    if os.environ.get("COUNCIL_UPDATE_GOLDEN"):
        (FOLDER / name).mkdir(parents=True, exist_ok=True)
        for file, text in found.items():
            (FOLDER / name / file).write_text(text, "utf-8")
    assert found == {path.name: path.read_text("utf-8") for path in sorted((FOLDER / name).iterdir())}
