"""What happens before the first call of a code session: the project is gathered, its tests are run on it as it is, and
all that is frozen. Whatever is wrong is said here, while nothing was spent."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from council.candidates import facts, showing
from council.candidates.base import Base
from council.candidates.trials import REPLACED, SKIPPED
from council.candidates.versions import EXECUTABLE, LEFT_OUT, SOLUTION, SUITE, TEST_FILE, belongs
from council.config import overlays
from council.config.benches import Bench
from council.config.settings import Config
from council.errors import UsageError
from council.lab import proposal
from council.lab.gather import Gathered, Wishes, gather, guess_bench
from council.lab.history import describe_history
from council.lab.repository import open_repository
from council.record.files import tilde
from council.sandbox import benches, probe
from council.sandbox.model import FAIL, PASS, TAMPERED, TIMEOUT, UNKNOWN, Trial, Tried
from council.speakers.shell import BENCH, ENV
from council.text import did_you_mean, join_words, one_line
from council.workflow.loader import load
from council.workflow.model import Workflow

Say = Callable[[str], None]
TOOLS, BEFORE, SANDBOX = "tools", "before", "sandbox"  # facts of a base
ENVIRONMENTS = (".venv", "venv")
AFTER = "after_"  # begins the options of a workflow that name a checker
LONGEST_REASON = 200  # characters of why the tests could not be run
MOST_LISTED, MOST_FILES = 20, 5  # failing tests, and their files
LONGEST_LOG = 12_000  # characters of what the tests said: its end


@dataclass(frozen=True)
class Opened:
    """What a request gets: the frozen project, the workflow's options, and documents beside the task."""

    base: Base
    options: Mapping[str, Any]
    documents: tuple[tuple[str, str], ...] = field(default=())


@dataclass(frozen=True)
class Tools:
    """What runs the tests: a bench by name, in the project's environment. `facts` are their hashes."""

    bench: str
    env: Path | None
    facts: Mapping[str, Any]


def open_task(task: str, given: Mapping[str, Any], settings: Config, say: Say) -> Opened:
    """Everything that is frozen with the session. `given` are the options of `council code`."""
    workflow, known = load_workflow(given["workflow"]), benches.load(settings)
    if obstacle := probe.find_obstacle():
        raise UsageError(f"{obstacle}. Code is run in a sandbox or not at all")
    after = dict(read_after(given["after"], workflow, known))
    found = gather(given["repo"], Wishes(given["tests"], given["hidden"], given["worktree"]))
    writes_tests = SUITE in _list_answers(workflow)
    if not (found.tests or writes_tests):
        raise UsageError(describe_lack(found, given))
    history = tuple(_read_history(found, given))
    for line in (describe_project(found), *found.notes):
        say(line)
    tools = choose_tools(found, given, known, after, say)
    if found.tests:
        say(f"running {'all' if not given['tests'] else 'these'} tests on the project as it is …")
    before = try_unchanged(_make_trial(found, tools), known)
    say(f"before any change: {describe_tried(before, tools.bench) if found.tests else 'there are no tests'}")
    for line in list_failing(before, found):
        say(line)
    if broken := find_broken(before, found):
        raise UsageError(f"{broken}. Members cannot change tests, so no attempt could pass; fix the file first")
    if found.tests and before.verdict not in (PASS, FAIL) and not given["broken"]:
        raise UsageError(describe_obstacle(before, found))
    if found.tests and before.verdict == PASS and not (writes_tests or given["green"]):
        raise UsageError(describe_green(found))
    shown = showing.choose({**found.tree, **found.visible}, given["show"], task, read_log(before))
    say(showing.describe(shown))
    own = {BENCH: tools.bench} if BENCH in workflow.options else {}
    return Opened(_freeze(found, given, tools, before, shown), {**own, **after}, history)


def choose_tools(
    found: Gathered, given: Mapping[str, Any], known: Mapping[str, Bench], after: Mapping[str, str], say: Say
) -> Tools:
    """The bench, the project's environment and the sandbox, each said to the user."""
    bench = benches.find(given["bench"] or guess_bench(found.tests), known).name
    env = find_env(found.source.top, given["env"])
    facts = benches.prepare([bench, *(name for names in after.values() for name in names.split(","))], known, env, say)
    say(describe_env(env, given["env"]))
    say(f"sandbox: {probe.describe()}; no network, no home folder")
    return Tools(bench, env, facts)


def load_workflow(name: str) -> Workflow:
    """The workflow, if its members write code."""
    workflow = load(*overlays.workflow_text(name))
    if SOLUTION not in _list_answers(workflow):
        raise UsageError(f"members of {name} write no code: none of its steps asks for `{SOLUTION}`")
    return workflow


def _list_answers(workflow: Workflow) -> set[str]:
    return {answer for _, step in workflow.steps() for answer, _ in step.reply}


def read_after(pairs: Sequence[str], workflow: Workflow, known: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The options that --after sets, as in `draft=ruff,bandit`."""
    steps = [name.removeprefix(AFTER) for name in workflow.options if name.startswith(AFTER)]
    for pair in pairs:
        step, equals, names = pair.partition("=")
        if not equals or not all(names.split(",")):
            raise UsageError(f"--after {pair}: write STEP=BENCH, as in draft=ruff")
        if step not in steps:
            listed = did_you_mean(step, steps) if steps else f"{workflow.name} has no such steps"
            raise UsageError(f'--after {pair}: there is no step "{step}" to run a checker after; {listed}')
        for name in names.split(","):
            benches.find(name, known)
        yield f"{AFTER}{step}", names


# ---- the environment ----


def find_env(top: Path, named: Path | None) -> Path | None:
    """The project's virtual environment: the one that was named, or else found in it, or active."""
    if named is not None:
        return named.absolute()
    active = os.environ.get("VIRTUAL_ENV")
    places = [*(top / name for name in ENVIRONMENTS), *([Path(active)] if active else [])]
    return next((place for place in places if (place / "pyvenv.cfg").is_file()), None)


def describe_env(env: Path | None, named: Path | None) -> str:
    if env is None:
        return "environment: none found, so tests see only the standard library (--env names one)"
    return f"environment: {tilde(env)}, read-only" + ("" if named else " (found; --env names another)")


# ---- what the user is told ----


def describe_project(found: Gathered) -> str:
    source = found.source
    at = f" at {source.commit[:12]}" if source.commit else ", no git repository"
    hidden = sum(path not in found.visible for path in found.hidden)
    counts = {"file": len(found.tree), "test file": len(found.tests), "hidden test file": hidden}
    listed = [f"{many} {what}{'s' if many != 1 else ''}" for what, many in counts.items() if many or what == "file"]
    return f"project: {tilde(source.top)}{at}: {join_words(listed)}"


def try_unchanged(trial: Trial, known: Mapping[str, Bench]) -> Tried:
    """The tests on the project as it is. What it replaces itself of Python's own library is nothing against it."""
    tried = benches.try_out(trial, known)
    if tried.replaced:
        tried = benches.try_out(replace(trial, allowed=tried.replaced), known)
    return forgive(tried)


def forgive(tried: Tried) -> Tried:
    """Tests that are skipped on the unchanged tree, as where something is not installed, do not count."""
    failed = tuple(test for test in tried.failed if test not in tried.unasked)
    verdict = PASS if tried.verdict == FAIL and tried.passed and not failed else tried.verdict
    return replace(tried, verdict=verdict, failed=failed)


def describe_tried(tried: Tried, bench: str) -> str:
    """What the tests say of the unchanged tree."""
    count, seconds = len(tried.passed) + len(tried.failed), tried.receipt.get("seconds")
    how = f"{bench}, {seconds:.1f} s" if isinstance(seconds, float) else bench
    how += f"; {len(tried.unasked)} skipped here, which do not count" if tried.unasked else ""
    if not count:  # as of a command, which says no more
        return f"the tests say: {tried.verdict} ({how})"
    if tried.verdict == PASS:
        return f"{f'all {count} tests pass' if count != 1 else 'the only test passes'} ({how})"
    many = "test fails" if count == 1 else "tests fails" if len(tried.failed) == 1 else "tests fail"
    counted = f"{len(tried.failed)} of {count} {many} ({how})"
    return counted if tried.verdict == FAIL else f"{tried.verdict}; {counted}"


def list_failing(before: Tried, found: Gathered) -> Iterator[str]:
    """Each test that fails before any change, and the option that runs only the files of some."""
    yield from (f"  {one_line(test, LONGEST_REASON)}" for test in before.failed[:MOST_LISTED])
    if len(before.failed) > MOST_LISTED:
        yield f"  and {len(before.failed) - MOST_LISTED} more"
    files = [path for path in found.tests if any(_is_in(test, path) for test in before.failed)]
    if files and len(found.tests) > 1:
        named = " ".join(f"--tests {shlex.quote(path)}" for path in files[:MOST_FILES])
        yield f"an attempt has to pass all tests; to choose some, name their files: {named}"


def _is_in(test: str, path: str) -> bool:
    """Whether a test with this id is in this file. Go names tests after their folder."""
    return belongs(test, [path]) or test.startswith(f"{path.rpartition('/')[0]}::")


def describe_obstacle(before: Tried, found: Gathered) -> str:
    """Why nothing is begun where the tests of the unchanged project have no verdict that an attempt could change."""
    said = one_line(before.log.partition("\n\n")[0], LONGEST_REASON)
    why = {
        TIMEOUT: "the tests did not end in time",
        UNKNOWN: "the tests ended early, or did not start",
        TAMPERED: "the bench takes something that the project or its tests do for cheating",
    }[before.verdict] + (f" ({said})" if said else "")
    fewer = f"run fewer tests (as in --tests {shlex.quote(found.tests[0])}), " if len(found.tests) > 1 else ""
    return (
        f"{before.verdict}: {why}, on the unchanged project, so attempts would end the same way. "
        f"You can {fewer}choose another bench (--bench), or give a bench of your own more time and memory. "
        "To go on because members are to change just that: --although-tests-break"
    )


def find_broken(before: Tried, found: Gathered) -> str:
    """What is wrong with a test file that cannot be read; empty if there is none."""
    said = before.log.partition("\n")[0]
    known = {**found.tree, **found.visible}  # `conftest.py` may be an ordinary file
    return said if before.verdict == UNKNOWN and said.partition(":")[0] in known else ""


def describe_lack(found: Gathered, given: Mapping[str, Any]) -> str:
    """Why there is no test that members may see."""
    if given["tests"]:
        return f"--tests {join_words(map(str, given['tests']))}: no file there is named like a test (test_* or *_test)"
    if any(map(TEST_FILE.search, found.hidden)):
        return "all tests are hidden, so no test says whether an attempt succeeds; leave some visible"
    return (
        f"{tilde(found.source.top)} has no tests: no file is named test_* or *_test. Write one that fails, or have "
        "members write it: --workflow code"
    )


def describe_green(found: Gathered) -> str:
    """Why a task whose tests already pass is not begun."""
    fresh = " The changes that are not committed count with --worktree." if found.source.fresh else ""
    return (
        "all tests pass already, so they cannot tell whether the task is solved. Write one that "
        f"fails, or have members write it: --workflow code.{fresh} To go on nevertheless: --although-tests-pass"
    )


# ---- what is tried and frozen ----


def _make_trial(found: Gathered, tools: Tools) -> Trial:
    executable = found.source.executable
    return Trial(tools.bench, found.tree, found.visible, env=tools.env, base=found.tree, executable=executable)


def read_log(before: Tried) -> str:
    """What the tests said before any change, as far as members see it: its end, and nothing if they passed."""
    return before.log[-LONGEST_LOG:] if before.verdict != PASS else ""


def _freeze(found: Gathered, given: Mapping[str, Any], tools: Tools, before: Tried, shown: Mapping[str, str]) -> Base:
    source = found.source
    return Base(found.tree, found.visible, found.hidden, {
        proposal.REPOSITORY: str(source.top), proposal.COMMIT: source.commit, "hash": source.hash_name,
        proposal.WORKTREE: bool(given["worktree"] and source.commit), proposal.OUTSIDE: list(found.outside),
        LEFT_OUT: dict(found.left_out), EXECUTABLE: list(source.executable),
        BENCH: tools.bench, ENV: str(tools.env or ""), TOOLS: dict(tools.facts), SANDBOX: probe.describe(),
        BEFORE: {
            "verdict": before.verdict, "passed": list(before.passed), "failed": list(before.failed), **before.receipt,
        },
        SKIPPED: list(before.unasked), REPLACED: list(before.replaced),
        facts.SHOWN_PATHS: list(shown), facts.LOG: read_log(before),
    })  # fmt: skip


def _read_history(found: Gathered, given: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The history of the commit as a document beside the task, if the user asks for it."""
    if given["history"]:
        if not found.source.commit:
            raise UsageError("--history: this folder is not in a git repository")
        repository = open_repository(given["repo"])
        yield "history of the commit", describe_history(repository, found.source.commit, given["history"])
