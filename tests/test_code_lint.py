"""What lint says of code: seats about others' work, trees, benches, trials, and hidden tests that stay hidden."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from council.checks.hints import find_hints
from council.checks.lines import line_of
from council.checks.lint import Known, lint
from council.workflow.loader import load
from tests.helpers import User

VERDICT = "reply: {tests: pass | fail | tampered | timeout | unknown}"
HIDDEN = "hidden: {of: team, speaker: shell, run: pytest, tests: hidden}"
SEATS = "team: [a, b], benches: {tester: {of: team, speaker: shell, run: pytest}}, last: {HIDDEN}, attackers: red"
DRAFT = "{name: draft, reply: {solution: files}}"
TRIAL = f"{{name: trial, seats: benches, {VERDICT}}}"
FINAL = f"{{name: final, seats: last, {VERDICT}}}"
RANK = "{name: rank, reply: {ranking: list}, until: {chosen: {vote: {field: ranking, among: {passes: trial}}}}}"
BENCHES = frozenset({"pytest", "ruff"})


def text(*phases: str, seats: str = "", options: str = "{after: none}") -> str:
    listed = "\n".join(f"  - {phase}" for phase in phases)
    seated = (seats or SEATS).replace("HIDDEN", HIDDEN)
    return f"---\nname: tiny\nseats: {{{seated}}}\noptions: {options}\nphases:\n{listed}\n---\n"


def wrong(*phases: str, seats: str = "", options: str = "{after: none}") -> list[str]:
    found = lint(load(text(*phases, seats=seats, options=options), "tiny.md"), Known(benches=BENCHES))
    return [one.removeprefix("tiny: ") for one in found]


def loop(*steps: str, more: str = "rounds: [1, 3]") -> str:
    return f"{{name: loop, {more}, steps: [{', '.join(steps)}]}}"


WHOLE = (loop(DRAFT, TRIAL), RANK, FINAL, "{name: synthesis, seats: a, sees: final}")


def test_hidden_tests_last_are_right() -> None:
    assert wrong(*WHOLE) == []


NO_WRITER = "it writes files after the hidden trial"


@pytest.mark.parametrize("sees", ["so_far", "mine", "standing", "gists", "nothing", "{mine: [draft]}", "judge"])
@pytest.mark.parametrize("answer", ["solution", "suite", "attack", "anything"])
def test_nobody_writes_after_a_hidden_trial_whatever_they_see(sees: str, answer: str) -> None:
    """What followed from it is enough: that a step is reached, or whom an order lets speak."""
    later = f"{{name: later, sees: {sees}, reply: {{{answer}: files}}}}"
    found = wrong(loop(DRAFT, TRIAL), FINAL, "{name: judge, seats: red, sees: final}", later)
    assert [one for one in found if NO_WRITER in one] == [
        'phase later, step later: reply: it writes files after the hidden trial "final", whose result must not reach '
        "anyone who writes code; run hidden tests last"
    ]


@pytest.mark.parametrize(
    ("phases", "why"),
    [
        # a hidden trial in a phase that repeats is before each of its steps
        ((loop(DRAFT, TRIAL, FINAL),), 'phase loop, step draft: reply: it writes files after the hidden trial "final"'),
        ((loop(DRAFT, TRIAL, FINAL),), "phase loop, step final: hidden tests run once, and this phase may repeat"),
        ((loop(DRAFT, FINAL, "{name: grant, seats: human, reply: {grant: 0-2}}", more="rounds: 1"),), NO_WRITER),
        ((loop(DRAFT, FINAL, more="rounds: [1, times]"),), "hidden tests run once"),
        # votes
        ((loop(DRAFT, TRIAL), FINAL, RANK), 'phase rank, step rank: reply: ranking: it votes after the hidden trial'),
        # a bench that is seated together with others is still one
        (
            (f"{{name: mixed, seats: [benches, last], {VERDICT}}}", DRAFT),
            'phase draft, step draft: reply: it writes files after the hidden trial "mixed"',
        ),
        # what benches answer
        (("{name: trial, seats: benches}",), "reply: the bench tester also says pass, fail, tampered, timeout and unk"),
        (
            ("{name: trial, seats: benches, reply: {tests: pass | fail}}",),
            "phase trial, step trial: reply: the bench tester also says tampered, timeout and unknown of the tests; "
            "write `tests: pass | fail | tampered | timeout | unknown`",
        ),
        (("{name: trial, seats: benches, reply: {tests: text}}",), "also says pass, fail, tampered, timeout"),
        ((f"{{name: claim, {VERDICT}}}",), "reply: tests: only a bench says how tests went, and a is none"),
        ((f"{{name: both, seats: [benches, a], {VERDICT}}}",), "and a is none; rename the answer"),
        # types of what the program reads
        (("{name: p, reply: {solution: text}}",), "reply: solution: the program reads it, so it must be of the type"),
        (("{name: p, reply: {suite: code}}",), "reply: suite: the program reads it, so it must be of the type"),
        (("{name: p, reply: {attack: list}}",), "reply: attack: the program reads it, so it must be of the type"),
        # trials that are not there
        ((DRAFT, "{name: r, order: {still: {of: trail}}}", TRIAL), 'order: still: the phase or step "trail" doe'),
        ((DRAFT, TRIAL, "{name: r, sees: {mine: [trail]}}"), 'sees: mine: the phase or step "trail" does not exist'),
        ((DRAFT, TRIAL, "{name: r, sees: {anonymous: [{up: [trail]}]}}"), 'sees: up: the phase or step "trail"'),
        ((DRAFT, TRIAL, "{name: r, when: {passes: trail}}"), 'when: passes: the phase or step "trail" does not exist'),
        (
            (DRAFT, TRIAL, "{name: r, reply: {x: list}, until: {c: {vote: {field: x, among: {passes: trail}}}}}"),
            'until: c: passes: the phase or step "trail" does not exist; did you mean "trial"?',
        ),
        ((DRAFT, TRIAL, "{name: r, when: {passes: draft}}"), 'passes: no bench tries candidates in "draft"; '),
        ((DRAFT, "{name: r, order: {still: {of: draft}}}"), 'no bench tries candidates in "draft"; give a seat `run`'),
        ((DRAFT, "{name: r, order: {still: {of: trial}}}", TRIAL), 'order: "trial" comes later'),
        # attacks that nobody makes or runs
        ((loop(DRAFT, TRIAL, more="rounds: 3, until: {hard: dry}"),), "dry: no step of this phase asks for `attack"),
        (
            (loop("{name: hit, seats: red, reply: {attack: files}}", TRIAL, more="rounds: 3, until: {hard: dry}"),),
            "phase loop: until: hard: dry: no bench of this phase runs attacks; add one with `tests: attack`",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be(phases: tuple[str, ...], why: str) -> None:
    found = wrong(*phases, options="{after: none, times: 1}")
    assert any(why in one for one in found), found


@pytest.mark.parametrize(
    ("seats", "why"),
    [
        (
            "m: [a, {t: {of: tean}}], team: b",
            'seat t: of: "tean" is not a seat, a group or a step that casts seats',
        ),
        ("m: [a, {t: {of: m}}]", "seat t: of: a seat cannot be about its own work in this way"),
        ("m: [a, {t: {of: t}}]", "seat t: of: a seat cannot be about its own work in this way"),
        ("m: a, x: {t: {of: a}}, y: {u: {of: t}}", 'seat u: of: "t" is itself about the work of "a"; write `of: a`'),
        ("m: [a, b], x: {t: {of: m}}, y: t-a", 'seat t: of: it would stand for the seat "t-a", and another seat has t'),
        ("m: [a, {b: {under: aa}}]", 'seat b: under: there is no seat "aa"; did you mean "a"?'),
        ("m: [a, {b: {under: m}}]", 'seat b: under: there is no seat "m"'),
        ("m: {a: {under: a}}", "seat a: under: it is under itself: a under a"),
        (
            "m: [{a: {under: c}}, {b: {under: a}}, {c: {under: b}}]",
            "seat b: under: it is under itself: b under a",
        ),
        ("m: {a: {run: pytest}}", "seat a: run: only a machine runs a bench"),
        ("m: {a: {run: pytest, speaker: human}}", "seat a: run: only a machine runs a bench"),
        ("m: {a: {run: pytest, speaker: shelf}}", "seat a: run: only a machine runs a bench"),
        (
            "m: a, t: {t: {run: pytets, speaker: shell}}",
            'run: "pytets" is neither a bench nor an option that names one',
        ),
        (
            "m: a, t: {t: {run: before, speaker: shell}}",
            'run: "before" is neither a bench nor an option that names one',
        ),
        (
            "m: a, t: {t: {run: broken, speaker: shell}}",
            'run: the option "broken" names the bench "ruf", which',
        ),
        (
            "m: a, t: {t: {run: pytest, speaker: shell, tests: hiden}}",
            'no bench runs "hiden" tests; did',
        ),
        ("m: {a: {tests: hidden}}", "seat a: tests: only a bench runs tests"),
    ],
)
def test_what_is_wrong_with_a_seat(seats: str, why: str) -> None:
    found = wrong("{name: p}", seats=seats, options="{after: none, broken: 'pytest, ruf'}")
    assert any(why in one for one in found), found


@pytest.mark.parametrize("named", ["pytest", "after", "several"])
def test_a_bench_may_be_named_by_an_option(named: str) -> None:
    seats = f"m: a, t: {{t: {{run: {named}, of: a, speaker: shell}}}}"
    found = wrong("{name: p}", seats=seats, options="{after: none, several: 'pytest, ruff'}")
    assert [one for one in found if "run" in one] == []


def test_a_seat_may_be_about_the_seats_that_a_step_casts() -> None:
    phases = ("{name: ask, seats: a, reply: {who: list}}", "{name: talk, seats: {from: ask.who}}")
    assert wrong(*phases, seats="m: [a, b], coach: {coach: {of: ask}}") == []


def test_nobody_claims_a_circle_that_only_leads_into_one() -> None:
    found = wrong("{name: p}", seats="m: [{a: {under: b}}, {b: {under: a}}, {c: {under: a}}]")
    assert [one.partition(":")[0] for one in found] == ["seat a", "seat b"]


@pytest.mark.parametrize(
    ("broken", "line"),
    [
        ("      of: taem", 9),
        ("      tests: hiden", 9),
        ("      under: nobody", 9),
    ],
)
def test_a_fault_of_a_seat_has_the_line_of_its_key(broken: str, line: int) -> None:
    seats = f"  team: [a, b]\n  more:\n  - tester:\n      speaker: shell\n      run: pytest\n{broken}"
    program = f"---\nname: t\nseats:\n{seats}\nphases: [{{name: p}}]\n---\n"
    found = [one.removeprefix("t: ") for one in lint(load(program, "t.md"))]
    assert [line_of(one, program) for one in found if one.startswith("seat")] == [line]


def test_lint_says_where(tmp_path: Path) -> None:
    user = User(tmp_path)
    path = user.write("tiny.md", text(loop(DRAFT, TRIAL), FINAL, "{name: more, reply: {solution: files}}"))
    ended = user.council("lint", path)
    assert re.search(r"tiny\.md:8: phase more, step more: reply: it writes files after the hidden trial", ended.out)


def hints(*phases: str, seats: str = "") -> list[str]:
    return find_hints(load(text(*phases, seats=seats), "tiny.md"), set())


def test_an_option_that_names_a_bench_is_read_and_a_bench_has_a_group() -> None:
    assert [one for one in hints(*WHOLE) if "after" in one] == [
        "options: after: nothing reads it; use it in a rule, {option: after}, or remove it"
    ]
    seats = "m: a, benches: {tester: {of: m, speaker: shell, run: after}}"
    found = hints(f"{{name: p, seats: tester, {VERDICT}}}", seats=seats)
    assert [one for one in found if "after" in one or "benches" in one] == []


@pytest.mark.parametrize("words", ["order: tree", "sees: up", "sees: {anonymous: [{beside: p}]}"])
def test_a_tree_without_leads_is_noted(words: str) -> None:
    phase = f"{{name: p, {words}}}"
    assert any("no seat is under another" in one for one in hints(phase, seats="m: [a, b]"))
    assert not any("under another" in one for one in hints(phase, seats="m: [a, {b: {under: a}}]"))
    cast = ("{name: p, reply: {who: list}}", f"{{name: q, seats: {{from: p.who}}, {words}}}")
    assert not any("under another" in one for one in hints(*cast, seats="m: [a, b]"))
