"""Git is called in a repository that a stranger made: nothing that it configures is run, and links lead nowhere."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from council.next import git
from council.next.errors import UsageError
from tests.helpers import User
from tests.hostile import PROGRAMS, call

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")


@pytest.fixture
def user(tmp_path: Path) -> User:
    """A repository whose file was changed in its second commit."""
    found = User(tmp_path)
    call(found, "init", "-q", "-b", "main", ".")
    for text in ("one\n", "two\n"):
        found.write("docs/a.md", text)
        call(found, "add", ".")
        call(found, "commit", "-qm", text)
    return found


def changes(top: Path, revisions: str = "HEAD~1..HEAD") -> str:
    return git.diff(*git.range_of(revisions, top), top)


@pytest.mark.parametrize("kind", PROGRAMS)
def test_no_setting_of_the_repository_runs_a_program(kind: str, user: User, tmp_path: Path) -> None:
    clean = changes(user.work)
    assert "-one\n+two\n" in clean
    mark, program = tmp_path / "MARK", tmp_path / "evil"
    program.write_text(f"#!/bin/sh\ntouch {mark}\ncat\n")
    program.chmod(0o755)
    (tmp_path / "evil.d").mkdir()
    for hook in ("post-index-change", "pre-auto-gc", "post-checkout", "fsmonitor-watchman"):
        (tmp_path / "evil.d" / hook).symlink_to(program)
    user.write(".gitattributes", "* diff=evil filter=evil\n")
    for setting in PROGRAMS[kind]:
        name, _, value = setting.partition("=")
        call(user, "config", name, value.format(program))
    assert changes(user.work) == clean
    assert git.first_commit(user.work / "docs/a.md", user.work) == git.commit("HEAD~1", user.work)
    assert not mark.exists()


def test_the_environment_names_no_other_repository(user: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Council may be called from a hook of git, which sets these."""
    clean = changes(user.work)
    (other := tmp_path / "other").mkdir()
    for name, value in {
        "GIT_DIR": str(other), "GIT_WORK_TREE": str(other), "GIT_INDEX_FILE": str(other / "index"),
        "GIT_EXTERNAL_DIFF": "false", "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.bare",
        "GIT_CONFIG_VALUE_0": "true", "GIT_CONFIG_PARAMETERS": "'core.bare'='true'", "GIT_PAGER": "false",
    }.items():  # fmt: skip
        monkeypatch.setenv(name, value)
    assert changes(user.work) == clean


def test_a_folder_that_looks_like_a_repository_is_none(user: User) -> None:
    """A clone may bring the files of a bare one, with settings of its own."""
    call(user, "init", "-q", "--bare", "docs/bare")
    with pytest.raises(UsageError):
        git.read("rev-parse", "HEAD", top=user.work / "docs" / "bare")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another user")
def test_a_repository_of_somebody_else_is_refused_as_git_does(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(user.root))
    for path in (user.work / ".git", user.work):
        os.chown(path, 4711, 4711)
    with pytest.raises(UsageError, match="dubious ownership"):
        git.diff("HEAD~1", "HEAD", user.work)


@pytest.mark.parametrize("revisions", ["HEAD~1", "HEAD~1..", "HEAD~1..main", "HEAD~1...HEAD"])
def test_the_ways_to_name_a_range(revisions: str, user: User) -> None:
    assert "-one\n+two\n" in changes(user.work, revisions)


@pytest.mark.parametrize("revisions", ["nowhere", "HEAD...--output=x", "HEAD:docs/a.md", "--output=x..HEAD"])
def test_what_is_no_commit_is_refused(revisions: str, user: User) -> None:
    with pytest.raises(UsageError, match="names no commit"):
        changes(user.work, revisions)
    assert not (user.work / "x").exists()


def test_a_link_leads_to_no_file_of_another_repository(user: User, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (user.work / "linked").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UsageError, match="a link leads out of it"):
        git.first_commit(user.work / "linked" / "a.md", user.work)


def test_no_repository_is_looked_for_at_or_above_the_home(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    assert git.repository(user.work / "docs") == user.work
    monkeypatch.setenv("HOME", str(user.work))
    (user.work / "inner").mkdir()
    shutil.move(user.work / ".git", user.root / ".git")
    assert git.repository(user.work / "inner") == user.work / "inner"
