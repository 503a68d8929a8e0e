"""Killed at any call that changes a file: a debate is finished once, and its document is filed once."""

from __future__ import annotations

import shutil
from contextlib import suppress
from pathlib import Path

import pytest

from council.next.errors import StorageError
from council.next.record.session import Session
from council.next.reports.filing import NEW, SAME, file_document
from council.next.reports.finish import finish
from tests.next.record.sessions import ID
from tests.next.record.strikes import DEATHS, ERRORS, Strike, count, die, struck
from tests.next.reports.debates import contents, real


def end(root: Path) -> None:
    session = Session(root / "home" / ID)
    with session.hold():
        finish(session, root)


def file(root: Path) -> None:
    file_document(Session(root / "home" / ID), root / "project")


@pytest.fixture(scope="module")
def over(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A debate that is over, and was not finished yet."""
    root = tmp_path_factory.mktemp("over")
    real(root / "home", "jobs")
    (root / "project").mkdir()
    return root


def strike(over: Path, root: Path, step: int) -> None:
    calls = count(end, shutil.copytree(over, root / "whole")).number
    wanted = contents(root / "whole/home" / ID)
    for kind in DEATHS:
        for at in range(1 + DEATHS.index(kind) % step, calls + 1, step):
            folder = shutil.copytree(over, root / f"{kind}-{at}")
            die(end, folder, kind, at)
            end(folder)
            (copy,) = (folder / "RESEARCH").rglob("*.md")
            assert copy.read_bytes() == wanted["transcript.md"], (kind, at)
            assert contents(folder / "home" / ID) == wanted, (kind, at)
            metadata = Session(folder / "home" / ID).metadata
            assert metadata["archived_to"] == str(copy)
            assert {"completed_at", "rounds_completed", "calls", "usd"} <= {*metadata}
            shutil.rmtree(folder)


def test_a_debate_that_was_killed_while_it_was_finished_is_finished_once(over: Path, tmp_path: Path) -> None:
    strike(over, tmp_path, 23)


@pytest.mark.full
def test_a_debate_is_finished_once_at_every_kill(over: Path, tmp_path: Path) -> None:
    strike(over, tmp_path, 1)


@pytest.mark.parametrize("kind", DEATHS)
def test_a_document_is_filed_once_at_every_kill(kind: str, over: Path, tmp_path: Path) -> None:
    whole = shutil.copytree(over, tmp_path / "whole")
    calls = count(file, whole).number
    for at in range(1, calls + 1):
        folder = shutil.copytree(over, tmp_path / f"{kind}-{at}")
        die(file, folder, kind, at)
        file(folder)
        there = [path.name for path in (folder / "project/docs/decisions").iterdir()]
        assert there == [path.name for path in (whole / "project/docs/decisions").iterdir()], (kind, at)
        path = folder / "project/docs/decisions" / there[0]
        assert path.read_bytes() == (whole / "project/docs/decisions" / there[0]).read_bytes()


@pytest.mark.parametrize("kind", ERRORS)
def test_a_disk_that_is_full_or_broken_is_named_and_nothing_is_half(kind: str, over: Path, tmp_path: Path) -> None:
    calls = count(file, shutil.copytree(over, tmp_path / "whole")).number
    for at in range(1, calls + 1):
        folder = shutil.copytree(over, tmp_path / str(at))
        with struck(Strike(kind, at)), suppress(StorageError):  # and nothing else
            file(folder)
        assert file_document(Session(folder / "home" / ID), folder / "project").became in (NEW, SAME)
