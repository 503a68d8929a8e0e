"""Pairs of tasks with the same trap. A scripted model falls into it twice, unless its brief holds the lesson.

The sessions are real: briefs over HTTP, trials in the sandbox, lessons from the folder of the user who learned them.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

import yaml

from council.candidates.base import Base
from council.config import settings
from council.record.session import Session, open_
from council.runner.start import Request, begin
from tests.fakeapi import Answer, FakeApi
from tests.fakeapi import Request as Asked
from tests.helpers import Table, User
from tests.learned import WORKFLOW


@dataclass(frozen=True)
class Task:
    """A function to write: what it returns if it is right, and in the two attempts that fall into the trap."""

    call: str
    topic: str
    right: str
    wrong: list[str]
    test: str
    hidden: str

    @property
    def name(self) -> str:
        return self.call.partition("(")[0]

    def write(self, attempt: int) -> str:
        """The files of this attempt; the third one is right."""
        lines = (*self.wrong, self.right)[min(attempt, 3) - 1].replace("; ", "\n    ")
        return f"{self.name}.py\n```python\ndef {self.call}:\n    {lines}\n```\n"

    @property
    def base(self) -> Base:
        visible, hidden = (
            f"from {self.name} import {self.name}\n\n\ndef test_{kind}():\n    assert {test}\n".encode()
            for kind, test in (("visible", self.test), ("secret", self.hidden))
        )
        return Base({}, {"test_visible.py": visible}, {"test_hidden.py": hidden}, {"bench": "pytest"})


@dataclass(frozen=True)
class Pair:
    trap: str
    applies: str
    lesson: str
    first: Task
    second: Task


def read_pairs() -> tuple[Pair, ...]:
    found = yaml.safe_load((Path(__file__).parent / "fixtures" / "pairs-of-tasks.yaml").read_text("utf-8"))
    return tuple(Pair(**{**one, "first": Task(**one["first"]), "second": Task(**one["second"])}) for one in found)


PAIRS = read_pairs()


class Model(Table):
    """Writes what is right if its brief says how to avoid the trap; else in the third attempt."""

    def __init__(self, user: User, pair: Pair, task: Task) -> None:
        super().__init__(user, {})
        self.pair, self.task = pair, task

    def __call__(self, request: Asked) -> Answer:
        turn = self.turn(request.text)
        self.asked.append(turn)
        round = re.search(r"-r(\d+)-", turn)
        if "-draft/" in turn and round:
            knows = self.pair.lesson in request.text
            return Answer(self.task.write(3 if knows else int(round[1])))
        if "teach" in turn:
            applies = f"## Applies\n\n{self.pair.applies}\n\n## Cause\n\nThe trap of {self.pair.trap}.\n\n"
            return Answer(f"{applies}## Lesson\n\n{self.pair.lesson}\n")
        return Answer("It failed. The next attempt is another one.\n\n## Change next\n\nTry something else.\n")


def solve(user: User, pair: Pair, task: Task, exam: bool = True) -> tuple[int, Session]:
    """One session about the task; how many attempts it took, and the session."""
    model = Model(user, pair, task)
    with FakeApi(model) as api:
        user.configure(f"endpoints:\n  anthropic: {{base_url: {api.url}}}")
        place = user.settings / "Workflows" / "mending.md"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(WORKFLOW)
        topic = f"Write {task.call} in {task.name}.py: {task.topic}."
        with mock.patch.dict(os.environ, {**user.environment, "ANTHROPIC_API_KEY": "k"}, clear=True):
            request = Request(topic, "mending", base=task.base, speaker="anthropic", options={"exam": exam})
            folder = begin(request, settings.load()).folder
        ended = user.council("recover", folder.name, ANTHROPIC_API_KEY="k")
        assert ended.code == 0, ended.text
    with mock.patch.dict(os.environ, user.environment, clear=True):
        session = open_(folder)
    session.read_turns()
    return sum("-draft/" in turn for turn in model.asked), session
