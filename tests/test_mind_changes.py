"""Who changed their mind, and by what: nothing is called persuasion that no record shows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from council.config import overlays
from council.engine.scene import RecordedTurn, Scene, Turn
from council.protocols import mind_changes
from council.protocols.mind_changes import (
    EXPLAINED,
    PERSUADED,
    STEP,
    UNEXPLAINED,
    Comparison,
    compare_rounds,
    find_flips,
    find_measured_field,
)
from council.reports import did_it_help
from council.workflow.loader import load
from council.workflow.model import Seat
from tests.scenes import absent, scene, turn

STALE = "Nine of ten slow requests are writes, and a cache makes no write faster."
PEER = turn("engineer", "positions", body=f"I have looked at the figures.\n\n{STALE}", stance="no")
OWN = turn("architect", "positions", body="Reads are what users wait for.", stance="yes")


def brief(*seen: Turn, gist: bool = False, swap: tuple[str, str] = ("", "")) -> str:
    """What a seat was given to read, as on record: each turn between marks of its own."""
    told = []
    for number, one in enumerate(seen):
        mark = f'said by="{one.seat.label}" key="{number:04x}"'
        words = (one.gist if gist else one.body).replace(*swap)
        told.append(f"<{mark}>\n{words}\n</{mark}>")
    return "\n\n".join(["Read this.", *told, "Answer."])


def moved(flaw: str | None, *seen: Turn, seat: str = "architect", prose: str = "", **how: Any) -> Turn:
    """The seat's next turn, with another stance, after it has read these."""
    asked = {} if flaw is None else {"flaw": flaw}
    made = turn(seat, stance="no", **asked)
    body = f"{made.body}\n\n{prose}" if prose else made.body
    return replace(made, prose=prose, said=replace(made.said, body=body, brief=brief(*seen, **how)))


def kind(*turns: Turn) -> str:
    (only,) = find_flips(scene(*turns))
    return only.kind


# ---- what is a change of mind ----


def changes(*stances: str | None, field: str = "stance", of: str = "yes") -> list[tuple[Any, Any]]:
    said = [
        absent("a", round=number, asked=field) if one is None else turn("a", round=number, **{field: one})
        for number, one in enumerate(stances, 1)
    ]
    return [(flip.before, flip.after) for flip in find_flips(scene(*said), field)]


@pytest.mark.parametrize(
    ("stances", "found"),
    [
        (("yes", "yes"), []),
        (("yes", "no"), [("yes", "no")]),
        (("yes", "mixed", "no"), [("yes", "mixed"), ("mixed", "no")]),
        (("yes", "no", "yes"), [("yes", "no"), ("no", "yes")]),
        (("yes", "Yes"), []),
        (("yes",), []),
        ((), []),
        ((None, "yes"), []),  # to be heard for the first time is no change
        (("yes", None, "yes"), []),
        (("yes", None, "no"), [("yes", "no")]),  # silence took nothing back
        (("yes", None), []),
    ],
)
def test_a_stance_that_is_another_one_than_before(stances, found):
    assert changes(*stances) == found


@pytest.mark.parametrize(
    ("scores", "found"),
    [
        ((70, 79), []),
        ((70, 80), [(70, 80)]),
        ((70, 60), [(70, 60)]),
        ((89, 90), []),  # a target that is passed by a point
        ((70, 76, 82, 88), [(70, 82)]),  # from where it last stood, so that small steps add up
        ((70, 76, 70), []),
        ((70, 80, 89, 91), [(70, 80), (80, 91)]),
        ((70.5, 80.5), [(70.5, 80.5)]),
        ((0, 10), [(0, 10)]),
        ((10, 0), [(10, 0)]),
        ((70, None, 90), [(70, 90)]),
    ],
)
def test_a_score_that_is_ten_points_away(scores, found):
    assert STEP == 10
    assert changes(*scores, field="score") == found


def test_each_seat_is_held_to_its_own_words():
    said = [turn("a", round=1, stance="yes"), turn("b", round=1, stance="no")]
    assert (
        find_flips(scene(*said, turn("b", round=2, stance="yes"), turn("a", round=2, stance="yes")))[0].turn.seat.name
        == "b"
    )
    assert len(find_flips(scene(*said, turn("b", round=2, stance="no"), turn("a", round=2, stance="yes")))) == 0


# ---- by what ----


@pytest.mark.parametrize(
    ("flaw", "expected"),
    [
        (STALE, PERSUADED),
        (f"“{STALE}” I had not looked at writes at all, and spoke of what people see on their screens.", PERSUADED),
        ("Member B showed that slow requests are writes. I had spoken of something else entirely there.", PERSUADED),
        ("The engineer's figures: nine of ten slow requests.", PERSUADED),
        ("The licence forbids what I proposed for our customers abroad.", EXPLAINED),
        ("Member B is right.", EXPLAINED),  # that names nobody's argument
        ("writes", EXPLAINED),  # neither does a word that everybody says
        ("The others convinced me with their view of the figures.", EXPLAINED),
        ("none", UNEXPLAINED),
        ("None.", UNEXPLAINED),
        ("None: I only say it more plainly.", UNEXPLAINED),
        ("no flaw", UNEXPLAINED),
        ("n/a", UNEXPLAINED),
        ("- none -", UNEXPLAINED),
        ("…", UNEXPLAINED),
        ("", UNEXPLAINED),
        ("Nothing I said holds: nine of ten slow requests are writes.", PERSUADED),
    ],
)
def test_the_flaw_is_looked_for_in_what_the_seat_had_read(flaw, expected):
    assert kind(OWN, PEER, moved(flaw, OWN, PEER)) == expected


def test_the_turn_that_showed_it_is_named():
    other = turn("designer", "positions", body="It is ugly.", stance="no")
    (flip,) = find_flips(scene(OWN, other, PEER, moved(STALE, OWN, other, PEER)))
    assert (flip.before, flip.after, flip.flaw) == ("yes", "no", STALE)
    assert flip.source is not None
    assert flip.source.id == PEER.id
    later = replace(PEER, id="elsewhere/researcher", seat=Seat("researcher", "members"))
    (flip,) = find_flips(scene(OWN, PEER, later, moved(STALE, OWN, PEER, later)))
    assert flip.source is not None
    assert flip.source.id == PEER.id, "whoever said it first"


def test_what_it_could_not_have_read_moved_nobody():
    assert kind(OWN, PEER, moved(STALE, OWN)) == EXPLAINED
    assert kind(OWN, PEER, moved(STALE)) == EXPLAINED
    unshown = replace(moved(STALE), said=RecordedTurn("words", brief=f"The question is whether this is so: {STALE}"))
    assert kind(OWN, PEER, unshown) == EXPLAINED, "words that stand in the brief, but in nobody's turn"
    mine = moved(STALE, OWN, PEER)
    same_time = [turn("researcher", body=STALE, stance="no"), moved(STALE, OWN, turn("researcher", body=STALE))]
    assert kind(OWN, PEER, mine) == PERSUADED
    assert kind(OWN, same_time[1], same_time[0]) == EXPLAINED, "said in the same round, or later"


def test_a_gist_is_read_as_a_gist():
    long = turn("engineer", "positions", body=f"{'Many words. ' * 40}\n\n{STALE}", stance="no")
    assert kind(OWN, long, moved(STALE, OWN, long)) == PERSUADED
    assert kind(OWN, long, moved(STALE, OWN, long, gist=True)) == EXPLAINED
    short = replace(long, answers={"stance": "no", "gist": STALE})
    assert kind(OWN, short, moved(STALE, OWN, short, gist=True)) == PERSUADED


def test_labels_differ_from_reader_to_reader_and_hide_nothing():
    peer = replace(PEER, said=RecordedTurn(f"Member A says otherwise, and yet: {STALE}"))
    assert kind(OWN, peer, moved(STALE, OWN, peer, swap=("Member A", "Member D"))) == PERSUADED
    assert kind(OWN, peer, moved(STALE, OWN, peer, swap=("Member A", "You"))) == PERSUADED


def test_what_the_seat_had_said_itself_is_no_argument_of_a_peers():
    own = replace(OWN, said=RecordedTurn(f"I know this: {STALE}"))
    assert kind(own, PEER, moved(STALE, own, PEER)) == EXPLAINED
    assert kind(own, moved(STALE, own)) == EXPLAINED
    half = replace(OWN, said=RecordedTurn("Slow requests are writes."))
    assert kind(half, PEER, moved(STALE, half, PEER)) == PERSUADED, "the peer's turn has more of it"


def test_ones_own_gist_is_no_peers_turn():
    """It joins the paragraphs of the turn, so that more of a flaw stands in it than in each of them."""
    own = replace(
        OWN, said=RecordedTurn("Nine of ten slow requests.\n\nAre writes, and a cache makes no write faster.")
    )
    assert kind(own, moved(STALE, own, gist=True)) == EXPLAINED


def test_an_absent_peer_has_no_argument():
    gone = replace(absent("engineer", "positions", asked="stance"), said=RecordedTurn(STALE, absent="timeout"))
    assert kind(OWN, gone, moved(STALE, OWN, gone)) == EXPLAINED


def test_an_argument_stands_in_one_passage():
    """Words that are strewn over a long turn are no argument of its author's."""
    strewn = (
        "Nine people asked.\n\nTen answered.\n\nSlow is fine.\n\nRequests vary.\n\nWrites happen.\n\nA cache exists."
    )
    peer = replace(PEER, said=RecordedTurn(strewn))
    assert kind(OWN, peer, moved(STALE, OWN, peer)) == EXPLAINED
    listed = replace(PEER, said=RecordedTurn(f"What I hold:\n- it is dear\n- {STALE}\n- it is new"))
    assert kind(OWN, listed, moved(STALE, OWN, listed)) == PERSUADED


@pytest.mark.parametrize(
    ("prose", "expected"),
    [
        (f"The engineer convinced me: {STALE[0].lower()}{STALE[1:]}", PERSUADED),
        ("I have changed my mind: nine of ten slow requests are writes.", PERSUADED),
        ("I was wrong. Nine of ten slow requests are writes.", EXPLAINED),  # the sentence that says so names nothing
        ("I now agree that slow requests are writes and a cache makes no write faster.", PERSUADED),
        ("I no longer hold it, since the licence forbids it abroad.", EXPLAINED),
        (STALE, UNEXPLAINED),  # to quote an argument is not to be moved by it
        (f"I disagree with the engineer: {STALE}", UNEXPLAINED),
        (f"Nobody has convinced me that {STALE}", UNEXPLAINED),
        (f"I have not changed my mind: {STALE}", UNEXPLAINED),
        (f"You won't find that it convinced me that {STALE}", UNEXPLAINED),
        ("", UNEXPLAINED),
    ],
)
def test_without_a_flaw_only_a_sentence_that_says_so_can_explain(prose, expected):
    assert kind(OWN, PEER, moved(None, OWN, PEER, prose=prose)) == expected


def test_without_a_flaw_a_rationale_can_explain() -> None:
    convinced = moved(None, OWN, PEER)
    reason = {"rationale": f"The engineer convinced me: {STALE}"}
    silent = replace(convinced, asked=("stance", "rationale"), answers={**convinced.answers, "rationale": "So."})
    silent = replace(silent, said=replace(silent.said, body=f"## Rationale\n{reason['rationale']}"))
    assert kind(OWN, PEER, silent) == UNEXPLAINED
    assert kind(OWN, PEER, replace(silent, answers={**silent.answers, **reason})) == PERSUADED


GLUED = (
    "Marcus convinced me: editors skip the cache,\nand that costs one line. It was my one condition,\n"
    "so I withdraw what I called blocking."
)


def test_the_flaw_is_one_passage_of_the_turn() -> None:
    """Two sentences, each of which goes on in the next line: neither is cut, and they are not put together."""
    (flip,) = find_flips(scene(OWN, PEER, moved(None, OWN, PEER, prose=GLUED)))
    assert " ".join(flip.flaw.split()) == "Marcus convinced me: editors skip the cache, and that costs one line."


def test_what_stands_in_two_places_is_no_passage() -> None:
    """The prose is what is left of a reply without its answers: its halves were never next to each other."""
    parted = moved(None, OWN, PEER, prose=f"I have changed\nmy mind: {STALE}")
    body = f"I have changed\n\n## Stance\nno\n\nmy mind: {STALE}"
    assert kind(OWN, PEER, replace(parted, said=replace(parted.said, body=body))) == UNEXPLAINED


def test_nobody_is_said_to_have_conformed() -> None:
    """Who names a reason in words of their own has explained the change."""
    (flip,) = find_flips(scene(OWN, PEER, moved("The others are right about our customers abroad.", OWN, PEER)))
    assert (flip.kind, flip.source) == (EXPLAINED, None)
    assert "conformed" not in mind_changes.KINDS


def test_where_the_flaw_was_asked_for_the_prose_explains_nothing():
    assert kind(OWN, PEER, moved("none", OWN, PEER, prose=f"The engineer convinced me: {STALE}")) == UNEXPLAINED
    silent = moved(None, OWN, PEER, prose=f"The engineer convinced me: {STALE}")
    assert kind(OWN, PEER, replace(silent, asked=("stance", "flaw"))) == UNEXPLAINED


# ---- by which answer ----


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("delphi", "stance"),
        ("debate", "stance"),
        ("board", "stance"),
        ("planning-2", "stance"),
        ("consensus", "satisfaction_score"),
        ("quick", ""),
        ("patchlist", ""),
    ],
)
def test_what_is_measured(name, answer):
    assert find_measured_field(load(*overlays.workflow_text(name))) == answer


PROGRAM = """---
name: x
seats: {{members: [architect], control: control}}
options: {options}
phases:
  - {{name: one, reply: {reply}}}
  - {{name: control, seats: control, reply: {{stance: yes | no}}}}
---"""


@pytest.mark.parametrize(
    ("reply", "options", "answer"),
    [
        ("{sure: 0-100, stance: yes | no}", "{control: false}", "stance"),
        ("{clear: 0-1, grade: 1-6, score: 0-100, other: 0-100}", "{control: false}", "score"),
        ("{clear: 0-1, found: integer}", "{control: false}", ""),
        ("{clear: 0-1}", "{}", "stance"),  # without the option, a phase of that name is one like others
    ],
)
def test_of_a_workflow_of_ones_own(reply, options, answer):
    assert find_measured_field(load(PROGRAM.format(reply=reply, options=options), "x.md")) == answer


# ---- did it help? ----


def stand(*rounds: str, control: str = "", usd: float | None = 0.01) -> Scene:
    """Rounds of stances by letter: `y`es `n`o `m`ixed `?` unreadable `-` absent; each call has its price."""
    words = {"y": "yes", "n": "no", "m": "mixed"}
    said = []
    for number, letters in enumerate(rounds, 1):
        for seat, letter in zip("abcdef", letters, strict=False):
            given = {"stance": words[letter]} if letter in words else {}
            made = turn(seat, round=number, asked="stance", **given)
            made = absent(seat, round=number, asked="stance") if letter == "-" else made
            said.append(replace(made, said=replace(made.said, usd=usd)))
    if control:
        alone = turn("control", "control", asked="answer", **({"answer": words[control]} if control in words else {}))
        said.append(replace(alone, said=replace(alone.said, usd=0.5)))
    return scene(*said, options={"control": bool(control)})


def told(*rounds: str, **how: Any) -> str:
    return did_it_help.sentence(found(stand(*rounds, **how)))


def found(of: Scene, field: str = "stance") -> Comparison:
    result = compare_rounds(of, field)
    assert result is not None
    return result


@pytest.mark.parametrize(
    ("rounds", "first", "last", "same"),
    [
        (("yyynn", "yyyyn"), "yes", "yes", True),
        (("yyynn", "nnnny"), "yes", "no", False),
        (("yynnm", "yyynn"), None, "yes", False),
        (("yynnm", "yynnm"), None, None, True),
        (("yyynn", "yynnm"), "yes", None, False),
        (("yy--", "yyy-"), None, "yes", False),  # half of all seats is no majority, whoever is silent
        (("yy??", "yy??"), None, None, True),
        (("yn", "yy"), None, "yes", False),
        (("yyy", "nnn", "yyn"), "yes", "yes", True),
        (("----", "yyyy"), None, "yes", False),
        (("yyyy", "----"), "yes", None, False),
        (("nnn",), "no", "no", True),
    ],
)
def test_the_first_round_against_the_last(rounds, first, last, same):
    result = found(stand(*rounds))
    assert (result.first.answer, result.last.answer, result.same) == (first, last, same)


def test_nobody_was_asked():
    assert compare_rounds(scene(turn("a", "positions", blocking=()))) is None
    assert compare_rounds(scene(turn("a", stance="yes")), "") is None
    assert compare_rounds(scene()) is None


def test_it_is_told_in_a_paragraph():
    assert told("yyynn", "yyyyn") == (
        "First count: 3 of 5 say yes. Final count: 4 of 5 say yes. "
        "1 change of mind (1 unexplained). Cost: 10 calls ($0.1000), of which 5 calls before the first count."
    )
    assert " (a different answer). 3 changes of mind (3 unexplained)." in told("yyynn", "nnnnn")
    assert "First count: 2 yes, 2 no, 1 mixed. Final count: 3 of 5 say yes." in told("yynnm", "yyymn")
    assert "Final count: 2 yes, 2 no (no majority any more)." in told("yyyn", "yynn")
    assert "Final count: 2 not heard (no majority any more). Nobody changed their mind." in told("yy", "--")
    assert told("nnnnn").startswith("Only count: 5 of 5 say no (no change can be measured). Cost: 5 calls")


def test_the_control_stands_beside_it_and_counts_nowhere():
    result = found(stand("yyn", "yyy", control="n"))
    assert (result.spent.calls, result.last.of) == (6, 3)
    assert [flip.turn.seat.name for flip in result.flips] == ["c"]
    beside = "Baseline without a debate, 1 call ($0.5000):"
    assert told("yyn", "yyy", control="n").endswith(f"first count. {beside} no, not the debate's answer.")
    assert told("yyn", "yyy", control="y").endswith(f"{beside} yes, the same as the debate.")
    assert told("yn", "yn", control="y").endswith(f"{beside} yes, the debate has no majority.")
    assert told("yy", "yy", control="?").endswith("the answer could not be read.")


def test_a_price_that_nobody_knows_makes_the_sum_unknown():
    assert "Cost: 4 calls (unknown price), of which 2 calls before the first count." in told("yy", "yy", usd=None)


def test_whoever_was_asked_again_took_two_calls():
    first = RecordedTurn("What?", usd=0.25)
    again = replace(turn("a", stance="yes"), first=first)
    unread = replace(turn("b", asked="stance"), problems=("no stance",))
    person = turn(Seat("human", "members"), stance="yes")
    result = found(scene(turn("z", "positions"), again, unread, person))
    assert (result.before.calls, result.spent.calls) == (5, 5), "a person's is no call"
    assert result.spent.usd == 0.5 + 0.25 + 0.5 + 0.5


def scored(*rounds: tuple[int | None, ...]) -> Scene:
    return scene(
        *(
            turn(seat, round=number, asked="score", **({} if score is None else {"score": score}))
            for number, scores in enumerate(rounds, 1)
            for seat, score in zip("abcd", scores, strict=False)
        )
    )


@pytest.mark.parametrize(
    ("rounds", "says", "same"),
    [
        (
            ((60, 70), (80, 95)),
            "First count: mean 65 (of 2). Final count: mean 87.5 (of 2), 22.5 points up",
            False,
        ),
        (((60, 70), (50, 40)), "20 points down. 2 changes of mind (2 unexplained)", False),
        (((60, 70), (69, 79)), "the same within 10 points. Nobody changed their mind", True),
        (((60, 70), (70, 80)), "10 points up. 2 changes", False),
        (((90, 90), (90, None)), "First count: mean 90 (of 2). Final count: mean 45 (of 2)", False),
        (((60, None), (60, 60)), "First count: mean 30 (of 2)", False),  # who gives none is not satisfied
    ],
)
def test_scores_are_told_by_their_mean(rounds, says, same):
    result = found(scored(*rounds), "score")
    assert result.same is same
    assert says in did_it_help.sentence(result)


def test_every_kind_is_counted_also_where_there_is_none():
    assert found(stand("yy", "yy")).kinds == {"persuaded": 0, "explained": 0, "unexplained": 0}
    assert tuple(found(stand("yy", "nn")).kinds) == mind_changes.KINDS
    assert found(stand("yy", "nn")).kinds["unexplained"] == 2
