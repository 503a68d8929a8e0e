"""Debates that begin at the same time in one home: a sample of what `scripts/prove trust` does at full size."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import crowds, interleaved
from tests.faults import Nursery
from tests.helpers import User


@pytest.fixture(scope="module")
def nursery() -> Iterator[Nursery]:
    with Nursery() as nursery:
        yield nursery


def test_debates_at_once(tmp_path: Path, nursery: Nursery) -> None:
    crowd = crowds.debates(tmp_path / "world", nursery, 6)
    assert (crowd.wrong, crowd.held) == ([], 6)


@pytest.mark.parametrize("command", crowds.COMMANDS)
def test_debates_and_starts_beside_other_commands(tmp_path: Path, nursery: Nursery, command: str) -> None:
    for crowd in crowds.beside(tmp_path / "world", nursery, 2, command):
        assert (crowd.wrong, crowd.held) == ([], 4)


def test_one_id_for_many(tmp_path: Path) -> None:
    assert crowds.one_id(User(tmp_path), 4).wrong == []


def test_a_debate_is_held_from_its_birth_on(tmp_path: Path, nursery: Nursery) -> None:
    """Whoever finds a session that is about to run is told that it is in use: nobody comes between."""
    world = crowds.World(tmp_path / "world", nursery, words=crowds.WORDS)
    words = (*crowds.QUESTION, "--from", str(world.script), "Shall we?")
    recover = ("recover", "--speaker", "replay", "--from", str(world.script))
    for _ in range(3):
        run = world.start(world.job(("run", *words)))
        others = [world.do(*recover).code for _ in range(3)]
        (ended,) = world.ended(run)
        assert ended.code == 0, ended.err
        assert set(others) <= {0, 2, 7}  # it is complete, not there yet, or in use
        assert sorted(ended.asked) == sorted(crowds.WORDS)


@pytest.fixture(scope="module")
def calls(tmp_path_factory: pytest.TempPathFactory, nursery: Nursery) -> int:
    return interleaved.count_calls(tmp_path_factory.mktemp("counted"), nursery)


@pytest.mark.parametrize("kind", interleaved.KINDS)
def test_a_fault_in_one_debate_leaves_the_other_alone(tmp_path: Path, nursery: Nursery, kind: str, calls: int) -> None:
    part = interleaved.KINDS.index(kind) + 1
    crowd = interleaved.sweep(tmp_path, nursery, kind, [calls * part // (len(interleaved.KINDS) + 1)])
    assert (crowd.wrong, crowd.held) == ([], 1)
