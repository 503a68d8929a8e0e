"""A whole session of the workflow `code` in a repository of its own, for tests and proofs.

Only the words are scripted. HTTP, git, the sandbox and the tests in it are real. The generator is right but for an
error that red finds, the implementer is wrong at first, and the designer never passes.
"""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from unittest import mock

from council.record.turn_file import decode
from council.sandbox import run
from tests.helpers import Table, User
from tests.repositories import git, lay

TASK = "Complete clamp(x, low, high) in clamp.py: x, but at least low and at most high. low above high is a ValueError."
STUB = "def clamp(x, low, high):\n    return x\n"
SIMPLE = "def clamp(x, low, high):\n    return max(low, min(x, high))\n"
SWAPPED = "def clamp(x, low, high):\n    return min(low, max(x, high))\n"
BROKEN = "def clamp(x, low, high):\n    return max(low, x)\n"
SHORT = "def clamp(x, low, high):\n    return sorted((low, x, high))[1]\n"
CHECK = '    if low > high:\n        raise ValueError("low is above high")\n'
DEFENDED = SIMPLE.replace("    return", f"{CHECK}    return")
ALSO_DEFENDED = SHORT.replace("    return", f"{CHECK}    return")
SUITE = """from clamp import clamp


def test_inside():
    assert clamp(2, 1, 3) == 2


def test_below():
    assert clamp(0, 1, 3) == 1


def test_above():
    assert clamp(5, 1, 3) == 3
"""
EMPTY_SUITE = "from clamp import clamp\n\n\ndef test_inside():\n    assert clamp(2, 1, 3) == 2\n"
ATTACK = """import pytest

from clamp import clamp


def test_swapped_bounds():
    with pytest.raises(ValueError):
        clamp(1, 3, 2)
"""
OLD_TEST = b"from old import double\n\n\ndef test_double():\n    assert double(2) == 4\n"
HIDDEN = b"from clamp import clamp\n\n\ndef test_both():\n    assert [clamp(x, 2, 2) for x in (1, 2, 3)] == [2, 2, 2]\n"
FILES = {
    "clamp.py": STUB.encode(), "old.py": b"def double(x):\n    return 2 * x\n", "tests/test_old.py": OLD_TEST,
}  # fmt: skip


def file(text: str, path: str = "clamp.py") -> str:
    return f"{path}\n```python\n{text}```"


def answers(**given: str) -> str:
    return "\n\n".join(f"## {name.replace('_', ' ').capitalize()}\n{text}" for name, text in given.items())


def rank(*names: str) -> str:
    return answers(why="It is shorter.", ranking="\n".join(f"- {name}" for name in names), sure="80")


NAMING = (
    "metadata.json",
    "convergence.json",
    "state.json",
    "transcript.md",
)  # a session's name, its times and what it cost
NOTHING = answers(idea="none", attack="none")
# What is said in a turn: the last line that fits it counts.
WORDS: Mapping[str, str] = {
    "*-question/*": answers(questions="- edge cases, high: what if low is above high?", clarity="60"),
    "*-r02-1-question/*": answers(questions="none", clarity="95"),
    "*-answer/chair": answers(answers="- low above high: a ValueError, as the task says.", ambiguities="none"),
    "*-r01-1-suite/*": answers(suite=file(EMPTY_SUITE, "tests/test_clamp.py")),
    "*-r02-1-suite/*": answers(suite=file(SUITE, "tests/test_clamp.py")),
    "*-draft/generator": file(SIMPLE),
    "*-draft/implementer": file(SHORT),
    "*-r01-1-draft/implementer": file(SWAPPED),
    "*-draft/system-designer": file(STUB),
    "*-r02-1-draft/system-designer": file(SWAPPED),
    "*-r03-1-draft/system-designer": file(BROKEN),
    "*-reflect/*": answers(
        root_cause="min and max were swapped.", what_went_wrong="I did not try a value.",
        change_next="Take the middle of the three.", confidence="80",
    ),
    "*-proposal/*": answers(approach="The middle value.", assumptions="none", weaknesses="none", confidence="90"),
    "*-critique/*": answers(points="- generator, clamp.py:2: no error for low above high", take_over="none"),
    "*-review/*": answers(must_change="none", set_aside="- generator: wrong"),
    "*-refactor/refactorer-generator": answers(why="- nothing", solution="none"),
    "*-refactor/refactorer-implementer": answers(why="- shorter", solution=file(BROKEN)),
    "*-attack/*": NOTHING,
    "*-r01-1-attack/*": answers(idea="- bounds", attack=file(ATTACK, "tests/test_attack_1.py")),
    "*-defend/generator": answers(contested="none", solution=file(DEFENDED)),
    "*-defend/implementer": answers(contested="none", solution=file(ALSO_DEFENDED)),
    "*-score/*": answers(
        correctness="1", maintainability="0.7", performance="0.9", security="1", coverage="0.8", evidence="- clamp.py:2"
    ),
    "*-rank/*": rank("generator", "implementer"),
    "*-rank/implementer": rank("implementer", "generator"),
    "*-teach/*": answers(
        applies="Code that compares.", cause="Two functions were swapped.",
        lesson="Try one value by hand before you answer.",
    ),
    "*-synthesis/*": answers(
        result="The generator's candidate won.", approach="min and max.", tried="- swapped bounds", open="none",
        confidence="high",
    ),
}  # fmt: skip


class Members(Table):
    """Answers each brief with the words of its turn: those given, else those of the session above."""

    def __init__(self, user: User, more: Mapping[str, str] | None = None) -> None:
        super().__init__(user, _Words({**WORDS, **(more or {})}))


class _Words(dict[str, str]):
    def __missing__(self, turn: str) -> str:
        return next(text for pattern, text in reversed(self.items()) if fnmatchcase(turn, pattern))


def make_project(user: User, more: Mapping[str, bytes] | None = None) -> Path:
    """The user's working folder as a repository; the folder of the hidden tests, which is elsewhere."""
    lay(user.work, {**FILES, **(more or {})})
    git(user.work, "init", "-q", "-b", "main")
    git(user.work, "add", "-A")
    git(user.work, "commit", "-qm", "first")
    lay(user.root / "hidden", {"test_more.py": HIDDEN})
    return user.root / "hidden"


def find_differences(user: User) -> list[str]:
    """What differs between the newest session and its replay, for which there is no sandbox: the words of a turn, its
    brief, or a derived file that does not name the session.
    """
    first = user.session
    with mock.patch.object(run, "run", side_effect=AssertionError("a replay runs nothing")):
        replayed = user.council("run", "--speaker", "replay", "--from", first.name)
    assert replayed.code == 0, replayed.text
    (second,) = (one for one in user.sessions if one != first)
    one, other = read_session(first), read_session(second)
    return sorted(name for name in one.keys() | other.keys() if one.get(name) != other.get(name))


def read_session(folder: Path) -> dict[str, bytes | str]:
    """Every file of a session but those that name it. Of a turn, only what was said: a receipt has times."""
    found: dict[str, bytes | str] = {}
    for path in folder.rglob("*"):
        name = path.relative_to(folder).as_posix()
        if path.is_file() and name not in NAMING:
            data = path.read_bytes()
            found[name] = decode(data, path)[1] if name.startswith("turns/") else data
    return found
