"""A session that git tracks may have come with the repository: it can be read, and no command writes to it or pays."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.helpers import no_traceback, picture
from tests.next.cli.users import User
from tests.tracked import ID, TURN, UNKNOWN, WAYS, commit, git, move, track

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
Q = "Redis or PostgreSQL?"
ANSWERS = ("--answer", "recommendation=Keep it.", "--answer", "normative=no")
KEY = {"ANTHROPIC_API_KEY": "sk-x", "ANTHROPIC_BASE_URL": "http://127.0.0.1:9"}


@pytest.fixture
def user(tmp_path: Path) -> User:
    found = User(tmp_path / "user")
    git(found.work, "init", "--quiet")
    return found


@pytest.fixture
def session(user: User) -> Path:
    """A debate in the project that is not over."""
    assert user.council("start", "--id", ID, Q).code == 0
    assert user.council("record", ID, "01-positions/architect", *ANSWERS).code == 0
    return move(user, ID)


@pytest.mark.parametrize("way", WAYS)
def test_a_tracked_session_is_not_continued(way: str, user: User, session: Path) -> None:
    WAYS[way](session)
    before = picture(session)
    ended = user.council("next", ID)
    assert (ended.code, ended.out) == (2, "")
    assert f"{ID} cannot be continued: git tracks it in " in ended.err
    assert f"read it with: `council show {ID}`" in ended.err
    assert picture(session) == before
    assert user.council("show", ID).code == 0


@pytest.mark.parametrize("way", UNKNOWN)
def test_where_git_cannot_tell_it_is_not_continued(way: str, user: User, session: Path) -> None:
    UNKNOWN[way](session)
    ended = user.council("next", ID)
    assert ended.code == 2
    assert "git cannot tell whether it is tracked (" in ended.err
    assert user.council("show", ID).code == 0


COMMANDS = (
    ("recover", ID),
    ("run", f"Council recovery: {ID}"),
    ("next", ID),
    ("record", ID, TURN, *ANSWERS),
    ("answer", ID, "--turn", "01-positions-gate/human", "--answer", "gate=approve"),
    ("pause", ID),
    ("build", ID),
    ("archive", ID),
    ("decision", ID),
)


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_no_command_writes_to_it_or_pays_for_it(words: tuple[str, ...], user: User) -> None:
    assert user.council("start", "--id", ID, "--gate", "positions", Q).code == 0
    if words[0] == "answer":
        for seat in ("architect", "designer", "engineer", "researcher"):
            assert user.council("record", ID, f"01-positions/{seat}", *ANSWERS).code == 0
    commit(session := move(user, ID))
    before = picture(user.root, ("client",))
    ended = user.council(*words, **KEY)
    assert ended.code == 2, ended
    no_traceback(ended)
    assert "git tracks it in " in ended.err or words[0] == "decision"
    assert picture(user.root, ("client",)) == before
    assert session.is_dir()


@pytest.mark.parametrize("words", [("status",), ("show",), ("show", "01-positions/architect"), ("verify",)])
def test_it_can_be_read(words: tuple[str, ...], user: User, session: Path) -> None:
    track(session)
    before = picture(user.work)
    assert user.council(words[0], ID, *words[1:]).code == 0
    assert picture(user.work) == before


def test_it_is_found_by_its_whole_id_alone(user: User, session: Path) -> None:
    track(session)
    for words in (("recover",), ("recover", ID[-4:]), ("run", "Council recovery"), ("next",), ("answer",)):
        ended = user.council(*words, **KEY)
        assert ended.code == 2
        assert "no session" in ended.err
    listed = user.council("list").out
    assert listed.startswith("In this project; each is found by its whole id only:\n")
    assert ID in listed


def test_a_member_is_handed_nothing_of_it(user: User, session: Path) -> None:
    track(session)
    before = picture(session)
    user.council("brief", ID, TURN)
    sentence = f"Run `council brief {ID} {TURN}` and do what it prints."
    tool = {"subagent_type": "council:council-member", "prompt": sentence, "description": "Engineer"}
    event = {"hook_event_name": "PreToolUse", "tool_name": "Agent", "tool_input": tool, "tool_use_id": "toolu_1"}
    ended = user.council("hook", stdin=json.dumps(event), CLAUDE_PID=str(os.getpid()))
    said = ended.json["hookSpecificOutput"]
    assert said["permissionDecision"] == "deny"
    assert "git tracks it in " in said["permissionDecisionReason"]
    assert picture(session) == before


def test_another_debate_may_begin_with_what_it_says(user: User, agreed: Path) -> None:
    assert user.replay(agreed, "--id", ID, Q).code == 0
    session = move(user, ID)
    track(session)
    before = picture(session)
    assert user.council("start", "--from", ID, "And then?").code == 0
    assert user.council("run", "--speaker", "replay", "--from", ID, "And then?").code == 0
    assert picture(session) == before
    assert len(user.sessions) == 2


# ---- what is the user's own ----


def other_branch(session: Path) -> None:
    commit(session)
    git(session, "branch", "theirs")
    git(session, "rm", "--quiet", "-r", "--cached", str(session))
    git(session, "commit", "--quiet", "--allow-empty", "--message", "Without it")


def track_another(session: Path) -> None:
    """A session whose id begins alike."""
    for name in (f"{ID}-2", session.name[:-1]):
        other = session.with_name(name)
        other.mkdir()
        (other / "topic.md").write_text("Why?")
        git(other, "add", "--force", "topic.md")
    git(session, "commit", "--quiet", "--message", "Others")


FREE: dict[str, Callable[[Path], object]] = {
    "a repository without a commit": lambda _: None,
    "another session": track_another,
    "no repository": lambda session: shutil.rmtree(session.parents[2] / ".git"),
    "removed by a commit": other_branch,
}


@pytest.mark.parametrize("way", FREE)
def test_a_session_that_git_does_not_track_is_continued(way: str, user: User, session: Path) -> None:
    FREE[way](session)
    assert user.council("next", ID).code == 0
    assert user.council("record", ID, TURN, *ANSWERS).code == 0


def test_the_environment_names_no_other_repository(user: User, session: Path, tmp_path: Path) -> None:
    """Council may be called from a hook of git, which sets these."""
    track(session)
    git(tmp_path, "init", "--quiet", "other")
    other = str(tmp_path / "other" / ".git")
    ended = user.council("next", ID, GIT_DIR=other, GIT_INDEX_FILE=f"{other}/index", GIT_ICASE_PATHSPECS="0")
    assert ended.code == 2
    assert "git tracks it in " in ended.err


def test_a_path_is_no_pattern(user: User) -> None:
    inner = user.work / "a[b]*"
    assert user.council("start", "--id", ID, Q).code == 0
    session = move(user, ID, inner.name)
    track(session)
    ended = user.process("next", ID, cwd=inner)
    assert "git tracks it in " in ended.err
    git(user.work, "rm", "--quiet", "-r", "--cached", ".")
    user.write(f"abc/.council/sessions/{ID}", "A file that the pattern would match.")
    git(user.work, "add", "abc")
    assert user.process("next", ID, cwd=inner).code == 0


# ---- what leaves the project ----


@pytest.mark.parametrize("link", ["archive", "archive/2026-11", "archive/x"])
def test_a_transcript_leaves_the_project_by_no_link(link: str, user: User, agreed: Path, tmp_path: Path) -> None:
    assert user.replay(agreed, "--id", ID, Q).code == 0
    session = move(user, ID)
    (tmp_path / "outside").mkdir()
    (session.parents[1] / link).parent.mkdir(exist_ok=True)
    (session.parents[1] / link).symlink_to(tmp_path / "outside")
    ended = user.council("archive", ID)
    assert ended.code == 2
    assert "no transcript is kept in " in ended.err
    assert "leads out of" in ended.err
    assert list((tmp_path / "outside").iterdir()) == []
    (session.parents[1] / link).unlink()
    assert user.council("archive", ID).code == 0
    assert len([*(session.parents[1] / "archive").glob("*/*.md")]) == 1


def test_a_session_that_a_project_brought_files_into_no_folder_by_itself(user: User, agreed: Path) -> None:
    other = User(user.root / "other")
    (other.work / ".git").mkdir()
    assert other.replay(agreed, "--id", ID, Q).code == 0
    shutil.copytree(other.session, user.work / ".council" / "sessions" / ID)
    ended = user.council("decision", ID)
    assert ended.code == 2
    assert "did not begin in a project of yours; name a folder with --to" in ended.err
    assert not (user.work / "docs").exists()
    assert not (other.work / "docs").exists()
    assert user.council("decision", ID, "--to", "adr").code == 0
    assert len([*(user.work / "adr").iterdir()]) == 1
