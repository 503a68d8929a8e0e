"""What perspectives concede is found in plain sentences of their own."""

from __future__ import annotations

from dataclasses import replace

import pytest

from council.engine.scene import Turn
from council.protocols.concessions import find_concessions
from council.workflow.model import Seat
from tests.scenes import scene, turn

COST, SPEED = (Seat(name, "analyze", {"title": name.title()}) for name in ("cost", "speed"))


def said(seat: Seat, words: str) -> Turn:
    return replace(turn(seat, "debate/rebut", body=words), prose=words)


def test_a_concession_has_its_sentence_and_whom_it_is_for() -> None:
    words = "It is dear. I concede to Speed that users wait. The rest stands."
    (found,) = find_concessions(scene(said(SPEED, "It is slow."), said(COST, words)))
    assert (found.turn.seat.name, found.text) == ("cost", "I concede to Speed that users wait.")
    assert [seat.name for seat in found.to] == ["speed"]


def test_a_sentence_goes_on_where_a_line_is_wrapped() -> None:
    words = "It is dear. I concede to Speed that it\nmay be slow, and\n  that it is.\nThe rest stands.\n\nso it does"
    (found,) = find_concessions(scene(said(SPEED, "It is slow."), said(COST, words)))
    assert found.text == "I concede to Speed that it may be slow, and that it is."


def test_what_an_answer_parts_is_no_sentence() -> None:
    made = said(COST, "I concede to Speed\nthat users wait.")
    parted = replace(made, said=replace(made.said, body="I concede to Speed\n## Gist\nDear.\n\nthat users wait."))
    assert not list(find_concessions(scene(said(SPEED, "It is slow."), parted)))


@pytest.mark.parametrize(
    "words",
    ["I concede nothing.", "I would concede that.", "I do not concede it.", "Speed says “I concede the point”.",
     "If it held, I concede that.", "They concede that."],
)  # fmt: skip
def test_only_plain_sentences_of_its_own_concede(words: str) -> None:
    assert not list(find_concessions(scene(said(COST, words), said(SPEED, "No."))))


def test_nobody_else_concedes() -> None:
    assert not list(find_concessions(scene(said(Seat("architect", "members"), "I concede that."))))
