"""Whatever moment a run dies at: what was paid for is kept, nothing is paid for twice, and `recover` finishes it.

Real processes, real kills, the real program (see `tests/faults.py`). Most points replay a script, which asks in the
same way as a speaker with an API; some are asked for over HTTP. Everything here lies in memory where that is possible:
thousands of fsyncs would only try the patience, and the order of those calls is tested by itself.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from council.record import lock
from tests import faults, helpers, warm
from tests.fakeapi import Answer
from tests.faults import Ended, Fault, Job, Nursery
from tests.kills import (
    CASES,
    Members,
    Prepared,
    begin,
    derived,
    finish,
    in_memory,
    kinds,
    numbers_for,
    numbers_of,
    prepared,
    sweep,
    told,
)
from tests.worlds import Running, World, differences, snapshot, without_money

# ---- the nursery and the worlds, made once ----


@pytest.fixture(scope="module")
def ground() -> Iterator[Path]:
    """Where the worlds lie."""
    with in_memory() as folder:
        yield folder


@pytest.fixture(scope="module")
def nursery() -> Iterator[Nursery]:
    with Nursery() as made:
        yield made


@pytest.fixture(scope="module")
def prepare(ground: Path, nursery: Nursery) -> Callable[[str], Prepared]:
    """Each case is prepared once."""
    return cache(lambda case: prepared(CASES[case](), ground, nursery))


@pytest.fixture
def world(ground: Path, nursery: Nursery, request: pytest.FixtureRequest) -> Iterator[World]:
    made = World(ground / re.sub(r"\W+", "-", request.node.name), nursery)
    yield made
    made.drop()


# `scripts/prove kill-points` has it die at each call. After one call is before the next; a disk that is full once, or
# broken from now on, differs little from the others.
EVERY_NTH = {"before": 64, "half": 40, "full": 96, "broken once": 96, "after": 192, "full once": 192, "broken": 192}
EVERY = [(case, kind) for case in CASES for kind in EVERY_NTH]
AT_FOLDERS = {"before": 0, "full": 1}  # also at every other call that makes a folder, where a session begins
LEAST = {"run": 200, "recover": 120, "archive": 20, "build": 20, "record": 15, "record the last": 30}


def test_every_kind_of_fault_is_tried() -> None:
    assert EVERY_NTH.keys() | {"none"} == faults.KINDS.keys()


@pytest.mark.slow
@pytest.mark.parametrize(("case", "kind"), EVERY)
def test_every_call_may_be_the_last(case: str, kind: str, prepare: Callable[[str], Prepared]) -> None:
    found = prepare(case)
    numbers = numbers_for(found, kind, EVERY_NTH[kind])
    if kind in AT_FOLDERS:
        numbers = sorted({*numbers, *numbers_of(found, "mkdir")[AT_FOLDERS[kind] :: 2]})
    assert len(found.calls) >= LEAST[case]
    assert numbers[-1] == numbers_for(found, kind, 1)[-1]
    assert len(numbers) >= len(numbers_for(found, kind, 1)) / EVERY_NTH[kind]
    wrong = sweep(found, kind, numbers)
    print(f"{case}, {kind}: {len(wrong)} points")
    assert not any(wrong.values()), told(found, wrong)


# ---- the same over HTTP ----


@pytest.fixture(scope="module")
def members() -> Iterator[Members]:
    with Members() as api:
        yield api


@pytest.fixture(scope="module")
def paid(ground: Path, nursery: Nursery, members: Members) -> Prepared:
    return prepared(CASES["run"](), ground, nursery, members)


@pytest.mark.parametrize(("kind", "points"), [("before", 6), ("full", 3), ("broken once", 3)])
def test_the_same_with_a_speaker_that_is_paid(kind: str, points: int, paid: Prepared) -> None:
    numbers = [len(paid.calls) * number // points for number in range(1, points + 1)]
    assert len(set(numbers)) == points
    wrong = sweep(paid, kind, numbers)
    assert not any(wrong.values()), told(paid, wrong)


def test_an_end_that_could_not_be_written_is_no_end(paid: Prepared) -> None:
    """Everything was said; what is advised is to recover it."""
    last = max(number for number in numbers_of(paid, "write") if "/.metadata.json." in paid.calls[number - 1])
    wrong = sweep(paid, "broken once", [last, last + 1])
    assert not any(wrong.values()), told(paid, wrong)


def wait_until(holds: Callable[[], bool], patience: float = 60.0) -> None:
    end = time.monotonic() + patience
    while not holds():
        assert time.monotonic() < end, "it never came to that"
        time.sleep(0.005)


def test_ten_kills_at_random_moments(ground: Path, nursery: Nursery) -> None:
    """Killed from outside, again and again until it is done, and then the next debate."""
    seed = 20
    dice, kills, debates = random.Random(seed), 0, 0
    print(f"seed {seed}")
    with Members(latency=0.03) as api:
        whole = World(ground / "random-whole", nursery, api)
        seconds = whole.do(*begin(whole)).seconds
        while kills < 10 or debates <= 1:  # on a slow machine a debate takes many kills
            world = World(ground / f"random-{debates}", nursery, api)
            kills += killed_until_done(world, dice, seconds)
            assert differences(snapshot(world), snapshot(whole)) == []
            debates += 1
            world.drop()
        whole.drop()
    print(f"{kills} kills in {debates} debates")


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
        assert len(bodies(api)) == len(faults.script())
        rounds = [
            {path.name: without_money(path.name, path.read_bytes()) for path in derived(one.session)}
            for one in (whole, world)
        ]
        names = [name for name in rounds[0] if name not in ("state.json", "transcript.md")]  # they name the session
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
    assert len(before) == 7
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
    """A run whose four calls hang in the API, and that has nothing to write meanwhile."""
    with Members(gated=True) as api:
        world = World(ground / "hanging", nursery, api)
        running = world.start(world.job(begin(world)))
        wait_until(lambda: len(api.prompts) == 4 and (world.session / "transcript.md").exists())
        yield world, running, api
        api.open()
        with contextlib.suppress(ProcessLookupError):
            running.child.kill()
    world.drop()


def test_of_ten_recoverers_one_works(hanging: tuple[World, Running, Members]) -> None:
    """The others say who does, and end while it is still at work."""
    world, dead, api = hanging
    dead.child.kill()
    assert dead.child.wait().code == -9
    running = [world.start(world.job(finish(world))) for _ in range(10)]
    children = [one.child for one in running]
    losers = world.nursery.first(children, 9)
    host = re.escape(socket.gethostname())
    (winner,) = [child for child in children if child not in losers]
    for loser in losers:
        ended = loser.wait()
        assert ended.code == 7, ended.err
        assert re.search(rf"by pid {winner.pid} on {host}, since \d{{4}}-\d\d-", ended.err), ended.err
        assert ended.seconds < lock.LONGEST_WAIT, "nobody waits for a run as for a command by hand"
    wait_until(lambda: len(api.prompts) == 8)
    api.open()
    assert winner.wait().code == 0
    assert len(api.prompts) == 4 + len(faults.script())


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
        assert faults.script()[turn].splitlines()[0].strip() in ended.err
    assert {path: path.read_bytes() for path in world.memory.rglob("*") if path.is_file()} == before
    assert world.do(*finish(world)).code == 0


# ---- signals ----


MODULE, FORK = "of its own", "forked"


@pytest.mark.parametrize(("number", "code", "what", "program"), [
    (signal.SIGINT, 130, "four calls hang", MODULE), (signal.SIGTERM, 143, "a retry waits", MODULE),
    (signal.SIGTERM, 143, "four calls hang", FORK), (signal.SIGINT, 130, "a retry waits", FORK),
])  # fmt: skip
def test_a_signal_ends_it_and_it_waits_for_nobody(
    number: signal.Signals, code: int, what: str, program: str, world: World, tmp_path: Path
) -> None:
    """A program of its own once for each signal: how an interpreter ends is a part of it."""
    retries = what == "a retry waits"
    with Members(gated=not retries) as api:
        world.api = api
        if retries:
            api.busy = (Answer(fault="status", status=429, retry_after="60"),) * 4
        heard = tmp_path / "err"
        started = ("-m", helpers.package()) if program == MODULE else ("-c", helpers.run_line())
        command = [sys.executable, *started, *begin(world)]
        env = {**world.env, "PYTHONPATH": str(faults.ROOT), "LANG": warm.LANG}
        with heard.open("w") as err, (tmp_path / "out").open("w") as out:
            process = warm.start(command, env=env, cwd=world.folder, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        wait_until(lambda: len(api.prompts) == 4 and (not retries or "trying again" in heard.read_text()))
        process.send_signal(number)
        assert process.wait(timeout=60) == code, "it waits neither for the members nor for the retry"
        last = heard.read_text().splitlines()[-1]
        kept, _, advice = last.partition("; go on with: ")
        assert kept == f"kept: 0 turns in ~/memory/STATE/council-sessions/{world.session.name}"
        called = f"{sys.executable} -m council" if program is MODULE else "council"
        assert advice == f"{called} recover {world.session.name}", "as it was called itself"
        assert "Traceback" not in heard.read_text()
        api.open()
        assert world.do(*advice.partition("council ")[2].split()).code == 0


# ---- the checks themselves ----


def test_a_naive_writer_is_caught(ground: Path, prepare: Callable[[str], Prepared]) -> None:
    """With a plain `open(path, "wb").write(data)` in place of the durable writer the same checks find plenty."""
    sound = prepare("run")
    world = sound.world.copy(ground / "naive-calls")
    found = replace(sound, calls=world.do(*begin(world), naive=True).calls)
    torn = {"not finished", "not complete", "torn", "differs", "status after the fault", "verify"}
    expected = {("half", "write"): torn, ("before", "write"): torn, ("full once", "write"): torn}
    for (kind, call), wrong in {**expected, ("broken once", "open"): {"reply lost"}}.items():
        seen = Counter[str]()
        for number in telling(found, call):
            seen += kinds(sweep(found, kind, [number], naive=True))
            if wrong <= seen.keys():
                break
        assert wrong <= seen.keys(), kind
    assert unsynced(found.calls)
    world.drop()


@pytest.mark.parametrize("case", CASES)
def test_everything_is_on_the_disk_before_and_after_it_gets_its_name(
    case: str, prepare: Callable[[str], Prepared]
) -> None:
    """What a power cut would ask for, and no kill can show: write, fsync, rename, and fsync of the folder."""
    assert unsynced(prepare(case).calls) == []


def telling(found: Prepared, name: str) -> list[int]:
    """A sample of the calls, with more of those that deal with a turn."""
    numbers = numbers_of(found, name)
    return sorted({*numbers[::12], *[number for number in numbers if "/turns/" in found.calls[number - 1]][::3]})


def unsynced(calls: Sequence[str]) -> list[str]:
    """The calls whose effect is not forced to the disk by the very next one that has to.

    Several files of a folder may be renamed before it is synced: whatever comes between deals with one of them.
    A hidden folder need not last, and is on the disk itself before it is renamed.
    """
    wrong = []
    for number, call in enumerate(calls):
        kind, _, path = call.partition(" ")
        after = [*calls[number + 1 :], ""]
        folder = path.rpartition("/")[0]
        expected = {"write": f"fsync {path}", "rename": f"fsync {folder}", "mkdir": f"fsync {folder}"}.get(kind)
        passed = {"write": call, "rename": f" {folder}/"}.get(kind)
        if path.endswith(".new"):
            expected = f"fsync {folder}" if kind == "rename" and calls[number - 1] == f"fsync {path}" else None
            if kind == "rename" and expected is None:
                wrong.append(call)
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
    tried = ("unshare", "-m", "mount", "-t", "tmpfs", "-o", "size=1m", "none", str(place))
    if not shutil.which("unshare") or subprocess.run(tried, capture_output=True, check=False).returncode:
        pytest.skip("this user may not mount a file system of their own")
    with Nursery(disk=place) as nursery:
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
        assert {turn for turn in faults.script() if turn < "03"} <= kept.keys() < faults.script().keys()
        lost = [turn for turn in ended.asked if turn not in kept]
        assert lost
        assert all(faults.script()[turn] in ended.err for turn in lost)
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
