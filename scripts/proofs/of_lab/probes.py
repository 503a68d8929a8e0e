"""What tries to get out of the sandbox, to see through it or to use up the machine, stays in it."""

from __future__ import annotations

from prove import Outcome

from council.sandbox import cgroup, probe
from council.sandbox.model import MEGABYTE
from tests import probes

PROMISE = "the sandbox holds"


def parts() -> list[str]:
    return list(dict.fromkeys(one.group for one in list_all()))


def list_all() -> list[probes.Probe]:
    return [*probes.list_probes(), *probes.list_more()]


def prove(part: str) -> Outcome:
    """Each probe of a group, as root and as a normal user, with a control group and with only a watchdog."""
    chosen = {one.tries: one for one in list_all() if one.group == part}
    ways = {way: why for way, why in probes.find_ways().items() if not probe.find_obstacle() or why}
    found = {way: probes.run_probes(way, list(chosen)) for way, why in ways.items() if not why}
    rows, wrong = [], [f"{way} could not be tried: {why}" for way, why in ways.items() if why]
    for at, (tries, one) in enumerate(chosen.items()):
        results = {way: results[at] for way, results in found.items()}
        wrong += [f"{tries}, {way}: {result.wrong}" for way, result in results.items() if result.wrong]
        seen = "; ".join(dict.fromkeys(result.seen for result in results.values()))
        rows.append((PROMISE, tries, one.expected, seen, len(results), sum(not one.wrong for one in results.values())))
    return Outcome(rows, wrong, describe(part, found))


def describe(part: str, found: dict[str, list[probes.Found]]) -> list[str]:
    if part != probes.USE:
        return []
    home = cgroup.find_home()
    peaks = {
        way: f"{result.peak / MEGABYTE:.0f} MB"
        for way, results in found.items() for result in results if result.tries == "memory of 8 children"
    }  # fmt: skip
    return [
        f"Each probe was tried in {len(found)} ways: {', '.join(found)}. After each, no process of it was left.",
        f"The control groups of this machine are of version {home[0] if home else 'none'}.",
        "The most memory that 8 children had together, with a bound of 128 MB: "
        f"{', '.join(f'{peak} ({way})' for way, peak in peaks.items())}. A watchdog sees it after the fact.",
    ]
