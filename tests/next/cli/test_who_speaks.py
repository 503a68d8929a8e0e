"""Who speaks where nobody was named: never less than was configured, and never somebody who was not asked for."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import product
from pathlib import Path

import pytest

from tests.next.cli.users import User

Q = "Redis or PostgreSQL?"
OURS = "https://gateway.example/v1"
WORKFLOWS = ("run", "debate", "quick", "board", "delphi", "consensus", "perspectives")
FLAGS = (("-q",), ("--json",), ("--no-input",), ("--speaker", "auto"), ("--yes", "--max-cost", "1"))


@pytest.mark.parametrize(("command", "flags"), [*product(WORKFLOWS, FLAGS)], ids="".join)
def test_without_a_key_nobody_speaks(user: User, command: str, flags: Sequence[str]) -> None:
    ended = user.council(command, *flags, Q)
    assert (ended.code, ended.out) == (4, "")
    for way in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "`claude`", "--from", "nothing was spent"):
        assert way in ended.err
    assert user.sessions == []
    assert not (user.root / ".cache").exists(), "and nothing is fetched"


@pytest.mark.parametrize("flags", [(), *FLAGS], ids="".join)
def test_nor_does_a_recovery(user: User, flags: Sequence[str]) -> None:
    assert user.council("start", "--id", "ours", Q).code == 0, "to begin by hand takes no key"
    ended = user.council("recover", *flags)
    assert ended.code == 4
    assert ended.err.splitlines()[-1] == "kept: 0 turns in ~/memory/STATE/council-sessions/ours"
    assert "nobody can speak here" in ended.err


@pytest.mark.parametrize("key", ["", " ", "\n", "\t\n "])
@pytest.mark.parametrize("variable", ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY"])
def test_a_blank_key_is_none(user: User, variable: str, key: str) -> None:
    ended = user.council("run", Q, **{variable: key})
    assert ended.code == 4
    assert "nobody can speak here" in ended.err


@pytest.fixture
def logged_in(user: User) -> dict[str, str]:
    """An environment in which somebody is logged in to `claude`, which notes each question that it is asked."""
    program = user.root / "bin" / "claude"
    program.parent.mkdir()
    program.write_text(
        f'#!/bin/sh\ncase "$*" in *status*) echo \'{{"loggedIn": true}}\';; *) touch {user.root}/asked; exit 1;; esac\n'
    )
    program.chmod(0o755)
    return {"PATH": f"{program.parent}:{os.defpath}"}


ALL = "tiers: {{sonnet: {{model: {0}}}, haiku: {{model: {0}}}, opus: {{model: {0}}}}}"
MINE = f"endpoints: {{ours: {{base_url: '{OURS}', dialect: chat, key: OUR_KEY}}}}\n"
SETTINGS: dict[str, tuple[str, tuple[str, ...], dict[str, str], str]] = {
    "every tier at an endpoint": (MINE + ALL.format("ours/large"), (), {}, "OUR_KEY"),
    "one tier at an endpoint": ("tiers: {haiku: {model: xai/small}}", (), {"ANTHROPIC_API_KEY": "k"}, "XAI_API_KEY"),
    "the kit's openrouter": (ALL.format("openrouter/x/y"), (), {}, "OPENROUTER_API_KEY"),
    "another variable for the key": (
        "endpoints: {anthropic: {key: WORK_KEY}}",
        (),
        {"ANTHROPIC_API_KEY": "k"},
        "WORK_KEY",
    ),
    "another address": (f"endpoints: {{anthropic: {{base_url: '{OURS}'}}}}", (), {}, "ANTHROPIC_API_KEY"),
    "another address in the environment": ("", (), {"ANTHROPIC_BASE_URL": OURS}, "ANTHROPIC_API_KEY"),
    "that of another endpoint": ("", (), {"OPENAI_BASE_URL": OURS}, "OPENAI_API_KEY"),
    "a speaker by configuration": ("speaker: api", (), {}, "ANTHROPIC_API_KEY"),
    "a speaker by variable": ("", (), {"COUNCIL_SPEAKER": "api"}, "ANTHROPIC_API_KEY"),
    "a speaker by option": ("", ("--speaker", "api"), {}, "ANTHROPIC_API_KEY"),
    "a model by option": ("", ("--model", "openrouter/x/y"), {}, "OPENROUTER_API_KEY"),
    "the model of a seat": ("", ("--seat", "engineer=openai/x"), {}, "OPENAI_API_KEY"),
}


@pytest.mark.parametrize("name", SETTINGS)
def test_what_is_configured_is_not_replaced_by_who_is_there(user: User, logged_in: dict[str, str], name: str) -> None:
    """It lacks its key, which is named; and the program that could speak is not asked."""
    config, words, env, key = SETTINGS[name]
    user.configure(config)
    ended = user.council("run", *words, "--max-calls", "1", Q, **logged_in, **env)
    assert ended.code == 4, ended
    assert f"{key} is not set" in ended.err
    assert user.sessions == []
    assert not (user.root / "asked").exists()


def test_a_debate_that_was_begun_by_hand_is_finished_by_whoever_speaks_here(
    user: User, logged_in: dict[str, str]
) -> None:
    """Nobody chose a model for it, so none is missed."""
    assert user.council("start", Q).code == 0
    ended = user.council("recover", "--max-calls", "0", **logged_in)
    assert (ended.code, "claude speaks" in ended.err) == (3, True)


def test_a_sentence_that_continues_a_debate_takes_no_option_of_a_new_one(user: User, agreed: Path) -> None:
    assert user.replay(agreed, "--id", "ours", Q).code == 0
    for words in (("--id", "new"), ("--with", "security"), ("-w", "quick"), ("-o", "words=1-2"), ("--rounds", "3")):
        ended = user.council("run", "Council recovery: ours", *words)
        assert (ended.code, ended.out) == (2, ""), words
        assert "leave out --id" in ended.err
    assert user.council("run", "Council recovery: last").code == 0
    assert [session.name for session in user.sessions] == ["ours"]
