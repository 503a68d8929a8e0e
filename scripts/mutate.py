"""Usage: scripts/mutate [--sample N] [--seed S] [--only TEXT] [--jobs N] [--again] [--list]

Changes one thing at a time in the core (the planner, conditions, rules, views, orders, replies, the record, the cost)
and runs the tests that belong to the changed module: a mutant that they notice is killed, one that they do not notice
has survived. Each survivor is a missing test, or a change that makes no difference.

The checkout itself is never changed: each job works in a copy. What is known already of the same code and the same
mutant is kept in .mutants/ and is not run again, so a run that was interrupted goes on where it was.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from queue import SimpleQueue

ROOT = Path(__file__).resolve().parent.parent
KNOWN = ROOT / ".mutants" / "results.jsonl"
LEFT_OUT = (".git", ".mutants", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".hypothesis", "__pycache__")

# What is changed, and the test modules that must notice: first the quick ones, then, if they do not, whole debates.
CORE = {
    "council/engine/planner.py": (("plan",), ("stances", "limits", "perspectives")),
    "council/engine/conditions.py": (("rules", "plan", "loader"), ("lint", "board")),
    "council/engine/rules.py": (("rules", "plan", "loader"), ("lint", "consensus")),
    "council/engine/views.py": (("views", "plan"), ("lint", "delphi")),
    "council/engine/orders.py": (("orders", "plan"), ("lint", "consensus")),
    "council/replies/*.py": (("replies", "compact", "quotes", "plan"), ("grammar", "human", "terminal")),
    "council/record/*.py": (("files", "filing"), ("mutations", "commands", "follow_up")),
    "council/checks/cost.py": (("context_size", "limits"), ("cost", "budget")),
    "council/checks/sizes.py": (("context_size",), ("cost", "budget")),
}
Tests = tuple[str, ...]
FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+(?:\[.*?\])?)(?= - |$)", re.M)
SHORTEST = 60  # seconds that any run of tests may take
WORDS = {"killed": "a test failed", "timeout": "the tests did not end", "survived": "no test noticed"}


@dataclass(frozen=True)
class Mutant:
    """One change: `was` at this place of the file becomes `now`."""

    file: str
    start: int  # bytes
    end: int
    line: int
    was: str
    now: str

    @property
    def name(self) -> str:
        return f"{self.file}:{self.line}: {shortened(self.was)}  ->  {shortened(self.now)}"

    @property
    def key(self) -> str:
        """The same change of the same file, whenever it is run."""
        return digest(f"{self.file}\0{self.start}\0{self.end}\0{self.now}\0{source(self.file)}")

    def applied(self) -> bytes:
        data = source(self.file).encode()
        return data[: self.start] + self.now.encode() + data[self.end :]


def shortened(code: str, most: int = 70) -> str:
    line = " ".join(code.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:24]


@cache
def source(file: str) -> str:
    return (ROOT / file).read_text(encoding="utf-8")


# ---- the changes ----

SWAPPED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip


def changes(node: ast.AST) -> Iterator[tuple[ast.expr, str]]:
    """The expressions to replace in this node, each with the code that replaces it."""
    match node:
        case ast.Compare(left=left, ops=ops, comparators=others):
            for at, op in enumerate(ops):
                swapped = [*ops[:at], SWAPPED[type(op)](), *ops[at + 1 :]]
                yield node, ast.unparse(ast.Compare(left, swapped, others))
        case ast.BoolOp(op=op, values=values):
            yield node, f"({ast.unparse(ast.BoolOp(ast.Or() if isinstance(op, ast.And) else ast.And(), values))})"
            for at in range(len(values)):
                rest = values[:at] + values[at + 1 :]
                yield node, f"({ast.unparse(ast.BoolOp(op, rest) if len(rest) > 1 else rest[0])})"
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield node, f"({ast.unparse(operand)})"
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as op, right=right) if not {left, right} & texts(node):
            other = ast.Sub() if isinstance(op, ast.Add) else ast.Add()
            yield node, f"({ast.unparse(ast.BinOp(left, other, right))})"
        case ast.Constant(value=bool(value)):
            yield node, str(not value)
        case ast.Constant(value=int(value)):
            yield from ((node, str(value + 1)), (node, str(value - 1)))
        case ast.Slice(lower=lower, upper=upper):
            yield from ((bound, "") for bound in (lower, upper) if bound)
        case _:
            yield from conditions(node)


def conditions(node: ast.AST) -> Iterator[tuple[ast.expr, str]]:
    """A condition that always holds, or never does; and what a function answers, turned round."""
    match node:
        case ast.If(test=test) | ast.IfExp(test=test) if not isinstance(test, ast.NamedExpr):
            yield from ((test, "True"), (test, "False"))
        case ast.While(test=test):
            yield test, "False"
        case ast.comprehension(ifs=ifs):
            yield from ((test, "True") for test in ifs)
        case ast.FunctionDef(returns=ast.Name(id="bool")) | ast.AsyncFunctionDef(returns=ast.Name(id="bool")):
            answers = (inner.value for inner in ast.walk(node) if isinstance(inner, ast.Return))
            yield from ((answer, f"not ({ast.unparse(answer)})") for answer in answers if answer)


def texts(node: ast.AST) -> set[ast.AST]:
    """What is text in it: nobody subtracts that."""
    return {
        inner
        for inner in ast.walk(node)
        if isinstance(inner, ast.JoinedStr) or (isinstance(inner, ast.Constant) and isinstance(inner.value, str))
    }


def mutants(file: str) -> list[Mutant]:
    """Every change of one file, in its order. Types, decorators and what is only text are left alone."""
    text = source(file)
    starts = [0]
    for line in text.encode().splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    made = dict[tuple[int, int, str], Mutant]()
    for node in walked(ast.parse(text)):
        for target, now in changes(node):
            assert target.end_lineno is not None
            assert target.end_col_offset is not None
            start = starts[target.lineno - 1] + target.col_offset
            end = starts[target.end_lineno - 1] + target.end_col_offset
            was = text.encode()[start:end].decode()
            if was != now and compiles(text.encode()[:start] + now.encode() + text.encode()[end:]):
                made.setdefault((start, end, now), Mutant(file, start, end, target.lineno, was, now))
    return sorted(made.values(), key=lambda one: (one.start, one.end, one.now))


def walked(node: ast.AST) -> Iterator[ast.AST]:
    yield node
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list"):
            continue
        if isinstance(node, ast.AnnAssign) and name == "value" and isinstance(value, ast.Call):
            continue  # field(repr=False): what a dataclass shows of itself
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not isinstance(child, ast.JoinedStr):
                yield from walked(child)


def compiles(code: bytes) -> bool:
    try:
        compile(code, "mutant", "exec")
    except (SyntaxError, ValueError):
        return False
    return True


def core(only: str = "") -> dict[str, tuple[Tests, Tests]]:
    """The files of the core whose paths contain this, each with its tests."""
    found = {path: tests for pattern, tests in CORE.items() for path in sorted(ROOT.glob(pattern))}
    files = {path.relative_to(ROOT).as_posix(): tests for path, tests in found.items()}
    return {file: tests for file, tests in files.items() if only in file and not file.endswith("__init__.py")}


def chosen(only: str, sample: int | None, seed: int) -> list[Mutant]:
    everything = [mutant for file in core(only) for mutant in mutants(file)]
    if sample is None or sample >= len(everything):
        return everything
    picked = random.Random(seed).sample(everything, sample)
    return sorted(picked, key=everything.index)


# ---- running their tests ----


@dataclass(frozen=True)
class Result:
    mutant: Mutant
    word: str
    by: str = ""  # the test that failed


class Copies:
    """Copies of the checkout, one for each job, and how long the tests of a file take there when nothing is changed."""

    def __init__(self, folder: Path, jobs: int) -> None:
        self.free: SimpleQueue[Path] = SimpleQueue()
        self.most: dict[Tests, float] = {}
        self.red: dict[Tests, Tests] = {}
        for number in range(jobs):
            copy = folder / f"copy-{number}"
            shutil.copytree(ROOT, copy, symlinks=True, ignore=shutil.ignore_patterns(*LEFT_OUT))
            self.free.put(copy)

    def unchanged(self, tests: Tests) -> None:
        """How long the tests take while nothing is changed. Those that fail even then can say nothing of a change."""
        if tests in self.most:
            return
        copy, began = self.free.get(), time.monotonic()
        code, out = pytest(copy, tests, 3600, all_=True)
        self.free.put(copy)
        self.red[tests] = tuple(FAILED.findall(out))
        if code and not self.red[tests]:
            sys.exit(f"mutate: these tests cannot be run: {', '.join(tests)}\n{out[-3000:]}")
        for name in self.red[tests]:
            print(f"left out, because it fails without any change: {name}", file=sys.stderr, flush=True)
        self.most[tests] = max(SHORTEST, 4 * (time.monotonic() - began))

    def tried(self, mutant: Mutant, stages: tuple[Tests, Tests]) -> Result:
        copy = self.free.get()
        path = copy / mutant.file
        try:
            path.write_bytes(mutant.applied())
            for tests in stages:
                code, out = pytest(copy, tests, self.most[tests], self.red[tests])
                if code is None:
                    return Result(mutant, "timeout", ", ".join(tests))
                if code:
                    return Result(mutant, "killed", next(iter(FAILED.findall(out)), ""))
        finally:
            path.write_bytes(source(mutant.file).encode())
            self.free.put(copy)
        return Result(mutant, "survived")


def pytest(copy: Path, tests: Tests, seconds: float, but: Tests = (), all_: bool = False) -> tuple[int | None, str]:
    """How pytest ended, None where it did not in this time; and what it printed. It ends at the first failure."""
    words = [*(f"tests/test_{name}.py" for name in tests), *(f"--deselect={name}" for name in but), *["-x"][all_:]]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--hypothesis-seed=0", *words]
    env = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "COLUMNS": "200"}
    with subprocess.Popen(
        [*command, "-m", "not slow"], cwd=copy, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True,
    ) as process:  # fmt: skip
        try:
            out, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return None, ""
    return process.returncode, out


# ---- what is known of them ----


def known() -> dict[str, dict[str, str]]:
    lines = KNOWN.read_text(encoding="utf-8").splitlines() if KNOWN.exists() else []
    return {found["key"]: found for found in map(json.loads, lines)}


def remember(result: Result) -> None:
    KNOWN.parent.mkdir(exist_ok=True)
    found = {"key": result.mutant.key, "name": result.mutant.name, "word": result.word, "by": result.by}
    with KNOWN.open("a", encoding="utf-8") as file:
        file.write(json.dumps(found) + "\n")


def results(wanted: Sequence[Mutant], jobs: int, again: bool = False) -> Iterator[Result]:
    """The result of each, the known ones first. With `again` those that survived are tried once more."""
    there, left, tests = known(), list[Mutant](), core()
    for mutant in wanted:
        found = there.get(mutant.key)
        if found and not (again and found["word"] == "survived"):
            yield Result(mutant, found["word"], found["by"])
        else:
            left.append(mutant)
    if not left:
        return
    with tempfile.TemporaryDirectory(prefix="council-mutants-") as folder, ThreadPoolExecutor(jobs) as pool:
        copies = Copies(Path(folder), jobs)
        for group in {group for mutant in left for group in tests[mutant.file]}:
            copies.unchanged(group)

        def try_it(mutant: Mutant) -> Result:
            result = copies.tried(mutant, tests[mutant.file])
            remember(result)
            return result

        for ended in as_completed([pool.submit(try_it, mutant) for mutant in left]):
            yield ended.result()


def table(found: Iterable[Result]) -> Iterator[str]:
    """A row a file, the total, and each survivor."""
    counts: dict[str, Counter[str]] = {}
    survived = list[Result]()
    for result in sorted(found, key=lambda one: (one.mutant.file, one.mutant.start, one.mutant.now)):
        counts.setdefault(result.mutant.file, Counter())[result.word] += 1
        survived += [result] if result.word == "survived" else []
    counts["all"] = sum(counts.values(), Counter[str]())
    yield "| file | mutants | killed | timeout | survived | score |"
    yield "|---|---:|---:|---:|---:|---:|"
    for file, words in counts.items():
        score = 100 * (words.total() - words["survived"]) / max(1, words.total())
        numbers = " | ".join(str(words[word]) for word in WORDS)
        yield f"| {file.removeprefix('council/')} | {words.total()} | {numbers} | {score:.1f} % |"
    if survived:
        yield "\nSurvivors:\n"
        yield from (f"- `{result.mutant.name.removeprefix('council/')}`" for result in survived)


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="scripts/mutate", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--sample", type=int, metavar="N", help="only N mutants, drawn at random")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="which N (default: 0)")
    parser.add_argument("--only", default="", metavar="TEXT", help="only files whose path contains this")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1), metavar="N")
    parser.add_argument("--again", action="store_true", help="try those that survived before once more")
    parser.add_argument("--list", action="store_true", help="print the mutants and run nothing")
    options = parser.parse_args()
    wanted = chosen(options.only, options.sample, options.seed)
    if options.list:
        print("\n".join(mutant.name for mutant in wanted))
        return 0
    found = list[Result]()
    for result in results(wanted, options.jobs, options.again):
        found.append(result)
        print(f"{len(found)}/{len(wanted)} {result.word}: {result.mutant.name}", file=sys.stderr, flush=True)
    print("\n".join(table(found)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
