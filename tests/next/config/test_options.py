"""Options of workflows in Config.md, and who answers."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from council.next.config import identity, options, places, settings
from council.next.errors import UsageError
from council.next.workflow.loader import load
from tests.next.config.homes import put


def configured(home: Path, name: str, config: str) -> dict[str, Any]:
    put(home / ".config/council", Config=config)
    workflow = load(places.read(places.find_workflow(name)), name)
    return options.configured(settings.load(), workflow)


def test_other_names_of_an_option_are_understood(home: Path) -> None:
    config = "protocols: {consensus: {target_satisfaction: 95, max-iterations: 4, min-progress: 2, analysis: false}}"
    assert configured(home, "consensus", config) == {
        "target": "95", "max_rounds": "4", "min_progress": "2", "analysis": False,
    }  # fmt: skip
    assert configured(home, "debate", config) == {}
    config = "protocols: {perspectives: {round_timeout_seconds: 60, default_perspectives: 3}}"
    assert configured(home, "perspectives", config) == {"round_timeout": "60", "perspectives": "3"}


def test_every_other_name_is_one_of_an_option_that_exists() -> None:
    workflows = [load(places.read(places.find_workflow(name)), name) for name in ("consensus", "perspectives")]
    known = {option for workflow in workflows for option in workflow.options}
    assert {*options.ALIASES.values()} <= known


@pytest.mark.parametrize(
    ("config", "sentence"),
    [
        ("{consensu: {target: 95}}", 'there is no workflow "consensu"; did you mean "consensus"?'),
        ("{consensus: {targt: 95}}", 'consensus has no option "targt"; did you mean "target"?'),
        ("{consensus: {custom_perspectives: 1}}", "write each as a section of AgentPersonalities.md"),
        ("{consensus: {target: 95, target_satisfaction: 90}}", "another name of target"),
        ("{consensus: {target: [95]}}", "must be one word or number"),
        ("{consensus: {analysis: maybe}}", "must be true or false, not 'maybe'"),
        ("{consensus: {max_rounds: many}}", "protocols: consensus: max_rounds:"),
    ],
)
def test_an_option_that_does_not_fit_is_refused_with_its_file(home: Path, config: str, sentence: str) -> None:
    with pytest.raises(UsageError) as refused:
        configured(home, "consensus", f"protocols: {config}")
    assert str(refused.value).startswith(str(home / ".config/council/Config.md"))
    assert sentence in str(refused.value)


def test_a_workflow_without_options_is_checked_too(home: Path) -> None:
    with pytest.raises(UsageError, match='there is no workflow "consensu"; did you mean "consensus"'):
        configured(home, "consensus", "protocols: {consensu: {}}")
    assert configured(home, "consensus", "protocols: {consensus: {}}") == {}


def git(home: Path, *words: str) -> None:
    env = {"PATH": os.environ["PATH"], "HOME": str(home)}
    subprocess.run(["git", *words], check=True, env=env, capture_output=True)


def test_a_person_is_called_as_in_their_own_git(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOGNAME", "ada")
    assert identity.user_name() == "ada"
    git(home, "config", "--global", "user.name", "Ada\x1b[31m Lovelace")
    assert identity.user_name() == "Ada Lovelace"
    git(home, "init", ".")
    git(home, "config", "user.name", "The Project")
    assert identity.user_name() == "Ada Lovelace"
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    assert identity.user_name() == "Ada Lovelace"
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    assert identity.user_name() == "ada"


def test_a_pipe_in_the_repository_stops_nobody(home: Path) -> None:
    os.mkfifo(Path(".git") / "config")
    os.mkfifo(Path(".git") / "HEAD")
    assert identity.user_name()
