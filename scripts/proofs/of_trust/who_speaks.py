"""Nobody speaks in place of what was configured, and no model is fetched unasked: refused within two seconds."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from statistics import median

from prove import Outcome

from council.engine import planner
from council.replies import parse
from tests import long_debate, voices
from tests.helpers import User
from tests.voices import Attempt

LIMIT = 2.0  # seconds, for a command that refuses
PLAN_LIMIT, TURNS, PLANS = 0.010, 200, 20  # seconds of CPU for a plan over so many turns, one of them new
NOTHING, FETCHED, PYTHON, CONFIGURED = "nothing is set up", "the model is fetched", "Python", "configured"
BY_HAND, PLAN = "by hand", "plan"


def parts() -> list[str]:
    return [NOTHING, FETCHED, PYTHON, CONFIGURED, BY_HAND, PLAN]


def prove(part: str) -> Outcome:
    if part == PLAN:
        return planned()
    with user() as clean:
        if part == BY_HAND:
            tried = [voices.try_by_hand(clean, *words) for words in voices.BY_HAND]
            return outcome("a debate by hand calls nobody and fetches nothing", "commands", tried)
        if part == NOTHING:
            tried = [voices.try_command(clean, *words) for words in voices.commands()]
            return outcome("no key, no terminal: exit 4, nothing fetched", "commands and flags", tried)
        if part == FETCHED:
            voices.fetch_for_nothing(clean)
            tried = [voices.try_command(clean, *words) for words in voices.commands() if words[-1] != "auto"]
            return outcome("a model that is there is not used unasked", "commands and flags", tried)
        if part == PYTHON:
            tried = [voices.try_api(clean, name) for name in voices.API]
            return outcome("no key: exit 4, nothing fetched, nothing printed", "functions of the Python API", tried)
        tried = list(configured(clean))
        return outcome("a configured endpoint without its key is named", "configurations and commands", tried)


@contextmanager
def user() -> Iterator[User]:
    with tempfile.TemporaryDirectory() as folder:
        yield voices.clean_user(Path(folder))


def configured(clean: User) -> Iterator[Attempt]:
    """A `claude` program is there, logged in, and the model is fetched; neither may speak."""
    program = voices.program_that_is_logged_in(clean)
    voices.fetch_for_nothing(clean)
    for setting in voices.SETTINGS:
        clean.configure(setting.config)
        env = {**setting.env, "COUNCIL_CLAUDE": str(program)}
        for words in (("run", voices.QUESTION), ("run", voices.QUESTION, "--json"), ("review", "spec.md")):
            yield voices.try_command(clean, *words, *setting.words, key=setting.key, **env)
    spoke = program.with_name("claude.spoke").exists()
    assert not spoke, "the program that was not configured was called"


def planned() -> Outcome:
    workflow, said = long_debate.debate(TURNS)
    planner.plan(workflow, said)
    newest, took, read = [*said][-1], [], []
    for number in range(PLANS):
        said[newest] = replace(said[newest], body=f"{said[newest].body}\n\nOne thing more: {number}.")
        before, began = parse.read.cache_info().misses, time.process_time()
        planner.plan(workflow, said)
        took.append(time.process_time() - began)
        read.append(parse.read.cache_info().misses - before)
    rows = [
        ("a plan reads only the reply that is new", f"plans over {TURNS} turns", PLANS, read.count(1)),
        ("such a plan takes at most 10 ms of CPU", "the median of the plans", 1, int(median(took) <= PLAN_LIMIT)),
    ]
    return Outcome(rows, (), [f"A plan over {TURNS} turns, one of them new: {1000 * median(took):.1f} ms of CPU."])


def outcome(promise: str, what: str, tried: Iterable[Attempt]) -> Outcome:
    tried = list(tried)
    wrong = [f"{one.what}: {why}" for one in tried for why in one.wrong]
    slow = [one for one in tried if one.seconds >= LIMIT]
    wrong += [f"{one.what}: it took {one.seconds:.1f} s" for one in slow]
    held = sum(not one.wrong and one.seconds < LIMIT for one in tried)
    slowest = max(one.seconds for one in tried)
    return Outcome([(promise, what, len(tried), held)], wrong, [f"{promise}: the slowest took {slowest:.2f} s."])
