"""A sample of the hostile repositories; `scripts/prove trust` tries all of them, in every way."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests import hostile

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("git") is None, reason="needs git, and root to give files to other users"
)
SAMPLE = (
    "all of that", "the folder is a stranger's", "a template is a link out", "a template is a pipe", "a bomb: times",
    "modules of Python", "a document called --patch=victim.md", "a document is a link out", "settings of git: filter",
)  # fmt: skip
WAYS = ((), ("--diff", "HEAD"), ("--overlays",))


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, ...], Any]:
    return {way: hostile.expected(tmp_path_factory.mktemp("clean"), *way[:2]) for way in WAYS if way != ("--overlays",)}


@pytest.mark.parametrize("name", SAMPLE)
@pytest.mark.parametrize("options", WAYS, ids=" ".join)
def test_a_repository_does_not_change_its_review(
    name: str, options: tuple[str, ...], tmp_path: Path, usual: dict[tuple[str, ...], Any]
) -> None:
    wanted = usual.get(options, usual[()])
    assert wanted[0] == 5
    assert list(hostile.attack(name, tmp_path, wanted, *options)) == []
