"""Whatever moment a run dies at: what was paid for is kept, nothing is paid for twice, and `recover` finishes it.

Real processes, real kills, the real program (see `tests/faults.py`). Most points replay a script, which asks in the
same way as a speaker with an API; some are asked for over HTTP. Everything here lies in memory where that is possible:
thousands of fsyncs would only try the patience, and the order of those calls is tested by itself.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Self

import pytest

from tests import faults
from tests.fakeapi import Answer, FakeApi, Request
from tests.faults import Ended, Fault, Job, Nursery
from tests.worlds import Running, World, body_of, differences, snapshot

MEMORY = Path("/dev/shm")
SCRIPT = faults.script()


# ---- everybody who is asked over HTTP ----


class Members(FakeApi):
    """They answer as scripted, once the gate is open. Who is asked is known by the brief, which must be on disk."""

    def __init__(self, latency: float = 0.0, gated: bool = False) -> None:
        super().__init__(self.reply)
        self.latency = latency
        self.homes: list[Path] = []
        self.asked: defaultdict[int, list[str]] = defaultdict(list)
        self.busy: tuple[Answer, ...] = ()
        self.when: dict[str, Callable[[], None]] = {}
        self._gate = asyncio.Event()
        if not gated:
            self._gate.set()

    def __enter__(self) -> Self:
        super().__enter__()
        return self

    def address(self, memory: Path) -> str:
        """An address for one process alone, so that the requests of two are never mistaken for each other's."""
        self.homes.append(memory)
        return f"{self.url}/{len(self.homes) - 1}"

    def open(self) -> None:
        self._loop.call_soon_threadsafe(self._gate.set)

    async def _answer(self, request: Request, writer: asyncio.StreamWriter) -> bool:
        await self._gate.wait()
        return await super()._answer(request, writer)

    def reply(self, request: Request) -> Answer:
        number = int(request.path.split("/")[1])
        if not self.homes[number].exists():
            return Answer()  # the last words to somebody who was killed, and is swept away
        turn = turn_of(self.homes[number], request.text)
        self.asked[number].append(turn)
        if self.busy:
            answer, *rest = self.busy
            self.busy = tuple(rest)
            return answer
        self.when.pop(turn, lambda: None)()
        return Answer(SCRIPT[turn], latency=self.latency, chunks=2)


def turn_of(memory: Path, text: str) -> str:
    for path in memory.glob("STATE/council-sessions/*/briefs/*/*.md"):
        if path.read_bytes() == text.encode():
            return f"{path.parent.name}/{path.stem}"
    raise LookupError(f"somebody was asked with a brief that is not on disk: {text[-300:]}")


# ---- a case: a command that changes a session, and what has to be there when it was helped to its end ----


@dataclass(frozen=True)
class Case:
    """`before` makes the world that the command finds; `command` is the command, and its standard input."""

    name: str
    before: Callable[[World], None]
    command: Callable[[World], tuple[str, ...]]
    stdin: str = ""
    turn: str = ""


@dataclass
class Prepared:
    """A case with the world before it, the calls of its unbroken run, what is there after it.

    `looks` is the exit code of `status` before it: a session without its derived files looks damaged, and is.
    """

    case: Case
    world: World
    calls: tuple[str, ...]
    after: dict[str, bytes]
    looks: int


def begin(world: World) -> tuple[str, ...]:
    if world.api:
        return ("run", faults.TOPIC, "--speaker", "anthropic")
    return ("run", *faults.QUESTION, "--speaker", "replay", "--from", str(world.script))


def finish(world: World) -> tuple[str, ...]:
    if world.api:
        return ("recover", world.session.name)
    return ("recover", world.session.name, "--speaker", "replay", "--from", str(world.script))


def nothing(world: World) -> None:
    world.memory.mkdir()


def killed_at(pattern: str) -> Callable[[World], None]:
    """A world whose run was killed after the last call that looks like this."""

    def make(world: World) -> None:
        twin = World(world.folder.with_name(world.folder.name + "-twin"), world.nursery)
        calls = twin.do(*begin(twin)).calls
        at = max(number for number, call in enumerate(calls, 1) if re.search(pattern, call))
        twin.drop()
        assert world.do(*begin(world), fault=Fault("after", at)).code == -9

    return make


def by_hand(last: str) -> Callable[[World], None]:
    """A session whose replies are recorded one by one, up to the turn `last`, which is due."""

    def make(world: World) -> None:
        assert world.do("run", *faults.QUESTION, "--speaker", "assistant").code == 8
        turns = [turn for turn in SCRIPT if turn.endswith(("architect", "engineer", "engineer.2", "chair"))]
        for turn in sorted(turns)[: sorted(turns).index(last)]:
            assert world.do("record", world.session.name, turn, stdin=SCRIPT[turn]).code == 0

    return make


def without_derived(world: World) -> None:
    assert world.do(*begin(world)).code == 0
    for path in derived(world.session):
        path.unlink()


def derived(session: Path) -> list[Path]:
    names = ("convergence.json", "synthesis.md", "transcript.md")
    return [path for path in session.iterdir() if path.name in names or path.name.startswith("round-")]


def record(turn: str) -> Case:
    return Case(
        f"record {turn.replace('/', ' ')}",
        by_hand(turn),
        lambda world: ("record", world.session.name, turn),
        SCRIPT[turn],
        turn,
    )


SPOKEN = r"rename .*/turns/04-synthesis-r02/"
CASES = {
    "run": Case("run", nothing, begin),
    "recover": Case("recover", killed_at(r"rename .*/turns/02-challenges/\.architect"), finish),
    "archive": Case("archive", killed_at(SPOKEN), lambda world: ("archive", world.session.name)),
    "build": Case("build", without_derived, lambda world: ("build", world.session.name)),
    "record": record("02-challenges/architect"),
    "record the last": record("04-synthesis-r02/chair"),
}


# ---- a point: one fault in one case, and everything that must be true afterwards ----


@dataclass
class Point:
    """One fault. `wrong` collects what is not as it must be, each with its kind in front."""

    prepared: Prepared
    world: World
    fault: Fault
    naive: bool = False
    wrong: list[str] = field(default_factory=list)

    def demand(self, holds: bool, kind: str, detail: object = "") -> None:
        if not holds:
            self.wrong.append(f"{kind}: {detail}")

    def command(self) -> tuple[str, ...]:
        return self.prepared.case.command(self.world)

    def strike(self) -> Ended:
        return self.world.do(*self.command(), fault=self.fault, stdin=self.prepared.case.stdin, naive=self.naive)

    def check(self) -> list[str]:
        broken = self.strike()
        stored = self.world.turns
        self.check_end(broken, stored)
        whole = self.is_whole()
        helped = self.help(broken)
        for ended in (broken, *helped):
            self.demand("Traceback" not in ended.err and "Warning" not in ended.err, "traceback", ended.err)
        self.check_help(helped, stored, whole)
        self.check_result(stored)
        return self.wrong

    def is_whole(self) -> bool:
        """Whether it may be called complete. Where the metadata say nothing of an end, the files are not even read."""
        ends = [b'"completed_at"' in (session / "metadata.json").read_bytes() for session in self.world.sessions]
        return any(ends) and snapshot(self.world) == self.prepared.after

    def check_end(self, broken: Ended, stored: dict[str, bytes]) -> None:
        """A kill is a kill; an error of the disk is exit 6, and no reply is lost without being shown."""
        if self.fault.kind in faults.DEATHS:
            self.demand(broken.code == -9, "survived", broken.code)
            return
        self.demand(broken.code == (6 if broken.struck else 0), "exit code", f"{broken.code} {broken.err}")
        recorded = (self.prepared.case.turn,) if self.prepared.case.turn and broken.struck else ()
        for turn in (*broken.asked, *recorded):
            shown = SCRIPT[turn].replace("\r", "") in broken.err.replace("\r", "")
            self.demand(turn in stored or shown, "reply lost", turn)
        if broken.struck and self.prepared.case.name in ("run", "recover"):
            go_on = (
                ("go on with: council recover",)
                if broken.asked
                else ("go on with: council recover", "nothing was spent")
            )
            self.demand(any(words in broken.last_line for words in go_on), "last line", broken.last_line)

    def help(self, broken: Ended) -> list[Ended]:
        """As a person would: look, go on (or begin, where it never began), look again, prove."""
        if not self.world.sessions:
            began = [self.world.do(*self.command(), naive=self.naive)]
            return began + self.in_a_row(("status",), ("verify",)) if self.world.sessions else began
        looked = []
        if self.must_record_again():
            looked = self.in_a_row(("status",))
            again = self.world.do(*self.command(), stdin=self.prepared.case.stdin, naive=self.naive)
            self.demand(again.code == 0, "not recorded", again.err)
        advised = shlex.split(broken.last_line.partition("go on with: ")[2])[1:]
        go_on = tuple(advised) if "--from" in advised else finish(self.world)
        before = () if looked else (("status",),)
        return looked + self.in_a_row(*before, go_on, ("status",), ("verify",))

    def must_record_again(self) -> bool:
        return bool(self.prepared.case.turn) and self.prepared.case.turn not in self.world.turns

    def in_a_row(self, *commands: Sequence[str]) -> list[Ended]:
        return self.world.in_a_row(*commands, naive=self.naive)

    def check_help(self, helped: list[Ended], stored: dict[str, bytes], whole: bool) -> None:
        """Complete is said of what is complete; what was stored is not asked for again; in the end all is proven."""
        verified, looked, worked, *looked_before = helped[::-1]
        for ended in looked_before:
            said = ended.out.partition(": ")[2]
            self.demand(not said.startswith("complete") or whole, "complete too early", said)
            known = ended.code in (0, self.prepared.looks)
            self.demand(known, "status after the fault", f"{ended.code} {ended.out} {ended.err}")
        self.demand(worked.code == 0, "not finished", f"{worked.code} {worked.err}")
        self.demand(": complete" in looked.out, "not complete", looked.out + looked.err)
        self.demand(verified.code == 0, "verify", verified.out + verified.err)
        for turn, count in Counter(worked.asked).items():
            self.demand(count == 1 and turn not in stored, "asked again", turn)

    def check_result(self, stored: dict[str, bytes]) -> None:
        now = self.world.turns
        for turn, data in stored.items():
            self.demand(now.get(turn) == data, "turn changed", turn)
        for turn, data in now.items():
            self.demand(body_of(data) == SCRIPT[turn].encode(), "torn", turn)
        self.demand(not self.world.temps, "temp left", self.world.temps)
        self.demand(len(self.world.archived) == 1, "archive count", self.world.archived)
        for name in differences(snapshot(self.world), self.prepared.after):
            self.demand(False, "differs", name)


# ---- the nursery and the worlds, made once ----


@pytest.fixture(scope="module")
def ground() -> Iterator[Path]:
    """Where the worlds lie."""
    place = MEMORY if os.access(MEMORY, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="council-crash-", dir=place) as folder:
        yield Path(folder)


@pytest.fixture(scope="module")
def nursery() -> Iterator[Nursery]:
    with Nursery() as made:
        yield made


@pytest.fixture
def world(ground: Path, nursery: Nursery, request: pytest.FixtureRequest) -> Iterator[World]:
    made = World(ground / re.sub(r"\W+", "-", request.node.name), nursery)
    yield made
    made.drop()


def prepared(case: Case, ground: Path, nursery: Nursery, api: Members | None = None) -> Prepared:
    """The case's world, made once for each process that tests; its unbroken run is in a copy of it."""
    folder = ground / re.sub(r"\W+", "-", case.name + (" over HTTP" if api else ""))
    world = World(folder, nursery, api)
    if not world.memory.exists():
        case.before(world)
    unbroken = world.copy(folder.with_name(folder.name + "-unbroken"))
    ended = unbroken.do(*case.command(unbroken), stdin=case.stdin)
    assert ended.code == 0, ended.err
    assert unbroken.do(*finish(unbroken)).code == 0
    looks = world.do("status").code
    found = Prepared(case, world, ended.calls, snapshot(unbroken), looks)
    unbroken.drop()
    return found


def sweep(found: Prepared, kind: str, numbers: Sequence[int], naive: bool = False) -> dict[int, list[str]]:
    """The fault at each of these calls; what was wrong after it, by the call's number."""
    wrong = {}
    for number in numbers:
        world = found.world.copy(found.world.folder.with_name(f"{found.world.folder.name}-{kind}-{number}"))
        wrong[number] = Point(found, world, Fault(kind, number), naive).check()
        world.drop()
    return wrong


def told(found: Prepared, wrong: dict[int, list[str]]) -> str:
    lines = [f"{number} ({found.calls[number - 1]}): {what}" for number, all_ in wrong.items() for what in all_]
    return "\n".join([*lines[:40], f"{kinds(wrong)} at {sum(map(bool, wrong.values()))} of {len(wrong)} points"])


def kinds(wrong: dict[int, list[str]]) -> Counter[str]:
    return Counter(what.partition(":")[0] for all_ in wrong.values() for what in all_)


def numbers_for(found: Prepared, kind: str) -> list[int]:
    """Every call, or of the kinds that repeat another's disk every so manieth, and always the last."""
    calls = list(enumerate(found.calls, 1))
    if kind == "half":
        return numbers_of(found, "write")
    every = EVERY_SO_MANIETH.get(kind, 1)
    return [number for number, _ in calls if not (len(calls) - number) % every]


EVERY = [(case, kind) for case in CASES for kind in faults.KINDS if kind != "none"]


def numbers_of(found: Prepared, name: str) -> list[int]:
    return [number for number, call in enumerate(found.calls, 1) if call.startswith(f"{name} ")]


# After one call is before the next; a disk that is full once, or broken from now on, differs little from the others.
EVERY_SO_MANIETH = {"after": 4, "full once": 4, "broken": 4}
LEAST = {"run": 200, "recover": 120, "archive": 20, "build": 20, "record": 15, "record the last": 30}


@pytest.mark.parametrize(("case", "kind"), EVERY)
def test_every_call_may_be_the_last(case: str, kind: str, ground: Path, nursery: Nursery) -> None:
    found = prepared(CASES[case], ground, nursery)
    numbers = numbers_for(found, kind)
    assert len(numbers) >= LEAST[case] / (1 if kind in ("before", "full", "broken once") else 5)
    wrong = sweep(found, kind, numbers)
    print(f"{case}, {kind}: {len(wrong)} points")
    assert not any(wrong.values()), told(found, wrong)


# ---- the same over HTTP ----


@pytest.fixture(scope="module")
def members() -> Iterator[Members]:
    with Members() as api:
        yield api


@pytest.mark.parametrize(("kind", "points"), [("before", 24), ("full", 12), ("broken once", 12)])
def test_the_same_with_a_speaker_that_is_paid(
    kind: str, points: int, ground: Path, nursery: Nursery, members: Members
) -> None:
    found = prepared(CASES["run"], ground, nursery, members)
    numbers = [len(found.calls) * number // points for number in range(1, points + 1)]
    assert len(set(numbers)) == points
    wrong = sweep(found, kind, numbers)
    assert not any(wrong.values()), told(found, wrong)


def wait_until(holds: Callable[[], bool], patience: float = 60.0) -> None:
    end = time.monotonic() + patience
    while not holds():
        assert time.monotonic() < end, "it never came to that"
        time.sleep(0.005)


def test_fifty_kills_at_random_moments(ground: Path, nursery: Nursery) -> None:
    """Killed from outside, again and again until it is done, and then the next debate."""
    seed = 20
    dice, kills, debates = random.Random(seed), 0, 0
    print(f"seed {seed}")
    with Members(latency=0.03) as api:
        whole = World(ground / "random-whole", nursery, api)
        seconds = whole.do(*begin(whole)).seconds
        while kills < 50:
            world = World(ground / f"random-{debates}", nursery, api)
            kills += killed_until_done(world, dice, seconds)
            assert differences(snapshot(world), snapshot(whole)) == []
            debates += 1
            world.drop()
        whole.drop()
    print(f"{kills} kills in {debates} debates")
    assert debates > 3


def killed_until_done(world: World, dice: random.Random, seconds: float) -> int:
    """How many kills it took, each somewhere within the time of an unbroken run."""
    kills = 0
    while True:
        stored = world.turns
        running = world.start(world.job(finish(world) if world.sessions else begin(world)))
        time.sleep(dice.uniform(0, seconds))
        with contextlib.suppress(ProcessLookupError):
            running.child.kill()
        (ended,) = world.ended(running)
        check_after_kill(world, ended, stored)
        if ended.code == 0:
            break
        kills += 1
    state, proof = world.in_a_row(("status",), ("verify",))
    assert ": complete" in state.out
    assert proof.code == 0, proof.out
    assert (len(world.archived), world.temps) == (1, [])
    return kills


def check_after_kill(world: World, ended: Ended, stored: dict[str, bytes]) -> None:
    assert ended.code in (0, -9), ended.err
    assert "Traceback" not in ended.err
    assert {turn: world.turns.get(turn) for turn in stored} == stored
    assert set(ended.asked).isdisjoint(stored)
    assert set(Counter(ended.asked).values()) <= {1}


def test_a_killed_debate_asks_what_an_unbroken_one_asks(ground: Path, nursery: Nursery) -> None:
    with Members() as api, Members() as other:
        whole = World(ground / "asks-whole", nursery, api)
        calls = whole.do(*begin(whole)).calls
        world = World(ground / "asks", nursery, other)
        for turns in ("01-positions", "03-closing"):
            command, at = (finish(world), dry(world)) if world.sessions else (begin(world), calls)
            assert world.do(*command, fault=Fault("after", nth(at, turns))).code == -9
            assert len([turn for turn in world.turns if turn.startswith(turns)]) == 2
        assert world.do(*finish(world)).code == 0
        assert bodies(api) == bodies(other)
        assert len(bodies(api)) == len(SCRIPT)
        rounds = [{path.name: path.read_bytes() for path in derived(one.session)} for one in (whole, world)]
        names = [name for name in rounds[0] if name != "transcript.md"]
        assert len(names) == 5
        assert [rounds[0][name] for name in names] == [rounds[1][name] for name in names]
        for request in other.prompts:
            if "# Now: initial positions" in request.text:
                assert "The position of the" not in request.text
    whole.drop()
    world.drop()


def nth(calls: Sequence[str], turns: str, which: int = 2) -> int:
    """The number of the call that stores the second of these turns."""
    return [number for number, call in enumerate(calls, 1) if re.search(f"^rename .*/turns/{turns}/", call)][which - 1]


def dry(world: World) -> tuple[str, ...]:
    """The calls that the next command would make, found out in a copy."""
    twin = world.copy(world.folder.with_name("dry"))
    with Members() as api:
        twin.api = api
        calls = twin.do(*finish(twin)).calls
    twin.drop()
    return calls


def bodies(api: Members) -> set[str]:
    return {json.dumps(request.body, sort_keys=True) for request in api.prompts}


def test_derived_files_are_made_again_byte_for_byte(world: World) -> None:
    assert world.do(*begin(world)).code == 0
    before = {path.name: path.read_bytes() for path in derived(world.session)}
    assert len(before) == 6
    for name in before:
        (world.session / name).unlink()
        assert world.do("build").code == 0
    for path in derived(world.session):
        path.unlink()
    assert world.do("build").code == 0
    assert {path.name: path.read_bytes() for path in derived(world.session)} == before


# ---- who writes: one at a time ----


@pytest.fixture
def hanging(ground: Path, nursery: Nursery) -> Iterator[tuple[World, Running, Members]]:
    """A run whose four calls hang in the API."""
    with Members(gated=True) as api:
        world = World(ground / "hanging", nursery, api)
        running = world.start(world.job(begin(world)))
        wait_until(lambda: len(api.prompts) == 4)
        yield world, running, api
        api.open()
        with contextlib.suppress(ProcessLookupError):
            running.child.kill()
    world.drop()


def test_of_twenty_recoverers_one_works(hanging: tuple[World, Running, Members]) -> None:
    """The others say who does, and wait for nothing: they take at most a second more than as many `status` at once.

    Twenty programs on few processors take their time, whatever they do; but so do twenty times `status`.
    """
    world, dead, api = hanging
    dead.child.kill()
    assert dead.child.wait().code == -9
    looking = [world.start(world.job(("status",))) for _ in range(20)]
    slowest = max(world.ended(one)[0].seconds for one in looking)
    running = [world.start(world.job(finish(world))) for _ in range(20)]
    children = [one.child for one in running]
    losers = world.nursery.first(children, 19)
    host = re.escape(socket.gethostname())
    (winner,) = [child for child in children if child not in losers]
    for loser in losers:
        ended = loser.wait()
        assert ended.code == 7, ended.err
        assert re.search(rf"by pid {winner.pid} on {host}, since \d{{4}}-\d\d-", ended.err), ended.err
        assert ended.seconds < slowest + 1
    wait_until(lambda: len(api.prompts) == 8)
    api.open()
    assert winner.wait().code == 0
    assert len(api.prompts) == 4 + len(SCRIPT)


def test_a_dead_holder_is_taken_over_at_once(hanging: tuple[World, Running, Members]) -> None:
    world, dead, api = hanging
    assert "running" in world.do("status").out
    dead.child.kill()
    assert dead.child.wait().code == -9
    assert "interrupted" in world.do("status").out
    heir = world.start(world.job(finish(world)))
    wait_until(lambda: len(api.prompts) == 8)
    api.open()
    assert heir.child.wait().code == 0


def test_a_note_of_somebody_who_lives_elsewhere_does_not_block(world: World) -> None:
    calls = world.copy(world.folder.with_name("note-dry"))
    number = nth(calls.do(*begin(calls)).calls, "02-challenges", 1)
    calls.drop()
    assert world.do(*begin(world), fault=Fault("after", number)).code == -9
    note = {"pid": os.getpid(), "host": "elsewhere", "boot": "another", "since": "2020-01-01T00:00:00+00:00"}
    (world.session / "runner.json").write_text(json.dumps(note))
    assert "interrupted" in world.do("status").out
    assert world.do(*finish(world)).code == 0


@pytest.mark.parametrize("how", ["deleted", "replaced", "taken over"])
def test_a_runner_whose_lock_is_gone_stops_and_overwrites_nothing(
    how: str, hanging: tuple[World, Running, Members]
) -> None:
    world, running, api = hanging
    (world.session / ".lock").unlink()
    if how == "replaced":
        (world.session / ".lock").touch()
    if how == "taken over":
        heir = World(world.folder, world.nursery)
        assert heir.do(*finish(heir)).code == 0
    before = {path: path.read_bytes() for path in world.memory.rglob("*") if path.is_file()}
    api.open()
    (ended,) = world.ended(running)
    assert ended.code == 6, ended.err
    assert "was removed or replaced" in ended.err or ".lock" in ended.err
    for turn in ended.asked:
        assert SCRIPT[turn].splitlines()[0].strip() in ended.err
    assert {path: path.read_bytes() for path in world.memory.rglob("*") if path.is_file()} == before
    assert world.do(*finish(world)).code == 0


# ---- signals ----


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("what", ["four calls hang", "a retry waits"])
def test_a_signal_ends_it_within_two_seconds(
    number: signal.Signals, code: int, what: str, world: World, tmp_path: Path
) -> None:
    """A program of its own, not a fork: how an interpreter ends is a part of it."""
    retries = what == "a retry waits"
    with Members(gated=not retries) as api:
        world.api = api
        if retries:
            api.busy = (Answer(fault="status", status=429, retry_after="3600"),) * 4
        heard = tmp_path / "err"
        command = [sys.executable, "-m", "council", *begin(world)]
        env = {**world.env, "PYTHONPATH": str(faults.ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
        with heard.open("w") as err, (tmp_path / "out").open("w") as out:
            program = subprocess.Popen(command, env=env, cwd=world.folder, stdout=out, stderr=err)
        wait_until(lambda: heard.read_text().count("trying again") == 4 if retries else len(api.prompts) == 4)
        program.send_signal(number)
        began = time.monotonic()
        assert program.wait(timeout=60) == code
        assert time.monotonic() - began < 2
        last = heard.read_text().splitlines()[-1]
        kept, _, advice = last.partition("; go on with: ")
        assert kept == f"kept: 0 turns in ~/memory/STATE/council-sessions/{world.session.name}"
        assert advice == f"council recover {world.session.name}"
        assert "Traceback" not in heard.read_text()
        api.open()
        assert world.do(*advice.split()[1:]).code == 0


# ---- the checks themselves ----


def test_a_naive_writer_is_caught(ground: Path, nursery: Nursery) -> None:
    """With a plain `open(path, "wb").write(data)` in place of the durable writer the same checks find plenty."""
    sound = prepared(CASES["run"], ground, nursery)
    world = sound.world.copy(ground / "naive-calls")
    found = replace(sound, calls=world.do(*begin(world), naive=True).calls)
    seen = {
        (kind, call): kinds(sweep(found, kind, telling(found, call), naive=True))
        for kind, call in (("half", "write"), ("before", "write"), ("full once", "write"), ("broken once", "open"))
    }
    print(seen)
    torn = {"not finished", "not complete", "torn", "differs", "status after the fault", "verify"}
    for kind in ("half", "before", "full once"):
        assert torn <= seen[kind, "write"].keys()
    assert "reply lost" in seen["broken once", "open"]
    assert unsynced(found.calls)
    world.drop()


@pytest.mark.parametrize("case", CASES)
def test_everything_is_on_the_disk_before_and_after_it_gets_its_name(case: str, ground: Path, nursery: Nursery) -> None:
    """What a power cut would ask for, and no kill can show: write, fsync, rename, and fsync of the folder."""
    assert unsynced(prepared(CASES[case], ground, nursery).calls) == []


def telling(found: Prepared, name: str) -> list[int]:
    """The calls that deal with a turn, and a sample of the rest."""
    numbers = numbers_of(found, name)
    return sorted({*numbers[::5], *(number for number in numbers if "/turns/" in found.calls[number - 1])})


def unsynced(calls: Sequence[str]) -> list[str]:
    """The calls whose effect is not forced to the disk by the very next one that has to.

    Several files of a folder may be renamed before it is synced: whatever comes between deals with one of them.
    """
    wrong = []
    for number, call in enumerate(calls):
        kind, _, path = call.partition(" ")
        after = [*calls[number + 1 :], ""]
        folder = path.rpartition("/")[0]
        expected = {"write": f"fsync {path}", "rename": f"fsync {folder}", "mkdir": f"fsync {folder}"}.get(kind)
        passed = {"write": call, "rename": f" {folder}/"}.get(kind)
        following = next(one for one in after if passed is None or passed not in one)
        if expected is not None and following != expected:
            wrong.append(call)
    return wrong


# ---- a disk that is full in earnest ----


@pytest.fixture
def small_disk(ground: Path) -> Iterator[tuple[Nursery, Path]]:
    """A nursery that alone sees a file system of one megabyte, and the way there from outside."""
    place = ground / "small"
    place.mkdir()
    mount = ("unshare", "-m", "sh", "-c", 'mount -t tmpfs -o size=1m none "$0" && exec "$@"', str(place))
    tried = subprocess.run([*mount, "true"], capture_output=True, check=False) if shutil.which("unshare") else None
    if tried is None or tried.returncode:
        pytest.skip("this user may not mount a file system of their own")
    with Nursery(wrapper=mount) as nursery:
        nursery.run(Job((("--version",),), {"HOME": str(place), "COUNCIL_HOME": str(place)}))
        yield nursery, Path(f"/proc/{nursery.process.pid}/root{place}")


def test_a_disk_that_fills_up(small_disk: tuple[Nursery, Path], ground: Path, nursery: Nursery) -> None:
    """What is stored stays, what was paid for is shown, and once there is room it goes on."""
    inside, disk = small_disk
    with Members() as api:
        whole = World(ground / "roomy", nursery, api)
        assert whole.do(*begin(whole)).code == 0
        world = World(disk / "home", inside, api, ground / "small" / "home")
        api.when["03-closing/designer"] = lambda: fill(disk)
        ended = world.do(*begin(world))
        assert ended.code == 6, ended.err
        assert "disk is full" in ended.err
        kept = world.turns
        assert {turn for turn in SCRIPT if turn < "03"} <= kept.keys() < SCRIPT.keys()
        lost = [turn for turn in ended.asked if turn not in kept]
        assert lost
        assert all(SCRIPT[turn] in ended.err for turn in lost)
        assert f"go on with: council recover {world.session.name}" in ended.last_line
        assert world.temps == []
        assert world.do(*finish(world)).code == 6
        (disk / "filler").unlink()
        assert world.do(*finish(world)).code == 0
        assert world.do("verify").code == 0
        assert {turn: world.turns[turn] for turn in kept} == kept
        assert differences(snapshot(world), snapshot(whole)) == []
    whole.drop()


def fill(disk: Path) -> None:
    with (disk / "filler").open("wb", buffering=0) as filler, contextlib.suppress(OSError):
        while True:
            filler.write(bytes(4096))
