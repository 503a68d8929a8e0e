"""What a bench says of a candidate: real sandbox, real pytest, real unittest."""

from __future__ import annotations

import pytest

from council.sandbox import benches
from council.sandbox.model import Trial, Tried
from council.sandbox.probe import find_obstacle

pytestmark = pytest.mark.skipif(bool(find_obstacle()), reason=find_obstacle())

PLAIN = """
from solution import add
def test_small():
    assert add(1, 2) == 3
def test_large():
    assert add(40, 2) == 42
"""
FRAMED = f"""
import pytest
{PLAIN}
@pytest.mark.parametrize("x", [1, 2])
def test_type(x):
    with pytest.raises(TypeError):
        add(x, None)
"""
CLASSES = """
import unittest
from solution import add
class TestAdd(unittest.TestCase):
    def test_small(self):
        self.assertEqual(add(1, 2), 3)
"""
RIGHT, WRONG = "def add(a, b):\n    return a + b\n", "def add(a, b):\n    return a - b\n"
SHAPES = [("pytest", PLAIN), ("pytest", FRAMED), ("unittest", CLASSES), ("pytest", CLASSES)]


def attempt(solution: str, tests: str, bench: str = "pytest") -> Tried:
    trial = Trial(bench, {"solution.py": solution.encode()}, {"tests/test_add.py": tests.encode()})
    return benches.try_out(trial, benches.load())


@pytest.mark.parametrize(("bench", "tests"), SHAPES)
def test_what_is_right_passes_and_what_is_wrong_fails(bench: str, tests: str) -> None:
    right, wrong = attempt(RIGHT, tests, bench), attempt(WRONG, tests, bench)
    assert (right.verdict, right.failed) == ("pass", ()), right.log
    assert wrong.verdict == "fail"
    assert {*wrong.passed, *wrong.failed} == set(right.passed)
    assert "-1" in wrong.log


def test_what_is_skipped_though_the_file_does_not_say_so_is_told_apart() -> None:
    """A candidate cannot have tests skipped; what is not installed can, and whoever knows that may forgive it."""
    tests = "import pytest\nfrom solution import add, READY\n"
    tests += "@pytest.mark.skipif(not READY, reason='not ready')\ndef test_skipped():\n    assert add(1, 2) == 3\n"
    tried = attempt(f"READY = False\n{RIGHT}", f"{tests}def test_run():\n    assert add(1, 2) == 3\n")
    assert (tried.verdict, tried.passed) == ("fail", ("tests/test_add.py::test_run",)), tried.log
    assert tried.failed == tried.unasked == ("tests/test_add.py::test_skipped",)
    absent = attempt(RIGHT, f"import pytest\npytest.importorskip('no_such_package')\n{PLAIN}")
    assert absent.failed == absent.unasked == ("tests/test_add.py::test_small", "tests/test_add.py::test_large")
    trial = Trial("pytest", {"solution.py": RIGHT.encode()}, {"tests/test_add.py": PLAIN.encode()}, void=absent.failed)
    assert benches.try_out(trial, benches.load()).passed == ()


def test_a_candidate_that_ends_the_process_is_not_believed() -> None:
    tried = attempt("import os\nos._exit(0)\n", PLAIN)
    assert tried.verdict == "unknown"
    assert "before the tests did" in tried.log


def test_a_test_file_that_cannot_be_imported_is_named_once() -> None:
    for bench, tests in SHAPES:
        tried = attempt(RIGHT, f"from nowhere import x\n{tests}", bench)
        assert (tried.verdict, tried.failed, tried.passed) == ("fail", ("tests/test_add.py",), ()), tried.log
        assert "No module named 'nowhere'" in tried.log


def test_the_log_says_why_no_test_could_be_run() -> None:
    tests = {"tests/conftest.py": b"import nowhere\n", "tests/test_add.py": PLAIN.encode()}
    tried = benches.try_out(Trial("pytest", {"solution.py": RIGHT.encode()}, tests), benches.load())
    assert tried.verdict == "fail"
    assert "No module named 'nowhere'" in tried.log


def test_a_folder_with_tests_cannot_be_moved_away() -> None:
    """Each file of the tests is read-only, and so is its place: another folder could have other data."""
    test = "from solution import add\ndef test_add():\n    a, b, c = eval(open('/job/tests/unit/data').read())\n"
    tests = {"tests/unit/test_add.py": f"{test}    assert add(a, b) == c\n".encode(), "tests/unit/data": b"1, 2, 3"}
    for folder in ("tests", "tests/unit"):
        move = f"import os\nos.rename('/job/{folder}', '/job/away')\nos.makedirs('/job/tests/unit', exist_ok=True)\n"
        lie = "with open('/job/tests/unit/data', 'w') as file:\n    file.write('1, 2, -1')\n"
        code = (
            f"{WRONG}try:\n    {(move + lie).strip().replace(chr(10), chr(10) + '    ')}\nexcept OSError:\n    pass\n"
        )
        tried = benches.try_out(Trial("pytest", {"solution.py": code.encode()}, tests), benches.load())
        assert (tried.verdict, tried.failed) == ("fail", ("tests/unit/test_add.py::test_add",)), tried.log


def test_the_other_test_files_run_if_one_cannot_be_imported() -> None:
    tests = {
        "tests/test_add.py": f"import pytest\n{PLAIN}".encode(),
        "tests/test_b.py": b"import pytest, nowhere\ndef test(): 1\n",
    }
    tried = benches.try_out(Trial("pytest", {"solution.py": RIGHT.encode()}, tests), benches.load())
    assert (tried.verdict, tried.failed, len(tried.passed)) == ("fail", ("tests/test_b.py",), 2), tried.log
