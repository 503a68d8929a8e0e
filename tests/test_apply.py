"""`council apply`: a branch after a yes, never else; what it says before; and that it can be thrown away."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from council.candidates.base import Base
from tests import code_sessions, repositories
from tests.applying import Killing, Point
from tests.code_sessions import RIGHT, about, hold, say, write_file
from tests.helpers import User
from tests.repositories import git, picture

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")


@pytest.fixture
def user(tmp_path: Path) -> User:
    return User(tmp_path)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = repositories.make(tmp_path / "project")
    repositories.disturb(made)
    return made


def test_a_branch_comes_and_goes_and_nothing_else_changes(user: User, folder: Path) -> None:
    session = about(user, folder, gate=True, examine=True)
    before = picture(folder, session.id)
    applied = user.council("apply", session.id, "--yes", "--repo", folder)
    assert applied.code == 0, applied.text
    for line in (
        f"council/{session.id}, a new branch of {folder}: 1 commit on", "  src/app.py  +1 -1",
        "  engineer, version 1: the only candidate", "  Visible tests (pytest): pass, 1 of 1 passed",
        "  Hidden tests (pytest): pass, 1 of 1 passed", "approved exactly these files",
        f"use it: git merge council/{session.id}",
        f"remove it: council apply --undo {session.id} --repo {folder}",
    ):  # fmt: skip
        assert line in applied.out
    assert picture(folder, session.id) == before
    branch = f"council/{session.id}"
    assert git(folder, "show", f"{branch}:src/app.py") == RIGHT
    assert git(folder, "diff", "--name-only", f"HEAD..{branch}") == b"src/app.py\n"
    message = git(folder, "log", "-1", "--format=%an%n%B", branch).decode()
    assert message.startswith(f"council\nFix add.\n\nWritten in the council session {session.id}:\nengineer, version 1")
    again = user.council("apply", session.id, "--repo", folder, "--json")  # there is nothing to say yes to
    assert (again.code, again.json["state"], again.json["doubts"]) == (0, "unchanged", [])
    undone = user.council("apply", "--undo", session.id, "--repo", folder)
    assert (undone.code, undone.out) == (0, f"removed the branch council/{session.id}\n")
    assert git(folder, "for-each-ref", f"refs/heads/{branch}") == b""
    assert picture(folder, session.id) == before
    assert user.council("apply", "--undo", session.id, "--repo", folder).code == 2


def test_files_that_run_outside_of_the_sandbox_are_named(user: User, folder: Path) -> None:
    written = [
        ".github/workflows/ci.yml",
        ".claude/settings.json",
        ".mcp.json",
        ".envrc",
        ".vscode/tasks.json",
        "Makefile",
    ]
    draft = "".join(f"File: `{path}`\n```\nx\n```\n" for path in [*written, "setup.py", "src/new.py"])
    session = about(user, folder, partial(say, draft=draft), gate=True)
    asked = user.council("apply", session.id, "--repo", folder)
    head, _, named = asked.out.partition("READ THESE FIRST: programs outside of the sandbox run or obey them\n")
    assert ("src/new.py" in head, [line.split(":")[0].strip() for line in named.splitlines() if line]) == (
        True,
        [*sorted(written), "setup.py"],
    )
    found = user.council("apply", session.id, "--repo", folder, "--yes", "--json").json["runs_later"]
    assert [one["path"] for one in found] == [*sorted(written), "setup.py"]
    assert found[2] == {"path": ".github/workflows/ci.yml", "why": "CI runs it, or it steers GitHub"}
    for shown in (user.council("show", session.id).text, (session.folder / "result.md").read_text()):
        assert "## Read These First\n\nPrograms outside of the sandbox run or obey these files:\n\n- `.claude/" in shown
        assert "- `Makefile`: builds run it\n" in shown
    assert "Read These First" in user.council("show", session.id, "--html").out
    (brief,) = (session.folder / "briefs").glob("*approve*/human.md")
    assert "its tests pass; read first what runs outside of the sandbox: .claude/settings.json, " in brief.read_text()


def test_nothing_happens_without_a_yes(user: User, folder: Path) -> None:
    session = about(user, folder)
    before = picture(folder, "nothing")
    for words in ((), ("--json",)):
        asked = user.council("apply", session.id, "--repo", folder, *words, stdin="y\n")
        assert (asked.code, "this needs a yes" in asked.err) == (2, True)
        assert ("nobody was asked to approve" in asked.out) is (not words)
    assert picture(folder, "nothing") == before


@pytest.mark.parametrize(
    ("said", "run", "doubt"),
    [
        (partial(say, tests="fail"), True, "visible tests: fail"),
        (partial(say, exam="tampered"), True, "hidden tests: tampered"),
        (say, False, "was not run by council"),
    ],
)
def test_a_winner_that_is_not_green_needs_the_flag_that_says_so(
    user: User, folder: Path, said: code_sessions.Say, run: bool, doubt: str
) -> None:
    session = about(user, folder, said, run, examine=True)
    refused = user.council("apply", session.id, "--yes", "--repo", folder)
    assert (refused.code, doubt in refused.err, "--although-tests-fail" in refused.err) == (2, True, True)
    assert git(folder, "for-each-ref", "refs/heads/council") == b""
    assert user.council("apply", session.id, "--yes", "--repo", folder, "--although-tests-fail").code == 0


def test_what_a_person_rejected_is_never_applied(user: User, folder: Path) -> None:
    session = about(user, folder, partial(say, approval="reject"), gate=True)
    refused = user.council("apply", session.id, "--yes", "--repo", folder, "--although-tests-fail")
    assert (refused.code, "rejected the candidates" in refused.err) == (2, True)
    shown = user.council("show", session.id).text
    assert ("Nothing is applied: Human rejected the candidates." in shown, "put it on a branch" in shown) == (
        True,
        False,
    )


def test_a_session_leads_to_no_repository_by_itself(user: User, folder: Path) -> None:
    session = about(user, folder)
    nowhere = user.council("apply", session.id, "--yes")
    assert (nowhere.code, f"the session began in {folder}" in nowhere.err) == (2, True)
    other = repositories.make(folder.parent / "other")
    git(other, "commit", "-q", "--amend", "-m", "another commit")
    git(other, "reflog", "expire", "--expire=now", "--all")
    git(other, "gc", "-q", "--prune=now")
    wrong = user.council("apply", session.id, "--yes", "--repo", other)
    assert (wrong.code, "has no commit" in wrong.err) == (2, True)


def test_a_session_in_which_nobody_wrote_says_so(user: User, folder: Path) -> None:
    session = about(user, folder, partial(say, draft="I would rather not."))
    refused = user.council("apply", session.id, "--yes", "--repo", folder)
    assert (refused.code, f"nobody wrote code in {session.id}" in refused.err) == (2, True), refused.err


def test_a_commit_that_is_gone_leaves_the_patch(user: User, folder: Path) -> None:
    session = about(user, folder)
    git(folder, "commit", "-q", "--amend", "-m", "another commit")
    for words in (("update-ref", "-d", "ORIG_HEAD"), ("stash", "clear"), ("reflog", "expire", "--expire=now", "--all")):
        git(folder, *words)
    for ref in git(folder, "for-each-ref", "--format=%(refname)").decode().split():
        if ref != "refs/heads/main":
            git(folder, "update-ref", "-d", ref)
    git(folder, "gc", "-q", "--prune=now")
    gone = user.council("apply", session.id, "--yes", "--repo", folder)
    assert (gone.code, f"git apply {session.folder}/result.patch" in gone.err) == (2, True), gone.err


def test_uncommitted_changes_are_a_commit_of_their_own(user: User, folder: Path) -> None:
    from council.lab import worktree
    from council.lab.repository import open_repository, read_commit

    repository = open_repository(folder)
    commit = read_commit(repository)
    whole = worktree.add_uncommitted(repository, commit, worktree.find_uncommitted(repository, commit))
    session = hold(user, code_sessions.base_of(whole, folder, worktree=True))
    applied = user.council("apply", session.id, "--yes", "--repo", folder)
    assert (applied.code, "2 commits on" in applied.out) == (0, True)
    branch = f"council/{session.id}"
    assert git(folder, "log", "--format=%s", f"HEAD..{branch}").decode().splitlines() == [
        "Fix add.",
        "Uncommitted changes",
    ]
    assert git(folder, "show", f"{branch}~:staged.txt") == b"staged\n"
    assert git(folder, "diff", "--name-only", f"{branch}~..{branch}") == b"src/app.py\n"


def test_what_members_were_not_given_stays_as_it_is(user: User, folder: Path) -> None:
    from council.lab.repository import open_repository, read_commit

    commit = read_commit(open_repository(folder))
    base = code_sessions.base_of(commit, folder, left_out={"data/image.bin": "in Git LFS"})
    session = hold(user, base)
    assert user.council("apply", session.id, "--yes", "--repo", folder).code == 0
    assert git(folder, "diff", "--name-only", f"HEAD..council/{session.id}") == b"src/app.py\n"
    over = partial(say, draft=write_file("data/image.bin", b"mine\n"))
    assert "without changing a file" in user.council("apply", hold(user, base, over).id, "--repo", folder).err
    (folder / "link").symlink_to("src")
    git(folder, "add", "link")
    git(folder, "commit", "-qm", "a link")
    through = about(user, folder, partial(say, draft=write_file("link/app.py", b"mine\n")))  # nobody knew of the link
    refused = user.council("apply", through.id, "--yes", "--repo", folder)
    assert (refused.code, "was not among the files that members saw" in refused.err) == (2, True)


def test_a_folder_that_is_no_repository_gets_a_patch(user: User) -> None:
    session = hold(user, Base({"src/app.py": b"def add(a, b):\n    return a - b\n"}))
    refused = user.council("apply", session.id, "--yes")
    assert (refused.code, f"patch -p1 < {session.folder}/result.patch" in refused.err) == (2, True)


def test_what_has_no_winner_is_refused(user: User, folder: Path) -> None:
    session = about(user, folder, partial(say, draft=write_file("src/app.py", repositories.FILES["src/app.py"])))
    assert "without changing a file" in user.council("apply", session.id, "--yes", "--repo", folder).err
    assert "no session" in user.council("apply", "nothing", "--yes").err


def test_a_death_leaves_nothing_or_the_whole_branch(user: User, folder: Path) -> None:
    """`scripts/prove lab` has every call, and every change that git makes to a file."""
    session = about(user, folder)
    killing = Killing(user, session.id, folder)
    before = picture(folder, session.id)
    calls = killing.list_calls()
    last = next(at for at, call in enumerate(calls, 1) if " update-ref " in call)
    for point in (Point(last, "before"), Point(last, "after")):
        assert killing.kill(point).code == -9
        assert list(killing.check(before)) == []


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A file system with room for little more than a repository."""
    place = tmp_path / "small"
    place.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", "size=800k", "tmpfs", str(place)]
    if os.geteuid() or subprocess.run(words, capture_output=True, check=False).returncode:
        pytest.skip("no file system can be mounted here")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def test_a_full_disk_leaves_nothing_and_is_named(user: User, small: Path) -> None:
    folder = small / "project"
    repositories.make(folder)
    session = about(user, folder)
    before = git(folder, "for-each-ref")
    fill = small / "fill"
    room = os.statvfs(small)
    fill.write_bytes(bytes(room.f_bavail * room.f_frsize))
    ended = user.council("apply", session.id, "--yes", "--repo", folder)
    assert (ended.code, "No space left on device" in ended.err) == (6, True), ended.text
    assert git(folder, "for-each-ref") == before
    fill.unlink()
    assert user.council("apply", session.id, "--yes", "--repo", folder).code == 0
    assert git(folder, "show", f"council/{session.id}:src/app.py") == RIGHT
