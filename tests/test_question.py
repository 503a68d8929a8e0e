"""What a person is asked, from the record of every kind of debate, and how the answer is read."""

from __future__ import annotations

import contextlib
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from council import text_width
from council.engine.planner import Due
from council.engine.scene import Turn
from council.errors import UsageError
from council.prompts import answers, for_humans
from council.prompts.answers import find_missing, read_answer
from council.prompts.question import Option, Question, as_json, build, find_fields
from council.record.session import Session
from council.replies import parse
from tests.scenes import declared
from tests.scripted import golden_plan, names, played


def ask(debate: str, turn: str) -> Question:
    """The question of a person's turn, from the turns before it and nothing else."""
    return build(*find_due(debate, turn))


def find_due(debate: str, turn: str) -> tuple[Session, Due]:
    held = played(debate)
    due = next(due for batch in held.batches for due in batch if due.id == turn)
    said = {turn.id: turn.said for turn in due.scene.turns}
    facts = {"seed": held.script.seed, "options": {}, "files": {}, "seats": {}}
    return Session(Path("20260101-000000-1234abcd"), facts, held.script.workflow, "Shall we?", said=said), due


APPEAL = ("consensus/stalemate", "01-debate-r04-3-appeal/human")
CHECKPOINT = ("perspectives/guided", "02-debate-r01-5-checkpoint/human")
GUIDANCE = ("board/fundamental", "03-guidance/human")
CLARIFY = ("perspectives/vague", "01-analysis-r01-2-clarify/human")
FOLLOW_UP = ("perspectives/guided", "04-follow-up/human")
ALL = (APPEAL, CHECKPOINT, GUIDANCE, CLARIFY, FOLLOW_UP)


# ---- what is asked ----


def test_an_appeal_has_the_tension_the_positions_the_letters_and_the_recommendation() -> None:
    asked = ask(*APPEAL)
    assert (asked.kind, asked.title) == ("appeal", "Round 4 complete")
    assert asked.tension == "Clerk: Downtime against effort."
    stances = {one.seat: (one.stance, one.text, one.turn) for one in asked.positions}
    assert stances["database"] == ("satisfaction 65", "Downtime.", "01-debate-r04-1-propose/database")
    assert [(one.letter, one.label, one.recommended) for one in asked.options] == [
        ("A", "Accept the migration, at night", False), ("B", "Migrate without downtime", True),
        ("C", "Do not build it", False), ("D", "continue", False),
    ]  # fmt: skip
    assert asked.options[0].answers == {"decision": "adopt", "option": "A", "grant": "0"}
    assert asked.options[3].answers == {"decision": "continue", "option": "none"}
    assert asked.recommendation == "B, for it can be undone."


def test_a_checkpoint_has_the_moderators_words_and_what_each_option_means() -> None:
    asked = ask(*CHECKPOINT)
    assert (asked.kind, asked.title, asked.tension) == (
        "checkpoint",
        "Round 1 complete",
        "Moderator: It begins.",
    )
    assert {one.label: one.text for one in asked.options} == {
        "continue": "another round, without changes.",
        "guide": "another round, in which all perspectives argue within your guidance. Give it in your own words.",
        "end": "no more rounds; the decision is written now.",
    }
    assert asked.recommended
    assert asked.recommended.label == "continue"
    assert [(one.name, one.required, one.only_with) for one in asked.fields] == [
        ("decision", True, ()), ("guidance", False, ("guide",)),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("at", "tension"), [(GUIDANCE, "Gate Reviewer: Is the company"), (CLARIFY, "Moderator: Cache what?")]
)
def test_free_words_are_asked_for_with_the_question_of_who_asks(at: tuple[str, str], tension: str) -> None:
    asked = ask(*at)
    assert (asked.kind, asked.options) == ("text", ())
    assert asked.tension.startswith(tension)
    assert [one.name for one in asked.fields] == ["reply"]


def test_a_ruling_with_alternatives_is_an_appeal_with_letters_and_any_words_still_answer_it() -> None:
    ruling = """Is the company there for its users or for its owners?

A) **For its users**: prices stay.
B) For its owners: prices rise.

Recommendation: B, because the cash ends in May.

## Ruling
escalate

## Repeating rounds
2
"""
    session, due = find_due(*GUIDANCE)
    judge = next(turn for turn in reversed(due.scene.turns) if turn.step == "review")
    asked = build(session, replace(due, scene=replace(due.scene, turns=(*due.scene.turns[:-1], speak(judge, ruling)))))
    assert asked.kind == "appeal"
    assert asked.tension.startswith("Gate Reviewer: Is the company there for its users or for its owners?")
    assert [(one.letter, one.label, one.recommended) for one in asked.options] == [
        ("A", "For its users", False), ("B", "For its owners", True),
    ]  # fmt: skip
    assert read_answer(asked, "") == {"reply": "B) For its owners: prices rise."}
    assert read_answer(asked, "Both, in turn.") == {"reply": "Both, in turn."}


def speak(turn: Turn, body: str) -> Turn:
    """The same turn with other words."""
    return replace(turn, said=replace(turn.said, body=body), prose=body.partition("## Ruling")[0])


WITH_TEMPLATES = ("board/", "consensus/", "perspectives/")
PEOPLE = [  # as the golden plans have them: playing all these debates would take seconds of every worker
    (name, f"{turn}/human")
    for name in names()
    if name.startswith(WITH_TEMPLATES)
    for turn in re.findall(r"^ *\d+\. (\S+): human ", golden_plan(name).read_text("utf-8"), re.M)
]


@pytest.mark.parametrize("at", PEOPLE, ids="-".join)
def test_a_question_is_made_only_of_what_was_said_and_fits_every_window(at: tuple[str, str]) -> None:
    asked = ask(*at)
    data = json.loads(json.dumps(as_json(asked)))
    assert {"session", "turn", "kind", "title", "tension", "positions", "options", "fields", "artifacts"} < set(data)
    session, due = find_due(*at)
    said = {turn.id: turn for turn in due.scene.turns}
    for position in asked.positions:
        assert position.turn in said
    for columns in (40, 60, 80, 100, 140):
        lines = for_humans.fit(asked, columns, 200).split("\n")
        assert max(map(text_width.width, lines)) <= columns
        tight = for_humans.fit(asked, columns, 24)
        for option in asked.options:
            assert option.label.split()[0][1:] in tight, "an option is never left out"
    assert session.id == asked.session


# ---- how an answer is read ----


def option(letter: str, label: str, answers: dict[str, str], text: str = "", recommended: bool = False) -> Option:
    return Option(letter, label, text, answers, recommended)


def question(kind: str, reply: parse.Reply, *options: Option) -> Question:
    return Question("s", "01-x/human", kind, "X", "", "", (), options, tuple(find_fields(reply, {})), reply=reply)


STEER = question(
    "checkpoint", declared(decision="continue | guide | end", guidance="text"),
    option("C", "continue", {"decision": "continue"}, "another round.", recommended=True),
    option("G", "guide", {"decision": "guide"}), option("E", "end", {"decision": "end"}),
)  # fmt: skip
GATE = question(
    "approval", declared(decision="approve | reject | veto", reason="text"),
    option("A", "approve", {"decision": "approve"}), option("R", "reject", {"decision": "reject"}),
    option("V", "veto", {"decision": "veto"}),
)  # fmt: skip
CHEAP = "Keep one database. Cheap."
DECIDE = question(
    "appeal", declared(decision="adopt | continue", option="text", grant="0-3", reason="text"),
    option("A", "Keep one database", {"decision": "adopt", "option": "A", "grant": "0"}, CHEAP, True),
    option("B", "Split it", {"decision": "adopt", "option": "B", "grant": "0"}, "Split it"),
    option("C", "continue", {"decision": "continue", "option": "none"}),
)  # fmt: skip
FREE = question(
    "appeal", (), option("A", "Users", {"reply": "A) Users"}), option("B", "Owners", {"reply": "B) Owners"})
)


def adopt(text: str, **more: str) -> dict[str, str]:
    return {"decision": "adopt", "option": text, "grant": "0", **more}


NONE = {"option": "none"}
READ = [
    (STEER, "", {"decision": "continue"}),
    (STEER, "c", {"decision": "continue"}),
    (STEER, "C.", {"decision": "continue"}),
    (STEER, "**continue**", {"decision": "continue"}),
    (STEER, "[C]ontinue: another round. (recommended: Enter)", {"decision": "continue"}),
    (STEER, "con", {"decision": "continue"}),
    (STEER, "2", {"decision": "guide"}),
    (STEER, "option E", {"decision": "end"}),
    (STEER, "g", {"decision": "guide"}),
    (STEER, "g Think of cost.", {"decision": "guide", "guidance": "Think of cost."}),
    (STEER, "guide: Think of cost.\nAnd of time.", {"decision": "guide", "guidance": "Think of cost.\nAnd of time."}),
    (STEER, "Think of what it costs", {"guidance": "Think of what it costs"}),
    (GATE, "a", {"decision": "approve"}),
    (GATE, "Approve.", {"decision": "approve"}),
    (GATE, "A: I read the diff.", {"decision": "approve", "reason": "I read the diff."}),
    (GATE, "A: small, and no test fails.", {"decision": "approve", "reason": "small, and no test fails."}),
    (GATE, "approve because it is tested", {"decision": "approve", "reason": "because it is tested"}),
    (GATE, "R the tests are missing", {"decision": "reject", "reason": "the tests are missing"}),
    (GATE, "veto, not in this quarter", {"decision": "veto", "reason": "not in this quarter"}),
    (GATE, "a diff like this is dangerous", {"reason": "a diff like this is dangerous"}),
    (GATE, "approve ❌", {"reason": "approve ❌"}),
    (GATE, "❌ approve", {"reason": "❌ approve"}),
    (GATE, "approve? no", {"reason": "approve? no"}),
    (GATE, "not approved by me", {"reason": "not approved by me"}),
    (GATE, "looks good to me", {"reason": "looks good to me"}),
    (DECIDE, "", adopt("A")),
    (DECIDE, "A", adopt("A")),
    (DECIDE, "a.", adopt("A")),
    (DECIDE, "(b)", adopt("B")),
    (DECIDE, "option B", adopt("B")),
    (DECIDE, "Option b.", adopt("B")),
    (DECIDE, "A) Keep one database. Cheap. (recommended: Enter)", adopt("A")),
    (DECIDE, "A, but only after the review", adopt("A, but only after the review")),
    (DECIDE, "A but only if it stays small", adopt("A but only if it stays small")),
    (DECIDE, "b if nobody objects", adopt("b if nobody objects")),
    (DECIDE, "A, because it is cheap", adopt("A", reason="because it is cheap")),
    (DECIDE, "B because it is cheap", adopt("B", reason="because it is cheap")),
    (DECIDE, "C", {"decision": "continue", "option": "none"}),
    (
        DECIDE,
        "continue: ask first",
        {"decision": "continue", **NONE, "reason": "ask first"},
    ),
    (DECIDE, "A hybrid of the two", {"option": "A hybrid of the two"}),
    (DECIDE, "Neither of these", {"option": "Neither of these"}),
    (FREE, "A", {"reply": "A) Users"}),
    (FREE, "A, but the owners are asked", {"reply": "A) Users\n\nA, but the owners are asked"}),
    (FREE, "Both, in this order:\nA first\nB) then", {"reply": "Both, in this order:\nA first\nB) then"}),
]
REFUSED = [
    (GATE, "", "an answer is required: approve, reject or veto"),
    (STEER, "👍", "an answer is required: continue, guide or end"),
    (STEER, "x", "not one of the options: write continue, guide or end"),
    (STEER, "continue or end", "this names continue and end; choose one"),
    (STEER, "continue, but faster", "takes no further words; to add words, choose guide"),
    (GATE, "A but only if the tests pass", "is not a plain yes"),
    (GATE, "approve, provided that it is tested", "is not a plain yes"),
    (GATE, "approve: not", "is not a plain yes"),
    (GATE, "approve... wait, no", "is not a plain yes"),
    (GATE, "approve. But not before Monday.", "is not a plain yes"),
    (GATE, "approve, scratch that, reject", "is not a plain yes"),
    (GATE, "approve, actually veto", "is not a plain yes"),
    (GATE, "approve, reject", "is not a plain yes"),
    (GATE, "approve, I guess?", "is not a plain yes"),
    (GATE, "A, after the review", "is not a plain yes"),
    (GATE, "A, it is tested, if I remember well", "is not a plain yes"),
    (GATE, "approve, with the proviso that it is tested", "is not a plain yes"),
    (GATE, "approve, or reject", "this names approve and reject"),
    (GATE, "yes", "not one of the options"),
    (GATE, "approve❌", "not one of the options"),
    (DECIDE, "D", "not one of the options: write A, B or C"),
    (DECIDE, "A) Keep one database.\nB) Split it", "this names A and B; choose one"),
    (DECIDE, "A" * 30_000, "30,000 characters"),
    (FREE, " \n", "an answer is required: A, B or your own words"),
]


@pytest.mark.parametrize(("asked", "text", "found"), READ, ids=[repr(text) for _, text, _ in READ])
def test_an_answer_is_read_as_it_was_meant(asked: Question, text: str, found: dict[str, str]) -> None:
    assert read_answer(asked, text) == found


@pytest.mark.parametrize(("asked", "text", "why"), REFUSED, ids=[repr(text)[:40] for _, text, _ in REFUSED])
def test_what_is_no_answer_is_refused_with_what_would_be_one(asked: Question, text: str, why: str) -> None:
    with pytest.raises(UsageError, match=re.escape(why)):
        read_answer(asked, text)


def test_only_what_is_missing_is_asked_for() -> None:
    def needed(asked: Question, text: str) -> list[str]:
        return [field.name for field in find_missing(asked, read_answer(asked, text))]

    assert needed(STEER, "c") == []
    assert needed(STEER, "g") == ["guidance"]
    assert needed(STEER, "Think of cost, please") == ["decision"]
    assert needed(GATE, "r") == ["reason"]
    assert needed(GATE, "r: too slow") == []
    assert needed(DECIDE, "A") == []
    assert needed(DECIDE, "c") == ["grant"]
    assert needed(DECIDE, "Neither of these") == ["decision", "grant"]


words = st.text(st.characters(codec="utf-8", exclude_categories=("Cs",)), max_size=60)


@given(asked=st.sampled_from((STEER, GATE, DECIDE, FREE)), text=words | words.map("approve {}".format))
def test_any_words_are_read_or_refused_and_what_is_read_can_be_recorded(asked: Question, text: str) -> None:
    try:
        found = read_answer(asked, text)
        body = answers.compose(asked, {"decision": "end" if asked is STEER else "reject", "grant": "0", **found}, "")
    except UsageError:
        return
    if asked.reply:
        assert {"decision"} <= set(parse.read(asked.reply, body).found)
    if found.get("decision") == "approve":
        assert re.match(r"\W*(option )?a(pprove)?\b", text, re.I), "nothing but a plain yes approves"


@given(after=words)
def test_nothing_behind_a_yes_turns_another_word_into_one(after: str) -> None:
    for before in ("reject ", "no ", "not ", "R ", "don't ", "❌ ", "veto "):
        with contextlib.suppress(UsageError):
            assert read_answer(GATE, before + after).get("decision") != "approve"
