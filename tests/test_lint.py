"""Lint says what is wrong in a workflow, in which line, and what to do; notes are for what is hardly meant.

Names that mean nothing are in test_loader.py; here is what can never be, what nobody reads, and where it stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from council.checks import lint, templates
from council.checks.hints import find_hints
from council.checks.lines import line_of, places
from council.config import overlays
from council.config.overlays import GUIDES
from council.engine.conditions import ANSWERS, rule
from council.engine.scene import Scene, Verdict
from council.errors import UsageError
from council.workflow import declare, vocabulary
from council.workflow.loader import load
from council.workflow.model import Kind, Workflow
from tests.helpers import User
from tests.scripted import WORKFLOWS

ASK = "reply: {stance: agree | mixed | disagree, score: 0-100, count: integer, items: list, why: text}"


def workflow(*phases: str, options: str = "{on: false, depth: flat}", seats: str = "{m: [a, b], c: c}") -> Workflow:
    listed = "\n".join(f"  - {phase}" for phase in phases)
    return load(f"---\nname: tiny\nseats: {seats}\noptions: {options}\nphases:\n{listed}\n---\n", "tiny.md")


def wrong(*phases: str, **more: str) -> list[str]:
    return [one.removeprefix("tiny: ") for one in lint.lint(workflow(*phases, **more))]


FIRST, LAST = f"{{name: first, {ASK}}}", "{name: synthesis}"


# What can never be


@pytest.mark.parametrize(
    ("phases", "why"),
    [
        # asked for only later, or in another phase
        (
            ("{name: p, when: {some: {stance: agree}}}", FIRST),
            "phase p: when: some: no step spoken by then asks for stance",
        ),
        (
            (FIRST, "{name: p, until: {done: {every: {score: any}}}}"),
            "phase p: until: done: every: no step of this phase asks for score",
        ),
        (
            ("{name: p, steps: [{name: q, when: {stuck: {field: score}}}, {name: r, reply: {score: 0-9}}]}",),
            "phase p, step q: when: stuck: no step spoken by then asks for score",
        ),
        (
            ("{name: p, reply: {x: a | b}}", "{name: q, reply: {y: a | b}}", "{name: z, when: {some: {x: a, y: a}}}"),
            "phase z: when: some: no step spoken by then asks for x and y together",
        ),
        (
            ("{name: p, reply: {x: a | b}}", "{name: q, reply: {n: 0-9}, until: {d: {vote: {field: x, sure: n}}}}"),
            "phase q: until: d: vote: no step of this phase asks for n and x together",
        ),
        (
            ("{name: p, when: {not: {all: [{some: {stance: agree}}, last_round]}}}", FIRST),
            "phase p: when: some: no step spoken by then asks for stance",
        ),
        # rounds that never come
        (("{name: p, rounds: 2, steps: [{name: q, when: {from_round: 3}}]}",), "at most 2 rounds, so round 3"),
        (("{name: p, rounds: [1, 2], until: {late: {from_round: {number: 9}}}}",), "so round 9 never comes"),
        (("{name: p, when: {from_round: 1}}",), "the `when` of a phase is checked before its first round"),
        (("{name: p, when: last_round}",), "phase p: when: last_round: the `when` of a phase"),
        # outcomes of what is not over
        (("{name: p, when: {outcome: {q: done}}}", "{name: q}"), "phase p: when: outcome: the phase q is not over"),
        (
            ("{name: p, rounds: 2, steps: [{name: x, when: {outcome: {p: any}}}]}",),
            "phase p, step x: when: outcome: the phase p is not over",
        ),
        # values that no reply can have
        ((FIRST, '{name: p, when: {some: {score: ">= 101"}}}'), '">= 101" can never be the answer'),
        ((FIRST, "{name: p, when: {some: {score: high}}}"), '"high" can never be the answer, which is a number from 0'),
        ((FIRST, "{name: p, when: {some: {score: [101, 102]}}}"), '"101" can never be the answer'),
        ((FIRST, "{name: p, when: {some: {count: many}}}"), '"many" can never be the answer, which is a whole number'),
        ((FIRST, '{name: p, when: {some: {items: "> 3"}}}'), '"> 3" can never be the answer, which is a list'),
        ((FIRST, '{name: p, when: {some: {why: "< 1"}}}'), '"< 1" can never be the answer, which is text'),
        ((FIRST, "{name: p, when: {every: {stance: yes}}}"), '"yes" is not one of its options'),
        (
            ("{name: p, reply: {x: a | b}, until: {d: {vote: {field: x, among: [a, c]}}}}",),
            'phase p: until: d: vote: x: "c" is not one of its options; ',
        ),
        (("{name: p, reply: {x: a | b}, until: {d: {share: {x: a, over: 1}}}}",), "a share cannot be over 1"),
        # names that nobody answers to
        (("{name: p, reply: {x: a | b}, until: {d: {vote: {field: x, sure: n}}}}",), 'answer "n" does not exist'),
        (("{name: p, until: {d: dissent_kept}}",), 'dissent_kept: no phase has the role synthesis'),
        (("{name: p, until: {d: {dissent_kept: {by: q}}}}",), 'there is no phase or step "q"'),
        (("{name: p, until: {d: cites}}",), "name the step that writes it: {cites: {by: …}}"),
        (("{name: p, rounds: 2, until: {d: split}}",), 'split: the answer "stance" does not exist'),
        (("{name: p, rounds: 2, until: {d: {moved: scor}}, reply: {score: 0-9}}",), 'did you mean "score"?'),
        # views of what comes later
        (("{name: p, sees: q}", "{name: q}"), 'phase p, step p: sees: "q" comes later'),
        (("{name: p, sees: p}",), '"p" comes later'),
        (("{name: p, sees: {anonymous: [own, q]}}", "{name: q}"), '"q" comes later'),
        (("{name: p, steps: [{name: x, sees: [own, y]}, {name: y}]}",), 'step x: sees: "y" comes later'),
        (
            ("{name: p, seats: {from: q.items}}", f"{{name: q, {ASK}}}"),
            'phase p, step p: seats: "q" comes later, so nobody is named yet',
        ),
    ],
)  # fmt: skip
def test_what_can_never_be(phases: tuple[str, ...], why: str) -> None:
    found = wrong(*phases)
    assert any(why in one for one in found), found


@pytest.mark.parametrize(
    "phases",
    [
        # in a phase that repeats, what comes later in one round came in the round before
        ("{name: p, rounds: 2, steps: [{name: q, when: {some: {n: 3}}, sees: r}, {name: r, reply: {n: 0-9}}]}",),
        ("{name: p, rounds: 2, sees: p}",),
        # in order, a seat hears those before it
        ("{name: p, order: sequential, sees: p}",),
        ("{name: p, order: by_group, seats: [m, c], sees: [p]}",),
        # a person may grant rounds
        ("{name: p, steps: [{name: q, when: {from_round: 5}}, {name: r, seats: human, reply: {grant: 0-9}}]}",),
        # only the rules that count the round just spoken need the answer in this phase
        (FIRST, "{name: p, rounds: 2, until: {d: {not: {moved: {field: stance}}}}}"),
        (FIRST, "{name: p, when: {stuck: {field: score}}}"),
        # values at the edges
        (FIRST, '{name: p, when: [{some: {score: ">= 100"}}, {some: {score: "< 0.5"}}, {every: {score: 0}}]}'),
        (FIRST, '{name: p, when: [{some: {count: "> 1000000"}}, {some: {items: any}}, {some: {why: "so it is"}}]}'),
        # of two steps that ask for it, one may say so
        ("{name: p, reply: {x: a | b}}", "{name: q, reply: {x: text}}", "{name: z, when: {some: {x: other}}}"),
        (FIRST, "{name: p, when: {share: {stance: agree, over: 1/2}}}"),
        ("{name: p}", "{name: q, when: {outcome: {p: [done, cap]}}}"),
    ],
)
def test_what_can_be(phases: tuple[str, ...]) -> None:
    assert wrong(*phases) == []


def test_a_halt_may_ask_for_anything() -> None:
    text = "halt: {low: {all: [{some: {score: '< 10'}}, {from_round: 2}, {outcome: {p: cap}}]}}\n"
    found = load(f"---\nname: tiny\nseats: {{m: a}}\n{text}phases: [{{name: p, rounds: 2, {ASK}}}]\n---\n", "t.md")
    assert lint.lint(found) == []


# What is hardly meant


@pytest.mark.parametrize(
    ("phases", "why"),
    [
        (("{name: p, until: {d: disagreement}}", LAST), "phase p: until: there is only one round, so it ends nothing"),
        (("{name: p, seats: c}", "{name: synthesis, seats: c}"), "seats: m: no step seats this group"),
        (("{name: p, reply: {stance: agree | other}}", LAST), "reply: stance: disagree is not an option, but the"),
        (("{name: p}",), "no phase has the role synthesis"),
        (
            ("{name: p, rounds: 2, reply: {plan: text}, until: {d: {vote: {field: plan}}}}", LAST),
            "phase p: until: d: vote: plan is free text, and no two seats write the same words; make it a choice",
        ),
        (
            ("{name: p, reply: {plan: text+}}", "{name: q, when: {split: plan}}", LAST),
            "phase q: when: split: plan is free text",
        ),
        (
            ("{name: synthesis}", "{name: after, seats: human}"),
            "phase after, step after: a person is asked, but nothing uses the answer",
        ),
        (("{name: p, seats: human}", "{name: synthesis, sees: own}"), "a person is asked, but nothing uses the answer"),
    ],
)  # fmt: skip
def test_what_is_hardly_meant(phases: tuple[str, ...], why: str) -> None:
    found = find_hints(workflow(*phases))
    assert any(why in one for one in found), found


@pytest.mark.parametrize(
    "phases",
    [
        ("{name: p, seats: c, rounds: 2, until: {d: disagreement}}", LAST),
        ("{name: p, rounds: [1, most], until: {d: disagreement}}", LAST),
        ("{name: p, reply: {x: a | b}, until: {d: {vote: {field: x}}}}", LAST),
        ("{name: p, until: {d: disagreement}}", "{name: synthesis, when: {outcome: {p: d}}}"),
        ("{name: p, seats: human}", LAST),
        ("{name: p, seats: human}", "{name: synthesis, sees: {anonymous: [p]}}"),
        ("{name: p, rounds: 2, steps: [{name: q, sees: r}, {name: r, seats: human}]}", "{name: synthesis, sees: own}"),
        ("{name: p, seats: human, reply: {x: a | b}}", "{name: synthesis, sees: own, when: {some: {x: a}}}"),
        ("{name: p, seats: a}", "{name: synthesis, seats: [b, c]}"),
        ("{name: p, reply: {stance: yes | no}}", LAST),
    ],
)
def test_what_may_well_be_meant(phases: tuple[str, ...]) -> None:
    assert [
        one for one in find_hints(workflow(*phases, options="{most: 1}")) if "group" not in one or "m:" in one
    ] == []


@pytest.mark.parametrize(
    ("phase", "read", "unused"),
    [
        ("{name: p}", (), ["on", "depth"]),
        ("{name: p}", ("depth",), ["on"]),
        ("{name: p, when: {option: on}}", (), ["depth"]),
        ("{name: p, when: {not: {all: [{option: {depth: deep}}, {option: on}]}}}", (), []),
        ("{name: p, rounds: [1, depth]}", (), ["on"]),
    ],
)
def test_options_that_nothing_reads(phase: str, read: tuple[str, ...], unused: list[str]) -> None:
    given = "{on: false, depth: 3, words: 50-150, document: none, total_timeout: none}"
    found = [one for one in find_hints(workflow(phase, options=given), read) if one.startswith("options: ")]
    assert [one.split(": ")[1] for one in found] == unused


def test_without_knowing_the_templates_no_option_is_called_unused() -> None:
    assert not any(one.startswith("options") for one in find_hints(workflow("{name: p}")))


BODY = "# Prompts\n## p\nSay so.\n## q\nIn {{ words }} words.\n"


def test_sections_that_are_no_prompts_or_look_like_templates() -> None:
    found = find_hints(load(f"---\nname: t\nseats: {{m: a}}\nphases: [{{name: p}}]\n---\n{BODY}", "t.md"))
    assert 'the section "q" below "Prompts" is not used by any step; known: p' in found
    assert any(one.startswith('the section "q" below "Prompts" is printed unchanged') for one in found)
    assert not any('"p"' in one for one in found)


# Where it stands

PLACED = """---

name: tiny
seats:
  m: [a, {b: {tier: haiku}}]
  c:
    - c
options: {on: false}
halt:
  broke: {spent: {usd: 1}}
phases:
  - name: p
    when: last_round
    tier: haiku
    steps:
      - {name: q}
      - name: r
        tier: opus
        reply:
          x: text
          y: list
    until:
      d: last_round
  - {name: z, sees: own}
---
"""


@pytest.mark.parametrize(
    ("problem", "line"),
    [
        ("halt: broke: there is no rule", 10),
        ("seat a: persona", 5),
        ("seat b: tier", 5),
        ("seat c: persona", 7),
        ("seats: c: no step", 6),
        ("options: on: nothing reads it", 8),
        ("phase p: when: last_round", 13),
        ("phase p: until: d: there is", 23),
        ("phase p: until: e: there is", 22),
        ("phase p, step q: tier", 14),
        ("phase p, step r: tier", 18),
        ("phase p, step r: reply: y: the program", 21),
        ("phase p, step r: sees: there", 17),
        ("phase z, step z: sees: there", 24),
        ('phase p has no key "until"; did', 22),
        ('a workflow has no key "halt"; did', 9),
        ("phase 2: name", 24),
        ("phase pp: when", None),
        ("nothing of this file", None),
    ],
)
def test_the_line_of_a_message(problem: str, line: int | None) -> None:
    assert line_of(problem, PLACED) == line


@pytest.mark.parametrize(
    "text", ["", "no frontmatter", "---\na: [\n---\n", "---\n" + "[" * 5000 + "\n---\n", "---\n- a\n---\n"]
)
def test_a_file_that_cannot_be_read_has_no_lines(text: str) -> None:
    assert places(text) == {}


FLAWED = """---
name: other
seats: {members: [architect, enginer], chair: chair}
options: {loud: false}
phases:
  - {name: positions, sees: nothin}
  - name: talk
    rounds: [1, 2]
    reply: {stance: agree | disagree}
    until: {agreed: {share: {stance: agreed, at: 2/3}}}
  - {name: synthesis, seats: chair, tier: sonet}
---
"""


def test_the_command_says_what_where_and_what_to_do(tmp_path: Path) -> None:
    user = User(tmp_path)
    user.write("mine/flawed.md", FLAWED)
    ended = user.council("lint", "mine/flawed.md")
    assert ended.code == 2
    talk = 'write .council/templates/other/talk.md.j2, or a section "## talk" below a heading "# Prompts"'
    said = dict(re.findall(r"^mine/flawed\.md:(\d+): (.*)$", ended.out, re.M))
    assert 'sees: there is no view "nothin"; did you mean "nothing"?' in said["6"]
    assert 'share: stance: "agreed" is not one of its options; did you mean "agree"?' in said["10"]
    assert 'tier "sonet" does not exist; did you mean "sonnet"?' in said["11"]
    assert 'persona "enginer" does not exist; did you mean "engineer"?' in said["3"]
    assert 'write a section "## enginer" into .council/AgentPersonalities.md' in said["3"]
    assert talk in said["7"]
    assert said["4"] == "note: options: loud: nothing reads it; use it in a rule, {option: loud}, or remove it"
    assert said["2"].startswith('note: name: on the command line the workflow has its file\'s name, "flawed"')
    assert "5 problems, see above" in ended.err


@pytest.mark.parametrize(
    ("old", "new", "line", "why"),
    [
        ("rounds: [1, 2]", "ruonds: 2", 8, 'phase talk has no key "ruonds"; did you mean "rounds"?'),
        ("sees: nothin", "sees: &x own", 6, "anchors and aliases"),
        ("seats: chair, tier", "seats: chiar, tier", 11, 'step synthesis: seats: no seat or group "chiar"; did you'),
        ("stance: agree | disagree", "stance: wrods", 9, 'reply: stance: "wrods" is not a type; known: text, list'),
        ("agreed: {share", "Agreed: {share", 10, 'phase talk: until: "Agreed" is not a valid name'),
    ],
)
def test_what_the_loader_refuses_has_its_line_too(tmp_path: Path, old: str, new: str, line: int, why: str) -> None:
    user = User(tmp_path)
    assert old in FLAWED
    ended = user.council("lint", user.write("flawed.md", FLAWED.replace(old, new)))
    assert ended.code == 2
    assert ended.out.startswith(f"flawed.md:{line}: ")
    assert why in ended.out


@pytest.mark.parametrize(
    "phase",
    [
        "{name: p, reply: {plan: text}, until: {d: {vote: {field: plan, among: [a, b]}}}}",
        "{name: p, reply: {plan: a | b}, until: {d: {vote: {field: plan}}}}",
        "{name: p, reply: {plan: list}, until: {d: {vote: {field: plan, method: borda}}}}",
        "{name: p, reply: {plan: text}, until: {d: {some: {plan: any}}}, rounds: 2}",
    ],
)
def test_a_vote_that_can_be_counted_needs_no_note(phase: str) -> None:
    assert find_hints(workflow(phase, LAST, seats="{m: [a, b]}")) == []


def test_notes_alone_do_not_fail(tmp_path: Path) -> None:
    user = User(tmp_path)
    text = "---\nname: fine\nseats: {m: architect}\noptions: {o: x}\nphases: [{name: positions}]\n---\n"
    ended = user.council("lint", user.write("fine.md", text))
    assert ended.code == 0
    first, second, last = ended.out.splitlines()
    assert first.startswith("fine.md:4: note: options: o: nothing reads it")
    assert second.startswith("fine.md: note: no phase has the role synthesis")
    assert last.endswith("fine.md: no problems found")


# Templates


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{{ wrods }}", 'phase p, step p: prompt: templates/tiny/p.md.j2 reads "wrods"; did you mean "words"?'),
        ("a\n{% if %}", "templates/tiny/p.md.j2, line 2: Expected an expression"),
        ('{% include "_haed.md.j2" %}', 'there is no template "_haed.md.j2" to include; did you mean "_head.md.j2"?'),
        ('{% include "tiny/part.md.j2" %}', 'templates/tiny/part.md.j2 reads "tpoic"; did you mean "topic"?'),
    ],
)
def test_a_template_is_read_before_a_word_is_spoken(tmp_path: Path, text: str, why: str) -> None:
    user = User(tmp_path)
    user.write(".council/templates/tiny/p.md.j2", text)
    user.write(".council/templates/tiny/part.md.j2", "{{ tpoic }}")
    user.write(".council/Workflows/tiny.md", "---\nname: tiny\nseats: {m: architect}\nphases: [{name: p}]\n---\n")
    ended = user.council("lint", "tiny")
    assert ended.code == 2
    assert (
        f".council/Workflows/tiny.md:4: {'phase p, step p: prompt: ' if 'phase' not in why else ''}{why}" in ended.out
    )


def test_what_a_template_makes_itself_and_the_options_that_it_reads(tmp_path: Path) -> None:
    user = User(tmp_path)
    text = '{% set mine = options.a %}{{ options["b"] }}{{ options.get("c") }}{{ mine }}{% include "_head.md.j2" %}'
    text += "{% for i in range(2) %}{{ i }}{% endfor %}{{ cut }}"
    user.write(".council/templates/tiny/p.md.j2", text)
    user.write(
        ".council/Workflows/tiny.md",
        "---\nname: tiny\nseats: {m: architect}\noptions: {a: 1, b: 2, c: 3, d: 4}\nphases: [{name: p}]\n---\n",
    )
    ended = user.council("lint", "tiny")
    assert ended.code == 0
    assert re.findall(r"options: (\w):", ended.out) == ["d"]


# The words of the language


def test_every_type_that_is_told_is_one() -> None:
    for name in vocabulary.types():
        (phase,) = workflow(f"{{name: p, reply: {{x: {name}}}}}").phases
        assert isinstance(dict(phase.steps[0].reply)["x"], Kind)


def test_every_answer_that_is_read_by_name_is_told() -> None:
    page = (Path(__file__).parent.parent / "docs" / "workflows.md").read_text("utf-8")
    for words in (declare.answer, declare.option, declare.role):
        assert [
            name for name, word in words.known.items() if f"| `{name}` | {word.about}" not in page.replace("\\|", "|")
        ] == []


@pytest.mark.parametrize(
    ("name", "kind", "must"),
    [
        ("stance", "text", "a choice (agree | disagree)"),
        ("blocking", "text", "a list"),
        ("satisfaction_score", "integer", "a range (0-100)"),
        ("grant", "text", "an integer or a range (0-100)"),
        ("gist", "list", "a text"),
        ("flaw", "list", "a text"),
        ("challenges", "text", "a list"),
        ("correction", "text", "a list"),
    ],
)
def test_an_answer_that_is_read_by_name_has_the_type_that_it_is_read_as(name: str, kind: str, must: str) -> None:
    wrong = f"tiny: phase p, step p: reply: {name}: the program reads it, so it must be {must}"
    assert lint.lint(workflow(f"{{name: p, reply: {{{name}: {kind}}}}}")) == [wrong]


# A rule that somebody adds


@pytest.fixture
def added() -> Iterator[None]:
    """Two rules as another room could register them. They leave again with the test."""
    before = set(rule.known)

    @rule(reads=("field",), counts=True)
    def same_for_all(scene: Scene, *, field: str) -> Verdict:
        """Every seat gave the same answer."""
        return Verdict(len({str(turn.answers.get(field)) for turn in scene.latest(field)}) == 1)

    @rule(further=ANSWERS)
    def nobody(scene: Scene, **fields: Any) -> Verdict:
        """No seat gave such an answer."""
        return Verdict(True)

    @rule
    def plain(scene: Scene, *, field: str = "") -> Verdict:
        """Nothing is known of it, so nothing of it is checked."""
        return Verdict(bool(field))

    yield
    for name in rule.known.keys() - before:
        del rule._registered[name]
        rule._traits.pop(name, None)


ADDED = """---
name: fine
seats: {m: [architect, engineer]}
phases:
  - name: talk
    rounds: [1, 3]
    prompt: positions
    reply: {stance: agree | mixed | disagree}
    until:
      first: {same_for_all: {field: stanc}}
      second: {nobody: {stanse: agree}}
      third: {nobody: {stance: agreee}}
      fourth: {plain: {field: stanc}}
      fifth: {same_for_all: {feild: stance}}
      sixth: {same_for_all: {field: stance}}
---
"""


def test_a_misspelt_answer_of_a_new_rule_is_found_as_one_of_the_kits(added: None) -> None:
    problems = [one.removeprefix("fine: ") for one in lint.lint(load(ADDED, "fine.md"))]
    expected = {
        10: 'phase talk: until: first: same_for_all: the answer "stanc" does not exist; did you mean "stance"?',
        11: 'phase talk: until: second: nobody: the answer "stanse" does not exist; did you mean "stance"?',
        12: 'phase talk: until: third: nobody: stance: "agreee" is not one of its options; did you mean "agree"?',
        14: "phase talk: until: fifth: the rule \"same_for_all\": missing a required argument: 'field'; write "
        "{same_for_all: {field: …}} (field is required)",
    }
    assert {line_of(problem, ADDED): problem for problem in problems} == expected


def test_a_new_rule_that_counts_is_held_to_the_answers_of_its_phase(added: None) -> None:
    found = workflow(
        "{name: a, reply: {stance: agree | mixed | disagree}}", "{name: b, until: {x: {same_for_all: {field: stance}}}}"
    )
    assert lint.lint(found) == ["tiny: phase b: until: x: same_for_all: no step of this phase asks for stance"]


KIT = sorted(set(overlays.workflows()) - set(GUIDES))


@pytest.mark.parametrize("name", KIT)
def test_the_kit_has_no_note_that_is_not_meant(name: str) -> None:
    found = load(*overlays.workflow_text(name))
    examined = templates.examine(found)
    assert examined.problems == ()
    assert [one for one in find_hints(found, examined.options) if "no step seats this group" not in one] == []


@pytest.mark.parametrize("path", sorted(WORKFLOWS[1].glob("*.md")), ids=lambda path: path.stem)
def test_the_fixtures_are_without_fault(path: Path) -> None:
    assert lint.lint(load(path.read_text("utf-8"), path.name)) == []


# What a message tells to do


@pytest.mark.parametrize(
    ("condition", "told"),
    [
        (
            "{vote: stance}",
            "write {vote: {field: …, method: …, among: …, sure: …, scored: …, ties: …}} (field is required)",
        ),
        ("vote", "(field is required)"),
        ("{last_round: 3}", "write last_round, without arguments"),
        ("{disagreement: {by: a}}", "write disagreement, without arguments"),
    ],
)
def test_a_rule_that_is_given_the_wrong_things_is_shown_as_it_is_written(condition: str, told: str) -> None:
    found = wrong(FIRST, f"{{name: p, until: {{done: {condition}}}}}", LAST)
    assert any(told in one for one in found), found


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("name: own\ndescription: start: stop\n", "quote text that contains a colon"),
        ("name: own\nat: @home\n", "must be quoted"),
        ("name: own\nphases: [{name: a}\n", "a bracket is not closed"),
        (
            "name: own\nseats: {a: b}\nphases: [{name: p, when: round > 1}]\n",
            "with an argument as {from_round: 2}",
        ),
    ],
)
def test_what_yaml_does_not_take_is_explained(text: str, told: str) -> None:
    with pytest.raises(UsageError, match=re.escape(told)):
        load(f"---\n{text}---\n", "own.md")


def test_a_single_round_with_outcomes_of_its_own_is_no_mistake() -> None:
    outcomes = "{approved: {some: {ok: yes}}, refused: {some: {ok: no}}}"
    asked = f"{{name: approval, seats: human, reply: {{ok: yes | no}}, until: {outcomes}}}"
    assert not [one for one in find_hints(workflow(asked, LAST)) if "until" in one]
