"""Sessions in the project, where the home cannot be written: how they begin, where they are, what they are found by."""

from __future__ import annotations

import itertools
import json
import os
import re
import subprocess
import time
from pathlib import Path

import pytest

from council.next.record.files import TEMP
from council.record import create
from tests import reviewing, sandboxes
from tests.faults import DEATHS, Fault
from tests.helpers import PACKAGES, Ended, agreed, package, says, script, spelled
from tests.sandboxes import Sandboxed, behind, end, git, leave

READ_ONLY, FORBIDDEN, FULL = "a read-only file system", "permission denied", "a full disk"
TWO = ("architect", "engineer")
WHY = re.compile(
    r"/\.claude/MEMORY cannot be written \((?:Read-only file system|Permission denied)\)(?:, so|;) this", re.M
)


@pytest.fixture(params=[READ_ONLY, FORBIDDEN])
def user(request: pytest.FixtureRequest, tmp_path: Path) -> Sandboxed:
    found = behind(tmp_path, request.param)
    git(found.work, "init", "--quiet")
    return found


@pytest.fixture
def sandboxed(tmp_path: Path) -> Sandboxed:
    """One wall is enough where the other would show the same."""
    found = behind(tmp_path, FORBIDDEN)
    git(found.work, "init", "--quiet")
    return found


def begin(user: Sandboxed, *words: str, **how: Path) -> Path:
    ended = user.inside("start", "--json", "--only", ",".join(TWO), *words, "Shall we?", **how)
    assert ended.code == 0, ended.err
    return Path(ended.json["folder"])


HOLD = """
import io, json, sys
from {}.cli import main
for command, stdin in json.load(sys.stdin):
    sys.argv, sys.stdin = ["council", *command], io.TextIOWrapper(io.BytesIO(stdin.encode()))
    code = main()
    if code:
        sys.exit(code)
"""


def hold(user: Sandboxed, id: str) -> Ended:
    """The debate by hand, to its end: a command for each turn, all in one process."""
    words = spelled(agreed(TWO))
    steps = itertools.groupby(words, key=lambda turn: turn.partition("/")[0])
    commands = [command for _, turns in steps for command in (["next", id], *(["record", id, turn] for turn in turns))]
    given = [(command, words.get(command[-1], "")) for command in [*commands, ["next", id]]]
    ended = end(user.python(HOLD.format(package()), stdin=subprocess.PIPE), json.dumps(given))
    assert ended.code == 0, ended.err
    assert "the debate is over" in ended.out
    return ended


# ---- where they are ----


def test_a_debate_by_hand_lives_in_the_project(user: Sandboxed) -> None:
    began = user.inside("start", "--only", ",".join(TWO), "Shall we?")
    (session,) = user.in_project
    assert WHY.search(began.err), began.err
    assert began.err.count("\n") == 1
    assert f"~/work/.council/sessions/{session.name};" in began.err
    ended = hold(user, session.name)
    assert "archive: ~/work/.council/archive/" in ended.out
    assert len(list((user.work / ".council" / "archive").glob("*/*.md"))) == 1
    assert user.inside("verify", session.name).code == 0
    assert git(user.work, "status", "--porcelain") == ""
    git(user.work, "add", "--all")
    assert git(user.work, "ls-files") == ""


def test_it_is_continued_outside_of_the_sandbox_and_stays_where_it_is(user: Sandboxed) -> None:
    session = begin(user)
    outside = leave(user)
    hold(outside, session.name)
    assert outside.inside("verify", session.name).code == 0
    assert outside.sessions == []
    assert list((user.work / ".council" / "archive").glob("*/*.md"))


def test_a_project_that_is_elsewhere_on_another_machine_keeps_its_archive(sandboxed: Sandboxed) -> None:
    session = begin(sandboxed)
    hold(sandboxed, session.name)
    outside = leave(sandboxed)
    other = outside.work.rename(outside.root / "elsewhere")
    status = outside.inside("status", session.name, "--json", cwd=other)
    assert Path(status.json["archived_to"]).is_relative_to(other / ".council" / "archive")
    assert Path(status.json["archived_to"]).is_file()
    assert outside.inside("verify", session.name, cwd=other).code == 0


def test_its_folders_are_the_users_alone(sandboxed: Sandboxed) -> None:
    hold(sandboxed, begin(sandboxed).name)
    for top, folders, names in os.walk(sandboxed.work / ".council"):
        assert {Path(top, name).stat().st_mode & 0o777 for name in folders} <= {0o700}
        assert {Path(top, name).stat().st_mode & 0o777 for name in names} <= {0o600}
    for kind in ("sessions", "archive"):
        assert (sandboxed.work / ".council" / kind / ".gitignore").read_bytes() == b"*\n"


def test_run_and_review_say_where_their_session_is(user: Sandboxed) -> None:
    source = script(user, agreed(TWO))
    ran = user.inside("run", "--speaker", "replay", "--from", source, "--only", ",".join(TWO), "Shall we?")
    assert (ran.code, len(WHY.findall(ran.err))) == (0, 1), ran.err
    user.write("sessions.md", reviewing.SPEC)
    source = script(user, reviewing.words())
    reviewed = user.inside("review", "sessions.md", "--speaker", "replay", "--from", source, "--fail-on", "never")
    assert (reviewed.code, len(WHY.findall(reviewed.err))) == (0, 1), reviewed.err
    assert len(user.in_project) == 2


def test_the_python_api_returns_where_its_session_is(sandboxed: Sandboxed) -> None:
    source = script(sandboxed, agreed(TWO))
    program = f"""
import council
result = council.run("Shall we?", only_members={TWO!r}, speaker="replay", source={str(source)!r})
assert council.load_session(result.session_id).state == "complete"
assert council.recover(result.session_id).archived_to == result.archived_to
print(result.folder, result.archived_to)
"""
    done = end(sandboxed.python(program))
    assert (done.code, done.err) == (0, "")
    folder, archived = map(Path, done.out.split())
    assert [folder] == sandboxed.in_project
    assert archived.is_relative_to(sandboxed.work / ".council" / "archive")


def test_mcp_starts_and_records_there(sandboxed: Sandboxed) -> None:
    def call(number: int, tool: str, **given: object) -> str:
        request = {"name": tool, "arguments": given}
        return json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": request}) + "\n"

    asked = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    hello = json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": asked}) + "\n"
    began = sandboxed.inside("mcp", stdin=hello + call(1, "council_start", topic="Shall we?", only=list(TWO)))
    (session,) = sandboxed.in_project
    assert session.name in began.out, began.text
    assert "~/.claude/MEMORY cannot be written (Permission denied), so this session is in " in began.out
    turn = "01-positions/engineer"
    given = call(1, "council_next", session=session.name)
    given += call(2, "council_record", session=session.name, turn=turn, reply="Keep it.")
    recorded = sandboxed.inside("mcp", stdin=hello + given)
    assert (session / "turns" / f"{turn}.md").is_file(), recorded.text
    refused = sandboxed.inside("mcp", stdin=hello + call(1, "council_next", session=session.name[-8:]))
    assert "whole ids only" in refused.out, refused.text


@pytest.mark.parametrize("where", ["the repository", "the current folder"])
def test_it_is_at_the_top_of_the_repository_and_found_below(where: str, sandboxed: Sandboxed) -> None:
    inner = sandboxed.work / "src" / "app"
    inner.mkdir(parents=True)
    top = sandboxed.work if where == "the repository" else inner
    if where == "the current folder":  # the sandbox opens no more than that
        (sandboxed.work / ".council").mkdir(mode=0o500)
    session = begin(sandboxed, cwd=inner)
    assert session.parent == top / ".council" / "sessions"
    (top / "docs").mkdir()
    assert sandboxed.inside("next", session.name, cwd=top / "docs").code == 0
    outside = sandboxed.inside("next", session.name, cwd=top.parent)
    assert outside.code == 2
    assert "is found only from inside of that project" in outside.err


def test_without_a_repository_it_is_in_the_current_folder(tmp_path: Path) -> None:
    user = behind(tmp_path, FORBIDDEN)
    inner = user.work / "notes"
    inner.mkdir()
    session = begin(user, cwd=inner)
    assert session.parent == inner / ".council" / "sessions"
    assert user.inside("next", session.name, cwd=inner).code == 0
    assert user.inside("next", session.name).code == 2
    # The second one finds a `.council`, which makes no project of the folder: its document would be filed there.
    projects = [json.loads((one / "metadata.json").read_text())["project"] for one in (session, begin(user, cwd=inner))]
    assert projects[0] == projects[1] != str(inner)


# ---- when they are there ----


@pytest.mark.parametrize("setting", ["COUNCIL_HOME", "`home` in ~/config/council/Config.md"])
def test_a_home_that_the_user_chose_is_not_replaced(setting: str, sandboxed: Sandboxed) -> None:
    chosen = str(sandboxed.root / ".claude" / "mine")
    env = {"COUNCIL_HOME": chosen} if setting == "COUNCIL_HOME" else {}
    if not env:
        sandboxed.configure(f"home: {chosen}")
    ended = sandboxed.inside("start", "Shall we?", env=env)
    assert ended.code == 6, ended.text
    assert f"; {setting} chose that folder, so no other one is used in its place" in ended.err
    assert not (sandboxed.work / ".council").exists()


def test_a_full_disk_is_no_read_only_home(tmp_path: Path) -> None:
    user = behind(tmp_path, FULL)
    ended = user.inside("start", "Shall we?")
    assert ended.code == 6, ended.text
    assert "the disk is full" in ended.err
    assert not (user.work / ".council").exists()


def test_where_nothing_can_be_written_the_error_says_so(sandboxed: Sandboxed) -> None:
    sandboxed.work.chmod(0o500)
    ended = sandboxed.inside("start", "Shall we?")
    sandboxed.work.chmod(0o700)
    assert ended.code == 6
    assert f"nor can a session be kept in {sandboxed.work}/.council" in ended.err


def test_a_home_that_can_be_written_again_is_used_again(sandboxed: Sandboxed) -> None:
    begin(sandboxed)
    outside = leave(sandboxed)
    ended = outside.inside("start", "Shall we?")
    assert not WHY.search(ended.err)
    assert len(outside.sessions) == len(outside.in_project) == 1


# ---- what they are found by ----


def test_only_the_whole_id_finds_it(sandboxed: Sandboxed) -> None:
    id = begin(sandboxed).name
    for word in ("last", "latest", id[:8], id[-8:], id[:-1], id[1:]):
        ended = sandboxed.inside("status", word)
        assert ended.code == 2, ended.text
        assert says(ended, "found by their whole ids only")
    assert sandboxed.inside("status", id).code == 0
    assert sandboxed.inside("status").code == 2


def test_last_is_a_session_of_the_home(sandboxed: Sandboxed) -> None:
    outside = leave(sandboxed)
    assert outside.inside("start", "The first?").code == 0
    (first,) = outside.sessions
    session = begin(sandboxed)
    assert sandboxed.inside("status").out.startswith(first.name)
    assert leave(sandboxed).inside("next").code == 0
    assert not any((session / "turns").glob("*"))


def test_a_session_of_the_home_is_never_mistaken_for_one_of_the_project(sandboxed: Sandboxed) -> None:
    for id in ("alpha", "beta"):
        begin(sandboxed, "--id", id)
    outside = leave(sandboxed)
    for id in ("alpha", "beta-2"):
        assert outside.inside("start", "--id", id, f"At home, {id}?").code == 0
    assert "At home" in outside.inside("show", "alpha").out
    both = outside.inside("next", "beta")
    assert both.code == 2
    assert "also a part of beta-2" in both.err
    assert sandboxed.inside("start", "--id", "beta-2", "Would this ever be found?").code == 2


def test_another_debate_starts_from_it(sandboxed: Sandboxed) -> None:
    session = begin(sandboxed)
    hold(sandboxed, session.name)
    source = ("--speaker", "replay", "--from", session.name, "--only", ",".join(TWO))
    replayed = sandboxed.inside("run", *source, "Shall we?")
    assert replayed.code == 0, replayed.err
    again = sandboxed.inside("start", "--from", session.name, "And then?")
    assert again.code == 0, again.err
    assert sandboxed.inside("start", "--from", session.name[-8:], "And then?").code == 2


def test_list_and_doctor_show_them_apart(sandboxed: Sandboxed) -> None:
    outside = leave(sandboxed)
    assert outside.inside("start", "At home?").code == 0
    (home,) = outside.sessions
    session = begin(sandboxed)
    listed = sandboxed.inside("list").out
    at_home, _, in_project = listed.partition("In this project; each is found by its whole id only:")
    assert (home.name in at_home, session.name in at_home) == (True, False)
    assert (home.name in in_project, session.name in in_project) == (False, True)
    assert [row.get("session_id") or row["id"] for row in sandboxed.inside("list", "--json").json] == [
        home.name,
        session.name,
    ]
    doctor = sandboxed.inside("doctor").out
    assert re.search(
        r"^ok    sessions: ~/work/\.council/sessions .*\(~/\.claude/MEMORY cannot be written", doctor, re.M
    )
    assert re.search(r"^ok    sessions of this project: 1, ", doctor, re.M)


def test_a_folder_of_sessions_hides_no_overlay(sandboxed: Sandboxed) -> None:
    inner = sandboxed.work / "app"
    inner.mkdir()
    (sandboxed.work / ".council").mkdir(mode=0o500)
    begin(sandboxed, cwd=inner)
    (sandboxed.work / ".council").chmod(0o700)
    sandboxed.write(".council/AgentPersonalities.md", "## poet\n\nA poet who counts syllables.\n")
    shown = sandboxed.inside("start", "--with", "poet", "Shall we?", cwd=inner)
    assert shown.code == 0, shown.err
    assert "project overlay: ~/work/.council" in shown.err


# ---- at once, and half-way ----


def test_many_begin_at_once(sandboxed: Sandboxed) -> None:
    starts = [sandboxed.spawn("start", "--json", f"Question {number}?") for number in range(6)]
    ended = [end(process) for process in starts]
    assert [one.code for one in ended] == [0] * len(starts), ended
    assert {one.json["session_id"] for one in ended} == {path.name for path in sandboxed.in_project}
    for kind in ("sessions", "archive"):
        assert (sandboxed.work / ".council" / kind / ".gitignore").read_bytes() == b"*\n"


def test_what_a_killed_process_left_is_taken_up_or_removed(sandboxed: Sandboxed) -> None:
    folder = sandboxed.work / ".council" / "sessions"
    folder.mkdir(parents=True)
    (folder / ".gitignore").touch()  # killed between opening and writing it
    mark = ".new" if package() == PACKAGES["old"] else TEMP
    hidden = folder / f".20260101-000000-00000000.0a1b2c3d{mark}"
    hidden.mkdir()
    (hidden / "workflow.md").write_text("half a fi")
    os.utime(hidden, (time.time() - 2 * create.OLD,) * 2)
    session = begin(sandboxed)
    assert (folder / ".gitignore").read_bytes() == b"*\n"
    assert sorted(path.name for path in folder.iterdir()) == [".gitignore", session.name]


@pytest.mark.parametrize("kind", DEATHS)
def test_whenever_it_is_killed_no_half_session_is_left_and_none_that_git_sees(kind: str, sandboxed: Sandboxed) -> None:
    calls = sandboxes.count_calls(sandboxed)
    first = DEATHS.index(kind)  # each kind at other calls; the first ones make the folders
    for at in [*range(1 + first, 16, 5), *range(16 + first, calls, 47)]:
        assert sandboxes.kill_start(sandboxed, Fault(kind, at)) == []
