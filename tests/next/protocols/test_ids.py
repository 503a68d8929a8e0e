"""What becomes of ids that are joined, rejected or withdrawn, and of texts in the same words."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from types import FrameType
from typing import Any

import pytest

from council.next.engine.planner import Due, Plan
from council.next.engine.scene import Recorded
from council.next.protocols.ids import Register, read_word
from council.next.protocols.outcome import Outcome
from council.next.replies.kinds import Signature
from council.next.replies.write import write
from tests.next.debates import form, replay, workflow_of
from tests.next.debates import hold as hold_any
from tests.next.protocols.held import Held, Vote, debate, kit, signs, standing


def lines_run(work: Callable[[], Any]) -> int:
    """How many lines of the protocols run, loops included. Unlike time, it is the same on every machine."""
    lines = 0

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal lines
        lines += event == "line"
        return trace if "/protocols/" in frame.f_code.co_filename else None

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return lines


def test_many_conditions_are_each_looked_at_once() -> None:
    def lines(number: int) -> int:
        many = signs("R1", conditions=[f"condition {place} holds" for place in range(number)])
        held = Held(kit("Debate"), challenges={"all": signs("R1"), "D": many}).until("closing")
        held.plan.scene.kept.clear()
        assert len(Outcome(held.plan).conditions) == number
        return lines_run(lambda: Outcome(held.plan))

    assert lines(400) < 2.2 * lines(200)


def test_all_plans_of_a_debate_cost_what_its_turns_cost() -> None:
    """Each round, every member revises its text, and some sign, reject and list what there is."""
    reply = {
        "recommendation": "text",
        "signs": "vote",
        "rulings": "list ?",
        "conditions": "list ?",
        "ready": "yes | no",
    }

    def speak(due: Due) -> str:
        side = Signature("own" if due.seat.name == "ada" else "R1")
        given = {"recommendation": f"{due.seat.name} in round {due.round}", "signs": side, "ready": "no"}
        lists = {"rulings": ("K1: reject: no",), "conditions": ("K1", f"new in round {due.round}")}
        return form(due, **given, **(lists if due.round > 1 else {"conditions": ("a date",)}))

    def lines(rounds: int) -> int:
        until = {"agreed": "majority_signs", "ready": {"every": {"ready": "yes"}}}
        workflow = workflow_of([{"name": "talk", "rounds": [str(rounds)] * 2, "reply": reply, "until": until}])
        return lines_run(lambda: hold_any(workflow, speak))

    assert lines(40) < 2.2 * lines(20)


def test_a_condition_is_refused_under_the_name_of_another_that_was_called_the_same() -> None:
    """The dissenter named the first wording; the one that a signer holds is refused, and so is its owner's yes."""
    first, second = signs("R4", conditions="a date is named"), signs("R4", conditions="a day is named")
    challenges = {"all": signs("R4"), "A": {**first, "signs": signs("R1")["signs"]}, "R": second}
    no = signs("R4", rulings="K2: reject: no")
    closing = {"A": signs("R1"), "D": no, "E": no, "R": signs("R4", rulings="K2: same as K1")}
    found = debate(challenges, closing)
    assert [one.seat for one in found.count.agreeing] == ["designer", "engineer"]
    assert [(term.item.id, term.standing) for term in found.conditions] == [("K1", "refused")]
    assert found.kind == "undecided"


def test_an_item_is_withdrawn_under_the_id_of_another_that_was_called_the_same() -> None:
    challenges = {
        "all": signs("R1"),
        "A": signs("R1", blocking="no backup"),
        "D": signs("R1", blocking="there is no backup"),
    }
    own = signs("R1", rulings=("C2: same as C1", "C1: withdrawn"))
    assert [one.holders for one in debate(challenges, {"all": signs("R1"), "D": own}).blocking] == [["architect"]]
    both = debate(challenges, {"all": signs("R1"), "A": signs("R1", rulings="C1: withdrawn"), "D": own})
    assert (both.kind, both.blocking) == ("agreed", ())


def test_an_item_that_is_listed_twice_has_one_holder() -> None:
    found = debate({"all": signs("R1"), "D": signs("R1", blocking=("no backup", "No  backup"))})
    assert [(one.id, one.holders) for one in found.blocking] == [("C1", ["designer"])]
    again = debate(
        {"all": signs("R1"), "D": signs("R1", blocking="no backup")},
        {"all": signs("R1"), "D": signs("R1", blocking=("C1", "no backup"))},
    )
    assert [(one.id, one.holders) for one in again.blocking] == [("C1", ["designer"])]


def test_a_withdrawn_wording_leaves_the_owners_other_one() -> None:
    challenges = {"all": signs("R1"), "A": signs("R1", blocking=("no backup", "there is no backup"))}
    closing = {"all": signs("R1"), "A": signs("R1", rulings=("C2: same as C1", "C2: withdrawn"))}
    assert [one.id for one in debate(challenges, closing).blocking] == ["C1"]


@pytest.mark.parametrize("side", ["own", "none", "R2"])
def test_beside_a_new_text_own_none_and_the_old_id_mean_the_new_text(side: str) -> None:
    revised = signs(side, "" if side != "none" else "R2 was too long", recommendation="A shorter text.")
    found = standing({"all": signs("R1"), "D": revised})
    assert [one.side for one in found.count.voices] == ["R1", "R2b", "R1", "R1"]
    twice = standing({"all": signs("R1"), "A": signs("own", recommendation="A shorter text."), "D": revised})
    assert [one.side for one in twice.count.voices] == ["R1b", "R1b", "R1", "R1"], "two give the same words at once"


def test_a_text_of_somebody_who_took_over_anothers_gets_a_number_of_its_own() -> None:
    phases = [{"name": "talk", "rounds": ["3", "3"], "reply": {"recommendation": "text", "signs": "vote"}}]
    words = {1: "{seat} first", 2: "ada first", 3: "{seat} third"}

    def speak(due: Due) -> str:
        return form(due, recommendation=words[due.round].format(seat=due.seat.name), signs=Signature("own"))

    found = Outcome(hold_any(workflow_of(phases), speak))
    assert [(one.id, one.replaces) for one in found.recommendations] == [
        *((f"R{number}", "") for number in (1, 2, 3)),
        ("R1b", "R1"),
        ("R4", ""),
        ("R5", ""),
    ]
    assert [[one.side for one in vote] for vote in found.votes] == [["R1", "R2", "R3"], ["R1"] * 3, ["R1b", "R4", "R5"]]


def test_a_text_that_its_owner_gave_up_leaves_the_list_however_it_did_so() -> None:
    """By going back to an older text, which is listed again, or by taking over somebody else's."""
    phases = [{"name": "talk", "rounds": ["4", "4"], "reply": {"recommendation": "text", "signs": "vote"}}]
    words = {"ada": ["a queue", "a table", "a queue", "a log"], "bo": ["a lock", "a queue"], "cy": ["a cron job"]}
    lists: dict[int, tuple[str, ...]] = {}
    plan, said = Plan(workflow_of(phases), "seed"), dict[str, Recorded]()
    while plan.advance(said).due:
        for due in plan.due:
            lists[due.round - 1] = Register.of(plan.scene).listed
            own = words[due.seat.name]
            text = own[min(due.round, len(own)) - 1]
            said[due.id] = Recorded(form(due, recommendation=text, signs=Signature("own")))
    lists[4] = Register.of(plan.scene).listed
    assert {number: listed for number, listed in lists.items() if number} == {
        1: ("R1", "R2", "R3"),
        2: ("R1", "R3", "R1b"),  # bo has taken over R1
        3: ("R1", "R3"),
        4: ("R1", "R3", "R1c"),
    }


def test_after_twenty_six_texts_a_seat_begins_with_a_new_number() -> None:
    phases = [{"name": "talk", "rounds": ["28", "28"], "seats": "ada", "reply": {"recommendation": "text"}}]
    found = Outcome(hold_any(workflow_of(phases), lambda due: form(due, recommendation=f"text {due.round}")))
    ids = [one.id for one in found.recommendations]
    assert (ids[:2], ids[24:]) == (["R1", "R1b"], ["R1y", "R1z", "R2", "R3"])


def test_a_rejection_counts_until_its_author_says_otherwise_and_never_against_what_it_holds() -> None:
    reply = {"recommendation": "text ?", "signs": "vote", "conditions": "list ?", "rulings": "list ?"}
    workflow = workflow_of([{"name": "talk", "rounds": ["4", "4"], "reply": reply}])
    said: dict[tuple[str, int], dict[str, Any]] = {
        ("ada", 1): {"recommendation": "a queue", "signs": Signature("own")},
        ("bo", 1): {"conditions": ("a date",), "recommendation": "a table"},
        ("bo", 2): {"rulings": ("K1: reject: not mine any more",)},
        ("cy", 2): {"rulings": ("K1: reject: no",), "conditions": ("K1",)},
        ("ada", 2): {"rulings": ("K1: reject: no",)},
        ("ada", 3): {"rulings": ("K1: reject: still no", "K1: stands")},
    }
    terms = {}

    def speak(due: Due) -> str:
        terms[due.round] = [
            (one.standing, [by.seat for by in one.rejections]) for one in Outcome(held["plan"]).conditions
        ]
        side = Signature("R1") if due.round > 1 else Signature("none", "later")
        return form(due, **{"signs": side, **said.get((due.seat.name, due.round), {})})

    held: dict[str, Plan] = {}
    plan, recorded = Plan(workflow, "seed"), dict[str, Recorded]()
    held["plan"] = plan
    while plan.advance(recorded).due:
        for due in plan.due:
            recorded[due.id] = Recorded(speak(due))
    assert terms[3] == [("stands", ["ada"])], "bo and cy list it, so their rejections do not count"
    assert terms[4] == [("stands", [])]


def test_who_writes_the_result_adds_nothing_of_its_own() -> None:
    reply = {"recommendation": "text ?", "signs": "vote", "blocking": "list ?"}
    result = {"title": "text", "blocking": "list", "recommendation": "text"}
    workflow = workflow_of(
        [{"name": "talk", "reply": reply}, {"name": "synthesis", "role": "synthesis", "reply": result}]
    )

    def speak(due: Due) -> str:
        if due.phase.name == "talk":
            return form(due, signs=Signature("own"), recommendation="a queue")
        return form(due, title="A queue", blocking=("no backup",), recommendation="a table")

    found = Outcome(hold_any(workflow, speak))
    assert (found.kind, found.title, found.blocking) == ("agreed", "A queue", ())
    assert [one.id for one in found.recommendations] == ["R1"]


def test_a_condition_that_is_withdrawn_after_the_vote_is_refused_by_nobody() -> None:
    reply = {"recommendation": "text", "signs": "vote", "conditions": "list ?", "rulings": "list ?"}
    phases = [
        {"name": "talk", "rounds": ["2", "2"], "reply": reply},
        {"name": "after", "reply": {"rulings": "list ?"}},
    ]

    def speak(due: Due) -> str:
        given: dict[str, Any] = {"signs": Signature("own"), "recommendation": "a queue"}
        if due.seat.name == "ada":
            given |= {"conditions": ("a date",)} if due.step.name == "talk" else {"rulings": ("K1: withdrawn",)}
        elif due.round == 2:
            given |= {"rulings": ("K1: reject: no",)}
        return form(due, **{name: value for name, value in given.items() if name in due.step.reply})

    found = Outcome(hold_any(workflow_of(phases), speak))
    assert (found.kind, found.conditions, found.dissents) == ("agreed", (), ())


def test_nobody_is_moved_by_its_own_words() -> None:
    talk = "Nobody has measured why these nine queries are slow."
    closing = {"all": signs("R1"), "D": signs("R1", moved_by=f'"{talk}"')}
    challenges = {"all": signs("R1"), "D": {**signs("R1"), "talk": talk}}
    held = Held(kit("Debate", three_rounds=True), challenges=challenges, closing=closing).until()
    move = held.outcome.count.voices[1].move
    assert move is not None
    assert move.turn == ""


def test_a_condition_that_nobody_was_asked_to_rule_on() -> None:
    """Delphi's members can name conditions, but no heading asks them about the others'."""
    yes, no = {"says": "yes", "conditions": ("a date",)}, {"says": "no"}
    votes: list[Vote] = [{"all": yes, "A": no}, {"all": yes, "R": no}]
    found = Held(kit("Delphi"), positions={"all": yes, "R": no}, challenge=votes).until().outcome
    assert len(found.votes) == 3
    assert {term.standing for term in found.conditions} == {"not ruled on"}


def test_own_beside_the_words_of_another_text_signs_that_text() -> None:
    taken = signs("own", recommendation="what Architect would do.")
    found = standing({"all": signs("R1"), "D": taken})
    assert [one.side for one in found.count.voices] == ["R1"] * 4
    assert found.standing == "agreed"


@pytest.mark.parametrize("reply", [{"signs": "vote"}, {"says": "yes | no"}])
def test_a_vote_may_be_asked_for_where_the_result_is_written(reply: dict[str, str]) -> None:
    workflow = workflow_of([{"name": "result", "role": "synthesis", "reply": reply}])
    answers = {"signs": Signature("undecided", "all of it")} if "signs" in reply else {"says": "yes"}
    found = Outcome(hold_any(workflow, lambda due: form(due, **answers)))
    assert found.kind == ("undecided" if "signs" in reply else "agreed")


@pytest.mark.parametrize("given", ['"............"', '"a                b"', "…………………………", '"a short one"'])
def test_what_is_too_short_to_be_a_quotation_moves_nobody(given: str) -> None:
    challenges = {"all": signs("R1"), "R": {**signs("R1"), "talk": "a b, said in a short one …………"}}
    closing = {"all": signs("R1"), "D": signs("R1", moved_by=given)}
    held = Held(kit("Debate", three_rounds=True), challenges=challenges, closing=closing).until()
    move = held.outcome.count.voices[1].move
    assert move is not None
    assert move.turn == ""


def test_of_many_quotations_the_first_three_are_looked_for() -> None:
    talk = "Nobody has measured why these nine queries are slow."
    wrong = "".join(f'"a sentence number {number} that nobody said" ' for number in range(5_000))
    for given, turn in ((f'"nobody has measured" {wrong}', "02-challenges/researcher"), (f'{wrong} "{talk}"', "")):
        closing = {"all": signs("R1"), "D": signs("R1", moved_by=given)}
        held = Held(
            kit("Debate", three_rounds=True),
            challenges={"all": signs("R1"), "R": {**signs("R1"), "talk": talk}},
            closing=closing,
        )
        move = held.until().outcome.count.voices[1].move
        assert move is not None
        assert move.turn == turn


def test_a_turn_of_the_same_batch_moved_nobody() -> None:
    """It was not read yet, though it has the very words."""
    talk = "Nobody has measured why these nine queries are slow."
    challenges = {"all": signs("R1"), "A": {**signs("R1"), "talk": talk}, "D": signs("R1", moved_by=f'"{talk}"')}
    move = debate(challenges).count.voices[1].move
    assert move is not None
    assert move.turn == ""


def test_a_ruling_on_an_item_of_the_same_batch_rules_on_nothing() -> None:
    """C1 gets its id while the others speak, so none of them can have read it."""
    challenges = {"all": signs("R1"), "D": signs("R1", conditions="a date")}
    blind = signs("R1", rulings="K2: reject: no")
    closing = {"all": blind, "D": signs("R1", conditions=("K1", "a budget"))}
    held = Held(kit("Debate", three_rounds=True), challenges=challenges, closing=closing).until()
    assert [(term.item.id, term.standing, term.rejections) for term in held.outcome.conditions] == [
        ("K1", "stands", ()),
        ("K2", "not ruled on", ()),
    ]
    assert held.outcome.kind == "agreed on conditions"


def test_whoever_signed_a_text_before_its_owner_revised_it_does_not_dissent_from_the_revision() -> None:
    challenges = {"all": signs("R1"), "A": signs("own", recommendation="A shorter text.")}
    absent = debate(challenges, {"all": signs("R1b"), "R": None})
    assert (absent.kind, absent.follows, absent.dissents) == ("agreed", "R1b", ())
    present = debate(challenges, {"all": signs("R1b"), "R": signs("R1")})
    assert (present.kind, [one.text for one in present.dissents]) == (
        "agreed with dissent",
        ["R1: What architect would do."],
    )
    other = debate(challenges, {"all": signs("R2"), "R": None})
    assert (other.kind, [one.text for one in other.dissents]) == (
        "agreed with dissent",
        ["R1: What architect would do."],
    )


def test_an_earlier_no_does_not_become_a_yes_because_its_owner_falls_silent() -> None:
    yes, no = {"says": "yes"}, {"says": "no"}
    votes: list[Vote] = [{"all": yes, "A": no, "S": no}, {"all": yes, "A": no, "S": None}]
    found = Held(kit("Delphi"), positions={"all": yes, "S": no}, challenge=votes).until().outcome
    assert (found.kind, found.follows) == ("agreed with dissent", "yes")
    assert [(one.seat, one.text) for one in found.dissents] == [("architect", "no"), ("security", "no")]


def test_each_decision_names_an_option_that_was_offered_when_it_was_made() -> None:
    steps = [
        {"name": "offer", "seats": "chair", "reply": {"options": "list"}},
        {"name": "decide", "seats": "human", "reply": {"decision": "adopt | guide", "option": "text ?"}},
    ]
    workflow = workflow_of([{"name": "talk", "rounds": ["2", "2"], "steps": steps}])

    def speak(due: Due) -> str:
        if due.step.name == "offer":
            return form(due, options=(f"keep it in round {due.round}", f"move it in round {due.round}"))
        return form(due, decision="adopt", option="B")

    acts = Outcome(hold_any(workflow, speak)).acts
    assert [(act.option, act.option_text) for act in acts] == [
        ("B", "move it in round 1"),
        ("B", "move it in round 2"),
    ]


@pytest.mark.parametrize(
    ("score", "target", "kind"), [(999_999_999, "1234567890", "undecided"), (999_999_999, "999999998.5", "agreed")]
)
def test_large_scores_are_counted_and_printed_as_they_are(score: int, target: str, kind: str) -> None:
    until = {"reached": {"every": {"score": f">= {target}"}}}
    workflow = workflow_of([{"name": "talk", "reply": {"score": "integer"}, "until": until}])
    found = Outcome(hold_any(workflow, lambda due: form(due, score=score)))
    assert (found.kind, found.reason) == (kind, f"{3 if kind == 'agreed' else 0} of 3 reach {target}")
    assert json.loads(json.dumps(found.as_data(), allow_nan=False))["count"]["target"] == float(target)


def test_a_register_whose_reading_was_interrupted_is_not_used_again(monkeypatch: pytest.MonkeyPatch) -> None:
    chair, votes = {"chair": {"rulings": ("K1: stands",)}}, {"all": signs("R1", conditions="a date")}
    held = Held(kit("Debate"), challenges=votes, closing=votes, synthesis=chair).until()
    expected = Outcome(held.plan).as_data()
    assert expected["conditions"][0]["item"]["rulings"][0]["word"] == "stands"
    plan = replay(held.plan.workflow, {id: said for id, said in held.said.items() if "synthesis" not in id})
    assert Outcome(plan).standing == expected["kind"]
    plan.advance(held.said)
    rule = Register._rule
    monkeypatch.setattr(Register, "_rule", lambda *given, **more: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        Outcome(plan)
    monkeypatch.setattr(Register, "_rule", rule)
    assert Outcome(plan).as_data() == expected


def test_the_votes_before_the_last_are_told_as_they_were() -> None:
    """Nobody agrees in them, because only the last vote is counted; and ids that were joined later are one."""
    challenges = {"all": signs("R1"), "A": signs("R1", blocking="no backup"), "D": signs("R1", blocking="no copy")}
    closing = {"all": signs("R1"), "D": signs("R1", rulings="C2: same as C1")}
    found = debate(challenges, closing)
    assert [[one.blocking for one in vote] for vote in found.votes] == [[("C1",), ("C1",), (), ()]] * 2
    assert [[one.agrees for one in vote] for vote in found.votes] == [[False] * 4, [False, False, True, True]]


def test_the_rounds_of_a_control_are_not_rounds_of_the_debate() -> None:
    yes = {"all": {"says": "yes"}}
    plain, controlled = (Held(kit("Delphi", control=on), positions=yes).until().outcome for on in (False, True))
    assert plain.rounds == controlled.rounds == 1


BEGIN = "if it is an item of the list above, begin it with its id, as in K1"
SENTENCE = 'write it as a sentence; if there is none, write the English word "none" alone'


@pytest.mark.parametrize(
    ("item", "problem"),
    [
        ("[x] K1", BEGIN),
        ("I keep K1", BEGIN),
        ("~~K1~~", BEGIN),
        ("C1", BEGIN),
        ("R1", BEGIN),
        ("Keine.", SENTENCE),
        ("なし", SENTENCE),
        ("Aucune objection.", SENTENCE),
        ("K1", ""),
        ("К1", ""),  # noqa: RUF001 (a Cyrillic letter)
        ("K1: as it was", ""),
        ("R1 is tried on a copy first", ""),
        ("Before the test begins, the pass marks of K1 are fixed in writing", ""),
        ("a restore was rehearsed", ""),
        ("データのバックアップが毎日自動で確認されている", ""),
    ],
)
def test_an_item_that_may_mean_another_one_or_none_is_asked_for_once_more(item: str, problem: str) -> None:
    """Otherwise it would become a new condition, in words that nobody chose for one."""
    challenges = {
        "all": signs("R1"),
        "D": signs("R1", conditions="a date is named in the plan", blocking="no backup yet"),
    }
    held = Held(kit("Debate", three_rounds=True), challenges=challenges).until("closing")
    due = next(due for due in held.plan.due if due.seat.name == "designer")
    said = held.plan.check(due, write(due.step.reply, {**signs("R1"), "conditions": (item,)}))
    assert said == ((f'"## Conditions": "{item}": {problem}',) if problem else ())


def test_a_person_may_name_an_id_inside_an_item() -> None:
    """At a terminal, a person is asked until the answer is right, so another wording must not be the only way."""
    held = Held(kit("Debate", three_rounds=True), challenges={"all": signs("R1", conditions="a date is named in it")})
    due = held.until("closing").plan.due[0]
    person = replace(due, seat=replace(due.seat, attributes={"speaker": "human"}))
    body = write(due.step.reply, signs("R1", conditions="the test for K1 runs daily"))
    assert [bool(held.plan.check(one, body)) for one in (due, person)] == [True, False]


@pytest.mark.parametrize(
    ("words", "word"),
    [
        ("reject: why", "reject"),
        ("Reject.", "reject"),
        ("reject as worded: a drill can lose real data", "reject"),
        ("rejected: why", ""),
        ("stands", "stands"),
        ("stands as long as K1 does", ""),
        ("withdrawn only if K1 stands", ""),
        ("I reject it", ""),
    ],
)
def test_a_ruling_begins_with_its_word_and_only_a_rejection_has_its_reason_right_behind(words: str, word: str) -> None:
    assert read_word(words) == (word, "")
