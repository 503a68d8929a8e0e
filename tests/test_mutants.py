"""Mutants: one mistake each, in the lines that changed, and none that the code's own text would hide."""

from __future__ import annotations

import ast

from council.sandbox.model import FAIL, Trial, Tried
from council.sandbox.mutants import find_mutants, try_mutants

BEFORE = b"""\
LIMIT = 10


def untouched(n):
    return n + 1
"""
AFTER = (
    BEFORE
    + b'''

def clamp(n: int = 0, *, low: int = 0) -> int:
    """Not below `low`, and at most 10."""
    if n < low and not n == 7:
        raise ValueError(f"{n} < {low}")
    log(n)
    total = -n
    total += 1
    return min(n, LIMIT)
'''
)


def test_every_mutant_is_one_mistake_in_a_changed_line() -> None:
    mutants = find_mutants(BEFORE, AFTER, "src/clamp.py")
    original = ast.unparse(ast.parse(AFTER)).splitlines()
    for mutant in mutants:
        lines = mutant.content.decode().rstrip("\n").splitlines()
        differ = [place for place, line in enumerate(lines) if line != original[place]]
        assert len(lines) == len(original), mutant
        assert len(differ) == 1, mutant
        assert mutant.line > len(BEFORE.splitlines()), mutant
    changes = {mutant.change for mutant in mutants}
    assert {
        "`n < low` became `n <= low`", "`n < low and (not n == 7)` became `n < low or not n == 7`",
        "`not n == 7` became `n == 7`", "`n == 7` became `n != 7`", "`7` became `8`", "`log(n)` became `pass`",
        "`total += 1` became `total -= 1`", "`-n` became `n`", "`return min(n, LIMIT)` became `return None`",
        "`raise ValueError(f'{n} < {low}')` became `pass`", "`0` became `1`", "`1` became `2`",
    } == changes  # fmt: skip
    assert str(mutants[0]).startswith("src/clamp.py:8: `0` became `1`")


def test_a_new_file_is_mutated_whole_and_a_broken_one_not_at_all() -> None:
    assert {mutant.line for mutant in find_mutants(b"", BEFORE, "a.py")} == {1, 5}
    assert find_mutants(BEFORE, BEFORE, "a.py") == []
    assert find_mutants(b"", b"def broken(:\n", "a.py") == []
    assert find_mutants(b"", b"x = 1\0", "a.py") == []


def test_tests_that_fail_on_the_code_itself_notice_nothing() -> None:
    tried = list[Trial]()

    def run(trial: Trial) -> Tried:
        tried.append(trial)
        return Tried(verdicts[len(tried) - 1])

    trial, verdicts = Trial("pytest", {"a.py": BEFORE}), [FAIL]
    assert try_mutants(trial, {}, run) == Tried(FAIL, metrics={"mutants": 0, "killed": 0})
    assert tried == [trial]
