"""Every view: which earlier turns a seat may read, in full or as gists, under names or under labels."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from council.engine.anonymity import restore_names
from council.engine.scene import Scene
from council.engine.views import check_view, labels_for, look, view
from council.errors import UsageError
from council.workflow.loader import load
from council.workflow.model import Ref, Seat
from tests.scenes import MEMBERS, absent, scene, turn

READER = MEMBERS[0]
SAID = [
    turn("architect", "positions"),
    turn("designer", "positions"),
    *(turn(seat, "debate/argue", round) for round in (1, 2, 3) for seat in ("architect", "designer")),
]
DEBATE = scene(*SAID, turn("chair", "debate/frame", 4))


def shown(*refs: Ref, of: Scene = DEBATE, reader: Seat = READER) -> list[str]:
    """`argue 2 designer` in full, `~` before a gist."""
    return [
        f"{'~' if seen.gist else ''}{seen.turn.step} {seen.turn.round} {seen.turn.seat.name}"
        for seen in look(refs, reader, of)
    ]


def sees(name: str, args: Any = None, **more: Any) -> list[str]:
    return shown(Ref(name, args), **more)


ALL = sees("so_far")


def test_so_far_nothing_own_and_gists() -> None:
    assert len(ALL) == len(DEBATE.turns) == 9
    assert sees("nothing") == []
    assert sees("own") == [
        "positions 1 architect",
        "argue 1 architect",
        "argue 2 architect",
        "argue 3 architect",
    ]
    assert sees("gists") == [f"~{one}" for one in ALL]
    assert sees("so_far", of=scene()) == sees("own", of=scene()) == sees("gists", of=scene()) == []


def test_a_phase_or_a_step_is_a_view() -> None:
    assert sees("positions") == ["positions 1 architect", "positions 1 designer"]
    assert sees("frame") == ["frame 4 chair"]
    assert sees("debate") == ALL[2:]
    assert sees("closing") == []
    older = scene(turn("architect", "beside"), turn("designer", "closing"))  # from before there was a view `beside`
    assert sees("beside", of=older) == ["beside 1 architect"]


def test_several_views_show_each_turn_once_in_the_order_spoken() -> None:
    assert shown(Ref("frame"), Ref("own"), Ref("positions")) == [
        "positions 1 architect",
        "positions 1 designer",
        "argue 1 architect",
        "argue 2 architect",
        "argue 3 architect",
        "frame 4 chair",
    ]


@pytest.mark.parametrize("refs", [(Ref("gists"), Ref("own")), (Ref("own"), Ref("gists"))])
def test_what_one_view_shows_in_full_stays_in_full(refs: tuple[Ref, Ref]) -> None:
    assert [one for one in shown(*refs) if not one.startswith("~")] == sees("own")
    assert len(shown(*refs)) == len(ALL)


@pytest.mark.parametrize(
    ("rounds", "first"),
    [("0", "frame 4 chair"), ("1", "argue 3 architect"), ("2", "argue 2 architect"), ("9", "positions 1 architect")],
)
def test_recent(rounds: str, first: str) -> None:
    """The round being spoken is not counted."""
    assert sees("recent", {"rounds": rounds})[0] == first
    assert sees("recent", {"rounds": rounds}) == ALL[ALL.index(first) :]


def test_recent_by_default_and_before_anything_is_said_in_the_round() -> None:
    assert sees("recent") == sees("recent", {"rounds": "1"})
    assert sees("recent", of=replace(DEBATE, round=5)) == ["frame 4 chair"]
    assert sees("recent", of=scene()) == []


KEEP = {"3": "all", "7": "2", "10": "1"}


@pytest.mark.parametrize(
    ("round", "full"),
    [(1, None), (3, None), (4, 2), (7, 2), (8, 1), (10, 1), (12, 1)],
)
def test_fading(round: int, full: int | None) -> None:
    """All of it while young; then the round being spoken and the last two, then one; the last word holds on."""
    said = [turn("architect", "debate", number) for number in range(1, round)]
    now = scene(*said, turn("designer", "debate", round))
    seen = sees("fading", {"keep": KEEP}, of=now)
    young = round if full is None else full + 1
    assert [one.startswith("~") for one in seen] == [True] * (round - young) + [False] * young


def test_fading_drops_what_is_old_once_there_is_no_digest_of_it() -> None:
    for round, lines in ((6, [1, 2, 3]), (7, [1, 2, 3, 4]), (8, []), (9, [])):
        said = [turn("architect", "debate", number) for number in range(1, round)]
        seen = look([Ref("fading", {"keep": KEEP, "digest": "7"})], READER, scene(*said, turn("a", "debate", round)))
        assert [one.turn.round for one in seen if one.gist] == lines
        assert [one.turn.round for one in seen if not one.gist][-1] == round


@pytest.mark.parametrize(
    ("tokens", "full"),
    [(400, [1, 2, 3, 4]), (399, [2, 3, 4]), (300, [2, 3, 4]), (299, [3, 4]), (100, [4]), (0, [4])],
)
def test_fading_makes_lines_of_the_oldest_until_the_rest_fits(tokens: int, full: list[int]) -> None:
    """A round has two turns of 200 characters; the one being spoken always stays."""
    said = [turn(seat, "debate", round, body="x" * 200) for round in range(1, 5) for seat in ("architect", "designer")]
    seen = look([Ref("fading", {"keep": {"99": "all"}, "tokens": str(tokens)})], READER, scene(*said))
    assert [one.turn for one in seen] == said, "all of it is still there"
    assert [one.turn.round for one in seen if not one.gist] == [round for round in full for _ in range(2)]


def test_what_fading_has_no_room_for_is_a_line_also_where_there_is_no_digest() -> None:
    said = [turn("architect", "debate", round, body="x" * 400) for round in (1, 2, 3)]
    ref = Ref("fading", {"keep": {"1": "1"}, "digest": "1", "tokens": "100"})
    assert [(one.turn.round, one.gist) for one in look([ref], READER, scene(*said))] == [(2, True), (3, False)]


def test_fading_sorts_its_schedule() -> None:
    now = scene(*(turn("architect", "debate", number) for number in range(1, 10)))
    upside_down = dict(reversed(KEEP.items()))
    assert sees("fading", {"keep": KEEP}, of=now) == sees("fading", {"keep": upside_down}, of=now)


@pytest.mark.parametrize(
    ("ref", "why"),
    [
        (Ref("recent", {"rounds": "few"}), "must be a whole number"),
        (Ref("recent", {"rounds": "²"}), "must be a whole number"),
        (Ref("fading", {"keep": {"3": "most"}}), "must be a whole number"),
        (Ref("fading", {"keep": {"soon": "1"}}), "must be a whole number"),
        (Ref("fading", {"keep": {}}), "as in {3: all, 7: 2}"),
        (Ref("fading", {"keep": "3"}), "as in {3: all, 7: 2}"),
        (Ref("fading", {"keep": {"3": "all"}, "digest": "late"}), "fading: digest: .* must be a whole number"),
        (Ref("fading", {"keep": {"3": "all"}, "tokens": "50k"}), "fading: tokens: .* must be a whole number"),
    ],
)
def test_views_say_what_they_cannot_do(ref: Ref, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        look([ref], READER, scene())


# Anonymous


def labels(reader: Seat, of: Scene) -> dict[str, str | None]:
    return {seen.turn.seat.name: seen.label for seen in look([Ref("anonymous")], reader, of)}


def test_anonymous_shows_another_view_under_labels() -> None:
    assert sees("anonymous") == ALL
    assert sees("anonymous", "own") == sees("own")
    assert sees("anonymous", ["positions", {"recent": {"rounds": "1"}}]) == shown(
        Ref("positions"), Ref("recent", {"rounds": "1"})
    )
    assert sees("anonymous", "gists") == sees("gists")
    assert sees("anonymous", of=scene()) == []
    given = labels(READER, DEBATE)
    assert given["architect"] == "You"
    assert set(given.values()) <= {"You", *(f"Member {chr(letter)}" for letter in range(ord("A"), ord("Z") + 1))}


ROUNDS = scene(*(turn(seat, "debate", round) for round in (1, 2) for seat in MEMBERS))


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("reader", MEMBERS)
def test_anonymous_turns_stand_in_the_order_of_their_labels(reader: Seat, seed: int) -> None:
    """Round by round, the reader's own first: nobody can count off who sits where."""
    seen = look([Ref("anonymous")], reader, replace(ROUNDS, seed=str(seed)))
    assert [one.label for one in seen] == ["You", "Member A", "Member B", "Member C"] * 2
    assert [one.turn.round for one in seen] == [1] * 4 + [2] * 4


def test_each_reader_has_an_order_of_its_own() -> None:
    orders = {
        seed: [shown(Ref("anonymous"), of=replace(ROUNDS, seed=seed), reader=one) for one in MEMBERS] for seed in "ab"
    }
    assert len({str(order[1:4]) for order in orders["a"]}) == len(MEMBERS)
    assert orders["a"] != orders["b"]


def test_a_view_with_names_beside_an_anonymous_one_stays_in_the_order_spoken() -> None:
    last = replace(ROUNDS, turns=(*ROUNDS.turns, *(turn(seat, "closing") for seat in MEMBERS)))
    seen = look([Ref("anonymous", "debate"), Ref("closing")], READER, last)
    assert [one.turn.seat.name for one in seen[8:]] == [seat.name for seat in MEMBERS]
    assert [one.label for one in seen[8:]] == [None] * 4


def test_many_labels_stand_as_they_count() -> None:
    crowd = tuple(Seat(f"s{number}", "crowd") for number in range(30))
    now = replace(scene(*(turn(seat, "debate") for seat in crowd)), groups={"crowd": crowd})
    given = [one.label for one in look([Ref("anonymous")], crowd[7], now)]
    assert given[:3] == ["You", "Member A", "Member B"]
    assert given[-2:] == ["Member AB", "Member AC"]


def test_labels_differ_per_reader_and_session() -> None:
    readers = [labels_for(reader, DEBATE) for reader in MEMBERS]
    assert len({str([given.get(seat.name) for seat in MEMBERS]) for given in readers}) == len(MEMBERS)
    sessions = [labels_for(READER, scene(seed=str(seed))) for seed in range(60)]
    assert {frozenset(given.values()) for given in sessions} == {frozenset({"You", "Member A", "Member B", "Member C"})}
    assert len({str(sorted(given.items())) for given in sessions}) == 6, "every way to label three others"


def test_names_in_place_of_labels_make_no_text_of_any_length() -> None:
    """A persona is part of the session, which a stranger may have made: its name would multiply each label."""
    loud = replace(MEMBERS[1], attributes={"title": "T" * 100_000, "name": "N" * 100_000})
    workflow = load(
        """---
name: blind
seats: {members: [architect, designer]}
phases: [{name: challenge, rounds: 2, seats: members, sees: {anonymous: last_round}}]
---
""",
        "blind.md",
    )
    said = turn("architect", "challenge", body="Member A. " * 1_000)
    past = replace(scene(said), groups={"members": (READER, loud)})
    told = restore_names(said.body, said, workflow.with_members((READER, loud)), past)
    assert 1_000 * 400 < len(told) < 1_000 * 500, len(told)


def test_labels_stay_through_the_session() -> None:
    """Also when somebody sits down later: a seat that is cast, or a person."""
    growing = [
        *SAID,
        turn("human", "debate/checkpoint", 3),
        turn("cost", "debate/argue", 4),
        turn("speed", "debate", 4),
    ]
    first = labels_for(READER, scene())
    for spoken in range(len(growing) + 1):
        now = labels_for(READER, scene(*growing[:spoken]))
        assert first.items() <= now.items()
        assert len(set(now.values())) == len(now)
        first = now
    assert {"human", "cost", "speed"} <= set(first)


def test_many_seats_have_as_many_labels() -> None:
    crowd = replace(scene(), groups={"crowd": tuple(Seat(f"s{number}", "crowd") for number in range(60))})
    given = labels_for(READER, crowd)
    assert len(set(given.values())) == 61
    assert {"Member A", "Member Z", "Member AA", "Member BH"} <= set(given.values())


# Gists


@pytest.mark.parametrize(
    ("spoken", "gist"),
    [
        (turn("a", body="One.\n\nTwo."), "One. Two."),
        (turn("a", body="Long " * 100), ("Long " * 60)[:299].rstrip() + "…"),
        (turn("a", body="Words.", gist="In short."), "In short."),
        (turn("a", gist="In short.", stance="agree", satisfaction_score=85), "In short. (satisfaction score 85)"),
        (turn("a", gist="In short.", asked="satisfaction_score"), "In short."),
        (turn("a", body="Words.", stance="agree", score=90), "stance: agree; score: 90; Words."),
        (turn("a", body="Words.", blocking=("x",), essay="e" * 60), "Words."),
        (absent("a"), "absent: timeout"),
        (turn("a", body="Red \x1b[31malert\x1b[0m"), "Red alert"),
    ],
)
def test_gist(spoken: Any, gist: str) -> None:
    assert spoken.gist == gist


@pytest.mark.parametrize(
    ("ref", "why"),
    [
        (Ref("so_fra"), 'no view "so_fra"; did you mean "so_far"'),
        (Ref("positons"), 'did you mean "positions"'),
        (Ref("recent", {"round": "1"}), "unexpected keyword argument 'round'"),
        (Ref("own", "mine"), "too many positional arguments"),
        (Ref("fading"), "missing a required argument: 'keep'"),
        (Ref("anonymous", "so_fra"), 'no view "so_fra"'),
        (Ref("anonymous", ["own", {"recent": {"round": "1"}}]), "unexpected keyword argument 'round'"),
    ],
)
def test_check_view(ref: Ref, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        check_view(ref, {"positions", "debate"})


def test_every_view_has_its_sentence() -> None:
    assert all((function.__doc__ or "")[-1] in ".`" for function in view.known.values())
    for ref in (Ref("so_far"), Ref("positions"), Ref("anonymous"), Ref("anonymous", ["positions", "own"])):
        check_view(ref, {"positions"})


def test_a_step_that_has_the_name_of_a_view_is_still_itself() -> None:
    """In a session of an earlier version, `standing` was the name of a step that anybody might choose."""
    now = scene(turn("engineer", "talk/standing"), turn("designer", "talk/other"))
    assert [seen.turn.seat.name for seen in look([Ref("standing")], MEMBERS[0], now)] == ["engineer"]
