"""The versions of each candidate, the trials of them, and which version is current. All of it follows from the turns.

A candidate is named after the seat that writes it. Others write versions of it too, if they are `of` that seat.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from council.candidates.base import Base
from council.candidates.diffs import parse_diff
from council.candidates.files import Files
from council.candidates.paths import find_clash
from council.candidates.steering import explain_steering
from council.engine.scene import Moment, Scene, Turn
from council.replies.write import unescape
from council.workflow import declare
from council.workflow.model import Seat
from council.workflow.types import Unreadable

SOLUTION = declare.answer("solution", "a version of the seat's candidate, or of the one it is `of`", types=("files",))
SUITE = declare.answer("suite", "visible tests, written before the code", types=("files",))
ATTACK = declare.answer("attack", "tests meant to fail on a candidate", types=("files",))
TESTS = declare.answer("tests", "what a bench says of a candidate: pass, fail, tampered, timeout or unknown")
PASSED = declare.answer("passed", "from a bench: the ids of the tests that passed")
FAILED = declare.answer("failed", "from a bench: the ids of the tests that failed")
COMPLAINTS = "findings"  # what a checker found wrong
GREEN = "pass"
RED = "fail"
TAMPERED = "tampered"
UNKNOWN = "unknown"
VERDICTS = (GREEN, RED, TAMPERED, "timeout", UNKNOWN)
VISIBLE, HIDDEN, ATTACKS, MUTANTS = "visible", "hidden", "attack", "mutants"  # the tests that a bench runs
TEST_FILE = re.compile(r"(?:^|/)(?:test_[^/]*|[^/]*[._-](?:test|spec|tests)\.\w+|[^/]*_test\.\w+)$")
NUMBERED = re.compile(r"(?:[._-](?:test|spec|tests))?\.\w+$")  # where the name of a test file gets a number
KINDS = (VISIBLE, HIDDEN, ATTACKS, MUTANTS)
# Facts of a base: the paths that members were not given, each with the reason; and those of the files with that mode.
LEFT_OUT, EXECUTABLE = "left_out", "executable"


def runs(seat: Seat) -> str:
    """What a machine runs for this seat; empty if it is not a bench. Only benches are believed about tests."""
    return str(seat.attributes.get("run") or "")


def bench_of(turn: Turn) -> str:
    """The bench that ran for this turn: the seat may name only an option."""
    return str((turn.said.trial or {}).get("bench") or runs(turn.seat))


def kind_of(seat: Seat) -> str:
    """Which tests the seat's bench runs."""
    return str(seat.attributes.get("tests") or VISIBLE)


@dataclass(frozen=True)
class Version:
    """One version of a candidate: the files of a turn, written on the version that stood before its step began."""

    candidate: str
    number: int
    turn: Turn = field(compare=False)
    files: Files = field(compare=False)
    parent: Version | None = None

    @property
    def id(self) -> str:
        return self.turn.id


@dataclass(frozen=True)
class CheckedVersion:
    """A bench's turn about a candidate, the version that it tried (None for the unchanged tree), and the suite that
    counted then.
    """

    turn: Turn
    candidate: str
    version: Version | None
    verdict: str
    suite: Turn | None

    @property
    def green(self) -> bool:
        return self.verdict == GREEN

    @property
    def ran_tests(self) -> bool:
        """Whether it ran tests. What a checker finds goes to the members, and makes no version red."""
        return PASSED in self.turn.asked or COMPLAINTS not in self.turn.asked


@dataclass(frozen=True)
class Attack:
    """Tests that are meant to fail on a candidate. Its files get the attack's number, because attackers use the same
    names again."""

    turn: Turn
    number: int

    @property
    def names(self) -> dict[str, str]:
        """The path of each of its files, as written and as a bench gets it."""
        return {
            path: NUMBERED.sub(rf"_attack{self.number}\g<0>", path) for path in list_paths(self.turn.answers[ATTACK])
        }

    def has_test(self, id: str) -> bool:
        """Whether this is a test of it. A file that cannot be imported is named itself, and shows no weakness."""
        packages = [path.rpartition("/")[0] for path in self.names.values() if path.endswith("_test.go")]
        in_go = any(id.startswith(f"{package}::") for package in packages)  # where tests are named after a package
        return in_go or (belongs(id, self.names.values()) and id not in self.names.values())

    def take(self, project: Base) -> dict[str, bytes]:
        """Its test files, as a bench gets them."""
        return {self.names[path]: data for path, data in take_tests(self.turn, ATTACK, project).items()}


@dataclass
class Ledger:
    """All candidates of a scene. What a turn is about is judged by what was there before its step of the round began,
    so the turns of a step do not depend on each other.

    `suites` have the benches' turns about each on the unchanged tree. Of all `attacks`, `pending` are those that no
    bench has tried yet, `accepted` those that ran red.
    """

    versions: dict[str, list[Version]] = field(default_factory=dict)
    checks: dict[str, list[CheckedVersion]] = field(default_factory=dict)
    suites: list[tuple[Turn, list[Turn]]] = field(default_factory=list)
    attacks: dict[str, list[Attack]] = field(default_factory=dict)
    pending: dict[str, list[Attack]] = field(default_factory=dict)
    accepted: dict[str, list[Attack]] = field(default_factory=dict)

    @property
    def candidates(self) -> tuple[str, ...]:
        """Every candidate that was written or tried, in the order in which each first was."""
        return tuple(dict.fromkeys([*self.versions, *self.checks]))

    def newest(self, candidate: str) -> Version | None:
        return next(reversed(self.versions.get(candidate, [])), None)

    def standing(self, candidate: str) -> Version | None:
        """The newest version whose visible trial passed, else the newest version."""
        green = [version for version in self.versions.get(candidate, []) if self.is_green(version)]
        return green[-1] if green else self.newest(candidate)

    def is_green(self, version: Version) -> bool:
        """Whether the newest visible trial of this version by each bench passed, and there is one."""
        by_bench = {
            check.turn.seat.name: check.green
            for check in self.checks.get(version.candidate, [])
            if check.version == version and kind_of(check.turn.seat) == VISIBLE and check.ran_tests
        }
        return bool(by_bench) and all(by_bench.values())

    def judged(self, seat: Seat) -> Version | None:
        """The version that this bench tries: the newest in a visible trial, else the standing one."""
        return self.newest(seat.about) if kind_of(seat) == VISIBLE else self.standing(seat.about)

    def latest(self, candidate: str, place: str) -> CheckedVersion | None:
        """The newest trial of a candidate in the phase or step of that name."""
        made = [one for one in self.checks.get(candidate, []) if place in (one.turn.phase, one.turn.step)]
        return made[-1] if made else None

    def suite(self, candidate: str) -> tuple[Turn | None, tuple[str, ...]]:
        """The newest suite that counts for a candidate, and the ids of its tests that are void: those that passed on
        the unchanged tree. If all passed there, or it tampered with the bench, the suite is discarded."""
        for suite, trials in reversed(self.suites):
            if suite.seat.of not in ("", candidate):
                continue
            passed, failed = (
                tuple(
                    id
                    for trial in trials
                    for id in ids_of(trial, answer)
                    if belongs(id, list_paths(suite.answers[SUITE]))
                )
                for answer in (PASSED, FAILED)
            )
            tampered = any(trial.answers.get(TESTS) == TAMPERED for trial in trials)
            if not tampered and (failed or not passed):
                return suite, tuple(dict.fromkeys(id for id in passed if id not in failed))
        return None, ()


def follow(scene: Scene, until: Moment | None = None) -> Ledger:
    """The ledger of all candidates up to this scene; with `until`, up to where that step of that round began."""
    ledger = Ledger()
    for turns in scene.moments():
        if turns[0].moment == until:
            break
        before = {turn.seat.name: (ledger.standing(turn.seat.about), ledger.judged(turn.seat)) for turn in turns}
        pending = {about: [*attacks] for about, attacks in ledger.pending.items()}
        for turn in turns:
            standing, judged = before[turn.seat.name]
            if runs(turn.seat):
                _add_check(ledger, turn, judged, pending.get(turn.seat.about, []))
            else:
                _add_files(ledger, turn, standing)
    return ledger


def _add_files(ledger: Ledger, turn: Turn, standing: Version | None) -> None:
    about = turn.seat.about
    if _wrote(turn, SOLUTION):
        made = ledger.versions.setdefault(about, [])
        made.append(Version(about, len(made) + 1, turn, turn.answers[SOLUTION], standing))
    if _wrote(turn, SUITE):
        ledger.suites.append((turn, []))
    if _wrote(turn, ATTACK):
        attack = Attack(turn, len(ledger.attacks.setdefault(about, [])) + 1)
        ledger.attacks[about].append(attack)
        ledger.pending.setdefault(about, []).append(attack)


def _wrote(turn: Turn, answer: str) -> bool:
    return isinstance(turn.answers.get(answer), Files) and bool(turn.answers[answer])


def _add_check(ledger: Ledger, turn: Turn, judged: Version | None, attacks: list[Attack]) -> None:
    about = turn.seat.about
    if TESTS not in turn.asked:
        return
    if not turn.seat.of:
        if ledger.suites:
            ledger.suites[-1][1].append(turn)
        return
    verdict = str(turn.answers.get(TESTS, UNKNOWN))
    if kind_of(turn.seat) == ATTACKS:
        red = [one for one in attacks if any(one.has_test(id) for id in ids_of(turn, FAILED))]
        ledger.accepted.setdefault(about, []).extend(one for one in red if one not in ledger.accepted[about])
        ledger.pending[about] = [one for one in ledger.pending.get(about, []) if one not in attacks]
        if attacks and not red and verdict == RED:
            verdict = GREEN  # what failed is the attack: it has no tests, or cannot be imported
    ledger.checks.setdefault(about, []).append(CheckedVersion(turn, about, judged, verdict, ledger.suite(about)[0]))


def ids_of(turn: Turn, answer: str) -> tuple[str, ...]:
    """The ids of tests in a bench's answer, as the bench said them."""
    given = turn.answers.get(answer, ())
    return tuple(unescape(str(id)) for id in given) if isinstance(given, tuple) else ()


def belongs(id: str, paths: Iterable[str]) -> bool:
    """Whether a test with this id is in one of these files: `tests/test_a.py::test_b`, or `tests.test_a.A.test_b`."""
    for path in paths:
        module = re.sub(r"\.\w+$", "", path).replace("/", ".")
        if id in (path, module) or id.startswith((f"{path}:", f"{path} ", f"{module}.")):
            return True
    return False


def list_paths(files: Files) -> tuple[str, ...]:
    """The files that it writes or deletes."""
    return (*files.written, *(change.path for change in (parse_diff(files.diff) if files.diff else ())))


# --- trees


def lay(version: Version | None, project: Base) -> dict[str, bytes]:
    """The tree of a version: the project's with the files of all versions that it was written on, and its own.

    Where the project has a test, a member's file is left out. Files that do not fit change nothing, and `find_misfit`
    says why.
    """
    return _lay(version, project)[0]


def find_misfit(version: Version | None, project: Base) -> str:
    """Why the files of this version do not fit its tree, as a clause; empty if they do."""
    return _lay(version, project)[1]


def _lay(version: Version | None, project: Base) -> tuple[dict[str, bytes], str]:
    chain: list[Version] = []
    while version is not None:
        chain.append(version)
        version = version.parent
    tree, why = dict(project.tree), ""
    for one in reversed(chain):
        try:
            laid = one.files.lay_on(tree, project.tree.keys() - tree.keys())
            why = explain_misfit(laid, project)
        except Unreadable as wrong:
            laid, why = tree, str(wrong)
        tree = tree if why else laid
    tests = {*project.visible, *project.hidden}
    return {path: data for path, data in tree.items() if path not in tests}, why


def explain_misfit(laid: Mapping[str, bytes], project: Base) -> str:
    """Why a tree cannot be tried on this project, as a clause: it would choose how it is tested, or it has a file where
    the project has something else. Empty if it can."""
    changed = sorted(path for path in laid.keys() | project.tree.keys() if laid.get(path) != project.tree.get(path))
    if not changed:
        return ""
    before = {**project.tree, **project.visible}
    if why := next((why for path in changed if (why := explain_steering(path, before, laid.get(path)))), ""):
        return why
    left_out = project.facts.get(LEFT_OUT) or {}
    if lost := next((path for path in changed if path in left_out), ""):
        return f"{lost} is {left_out[lost]} in the project, so no member may write it"
    new = sorted(laid.keys() - before.keys() - project.hidden.keys())
    if clash := find_clash(new, [*project.visible, *left_out]):
        return clash
    taken = (path for path in new if find_clash([path], project.hidden))  # whose names members must not learn
    return next((f"there can be no file {path} in this project" for path in taken), "")


# --- tests


@dataclass(frozen=True)
class TrialTests:
    """The test files that a bench runs, and the ids of those that do not count."""

    files: Mapping[str, bytes]
    void: tuple[str, ...] = ()


def visible_tests(ledger: Ledger, candidate: str, project: Base) -> TrialTests:
    """What a visible trial of a candidate runs: the project's visible tests, the newest suite that counts, and the
    attacks that ran red. The project's own tests always win."""
    suite, void = ledger.suite(candidate)
    files = take_tests(suite, SUITE, project) if suite else {}
    for attack in ledger.accepted.get(candidate, []):
        files |= attack.take(project)
    return TrialTests({**files, **project.visible}, void)


def attack_tests(ledger: Ledger, candidate: str, project: Base) -> dict[str, bytes]:
    """The files of the attacks on a candidate that no bench has tried yet."""
    files: dict[str, bytes] = {}
    for attack in ledger.pending.get(candidate, []):
        files |= attack.take(project)
    return files


def take_tests(turn: Turn, answer: str, project: Base) -> dict[str, bytes]:
    """The test files of a turn. A file that is no test, that belongs to the project, or that cannot be beside the
    project's files is left out: with it, a test author could turn every candidate red, or green."""
    files: Files = turn.answers[answer]
    try:
        laid = files.lay_on(project.tree)
    except Unreadable:
        return {}
    new = {path: laid[path] for path in sorted(laid.keys() - project.tree.keys()) if TEST_FILE.search(path)}
    if not explain_misfit({**project.tree, **new}, project):
        return new
    return {path: data for path, data in new.items() if not explain_misfit({**project.tree, path: data}, project)}
