"""Nobody speaks in place of what was configured, and no model is fetched unasked: refused within two seconds."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from prove import Outcome

from tests import voices
from tests.helpers import User
from tests.voices import Attempt

LIMIT = 2.0  # seconds, for a command that refuses
NOTHING, FETCHED, PYTHON, CONFIGURED = "nothing is set up", "the model is fetched", "Python", "configured"


def parts() -> list[str]:
    return [NOTHING, FETCHED, PYTHON, CONFIGURED]


def prove(part: str) -> Outcome:
    with user() as clean:
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


def outcome(promise: str, what: str, tried: Iterable[Attempt]) -> Outcome:
    tried = list(tried)
    wrong = [f"{one.what}: {why}" for one in tried for why in one.wrong]
    slow = [one for one in tried if one.seconds >= LIMIT]
    wrong += [f"{one.what}: it took {one.seconds:.1f} s" for one in slow]
    held = sum(not one.wrong and one.seconds < LIMIT for one in tried)
    slowest = max(one.seconds for one in tried)
    return Outcome([(promise, what, len(tried), held)], wrong, [f"{promise}: the slowest took {slowest:.2f} s."])
