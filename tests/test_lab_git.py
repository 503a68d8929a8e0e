"""A commit is read and a branch is made by plumbing alone: nothing of the repository is run, nothing of the user's is
touched. `scripts/prove lab` has all kinds and all traps."""

from __future__ import annotations

import shutil
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

from council.errors import UsageError
from council.lab import branch, worktree
from council.lab.branch import NewCommit
from council.lab.history import describe_history
from council.lab.repository import open_repository, read_commit
from tests import repositories
from tests.repositories import FILES, FIXED, REF, WHEN, git, go_through, picture, undo

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
SAMPLE = ("worktree", "bare", "sha256", "submodule", "links")
TRAPS = ("hooks", "fsmonitor", "filter", "textconv", "alias", "signatures", "replaced objects", "work tree")


@pytest.mark.parametrize("kind", SAMPLE)
def test_a_branch_comes_and_goes_and_nothing_else_changes(kind: str, tmp_path: Path) -> None:
    folder = repositories.KINDS[kind](tmp_path)
    if kind != "bare":
        repositories.disturb(folder)
    before = picture(folder)
    applied = go_through(folder)
    assert picture(folder) == before
    assert {path: data for path, data in applied.commit.files.items() if path in FILES} == FILES
    there = read_commit(applied.repository, REF)
    assert {path: data for path, data in there.files.items() if path in FILES or path in FIXED} == FIXED
    assert there.executable == ("run.sh",)
    assert there.left_out == applied.commit.left_out
    assert git(folder, "fsck", "--no-dangling") == b""
    undo(applied)
    assert picture(folder) == before
    assert not applied.repository.find(REF)


@pytest.mark.parametrize("trap", TRAPS)
def test_nothing_that_a_repository_names_is_run(trap: str, tmp_path: Path) -> None:
    folder = repositories.KINDS["submodule"](tmp_path)
    mark = repositories.plant(folder, trap)
    applied = go_through(folder)
    undo(applied)
    assert not mark.exists()
    assert applied.commit.files["src/app.py"] == FILES["src/app.py"]


@pytest.mark.parametrize("trap", ["hooks", "fsmonitor", "filter"])
def test_the_traps_are_sprung_by_anybody_else(trap: str, tmp_path: Path) -> None:
    folder = repositories.make(tmp_path / "project")
    mark = repositories.plant(folder, trap)
    (folder / "src/app.py").write_text("changed\n")
    with suppress(subprocess.CalledProcessError):
        git(folder, "commit", "-qam", "again")
    assert mark.exists()


@pytest.mark.parametrize("way", repositories.BORROWERS)
def test_a_folder_cannot_have_another_repository_read(way: str, tmp_path: Path) -> None:
    secret, folder = repositories.make(tmp_path / "secret"), repositories.make(tmp_path / "project")
    repositories.BORROWERS[way](folder, secret)
    with pytest.raises(UsageError, match="elsewhere"):
        read_commit(open_repository(folder))


def test_what_is_not_committed_is_told_and_can_be_included(tmp_path: Path) -> None:
    folder = repositories.KINDS["links"](tmp_path)
    repositories.disturb(folder)
    (folder / "run.sh").unlink()
    shutil.rmtree(folder / "data")
    (folder / "data").symlink_to("/etc")
    repository = open_repository(folder)
    commit = read_commit(repository)
    assert commit.left_out == {"link.py": "a symbolic link", "outside": "a symbolic link"}
    found = worktree.find_uncommitted(repository, commit)
    assert {path: data and data[-4:] for path, data in found.changed.items()} == {
        "data/image.bin": None, "run.sh": None, "src/app.py": b"ted\n", "staged.txt": b"ged\n",
    }  # fmt: skip
    assert found.untracked == ("data", "untracked.txt")
    assert "4 changed (data/image.bin, run.sh and …)" in found.describe()
    whole = worktree.add_uncommitted(repository, commit, found)
    assert whole.files.keys() == (FILES.keys() | {"staged.txt", "untracked.txt"}) - {"run.sh", "data/image.bin"}


def test_history_is_text(tmp_path: Path) -> None:
    repository = open_repository(repositories.make(tmp_path / "project"))
    text = describe_history(repository, read_commit(repository).commit, ["src/app.py"])
    assert "Ada: second" in text
    assert "return a - b" in text


def test_undo_keeps_what_apply_did_not_make(tmp_path: Path) -> None:
    folder = repositories.make(tmp_path / "project")
    applied = go_through(folder)
    git(folder, "worktree", "add", "-q", str(tmp_path / "look"), REF.removeprefix("refs/heads/"))
    with pytest.raises(UsageError, match="is checked out in"):
        undo(applied)
    (tmp_path / "look" / "more.txt").write_text("more\n")
    git(tmp_path / "look", "add", "-A")
    git(tmp_path / "look", "commit", "-qm", "more")
    with pytest.raises(UsageError, match="it has 1 more commit; it is kept"):
        undo(applied)
    with pytest.raises(UsageError, match="is not what apply makes"):
        branch.create(applied.repository, REF, applied.tip, WHEN)


def test_two_applies_make_one_branch(tmp_path: Path) -> None:
    applied = go_through(repositories.make(tmp_path / "project"))
    assert repositories.make_tip(applied.repository, applied.commit) == applied.tip
    assert not branch.create(applied.repository, REF, applied.tip, WHEN)


def test_a_locked_reference_and_one_in_the_way_are_named(tmp_path: Path) -> None:
    folder = repositories.make(tmp_path / "project")
    repository = open_repository(folder)
    tip = repositories.make_tip(repository, read_commit(repository))
    (folder / ".git/refs/heads/council").mkdir()
    (folder / f".git/{REF}.lock").touch()
    with pytest.raises(UsageError, match=r"was not created: .*lock"):
        branch.create(repository, REF, tip, WHEN)
    (folder / f".git/{REF}.lock").unlink()
    git(folder, "branch", "council")
    with pytest.raises(UsageError, match=r"was not created: .*refs/heads/council"):
        branch.create(repository, REF, tip, WHEN)


def test_no_link_and_no_submodule_is_replaced(tmp_path: Path) -> None:
    repository = open_repository(repositories.KINDS["links"](tmp_path))
    commit = read_commit(repository)
    for path in ("link.py", "outside/passwd"):
        step = NewCommit({**commit.files, path: b"x"}, "no", WHEN)
        with pytest.raises(UsageError, match="was not among the files that members saw"):
            branch.make_commits(repository, commit.commit, commit.left_out, [step])


def test_the_largest_files_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("council.lab.repository.MOST_BYTES", 7_000)
    commit = read_commit(open_repository(repositories.make(tmp_path / "project")))
    assert commit.left_out == {"data/image.bin": "1,024 bytes"}


def test_no_repository_and_no_commit_are_said_so(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is in no git repository"):
        open_repository(tmp_path)
    git(tmp_path, "init", "-q")
    with pytest.raises(UsageError, match="commit the project first"):
        read_commit(open_repository(tmp_path))
