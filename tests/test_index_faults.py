"""The index survives kills, other writers and changed bytes, and ends as if nothing had happened."""

from __future__ import annotations

import random
import re
import shutil
import sqlite3
from pathlib import Path

import pytest

from council.index.query import Filters, open_index
from scripts.generate_sessions import generate
from tests import indexing


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Thirty sessions: most complete, one of them not finished, and none of them large."""
    root = tmp_path_factory.mktemp("many") / "sessions"
    generate(30, root, names=(), words=12)
    return root


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "cache").mkdir(mode=0o700)
    return tmp_path / "cache" / "index.sqlite"


def test_the_generated_sessions_are_what_they_say(root: Path, path: Path) -> None:
    index = open_index([root], path)
    index.refresh()
    states = [row["state"] for row in index.page(limit=50).rows]
    assert (states.count("complete"), states.count("interrupted")) == (29, 1)
    index.close()


def test_a_killed_build_is_completed_by_the_next(root: Path, path: Path) -> None:
    whole = indexing.clean(root, path)
    indexing.remove(path)
    for after in (0.05, 0.15):
        indexing.kill_once(root, path, after)
    indexing.run(indexing.build(root, path))
    assert indexing.dump(path) == whole


def test_several_first_builds_at_once_make_one_index(root: Path, path: Path) -> None:
    whole = indexing.clean(root, path)
    indexing.remove(path)
    assert indexing.write_at_once(root, path, 4) == []
    indexing.run(indexing.build(root, path))
    assert indexing.dump(path) == whole


def test_changed_bytes_never_show_anything_that_the_files_do_not_say(root: Path, path: Path) -> None:
    """A few of them; `scripts/prove window` changes each."""
    few = path.parent.parent / "few"
    for folder in sorted(root.iterdir())[:3]:
        shutil.copytree(folder, few / folder.name)
    indexing.clean(few, path)
    spots = sorted(random.Random(7).sample(range(path.stat().st_size), 30))
    for folder in few.iterdir():  # and every byte of one name that a flip could turn into another
        spots += [hit.start() + 20 for hit in re.finditer(folder.name.encode(), path.read_bytes())]
    found = indexing.flip_bytes(few, path, spots, "restore")
    assert found.wrong == []


def test_an_index_that_was_cut_off_or_filled_with_something_else_is_made_again(root: Path, path: Path) -> None:
    whole = indexing.clean(root, path)
    data = path.read_bytes()
    for there in (data[: len(data) // 2], b"SQLite format 3\0" + b"\xff" * 5000):
        indexing.remove(path)
        path.write_bytes(there)
        indexing.run(indexing.build(root, path))
        index = open_index([root], path)
        index.refresh()
        assert len(index.page(Filters("restore"), limit=50).rows) > 5
        index.close()
        assert indexing.dump(path) == whole


def test_tables_of_somebody_else_are_replaced(root: Path, path: Path) -> None:
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE session (id TEXT)")
        db.execute("PRAGMA user_version = 1")
    index = open_index([root], path)
    index.refresh()
    assert len(index.page(limit=50).rows) == 30
    index.close()
