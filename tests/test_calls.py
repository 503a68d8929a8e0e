"""Each prompt of the table, through `council start` and through the hook: they agree."""

from __future__ import annotations

from pathlib import Path

import pytest

from council.prompts import invocation, phrases
from council.record import catalog
from tests.helpers import User
from tests.prompts import CALLS, HOOK, QUESTIONS, TOPICS, Asks, Meant, Typed, ask_program, routed_by_hook

UNROUTED = [*TOPICS, *(prompt for prompt, asks in QUESTIONS.items() if not asks.routed)]


@pytest.fixture
def user(tmp_path: Path) -> User:
    return User(tmp_path)


def test_the_table_is_large_enough() -> None:
    assert len(CALLS) + len(QUESTIONS) + len(TOPICS) >= 200
    assert len(UNROUTED) >= 80


@pytest.mark.parametrize("part", range(4))
def test_a_call_begins_the_session_that_it_names(user: User, part: int) -> None:
    meant = {prompt: case.meant if isinstance(case, Typed) else case for prompt, case in [*CALLS.items()][part::4]}
    assert {prompt: ask_program(user, prompt) for prompt in meant} == meant


def test_a_question_is_asked_before_anything_begins(user: User) -> None:
    for prompt, asks in QUESTIONS.items():
        answer = ask_program(user, prompt)
        assert isinstance(answer, Asks), (prompt, answer)
        assert asks.words in answer.words, prompt
        assert "Traceback" not in answer.words
    assert user.sessions == []


@pytest.mark.parametrize("part", range(3))
def test_a_topic_is_debated_as_it_is(user: User, part: int) -> None:
    topics = TOPICS[part::3]
    assert [ask_program(user, prompt) for prompt in topics] == [Meant(topic=prompt) for prompt in topics]


def test_the_hook_routes_calls_and_nothing_else(user: User) -> None:
    called = [prompt for prompt, case in CALLS.items() if not isinstance(case, Typed)]
    called += [prompt for prompt, asks in QUESTIONS.items() if asks.routed]
    typed = [prompt for prompt, case in CALLS.items() if isinstance(case, Typed)]
    prompts = [*called, *typed, *UNROUTED]
    routed = dict(zip(prompts, routed_by_hook(prompts, user.environment), strict=True))
    assert [prompt for prompt in prompts if routed[prompt]] == called


def test_the_users_own_names_are_known_to_both(user: User) -> None:
    """A project's are known to the program alone: a cloned repository does not choose which prompts call a council."""
    quick = (HOOK.parent.parent / "Workflows" / "Quick.md").read_text("utf-8")
    persona = "## {}\n\n- **Title:** X\n\nLook for x.\n"
    for top, name in ((user.settings, "mine"), (user.work / ".council", "theirs")):
        (top / "Workflows").mkdir(parents=True)
        (top / "Workflows" / f"{name}.md").write_text(quick.replace("name: quick", f"name: {name}"))
        (top / "AgentPersonalities.md").write_text(persona.format(f"{name}-seat"))
    known = ["Council mine: Q?", "Council with mine-seat: Q?", "Just mine-seat and engineer: Q?"]
    unknown = [prompt.replace("mine", "theirs") for prompt in known]
    assert routed_by_hook([*known, *unknown], user.environment) == [True, True, True, False, False, False]
    meant = [
        Meant(workflow="mine"),
        Meant("architect designer engineer researcher mine-seat"),
        Meant("mine-seat engineer"),
    ]
    assert [ask_program(user, prompt) for prompt in known] == meant
    assert [ask_program(user, prompt).workflow for prompt in unknown] == ["theirs", "debate", "debate"]


@pytest.mark.parametrize("words", [("start",), ("cost", "debate")])
def test_members_are_left_out_by_an_option_too(user: User, words: tuple[str, ...]) -> None:
    assert user.council(*words, "Q?", "--without", "designer", "--json").code == 0
    ended = user.council(*words, "Q?", "--without", "designer,chair")
    assert (ended.code, "chair is not a member, so it cannot be left out" in ended.err) == (2, True)


def test_what_the_hook_cannot_import_agrees_with_what_council_knows() -> None:
    assert catalog.GENERATED.pattern == phrases.SESSION
    assert invocation.PATCHLIST in invocation.MODES


@pytest.mark.parametrize("version", ["3.7", "3.8", "3.9", "3.10"])
def test_an_older_python_reads_the_same(user: User, version: str) -> None:
    found = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))
    if not found:
        pytest.skip(f"Python {version} is not installed")
    prompts = ["Council without designer: Q?", "Just architect and engineer: Q?", "The council: who?"]
    assert routed_by_hook(prompts, user.environment, found[0]) == [True, True, False]
