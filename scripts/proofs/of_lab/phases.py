"""A session of the workflow `code` goes through every phase, and its files are enough to go through them again."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from prove import Outcome

from council.candidates.results import find_winner
from council.candidates.versions import follow
from council.engine.planner import Plan
from council.record import session
from tests import phases
from tests.fakeapi import FakeApi
from tests.helpers import User, picture
from tests.repositories import git

PROMISE = "every phase of code, end to end"
BY_RUN, BY_HAND = "run, approved, and continued", "begun by hand, finished by run"
RED_BLUE, EVOLVE = "redblue", "evolve"  # as the workflows
OPTIONS = ("-o", "clarify=on", "-o", "gates", "-w", "code")
APPROVE = ("10-approval/human", "--answer", "approval=approve", "--answer", "reason=I read it.")
TYPED = {BY_RUN: [], BY_HAND: [f"round-{number}.md" for number in range(1, 6)]}  # an approval is in no round
ONE_TEST = "from clamp import clamp\n\n\ndef test_above():\n    assert clamp(5, 1, 3) == 3\n"
WRONG_TEST = f"{phases.SUITE}\n\ndef test_wrong():\n    assert clamp(0, 1, 3) == 0\n"
STRONG = f"{phases.SUITE}\n\n{phases.ATTACK}\n\ndef test_same_bounds():\n    assert clamp(2, 2, 2) == 2\n"
SMALL: dict[str, tuple[dict[str, str], dict[str, bytes], list[str], str]] = {
    RED_BLUE: (
        {}, {"tests/test_clamp.py": phases.SUITE.encode()},
        ["01-attempts-r01-1-draft/generator", "02-attacks-r01-1-attack/red-generator",
         "02-attacks-r01-3-defend/generator", "02-attacks-r02-1-attack/red-generator"],
        "complete (hardened)",
    ),
    EVOLVE: (  # the first tests miss most mistakes, the second fail on the candidate itself
        {
            "*-suite/*": phases.answers(suite=phases.file(ONE_TEST, "tests/test_clamp.py")),
            "*-draft/generator": phases.file(phases.DEFENDED),
            "*-r01-1-strengthen/*": phases.answers(missed="none", suite=phases.file(WRONG_TEST, "tests/test_clamp.py")),
            "*-r02-1-strengthen/*": phases.answers(missed="none", suite=phases.file(STRONG, "tests/test_clamp.py")),
        },
        {},
        ["01-tests-first-r01-1-suite/test-author-generator", "02-attempts-r01-1-draft/generator",
         "04-evolution-r01-1-strengthen/test-author-generator", "04-evolution-r02-1-strengthen/test-author-generator"],
        "complete (strong)",
    ),
}  # fmt: skip
Row = tuple[str, object, object]
GREEN_IN_ROUND = {"generator": 1, "implementer": 2}  # the designer never passes


def parts() -> list[str]:
    return [BY_RUN, BY_HAND, RED_BLUE, EVOLVE]


def prove(part: str) -> Outcome:
    found = hold_small(part) if part in SMALL else hold_whole(part)
    rows = [
        (PROMISE, f"{part}: {what}", str(wanted), str(seen), 1, int(wanted == seen)) for what, wanted, seen in found
    ]
    return Outcome(rows, [f"{part}: {what}: {seen}" for what, wanted, seen in found if wanted != seen])


def hold_whole(part: str) -> list[Row]:
    with tempfile.TemporaryDirectory() as place:
        user = User(Path(place), {"ANTHROPIC_API_KEY": "sk-ant-of-the-tests"})
        hidden, members = phases.make_project(user), phases.Members(user)
        with FakeApi(members) as api:
            hold(user, hidden, members, api.url, by_hand=part == BY_HAND)
        return [*check(user, members), *check_branch(user), *check_files(user, part)]


def hold_small(part: str) -> list[Row]:
    """A session of another workflow: the calls that it makes, and its outcome."""
    with tempfile.TemporaryDirectory() as place:
        user = User(Path(place), {"ANTHROPIC_API_KEY": "sk-ant-of-the-tests"})
        words, files, asked, outcome = SMALL[part]
        hidden, members = phases.make_project(user, files), phases.Members(user, words)
        with FakeApi(members) as api:
            given = ("code", phases.TASK, "-w", part, "--hidden", hidden, "--speaker", "anthropic", "--yes")
            ended = user.council(*given, ANTHROPIC_BASE_URL=api.url)
        return [
            ("its winner is green", 0, ended.code),
            ("nobody is asked more than this", asked, members.asked),
            ("outcome", outcome, f"{user.council('status').out.partition(': ')[2].strip()}"),
            ("verified", 0, user.council("verify").code),
            ("replayed without a sandbox, to the same bytes", [], phases.find_differences(user)),
        ]


def hold(user: User, hidden: Path, members: phases.Members, url: str, by_hand: bool) -> None:
    """Hold the session. By hand: every turn of a model up to the first trial, which council makes itself."""
    speaker = "assistant" if by_hand else "anthropic"
    words = ("code", phases.TASK, *OPTIONS, "--hidden", hidden, "--speaker", speaker, "--yes")
    assert user.council(*words, ANTHROPIC_BASE_URL=url).code == 8  # it waits for a person
    while by_hand and not (user.session / "turns/04-attempts-r01-3-trial").exists():
        for due in user.council("next", "--json").json["due"]:
            recorded = user.council("record", "last", due["turn"], stdin=members.words[due["turn"]])
            assert recorded.code == 0, recorded.err
    if by_hand:
        assert user.council("recover", "--speaker", "anthropic", ANTHROPIC_BASE_URL=url).code == 8
    assert user.council("record", "last", *APPROVE).code == 0
    ended = user.council("recover", "--speaker", "anthropic", ANTHROPIC_BASE_URL=url)
    assert ended.code == 0, ended.err


def check(user: User, members: phases.Members) -> Iterator[Row]:
    """What each phase came to, in the order of the request."""
    found = session.open_(user.session)
    found.read_turns()
    plan = found.plan()
    ledger = follow(plan.scene)
    outcomes = dict(plan.scene.outcomes)
    yield "clarified", "clear", outcomes["clarify"]
    yield "tests first, red on the unchanged project", "red", outcomes["tests-first"]
    suite, void = ledger.suite("generator")
    yield "tests that passed on it do not count", ("tests/test_clamp.py::test_inside",), void
    yield "the suite that passed whole was discarded", 2, suite.round if suite else 0
    yield "reflected", {"implementer": 1, "system-designer": 2}, count(plan, "reflect")
    yield "green", GREEN_IN_ROUND, green_in_round(plan)
    yield (
        "nobody green is asked for another attempt",
        {"generator": 1, "implementer": 2, "system-designer": 3},
        count(plan, "draft"),
    )
    yield "a refactoring that turned red is thrown away", [2, 2], parents(plan)
    yield (
        "attacked: attacks that ran red",
        {"generator": 1, "implementer": 1},
        {name: len(attacks) for name, attacks in ledger.accepted.items()},
    )
    yield "defended until nothing new is found", "hardened", outcomes["attacks"]
    yield "approved by a person", "approved", outcomes["approval"]
    yield "voted among the green", "chosen", outcomes["convergence"]
    winner = find_winner(plan.scene, ledger)
    yield "the winner", ("generator", "elected", True), winner and (winner.version.candidate, winner.why, winner.green)
    yield "calls, none for the same turn", len(set(members.asked)), len(members.asked)
    shown = [path for path in (user.session / "briefs").rglob("*.md") if "test_both" in path.read_text("utf-8")]
    yield "hidden tests seen only by the synthesis", ["14-synthesis"], sorted({path.parent.name for path in shown})
    yield "verified", 0, user.council("verify").code


def count(plan: Plan, step: str) -> dict[str, int]:
    seats = [turn.seat.name for turn in plan.scene.named(step)]
    return {name: seats.count(name) for name in sorted(set(seats))}


def green_in_round(plan: Plan) -> dict[str, int]:
    return {turn.seat.of: turn.round for turn in plan.scene.named("trial") if turn.answers["tests"] == "pass"}


def parents(plan: Plan) -> list[int]:
    """The versions on which the implementer's refactoring and its defense were written."""
    versions = follow(plan.scene).versions["implementer"][2:]
    return [version.parent.number for version in versions if version.parent]


def check_branch(user: User) -> Iterator[Row]:
    applied = user.council("apply", "--yes")
    yield "applied", 0, applied.code
    code = git(user.work, "show", f"council/{user.session.name}:clamp.py").decode()
    yield "the branch has the winner's code", True, code == phases.DEFENDED


def check_files(user: User, part: str) -> Iterator[Row]:
    """The files alone are enough: derived again, and replayed where no sandbox is."""
    before = picture(user.session)
    for path in [*(user.session / "candidates").rglob("*.patch"), *user.session.glob("round-*.md")]:
        path.unlink()
    yield "built again from the record", 0, user.council("build").code
    after = picture(user.session)
    yield "to the same bytes, files", len(before), sum(after.get(name) == was for name, was in before.items())
    differing = phases.find_differences(user)
    yield "replayed without a sandbox: what differs are rounds that say who typed a turn in", TYPED[part], differing
