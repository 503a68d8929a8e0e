"""Kill points: a case is a command that changes a session, a point one fault in it and what must hold afterwards."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import os
import re
import shlex
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from tests import faults, helpers
from tests.fakeapi import Answer, FakeApi, Request
from tests.faults import Ended, Fault, Nursery
from tests.worlds import World, body_of, differences, snapshot


@contextlib.contextmanager
def in_memory() -> Iterator[Path]:
    """A folder for worlds, in memory where that can be written: thousands of fsyncs would only try the patience."""
    memory = Path("/dev/shm")
    place = memory if os.access(memory, os.W_OK | os.X_OK) else None
    with tempfile.TemporaryDirectory(prefix="council-kills-", dir=place) as folder:
        yield Path(folder)


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
        return Answer(faults.script()[turn], latency=self.latency, chunks=2)


def turn_of(memory: Path, text: str) -> str:
    for path in memory.glob("STATE/council-sessions/*/briefs/*/*.md"):
        turn = f"{path.parent.name}/{path.stem}"
        if not turn.endswith("shared") and helpers.brief_of(path.parents[2], turn) == text.encode():
            return turn
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

    A debate is watched, so that its derived files are written between the turns too. `looks` is the exit code of
    `status` before it: a session without its derived files looks damaged, and is.
    """

    case: Case
    world: World
    calls: tuple[str, ...]
    after: dict[str, bytes]
    looks: int


WATCH = {"council": ("--watch",), "council.next": ()}


def begin(world: World) -> tuple[str, ...]:
    if world.api:
        return ("run", *WATCH[helpers.package()], faults.TOPIC, "--speaker", "anthropic")
    return ("run", *WATCH[helpers.package()], *faults.QUESTION, "--speaker", "replay", "--from", str(world.script))


def finish(world: World) -> tuple[str, ...]:
    if world.api:
        return ("recover", *WATCH[helpers.package()], world.session.name)
    return (
        "recover",
        *WATCH[helpers.package()],
        world.session.name,
        "--speaker",
        "replay",
        "--from",
        str(world.script),
    )


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
        turns = [turn for turn in faults.script() if turn.endswith(("architect", "engineer", "engineer.2", "chair"))]
        for turn in sorted(turns)[: sorted(turns).index(last)]:
            assert world.do("record", world.session.name, turn, stdin=faults.script()[turn]).code == 0

    return make


def without_derived(world: World) -> None:
    assert world.do(*begin(world)).code == 0
    for path in derived(world.session):
        path.unlink()


def derived(session: Path) -> list[Path]:
    names = ("convergence.json", "state.json", "synthesis.md", "transcript.md")
    return [path for path in session.iterdir() if path.name in names or path.name.startswith("round-")]


def record(turn: str) -> Case:
    (turn,) = helpers.spelled({turn: ""})
    return Case(
        f"record {turn.replace('/', ' ')}",
        by_hand(turn),
        lambda world: ("record", world.session.name, turn),
        faults.script()[turn],
        turn,
    )


SPOKEN = r"rename .*/turns/04-synthesis(-r02/|/\.chair\.2)"


CASES: dict[str, Callable[[], Case]] = {
    "run": lambda: Case("run", nothing, begin),
    "recover": lambda: Case("recover", killed_at(r"rename .*/turns/02-challenges/\.architect"), finish),
    "archive": lambda: Case("archive", killed_at(SPOKEN), lambda world: ("archive", world.session.name)),
    "build": lambda: Case("build", without_derived, lambda world: ("build", world.session.name)),
    "record": lambda: record("02-challenges/architect"),
    "record the last": lambda: record("04-synthesis-r02/chair"),
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

    def is_over(self) -> bool:
        """Whether the metadata say how it ended."""
        return any(b'"completed_at"' in (one / "metadata.json").read_bytes() for one in self.world.sessions)

    def is_whole(self) -> bool:
        """Whether it may be called complete. Where the metadata say nothing of an end, the files are not even read.

        What is left of attempts that their turn has taken in is only in the way.
        """
        if not self.is_over():
            return False
        return {
            name: data for name, data in snapshot(self.world).items() if "/attempts/" not in name
        } == self.prepared.after

    def check_end(self, broken: Ended, stored: dict[str, bytes]) -> None:
        """A kill is a kill; an error of the disk is exit 6, and no reply is lost without being shown."""
        if self.fault.kind in faults.DEATHS:
            # On a busy machine what is said is written down more or less often while it is said, so this run may have
            # had no such call; then it has ended well.
            self.demand(broken.code == -9 or (broken.code == 0 and not broken.struck), "survived", broken.code)
            return
        # What is only in the way may stay: it is removed when the session is next held.
        harmless = all(re.match(r"(unlink|rmdir) .*/attempts", call) for call in broken.struck) and broken.code == 0
        expected = 6 if broken.struck and not harmless else 0
        self.demand(broken.code == expected, "exit code", f"{broken.code} {broken.err}")
        recorded = (self.prepared.case.turn,) if self.prepared.case.turn and broken.struck else ()
        for turn in (*broken.asked, *recorded):
            shown = faults.script()[turn].replace("\r", "") in broken.err.replace("\r", "")
            self.demand(turn in stored or shown, "reply lost", turn)
        if broken.struck and not harmless and self.prepared.case.name in ("run", "recover"):
            go_on = ["go on with: council recover"]
            go_on += [] if broken.asked else ["nothing was spent"]
            go_on += ["read it with: council show"] if self.is_over() else []
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
            self.demand(body_of(data) == faults.script()[turn].encode(), "torn", turn)
        self.demand(not self.world.temps, "temp left", self.world.temps)
        self.demand(not remove_leftovers(self.world), "leftover", self.world.leftovers)
        self.demand(len(self.world.archived) == 1, "archive count", self.world.archived)
        for name in differences(snapshot(self.world), self.prepared.after):
            self.demand(False, "differs", name)


def remove_leftovers(world: World) -> list[Path]:
    """What is left of sessions that were never born, an hour later, when another session begins."""
    for folder in world.leftovers:
        os.utime(folder, (0, 0))
    create = importlib.import_module(f"{helpers.package()}.record.create")
    remove = create.remove_leftovers if helpers.package() == "council" else create.sweep
    remove(world.memory / "STATE" / "council-sessions")
    return world.leftovers


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


def numbers_for(found: Prepared, kind: str, every: int) -> list[int]:
    """The calls at which the fault strikes: each that it applies to, or every Nth of them, counted from the last."""
    numbers = numbers_of(found, "write") if kind == "half" else [*range(1, len(found.calls) + 1)]
    return numbers[::-1][::every][::-1]


def numbers_of(found: Prepared, name: str) -> list[int]:
    return [number for number, call in enumerate(found.calls, 1) if call.startswith(f"{name} ")]
