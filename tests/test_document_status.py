"""The status of a document is what the record says: nothing that was rejected or never written is filed as accepted."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.debates import everything, options, people
from tests.fakeapi import Answer, FakeApi
from tests.helpers import Ended, Table, User, no_traceback, script
from tests.scripted import played

KINDS = ("adr", "madr", "decision", "spec", "plan")
GATED = (
    "board/agreed",
    "consensus/simple",
    "debate/skipped",
    "delphi/persuaded",
    "perspectives/settled",
    "quick/synthesis",
)
KEY = {"ANTHROPIC_API_KEY": "sk-test"}


@pytest.fixture
def user(tmp_path: Path) -> User:
    made = User(tmp_path, KEY)
    (made.work / ".git").mkdir()
    return made


def filed(user: User) -> dict[str, str]:
    """What is filed in the project, by name."""
    return {path.name: path.read_text("utf-8") for path in (user.work / "docs").rglob("*.md")}


def decide(user: User, name: str, answer: str, gate: str = "synthesis", **changed: str) -> Ended:
    """A scripted debate in which a person answers so at the gate; its end."""
    said = {**everything(played(name)), **changed}
    script(user, {turn: body for turn, body in said.items() if turn not in people(played(name))})
    replay = ("--speaker", "replay", "--from", user.work / "script.yaml")
    ended = user.council("run", *options(played(name)), "--gate", gate, "Shall we?", *replay)
    while ended.code == 8:
        (turn,) = (due["turn"] for due in user.council("next", "--json").json["due"])
        if "-gate/" in turn:
            given = user.council("answer", "last", "--choose", answer, "--because", "Too dear.")
        else:
            given = user.council("record", "last", turn, stdin=said[turn])
        assert given.code == 0, given.err
        ended = user.council("recover", *replay)
    no_traceback(ended)
    return ended


@pytest.mark.parametrize("name", GATED)
@pytest.mark.parametrize(("answer", "outcome"), [("veto", "vetoed"), ("reject", "rejected")])
def test_a_decision_that_a_person_turned_down_is_rejected_in_every_document(user, name, answer, outcome):
    decide(user, name, answer)
    for kind in KINDS:
        assert user.council("decision", "last", "--as", kind).code == 0
    found = filed(user)
    assert len(found) == len(KINDS)
    for document in found.values():
        assert f"\n**Status:** rejected (Human at synthesis gate: {outcome}: “Too dear.”)" in document
        assert f'\noutcome: "{outcome}"\n' in document
        assert re.findall(r'^status: "(.*)"$', document, re.M) in ([], ["rejected"])
        assert "accepted" not in re.sub(r"(?s).*^\*\*Status:\*\*", "**Status:**", document, flags=re.M).splitlines()[0]
        assert "(chosen)" not in document
    assert sum('status: "rejected"' in one for one in found.values()) == 1, "the MADR says it in its front matter"
    shown = user.council("show", "last", "--json").json
    assert (shown["outcome"], shown["verdict"]["carried"]) == (outcome, False)


def test_what_was_turned_down_before_anybody_wrote_it_is_not_filed(user):
    assert decide(user, "consensus/simple", "veto", gate="debate").code == 0
    assert filed(user) == {}
    assert user.council("decision", "last", "--as", "adr").code == 2
    assert filed(user) == {}


def test_no_issue_is_made_of_a_decision_that_was_vetoed(user):
    name = "perspectives/settled"
    decide(user, name, "approve")
    assert any(one.endswith("-issue.md") for one in filed(user))
    again = User(user.root / "again", KEY)
    (again.work / ".git").mkdir()
    decide(again, name, "veto")
    assert filed(again)
    assert not any(one.endswith("-issue.md") for one in filed(again))
    assert "council planning" not in again.council("show", "last").text


def test_a_synthesis_without_a_decision_is_proposed(user):
    name = "consensus/simple"
    written = next(turn for turn in everything(played(name)) if turn.startswith("02-synthesis"))
    empty = "## Open questions\n- Who pays?\n"
    decide(user, name, "approve", **{written: empty, f"{written}.2": empty})
    (document,) = filed(user).values()
    assert "**Status:** proposed (the synthesis states no decision)\n" in document
    assert "**Debated by:** models" in document


@pytest.mark.parametrize("name", ["board/agreed", "consensus/simple", "debate/skipped", "quick/synthesis"])
def test_a_writer_that_refuses_is_asked_again_and_nothing_is_filed_meanwhile(user, name):
    said = {id: one.body for id, one in played(name).said.items()}
    (turn, *_) = (id for id in said if "-synthesis" in id)
    table = Table(user, said, {turn: [Answer("", stop="refusal")]}, usage={"input_tokens": 100, "output_tokens": 10})
    with FakeApi(table) as api:
        user.configure(f"endpoints: {{anthropic: {{base_url: {api.url}}}}}")
        quorum = ("--quorum", "1")  # nobody can do without the writer, even if a member writes
        refused = user.council("run", "--speaker", "anthropic", *options(played(name)), *quorum, "Shall we?")
        assert (refused.code, "did not answer: refused by the model" in refused.err) == (3, True), refused.err
        (row,) = user.council("list", "--json").json
        assert (row["state"], row["due"], row["outcome"]) == ("paused", [turn], None)
        assert row["totals"]["failed_calls"] == 1
        assert filed(user) == {}
        ended = user.council("recover")
    assert ended.code == 0, ended.err
    assert table.asked.count(turn) == 2
    assert user.council("show", "last", "--json").json["synthesis"]


def test_a_member_that_refuses_is_absent_as_before(user):
    name = "debate/skipped"
    said = {id: one.body for id, one in played(name).said.items()}
    refused = {"01-positions/architect": [Answer("", stop="refusal")]}
    table = Table(user, said, refused, usage={"input_tokens": 100, "output_tokens": 10})
    with FakeApi(table) as api:
        user.configure(f"endpoints: {{anthropic: {{base_url: {api.url}}}}}")
        assert user.council("run", "--speaker", "anthropic", *options(played(name)), "Shall we?").code == 0
    assert table.asked.count("01-positions/architect") == 1
