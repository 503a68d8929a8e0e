"""Many processes of one user at once: each session is its own, and of those who want one, one gets it."""

from __future__ import annotations

import json
import os
import platform
import signal
import subprocess
from pathlib import Path

import pytest

from council.next.record.session import Session
from tests import flocks
from tests.next.cli.test_exits import begin
from tests.next.cli.users import PROGRAM, User
from tests.next.record.sessions import contents

Q = "Redis or PostgreSQL?"
LOCKLESS = PROGRAM.replace("import sys;", "import sys; from tests import flocks; flocks.refuse(int(sys.argv.pop(1)));")


def end(processes: list[subprocess.Popen[bytes]]) -> list[tuple[int, str, str]]:
    said = [process.communicate(timeout=60) for process in processes]
    return [
        (process.returncode, out.decode(), err.decode()) for process, (out, err) in zip(processes, said, strict=True)
    ]


def test_many_begin_at_once_while_others_list(user: User) -> None:
    """Each start that ends with 0 is a session, and nobody ever lists half of one."""
    born = [user.spawn("start", Q) for _ in range(6)]
    looks = [user.spawn("list", "--json") for _ in range(3)]
    assert [code for code, _, _ in end(born)] == [0] * 6
    for code, out, err in end(looks):
        assert (code, err) == (0, "") or "no session yet" in err
        assert all(row["status"] in ("running", "waiting") and row["topic"] == Q for row in json.loads(out or "[]"))
    assert len(user.council("list", "--json").json) == len(user.sessions) == 6
    assert all(user.council("verify", session.name).code == 0 for session in user.sessions)


def test_of_many_who_ask_for_one_id_one_gets_it(user: User) -> None:
    codes = sorted(code for code, _, _ in end([user.spawn("start", "--id", "ours", Q) for _ in range(4)]))
    assert codes == [0, 2, 2, 2]
    assert user.council("verify", "ours").code == 0


def test_of_many_who_recover_one_works(user: User, agreed: Path) -> None:
    """The others are told at once who does: process, machine and since when."""
    process = begin(user, agreed)
    try:
        words = ("recover", "--speaker", "replay", "--from", agreed)
        for code, _, err in end([user.spawn(*words) for _ in range(9)]):
            assert code == 7
            assert f"in use by process {process.pid} on {os.uname().nodename}, since " in err
    finally:
        process.kill()
        process.communicate()
    assert user.council("status", "--json").json["status"] == "interrupted", "nobody waits for the dead"
    codes = sorted(code for code, _, _ in end([user.spawn(*words) for _ in range(4)]))
    assert codes[0] == 0
    assert {*codes} <= {0, 7}
    assert user.council("verify").code == 0


def test_a_debate_that_is_killed_leaves_the_others_of_its_home_as_they_are(user: User, agreed: Path) -> None:
    assert user.replay(agreed, "--id", "over", Q).code == 0
    assert user.council("start", "--id", "by-hand", Q).code == 0
    folder = user.sessions[0].parent
    before = {name: contents(folder / name) for name in ("over", "by-hand")}
    process = begin(user, agreed, "killed")
    process.send_signal(signal.SIGKILL)
    process.communicate()
    done = user.council("recover", "killed", "--speaker", "replay", "--from", agreed)
    assert done.code == 0
    assert {name: contents(folder / name) for name in ("over", "by-hand")} == before


def test_the_lock_file_is_the_same_from_birth_to_archive(user: User, agreed: Path) -> None:
    """A lock on a file that another one has replaced would exclude nobody."""
    user.council("start", "--id", "ours", Q)
    lock = user.session / ".lock"
    before = lock.stat()
    for words in (
        ("next", "ours"),
        ("record", "ours", "01-positions/engineer", "--absent", "on holiday"),
        ("recover", "ours", "--speaker", "replay", "--from", agreed),
        ("recover", "ours"),
        ("build", "ours"),
        ("archive", "ours"),
    ):
        assert user.council(*words).code == 0, words
    assert (lock.stat().st_ino, lock.stat().st_size, lock.stat().st_mtime_ns) == (
        before.st_ino,
        0,
        before.st_mtime_ns,
    )


@pytest.mark.skipif(platform.machine() not in flocks.NUMBERS, reason="the number of flock is not known here")
@pytest.mark.parametrize("failure", [0, 38, 95, 37], ids=["says yes to all", "ENOSYS", "EOPNOTSUPP", "ENOLCK"])
def test_a_file_system_without_honest_locks_is_refused_before_anything_is_spent(user: User, failure: int) -> None:
    ended = user.process(failure, "start", Q, program=LOCKLESS)
    assert ended.code == 6, ended
    assert "no working locks" in ended.err
    assert user.sessions == []
    assert user.council("start", "--id", "ours", Q).code == 0
    before = contents(user.session)
    for words in (("next",), ("recover",), ("record", "ours", "01-positions/engineer", "--absent", "x"), ("build",)):
        ended = user.process(failure, *words, program=LOCKLESS)
        assert (ended.code, "no working locks" in ended.err) == (6, True), words
    assert user.process(failure, "status", program=LOCKLESS).code == 0
    assert contents(user.session) == before


NOTES: list[dict[str, object]] = [
    {"pid": 10**30}, {"pid": -1}, {"pid": 0}, {"pid": 1}, {"pid": "1"}, {"pid": None}, {"pid": 1.5}, {"pid": []},
    {"pid": True}, {"host": "elsewhere"}, {"host": "\x1b[2J\n"}, {"host": 5}, {"since": 10**30}, {"since": -1},
    {"since": "soon"}, {"since": 0.0}, {"since": 4e9},
]  # fmt: skip


@pytest.mark.parametrize("note", NOTES, ids=str)
def test_what_a_note_says_of_its_writer_blocks_nobody_and_signals_no_other_process(
    user: User, note: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """-1 would be every process of the user."""
    signalled: list[int] = []
    monkeypatch.setattr(os, "kill", lambda pid, number: signalled.append(pid))
    user.council("start", "--id", "ours", Q)
    whole = {"pid": 4_000_000, "host": os.uname().nodename, "since": 1.0, "work": "", **note}
    (user.session / "runner.json").write_text(json.dumps(whole))
    assert user.council("status").out.startswith("ours: waiting for replies by hand")
    assert user.council("pause", "--now").code == 2
    assert user.council("next").code == 0
    assert signalled == []
    with Session(user.session).hold():
        (user.session / "runner.json").write_text(json.dumps(whole))
        busy = user.council("build")
        assert busy.code == 7
        assert "\x1b" not in busy.err
        paused = user.council("pause", "--now")
    assert paused.code == 0
    assert signalled == ([4_000_000] if "since" in note else [])
    assert ("pauses now" in paused.out) is bool(signalled)


def test_nothing_needs_hard_links(user: User, agreed: Path) -> None:
    """Some file systems of cards, networks and containers have none."""
    without = "import os, pathlib; del os.link, pathlib.Path.hardlink_to; " + PROGRAM
    replay = ("--speaker", "replay", "--from", agreed)
    assert user.process("run", "--id", "ours", *replay, "--gate", "positions", Q, program=without).code == 8
    assert user.process("answer", "ours", "--answer", "gate=approve", program=without).code == 0
    assert user.process("recover", "ours", *replay, program=without).code == 0
    assert user.process("decision", "ours", "--to", user.work / "adr", program=without).code == 0
    assert user.council("verify").code == 0
    assert all(path.stat().st_nlink == 1 for path in user.root.rglob("*") if path.is_file())
