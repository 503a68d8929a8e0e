"""Git is called in a repository that a stranger made: nothing that it configures is run, and links lead nowhere."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from council import git
from council.errors import StorageError, UsageError
from tests import reviewing
from tests.helpers import User, no_traceback
from tests.hostile import PROGRAMS, call, repository

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")

SPEC = reviewing.SPEC


@pytest.fixture
def user(tmp_path: Path) -> User:
    found = User(tmp_path)
    repository(found, SPEC)
    return found


@pytest.mark.parametrize("kind", PROGRAMS)
def test_no_setting_of_the_repository_runs_a_program(kind: str, user: User, tmp_path: Path) -> None:
    clean = git.diff("HEAD", user.work / "sessions.md")
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
    (user.work / "sessions.md").touch()
    assert git.diff("HEAD", user.work / "sessions.md") == clean
    reviewing.review(user, "sessions.md", "--diff", "HEAD")
    assert not mark.exists()


def test_the_environment_names_no_other_repository(user: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Council may be called from a hook of git, which sets these."""
    clean = git.diff("HEAD", user.work / "sessions.md")
    other = tmp_path / "other"
    other.mkdir()
    for name, value in {
        "GIT_DIR": str(other), "GIT_WORK_TREE": str(other), "GIT_INDEX_FILE": str(other / "index"),
        "GIT_EXTERNAL_DIFF": "false", "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.bare",
        "GIT_CONFIG_VALUE_0": "true", "GIT_CONFIG_PARAMETERS": "'core.bare'='true'", "GIT_PAGER": "false",
    }.items():  # fmt: skip
        monkeypatch.setenv(name, value)
    assert git.diff("HEAD", user.work / "sessions.md") == clean


def test_a_folder_that_looks_like_a_repository_is_none(user: User, tmp_path: Path) -> None:
    """A clone may bring the files of a bare one, with settings of its own."""
    call(user, "init", "-q", "--bare", "docs")
    user.write("docs/spec.md", SPEC)
    with pytest.raises(UsageError):
        git.read("rev-parse", "HEAD", cwd=user.work / "docs")
    assert "new file mode" in git.diff("HEAD", user.work / "docs" / "spec.md")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another user")
def test_a_repository_of_somebody_else_is_refused_as_git_does(user: User) -> None:
    for path in (user.work / ".git", user.work):
        os.chown(path, 4711, 4711)
    ended = user.council("review", "sessions.md", "--diff", "HEAD")
    assert (ended.code, "dubious ownership" in ended.err) == (2, True)
    (user.root / ".gitconfig").write_text("[safe]\n\tdirectory = *\n")
    reviewing.review(user, "sessions.md", "--diff", "HEAD")


@pytest.mark.parametrize("revision", ["HEAD", "HEAD^{tree}", "HEAD..", "HEAD...HEAD", "@"])
def test_the_ways_to_name_a_revision(revision: str, user: User) -> None:
    changes = git.diff(revision, user.work / "sessions.md")
    assert changes.startswith("diff --git a/sessions.md b/sessions.md\n")
    assert "-A token expires after a year" in changes
    assert "+A token never expires" in changes


@pytest.mark.parametrize("revision", ["nowhere", "HEAD...--output=x", "HEAD:sessions.md", "--output=x..HEAD", "\0"])
def test_what_is_no_revision_is_refused(revision: str, user: User) -> None:
    ended = user.council("review", "sessions.md", "--diff", revision)
    no_traceback(ended)
    assert ended.code == 2
    assert not (user.work / "x").exists()


@pytest.mark.parametrize("name", ["-p", "--output=x", "a b.md", ":(top)x.md", "ä\n.md", "*.md"])
def test_a_file_is_named_as_it_is(name: str, user: User) -> None:
    user.write(f"./{name}", "one\n")
    call(user, "--literal-pathspecs", "add", "--", name)
    call(user, "commit", "-qm", "two")
    user.write(f"./{name}", "two\n")
    changes = git.diff("HEAD", user.work / name)
    assert changes.count("diff --git") == 1
    assert changes.endswith("-one\n+two\n")


# ---- what is reviewed ----


def outside(user: User) -> Path:
    path = user.root / "secret"
    path.write_text("SECRET\n" * 10)
    return path


def test_a_pattern_passes_over_what_leads_out_of_the_project(user: User) -> None:
    (user.work / "docs").mkdir()
    (user.work / "docs/evil.md").symlink_to(outside(user))
    (user.work / "docs/config.md").symlink_to("../.git/config")
    os.mkfifo(user.work / "docs/pipe.md")
    (user.work / "docs/device.md").symlink_to("/dev/zero")
    (user.work / "docs/folder.md").mkdir()
    (user.work / "docs/sessions.md").symlink_to("../sessions.md")
    reviewing.review(user, "docs/*.md")
    topic = (user.session / "topic.md").read_text("utf-8")
    assert "SECRET" not in topic
    assert "repositoryformatversion" not in topic
    assert SPEC.splitlines()[0] in topic


@pytest.mark.parametrize("kind", ["link", "pipe", "device", "settings"])
def test_a_named_file_that_leads_out_of_the_project_is_refused(kind: str, user: User) -> None:
    path = user.work / "evil.md"
    if kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to({"link": str(outside(user)), "device": "/dev/zero", "settings": ".git/config"}[kind])
    ended = user.council("review", "evil.md")
    no_traceback(ended)
    assert (ended.code, user.sessions) == (2, [])
    assert "evil.md" in ended.err


def test_a_file_that_the_user_names_elsewhere_is_reviewed(user: User) -> None:
    (user.root / "elsewhere").mkdir()
    (user.root / "elsewhere/sessions.md").write_text(SPEC)
    (user.root / "elsewhere/link.md").symlink_to("sessions.md")
    reviewing.review(user, user.root / "elsewhere/link.md")


def test_a_review_of_nothing_may_pass(user: User) -> None:
    for words in (("docs/*.md",), ("sessions.md", "--diff", "HEAD")):
        if "--diff" in words:
            call(user, "commit", "-qam", "two")
        assert user.council("review", *words).code == 2
        ended = user.council("review", *words, "--allow-empty", "--format", "sarif", "--output", "x.sarif")
        assert (ended.code, "nothing to review" in ended.err) == (0, True)
        assert '"results": []' in (user.work / "x.sarif").read_text("utf-8")
    assert user.sessions == []


def test_what_git_complains_of_is_no_hint() -> None:
    said = git.complain(b"hint: old\nwarning: older\n\nfatal: no such thing\nerror: more\n", "not made: ")
    assert (type(said), str(said)) == (UsageError, "not made: fatal: no such thing")
    assert isinstance(git.complain(b"fatal: cannot write: No space left on device\n"), StorageError)
    assert str(git.complain(b"")) == "git gave no reason"
