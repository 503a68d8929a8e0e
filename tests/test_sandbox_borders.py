"""Whatever a reply says, nothing is written but its session: a sample of what `scripts/prove lab` tries."""

from __future__ import annotations

from pathlib import Path

from tests import borders
from tests.bubblewrap import needs_sandbox

pytestmark = needs_sandbox


def test_hostile_replies_write_only_their_session() -> None:
    assert borders.try_replies(0, 4) == []


def test_paths_that_lead_out_lead_nowhere_in_the_sandbox() -> None:
    assert borders.try_paths() == []


def test_the_watch_sees_what_is_written(tmp_path: Path) -> None:
    watch = borders.Watch()
    watch.add(tmp_path)
    (tmp_path / "new").mkdir()
    assert [*watch.read()] == [tmp_path / "new"]
    (tmp_path / "new" / "x.py").write_text("")
    assert tmp_path / "new" / "x.py" in watch.read()
