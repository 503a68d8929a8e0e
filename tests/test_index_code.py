"""The views of code, over a session in which a member drafted, failed, reflected and drafted again."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

from council.index.query import open_index
from tests import learned
from tests.helpers import User


def test_versions_and_reflections_are_in_the_views(tmp_path: Path) -> None:
    session = learned.hold(User(tmp_path / "user"))
    with closing(open_index([session.folder.parent], tmp_path / "cache" / "index.sqlite")) as index:
        index.refresh()
        versions = index.store.rows(
            "SELECT version_number, candidate, language, test_pass_rate, turn_id, diff_from_previous FROM code_versions"
        )
        reflections = index.store.rows("SELECT id, reflections FROM debate_turns WHERE reflections IS NOT NULL")
    assert [version[:5] for version in versions] == [
        (1, "engineer", "python", 0.0, f"{session.id}/02-loop-r01-1-draft/engineer"),
        (2, "engineer", "python", 1.0, f"{session.id}/02-loop-r02-1-draft/engineer"),
    ]
    assert all(Path(diff).read_text("utf-8").startswith("diff --git") for *_, diff in versions)
    said = {id: json.loads(found) for id, found in reflections if found != "[]"}
    assert said == {f"{session.id}/02-loop-r01-3-reflect/engineer": [{"change_next": "Think of empty lists."}]}
