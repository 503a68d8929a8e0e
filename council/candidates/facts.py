"""What the prompts of a code session are told: the files as they are now, and how each candidate is doing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import dropwhile, islice
from typing import Any

from council.candidates import base, patch
from council.candidates.files import SHOWN
from council.candidates.results import COUNTED, measure_complexity, trials_of
from council.candidates.steering import find_later
from council.candidates.versions import FAILED, PASSED, VISIBLE, Ledger, Version, follow, ids_of, kind_of, lay, runs
from council.engine.contributions import Exhibit, exhibit
from council.engine.facts import PromptContext, fact
from council.text import join_words

MOST_SHOWN = 60_000  # characters of files, if the base does not say which ones are shown
MOST_PATHS = 400
LONGEST_DIFF = 100_000  # characters
# Facts of a base: the one file to write, the paths of the files shown, what the tests said before any change.
WRITE, SHOWN_PATHS, LOG = "write", "shown", "log"


@fact
def files(context: PromptContext) -> list[str]:
    """In a code session: the files of the project that members see, and those that the seat's candidate changed.

    Each is between marks, as it is in the version that a new one would be written on."""
    found = base.read(context.extra)
    tree = lay(_standing(context), found)
    changed = sorted(path for path, data in tree.items() if found.tree.get(path) != data)
    texts = {path: _decode(tree[path]) for path in dict.fromkeys([*_shown(found), *changed]) if path in tree}
    return [context.fence(f"{SHOWN}{path}", text, path) for path, text in texts.items() if text is not None]


def _standing(context: PromptContext) -> Version | None:
    return follow(context.scene).standing(context.due.seat.about)


def _shown(found: base.Base) -> list[str]:
    """The paths that the base names. Without any, a small project is shown whole."""
    named = found.facts.get(SHOWN_PATHS)
    if isinstance(named, list):
        return [str(path) for path in named]
    small = sum(map(len, (*found.tree.values(), *found.visible.values()))) <= MOST_SHOWN
    return sorted(found.tree) if small else []


def _decode(data: bytes) -> str | None:
    """The text of a file; None if it is not text."""
    try:
        return None if b"\0" in data else data.decode("utf-8")
    except UnicodeDecodeError:
        return None


@fact
def visible_tests(context: PromptContext) -> list[str]:
    """In a code session: the tests of the project that members see, each between marks."""
    found = base.read(context.extra)
    named = found.facts.get(SHOWN_PATHS)
    small = sum(map(len, found.visible.values())) <= MOST_SHOWN
    shown = found.visible.keys() & named if isinstance(named, list) else found.visible if small else ()
    texts = {path: _decode(found.visible[path]) for path in sorted(shown)}
    return [context.fence(f"the test {path}", text, path) for path, text in texts.items() if text is not None]


@fact
def project_paths(context: PromptContext) -> str:
    """In a code session: the paths of the project's files, one a line, between marks; of a large project only some."""
    paths = sorted(base.read(context.extra).tree)
    more = [f"… and {len(paths) - MOST_PATHS} more"] if len(paths) > MOST_PATHS else []
    return context.fence("the paths of the project", "\n".join([*paths[:MOST_PATHS], *more]), "") if paths else ""


@fact
def failures(context: PromptContext) -> str:
    """In a code session: what the tests said before any change, between marks; empty if they were not run."""
    log = str(base.read(context.extra).facts.get(LOG) or "")
    return context.fence("the tests before any change", log, "") if log else ""


@fact
def only_file(context: PromptContext) -> str:
    """In a code session: the one file that is to be written, if the task names one."""
    return str(base.read(context.extra).facts.get(WRITE) or "")


@fact
def candidate(context: PromptContext) -> str:
    """In a code session: whose candidate the seat works on, as soon as there is a version of it."""
    about = context.due.seat.about
    return about if follow(context.scene).newest(about) else ""


@fact
def candidates(context: PromptContext) -> list[dict[str, Any]]:
    """In a code session: each candidate that was written, with `name`, `state` (how its tests went), `paths` (the files
    that it changes) and `tree` (the hash of all its files)."""
    found, ledger = base.read(context.extra), follow(context.scene)
    return [_describe(ledger, version, found) for name in ledger.versions if (version := ledger.standing(name))]


@exhibit
def standing_candidates(context: PromptContext) -> Iterator[Exhibit]:
    """Each candidate as it is when a person is asked: how its tests went, its scores, files, hash, and the change."""
    found, ledger = base.read(context.extra), follow(context.scene)
    for one in candidates(context):
        version = ledger.standing(one["name"])
        assert version
        diff = patch.write(lay(None, found), lay(version, found)).decode("utf-8", "replace")
        cut = diff if len(diff) <= LONGEST_DIFF else f"{diff[:LONGEST_DIFF]}\n… (cut)"
        tests, failing = _count_tests(ledger, version)
        scores = dict(_score(context, ledger, version, lay(version, found), one["paths"]))
        yield Exhibit(one["name"], one["state"], one["tree"], tuple(one["paths"]), cut, tests, failing, scores)


def _count_tests(ledger: Ledger, version: Version) -> tuple[dict[str, int], tuple[str, ...]]:
    """How many visible tests passed and failed, by the newest trial of each bench, and which failed."""
    ran = (one.turn for one in trials_of(ledger, version) if one.ran_tests and kind_of(one.turn.seat) == VISIBLE)
    newest = list({turn.seat.name: turn for turn in ran if {PASSED, FAILED} <= {*turn.asked}}.values())
    passed, failed = ([id for turn in newest for id in ids_of(turn, answer)] for answer in (PASSED, FAILED))
    return {PASSED: len(passed), FAILED: len(failed)} if newest else {}, tuple(dict.fromkeys(failed))


def _score(
    context: PromptContext, ledger: Ledger, version: Version, tree: Mapping[str, bytes], paths: Iterable[str]
) -> Iterator[tuple[str, float]]:
    """What benches measured, how complex the changed files are, and the rubric of who judged this version."""
    for check in trials_of(ledger, version):
        yield from _numbers({name: check.turn.answers.get(name) for name in COUNTED})
    if complexity := measure_complexity({path: tree[path] for path in paths if path in tree})["complexity"]:
        yield "complexity", complexity
    later = islice(dropwhile(lambda turn: turn.id != version.id, context.scene.turns), 1, None)
    for turn in later:
        if turn.seat.of == version.candidate and not runs(turn.seat):
            yield from ((f"judged {name}", value) for name, value in _numbers(turn.answers))


def _numbers(answers: Mapping[str, object]) -> Iterator[tuple[str, float]]:
    for name, value in answers.items():
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            yield name, float(value)


def _describe(ledger: Ledger, version: Version, found: base.Base) -> dict[str, Any]:
    tree = lay(version, found)
    changed = patch.changed(lay(None, found), tree)
    verdicts = [check.verdict for check in ledger.checks.get(version.candidate, []) if check.version == version]
    state = (
        "its tests pass" if ledger.is_green(version) else f"its tests do not pass ({', '.join(verdicts) or 'not run'})"
    )
    if later := find_later(changed):
        state += f"; read first what runs outside of the sandbox: {join_words(later)}"
    return {"name": version.candidate, "state": state, "paths": changed, "tree": base.hash_files(tree)}
