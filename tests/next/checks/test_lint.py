"""`lint` names every mistake of a workflow with its place, and says nothing of one that has none."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from council.next.checks.lint import NEEDED, Problem, find_line, lint
from council.next.config import places
from council.next.config import settings as config
from council.next.config.settings import Settings
from council.next.errors import UsageError
from council.next.speakers.base import Speaker, speakers
from council.next.workflow.model import Workflow
from tests.next.checks.mutants import mutate, read
from tests.next.config.homes import put
from tests.next.protocols.held import KIT

CORE = sorted({path.stem.lower() for path in KIT.glob("*.md")} - {*NEEDED, *places.GUIDES})
PROGRAM = """\
---
name: weigh
description: A workflow to break.
seats:
  members: [architect, engineer]
  chair: chair
options: {target: 90, quick: false}
phases:
  - name: positions
    sees: nothing
    reply: {recommendation: text}
  - name: talk
    rounds: [1, 3]
    steps:
      - name: answers
        prompt: challenges
        reply: {signs: vote, sure: 0-100}
      - name: doubts
        when: [opposed, {option: quick}]
        reply: {worst: text}
    until:
      agreed: {all: [majority_signs, {every: {sure: ">= target"}}]}
  - name: synthesis
    role: synthesis
    seats: chair
    reply: {title: text, answer: text}
---
# Weigh

# Prompts

## doubts

Name your worst doubt.
"""
# What is replaced by what; the line of the mistake, and a part of the sentence about it.
MISTAKES: dict[str, tuple[str, str, int, str]] = {
    "key": ("    sees: nothing", "    seees: nothing", 10, 'unknown key "seees"; did you mean "sees"?'),
    "key at the top": ("options:", "optoins:", 7, 'unknown key "optoins"; did you mean "options"?'),
    "yaml": ("sees: nothing", "sees: [nothing", 11, "not valid YAML"),
    "repeated key": ("    sees: nothing", "    sees: nothing\n    sees: own", 11, 'the key "sees" is repeated'),
    "name": ("name: weigh", "name: Weigh It", 2, '"Weigh It" must be at most'),
    "kind of answer": ("worst: text", "worst: txet", 20, '"txet" is not a kind of answer'),
    "rule": ("[opposed,", "[opposde,", 19, 'there is no rule "opposde"; did you mean "opposed"?'),
    "view": ("sees: nothing", "sees: nothign", 10, 'there is no view "nothign"; did you mean "nothing"?'),
    "order": ("    rounds: [1", "    order: paralel\n    rounds: [1", 13, 'there is no order "paralel"'),
    "answer": ("{every: {sure:", "{every: {shure:", 22, '"shure" is no answer asked for so far; did you mean "sure"?'),
    "option": ("{option: quick}", "{option: quik}", 19, 'there is no option "quik"; did you mean "quick"?'),
    "limit": ('">= target"', '">= taget"', 22, '"taget" is neither a number nor an option'),
    "group": ("seats: chair", "seats: chiar", 25, 'no seat or group "chiar"; did you mean "chair"?'),
    "tier": ("    sees: nothing", "    tier: sonet", 10, 'Config.md has no tier "sonet"; did you mean "sonnet"?'),
    "tier of a seat": (
        "chair: chair",
        "chair: {chair: {tier: opsu}}",
        6,
        'Config.md has no tier "opsu"; did you mean "opus"?',
    ),
    "persona": (
        "chair: chair",
        "chair: {boss: {persona: chiar}}",
        6,
        'there is no persona "chiar"; did you mean "chair"?',
    ),
    "speaker": (
        "chair: chair",
        "chair: {chair: {speaker: cluade}}",
        6,
        'there is no speaker "cluade"; did you mean "claude"?',
    ),
    "template": (
        "prompt: challenges\n        reply",
        "prompt: chalenges\n        reply",
        15,
        "no template chalenges.md.j2",
    ),
    "prompt without a template": ("## doubts", "## doubt", 18, "there is no template doubts.md.j2"),
}
REMARKS: dict[str, tuple[str, str, int, str]] = {
    "option that nothing reads": ("quick: false", "quick: false, fast: true", 7, 'nothing reads the option "fast"'),
    "prompt of no step": ("## doubts", "## doubts\n\nOnce.\n\n## dobuts", 36, 'no step has the prompt "dobuts"'),
    "persona of its own": (
        "engineer]",
        "enginer]",
        5,
        'no persona is called "enginer", so its briefs hold no perspective',
    ),
    "step of a later round": (
        "[opposed, {option: quick}]",
        "{all: [{from_round: 4}, {option: quick}]}",
        19,
        "at most 3 rounds), so nobody speaks",
    ),
    "step of a round that is not the last": (
        "rounds: [1, 3]",
        "rounds: 1\n    when: {not: last_round}",
        14,
        "when: it can never hold, so this phase never begins",
    ),
    "ending that never comes": (
        "      agreed:",
        "      never: {all: [{from_round: 9}, opposed]}\n      agreed:",
        22,
        "the phase never ends so",
    ),
    "phase after one that never begins": (
        "    role: synthesis",
        "    role: synthesis\n    when: {all: [{from_round: 9}, opposed]}",
        25,
        "phase synthesis: when: it can never hold",
    ),
}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return tmp_path


@pytest.fixture
def settings(home: Path) -> Settings:
    return config.load()


def test_a_workflow_without_fault_is_not_talked_about(settings: Settings) -> None:
    assert lint(PROGRAM, settings) == []


@pytest.mark.parametrize("name", CORE)
def test_the_kits_workflows_have_no_fault(settings: Settings, name: str) -> None:
    assert lint(places.find_workflow(name), settings) == []


@pytest.mark.parametrize("name", NEEDED)
def test_what_needs_an_absent_room_is_named_as_such(settings: Settings, name: str) -> None:
    (one,) = lint(places.find_workflow(name), settings)
    assert not one.is_mistake
    assert one.text == f"it needs the room {NEEDED[name]}, which is not installed"


@pytest.mark.parametrize(("old", "new", "line", "words"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_named_with_its_line(settings: Settings, old: str, new: str, line: int, words: str) -> None:
    assert old in PROGRAM
    mistakes = [one for one in lint(PROGRAM.replace(old, new, 1), settings) if one.is_mistake]
    assert words in mistakes[0].text
    assert (mistakes[0].line or f"line {line}:" in mistakes[0].text or f"line {line}," in mistakes[0].text) in (
        line,
        True,
    )


COMMENT = "# name: talk, seees opposde paralel: shure quik taget chiar txet chalenges"


@pytest.mark.parametrize(("old", "new", "line", "words"), MISTAKES.values(), ids=MISTAKES)
def test_a_comment_that_holds_the_words_is_not_the_mistake(
    settings: Settings, old: str, new: str, line: int, words: str
) -> None:
    wrong = PROGRAM.replace(old, new, 1).replace("\nseats:", f"\nseats:  {COMMENT}")
    text = wrong.replace("\nphases:", f"\n{COMMENT}\nphases:")
    line += line >= 8
    mistakes = [one for one in lint(text, settings) if one.is_mistake]
    assert words in mistakes[0].text
    assert mistakes[0].line == line or f"line {line}" in mistakes[0].text


@pytest.mark.parametrize(("old", "new", "line", "words"), REMARKS.values(), ids=REMARKS)
def test_what_is_probably_not_meant_is_a_note(settings: Settings, old: str, new: str, line: int, words: str) -> None:
    assert old in PROGRAM
    found = lint(PROGRAM.replace(old, new, 1), settings)
    assert not any(one.is_mistake for one in found), found
    assert [(one.line, words in one.text) for one in found] == [(line, True)]


def test_an_ending_behind_one_that_always_holds_is_never_looked_at(settings: Settings) -> None:
    text = PROGRAM.replace("rounds: [1, 3]", "rounds: 1").replace("agreed:", "over: last_round\n      agreed:")
    (found,) = lint(text, settings)
    assert found == Problem(
        'phase talk: until agreed: "over" always holds before it, so it is never looked at', found.line, False
    )


def test_a_speaker_says_what_is_wrong_with_a_workflow_that_seats_it(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Fussy(Speaker):
        name = "fussy"

        def problems(self, workflow: Workflow) -> Iterator[str]:
            yield f"fussy reads no lists, and {workflow.name} asks for one"

    monkeypatch.setitem(speakers, "fussy", Fussy)
    text = PROGRAM.replace("chair: chair", "chair: {chair: {speaker: fussy}}")
    assert [one.text for one in lint(text, settings) if one.is_mistake] == [
        "fussy reads no lists, and weigh asks for one"
    ]


# ---- templates ----

TEMPLATES = {
    "syntax": ("{% if %}", "the template challenges.md.j2: "),
    "fact": ("{{ transcrpit }}", 'there is no fact "transcrpit"; did you mean "transcript"?'),
    "fact in a branch that is not taken": ("{% if step.round > 9 %}{{ tpoic }}{% endif %}", 'there is no fact "tpoic"'),
    "key of a fact": ("{{ step.phsae }}", "the template challenges.md.j2: "),
    "include": ('{% include "_haed.md.j2" %}', 'there is no template _haed.md.j2; did you mean "_head.md.j2"?'),
    "include that is computed": ("{% include step.phase %}", "write the name of each template that it includes"),
    "bomb": ("{% for a in range(9999) %}{% for b in range(9999) %}{% endfor %}{% endfor %}", "does not come to an end"),
    "width": ("{{ '%9999999d' % 1 }}", "a format may be at most 999 wide"),
    "python": ("{{ topic.__class__.__mro__ }}", "the template challenges.md.j2: "),
    "index": ("{{ transcript[99].by }}", "the template challenges.md.j2: "),
}


@pytest.mark.parametrize(("text", "words"), TEMPLATES.values(), ids=TEMPLATES)
def test_a_template_that_fails_in_any_step_is_found_here(home: Path, text: str, words: str) -> None:
    folder = home / ".config/council/templates"
    folder.mkdir(parents=True)
    (folder / "challenges.md.j2").write_text(text, "utf-8")
    found = lint(PROGRAM, config.load())
    assert [words in one.text for one in found] == [True], found
    assert found[0].is_mistake


def test_a_template_that_sets_a_name_for_those_that_it_includes_is_fine(home: Path) -> None:
    folder = home / ".config/council/templates"
    folder.mkdir(parents=True)
    (folder / "challenges.md.j2").write_text(
        '{% set mine = 1 %}{{ topic }}{% include "_mine.md.j2" %}{{ cut }}', "utf-8"
    )
    (folder / "_mine.md.j2").write_text("{{ mine }}", "utf-8")
    assert lint(PROGRAM, config.load()) == []


def test_a_template_that_fails_only_where_members_are_opposed_or_late_is_found(home: Path) -> None:
    folder = home / ".config/council/templates"
    folder.mkdir(parents=True)
    (folder / "challenges.md.j2").write_text(
        "{{ topic }}{{ cut }}{% if step.round == 3 and conditions %}{{ conditions[0].nmae }}{% endif %}", "utf-8"
    )
    text = PROGRAM.replace("signs: vote, sure", "signs: vote, conditions: list ?, sure")
    assert ["nmae" in one.text for one in lint(text, config.load())] == [True]


# ---- files, and what nobody would write ----


def test_a_file_that_is_none_is_refused_in_a_sentence(home: Path, settings: Settings) -> None:
    for path in (home / "absent.md", home):
        with pytest.raises(UsageError, match=r"cannot be read|not a regular file"):
            lint(path, settings)
    (home / "latin.md").write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match="cannot be read"):
        lint(home / "latin.md", settings)
    assert [one.is_mistake for one in lint("", settings)] == [True]
    assert [one.is_mistake for one in lint("---\n" + "[" * 100_000, settings)] == [True]


def test_a_workflow_of_any_number_of_seats_and_rounds_is_checked_to_the_end(settings: Settings) -> None:
    seats = ", ".join(f"seat-{number}" for number in range(600))
    text = PROGRAM.replace("architect, engineer", seats).replace("rounds: [1, 3]", "rounds: 99")
    found = lint(text, settings)
    assert len(found) == 600
    assert {one.line for one in found} == {5}


def test_a_users_personas_count(home: Path) -> None:
    text = PROGRAM.replace("engineer]", "poet]")
    assert len(lint(text, config.load())) == 1
    put(home / ".config/council", AgentPersonalities="## poet\n\n- **Title:** Poet\n\nYou write.\n")
    assert lint(text, config.load()) == []


@pytest.mark.parametrize("seed", range(25))
def test_no_mutant_is_too_odd_to_be_checked(settings: Settings, seed: int) -> None:
    check_mutant(settings, seed)


@pytest.mark.full
@pytest.mark.parametrize("seed", range(25, 600))
def test_no_mutant_of_any_seed_is(settings: Settings, seed: int) -> None:
    check_mutant(settings, seed)


def check_mutant(settings: Settings, seed: int) -> None:
    rng = random.Random(seed)
    text = mutate(read(rng.choice(("Debate", "Quick", "Delphi", "Board", "Consensus", "Perspectives"))), rng)
    begun = time.monotonic()
    for one in lint(text, settings):
        assert one.text
        assert "\n" not in one.text
        assert 0 <= one.line <= text.count("\n") + 1
    assert time.monotonic() - begun < 60


def test_a_line_is_found_by_whole_words() -> None:
    text = "name: talks\nname: talk\n  sees: a-b\n  sees: a\n"
    assert find_line(text, 'phase talk: sees: there is no view "a"') == 4
    assert find_line(text, "phase talk: nothing is quoted") == 2
    assert find_line(text, 'phase other: "zzz"') == 0
    assert find_line("seats: [aa, a-b, a]\n", 'seats: no persona is called "a"') == 1
    assert find_line("seats: [aa, a-b]\n", 'seats: no persona is called "b"') == 1  # the key, as nothing has the word
