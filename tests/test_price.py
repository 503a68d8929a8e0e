"""A large sum is asked for once before it is spent; where nobody can be asked, the command says how much it may be."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import pytest

import council
from council.checks import cost
from council.checks.cost import DebateCost, Rates
from council.cli import commands
from council.config import overlays, settings
from council.errors import UsageError
from council.workflow.loader import load
from tests.fakeapi import Answer, FakeApi
from tests.helpers import Table, User, agreed, script
from tests.terminal import Running

KEY = {"ANTHROPIC_API_KEY": "sk-ant-of-the-tests"}
ASKED = r"council: this is likely to cost \$0\.0\d, and at most \$\d+\.\d\d\. Begin\? \[y/N\]: "
REFUSED = (
    r"council: this is likely to cost \$\d+\.\d\d, and at most \$\d+\.\d\d\. That is more than ask_above in Config\.md "
    r"\((\$\d\.\d\d|less than \$0\.01)\), and nobody can be asked here: add --max-cost USD or --yes\n"
    r"nothing was spent"
)
RUN = ("run", "Shall we?", "--speaker", "anthropic")


@pytest.fixture
def user(tmp_path: Path) -> User:
    return User(tmp_path, KEY)


@contextlib.contextmanager
def api_for(user: User, above: object = 0.001, more: str = "") -> Iterator[FakeApi]:
    with FakeApi(Table(user, agreed())) as api:
        user.configure(f"endpoints: {{anthropic: {{base_url: {api.url}}}}}\nask_above: {above}\n{more}")
        yield api


# ---- where nobody can be asked ----

DEBATES = ("run", "debate", "quick", "board", "consensus", "perspectives", "delphi", "planning-1", "tree", "planning")


@pytest.mark.parametrize("name", DEBATES)
def test_without_a_terminal_a_large_sum_needs_a_word(name: str, user: User) -> None:
    with api_for(user) as api:
        ended = user.council(name, "Shall we?", "--speaker", "anthropic")
        assert (ended.code, api.prompts, user.sessions) == (2, [], [])
    assert re.search(REFUSED, ended.err), ended.err
    assert not list(user.home.rglob("*planning*")), "no planning is left behind either"


@pytest.mark.parametrize("way", ["--quiet", "--json", "--no-input"])
def test_a_terminal_that_must_not_be_asked_is_none(way: str, user: User) -> None:
    with api_for(user) as api, Running(user, *RUN, way) as shown:
        code, text = shown.end()
        assert (code, api.prompts, user.sessions) == (2, [], [])
    assert "--max-cost USD or --yes" in text


def test_a_review_of_documents_needs_a_word(user: User) -> None:
    user.write("spec.md", "# A spec\n\nIt has a queue.\n")
    with api_for(user) as api:
        ended = user.council("review", "spec.md", "--speaker", "anthropic")
        assert (ended.code, api.prompts, user.sessions) == (2, [], [])
    assert re.search(REFUSED, ended.err), ended.err


@pytest.mark.parametrize("word", [("--yes",), ("--max-cost", "9")])
def test_with_a_word_it_begins(word: tuple[str, ...], user: User) -> None:
    with api_for(user):
        assert user.council(*RUN, *word).code == 0


def test_every_command_that_may_spend_takes_the_word() -> None:
    every = [entry.load() for entry in commands.built_in().values() if entry.spends]
    every += [commands.from_workflow(name) for name in overlays.workflows()]
    assert len(every) > 15
    assert [one.name for one in every if one and not any("--yes" in param.opts for param in one.params)] == []


def test_python_programs_are_refused_too(user: User) -> None:
    with api_for(user) as api, mock.patch.dict(os.environ, user.environment, clear=True), contextlib.chdir(user.work):
        with pytest.raises(UsageError, match=r"this is likely to cost \$.*add max_cost or yes=True"):
            council.run("Shall we?", speaker="anthropic")
        assert (api.prompts, user.sessions) == ([], [])
        assert council.run("Shall we?", speaker="anthropic", yes=True).state == "complete"
        assert user.council("start", "Shall we?").code == 0
        with pytest.raises(UsageError, match=r"add max_cost or yes=True"):
            council.recover(speaker="anthropic")
        assert council.recover(speaker="anthropic", yes=True).state == "complete"


# ---- on a terminal ----


def test_on_a_terminal_a_yes_begins_it_and_is_asked_for_once(user: User) -> None:
    with api_for(user), Running(user, *RUN) as shown:
        assert "speaker:" not in shown.until(ASKED)
        shown.type("y\n")
        code, text = shown.end()
    assert code == 0, text
    assert "Begin?" not in text


@pytest.mark.parametrize("typed", ["n\n", "\n", "\x04"])
def test_on_a_terminal_anything_else_leaves_nothing_behind(typed: str, user: User) -> None:
    with api_for(user) as api, Running(user, *RUN) as shown:
        shown.until(ASKED)
        shown.type(typed)
        code, text = shown.end()
        assert (code, api.prompts, user.sessions) == (2, [], [])
    assert "not begun: you said no" in text
    assert "nothing was spent" in text


@pytest.mark.parametrize("word", [("--yes",), ("--max-cost", "9")])
def test_on_a_terminal_a_word_is_answer_enough(word: tuple[str, ...], user: User) -> None:
    with api_for(user), Running(user, *RUN, *word) as shown:
        code, text = shown.end()
    assert (code, "Begin?" in text) == (0, False)


def test_a_planning_is_asked_for_once_and_as_a_whole(user: User) -> None:
    """Its sum is that of four councils with their documents. A no leaves no planning."""
    with api_for(user, 1.0) as api, Running(user, "planning", "Shall we?", "--speaker", "anthropic") as shown:
        asked = shown.until(r"Begin\? \[y/N\]: ")
        shown.type("n\n")
        assert (shown.end()[0], api.prompts, user.sessions) == (2, [], [])
    (usd,) = re.findall(r"likely to cost \$(\d+\.\d\d)", asked)
    assert float(usd) > 1
    assert "no plannings yet" in user.council("planning").err


# ---- what is not asked about ----


def test_a_usual_debate_is_below_what_the_kit_asks_about(user: User) -> None:
    with api_for(user, settings.load({"HOME": "/nowhere"}).ask_above):
        assert user.council(*RUN).code == 0


@pytest.mark.parametrize("limit", [0.001, 5.0])
def test_a_limit_in_the_users_configuration_bounds_the_sum(limit: float, user: User) -> None:
    with api_for(user, 0.01, f"limits: {{max_cost: {limit}}}"):
        ended = user.council(*RUN)
    assert ended.code == (3 if limit < 0.01 else 2), ended.err


def test_a_limit_of_the_project_spares_no_question(user: User) -> None:
    user.write(".council/Config.md", "---\nlimits: {max_cost: 0.001}\n---\n")
    with api_for(user, 0.01):
        assert user.council(*RUN).code == 2


def test_what_costs_nothing_is_not_asked_about(user: User) -> None:
    said = script(user, agreed())
    with api_for(user, 0):
        assert user.council("run", "Shall we?", "--speaker", "replay", "--from", said).code == 0
        assert user.council("start", "Shall we?").code == 0


def test_an_unknown_price_is_said_in_one_line_and_not_asked_about(user: User) -> None:
    own = "tiers: {sonnet: {endpoint: anthropic, model: tiny-1}, haiku: {endpoint: anthropic, model: tiny-1}}"
    with api_for(user, 0, own):
        ended = user.council(*RUN)
    assert ended.code == 0, ended.err
    assert ended.err.count("tiny-1 at an unknown price") == 1
    assert "cost unknown" in ended.err


def test_a_project_cannot_raise_it(user: User) -> None:
    user.write(".council/Config.md", "---\nask_above: 900\n---\n")
    with api_for(user) as api:
        ended = user.council(*RUN)
        assert (ended.code, api.prompts) == (2, [])
    assert "a project may set only protocols and limits, not ask_above" in ended.err


@pytest.mark.parametrize("value", ["a lot", "-1", "nan", "[1]"])
def test_what_is_no_amount_is_refused(value: str, user: User) -> None:
    user.configure(f"ask_above: {value}")
    ended = user.council("run", "Shall we?")
    assert (ended.code, "ask_above" in ended.err) == (2, True)


# ---- going on ----


def test_going_on_with_what_was_agreed_to_asks_nothing(user: User) -> None:
    gone = Answer(fault="status", status=429, retry_after="3600")
    with api_for(user) as api:
        api.responder = lambda _: gone
        assert user.council(*RUN, "--yes").code == 3
        api.responder = Table(user, agreed())
        assert user.council("recover").code == 0


def test_going_on_with_what_cost_nothing_so_far_is_a_start(user: User) -> None:
    """An assistant began it. From the first paid run on, it is one that was agreed to."""
    with api_for(user) as api:
        assert user.council("start", "Shall we?").code == 0
        refused = user.council("recover", "--speaker", "anthropic")
        assert (refused.code, api.prompts) == (2, [])
        assert re.search(REFUSED.removesuffix(r"\nnothing was spent"), refused.err), refused.err
        assert user.council("recover", "--speaker", "anthropic", "--yes").code == 0
        assert user.council("recover").code == 0


# ---- the sum ----

REPEATED = """---
name: repeated
seats: {{members: [architect, designer]}}
phases:
  - {{name: talk, rounds: {rounds}, until: {{over: {{from_round: 2}}}}, sees: everything}}
  - {{name: end, seats: designer, sees: everything}}
---
"""


def rows_of(rounds: str) -> list[cost.Row]:
    rates = {"sonnet": Rates("m", 2.0, 10.0, 8000)}
    return cost.bound_steps(load(REPEATED.format(rounds=rounds), "repeated.md"), "Shall we?", rates)


def test_the_likely_sum_is_that_of_the_fewest_rounds() -> None:
    few, many = rows_of("2"), rows_of("[2, 9]")
    assert [row.likely for row in many] == [row.likely for row in few] == [row.usd for row in few]
    assert sum(row.usd or 0 for row in many) > 3 * sum(row.likely or 0 for row in many)
    assert cost.sum_bounds(many).likely == pytest.approx(sum(row.likely or 0 for row in many))


@pytest.mark.parametrize(
    ("likely", "most", "said"),
    [
        (4.2751, 989.7642, "likely $4.28, at most $989.77"), (0.0735, 4.56, "likely $0.07, at most $4.56"),
        (0.0049, 0.3, "likely less than $0.01, at most $0.30"), (0.0, 0.0, "likely $0.00, at most $0.00"),
        (None, 1.0, "at most $1.00"), (None, None, "at an unknown price"),
    ],
)  # fmt: skip
def test_a_sum_is_said_in_cents_and_a_maximum_is_rounded_up(likely: float, most: float, said: str) -> None:
    assert cost.format_bounds(DebateCost(1, 1, 1, most, likely=likely)) == said


def test_a_planning_counts_the_models_that_it_was_given(user: User) -> None:
    user.configure("ask_above: 0")

    def sum_of(*words: str) -> float:
        ended = user.council("planning", "Shall we?", "--speaker", "anthropic", *words)
        return float(re.findall(r"likely to cost \$(\d+\.\d\d)", ended.err)[0])

    assert sum_of("--tier-map", "sonnet=opus") > 1.5 * sum_of()
    assert sum_of("--from", "planning-3") < sum_of() / 2


def test_all_places_say_the_same_sum(user: User) -> None:
    with api_for(user):
        printed = user.council("cost", "debate", "Shall we?").out
        (said,) = re.findall(r"^Cost: (likely \$0\.\d\d, at most \$\d\.\d\d)\.$", printed, re.M)
        assert f"cost: {said}" in user.council(*RUN, "--yes").err
    data = user.council("cost", "debate", "Shall we?", "--json").json
    assert f"likely {cost.format_likely(data['totals']['likely'])}, " in said
    assert data["totals"]["likely"] == pytest.approx(sum(row["likely"] for row in data["steps"]))
