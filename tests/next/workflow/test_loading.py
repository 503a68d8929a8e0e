"""A workflow is loaded as it is written, or refused with the place and with what was probably meant."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from council.next.errors import UsageError
from council.next.replies.kinds import Items, Vote
from council.next.schema import load_yaml
from council.next.workflow import gates
from council.next.workflow.loader import load
from council.next.workflow.model import AllOf, AnyOf, Cast, Not, Ref, Seat, Workflow

PLAIN: dict[str, Any] = {
    "name": "plain",
    "seats": {"members": ["architect", "engineer"], "chair": "chair"},
    "options": {"quick": False, "most": "3"},
    "phases": [
        {"name": "positions", "sees": "nothing"},
        {"name": "talk", "rounds": ["1", "most"], "reply": {"signs": "vote"}},
        {"name": "synthesis", "role": "synthesis", "seats": "chair"},
    ],
}


def text_of(body: str = "", **keys: Any) -> str:
    head = yaml.safe_dump({**PLAIN, **keys}, sort_keys=False, allow_unicode=True)
    return f"---\n{head}---\n{body}"


def loaded(body: str = "", **keys: Any) -> Workflow:
    return load(text_of(body, **keys), "plain.md")


def phase(**keys: Any) -> list[dict[str, Any]]:
    return [{"name": "talk", **keys}]


def test_what_is_left_out_has_the_usual_value() -> None:
    positions = loaded().phases[0]
    step = positions.steps[0]
    assert (positions.number, positions.rounds, positions.numbered, positions.when) == (1, ("1", "1"), True, None)
    assert (step.prompt, step.seats, step.order, step.sees) == (
        "positions",
        ("members",),
        Ref("parallel"),
        (Ref("nothing"),),
    )
    assert (step.tier, step.reply, loaded().phases[1].steps[0].sees) == ("sonnet", {}, (Ref("so_far"),))


def test_a_step_inherits_from_its_phase_what_it_does_not_say() -> None:
    found = loaded(
        phases=phase(
            tier="opus",
            when={"option": "quick"},
            reply={"signs": "vote"},
            steps=[{"name": "first"}, {"name": "second", "tier": "haiku", "reply": {"points": "list+"}}],
        )
    ).phases[0]
    first, second = found.steps
    assert (first.tier, first.reply, first.when) == ("opus", {"signs": Vote()}, None)
    assert (second.tier, second.reply) == ("haiku", {"points": Items(filled=True)})
    assert found.folder(2, second, repeats=True) == "01-talk-r02-2-second"


def test_conditions_and_seats_in_every_form() -> None:
    found = loaded(
        phases=phase(
            when=["quick", {"all": [{"not": "late"}, {"some": {"ready": "yes"}}]}],
            until={"done": "agreed"},
            seats=["members", {"from": "talk.names", "without": "talk.muted"}],
            sees=[{"recent": {"rounds": "1"}}, "talk"],
        )
    ).phases[0]
    assert found.when == AnyOf((Ref("quick"), AllOf((Not(Ref("late")), Ref("some", {"ready": "yes"})))))
    assert found.until == {"done": Ref("agreed")}
    assert found.steps[0].seats == ("members", Cast("talk.names", "talk.muted"))
    assert found.steps[0].sees == (Ref("recent", {"rounds": "1"}), Ref("talk"))


def test_a_seat_of_a_group_stands_for_one_seat_for_each_member() -> None:
    seats = {
        "team": ["architect", "engineer"],
        "solo": "chair",
        "judges": [{"judge": {"of": "team"}}, {"critic": {"of": "solo"}}],
    }
    found = loaded(seats=seats, phases=phase())
    assert [(seat.name, seat.about) for seat in found.seats(["judges"])] == [
        ("judge-architect", "architect"),
        ("judge-engineer", "engineer"),
        ("critic", "chair"),
    ]


def test_a_seat_is_described_once_and_named_in_other_groups() -> None:
    owner = {"owner": {"persona": "engineer", "tier": "opus"}}
    for seats in ({"team": ["x", owner], "defence": "owner"}, {"defence": "owner", "team": ["x", owner]}):
        found = loaded(seats=seats, phases=phase())
        (seat,) = found.seats(["defence"])
        assert (seat.get("persona"), seat.get("tier"), seat.group) == ("engineer", "opus", "defence")
        assert found.all_seats()["owner"].attributes == seat.attributes


def test_prompts_stand_in_the_body() -> None:
    body = "# Plain\n\n## Prompts\n\n### Talk\n\nSay it.\n\n```\n### Not this\n```\n\n### Empty\n\n"
    body += "## Notes\n\n### Talk\nno\n"
    assert loaded(body).tasks == {"talk": "Say it.\n\n```\n### Not this\n```"}


def test_yaml_knows_words_and_true_and_false_alone() -> None:
    text = text_of().replace("quick: false", "quick: true\n  when: no\n  day: 2026-01-02\n  n: 1e3\n  z: ~")
    options = load(text, "x").options
    assert options == {"quick": True, "when": "no", "day": "2026-01-02", "n": "1e3", "z": "~", "most": "3"}


def test_a_yaml_file_is_one_document() -> None:
    assert load_yaml("", "x") == {}
    with pytest.raises(UsageError, match="line 2: only one YAML document"):
        load_yaml("a: b\n--- \nc: d\n", "x")


def test_windows_line_ends_and_a_byte_order_mark_change_nothing() -> None:
    assert load("\ufeff" + text_of("Body.").replace("\n", "\r\n"), "x") == loaded("Body.")


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "unknown key": ({"phase": []}, 'unknown key "phase"; did you mean "phases"?'),
    "unknown key of a phase": (
        {"phases": phase(sess="nothing")},
        'phases[0]: unknown key "sess"; did you mean "sees"?',
    ),
    "unknown key of a step": ({"phases": phase(steps=[{"name": "a", "until": {}}])}, "steps[0]: unknown key"),
    "unknown key of a seat": (
        {"seats": {"a": [{"b": {"teir": "opus"}}]}},
        'seats: b: unknown key "teir"; did you mean "tier"?',
    ),
    "unknown kind": ({"phases": phase(reply={"signs": "votes"})}, 'reply: signs: "votes" is not a kind'),
    "answer with a capital": ({"phases": phase(reply={"Signs": "vote"})}, 'reply: "Signs" must be lowercase'),
    "unknown seat": ({"phases": phase(seats="membres")}, 'no seat or group "membres"; did you mean "members"?'),
    "unknown role": ({"phases": phase(role="synthesise")}, '"synthesise" is not a role'),
    "no phase": ({"phases": []}, "there must be at least one"),
    "no group": ({"seats": {}}, "there must be at least one group"),
    "empty group": ({"seats": {"members": []}}, "a group needs at least one seat"),
    "a seat twice": ({"seats": {"members": ["a", "a"]}}, "each seat once"),
    "a seat called shared": ({"seats": {"members": ["shared"]}}, '"shared" is a name that council itself uses'),
    "a seat called human": ({"seats": {"members": ["human"]}}, "a step seats a person with `seats: human`"),
    "a path as a seat": ({"seats": {"members": ["../x"]}}, '"../x" must be at most 40 lowercase'),
    "a long name": ({"name": "x" * 41}, "at most 40"),
    "a capital": ({"name": "Plain"}, '"Plain" must be'),
    "phase twice": ({"phases": [*phase(), *phase()]}, '"talk" names two phases or steps'),
    "step named like a phase": ({"phases": phase(steps=[{"name": "talk"}, {"name": "b"}])}, '"talk" names two'),
    "rounds of zero": ({"phases": phase(rounds="0")}, "0 to 0 rounds"),
    "rounds that fall": ({"phases": phase(rounds=["3", "2"])}, "3 to 2 rounds"),
    "rounds of a half": ({"phases": phase(rounds="1.5")}, "1.5 to 1.5 rounds"),
    "too many rounds": ({"phases": phase(rounds=["1", "100"])}, "1 to 100 rounds"),
    "three ends": ({"phases": phase(rounds=["1", "2", "3"])}, "[least, most]"),
    "rounds by no option": (
        {"phases": phase(rounds=["1", "mots"])},
        '"mots" is neither a number nor an option with one; did you mean "most"?',
    ),
    "two names in one rule": ({"phases": phase(when={"a": 1, "b": 2})}, "must be one name, with its arguments"),
    "an empty list of rules": ({"phases": phase(when=[])}, "must be one name"),
    "a number for text": ({"description": ["x"]}, '"description" must be text'),
    "a list as an option": ({"options": {"a": ["x"]}}, "must be a name with one word"),
    "negative rounds": ({"phases": phase(rounds="-1")}, '"-1" is neither a number nor an option with one'),
    "rounds in words": ({"phases": phase(rounds="three")}, '"three" is neither a number nor an option with one'),
    "endless rounds": ({"phases": phase(rounds=["1", "1e400"])}, '"1e400" is neither a number'),
    "rounds that are a flag": ({"phases": phase(rounds=True)}, '"rounds" must be a number or [least, most]'),
    "rounds in a list": ({"phases": phase(rounds=[["1"], "2"])}, '"rounds" must be a number or [least, most]'),
    "no step": ({"phases": phase(steps=[])}, "steps: there must be at least one"),
    "nobody speaks": ({"phases": phase(seats=[])}, "seats: there must be at least one"),
    "a path as a prompt": ({"phases": phase(prompt="../secret")}, '"../secret" must be at most 40 lowercase'),
    "a path as a document": ({"document": {"kind": "../adr"}}, '"../adr" must be at most 40 lowercase'),
    "two words as a tier": ({"phases": phase(tier="very large")}, "\"tier\" must be one word, not 'very large'"),
    "a role twice": (
        {"phases": [{"name": "a", "role": "synthesis"}, {"name": "b", "role": "synthesis"}]},
        'two phases have the role "synthesis"',
    ),
    "an ending without a name": ({"phases": phase(until={"": "agreed"})}, '"" must be at most 40 lowercase'),
    "an ending called any": ({"phases": phase(until={"any": "agreed"})}, '"any" means every ending'),
    "a halt of a person's": ({"halt": {"vetoed": "agreed"}}, '"vetoed" is what a person says at a gate'),
    "a weight in words": (
        {"seats": {"a": [{"b": {"weight": "heavy"}}]}},
        "seats: b: \"weight\" must be a number, not 'heavy'",
    ),
    "a weight below zero": ({"seats": {"a": [{"b": {"weight": "-1"}}]}}, '"weight" must be a number from 0 to 1000'),
    "a weight without end": ({"seats": {"a": [{"b": {"weight": "1e99999999"}}]}}, '"weight" must be a number from 0'),
    "a tier in a list": ({"seats": {"a": [{"b": {"tier": ["opus"]}}]}}, '"tier" must be text'),
    "a speaker of two words": ({"seats": {"a": [{"b": {"speaker": "a b"}}]}}, '"speaker" must be one word'),
    "a group for a person": ({"seats": {"a": "b", "owner": "human"}}, "a step seats a person with `seats: human`"),
    "a person described": ({"seats": {"a": [{"human": {"tier": "opus"}}]}}, "a step seats a person with"),
    "of no group": (
        {"seats": {"team": ["x", "y"], "a": [{"b": {"of": "teem"}}]}},
        'seats: b: of: there is no other group "teem"; did you mean "team"?',
    ),
    "of its own group": ({"seats": {"a": ["c", {"b": {"of": "a"}}]}}, 'of: there is no other group "a"'),
    "a range without end": ({"phases": phase(reply={"a": "0-" + "9" * 5_000})}, "is not a kind of answer"),
    "a choice that cannot be read back": ({"phases": phase(reply={"a": "*yes* | no"})}, '"*yes* | no" is not a kind'),
    "a crowd": ({"seats": {"a": [f"s{one}" for one in range(1_001)]}}, "a workflow may have at most 1,000 seats"),
    "a crowd in groups": (
        {"seats": {f"g{one}": [f"s{two}" for two in range(11)] for one in range(91)}},
        "a workflow may have at most 1,000 seats",
    ),
    "phases without number": (
        {"phases": [{"name": f"p{one}"} for one in range(1_001)]},
        "a workflow may have at most 1,000 phases and steps",
    ),
    "a phase that is a word": ({"phases": ["talk"]}, "phases[0]: must be keys with values"),
}


@pytest.mark.parametrize(("keys", "problem"), REFUSED.values(), ids=REFUSED)
def test_what_is_not_part_of_the_language_is_refused_with_its_place(keys: dict[str, Any], problem: str) -> None:
    with pytest.raises(UsageError) as refused:
        loaded(**keys)
    assert problem in str(refused.value)
    assert str(refused.value).startswith("plain.md")


BROKEN = {
    "no frontmatter": ("# A page\n", '"name" is missing'),
    "not closed": ("---\nname: x\n", "no closing line of three hyphens"),
    "key twice": ("---\nname: a\nname: b\n---\n", 'line 3: the key "name" is repeated'),
    "alias": ("---\nname: &a x\nseats: *a\n---\n", "line 2: anchors and aliases"),
    "tag": ("---\nname: !!python/object:os.system x\n---\n", "line 2: tags are not allowed"),
    "tag of a key": ("---\n!x name: x\n---\n", "line 2: tags are not allowed"),
    "a list as a key": ("---\n? [a]\n: b\n---\n", "a key must be a word"),
    "colon": ("---\nname: a: b\n---\n", "quote text that contains a colon"),
    "bracket": ("---\nseats: {a: [b\n---\n", "a bracket is not closed"),
    "tab": ("---\n\tname: x\n---\n", "no line may begin with a tab"),
    "a word": ("---\nname\n---\n", "must be keys with values"),
    "deep": (f"---\nname: {'[' * 30}{']' * 30}\n---\n", "nested deeper than 24"),
    "large": (f"---\nname: {'x' * 1_000_001}\n---\n", "larger than 1,000,000 characters"),
    "two prompts": (text_of("## Prompts\n### Talk\na\n### talk\nb\n"), "two prompts"),
}


@pytest.mark.parametrize(("text", "problem"), BROKEN.values(), ids=BROKEN)
def test_a_file_that_is_no_workflow_is_refused(text: str, problem: str) -> None:
    with pytest.raises(UsageError) as refused:
        load(text, "plain.md")
    assert problem in str(refused.value)


@settings(deadline=None)
@given(st.text(max_size=200), st.text(alphabet="{}[]&*!|>:-,#'\"\n abc", max_size=200))
def test_whatever_a_file_holds_the_answer_is_a_workflow_or_one_sentence(body: str, head: str) -> None:
    for text in (body, f"---\n{head}\n---\n{body}"):
        with pytest.raises(UsageError):
            load(text, "x.md")


def test_options_and_members_are_chosen_for_one_debate() -> None:
    found = loaded().with_options({"most": "5"}).with_members(["chair", "security", "chair"])
    assert found.span(found.phases[1]) == (1, 5)
    assert [(seat.name, seat.group) for seat in found.members] == [("chair", "members"), ("security", "members")]
    for wrong, problem in (
        ({"mots": "1"}, 'did you mean "most"'),
        ({"most": "0"}, "1 to 0 rounds"),
        ({"quick": "yes"}, "true or false"),
        ({"most": True}, "must be one word or number"),
        ({"most": ["5"]}, "must be one word or number"),
        ({"most": None}, "must be one word or number"),
        ({"most": "nan"}, 'the option "most" must be a number from 0 on, not "nan"'),
    ):
        with pytest.raises(UsageError, match=problem):
            loaded().with_options(wrong)


def test_members_are_names_and_not_too_many() -> None:
    for names in ([], ["../x"], ["shared"], [f"s{one}" for one in range(1_001)]):
        with pytest.raises(UsageError, match="members must be from 1 to 1,000 names") as refused:
            loaded().with_members(names)
        assert len(str(refused.value)) < 200


def test_a_seat_has_its_personas_attributes_and_what_the_workflow_says_wins() -> None:
    seats = {"members": ["engineer", {"red": {"persona": "engineer", "tier": "opus"}}]}
    personas = {"engineer": {"title": "Engineer", "name": "Marcus Webb", "tier": "haiku", "focus": "cost"}}
    engineer, red = loaded(seats=seats, phases=phase()).with_personas(personas).members
    assert (engineer.label, engineer.get("tier"), engineer.get("focus")) == ("Engineer (Marcus)", "haiku", "cost")
    assert (red.label, red.get("tier"), red.get("focus")) == ("Red", "opus", "cost")
    assert Seat("human").is_person


def test_a_persona_says_who_speaks_and_never_by_which_program() -> None:
    """It may come from a project that somebody else wrote."""
    personas = {"architect": {"focus": "cost", "speaker": "shell", "weight": "9", "of": "members", "persona": "chair"}}
    dressed = loaded().with_personas(personas)
    assert dict(dressed.members[0].attributes) == {"focus": "cost"}
    assert dressed.personas == {"architect": {"focus": "cost"}}


def test_a_person_may_speak_for_a_seat_of_the_workflow() -> None:
    assert Seat("editor", attributes={"speaker": "human"}).is_person


def test_a_gate_follows_its_phase_and_keeps_its_number() -> None:
    gated = gates.insert(loaded(), ["synthesis", "talk"])
    assert [(one.name, one.number, one.gates) for one in gated.phases] == [
        ("positions", 1, ""),
        ("talk", 2, ""),
        ("talk-gate", 2, "talk"),
        ("synthesis", 3, ""),
        ("synthesis-gate", 3, "synthesis"),
    ]
    assert set(gated.halt) == {"vetoed", "rejected"}
    assert gates.insert(loaded(), []) == loaded()


def test_a_gate_shows_its_phase_alone_and_is_skipped_with_it() -> None:
    optional = loaded(phases=[{"name": "talk"}, {"name": "vote", "when": {"option": "quick"}}])
    after_talk, after_vote = (one for one in gates.insert(optional, ["talk", "vote"]).phases if one.gates)
    assert (after_talk.when, after_vote.when) == (None, Ref("ended", {"vote": "any"}))
    assert after_vote.steps[0].sees == (Ref("vote"),)
    assert not after_vote.numbered


def test_the_first_group_with_a_seat_says_what_it_is() -> None:
    found = loaded(seats={"members": [{"ada": {"tier": "opus"}}], "others": ["ada", "bo"]}, phases=phase())
    assert [seat.get("tier") for seat in found.seats(["ada", "bo"])] == ["opus", ""]


def test_phases_are_counted_from_one_and_an_analysis_before_them_is_zero() -> None:
    phases = [{"name": "who", "role": "impact"}, *phase()]
    assert [(one.number, one.numbered) for one in loaded(phases=phases).phases] == [(0, False), (1, True)]


def test_a_gate_that_means_nothing_is_refused() -> None:
    asked = loaded(phases=[*PLAIN["phases"], {"name": "guidance", "seats": "human"}, {"name": "positions-gate"}])
    for name, problem in (("tlak", 'did you mean "talk"'), ("guidance", "needs no gate"), ("positions", "rename that")):
        with pytest.raises(UsageError, match=problem):
            gates.insert(asked, [name])
