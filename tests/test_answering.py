"""A person's answer is recorded once, wherever it is given, and everybody else is told who gave it."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from council.errors import Busy, Damaged, UsageError
from council.record import desk, lock
from council.record.desk import Desk, DeskAnswer
from council.reports import verify
from council.runner import answering
from tests import gates, repositories
from tests.coding import wait_until
from tests.gates import APPROVE, GATE, REJECT, RELEASE, RUN, waiting
from tests.helpers import PATIENCE, User, no_traceback
from tests.mcp_client import serving
from tests.terminal import Shell

LATE = DeskAnswer("## Decision\nveto\n\n## Reason\nLate.\n", "Bob", desk.PAGE, "2026-11-19T10:00:00+00:00", "0" * 16)


@pytest.fixture
def user(tmp_path: Path) -> User:
    return gates.make(tmp_path)


@pytest.fixture
def begun(user: User) -> User:
    """A session that nobody holds, in which a person's turn is due."""
    assert user.council("run", "-w", "gated", "Shall we?").code == 8
    return user


def left(user: User) -> list[str]:
    return [str(path) for path in user.session.rglob("*") if path.name == desk.FOLDER or path.suffix == ".council-temp"]


# ---- nobody holds the session ----


def test_the_first_answer_is_recorded_and_the_second_is_told_whose_it_was(begun: User) -> None:
    first = gates.answer(begun, by="Ada", via=desk.PAGE)
    assert (first.recorded, first.by, first.via) == (True, "Ada", "page")
    second = gates.answer(begun, given=REJECT, by="Bob", via=desk.API)
    assert (second.recorded, second.by, second.via, second.at) == (False, "Ada", "page", first.at)
    receipt = gates.receipts(begun)[GATE]
    assert (receipt.by, receipt.via) == ("Ada", "page")
    ended = begun.council("record", "last", GATE, "--answer", "decision=veto", "--answer", "reason=no")
    assert ended.code == 2
    assert "a turn is never overwritten: Ada answered it on the page at" in ended.err
    assert gates.answer(begun, RELEASE, REJECT).archived is not None
    assert begun.council("verify").code == 0
    assert left(begun) == []


@pytest.mark.parametrize(
    ("turn", "given", "why"),
    [
        (GATE, (("decision", "perhaps"), ("reason", "none")), "write approve, reject or veto"),
        (GATE, (("verdict", "approve"),), "does not ask for an answer"),
        (RELEASE, APPROVE, "is not due"),
        ("01-gate/nobody", APPROVE, "is not due"),
        ("../../etc/passwd", APPROVE, "is not due"),
        (GATE, "x" * (desk.LARGEST + 1), "a person's may have 1,000,000"),
    ],
)
def test_what_cannot_be_an_answer_is_refused_before_it_is_anywhere(
    begun: User, turn: str, given: gates.Given, why: str
) -> None:
    with pytest.raises(UsageError, match=why):
        gates.answer(begun, turn, given)
    assert left(begun) == []
    assert gates.receipts(begun) == {}


def test_a_session_that_git_tracks_is_answered_by_nobody(begun: User, tmp_path: Path) -> None:
    folder = tmp_path / "clone" / ".council" / "sessions" / begun.session.name
    folder.parent.mkdir(parents=True)
    begun.session.rename(folder)
    repositories.git(tmp_path / "clone", "init", "-q")
    repositories.git(tmp_path / "clone", "add", "-f", ".")
    for refused in (answering.ask_to_pause, answering.cancel):
        with pytest.raises(UsageError, match="git tracks it"):
            refused(folder)
    assert not (folder / desk.FOLDER).exists()


def test_an_answer_that_was_left_on_the_desk_is_recorded_before_a_later_one(begun: User) -> None:
    """Whoever put it there was killed, or the run that should have taken it was."""
    assert Desk(begun.session, GATE).put(LATE)
    assert begun.council("status").out.count("waiting") == 1
    done = gates.answer(begun, given=APPROVE, by="Ada")
    assert (done.recorded, done.by) == (False, "Bob")
    assert left(begun) == []


def test_what_is_no_longer_due_is_removed(begun: User) -> None:
    assert Desk(begun.session, RELEASE).put(LATE)
    gates.answer(begun, given=REJECT)
    assert gates.receipts(begun).keys() == {GATE}
    assert left(begun) == []
    assert Desk(begun.session, GATE).put(LATE)
    assert begun.council("build").code == 0
    assert left(begun) == []


def test_an_answer_that_only_repeats_the_question_approves_nothing(begun: User) -> None:
    asked = (begun.session / f"briefs/{GATE}.md").read_text()
    assert gates.answer(begun, given=asked).recorded
    assert [due.id for due in verify.status(begun.session).plan.due] == [f"{GATE}.2"]


# ---- a run holds it ----


def test_a_run_that_waits_takes_the_first_of_several_answers_from_other_processes(user: User) -> None:
    with waiting(user) as run, ThreadPoolExecutor(4) as pool:
        names = ["Ada", "Bob", "Cleo", "Dan"]
        done = list(pool.map(lambda name: gates.answer(user, by=name, via=desk.PAGE), names))
        (winner,) = [one for one in done if one.recorded]
        assert {one.by for one in done} == {winner.by}
        assert gates.receipts(user)[GATE].by == winner.by
        recorded = user.council(
            "record", "last", RELEASE, *map(str, ("--answer", "decision=reject")), "--answer", "reason=no"
        )
        assert recorded.code == 0
        assert "the debate goes on in pid" in recorded.out
        assert run.wait(PATIENCE) == 0
    assert gates.receipts(user)[RELEASE].via == "record"
    assert left(user) == []
    assert user.council("verify").code == 0


def test_a_run_that_waits_is_told_that_the_person_does_not_answer(user: User) -> None:
    with waiting(user) as run:
        told = user.council("record", "last", GATE, "--absent", "on holiday", "--by", "Bob")
        assert told.code == 0, told.err
        assert run.wait(PATIENCE) == 3, "nobody was heard"
    receipt = gates.receipts(user)[GATE]
    assert (receipt.absent, receipt.by, receipt.via) == ("on holiday", "Bob", "record")
    assert RELEASE not in gates.receipts(user), "absence approves nothing"
    assert left(user) == []
    assert user.council("verify").code == 0


def test_the_tools_answer_a_run_that_waits_and_say_who_was_first(user: User) -> None:
    with waiting(user) as run, serving(user) as server:
        id = user.session.name
        given = {"session": id, "turn": GATE, "answers": dict(APPROVE), "by": "Ada"}
        assert "write approve, reject or veto" in server.refused(
            "record", **{**given, "answers": {"decision": "perhaps", "reason": "none"}}
        )
        told = server.told("record", **given)
        assert (told["recorded"], told["done"]) == (GATE, False)
        assert "goes on by itself" in told["todo"]
        assert wait_until((user.session / f"briefs/{RELEASE}.md").exists)
        assert "recorded already" in server.refused("record", **given)
        server.told("record", session=id, turn=RELEASE, absent="gone home")
        assert run.wait(PATIENCE) == 0
    receipts = gates.receipts(user)
    assert (receipts[GATE].by, receipts[GATE].via, receipts[RELEASE].absent) == ("Ada", "record", "gone home")
    assert user.council("verify").code == 0


def test_an_answer_that_the_holder_does_not_take_is_taken_back(begun: User) -> None:
    with lock.hold(begun.session), pytest.raises(Busy, match="was not recorded"):
        gates.answer(begun, patience=0.1)
    assert gates.receipts(begun) == {}
    assert left(begun) == []


def test_an_answer_outlives_the_run_that_should_have_taken_it(user: User) -> None:
    with waiting(user) as run, ThreadPoolExecutor(1) as pool:
        run.send_signal(signal.SIGSTOP)
        given = pool.submit(gates.answer, user, by="Ada")
        assert wait_until(Desk(user.session, GATE).path.exists)
        run.kill()
        run.wait()
        assert given.result().recorded
    assert gates.receipts(user).keys() == {GATE}


@pytest.mark.parametrize("hostile", ["link", "pipe", "folder", "huge", "not UTF-8", "foreign", "of another user"])
def test_nothing_that_council_did_not_write_is_taken_from_the_desk(tmp_path: Path, hostile: str) -> None:
    place = Desk(tmp_path, GATE)
    place.path.parent.mkdir(parents=True)
    make: dict[str, Callable[[], object]] = {
        "link": lambda: place.path.symlink_to("/etc/passwd"),
        "pipe": lambda: os.mkfifo(place.path),
        "folder": place.path.mkdir,
        "huge": lambda: os.truncate(os.open(place.path, os.O_CREAT | os.O_WRONLY), 5_000_000_000),
        "not UTF-8": lambda: place.path.write_bytes(b'---\nby: "a"\nvia: "page"\n---\n\xff'),
        "foreign": lambda: place.path.write_text("approve"),
        "of another user": lambda: place.put(LATE) and os.chown(place.path, 12345, 12345),
    }
    if hostile == "of another user" and os.geteuid() != 0:
        pytest.skip("only root can give a file away")
    make[hostile]()
    with pytest.raises(Damaged, match=r"01-gate/human\.md: "):
        place.take()
    assert not place.put(LATE) or hostile == "folder"
    assert not place.withdraw(LATE.id)
    assert os.path.lexists(place.path)
    assert [str(one).partition(": ")[0] for one in desk.check(tmp_path)] == [str(place.path)]


def test_a_run_names_what_is_no_answer_and_waits_on(user: User) -> None:
    with waiting(user) as run:
        path = Desk(user.session, GATE).path
        path.parent.mkdir(parents=True)
        path.write_text("---\nby: 1\n---\napprove")
        assert run.stderr is not None
        seen = b""
        while b"not an answer that council" not in seen:
            seen += (line := run.stderr.readline())
            assert line
        path.unlink()
        gates.answer(user, given=REJECT)
        assert run.wait(PATIENCE) == 0


# ---- at the terminal ----


def test_a_person_at_the_terminal_is_told_who_answered_elsewhere(user: User) -> None:
    with Shell(user) as shell:
        shell.type("./council run -w gated 'Shall we?'\n")
        shell.until(r"\[V\]eto")
        shell.type("app")
        assert gates.answer(user, by="Ada", via=desk.PAGE).recorded
        shell.until(r"01-gate/human was answered by Ada on the page; what was typed here is\s+discarded")
        asked = shell.until(r"\[V\]eto")
        assert "It is tested." in asked, "what was answered elsewhere is shown"
        shell.type("reject\n")
        shell.until("Your reason")
        shell.type("No.\n\n")
        shell.until("archive:")
        shell.until("ready> ")
        assert shell.echoes
    assert {turn: one.via for turn, one in gates.receipts(user).items()} == {GATE: "page", RELEASE: "terminal"}


# ---- pausing and cancelling ----


def test_a_run_pauses_before_its_next_turns_and_says_who_asked(user: User) -> None:
    with waiting(user) as run:
        run.send_signal(signal.SIGSTOP)
        assert user.council("pause", "--by", "Ada").code == 0
        assert "pauses before its next turns, as Ada asked; waits for 01-gate/human" in user.council("status").out
        run.send_signal(signal.SIGCONT)
        assert run.wait(PATIENCE) == 3
        assert b"Ada asked for a pause" in run.communicate()[1]
    assert verify.status(user.session).state == "waiting"
    assert left(user) == []
    with pytest.raises(UsageError, match="is not running"):
        answering.ask_to_pause(user.session, "Ada")
    assert desk.ask_to_pause(user.session, "Bob", "0" * 16), "asked just when the run had ended"
    assert user.council("recover").code == 8, "a request of before is not obeyed"
    assert left(user) == []


def test_a_run_is_interrupted_and_no_other_process_ever_is(user: User) -> None:
    with waiting(user) as run:
        note = (user.session / lock.NOTE).read_text()
        assert user.council("pause", "--now").code == 0
        assert run.wait(PATIENCE) == 130
    with subprocess.Popen(["sleep", "60"]) as other:
        (user.session / lock.NOTE).write_text(note.replace(f'"pid": {run.pid}', f'"pid": {other.pid}'))
        with pytest.raises(UsageError, match="is not running"):
            answering.cancel(user.session)
        with lock.hold(user.session), pytest.raises(UsageError, match="is not running"):
            answering.cancel(user.session)
        assert other.poll() is None
        other.kill()


def test_waiting_ends_with_the_time_for_a_person_and_with_a_signal(user: User) -> None:
    timed = user.process(*RUN, "-o", "checkpoint_timeout=0.1")
    no_traceback(timed)
    assert timed.code == 8
    assert f"nobody answered {GATE} within 0.1 s" in timed.err
    with user.spawn("recover", "--wait") as run:
        assert wait_until(lambda: lock.is_held(user.session) and "pid" in lock.read_note(user.session))
        run.terminate()
        assert run.wait(PATIENCE) == 143
