"""A clean home for every test: no settings, no keys, no project."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

KEPT = ("PATH", "LANG", "LC_ALL", "TMPDIR", "PYTHONPATH")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's home; the current folder is a git repository beside it."""
    for name in [*os.environ]:
        if name not in KEPT and not name.startswith(("PYTEST", "COV_")):
            monkeypatch.delenv(name)
    place, project = tmp_path / "home", tmp_path / "project"
    for folder in (place, project / ".git"):
        folder.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(place))
    monkeypatch.chdir(project)
    return place


@pytest.fixture
def project(home: Path) -> Path:
    """The `.council` folder of the current project."""
    folder = home.parent / "project" / ".council"
    folder.mkdir()
    return folder
