"""One debate after another (`--from SESSION`), protocols as commands, and groups and rounds from the command line."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.fakeapi import FakeApi
from tests.helpers import Table, User, quick, script

QUICK = quick()


@pytest.fixture
def user(tmp_path: Path) -> User:
    """Somebody who has held a quick debate on whether to move."""
    made = User(tmp_path)
    ended = made.council(
        "run", "--workflow", "quick", "Shall we move?", "--speaker", "replay", "--from", script(made, QUICK)
    )
    assert ended.code == 0, ended.err
    return made


def begun(user: User, *words: str) -> tuple[Path, dict]:
    """The folder of a new session, and its facts."""
    ended = user.council("start", *words, "--json")
    assert ended.code == 0, ended.err
    session = Path(ended.json["folder"])
    return session, json.loads((session / "metadata.json").read_text("utf-8"))


def test_a_debate_begins_with_what_another_came_to(user):
    before = user.session
    synthesis = (before / "synthesis.md").read_text("utf-8")
    session, facts = begun(user, "--workflow", "planning-2", "--from", "last", "How do we build it?")
    topic = (session / "topic.md").read_text("utf-8")
    assert topic.startswith('How do we build it?\n\n<said by="file synthesis of session ')
    assert synthesis in topic
    assert (facts["after"], facts["attachments"]) == (before.name, [f"synthesis of session {before.name}"])
    assert user.council("next", session.name).code == 0
    brief = next(session.glob("briefs/01-positions/*.md")).read_text("utf-8")
    assert synthesis in brief


def test_without_a_question_of_its_own_it_goes_on_with_the_same(user):
    session, facts = begun(user, "--workflow", "planning-2", "--from", user.session.name)
    assert (session / "topic.md").read_text("utf-8").startswith("Shall we move?\n\n<said by=")
    assert facts["topic"] == "Shall we move?"


def test_over_the_api_every_member_is_given_it(user):
    synthesis = (user.session / "synthesis.md").read_text("utf-8")
    user = replace(user, env={"ANTHROPIC_API_KEY": "k"})
    again = {turn: words.replace(".", ", now.") for turn, words in QUICK.items()}  # what stood in a brief is no answer
    with FakeApi(Table(user, again)) as api:
        user.configure(f"endpoints: {{anthropic: {{base_url: {api.url}}}}}")
        ended = user.council("run", "--workflow", "quick", "--from", "last", "And when?", "--speaker", "anthropic")
    assert ended.code == 0, ended.err
    assert all(synthesis in request.text for request in api.requests)
    assert len(api.requests) == len(QUICK)


def test_what_has_no_end_is_no_beginning(user):
    open_session = begun(user, "--workflow", "quick", "Something else?")[0].name
    refused = user.council("start", "--from", open_session, "And then?")
    assert refused.code == 2
    assert f"--from {open_session}: that debate has no synthesis yet" in refused.err
    assert len(user.sessions) == 2


@pytest.mark.parametrize("name", ["board", "consensus", "perspectives", "delphi"])
def test_a_protocol_is_a_command(name, user):
    """What it says of itself, and that it is that protocol which begins: here it waits for whoever speaks by hand."""
    assert f"`council run --workflow {name}` does the same" in " ".join(user.council(name, "-h").out.split())
    ended = user.council(name, "Shall we?", "--speaker", "assistant")
    assert ended.code == 8, ended.err
    assert f"## Council {name.title()}: Shall we?" in ended.out


@pytest.mark.parametrize("name", ["consensus", "perspectives"])
def test_one_round_may_be_enough(name, user):
    """What is seen of a step in the round before is no mistake where there is no such round."""
    session, facts = begun(user, "--workflow", name, "--max-rounds", "1", "Shall we?")
    assert facts["options"] == {"max_rounds": "1"}
    assert user.council("next", session.name).code == 0


def test_at_most_so_many_rounds(user):
    session, _ = begun(user, "--workflow", "board", "--max-rounds", "3", "Shall we?")
    assert "**Rounds:** 2-3 (adaptive" in user.council("show", session.name).out
    brief = user.council("start", "--workflow", "board", "--max-rounds", "1", "Shall we?")
    assert (brief.code, "phase challenge: rounds: [2, 1] is not a range" in brief.err) == (2, True)
    assert user.council("start", "--max-rounds", "3", "Shall we?").code == 2


def test_a_group_stands_for_its_seats(user):
    seats = "{members: [engineer], outside: [security, writer]}"
    user.write(".council/Workflows/Own.md", f"---\nname: own\nseats: {seats}\nphases: [{{name: positions}}]\n---\n")
    assert begun(user, "--workflow", "own", "--only", "outside", "Q?")[1]["members"] == ["security", "writer"]
    assert begun(user, "--workflow", "own", "--with", "outside", "Q?")[1]["members"] == [
        "engineer",
        "security",
        "writer",
    ]
    assert user.council("start", "--workflow", "own", "--only", "outsied", "Q?").code == 2
