"""What reading the ledger costs: each turn and each brief once, however much is named and however often it is asked."""

from __future__ import annotations

from dataclasses import replace

import pytest

from council.engine.scene import RecordedTurn, Turn
from council.protocols import ledger, settling
from council.protocols.ledger import read_ledger
from council.protocols.settling import find_ids, find_settled
from tests.scenes import absent, scene, turn


def said(seat: str, round: int, *blocking: str, brief: str = "", words: str = "") -> Turn:
    made = turn(seat, "debate/propose", round, blocking=blocking)
    return replace(made, said=RecordedTurn(made.body, brief), prose=words)


@pytest.fixture(autouse=True)
def nothing_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledger, "_read", [])
    monkeypatch.setattr(ledger, "_reading", [])


DEBATE = (
    said("engineer", 1, "PII is logged in clear by the gateway.", "Nobody tested the restore."),
    said("architect", 1, "The queue loses its order.", words="C1 is hashed now."),
    absent("designer", "debate/propose", 1, asked="blocking"),
    said("engineer", 2, "C2: nobody tested the restore of the index", words="C1 is answered by the architect."),
    said("architect", 2, words="I withdraw C3."),
    said("engineer", 3, "C1: the hash has no salt"),
)


def test_each_turn_of_a_debate_that_grows_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    read_turn = ledger._Reader.read
    monkeypatch.setattr(ledger._Reader, "read", lambda self, turn: read.append(turn.id) or read_turn(self, turn))
    for length in range(len(DEBATE) + 1):
        read_ledger(scene(*DEBATE[:length]))
    assert read == [turn.id for turn in DEBATE]


def test_a_debate_that_grew_has_the_ledger_of_one_that_is_read_at_once() -> None:
    grown = [read_ledger(scene(*DEBATE[:length])) for length in range(len(DEBATE) + 1)]
    for length, known in enumerate(grown):
        ledger._read.clear()
        ledger._reading.clear()
        assert read_ledger(scene(*DEBATE[:length])) == known
    assert [len(one) for one in grown] == [0, 2, 3, 3, 3, 3, 3]
    assert [one.status for one in grown[-1]] == ["open", "withdrawn", "withdrawn"]


@pytest.mark.parametrize(
    "other",
    [
        scene(*DEBATE[:2]),  # shorter than what was read
        scene(*DEBATE[1:]),  # another debate
        scene(*(replace(one) for one in DEBATE)),  # the same, read from the disk again
        scene(*DEBATE, roles={"synthesis": "debate"}),  # the same words beside the debate
    ],
    ids=["shorter", "another", "again", "beside"],
)
def test_a_reader_goes_on_only_with_the_debate_that_it_has_read(other: ledger.Scene) -> None:
    read_ledger(scene(*DEBATE[:4]))
    found = read_ledger(other)
    ledger._read.clear()
    ledger._reading.clear()
    assert found == read_ledger(other)


def test_a_brief_is_searched_for_ids_once_however_many_items_name_some(monkeypatch: pytest.MonkeyPatch) -> None:
    searched: list[str] = []
    monkeypatch.setattr(ledger, "find_ids", lambda text: searched.append(text) or find_ids(text))
    first = said("engineer", 1, *(f"concern{number} of thing{number}" for number in range(60)))
    brief = " ".join(f"C{number}" for number in range(1, 61))
    again = said("engineer", 2, *(f"C{number}: newer{number}" for number in range(1, 61)), brief=brief)
    found = read_ledger(scene(first, again))
    assert all(len(one.history) == 2 for one in found)
    assert searched.count(brief) == 1


class Looked(str):
    """A brief that counts how often something is looked for in it."""

    __slots__ = ("times",)

    def __contains__(self, words: str, /) -> bool:
        self.times = getattr(self, "times", 0) + 1
        return super().__contains__(words)


@pytest.mark.parametrize("number", [100, 400])
def test_of_many_concerns_that_are_named_beside_a_turn_few_are_looked_for(number: int) -> None:
    brief = Looked("Challenge the others.")
    beside = said("engineer", 1, *(f"concern{one} of thing{one}" for one in range(number)))
    read_ledger(scene(beside, said("architect", 1, brief=brief, words="C1 and C2 are wrong.")))
    assert brief.times == ledger.MOST_COMPARED


def test_an_id_counts_once_however_often_it_is_written() -> None:
    text = "C1 and c01 and " * 2_000 + "C2."
    assert find_ids(text) == ["C1", "C2"]
    assert list(find_settled(text + " I withdraw C1.")) == list(find_settled("I withdraw C1."))


def test_the_sentences_of_a_text_are_found_once(monkeypatch: pytest.MonkeyPatch) -> None:
    split: list[str] = []
    find = settling._split
    monkeypatch.setattr(settling, "_split", lambda text: split.append(text) or find(text))
    settling.forget_sentences()
    text = "C1 is answered by the architect. C2 is not answered."
    assert [one.id for one in find_settled(text)] == ["C1"]
    assert list(settling.find_kept(text)) == ["C2"]
    assert split == [text]


def test_a_sentence_of_very_many_clauses_is_cut_a_few_times() -> None:
    clauses = list(settling._cut("C1 is answered" + ", but C2 is not" * 60))
    assert len(clauses) == settling.MOST_CLAUSES + 1
    assert clauses[:2] == ["C1 is answered", "C2 is not"]
    assert clauses[-1].count("but") == 60 - settling.MOST_CLAUSES
