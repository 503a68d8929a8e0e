"""The documents of docs/examples are what the code makes of their scripts."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.examples import EXAMPLES, PLACE, Example, replay, strip
from tests.helpers import User


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda one: one.name)
def test_a_document_is_what_its_script_gives(example: Example, tmp_path: Path) -> None:
    shown = strip(example.page.read_text("utf-8"))
    assert shown == strip(replay(User(tmp_path), example)), "run scripts/examples and read the difference"


def test_the_index_names_every_document_and_script() -> None:
    index = (PLACE / "README.md").read_text("utf-8")
    for folder, ending in ((PLACE, "md"), (PLACE / "scripts", "yaml")):
        assert {path.stem for path in folder.glob(f"*.{ending}")} - {"README"} == {one.name for one in EXAMPLES}
    assert all(f"]({one.name}.md)" in index and f"](scripts/{one.name}.yaml)" in index for one in EXAMPLES)
