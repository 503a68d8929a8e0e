"""The words that call a council, and all the words that only look as if they did."""

from __future__ import annotations

from typing import Any

import pytest

from council.next.errors import UsageError
from council.next.prompts.phrases import Call, progress, read, refuse_unfinished
from tests.next.protocols.held import Held, kit, signs

ID = "20250102-030405-0a1b2c3d"
PEOPLE = {
    *("architect", "designer", "engineer", "researcher", "security", "intern", "writer", "chair", "site-reliability")
}
WORKFLOWS = {"debate", "quick", "patchlist", "board", "delphi", "planning-1", "my-debate"}
CALLS: dict[str, dict[str, Any]] = {
    "Council: Shall we?": {"topic": "Shall we?"},
    "council: Shall we?": {"topic": "Shall we?"},
    "COUNCIL:Shall we?": {"topic": "Shall we?"},
    "  Council : Shall we?": {"topic": "Shall we?"},
    "Quick council: Shall we?": {"topic": "Shall we?", "words": ("quick",)},
    "quick   Council: Shall we?": {"topic": "Shall we?", "words": ("quick",)},
    "Council (patchlist): Shall we?": {"topic": "Shall we?", "words": ("patchlist",)},
    "Council(patchlist): Shall we?": {"topic": "Shall we?", "words": ("patchlist",)},
    "Council (Quick, Patchlist): Shall we?": {"topic": "Shall we?", "words": ("quick", "patchlist")},
    "Quick council (patchlist): Shall we?": {"topic": "Shall we?", "words": ("quick", "patchlist")},
    "Council with security: Shall we?": {"topic": "Shall we?", "with_": ("security",)},
    "Council with security and writer: Shall we?": {"topic": "Shall we?", "with_": ("security", "writer")},
    "Council with security, writer and the intern: Q?": {"topic": "Q?", "with_": ("security", "writer", "intern")},
    "Council with Security & Writer + intern: Q?": {"topic": "Q?", "with_": ("security", "writer", "intern")},
    "Council with security und writer: Q?": {"topic": "Q?", "with_": ("security", "writer")},
    "Council with security, security: Q?": {"topic": "Q?", "with_": ("security",)},
    "Council with Site Reliability: Q?": {"topic": "Q?", "with_": ("site-reliability",)},
    "Council (quick, patchlist) with security: Q?": {
        "topic": "Q?",
        "with_": ("security",),
        "words": ("quick", "patchlist"),
    },
    "Council with security (patchlist): Q?": {"topic": "Q?", "with_": ("security",), "words": ("patchlist",)},
    "Quick council (patchlist) with security (deliberative): Q?": {
        "topic": "Q?",
        "with_": ("security",),
        "words": ("quick", "patchlist", "deliberative"),
    },
    "Just architect and engineer: Q?": {"topic": "Q?", "only": ("architect", "engineer")},
    "just the Architect, an Engineer: Q?": {"topic": "Q?", "only": ("architect", "engineer")},
    "Only engineer: Q?": {"topic": "Q?", "only": ("engineer",)},
    "Council: Just architect and engineer: Q?": {"topic": "Q?", "only": ("architect", "engineer")},
    "Council with security: just architect: Q?": {"topic": "Q?", "with_": ("security",), "only": ("architect",)},
    f"Council recovery: Resume session {ID}": {"topic": "", "recover": ID},
    f"council RECOVERY: {ID}": {"topic": "", "recover": ID},
    f"Council recovery:\nplease go on with {ID}, thanks": {"topic": "", "recover": ID},
    "Council recovery: pricing-2026": {"topic": "", "recover": "pricing-2026"},  # or a debate that nobody named
    "Council recovery: the last one": {"topic": "", "recover": "last"},
    "Council recovery:": {"topic": "", "recover": "last"},
    "Council recovery": {"topic": "", "recover": "last"},
    "council recovery.": {"topic": "", "recover": "last"},
    f"Council recovery {ID}": {"topic": "", "recover": ID},
    f"Council recovery session {ID}": {"topic": "", "recover": ID},
    "Council debate: Shall we?": {"topic": "Shall we?"},
    "Council debate with security: Q?": {"topic": "Q?", "with_": ("security",)},
    "Full council: Shall we?": {"topic": "Shall we?"},
    "Council with 3 rounds: Q?": {"topic": "Q?", "rounds": 3},
    "Council with three rounds and security: Q?": {"topic": "Q?", "with_": ("security",), "rounds": 3},
    "Council without security: Q?": {"topic": "Q?", "without": ("security",)},
    "Council without the intern and security: Q?": {"topic": "Q?", "without": ("intern", "security")},
    "Council with security but without the intern: Q?": {"topic": "Q?", "with_": ("security",), "without": ("intern",)},
    "Council with security, 4 rounds: Q?": {"topic": "Q?", "with_": ("security",), "rounds": 4},
}
# A call, and its topic to the character.
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

# A topic and no more: nothing of it is a call.
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

UNFINISHED = {
    "Council": 'write "Council: …"',
    "Quick council": 'write "Quick council: …"',
    "Council with security": 'write "Council with security: …"',
    "Council board": 'write "Council board: …"',
    "Just architect and engineer": 'write "Just architect and engineer: …"',
    "Quick council, shall we?": 'write a colon between the call and the question, as in "Quick council: …"',
    "Council with the security team - shall we?": 'as in "Council with the security: …"',
    "Council without security. Shall we?": "write a colon",
}


@pytest.mark.parametrize("typed", CALLS)
def test_a_call(typed: str) -> None:
    assert read(typed, PEOPLE, WORKFLOWS) == Call(**CALLS[typed])


@pytest.mark.parametrize(("typed", "topic"), TOPICS)
def test_the_topic_of_a_call_is_kept_to_the_character(typed: str, topic: str) -> None:
    assert read(typed, PEOPLE, WORKFLOWS) == Call(topic)


@pytest.mark.parametrize("text", LEFT_ALONE, ids=repr)
def test_other_words_are_a_topic(text: str) -> None:
    assert read(text, PEOPLE, WORKFLOWS) is None
    refuse_unfinished(text, PEOPLE, WORKFLOWS)


@pytest.mark.parametrize("typed", UNFINISHED)
def test_a_call_without_its_colon_or_topic_is_refused(typed: str) -> None:
    assert read(typed, PEOPLE, WORKFLOWS) is None
    with pytest.raises(UsageError) as refused:
        refuse_unfinished(typed, PEOPLE, WORKFLOWS)
    assert UNFINISHED[typed] in str(refused.value)


@pytest.mark.parametrize(
    "long", ["Council with " + "mayor and " * 20_000, "Just " + "x, " * 50_000, "council " * 50_000]
)
def test_only_the_beginning_of_a_long_text_is_read(long: str) -> None:
    assert read(long, PEOPLE, WORKFLOWS) is None
    assert read(f"{long}:", PEOPLE, WORKFLOWS) is None


def test_a_call_in_a_call_in_a_call_is_a_topic() -> None:
    topic = "Council: " * 5_000
    assert read(f"Council: {topic}", PEOPLE, WORKFLOWS) == Call(topic)
    assert read("Council: just engineer: just architect: Q?", PEOPLE, WORKFLOWS) == Call(
        "just architect: Q?", only=("engineer",)
    )


def test_a_skipped_round_is_said_in_the_words_that_were_asked_for() -> None:
    held = Held(kit("Debate"), challenges={"all": signs("R1")}).until()
    lines = [line for note in held.plan.notes if (line := progress(note, held.plan.workflow))]
    (line,) = lines
    assert line.startswith("Round 3 skipped: nobody opposes; 4 of 4 sign R1 without a condition")
    assert line.endswith(". Proceeding to synthesis.")


def test_the_rounds_of_a_board_are_told_one_by_one() -> None:
    held = Held(kit("Board"), poll={"all": {"move_on": "yes"}}, respond={"all": {"ready": "yes"}}).until()
    lines = [line for note in held.plan.notes if (line := progress(note, held.plan.workflow))]
    assert lines[:2] == ["═══ Challenge, round 1 complete ═══", "═══ Challenge, round 2 complete ═══"]
    gated = Held(
        kit("Debate", "synthesis"), challenges={"all": signs("R1")}, synthesis_gate={"human": {"gate": "veto"}}
    )
    notes = gated.until().plan.notes
    assert progress(notes[-1], gated.plan.workflow) == "Approval of synthesis: vetoed (Human: veto: no reason given)"
