"""A sample of the hostile repositories, one in every way and the others in one each.

`scripts/prove trust` tries all of them in every way.
"""

from __future__ import annotations

import os
import shutil
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest

from tests import hostile, warm

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("git") is None, reason="needs git, and root to give files to other users"
)
IN_EVERY_WAY, OF_PYTHON = "all of that", "modules of Python"
SAMPLE = (
    "the folder is a stranger's", "a template is a link out", "a template is a pipe", "a bomb: times",
    OF_PYTHON, "a document called --patch=victim.md", "a document is a link out", "settings of git: filter",
)  # fmt: skip
WAYS = ((), ("--diff", "HEAD"), ("--overlays",))
TRIED = [*((IN_EVERY_WAY, way) for way in WAYS), *zip(SAMPLE, cycle(WAYS), strict=False)]


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, ...], Any]:
    return {way: hostile.expected(tmp_path_factory.mktemp("clean"), *way[:2]) for way in WAYS if way != ("--overlays",)}


@pytest.mark.parametrize(("name", "options"), TRIED)
def test_a_repository_does_not_change_its_review(
    name: str, options: tuple[str, ...], tmp_path: Path, usual: dict[tuple[str, ...], Any]
) -> None:
    wanted = usual.get(options, usual[()])
    assert wanted[0] == 5
    env = (
        {} if name == OF_PYTHON else {"COUNCIL_VENV": warm.venv()}
    )  # where Python looks for modules is seen at its start
    assert list(hostile.attack(name, tmp_path, wanted, *options, **env)) == []
