"""A session that git tracks may have come with the repository: it can be read, and no command writes to it or pays."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import council
from council.cli import commands
from council.mcp_server import tools
from council.record import metadata
from tests import tracked
from tests.fakeapi import FakeApi
from tests.helpers import User, agreed, no_traceback, picture, script
from tests.tracked import (
    ID,
    REFUSED,
    REFUSING,
    REVIEW,
    TOOLS,
    TRIES,
    TURN,
    UNKNOWN,
    UNTOLD,
    WAYS,
    bring,
    git,
    move,
)

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")

READING = {
    "status": ["{}"],
    "show": ["{}"],
    "verify": ["{}"],
    "brief": ["{}", TURN],
    "list": [],
    "doctor": [],
}


@pytest.fixture
def user(tmp_path: Path) -> User:
    found = User(tmp_path)
    git(found.work, "init", "--quiet")
    return found


@pytest.fixture
def session(user: User) -> Path:
    return bring(user)


# ---- every command, every tool, every event of a hook ----


def takes_session(name: str) -> bool:
    """Also in `--from` and `--session`."""
    return any(
        one.name == "session" or "SESSION" in str(one.metavar) for one in commands.built_in()[name].load().params
    )


def test_every_command_that_takes_a_session_is_tried() -> None:
    taking = {name for name in commands.built_in() if takes_session(name)}
    assert taking - {"start", "confirm", "cost"} <= REFUSING.keys() | READING.keys(), (
        "these only read, for a session of their own"
    )
    assert REFUSING.keys() | READING.keys() <= commands.built_in().keys()


def test_every_tool_is_tried() -> None:
    assert tools.TOOLS.keys() == TOOLS.keys() | {"council_start", "council_status"}


@pytest.fixture(scope="module")
def all_tracked(tmp_path_factory: pytest.TempPathFactory) -> tuple[User, Path]:
    """Nothing that is tried here may change it."""
    user, session = tracked.bring_all(tmp_path_factory.mktemp("tracked"))
    for one in session.parent.glob("[a-z0-9]*"):
        tracked.commit(one)
    return user, session


@pytest.mark.parametrize("name", TRIES)
def test_what_writes_or_pays_refuses_it(name: str, all_tracked: tuple[User, Path]) -> None:
    user, _ = all_tracked
    assert tracked.find_wrong(user, name, REFUSED) == []
    ended = tracked.try_once(user, name)
    if name in REFUSING:
        assert ended.code == 2
        assert f"read it with: council show {REVIEW if name == 'review' else ID}" in ended.err.replace("`", "")
    elif name in TOOLS:
        assert json.loads(ended.out.splitlines()[1])["result"]["isError"] is True
    elif name == "PreToolUse":
        assert ended.json["hookSpecificOutput"]["permissionDecision"] == "deny"


@pytest.mark.parametrize("name", READING)
def test_what_reads_shows_it(name: str, all_tracked: tuple[User, Path]) -> None:
    user, session = all_tracked
    before = picture(user.work)
    ended = user.council(name, *(word.format(ID) for word in READING[name]))
    assert ended.code == 0 or name == "doctor", ended.text
    assert (ID in ended.out) == (name not in ("doctor", "brief"))
    assert ("it cannot be continued: git tracks it" in ended.out) == (name == "status")
    if name == "brief":  # without the command that stores an answer
        assert ended.out.encode() == (session / "briefs" / f"{TURN}.md").read_bytes()
    assert picture(user.work) == before


def test_the_python_api_refuses_it(all_tracked: tuple[User, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    user, _ = all_tracked
    monkeypatch.chdir(user.work)
    for name, value in user.environment.items():
        monkeypatch.setenv(name, value)
    assert council.load_session(ID).state == "waiting"
    with pytest.raises(council.CouncilError, match=REFUSED):
        council.recover(ID, speaker="replay", source=user.work / "script.yaml")


def test_a_tool_that_reads_shows_it(all_tracked: tuple[User, Path]) -> None:
    ended = tracked.call_tool(all_tracked[0], "council_status", {"session": ID})
    assert json.loads(ended.out.splitlines()[1])["result"]["structuredContent"]["state"] == "waiting"


def test_another_debate_may_begin_with_what_it_says(user: User) -> None:
    assert user.council("run", "--id", ID, "--speaker", "replay", "--from", script(user, agreed()), "Why?").code == 0
    session = move(user, ID)
    tracked.track(session)
    before = picture(session)
    for words in (["start", "--from", ID], ["run", "--speaker", "replay", "--from", ID]):
        ended = user.council(*words, "And then?")
        assert ended.code == 0, ended.err
    assert picture(session) == before
    assert len(user.sessions) == 2


def test_a_hook_serves_a_session_of_the_project_that_git_does_not_track(user: User, session: Path) -> None:
    said = tracked.send_event(user, "PreToolUse").json["hookSpecificOutput"]
    assert said["updatedInput"]["prompt"].encode() == (session / "briefs" / f"{TURN}.md").read_bytes()
    assert list((session / ".asked").glob("*.json"))


@pytest.mark.parametrize("id", ["last", "latest", "20261119-074343-1bdd968f", "1bdd968f"])
def test_a_cloned_session_is_reached_by_no_guess(id: str, user: User, tmp_path: Path) -> None:
    """Whatever it is called: as the newest, as an id that somebody noted, or as a part of one."""
    session = bring(user)
    text = (session / "metadata.json").read_text()
    session = session.rename(session.with_name(id))
    facts = json.loads(text)
    facts.pop("seal")
    (session / "metadata.json").write_bytes(metadata.seal({**facts, "session_id": id}))
    user.write(".council/AgentPersonalities.md", "## engineer\n\n- **Title:** Agrees\n\nYou agree.\n")
    tracked.track(session)
    git(user.work, "add", ".council/AgentPersonalities.md")
    git(user.work, "commit", "--quiet", "--message", "A debate to finish")
    origin = user.work.rename(tmp_path / "origin")
    git(tmp_path, "clone", "--quiet", str(origin), "work")
    cloned = user.work / session.relative_to(user.work)
    assert (cloned / "metadata.json").exists()
    before = picture(user.work, (".git",))
    with FakeApi(lambda _: pytest.fail("a model was called")) as api:  # type: ignore[arg-type]
        for words in (["recover"], ["recover", id], ["recover", id[-4:]], ["run", "Council recovery"], ["next", id]):
            ended = user.council(*words, ANTHROPIC_API_KEY="sk-x", ANTHROPIC_BASE_URL=api.url)
            assert ended.code == 2, ended.text
            no_traceback(ended)
        assert api.requests == []
    assert picture(user.work, (".git",)) == before


# ---- what git tracks, and how ----


@pytest.mark.parametrize("way", WAYS)
def test_a_tracked_session_is_not_continued(way: str, user: User, session: Path) -> None:
    WAYS[way](session)
    before = picture(session)
    ended = user.council("next", ID)
    assert ended.code == 2, ended.text
    assert REFUSED in ended.err, ended.err
    assert f"read it with: council show {ID}" in ended.err.replace("`", "")
    assert picture(session) == before
    assert user.council("show", ID).code == 0


@pytest.mark.parametrize("way", UNKNOWN)
def test_where_git_cannot_tell_it_is_not_continued(way: str, user: User, session: Path) -> None:
    UNKNOWN[way](session)
    ended = user.council("next", ID)
    assert ended.code == 2, ended.text
    assert UNTOLD in ended.err
    assert user.council("show", ID).code == 0


def test_without_git_it_is_not_continued_in_a_repository(user: User, session: Path, tmp_path: Path) -> None:
    empty = tmp_path / "bin"
    empty.mkdir()
    refused = user.council("next", ID, PATH=str(empty))
    assert refused.code == 2
    assert f"{UNTOLD}git is not on PATH; install it)" in refused.err
    shutil.rmtree(user.work / ".git")
    assert user.council("next", ID, PATH=str(empty)).code == 0


def ignore(session: Path) -> None:
    (session.parent / ".gitignore").write_text("*\n")
    git(session.parent, "add", "--all")


def track_another(session: Path) -> None:
    """A session whose id begins alike."""
    for name in (f"{ID}-2", session.name[:-1]):
        other = session.with_name(name)
        other.mkdir()
        (other / "topic.md").write_text("Why?")
        git(other, "add", "--force", "topic.md")
    git(session, "commit", "--quiet", "--message", "Others")


def empty_mark(session: Path) -> None:
    """Some sandboxes put an empty folder there, so that nobody makes a repository."""
    shutil.rmtree(session.parents[2] / ".git")
    (session.parents[2] / ".git").mkdir()


def other_branch(session: Path) -> None:
    tracked.commit(session)
    git(session, "branch", "theirs")
    git(session, "rm", "--quiet", "-r", "--cached", str(session))
    git(session, "commit", "--quiet", "--allow-empty", "--message", "Without it")


FREE: dict[str, Callable[[Path], object]] = {
    "a repository without a commit": lambda _: None,
    "ignored": ignore,
    "another session": track_another,
    "an empty folder": empty_mark,
    "no repository": lambda session: shutil.rmtree(session.parents[2] / ".git"),
    "removed by a commit": other_branch,
}


@pytest.mark.parametrize("way", FREE)
def test_a_session_that_git_does_not_track_is_continued(way: str, user: User, session: Path) -> None:
    FREE[way](session)
    assert user.council("next", ID).code == 0
    assert user.council("record", ID, TURN, stdin="Keep it.").code == 0


def test_the_environment_names_no_other_repository(user: User, session: Path, tmp_path: Path) -> None:
    """Council may be called from a hook of git, which sets these."""
    tracked.track(session)
    git(tmp_path, "init", "--quiet", "other")
    other = str(tmp_path / "other" / ".git")
    ended = user.council("next", ID, GIT_DIR=other, GIT_INDEX_FILE=f"{other}/index", GIT_ICASE_PATHSPECS="0")
    assert ended.code == 2
    assert REFUSED in ended.err


def test_a_path_is_no_pattern(tmp_path: Path) -> None:
    user = User(tmp_path)
    git(user.work, "init", "--quiet")
    inner = user.work / "a[b]*"
    session = bring(user, place=inner.name)
    tracked.track(session)
    ended = user.process("next", ID, cwd=inner)
    assert ended.code == 2
    assert REFUSED in ended.err
    git(user.work, "rm", "--quiet", "-r", "--cached", ".")
    user.write(f"abc/.council/sessions/{ID}", "A file that the pattern would match.")
    git(user.work, "add", "abc")
    assert user.process("next", ID, cwd=inner).code == 0


# ---- whose folder it is ----


def link_sessions(session: Path) -> None:
    session.parent.rename(session.parents[2] / "elsewhere")
    session.parent.symlink_to(session.parents[2] / "elsewhere")


def link_project(session: Path) -> None:
    session.parents[1].rename(session.parents[2] / "elsewhere")
    session.parents[1].symlink_to(session.parents[2] / "elsewhere")


def link_session(session: Path) -> None:
    session.rename(session.parents[2] / "elsewhere")
    session.symlink_to(session.parents[2] / "elsewhere")


def strangers(part: int) -> Callable[[Path], None]:
    def give(session: Path) -> None:
        if os.geteuid():
            pytest.skip("only root can give a folder away")
        os.chown((session, *session.parents)[part], 4711, 4711)

    return give


NOT_OURS: dict[str, Callable[[Path], object]] = {
    "sessions is a link": link_sessions,
    ".council is a link": link_project,
    "the session is a link": link_session,
    "a stranger's session": strangers(0),
    "a stranger's sessions": strangers(1),
    "a stranger's .council": strangers(2),
    "everybody's session": lambda session: session.chmod(0o777),
    "everybody's sessions": lambda session: session.parent.chmod(0o777),
    "everybody's project": lambda session: session.parents[2].chmod(0o777),
}


@pytest.mark.parametrize("way", NOT_OURS)
def test_a_session_that_others_may_change_is_not_used(way: str, user: User, session: Path) -> None:
    NOT_OURS[way](session)
    for command in ("next", "show", "status"):
        ended = user.council(command, ID)
        assert ended.code == 2, ended.text
        assert f"{session} is not used: " in ended.err
    assert ID not in user.council("list").out


def test_a_transcript_leaves_the_project_by_no_link(user: User, tmp_path: Path) -> None:
    assert user.council("start", "--id", ID, "--only", "architect,engineer", "Shall we?").code == 0
    words = agreed(("architect", "engineer"))
    *some, last = words
    for turn in some:
        assert user.council("next", ID).code == 0
        assert user.council("record", ID, turn, stdin=words[turn]).code == 0
    session = move(user, ID)
    (tmp_path / "outside").mkdir()
    (session.parents[1] / "archive").symlink_to(tmp_path / "outside")
    assert user.council("next", ID).code == 0
    ended = user.council("record", ID, last, stdin=words[last])
    assert ended.code == 2, ended.text
    assert "no session is kept" in ended.err
    assert "link" in ended.err
    assert list((tmp_path / "outside").iterdir()) == []
