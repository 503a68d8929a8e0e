"""A person is asked the declared answers one by one, sees the sides, and loses nothing that was typed."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from council.next.config.settings import Settings
from council.next.engine.planner import Due
from council.next.engine.scene import Recorded
from council.next.errors import Waiting
from council.next.prompts.brief import Brief
from council.next.record.session import Session
from council.next.replies.kinds import Signature, kind
from council.next.replies.read import read
from council.next.speakers.base import Spoken
from council.next.speakers.person import Person, Question
from council.next.terminal import ask as terminal
from council.next.text import encode
from tests.next.debates import form
from tests.next.record.sessions import born, receipt
from tests.next.speakers.apis import CLIENTS, brief, fixed

REPLY = {"choice": "approve | reject", "reason": "text ?", "points": "list", "score": "0-100", "words": "text"}


def settings() -> Settings:
    return fixed(CLIENTS[0].model("http://127.0.0.1:9"))


class Keyboard:
    """Types the entries, one after the other, and keeps what was asked."""

    def __init__(self, *entries: str) -> None:
        self.entries, self.asked = [*entries], list[Question]()

    async def __call__(self, brief: Brief, question: Question) -> str:
        self.asked.append(question)
        return self.entries.pop(0)


def asked_for(session: Session, reply: dict[str, str]) -> Brief:
    one = brief()
    step = replace(one.due.step, reply={name: kind(declared) for name, declared in reply.items()})
    return replace(one, session=session, due=replace(one.due, step=step))


def speak(folder: Path, reply: dict[str, str], *entries: str) -> tuple[Spoken, Keyboard, dict[str, Any]]:
    with born(folder) as session:
        pass
    keyboard, asked = Keyboard(*entries), asked_for(session, reply)
    spoken = asyncio.run(Person(settings(), ask=keyboard).speak(asked, lambda _: None))
    assert keyboard.entries == []
    return spoken, keyboard, dict(read(asked.due.step.reply, spoken.body).found)


def test_the_answers_are_asked_one_by_one_and_read_back_as_typed(tmp_path: Path) -> None:
    entries = ("APP", "", "- one\ntwo\n\n", "85 %", "## Choice\nreject\n# and more")
    spoken, keyboard, found = speak(tmp_path, REPLY, *entries)
    assert [question.title for question in keyboard.asked] == ["Choice", "Reason", "Points", "Score", "Words"]
    assert found == {
        "choice": "approve",
        "points": ("one", "two"),
        "score": 85,
        "words": "## Choice\nreject\n# and more",
    }
    assert (spoken.via, spoken.usd) == ("terminal", 0.0)
    assert spoken.by


def test_what_cannot_be_read_is_asked_again_with_what_was_typed(tmp_path: Path) -> None:
    """Words beside a choice are neither kept in silence nor lost: they are offered again."""
    _, keyboard, found = speak(tmp_path, {"choice": "approve | reject"}, "ok go", "a")
    assert found == {"choice": "approve"}
    first, second = keyboard.asked
    assert (first.problem, first.typed) == ("", "")
    assert second.typed == "ok go"
    assert "exactly one of these" in second.problem


@pytest.mark.parametrize(
    ("declared", "entries", "value"),
    [
        ("text+", ("", " ", "none", "Yes."), "Yes."),
        ("text", ("none",), ""),
        ("text", ("",), ""),
        ("list", ("",), ()),
        ("list+", ("", "- one"), ("one",)),
        ("integer", ("many", "3"), 3),
        ("0-100", ("101", "100"), 100),
        ("code", ("x = 1\n# done",), "x = 1\n# done\n"),
        ("vote", ("Redis!", "none: too dear"), Signature("none", "too dear")),
        ("id | none", ("R", "none"), "none"),
        ("yes | no", ("", "y"), "yes"),
    ],
)
def test_each_kind_of_answer_can_be_typed(declared: str, entries: Sequence[str], value: object, tmp_path: Path) -> None:
    _, _, found = speak(tmp_path, {"given": declared}, *entries)
    assert found == {"given": value}


def test_without_declared_answers_the_words_are_the_reply(tmp_path: Path) -> None:
    spoken, keyboard, _ = speak(tmp_path, {}, "", " \n", "Go on, but cheaper.\n")
    assert spoken.body == "Go on, but cheaper.\n"
    assert [question.problem for question in keyboard.asked] == ["", *["there is nothing in it"] * 2]


def test_a_check_of_the_workflow_speaks_before_the_answer_is_recorded(tmp_path: Path) -> None:
    """An id that does not exist would be asked for again by the record; a person hears it at once."""
    _, keyboard, found = speak(tmp_path, {"signs": "vote"}, "R7", "none: too dear")
    assert found == {"signs": Signature("none", "too dear")}
    assert "there is no R7 to sign" in keyboard.asked[1].problem
    assert keyboard.asked[1].typed == "R7"


def test_a_person_sees_what_each_side_recommends_and_what_blocks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answers: dict[str, dict[str, Any]] = {
        "architect": {"recommendation": "Use Redis.", "normative": "no"},
        "engineer": {"recommendation": "Use files.", "normative": "no"},
    }
    second: dict[str, dict[str, Any]] = {
        "architect": {"signs": Signature("own"), "conditions": ("a backup exists",)},
        "engineer": {"signs": Signature("own"), "blocking": ("nobody has tested it",)},
    }
    with born(tmp_path) as session:
        for given in (answers, second):
            for due in session.advance().due:
                body = said(due, given[due.seat.name]).body
                session.record(receipt(due), encode(body))
        session.advance()
    terminal.Keyboard().show(asked_for(session, {"choice": "approve | reject"}))
    shown = " ".join(capsys.readouterr().err.split())
    architect, engineer = (seat.label for seat in session.workflow.seats(["architect", "engineer"]))
    assert f"Recommended - R1, {architect}: Use Redis. (signed by architect)" in shown
    assert f"- R2, {engineer}: Use files. (signed by engineer)" in shown
    assert f"Blocking - C1, {engineer}: nobody has tested it" in shown


def said(due: Due, answers: dict[str, Any]) -> Recorded:
    return Recorded(form(due, **answers))


def test_where_nobody_can_be_asked_the_turn_waits(tmp_path: Path) -> None:
    with born(tmp_path) as session:
        pass
    with pytest.raises(Waiting, match=f"waits for a person: `council recover {session.id} --speaker human`"):
        asyncio.run(Person(settings()).speak(asked_for(session, REPLY), lambda _: None))
