"""The lab: the harness is proven with known answers, intervals cover as they say, and a comparison costs what its calls
and its trials cost.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from prove import Outcome

from council.lab import check, sets
from council.lab.sets.task import Task
from council.lab.statistics import cover
from council.sandbox import benches
from tests.fakeapi import FakeApi
from tests.lab_worlds import Model, fair, user_of, words, write_set

LATENCY, AT_ONCE, TASKS = 0.2, 8, 164
MOST_SECONDS, MOST_RATIO = 10.0, 1.3


def prove_known() -> Outcome:
    """All answers of HumanEval whose result is known."""
    checked = check.check(sets.load("humaneval"), os.cpu_count() or 1)
    rows = []
    for kind in check.KINDS:
        expected = checked.of[kind] if kind in (check.CANONICAL, check.EXAMPLES) else 0
        green = checked.green[kind]
        seen = f"{green} of {checked.of[kind]} pass"
        held = checked.of[kind] - abs(green - expected)
        rows.append(("known answers", check.ABOUT[kind], f"{expected} pass", seen, checked.of[kind], held))
    return Outcome(rows)


def prove_quick() -> Outcome:
    """Only the set's own solutions, as a person waits for them."""
    tasks, known = sets.load("humaneval"), benches.load()
    benches.prepare({"pytest"}, known, say=lambda _: None)

    def solve(task: Task) -> bool:
        return check.try_tree(task, task.canonical, task.base.hidden, known).verdict == "pass"

    began, load = time.monotonic(), os.getloadavg()[0]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        green = sum(pool.map(solve, tasks))
    seconds = time.monotonic() - began
    seen = f"{seconds:.1f} s on {os.cpu_count()} cores, {green} pass; load before: {load:.1f}"
    row = ("quick", f"{len(tasks)} trials", f"at most {MOST_SECONDS:g} s", seen, 1, int(seconds <= MOST_SECONDS))
    return Outcome([row], notes=["Quick is measured on idle cores: the load is named."])


def prove_intervals() -> Outcome:
    """Exactly, from the binomial."""
    covered = {of: cover(of, 0.6) for of in range(20, 165)}
    worst = min(covered, key=lambda of: covered[of])
    some = ", ".join(f"n = {of}: {covered[of]:.4f}" for of in (20, 40, 60, 80, 100, 120, 140, 164))
    seen = f"least {covered[worst]:.4f}, at n = {worst}"
    held = sum(share >= 0.93 for share in covered.values())
    row = (
        "honest intervals",
        "every n from 20 to 164, true share 0.6",
        "covered at least 0.93",
        seen,
        len(covered),
        held,
    )
    return Outcome([row], notes=[f"Coverage of Wilson's 95 % interval at 0.6: {some}."])


def prove_speed(tasks: int = TASKS) -> Outcome:
    """Two arms over the fake API, against the same calls and trials without council."""
    with tempfile.TemporaryDirectory(prefix="council-lab-") as place, FakeApi(Model(fair(1.0), LATENCY)) as api:
        user, name = user_of(Path(place), api.url), write_set(Path(place), tasks)
        command = words(name, Path(place, "lab"), "--against", "single", "--jobs", str(AT_ONCE), "--yes")
        seconds = measure(lambda: user.process(*command))
        solved = user.process("lab", "report", Path(place, "lab"), "--json").json["tasks"]
        floor = measure(lambda: walk(sets.load(name)))
        asked = len(api.prompts)
    ratio = seconds / floor
    seen = f"{seconds:.1f} s, {floor:.1f} s without council: {ratio:.2f}; {asked} calls, {solved} tasks finished"
    held = int(ratio <= MOST_RATIO and solved == tasks and asked == 2 * tasks)
    what = f"{tasks} tasks, two arms, {AT_ONCE} at once, {LATENCY * 1000:.0f} ms a call"
    return Outcome([("no waste", what, f"at most {MOST_RATIO:g} times the critical path", seen, 1, held)])


def measure(work: Callable[[], object]) -> float:
    began = time.monotonic()
    work()
    return time.monotonic() - began


def walk(tasks: Sequence[Task]) -> None:
    """The critical path: for each session one wait for the model, then the visible tests, then the hidden ones."""
    known = benches.load()

    def session(task: Task) -> None:
        time.sleep(LATENCY)
        check.try_tree(task, task.canonical, task.base.visible, known)
        check.try_tree(task, task.canonical, task.base.hidden, known)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(session, [*tasks, *tasks]))


PARTS: dict[str, Callable[[], Outcome]] = {
    "known answers": prove_known, "quick": prove_quick, "intervals": prove_intervals, "speed": prove_speed,
}  # fmt: skip


def parts() -> list[str]:
    return list(PARTS)


def prove(part: str) -> Outcome:
    return PARTS[part]()
