"""The words that call a council, and all the words that only look as if they did."""

from __future__ import annotations

import pytest

from council.config.personas import load
from council.errors import UsageError
from council.prompts import invocation
from council.prompts.phrases import Invocation

ID = "20250102-030405-0a1b2c3d"
PEOPLE = {
    "architect",
    "designer",
    "engineer",
    "researcher",
    "security",
    "intern",
    "writer",
    "chair",
    "site-reliability",
}
WORKFLOWS = {"debate", "quick", "patchlist", "board", "delphi", "planning-1", "my-debate"}


def parse(text: str) -> Invocation:
    """As the command line does it: read, then asked about the names."""
    call = invocation.parse(text, PEOPLE, WORKFLOWS)
    invocation.check_named(call, PEOPLE)
    return call


# (what was typed, what it means)
CALLS = [
    ("Council: Shall we?", Invocation("Shall we?")),
    ("council: Shall we?", Invocation("Shall we?")),
    ("COUNCIL:Shall we?", Invocation("Shall we?")),
    ("  Council : Shall we?", Invocation("Shall we?")),
    ("Quick council: Shall we?", Invocation("Shall we?", words=("quick",))),
    ("quick   Council: Shall we?", Invocation("Shall we?", words=("quick",))),
    ("Council (patchlist): Shall we?", Invocation("Shall we?", words=("patchlist",))),
    ("Council(patchlist): Shall we?", Invocation("Shall we?", words=("patchlist",))),
    ("Council (Quick, Patchlist): Shall we?", Invocation("Shall we?", words=("quick", "patchlist"))),
    ("Quick council (patchlist): Shall we?", Invocation("Shall we?", words=("quick", "patchlist"))),
    ("Council with security: Shall we?", Invocation("Shall we?", with_=("security",))),
    ("Council with security and writer: Shall we?", Invocation("Shall we?", with_=("security", "writer"))),
    (
        "Council with security, writer and the intern: Q?",
        Invocation("Q?", with_=("security", "writer", "intern")),
    ),
    ("Council with Security & Writer + intern: Q?", Invocation("Q?", with_=("security", "writer", "intern"))),
    ("Council with security und writer: Q?", Invocation("Q?", with_=("security", "writer"))),
    ("Council with security, security: Q?", Invocation("Q?", with_=("security",))),
    ("Council with Site Reliability: Q?", Invocation("Q?", with_=("site-reliability",))),
    (
        "Council (quick, patchlist) with security: Q?",
        Invocation("Q?", with_=("security",), words=("quick", "patchlist")),
    ),
    ("Council with security (patchlist): Q?", Invocation("Q?", with_=("security",), words=("patchlist",))),
    (
        "Quick council (patchlist) with security (deliberative): Q?",
        Invocation("Q?", with_=("security",), words=("quick", "patchlist", "deliberative")),
    ),
    ("Just architect and engineer: Q?", Invocation("Q?", only=("architect", "engineer"))),
    ("just the Architect, an Engineer: Q?", Invocation("Q?", only=("architect", "engineer"))),
    ("Only engineer: Q?", Invocation("Q?", only=("engineer",))),
    ("Council: Just architect and engineer: Q?", Invocation("Q?", only=("architect", "engineer"))),
    (
        "Council with security: just architect: Q?",
        Invocation("Q?", with_=("security",), only=("architect",)),
    ),
    (f"Council recovery: Resume session {ID}", Invocation("", recover=ID)),
    (f"council RECOVERY: {ID}", Invocation("", recover=ID)),
    (f"Council recovery:\nplease go on with {ID}, thanks", Invocation("", recover=ID)),
    ("Council recovery: the last one", Invocation("", recover="last")),
    ("Council recovery:", Invocation("", recover="last")),
    ("Council recovery", Invocation("", recover="last")),
    ("council recovery.", Invocation("", recover="last")),
    (f"Council recovery {ID}", Invocation("", recover=ID)),
    (f"Council recovery session {ID}", Invocation("", recover=ID)),
    ("Council debate: Shall we?", Invocation("Shall we?")),
    ("Council debate with security: Q?", Invocation("Q?", with_=("security",))),
    ("Full council: Shall we?", Invocation("Shall we?")),
    ("Council with 3 rounds: Q?", Invocation("Q?", rounds=3)),
    ("Council with three rounds and security: Q?", Invocation("Q?", with_=("security",), rounds=3)),
    ("Council without security: Q?", Invocation("Q?", without=("security",))),
    ("Council without the intern and security: Q?", Invocation("Q?", without=("intern", "security"))),
    ("Council with security but without the intern: Q?", Invocation("Q?", ("security",), without=("intern",))),
    ("Council with security, 4 rounds: Q?", Invocation("Q?", with_=("security",), rounds=4)),
]

# (what was typed, the topic): a call, whose topic stays as it is, whatever stands in it
TOPICS = [
    ("Council: one\ntwo\n\nthree", "one\ntwo\n\nthree"),
    ("Council:\nBegins on the next line", "\nBegins on the next line"),
    ("Council:  two blanks", " two blanks"),
    ("Council: ends so \n", "ends so \n"),
    ("Council: a: b: c", "a: b: c"),
    ("Council: Council: again", "Council: again"),
    ("Council: Quick council: again", "Quick council: again"),
    ("Council: (patchlist): or not", "(patchlist): or not"),
    ("Council: Größe, 规模, 🦆 и مرحبا?", "Größe, 规模, 🦆 и مرحبا?"),
    ("Council: {{ 7*7 }} $(touch x) `id` '\"", "{{ 7*7 }} $(touch x) `id` '\""),
    ("Council: Just because: reasons", "Just because: reasons"),
]

# A topic and no more: nothing of it is a call, and not a character of it is lost.
LEFT_ALONE = [
    "",
    "Shall we split the database?",
    "Council tax: shall we raise it?",
    "Councils: how do they work?",
    "Council recovery plans",
    "Council of architects: yes or no?",
    "The council: shall we have one?",
    "My council (patchlist): shall we?",
    "City council with security: is it safe?",
    "Quickcouncil: what?",
    "Quick: what?",
    "Quick councils: what?",
    "Council\n\nis a word: what?\n",
    "Council (): what?",
    "Council (one: two): what?",
    "Just because: why not?",
    "Just: why not?",
    "Only time will tell: shall we wait?",
    "Only one thing: money",
    "Justarchitect: what?",
    "Just architect and engineer, please",
    "Just\narchitect\nand more\n: what?",
    "Adjust architect: what?",
    "  indented text",
    "\n\nblank lines first",
    "ends with blanks  \n",
    "Rat: sollen wir?",
    "\u0421ouncil: with a Cyrillic letter in front",
    "Council\ufe30 with a colon of another script",
    "\ufeffCouncil: after a mark of byte order",
    "🏛️ Council: after a picture",
    "\u202eCouncil: turned around",
]

REFUSED = [
    ("Council with securty: Q?", 'unknown member "securty"; did you mean "security"?'),
    ("Council with care: Q?", 'unknown member "care"'),
    ("Council with security and nobody-at-all: Q?", 'unknown member "nobody-at-all"'),
    ("Just architect and engneer: Q?", 'did you mean "engineer"?'),
    ("Council: Just architect and the cat: Q?", 'unknown member "cat"'),
    ("Council", 'write "Council: …"'),
    ("Quick council", 'write "Quick council: …"'),
    ("Council with security", 'write "Council with security: …"'),
    ("Council without a quorum: may it decide?", 'unknown member "quorum"'),
    ("Council with the mayor: notes", 'put "Council: " before them'),
    ("Council with securty: Q?", "(known: architect, chair, designer"),
    ("Council board", 'write "Council board: …"'),
    ("/council", "the topic is missing"),
    ("Just architect and engineer", 'write "Just architect and engineer: …"'),
    ("Quick council, shall we?", 'write a colon between the call and the question, as in "Quick council: …"'),
    ("Council with the security team - shall we?", 'as in "Council with the security: …"'),
    ("Council without security. Shall we?", "write a colon"),
]


@pytest.mark.parametrize(("typed", "meant"), CALLS, ids=[typed for typed, _ in CALLS])
def test_a_call(typed, meant):
    assert parse(typed) == meant


@pytest.mark.parametrize(("typed", "topic"), TOPICS, ids=[repr(typed) for typed, _ in TOPICS])
def test_the_topic_of_a_call_is_verbatim(typed, topic):
    assert parse(typed) == Invocation(topic)


@pytest.mark.parametrize("text", LEFT_ALONE, ids=repr)
def test_what_is_no_call_is_left_alone(text):
    assert parse(text) == Invocation(text)


@pytest.mark.parametrize(("typed", "why"), REFUSED, ids=[typed for typed, _ in REFUSED])
def test_an_unknown_name_is_refused_with_the_nearest_one(typed, why):
    with pytest.raises(UsageError) as refusal:
        parse(typed)
    assert why in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_a_call_of_a_thousand_words_does_not_take_for_ever():
    """The patterns are tried on whatever somebody pastes."""
    for long in (
        "Council with " + "mayor and " * 20_000,
        "Just " + "x, " * 50_000,
        "council " * 50_000,
        " " * 99_999,
    ):
        assert parse(long) == Invocation(long)


def test_everybody_of_the_kit_can_be_called():
    known = load()
    for name in known:
        assert invocation.parse(f"Council with {name}: Q?", known, ()).with_ == (name,)
