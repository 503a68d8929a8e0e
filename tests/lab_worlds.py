"""Sets of small tasks and a scripted model that solves them or does not, for tests and proofs of the lab."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.fakeapi import Answer, Request
from tests.helpers import User

KEY = "sk-ant-of-the-tests"
NAMED = re.compile(r"Complete the function `(\w+)`")
REFLECTION = (
    "## Root cause\nThe sum is wrong.\n\n## What went wrong\nI guessed.\n\n## Change next\nAdd the number.\n\n"
    "## Confidence\n90\n"
)
Coin = Callable[[str, Request], bool]


def row(number: int, examples: int = 1) -> dict[str, Any]:
    """A task: add its number. Without examples, its visible test only asks for the function."""
    shown = "".join(f"    >>> plus{number}({x})\n    {x + number}\n" for x in range(examples))
    return {
        "task_id": f"Plus/{number}", "prompt": f'def plus{number}(x):\n    """Add {number}.\n{shown}    """\n',
        "entry_point": f"plus{number}", "canonical_solution": f"    return x + {number}\n",
        "test": f"def check(candidate):\n    for x in range(9):\n        assert candidate(x) == x + {number}\n",
    }  # fmt: skip


def write_set(folder: Path, count: int, examples: int = 1) -> str:
    file = folder / "tasks.jsonl"
    file.write_text("".join(f"{json.dumps(row(number, examples))}\n" for number in range(1, count + 1)))
    return f"file:{file}"


class Model:
    """Solves a task when the coin says so. `asked` counts the drafts of each task."""

    def __init__(self, coin: Coin, latency: float = 0.0) -> None:
        self.coin, self.latency = coin, latency
        self.asked: dict[str, int] = {}

    def __call__(self, request: Request) -> Answer:
        if "find out what went wrong" in request.text:
            return Answer(REFLECTION, latency=self.latency)
        found = NAMED.search(request.text)
        if found is None:
            return Answer("Two of them.\n\nAnswer: B", latency=self.latency)
        name = found.group(1)
        self.asked[name] = self.asked.get(name, 0) + 1
        number = name.removeprefix("plus") if self.coin(name, request) else "0"
        text = f"## Solution\nsolution.py\n```python\ndef {name}(x):\n    return x + {number}\n```\n"
        return Answer(text, latency=self.latency)


def fair(p: float, seed: int = 1) -> Coin:
    """Right with this probability in each attempt."""
    dice = random.Random(seed)
    return lambda name, request: dice.random() < p


def user_of(folder: Path, url: str) -> User:
    user = User(folder, {"ANTHROPIC_API_KEY": KEY})
    user.configure(f"endpoints:\n  anthropic: {{base_url: {url}}}\nretry: {{budget: 0}}")
    return user


def words(name: str, folder: Path, *more: str) -> list[str]:
    return ["lab", "run", name, "--workflow", "reflexion", "--speaker", "anthropic", "--folder", str(folder), *more]
