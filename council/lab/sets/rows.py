"""Tasks from a file of the user's own: a JSON object a line, in the form of a known set.

HumanEval and EvalPlus, MBPP, SWE-bench (with the repositories on this machine), and multiple-choice questions.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from council.candidates.diffs import apply_diff, parse_diff
from council.errors import CouncilError, UsageError
from council.lab.repository import open_repository, read_commit
from council.lab.sets import humaneval, releases
from council.lab.sets.task import SOLUTION, Task, of_function
from council.record import files
from council.workflow.types import Unreadable

Row = Mapping[str, Any]
LETTERS = "ABCDEFGHIJ"
KNOWN = "HumanEval, EvalPlus, MBPP, SWE-bench or multiple choice"
REPOSITORIES = "repos"  # beside the file: a clone of OWNER/NAME is in repos/OWNER__NAME


def load(name: str) -> list[Task]:
    """Every row as a task. The first that cannot be one is refused, with its line."""
    path = Path(name).expanduser()
    if not path.is_file():
        raise UsageError(f"{path}: no such file")
    tasks: dict[str, Task] = {}
    for number, line in enumerate(files.read(path).decode("utf-8", "replace").splitlines(), 1):
        if line.strip():
            task = _read(line, f"{path}:{number}", path.parent)
            if not task.id.isprintable():
                raise UsageError(f"{path}:{number}: the name of the task cannot be printed on one line")
            if task.id in tasks:
                raise UsageError(f"{path}:{number}: there is a task {task.id} already")
            tasks[task.id] = task
    if not tasks:
        raise UsageError(f"{path} has no rows")
    return list(tasks.values())


def _read(line: str, where: str, folder: Path) -> Task:
    try:
        row = json.loads(line)
        form = _find_form(row)
        return form(row, folder)
    except KeyError as missing:
        raise UsageError(f"{where}: the row has no {missing}") from None
    except (ValueError, TypeError, SyntaxError, RecursionError, Unreadable) as wrong:
        raise UsageError(f"{where}: {wrong}") from None
    except CouncilError as wrong:
        raise UsageError(f"{where}: {wrong}") from wrong


def _find_form(row: Any) -> Callable[[Row, Path], Task]:
    if not isinstance(row, dict):
        raise ValueError("a row is a JSON object")
    for keys, form in FORMS:
        if keys <= row.keys():
            return form
    raise ValueError(f"not a row of a set that council knows ({KNOWN}); its keys are {', '.join(sorted(row)[:12])}")


def _of_humaneval(row: Row, _: Path) -> Task:
    return humaneval.make_task(row)


def _of_evalplus(row: Row, _: Path) -> Task:
    """Its check is made of inputs: the answer must equal that of the set's own solution, nearly if `atol` says so."""
    name, solution = str(row["entry_point"]), str(row["prompt"]) + str(row["canonical_solution"])
    inputs = [*row["base_input"], *row.get("plus_input", ())]
    check = (
        f"import copy\nRIGHT, INPUTS, NEAR = {{}}, {inputs!r}, {float(row.get('atol') or 0)!r}\n"
        f"exec({solution!r}, RIGHT)\n\n"
        "def near(seen, right):\n"
        "    if isinstance(right, float) and type(seen) in (int, float):\n"
        "        return abs(seen - right) <= max(NEAR, 1e-9 * abs(right))\n"
        "    if isinstance(right, (list, tuple)):\n"
        "        return type(seen) is type(right) and len(seen) == len(right) and all(map(near, seen, right))\n"
        "    return seen == right\n\n"
        "def check(candidate):\n    for given in INPUTS:\n"
        f"        right = RIGHT[{name!r}](*copy.deepcopy(given))\n"
        "        seen = candidate(*copy.deepcopy(given))\n"
        "        assert near(seen, right) == True\n"
    )
    return humaneval.make_task({**row, "test": check})


def _of_mbpp(row: Row, _: Path) -> Task:
    """The first test is visible, as a member cannot know the function's name otherwise; all are hidden."""
    tests = [str(test) for test in row["test_list"]]
    setup = str(row.get("test_setup_code") or "\n".join(row.get("test_imports") or ""))
    name = _find_function(str(row["code"]), tests)
    hidden = [*tests, *map(str, row.get("challenge_test_list") or ())]
    text = str(row.get("text") or row["prompt"])
    topic = f"{text}\n\nWrite the function `{name}` into {SOLUTION}."
    visible, check = (_write_asserts(name, setup, some) for some in (tests[:1], hidden))
    return of_function(f"MBPP/{row['task_id']}", "", str(row["code"]), name, visible, check, topic)


def _find_function(code: str, tests: Sequence[str]) -> str:
    """The function of the code that the tests call."""
    defined = [node.name for node in ast.walk(ast.parse(code)) if isinstance(node, ast.FunctionDef)]
    called = [node.id for test in tests for node in ast.walk(ast.parse(test)) if isinstance(node, ast.Name)]
    found = next((name for name in called if name in defined), None)
    if found is None:
        raise ValueError("its tests call no function of its code")
    return found


def _write_asserts(name: str, setup: str, tests: Sequence[str]) -> str:
    bodies = ("\n".join(f"    {line}" for line in ast.unparse(ast.parse(test)).splitlines()) for test in tests)
    made = (f"def test_{number}():\n{body}\n" for number, body in enumerate(bodies, 1))
    return "\n\n".join([f"{setup}\nfrom solution import {name}\n", *made])


def _of_swe_bench(row: Row, folder: Path) -> Task:
    """A repository of this machine at a commit; the tests of `test_patch` are hidden."""
    place = folder / REPOSITORIES / str(row["repo"]).replace("/", "__")
    if not place.is_dir():
        raise ValueError(f"no clone of {row['repo']} in {place}; council downloads no repositories")
    before = read_commit(open_repository(place), str(row["base_commit"])).files
    after = _apply(str(row["test_patch"]), _apply(str(row["patch"]), before))
    found = releases.make_task(str(row["instance_id"]), str(row["repo"]), before, after)
    return Task(
        found.id, str(row["problem_statement"]), found.base, found.bench, found.canonical, found.empty, found.cheating
    )


def _apply(diff: str, tree: Mapping[str, bytes]) -> dict[str, bytes]:
    named = {path for change in parse_diff(diff) for path in (change.old, change.new) if path in tree}
    changed = apply_diff(diff, {path: tree[path].decode("utf-8", "surrogateescape") for path in named if path})
    laid = {path: data for path, data in tree.items() if changed.get(path, data) is not None}
    return laid | {path: text.encode("utf-8", "surrogateescape") for path, text in changed.items() if text is not None}


def _of_question(row: Row, _: Path) -> Task:
    """MMLU and its like. The answer is a letter, or the number of the choice from 0."""
    choices = tuple(map(str, row["choices"]))
    answer = row["answer"]
    letter = LETTERS[answer] if isinstance(answer, int) else str(answer).strip().upper()
    if not 2 <= len(choices) <= len(LETTERS) or letter not in LETTERS[: len(choices)]:
        raise ValueError(f'"{answer}" is not one of its {len(choices)} choices')
    listed = "\n".join(f"{letter}) {choice}" for letter, choice in zip(LETTERS, choices, strict=False))
    ask = 'Which of these is right? The answer ends with one line of its own, as in "Answer: A".'
    id = str(row.get("task_id") or row.get("id") or f"{row.get('subject', 'question')}-{_digest(row)}")
    return Task(id, f"{row['question']}\n\n{listed}\n\n{ask}", choice=letter, choices=choices)


def _digest(row: Row) -> str:
    return Task("", str(row["question"])).hash[:8]


FORMS: Sequence[tuple[set[str], Callable[[Row, Path], Task]]] = (
    ({"question", "choices", "answer"}, _of_question),
    ({"instance_id", "repo", "base_commit", "patch", "test_patch", "problem_statement"}, _of_swe_bench),
    ({"task_id", "prompt", "entry_point", "canonical_solution", "test"}, _of_humaneval),
    ({"task_id", "prompt", "entry_point", "canonical_solution", "base_input"}, _of_evalplus),
    ({"task_id", "code", "test_list"}, _of_mbpp),
)
