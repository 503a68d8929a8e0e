"""A viewer that is cut off at any moment, and comes back to any server, lacks no word and reads none twice."""

from __future__ import annotations

import re
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from council.web import cursor
from council.web.cursor import Cursor, SeenSession, SeenWords
from tests.webserver import Reader

SEATS = [f"01-positions/{name}" for name in "abc"] + [f"02-challenges/{name}" for name in "abc"]
WORDS = "Größe, élan and 漢字. "


def take(turns: dict[str, dict[str, Any]], live: dict[str, SeenWords]) -> SeenSession:
    ordered = {turn: turns[turn] for turn in SEATS if turn in turns}
    digests = {turn: cursor.digest(card) for turn, card in ordered.items()}
    return SeenSession(ordered, {turn: words for turn, words in live.items() if turn not in turns}, {}, {}, digests)


STEP = st.tuples(st.sampled_from(["speak", "anew", "store", "change", "cut", "look"]), st.sampled_from(SEATS))


@given(st.lists(STEP, max_size=40))
@settings(max_examples=150, deadline=None)
def test_no_word_is_lost_or_doubled(steps: list[tuple[str, str]]) -> None:
    reader, sent = Reader(), Cursor()
    turns: dict[str, dict[str, Any]] = {}
    live: dict[str, SeenWords] = {}
    for number, (what, turn) in enumerate([*steps, ("look", SEATS[0])]):
        if what in ("speak", "anew") and turn not in turns:
            before = live.get(turn) if what == "speak" else None
            live[turn] = SeenWords(
                before.key if before else f"{number:x}", turn, turn, (before.data if before else b"") + WORDS.encode()
            )
        elif what == "store":
            live.pop(turn, None)
            turns.setdefault(turn, {"turn": turn, "html": f"{number}"})
        elif what == "change" and turn in turns:
            turns[turn] = {"turn": turn, "html": f"{number}"}
        now = take(turns, live)
        if what == "cut":
            sent = cursor.decode(reader.last, now)
        new = list(cursor.advance(sent, now))
        for event in new[: len(new) // 2] if what == "cut" else new:
            reader.read(*event)
        if what == "cut":
            sent = cursor.decode(reader.last, now)
    for event in cursor.advance(sent, take(turns, live)):
        reader.read(*event)
    assert reader.cards == turns
    assert {turn: words for turn, words in reader.words.items() if turn in live} == {
        turn: words.data for turn, words in live.items() if turn not in turns
    }
    fresh = cursor.decode(reader.last, now)
    assert [name for name, *_ in cursor.advance(fresh, now) if name in ("turn", "words")] == []


def test_the_id_stays_short_while_a_debate_goes_on() -> None:
    turns = {f"{number:02}-x/{seat}": {"turn": f"{number:02}-x/{seat}"} for number in range(60) for seat in "abcd"}
    now = SeenSession(turns, {}, {}, {}, {turn: cursor.digest(card) for turn, card in turns.items()})
    sent = Cursor()
    ids = [id for _, _, id in cursor.advance(sent, now)]
    assert max(map(len, ids)) < 20
    assert re.fullmatch(r"240\.[0-9a-f]{8}", ids[-1])


@given(st.text(max_size=20) | st.from_regex(cursor.CURSOR, fullmatch=True))
@settings(max_examples=50, deadline=None)
def test_an_id_that_nobody_gave_is_an_empty_cursor_or_a_cursor(text: str) -> None:
    now = take({SEATS[0]: {"turn": SEATS[0], "html": "x"}}, {SEATS[1]: SeenWords("ab", "b", "b", b"words")})
    sent = cursor.decode(text, now)
    events = list(cursor.advance(sent, now))
    assert all(name in ("turn", "words", "due", "state") for name, _, _ in events)


def test_words_that_nobody_goes_on_with_are_called_broken_off_once() -> None:
    sent, at_work = Cursor(), SeenWords("ab", "a", "A", b"I think")
    list(cursor.advance(sent, take({}, {SEATS[0]: at_work})))
    broken = take({}, {SEATS[0]: SeenWords("ab", "a", "A", b"I think", broken=True)})
    assert [data["broken"] for name, data, _ in cursor.advance(sent, broken) if name == "words"] == [True]
    assert list(cursor.advance(sent, broken)) == []
