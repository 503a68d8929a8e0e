"""Config.md sets options and limits of debates: whose file counts, what is refused, and what is recorded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from council.config import protocols
from council.config import settings as config
from council.errors import UsageError
from council.runner import configured
from council.workflow.loader import load
from tests.helpers import User, agreed, script

REPLAY = ("--speaker", "replay", "--from", "script.yaml")


@pytest.fixture
def user(tmp_path: Path) -> User:
    return User(tmp_path)


def project(user: User, keys: str) -> Path:
    return user.write(".council/Config.md", f"---\n{keys}\n---\n")


def metadata(user: User) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((user.session / "metadata.json").read_text("utf-8"))
    return found


def test_the_nearest_place_that_names_an_option_decides(user: User) -> None:
    user.configure("protocols: {consensus: {target_satisfaction: 95, max_iterations: 4, escalation: false}}")
    project(user, "protocols: {consensus: {target: 80, context_window_limit: 9000}}\nlimits: {max_calls: 7}")
    begun = user.council("start", "--workflow=consensus", "--only=database", "-o", "context-window-limit=8000", "Q?")
    assert begun.code == 0, begun.err
    facts = metadata(user)
    expected = {"target": "80", "max_rounds": "4", "escalation": False, "context": "8000"}
    assert expected.items() <= facts["options"].items()
    theirs, own = facts["configured"]
    assert (theirs["whose"], theirs["options"], theirs["limits"]) == ("project", {"target": "80"}, {"max_calls": 7.0})
    assert (own["whose"], own["options"]) == ("yours", {"max_rounds": "4", "escalation": False})
    assert "the project's Config.md sets: target 80, max_calls at most 7" in begun.err
    assert "your Config.md sets: max_rounds 4, escalation off" in begun.err
    assert user.council("verify").code == 0
    listed = [line.split()[:2] for line in user.council("config", "consensus").out.splitlines()]
    assert ["target", "80"] in listed
    assert ["min_progress", "5"] in listed
    in_ci = user.council("config", CI="1").out
    assert "consensus: target      95" in in_ci
    assert "project overlay not used" in in_ci


@pytest.mark.parametrize(
    ("keys", "why"),
    [
        ("protocols: {concensus: {target: 95}}", 'no workflow "concensus"; did you mean "consensus"?'),
        ("protocols: {consensus: {tarqet: 95}}", 'tarqet: consensus has no such option; did you mean "target"?'),
        (
            "protocols: {consensus: {target: high}}",
            "consensus: target: phase debate: the option target must be a number",
        ),
        ("protocols: {consensus: {target: [1]}}", "consensus: target must be a word or a number"),
        ("protocols: {consensus: {escalation: 1}}", "consensus: escalation must be true or false"),
        (
            "protocols: {consensus: {target: 95, target_satisfaction: 96}}",
            "another name of target, which is set already",
        ),
        ("protocols: {consensus: {default_perspectives: 3}}", "no such option; it is one of perspectives"),
        ("protocols: {consensus: {custom_perspectives: [a]}}", "write each perspective as a section of AgentPersonal"),
        ("protocols: {consensus: 5}", "protocols: consensus must be options with values"),
        ("protocols: 5", "protocols must be keys with values"),
        ("limits: {max_csot: 5}", 'limits: unknown key "max_csot"; did you mean "max_cost"?'),
        ("limits: {max_cost: -1}", "limits: max_cost must be a number of US dollars for a session"),
        ("limits: {max_calls: 1.5}", "limits: max_calls must be a number of calls"),
        ("limits: {deadline: 0}", "limits: deadline must be a number of seconds"),
    ],
)
def test_nothing_is_accepted_and_ignored(keys: str, why: str, user: User) -> None:
    project(user, keys)
    refused = user.council("start", "--workflow=consensus", "--only=database", "Q?")
    assert refused.code == 2
    assert why in refused.err
    assert user.sessions == []


@pytest.mark.parametrize("key", ["target_satisfaction: 95", "debate: {max_rounds: 5}", "custom_perspectives: [a]"])
def test_options_at_the_top_of_the_file_are_told_their_place(key: str, user: User) -> None:
    user.configure(key)
    assert "goes below `protocols`" in user.council("config").err


@pytest.mark.parametrize("key", ["endpoints: {}", "home: /tmp", "benches: {}", "gates: [positions]"])
def test_a_project_sets_nothing_else(key: str, user: User) -> None:
    path = project(user, key)
    refused = user.council("start", "Q?")
    assert refused.code == 2
    assert f"{path}: a project may set only protocols and limits, not {key.split(':', maxsplit=1)[0]}" in refused.err


@pytest.mark.parametrize(
    ("own", "projects", "after"),
    [
        ("gates: [synthesis]", "none", "synthesis"),
        ("gates: [synthesis]", "debate", "debate,synthesis"),
        ("protocols: {consensus: {gate_after: synthesis}}", "none", "synthesis"),
        ("protocols: {consensus: {gate_after: synthesis}}", "debate", "debate,synthesis"),
        ("protocols: {consensus: {gate_after: none}}\ngates: [synthesis]", "none", "none"),
        ("", "debate", "debate"),
    ],
)
def test_a_project_takes_none_of_your_gates_away(own: str, projects: str, after: str, user: User) -> None:
    user.configure(own)
    project(user, f"protocols: {{consensus: {{gate_after: {projects!r}}}}}")
    assert user.council("start", "-w", "consensus", "Q?").code == 0
    assert metadata(user)["options"]["gate_after"] == after


def test_limits_only_lower(user: User) -> None:
    """The lowest counts; what was reached is named, and can be raised there."""
    script(user, agreed())
    user.configure("limits: {max_calls: 3, deadline: 10}")
    path = project(user, "limits: {max_calls: 1, deadline: 999}")
    stopped = user.council("run", *REPLAY, "--max-calls", "5", "Q?")
    assert stopped.code == 3
    assert f"the limit of 1 call is reached (max_calls in {path})" in stopped.err
    assert "at most: deadline   10           ~/config" in user.council("config").out
    raised = user.council("recover", *REPLAY, CI="1")
    assert raised.code == 3
    assert "max_calls in " in raised.err
    assert "the limit of 3 calls is reached" in raised.err
    user.configure("limits: {max_calls: 99}")
    project(user, "limits: {max_calls: 98}")
    assert user.council("recover", *REPLAY, "--max-calls", "97").code == 0


def test_a_file_of_others_and_a_repository_under_review_set_nothing(
    user: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(user.work)
    path = project(user, "limits: {max_calls: 0, total_timeout: 5}")
    settings = config.load(user.environment)
    assert set(configured.find_limits(settings, reviewed=False)) == {"max_calls", "total_timeout"}
    assert configured.find_limits(settings, reviewed=True) == {}
    limited = configured.limit_times(settings, configured.find_limits(settings, reviewed=False))
    assert (limited.longest, limited.deadline) == ({"total_timeout": 5.0}, settings.deadline)
    path.chmod(0o666)
    with pytest.raises(UsageError, match="everybody may write to it"):
        protocols.read_project()


def test_an_option_of_another_name_is_that_option() -> None:
    found = load(
        "---\nname: a\nseats: {all: [b]}\noptions: {max-rounds: 3, min_progress: 2}\nphases: [{name: p}]\n---\n", "a"
    )
    assert protocols.spell(found, "max_iterations") == "max-rounds"
    assert protocols.spell(found, "max_rounds") == "max-rounds"
    assert protocols.spell(found, "min-progress") == "min_progress"
    assert protocols.spell(found, "unheard-of") == "unheard-of"
