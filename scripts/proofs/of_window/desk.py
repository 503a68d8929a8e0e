"""A gate is answered once, no matter who answers it and what is killed; and watching a run changes nothing in it."""

from __future__ import annotations

import os
import random
import resource
import signal
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory

from prove import Outcome

from council.record import desk, live, turn_file
from council.runner.answering import Answered
from tests import gates
from tests.fakeapi import FakeApi
from tests.gates import GATE, receipts
from tests.helpers import CODE, PATIENCE, Table, User, agreed, picture, script
from tests.killed import OK, answer_a_run_and_die, answer_and_die, run_and_die
from tests.terminal import Shell

ONCE, UNTOUCHED = "a gate is answered once", "the record is the same with and without live files"
ROUNDS = int(os.environ.get("COUNCIL_PROOF_ROUNDS", "50"))
DEBATES, RUNS, LIMIT = 2 * ROUNDS // 5, 12, 1.02
PROCESSES, TERMINAL = "two processes answer at once", "a terminal, a page and record answer at once"
KILLED = "who answers is killed at each change, and nobody holds the session"
KILLED_READING = "who answers is killed at each change and each look, and nobody holds the session"
KILLED_WAITING = "who answers is killed at each change, while a run waits"
KILLED_RUN = "the run that waits is killed at each change"
LIVE, CPU = "debates with live files are killed", "CPU time with live files"
QUIET = "import council.runner.live as live; live.LiveWords.add = lambda *_: None; "
PROGRAM = "import sys; from council.cli import main; sys.exit(main())"


def parts() -> list[str]:
    return [*ATTEMPTS]


def prove(part: str) -> Outcome:
    with TemporaryDirectory(prefix="council-proof-") as place:
        return ATTEMPTS[part](Path(place), part)


def _pool() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(2, mp_context=get_context("spawn"))


def _race_processes(place: Path, part: str) -> Outcome:
    wrong: list[str] = []
    with _pool() as pool:
        for number in range(ROUNDS):
            user = gates.make(place / str(number))
            user.council("run", "-w", "gated", "Shall we?")
            given = [pool.submit(gates.answer, user, by=name, via=desk.PAGE) for name in ("Ada", "Bob")]
            wrong += [f"{part}, {number}: {what}" for what in _check(user, GATE, [one.result() for one in given])]
    return _row(ONCE, part, "one recorded, the other told who", ROUNDS, wrong)


def _check(user: User, turn: str, answers: list[Answered]) -> list[str]:
    first = receipts(user).get(turn)
    if first is None:
        return ["no turn"]
    winners = [one for one in answers if one.recorded]
    told = {(one.by, one.via) for one in answers}
    here = first.via == desk.TERMINAL
    wrong = [f"{len(winners)} were told that theirs is recorded"] if len(winners) != (not here) else []
    wrong += [f"told {told}, not {first.by} ({first.via})"] if told != {(first.by, first.via)} else []
    return wrong


def _race_terminal(place: Path, part: str) -> Outcome:
    """Both gates of each debate: the four begin at random moments of the same half second."""
    wrong, dice, won = list[str](), random.Random(50), Counter[str]()
    with _pool() as pool, ThreadPoolExecutor(1) as typist:
        list(pool.map(abs, (1, 2)))
        for number in range(ROUNDS // 2):
            user = gates.make(place / str(number))
            with Shell(user) as shell:
                shell.type("./council run -w gated 'Shall we?'\n")
                for turn in (GATE, gates.RELEASE):
                    shell.until(r"\[V\]eto\r\n> ")
                    record = user.spawn("record", "last", turn, "--answer", "decision=approve", "--by", "Cleo")
                    given = [pool.submit(_later, dice.uniform(0.3, 0.9), user, turn, name) for name in ("Ada", "Bob")]
                    typed = typist.submit(_type, shell, dice.uniform(0.3, 1.1))
                    answers = [one.result() for one in given]
                    said = b"".join(record.communicate(timeout=PATIENCE)).decode()
                    typed.result()
                    found = receipts(user)[turn]
                    won[str(found.via)] += 1
                    recorded = Answered(turn, record.returncode == 0, str(found.by), str(found.via), "")
                    problems = _check(user, turn, [*answers, recorded])
                    wrong += [f"{part}, {number}, {turn}: {what}" for what in problems]
                    if found.by != "Cleo" and str(found.by) not in said:
                        wrong.append(f"{part}, {number}, {turn}: record said {said}")
                    if found.via != desk.TERMINAL:
                        shell.until(f"was answered by {found.by}")
                shell.until("ready> ")
    notes = [f"the first was: {', '.join(f'{name} {count}' for name, count in sorted(won.items()))}"]
    return _row(ONCE, part, "one recorded, all told who", ROUNDS, wrong, notes)


def _later(seconds: float, user: User, turn: str, name: str) -> Answered:
    time.sleep(seconds)
    return gates.answer(user, turn, (("decision", "approve"), ("reason", "none")), by=name, via=desk.PAGE)


def _type(shell: Shell, seconds: float) -> None:
    time.sleep(seconds)
    shell.type("a\n\n")


def _kill(killing: Callable[[User, int], tuple[str | None, bool]], place: Path, part: str) -> Outcome:
    """Until the process comes to its end: every point was tried then."""
    wrong, point = list[str](), 0
    while True:
        user = gates.make(place / str(point))
        said, done = killing(user, point)
        if said == OK and GATE not in receipts(user):
            wrong.append(f"{part}, {point}: ok without a turn")
        after = gates.answer(user, by="Bob")
        first = receipts(user)[GATE]
        if (after.by, after.recorded) != (first.by, first.by == "Bob"):
            wrong.append(f"{part}, {point}: {after}")
        if done:
            return _row(ONCE, part, "one turn, never ok without it", point, wrong)
        point += 1


def _kill_debates(place: Path, part: str) -> Outcome:
    dice, wrong, kills, speaking = random.Random(20), list[str](), 0, 0
    words = agreed()
    for number in range(DEBATES):
        user = User(place / str(number))
        source = script(user, words)
        paced = ("--speaker", "replay", "--from", str(source), "--pace", "real", "-q")
        command: tuple[str, ...] = ("run", "Should we keep one database?", *paced)
        for left in range(5, -1, -1):
            with user.spawn(*command) as run:
                with suppress(subprocess.TimeoutExpired):
                    run.wait(dice.uniform(0.5, 4.0) if left else None)
                over = run.poll() is not None
                kills += not over
                run.send_signal(signal.SIGKILL)
            if over:
                break
            speaking += any(live.find_speaking(session) for session in _born(user))
            command = ("recover", *paced) if _born(user) else command
        (session,) = _born(user)
        found = [name for name in picture(session) if name.endswith(".council-temp")]
        turns = {f"{path.parent.name}/{path.stem}": path for path in session.glob("turns/*/*.md")}
        said = {turn: turn_file.decode(path.read_bytes(), path)[1] for turn, path in turns.items()}
        ended = user.council("verify")
        wrong += [f"{part}, {number}: left {found}"] if found else []
        wrong += [f"{part}, {number}: other words"] if said != words else []
        wrong += [f"{part}, {number}: {ended.text}"] if ended.code else []
    return _row(
        UNTOUCHED,
        part,
        "all words, nothing left",
        DEBATES,
        wrong,
        [f"{part}: {kills} kills, {speaking} of them while a live file was there"],
    )


def _born(user: User) -> list[Path]:
    """The sessions that are whole: one that was killed while it was made has another name."""
    return [session for session in user.sessions if not session.name.startswith(".")]


def _measure(place: Path, part: str) -> Outcome:
    """The same streamed debate with and without live files, in turn; CPU seconds of the process."""
    ratios = []
    for number in range(RUNS):
        seconds = {}
        for kind, before in (("with", ""), ("without", QUIET))[:: 1 if number % 2 else -1]:
            user = User(place / f"{number}-{kind}", {"ANTHROPIC_API_KEY": "sk-ant-of-the-tests"})
            with FakeApi(Table(user, agreed(), chunks=60, delay=0.02)) as api:
                user.configure(f"endpoints:\n  anthropic: {{base_url: {api.url}}}")
                own = {**user.environment, "PYTHONPATH": str(CODE)}
                start = resource.getrusage(resource.RUSAGE_CHILDREN)
                command = [sys.executable, "-c", before + PROGRAM, "run", "-q", "Should we keep one database?"]
                subprocess.run(command, cwd=user.work, env=own, check=True, capture_output=True)
                end = resource.getrusage(resource.RUSAGE_CHILDREN)
            seconds[kind] = end.ru_utime + end.ru_stime - start.ru_utime - start.ru_stime
        ratios.append(seconds["with"] / seconds["without"])
    middle = statistics.median(ratios)
    wrong = [f"{part}: {middle:.3f}"] if middle > LIMIT else []
    note = (
        f"CPU with live files / without: median {middle:.3f} of {RUNS} pairs ({min(ratios):.3f} to {max(ratios):.3f})"
    )
    return _row("live files cost nearly nothing", part, f"at most {LIMIT}", 1, wrong, [note], f"{middle:.3f}")


def _row(
    promise: str, part: str, expected: str, tried: int, wrong: list[str], notes: list[str] | None = None, seen: str = ""
) -> Outcome:
    held = tried - len({line.rpartition(": ")[0] for line in wrong})
    return Outcome([(promise, part, expected, seen or f"{held} times", tried, held)], wrong, notes or [])


ATTEMPTS: dict[str, Callable[[Path, str], Outcome]] = {
    PROCESSES: _race_processes,
    TERMINAL: _race_terminal,
    KILLED: partial(_kill, answer_and_die),
    KILLED_READING: partial(_kill, partial(answer_and_die, reads=True)),
    KILLED_WAITING: partial(_kill, answer_a_run_and_die),
    KILLED_RUN: partial(_kill, run_and_die),
    LIVE: _kill_debates,
    CPU: _measure,
}
