"""What `council cost` says of machines, of seats `of` a group, of trees and of `still`."""

from __future__ import annotations

from pathlib import Path

import pytest

from council.checks.cost import Rates, Row, bound_steps, sum_bounds
from council.protocols.casting import MOST_CAST
from council.workflow.loader import load
from tests.helpers import User

RATES = {tier: Rates("one", 1.0, 5.0, 1000) for tier in ("sonnet", "haiku", "opus")}
SEATS = "team: [a, b, c], benches: {tester: {of: team, speaker: shelf}}"
LOOP = """
  - name: loop
    rounds: [2, 4]
    steps:
      - {name: draft, order: {still: {of: trial}}, sees: {mine: [draft, trial]}, reply: {solution: files}}
      - {name: trial, seats: benches}
"""


def rows(phases: str, seats: str = SEATS, topic: str = "") -> dict[str, Row]:
    text = f"---\nname: tiny\nseats: {{{seats}}}\nphases:\n{phases}\n---\n"
    return {row.step: row for row in bound_steps(load(text, "tiny.md"), topic, RATES)}


def test_machines_make_no_calls_and_their_turns_are_counted_as_runs() -> None:
    found = rows(LOOP)
    trial = found["trial"]
    assert (trial.runs, trial.least, trial.most, trial.again) == (3 * 4, 0, 0, 0)
    assert (trial.input, trial.output, trial.usd, trial.bound, trial.most_input, trial.most_output) == (0,) * 6
    assert found["draft"].runs == 0
    assert sum_bounds(found.values()).calls == found["draft"].most + found["draft"].again


def test_still_is_bounded_by_all_seats_and_promises_only_the_first_round() -> None:
    draft = rows(LOOP)["draft"]
    assert (draft.least, draft.most, draft.again) == (3, 3 * 4, 3 * 4)
    assert rows("  - {name: p, rounds: [2, 4]}")["p"].least == 6
    later = LOOP + "  - {name: mend, order: {still: {of: loop}}}"
    assert (rows(later)["mend"].least, rows(later)["mend"].most) == (0, 3)


def test_what_a_bench_says_is_read_and_so_it_is_in_the_bound() -> None:
    blind = rows(LOOP.replace("{mine: [draft, trial]}", "nothing"))["draft"]
    own = rows(LOOP.replace("{mine: [draft, trial]}", "own"))["draft"]
    assert blind.most_input < own.most_input < rows(LOOP)["draft"].most_input


def test_a_seat_of_a_group_is_one_for_each_of_its_members() -> None:
    seats = "team: [a, b, c], critics: {critic: {of: team}}, one: {judge: {of: b}}"
    found = rows("  - {name: p, seats: critics}\n  - {name: q, seats: [critics, one]}", seats)
    assert (found["p"].most, found["q"].most) == (3, 4)


def test_a_seat_of_those_who_are_cast_is_one_for_each_that_may_be() -> None:
    phases = """
  - {name: ask, seats: a, reply: {who: list}}
  - {name: talk, seats: {from: ask.who}}
  - {name: coach, seats: coaches}
"""
    found = rows(phases, "m: [a, b], coaches: {coach: {of: ask}}")
    assert (found["talk"].most, found["coach"].most) == (MOST_CAST, MOST_CAST)


def test_the_standing_versions_are_one_turn_for_each_seat() -> None:
    judge = "  - {{name: judge, seats: a, sees: {}}}"
    standing, all_ = (rows(LOOP + judge.format(sees))["judge"].most_input for sees in ("standing", "so_far"))
    blind = rows(LOOP + judge.format("nothing"))["judge"].most_input
    turn = all_ - blind
    assert 0 < standing - blind < turn / 3, "of four rounds"
    both = rows(LOOP + judge.format("[standing, own]"))["judge"].most_input
    assert standing < both < all_ + standing
    assert rows(LOOP + judge.format("[standing, {anonymous: own}]"))["judge"].most_input == all_


@pytest.mark.parametrize("order", ["tree", "{tree: up}"])
def test_in_a_tree_each_seat_may_read_all_that_the_others_say(order: str) -> None:
    seats = "m: [root, {a: {under: root}}, {b: {under: root}}, {deep: {under: a}}]"
    one, tree = (rows(f"  - {{name: p, order: {how}, sees: [up, down]}}", seats)["p"] for how in ("sequential", order))
    assert (tree.least, tree.most) == (4, 4)
    assert tree.most_input == one.most_input, "no tree can show more than all others"
    assert tree.most_input > rows("  - {name: p, sees: [up, down]}", seats)["p"].most_input


def test_the_command_prints_runs_beside_calls(tmp_path: Path) -> None:
    user = User(tmp_path)
    mixed = "  - {name: both, seats: [team, benches]}"
    path = user.write("tiny.md", f"---\nname: tiny\nseats: {{{SEATS}}}\nphases:\n{LOOP}{mixed}\n---\n")
    lines = user.council("cost", path).out.splitlines()
    assert [line.split()[2:5] for line in lines if line.startswith("loop: trial")] == [["12", "runs", "-"]]
    assert [line.split()[1:6] for line in lines if line.startswith("both")] == [["3", "+", "3", "runs", "-"]]
    assert "At most 15 runs on this machine, which cost nothing." in lines
    found = user.council("cost", path, "--json").json
    assert (found["totals"]["runs"], found["totals"]["most"]) == (15, 15)
