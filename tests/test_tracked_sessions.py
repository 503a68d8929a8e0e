"""A session that git tracks may have come with the repository: it can be read, and no command writes to it or pays."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from council.cli import commands
from council.mcp_server import tools
from council.record import metadata
from tests import reviewing
from tests.fakeapi import FakeApi
from tests.helpers import User, agreed, no_traceback, picture, script
from tests.sandboxes import end

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")

ID, REVIEW, OTHER = "pricing-2026", "review-2026", "pricing-2026-2"
TURN = "01-positions/engineer"
REFUSED = "git tracks it in "


def git(place: Path, *words: str, code: int = 0) -> str:
    own = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "protocol.file.allow=always"]
    done = subprocess.run(["git", *own, *words], cwd=place, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    return done.stdout


def bring(user: User, id: str = ID, place: str = ".") -> Path:
    """A session in the project, half-finished and with every seat on the dearest tier."""
    began = user.council("start", "--id", id, "--tier-map", "sonnet=opus", "--tier-map", "haiku=opus", "Shall we?")
    assert began.code == 0, began.err
    assert user.council("record", id, "01-positions/architect", stdin="Keep it.").code == 0
    return move(user, id, place)


def move(user: User, id: str, place: str = ".") -> Path:
    session = user.work / place / ".council" / "sessions" / id
    session.parent.mkdir(parents=True, exist_ok=True)
    (user.home / "STATE" / "council-sessions" / id).rename(session)
    (session / ".lock").unlink(missing_ok=True)
    return session


@pytest.fixture
def user(tmp_path: Path) -> User:
    found = User(tmp_path)
    git(found.work, "init", "--quiet")
    return found


@pytest.fixture
def session(user: User) -> Path:
    return bring(user)


def track(session: Path) -> None:
    git(session.parent, "add", "--force", str(session))


# ---- every command, every tool, every event of a hook ----

# What each command does with a tracked session; {} is its id. A command that takes a session must be here.
REFUSING = {
    "run": ["Council recovery: {}"],
    "recover": ["{}", "--speaker", "anthropic"],
    "next": ["{}"],
    "record": ["{}", TURN],
    "build": ["{}"],
    "archive": ["{}"],
    "attest": ["{}"],
    "decision": ["{}"],
    "review": ["--session", REVIEW, "--dismiss", "B1=it is behind a flag"],
}
READING = {
    "status": ["{}"],
    "show": ["{}"],
    "verify": ["{}"],
    "brief": ["{}", TURN],
    "list": [],
    "doctor": [],
}


def takes_session(name: str) -> bool:
    """Also in `--from` and `--session`."""
    return any(
        one.name == "session" or "SESSION" in str(one.metavar) for one in commands.built_in()[name].load().params
    )


def test_every_command_that_takes_a_session_is_tried() -> None:
    taking = {name for name in commands.built_in() if takes_session(name)}
    assert taking - {"start"} <= REFUSING.keys() | READING.keys(), "start only reads: see below"
    assert REFUSING.keys() | READING.keys() <= commands.built_in().keys()


@pytest.fixture
def tracked(user: User, session: Path) -> Path:
    """Also with a finished review, and with an API that would be paid."""
    source = script(user, reviewing.words())
    user.write("sessions.md", reviewing.SPEC)
    words = ("--id", REVIEW, "--speaker", "replay", "--from", source, "--fail-on", "never", "--quiet")
    assert user.council("review", "sessions.md", *words).code == 0
    for one in (session, move(user, REVIEW)):
        track(one)
    git(user.work, "commit", "--quiet", "--message", "A session")
    return session


@pytest.mark.parametrize("name", REFUSING)
def test_a_command_that_writes_or_pays_refuses_it(name: str, user: User, tracked: Path) -> None:
    before = picture(user.root)
    words = [word.format(ID) for word in REFUSING[name]]
    with FakeApi(lambda _: pytest.fail("a model was called")) as api:  # type: ignore[arg-type]
        ended = user.council(name, *words, stdin="My answer.", ANTHROPIC_API_KEY="sk-x", ANTHROPIC_BASE_URL=api.url)
        assert api.requests == []
    assert ended.code == 2, ended.text
    assert REFUSED in ended.err
    assert ended.last.endswith(f"go on with: council show {REVIEW if name == 'review' else ID}")
    assert picture(user.root) == before
    no_traceback(ended)


@pytest.mark.parametrize("name", READING)
def test_a_command_that_reads_shows_it(name: str, user: User, tracked: Path) -> None:
    before = picture(user.work)
    ended = user.council(name, *(word.format(ID) for word in READING[name]))
    assert ended.code == 0 or name == "doctor", ended.text
    assert ID in ended.out or name in ("doctor", "brief")
    assert picture(user.work) == before
    assert ("it cannot be continued: git tracks it" in ended.out) == (name == "status")


def test_a_brief_is_shown_without_the_command_that_stores_an_answer(user: User, tracked: Path) -> None:
    ended = user.council("brief", ID, TURN)
    assert ended.out.encode() == (tracked / "briefs" / f"{TURN}.md").read_bytes()


def test_another_debate_may_begin_with_what_it_says(user: User) -> None:
    assert user.council("run", "--id", ID, "--speaker", "replay", "--from", script(user, agreed()), "Why?").code == 0
    session = move(user, ID)
    track(session)
    before = picture(session)
    for words in (["start", "--from", ID], ["run", "--speaker", "replay", "--from", ID]):
        ended = user.council(*words, "And then?")
        assert ended.code == 0, ended.err
    assert picture(session) == before
    assert len(user.sessions) == 2


TOOLS: dict[str, dict[str, Any] | None] = {
    "council_start": None,  # takes no session
    "council_status": {"session": ID},
    "council_next": {"session": ID},
    "council_record": {"session": ID, "turn": TURN, "reply": "My answer."},
}


def test_every_tool_is_tried() -> None:
    assert tools.TOOLS.keys() == TOOLS.keys()


@pytest.mark.parametrize("name", [name for name, given in TOOLS.items() if given])
def test_a_tool_that_writes_refuses_it(name: str, user: User, tracked: Path) -> None:
    before = picture(user.work)
    request = {"name": name, "arguments": TOOLS[name]}
    asked = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    lines = [
        json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        for number, (method, params) in enumerate([("initialize", asked), ("tools/call", request)])
    ]
    ended = end(user.spawn("mcp", stdin=subprocess.PIPE), "\n".join(lines) + "\n")
    answer = ended.out.splitlines()[1]
    assert (REFUSED in answer) == (name != "council_status"), answer
    assert picture(user.work) == before


def event(user: User, kind: str, **facts: Any) -> dict[str, Any]:
    told = {"hook_event_name": kind, "transcript_path": str(user.root / "client.jsonl"), **facts}
    ended = user.council("hook", stdin=json.dumps(told), CLAUDE_PID=str(os.getpid()))
    no_traceback(ended)
    return {"code": ended.code, "err": ended.err, **(ended.json["hookSpecificOutput"] if ended.out else {})}


def events(user: User) -> dict[str, dict[str, Any]]:
    """What a hook would be told of a member of this session, each under the name of the event."""
    path = user.root / "client" / "subagents" / "agent-1.jsonl"
    path.parent.mkdir(parents=True)
    about = {"description": f"Engineer · {ID} {TURN}", "subagent_type": "council:council-member"}
    path.with_suffix(".meta.json").write_text(json.dumps({"toolUseId": "toolu_1", **about}))
    reply = {
        "type": "assistant",
        "message": {"id": "m", "content": [{"type": "text", "text": "Yes."}], "stop_reason": "end_turn"},
    }
    path.write_text("".join(json.dumps(line) + "\n" for line in ({"type": "user", "message": {"content": "?"}}, reply)))
    response = {"status": "completed", "content": [{"type": "text", "text": "Yes."}], "agentId": "a"}
    sentence = f"Run `council brief {ID} {TURN}` and do what it prints."
    return {
        "PreToolUse": {"tool_name": "Agent", "tool_input": {**about, "prompt": sentence}, "tool_use_id": "toolu_1"},
        "SubagentStop": {"agent_transcript_path": str(path), "agent_type": "council:council-member"},
        "PostToolUse": {"tool_name": "Agent", "tool_input": about, "tool_response": response},
        "PostToolUseFailure": {"tool_name": "Agent", "tool_input": about},
    }


def test_no_event_of_a_hook_writes_to_it(user: User, tracked: Path) -> None:
    before = picture(user.work)
    for kind, facts in events(user).items():
        said = event(user, kind, **facts)
        assert REFUSED in f"{said}", kind
        assert said.get("permissionDecision") == ("deny" if kind == "PreToolUse" else None)
    assert picture(user.work) == before


def test_a_hook_serves_a_session_of_the_project_that_git_does_not_track(user: User, session: Path) -> None:
    said = event(user, "PreToolUse", **events(user)["PreToolUse"])
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
    track(session)
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


def commit(session: Path) -> None:
    track(session)
    git(session.parent, "commit", "--quiet", "--message", "A session")


def forget(session: Path) -> None:
    """No longer in the index, and still in the last commit."""
    commit(session)
    git(session.parent, "rm", "--quiet", "-r", "--cached", str(session))


def lose_index(session: Path) -> None:
    commit(session)
    (session.parents[2] / ".git" / "index").unlink()


def track_capitals(session: Path) -> None:
    """On a file system without capitals, git writes this file into the session."""
    blob = git(session, "hash-object", "-w", "topic.md").strip()
    path = f".COUNCIL/Sessions/{session.name.title()}/topic.md"
    git(session.parents[2], "update-index", "--add", "--cacheinfo", f"100644,{blob},{path}")


def hide(session: Path) -> None:
    commit(session)
    for name in git(session, "ls-files").split():
        git(session, "update-index", "--skip-worktree", "--assume-unchanged", name)


def conflict(session: Path) -> None:
    track(session)
    blob = git(session, "hash-object", "-w", "topic.md").strip()
    path = f".council/sessions/{session.name}/topic.md"
    lines = "".join(f"100644 {blob} {stage}\t{path}\n" for stage in (1, 2, 3))
    git(session.parents[2], "read-tree", "--empty")
    subprocess.run(["git", "update-index", "--index-info"], cwd=session.parents[2], input=lines.encode(), check=True)


def sparse(session: Path) -> None:
    """An index that has a folder in place of the files in it, which are there nevertheless."""
    top = session.parents[2]
    (top / "docs").mkdir()
    (top / "docs" / "a.md").write_text("a")
    git(top, "add", "docs")
    commit(session)
    shutil.copytree(session, kept := top.parent / "kept")
    git(top, "sparse-checkout", "set", "--cone", "--sparse-index", "docs")
    assert ".council/" in git(top, "ls-files", "--sparse").split()
    shutil.copytree(kept, session)


def nest(session: Path) -> None:
    """A repository in the project's, which alone tracks it."""
    git(session.parents[1], "init", "--quiet")
    track(session)
    assert git(session.parents[2], "ls-files") == ""


def track_from_outside(session: Path) -> None:
    """The repository around the one that is nearest."""
    commit(session)
    git(session.parents[1], "init", "--quiet")


def submodule(session: Path) -> None:
    top = session.parents[2]
    other = top.parent / "other"
    shutil.move(session.parent, other)
    git(other, "init", "--quiet")
    git(other, "add", "--all")
    git(other, "commit", "--quiet", "--message", "Sessions")
    git(top, "submodule", "--quiet", "add", str(other), ".council/sessions")
    assert (session.parent / ".git").is_file()


def worktree(session: Path) -> None:
    """The project is a worktree of a repository that is elsewhere."""
    top = session.parents[2]
    commit(session)
    main = top.rename(top.parent / "main")
    git(main, "worktree", "add", "--quiet", str(top))


def gitlink(session: Path) -> None:
    """The session itself is a commit of another repository, as far as the index says."""
    path = f".council/sessions/{session.name}"
    git(session.parents[2], "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},{path}")


def upgrade(session: Path) -> None:
    commit(session)
    git(session, "update-index", "--split-index", "--index-version", "4")


WAYS: dict[str, Callable[[Path], object]] = {
    "added": track,
    "committed": commit,
    "one file": lambda session: git(session, "add", "--force", "turns/01-positions/architect.md"),
    "intended": lambda session: git(session, "add", "--force", "--intent-to-add", "topic.md"),
    "removed from the index": forget,
    "without an index": lose_index,
    "in capitals": track_capitals,
    "hidden": hide,
    "in conflict": conflict,
    "sparse": sparse,
    "another index": upgrade,
    "a nested repository": nest,
    "an outer repository": track_from_outside,
    "a submodule": submodule,
    "a worktree": worktree,
    "a link to a commit": gitlink,
}


@pytest.mark.parametrize("way", WAYS)
def test_a_tracked_session_is_not_continued(way: str, user: User, session: Path) -> None:
    WAYS[way](session)
    before = picture(session)
    ended = user.council("next", ID)
    assert ended.code == 2, ended.text
    assert REFUSED in ended.err, ended.err
    assert ended.last.endswith(f"go on with: council show {ID}")
    assert picture(session) == before
    assert user.council("show", ID).code == 0


def break_index(session: Path) -> None:
    (session.parents[2] / ".git" / "index").write_bytes(b"DIRC nonsense")


def break_head(session: Path) -> None:
    (session.parents[2] / ".git" / "HEAD").write_text("nonsense")


def lead_nowhere(session: Path) -> None:
    shutil.rmtree(session.parents[2] / ".git")
    (session.parents[2] / ".git").write_text("gitdir: /nowhere\n")


def give_away(session: Path) -> None:
    if os.geteuid():
        pytest.skip("only root can give a repository away")
    os.chown(session.parents[2] / ".git", 4711, 4711)
    os.chown(session.parents[2], 4711, 4711)


UNKNOWN = {
    "a broken index": break_index,
    "a broken HEAD": break_head,
    "a file that leads nowhere": lead_nowhere,
    "another owner": give_away,
}


@pytest.mark.parametrize("way", UNKNOWN)
def test_where_git_cannot_tell_it_is_not_continued(way: str, user: User, session: Path) -> None:
    UNKNOWN[way](session)
    ended = user.council("next", ID)
    assert ended.code == 2, ended.text
    assert "git cannot tell whether it is tracked (" in ended.err
    assert user.council("show", ID).code == 0


def test_without_git_it_is_not_continued_in_a_repository(user: User, session: Path, tmp_path: Path) -> None:
    empty = tmp_path / "bin"
    empty.mkdir()
    refused = user.council("next", ID, PATH=str(empty))
    assert refused.code == 2
    assert "git cannot tell whether it is tracked (git is not on PATH; install it)" in refused.err
    shutil.rmtree(user.work / ".git")
    assert user.council("next", ID, PATH=str(empty)).code == 0


def ignore(session: Path) -> None:
    (session.parent / ".gitignore").write_text("*\n")
    git(session.parent, "add", "--all")


def track_another(session: Path) -> None:
    """A session whose id begins alike."""
    for name in (OTHER, session.name[:-1]):
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
    commit(session)
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
    track(session)
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
    track(session)
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
    assert "archive: no session is kept there: it is a link" in ended.err
    assert list((tmp_path / "outside").iterdir()) == []
