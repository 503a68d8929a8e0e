"""A task from two releases of a package on PyPI: write the code of the newer one, given the older one.

The tests of the newer release are hidden. Those that fail on the older code have to pass, the others have to stay
green. Both kinds are found by running them in the sandbox.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

from council.candidates.base import Base
from council.candidates.showing import choose, is_text
from council.candidates.versions import TEST_FILE
from council.errors import CouncilError, UsageError
from council.lab.sets import fetch, task
from council.lab.sets.task import Say, Task, Tree
from council.sandbox import benches
from council.sandbox.model import PASS, Trial

NAMED = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)@([A-Za-z0-9.+!]+)\.\.([A-Za-z0-9.+!]+)")
BENCH = "pytest"
NOTES = re.compile(r"(?:^|/)(?:changes|changelog|history|news|release_?notes)(?:\.\w+)?$", re.I)
MADE = re.compile(r"(?:^|/)(?:PKG-INFO|__pycache__/.*|[^/]*\.egg-info/.*|[^/]*\.pyc)$")
MOST_SHOWN = 32_000  # bytes of Python files
MOST_LISTED = 60  # tests that the task names
CHEAT = b"import os\nos._exit(0)\n"


def load(words: str, say: Say) -> list[Task]:
    """The one task of `NAME@OLD..NEW`."""
    named = NAMED.fullmatch(words)
    if not named:
        raise UsageError(f"pypi:{words}: write pypi:NAME@OLD..NEW, as in pypi:inflection@0.3.1..0.4.0")
    name, old, new = named.groups()
    before, after = (fetch.unpack(_fetch(name, version, say)) for version in (old, new))
    return [make_task(f"{name}-{old}..{new}", f"the package {name} {old}", before, after, say)]


def _fetch(name: str, version: str, say: Say) -> bytes:
    try:
        return fetch.fetch(name, version, ".tar.gz", say)
    except UsageError:
        return fetch.fetch(name, version, ".zip", say)


def make_task(id: str, what: str, before: Tree, after: Tree, say: Say = lambda _: None) -> Task:
    """The task of turning one source tree into another, judged by the tests of the second."""
    benches.prepare([BENCH], benches.load(), say=say)
    (tree, old_tests), (canonical, new_tests) = _split(before), _split(after)
    hidden = _keep_green(canonical, new_tests)
    failing, kept = _compare(tree, canonical, hidden)
    if not failing:
        raise UsageError(f"{id}: no test of the newer release fails on the older one and passes on its own code")
    listed = "\n".join(f"- `{test}`" for test in failing[:MOST_LISTED])
    more = f"\n- … and {len(failing) - MOST_LISTED} more" if len(failing) > MOST_LISTED else ""
    notes = "".join(f"\nIts notes on the next release:\n\n{text}\n" for text in _read_notes(before, after))
    topic = (
        f"Change the code of {what}, so that these tests of its next release pass:\n\n{listed}{more}\n{notes}\n"
        f"{len(kept)} other tests pass now, and must still pass."
    )
    python = sorted(path for path in tree if path.endswith(".py") and path != "setup.py")
    small = sum(len(tree[path]) for path in python) <= MOST_SHOWN
    shown = python if small else list(choose(tree, (), topic))
    facts = {task.BENCH: BENCH, "shown": shown, "fail_to_pass": failing, "pass_to_pass": len(kept)}
    return Task(
        id, topic, Base(tree, _keep_green(tree, old_tests), hidden, facts), BENCH, canonical, tree,
        {path: CHEAT + data if path in python else data for path, data in tree.items()},
    )  # fmt: skip


def _split(files: Tree) -> tuple[dict[str, bytes], dict[str, bytes]]:
    """The code of a source package, and its tests. What packaging made is neither."""
    plain = {path: data for path, data in files.items() if not MADE.search(path) and is_text(data)}
    tests = {path: data for path, data in plain.items() if _is_test(path)}
    return {path: data for path, data in plain.items() if path not in tests}, tests


def _is_test(path: str) -> bool:
    return bool(TEST_FILE.search(path)) or bool({"tests", "test", "testing"} & {*PurePosixPath(path).parts[:-1]})


def _keep_green(tree: Tree, tests: Tree) -> dict[str, bytes]:
    """The tests without those files that do not pass here even on their own code, as those that need a network."""
    red = {path for path in tests if TEST_FILE.search(path) and _try(tree, tests, path)[0] != PASS}
    return {path: data for path, data in tests.items() if path not in red}


def _try(tree: Tree, tests: Tree, *run: str) -> tuple[str, tuple[str, ...]]:
    tried = benches.try_out(Trial(BENCH, tree, tests, run), benches.load())
    return tried.verdict, tried.passed


def _compare(before: Tree, after: Tree, tests: Tree) -> tuple[list[str], list[str]]:
    """The tests that pass only on the newer code, and those that pass on both."""
    if not any(map(TEST_FILE.search, tests)):
        raise CouncilError("none of its tests passes here on its own code; is a dependency missing?")
    old, new = (set(_try(tree, tests)[1]) for tree in (before, after))
    return sorted(new - old), sorted(new & old)


def _read_notes(before: Tree, after: Mapping[str, bytes]) -> Iterator[str]:
    """The lines that were added to the notes on changes."""
    for path in filter(NOTES.search, sorted(after)):
        old, new = (one.get(path, b"").decode("utf-8", "replace").splitlines() for one in (before, after))
        lines = [line[2:] for line in difflib.ndiff(old, new) if line.startswith("+ ")]
        if any(map(str.strip, lines)):
            yield "\n".join(lines)[:4_000]
