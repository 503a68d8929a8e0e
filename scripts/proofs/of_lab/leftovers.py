"""A runner that is killed leaves no process and no file, whenever it is killed, and many sandboxes run at once."""

from __future__ import annotations

from collections.abc import Sequence

from prove import Outcome

from tests import leftovers

KILLS, WITHIN = 100, 0.05
AT_ONCE, ROUNDS = 20, 5
WORKING, STARTING, MANY = "killed at work", "killed while it starts", f"{AT_ONCE} at once"
LEVELS = {"control group": True, "watchdog": False}


def parts() -> list[str]:
    return [f"{what}, {level}" for what in (WORKING, STARTING, MANY) for level in LEVELS]


def prove(part: str) -> Outcome:
    what, _, level = part.partition(", ")
    cgroups = LEVELS[level]
    if what == MANY:
        tried = [leftovers.run_many(AT_ONCE, cgroups) for _ in range(ROUNDS)]
        found = [one for wrong in tried for one in wrong]
        row = ("sandboxes do not meet", f"{part}: own files, output and end", "each its own", summarize(found))
        return Outcome([(*row, AT_ONCE * ROUNDS, AT_ONCE * ROUNDS - len(found))], found)
    times: list[float | None] = [None] * (KILLS // 5) if what == WORKING else [*leftovers.spread(KILLS, WITHIN)]
    killed = [leftovers.kill_runner(cgroups, after) for after in times]
    wrong = [f"{part}: {one}" for found in killed for one in found]
    row = ("a killed runner leaves nothing", f"SIGKILL: {part}", "no process, no file", summarize(wrong))
    rows = [(*row, len(killed), sum(not one for one in killed))]
    if cgroups:
        groups = leftovers.sweep()
        wrong += [f"{group} is left" for group in groups]
        row = ("the next run tidies up", f"control groups of runners {what}", "removed", summarize(groups))
        rows.append((*row, 1, int(not groups)))
    return Outcome(rows, wrong, [NOTE] if what == STARTING and cgroups else [])


def summarize(left: Sequence[object]) -> str:
    return f"{len(left)} left" if left else "nothing left"


NOTE = f"Runners are killed at {KILLS} times, from the call until {WITHIN * 1000:.0f} ms later, when the command runs."
