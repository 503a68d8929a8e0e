"""How long work takes beside other work, in processor time: what else runs on the machine takes little part in it."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

TRIES = 12


def cpu_seconds(work: Callable[[], object]) -> float:
    """The collector rests meanwhile: a full collection looks through all that other tests have left in memory, and the
    more work there is, the more of them it sets off.
    """
    gc.disable()
    try:
        begun = time.process_time()
        work()
        return time.process_time() - begun
    finally:
        gc.enable()


def compare(work: Callable[[], object], floor: Callable[[], object], most: float, least: float = 0.002) -> float:
    """How many times as long as its floor the work takes: the shortest time of each, of as many tries as it needs to
    come down to `most`. A floor that takes less than `least` seconds has no ratio, and counts as that.
    """
    slow = fast = ratio = float("inf")
    for _ in range(TRIES):
        slow = min(slow, cpu_seconds(work))
        if slow <= most * least:
            return slow / least
        fast = min(fast, cpu_seconds(floor))
        ratio = slow / max(fast, least)
        if ratio <= most:
            break
    return ratio
