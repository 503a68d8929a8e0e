"""The exit codes, each met once; and what a broken output, a signal or a kill leaves."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.helpers import picture
from tests.next.cli.users import PROGRAM, User

Q = "Redis or PostgreSQL?"


def test_a_debate_that_is_over_is_zero_unless_something_else_was_required(user: User, written: Path) -> None:
    for name, kind in (("agreed", "agreed"), ("dissent", "agreed-with-dissent"), ("split", "split")):
        assert user.replay(written / f"{name}.yaml", Q).code == 0
        assert user.replay(written / f"{name}.yaml", "--require", f"undecided,{kind}", Q).code == 0
        ended = user.replay(written / f"{name}.yaml", "--require", "undecided", Q)
        assert ended.code == 5
        assert f"it came to {kind.replace('-', ' ')}, and --require wants undecided" in ended.err
        assert "council show" in ended.err


def test_too_few_heard_is_three_and_says_what_to_do_instead(user: User, written: Path) -> None:
    ended = user.replay(written / "few.yaml", Q)
    assert ended.code == 3
    assert "insufficient" in ended.err
    assert "`council run`" in ended.err
    assert "recover" not in ended.err


def test_a_turn_that_a_script_lacks_is_named_and_what_was_said_is_kept(user: User, agreed: Path) -> None:
    whole = agreed.read_text("utf-8")
    part = user.write("part.yaml", whole[: whole.index("02-challenges/designer")])
    ended = user.replay(Path(part.name), Q)
    assert ended.code == 3
    assert "02-challenges/designer" in ended.err
    assert "kept: 5 turns in" in ended.err
    assert f"council recover {user.session.name}" in ended.err
    part.write_text(whole, "utf-8")
    done = user.process("recover", user.session.name, cwd=user.root)  # it remembers where the script is
    assert done.code == 0, done.err
    again = user.council("recover")
    assert (again.code, again.out) == (0, done.out)


def test_recover_of_a_finished_debate_changes_nothing(user: User, agreed: Path) -> None:
    assert user.replay(agreed, Q).code == 0
    before = picture(user.session)
    assert user.council("recover").code == 0
    assert picture(user.session) == before


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGKILL, -9)]
)
def test_a_signal_ends_a_run_and_recover_finishes_it(user: User, agreed: Path, number: int, code: int) -> None:
    process = begin(user, agreed)
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    assert process.returncode == code
    assert b"Traceback" not in err
    if number != signal.SIGKILL:
        assert f"go on with: council recover {user.session.name}".encode() in err
    said = picture(user.session / "turns")
    done = user.council("recover", "--speaker", "replay", "--from", agreed)
    assert done.code == 0
    assert "Outcome     agreed (4 of 4 sign R1)" in done.out
    assert said.items() <= picture(user.session / "turns").items()
    assert user.council("verify").code == 0


def begin(user: User, script: Path, id: str = "ours") -> subprocess.Popen[bytes]:
    """A run in a process of its own that has recorded a turn, and goes on for a while."""
    slow = user.write(
        "slow.yaml", script.read_text("utf-8").replace("at some length", "at some length" + " word" * 2_000)
    )
    words = ("run", "--speaker", "replay", "--pace", "real", "--from", slow, "--id", id, Q)
    process = user.spawn(*words)
    session = user.home / "STATE" / "council-sessions" / id
    while not (session / "briefs" / "01-positions" / "researcher.md").exists():
        assert process.poll() is None
        time.sleep(0.01)
    return process


def test_two_at_once_are_told_who_works(user: User, agreed: Path) -> None:
    process = begin(user, agreed)
    try:
        for words in (("recover",), ("next",), ("build",)):
            ended = user.council(*words)
            assert ended.code == 7
            assert f"in use by process {process.pid}" in ended.err
        assert user.council("status", "--json").json["status"] == "running"
        assert user.council("list", "--json").json[0]["status"] == "running"
        assert user.council("show").code == 0
        assert user.council("pause").code == 0
        _, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 3
    assert b"asked for a pause" in err
    assert user.council("recover", "--speaker", "replay", "--from", agreed).code == 0


def test_pause_now_interrupts_the_run(user: User, agreed: Path) -> None:
    process = begin(user, agreed)
    assert user.council("pause", "--now").code == 0
    process.communicate(timeout=60)
    assert process.returncode in (3, 130)


def test_commands_by_hand_wait_for_one_another(user: User) -> None:
    id = user.council("start", "--json", Q).json["session_id"]
    seats = ("architect", "designer", "engineer", "researcher")
    answers = ("--answer", "recommendation=Keep it.", "--answer", "normative=no")
    processes = [user.spawn("record", id, f"01-positions/{seat}", *answers) for seat in seats]
    said = [process.communicate(timeout=60) for process in processes]
    assert [process.returncode for process in processes] == [0, 0, 0, 0], said
    assert len([*(user.session / "turns" / "01-positions").iterdir()]) == 4


# ---- broken outputs ----


def run_in_shell(user: User, line: str) -> subprocess.CompletedProcess[bytes]:
    """A command in a shell, where `council` is the new program."""

    program = f"{sys.executable} -c '{PROGRAM}'"
    env = {**user.environment, "PYTHONPATH": str(Path(__file__).parents[3])}
    return subprocess.run(
        ["bash", "-c", line.replace("council", program, 1)],
        cwd=user.work,
        env=env,
        capture_output=True,
        timeout=60,
        check=False,
    )


def test_an_output_that_nobody_reads_loses_no_debate(user: User, agreed: Path) -> None:
    line = f"council run --speaker replay --from {agreed} {Q!r}"
    assert run_in_shell(user, f"set -o pipefail; {line} | true").returncode == 0
    assert run_in_shell(user, f"{line} >&-").returncode == 0
    assert run_in_shell(user, f"{line} 2>&-").returncode == 0
    assert run_in_shell(user, f"{line} <&- >&- 2>&-").returncode == 0
    full = run_in_shell(user, f"{line} > /dev/full")
    assert full.returncode == 6
    assert b"Traceback" not in full.stderr
    assert len(user.sessions) == 5
    for session in user.sessions:
        assert user.council("status", session.name, "--json").json["kind"] == "agreed"


def test_a_disk_that_fills_up_keeps_what_is_there_and_prints_what_is_not(user: User, agreed: Path) -> None:
    """The limit of the size of a file stands for a disk without space: a write fails half-way."""
    big = "word " * 30_000
    script = user.write("big.yaml", agreed.read_text("utf-8").replace("engineer speaks in round 1 of challenges", big))
    line = f"trap '' XFSZ; ulimit -f 120; council run --speaker replay --from {script} {Q!r}"
    ended = run_in_shell(user, line)
    assert ended.returncode == 6, ended
    assert big.encode() in ended.stderr  # the reply that could not be stored, whole
    last = ended.stderr.decode().splitlines()[-1]
    assert last.endswith(f"go on with: council recover {user.session.name}")
    assert not [*user.session.rglob("*.council-temp")]
    done = user.council("recover", "--speaker", "replay", "--from", script)
    assert done.code == 0
    assert user.council("verify").code == 0


def test_a_lock_that_was_replaced_stops_the_run(user: User, agreed: Path) -> None:
    process = begin(user, agreed)
    (user.session / ".lock").unlink()
    _, err = process.communicate(timeout=60)
    assert process.returncode == 6
    assert b"was removed or replaced" in err


SMALL_DISK = """
mount --make-rprivate / && mount -t tmpfs -o size=1m none "$COUNCIL_HOME" || exit 99
head -c 900000 /dev/zero > "$COUNCIL_HOME/other"
council run --id ours --speaker replay --from SCRIPT 'Redis or PostgreSQL?'; echo "first $?"
cp -r "$COUNCIL_HOME/STATE" "$HOME/first"
find "$COUNCIL_HOME/STATE" -name '*.council-temp' | sed 's/^/left /'
council recover ours --speaker replay --from SCRIPT; echo "second $?"
rm "$COUNCIL_HOME/other"
council recover ours --speaker replay --from SCRIPT; echo "third $?"
council verify ours; echo "verify $?"
cp -r "$COUNCIL_HOME/STATE" "$HOME/last"
"""


def test_a_real_disk_that_is_full(user: User, agreed: Path) -> None:
    """A file system of one megabyte, most of which is taken until the third attempt."""
    if subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False).returncode:
        pytest.skip("no file system can be mounted here")
    words = agreed.read_text("utf-8").replace("at some length", "at some length" + " word" * 1_500)
    script = user.write("long.yaml", words)
    user.home.mkdir(exist_ok=True)
    program = f'council() {{ {sys.executable} -c "{PROGRAM}" "$@"; }}\n'
    env = {**user.environment, "PYTHONPATH": str(Path(__file__).parents[3])}
    ended = subprocess.run(
        ["unshare", "-m", "bash", "-c", program + SMALL_DISK.replace("SCRIPT", str(script))],
        cwd=user.work,
        env=env,
        capture_output=True,
        timeout=60,
        check=False,
    )
    out, err = ended.stdout.decode(), ended.stderr.decode()
    for line in ("first 6", "second 6", "third 0", "verify 0"):
        assert f"\n{line}\n" in f"\n{out}", (out, err)
    assert "left" not in out
    assert "the disk is full" in err
    before, after = (picture(user.root / name / "council-sessions" / "ours") for name in ("first", "last"))
    assert {name: data for name, data in before.items() if name.startswith("turns/")}.items() <= after.items()
    assert len([name for name in after if name.startswith("turns/") and name.endswith(".md")]) == 9
