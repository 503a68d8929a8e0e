"""`council answer`: a person's question on one screen, and one line that answers it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests import schemas
from tests.fakeapi import FakeApi
from tests.helpers import Table, User, agreed, no_traceback, script
from tests.terminal import Running, Terminal

REPLAY = ("--speaker", "replay", "--from", "script.yaml")
GATE = "02-challenges-gate/human"


@pytest.fixture
def user(tmp_path: Path) -> User:
    user = User(tmp_path)
    script(user, agreed())
    assert user.council("run", "--gate", "challenges", "Shall we?", *REPLAY).code == 8
    return user


def body(user: User, session: Path | None = None) -> str:
    return ((session or user.session) / f"turns/{GATE}.md").read_text("utf-8").split("\n---\n", 1)[1]


def test_the_session_that_waits_is_found_and_its_question_is_data(user: User) -> None:
    asked = user.council("answer", "--json").json
    assert (asked["turn"], asked["kind"], asked["session"]) == (GATE, "approval", user.session.name)
    assert [(one["letter"], one["label"], one["recommended"]) for one in asked["options"]] == [
        ("A", "approve", False), ("R", "reject", False), ("V", "veto", False),
    ]  # fmt: skip
    schemas.check("asked", asked)
    (row,) = user.council("next", "--json").json["due"]
    assert row["question"] == asked
    shown = user.council("answer")
    assert shown.code == 2
    assert "Gate after Responses" in shown.out
    assert "--choose WORDS" in shown.err
    assert not (user.session / f"turns/{GATE}.md").exists()


def test_an_answer_is_given_without_a_terminal(user: User) -> None:
    for wrong in ("", "A but only if it is cheap", "perhaps"):
        refused = user.council("answer", "--choose", wrong)
        assert refused.code == 2
        no_traceback(refused)
    told = user.council("answer", "--choose", "A", "--because", "I read it.", "--by", "Ann Example", "--json")
    assert told.json == {"turn": GATE, "recorded": True, "by": "Ann Example", "done": False}
    assert body(user) == "## Gate\napprove\n\n## Reason\nI read it.\n"
    again = user.council("answer", user.session.name, "--choose", "R")
    assert again.code == 2
    assert "does not wait for a person" in again.err
    assert user.council("answer").err.startswith("council: no session waits for a person")
    assert user.council("recover").code == 0


def test_of_several_sessions_that_wait_one_must_be_named(user: User) -> None:
    assert user.council("run", "--gate", "challenges", "And this?", *REPLAY).code == 8
    told = user.council("answer", "--choose", "A")
    assert told.code == 2
    assert all(folder.name in told.err for folder in user.sessions)
    newest = user.council("list", "--json").json[0]["session_id"]
    assert user.council("answer", newest, "--choose", "reject: no").code == 0
    facts = json.loads((user.home / "STATE/council-sessions" / newest / "convergence.json").read_text("utf-8"))
    assert facts["outcome"] == "rejected"
    assert user.council("answer", "--choose", "veto").code == 0, "now there is one"


@pytest.mark.parametrize("columns", [40, 80, 140])
def test_at_a_terminal_one_line_answers_it(user: User, columns: int) -> None:
    with Running(user, "answer", columns=columns) as console:
        shown = console.until(r"\[A\]pprove  \[R\]eject  \[V\]eto\r\n> ")
        screen = Terminal(columns)
        screen.write(shown)
        assert "Gate after Responses" in screen.text
        console.type("\n")
        assert "an answer is required" in " ".join(console.until(r"\[V\]eto\r\n> ").split())
        console.type("a: I read it.\n")
        assert f"recorded {GATE}" in console.end()[1]
    assert body(user) == "## Gate\napprove\n\n## Reason\nI read it.\n"


def test_a_run_that_waits_goes_on_with_the_answer(tmp_path: Path) -> None:
    user = User(tmp_path, {"ANTHROPIC_API_KEY": "sk-ant-of-the-tests"})
    with FakeApi(Table(user, agreed())) as api:
        user.configure(f"endpoints:\n  anthropic: {{base_url: {api.url}}}\nretry: {{budget: 0}}")
        running = user.spawn("run", "--wait", "--gate", "challenges", "Shall we?", stderr=subprocess.PIPE)
        assert running.stderr
        for line in running.stderr:
            if b"Waiting for a person" in line:
                break
        told = user.council("answer", "--choose", "A", "--because", "I read it.")
        assert told.code == 0, told.err
        assert f"recorded {GATE}; the debate goes on in" in told.out
        running.communicate()
    assert running.returncode == 0
    assert body(user) == "## Gate\napprove\n\n## Reason\nI read it.\n"


def test_a_gate_of_a_run_that_waits_in_vain_ends_as_not_approved(tmp_path: Path) -> None:
    user = User(tmp_path, {"ANTHROPIC_API_KEY": "sk-ant-of-the-tests"})
    with FakeApi(Table(user, agreed())) as api:
        user.configure(f"endpoints:\n  anthropic: {{base_url: {api.url}}}\nretry: {{budget: 0}}")
        ended = user.council("run", "--wait", "--gate", "challenges", "-o", "gate_timeout=0.2", "Shall we?", "--json")
    assert ended.json["outcome"] == "not approved"
    assert user.council("verify").code == 0
