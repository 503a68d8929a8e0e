from __future__ import annotations

from pathlib import Path

import pytest

from tests.next.cli import scripts
from tests.next.cli.users import User


@pytest.fixture
def user(tmp_path: Path) -> User:
    return User(tmp_path / "user")


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a script of each kind of debate."""
    folder = tmp_path_factory.mktemp("scripts")
    scripts.script(folder / "agreed.yaml")
    scripts.script(folder / "dissent.yaml", scripts.DISSENT)
    scripts.script(folder / "split.yaml", scripts.SPLIT)
    scripts.script(folder / "few.yaml", scripts.FEW)
    return folder


@pytest.fixture
def agreed(written: Path) -> Path:
    return written / "agreed.yaml"
