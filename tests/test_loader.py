"""Loading refuses what is not part of the language, by file and by name; lint refuses names that mean nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from council.checks.hints import find_hints
from council.checks.lint import Known, check, lint
from council.config.overlays import GUIDES
from council.errors import UsageError
from council.workflow import frontmatter
from council.workflow.loader import load
from council.workflow.model import (
    AllOf,
    AnyOf,
    Cast,
    Not,
    Ref,
    Seat,
    Workflow,
)
from tests.scripted import WORKFLOWS

PHASE = "{name: positions, sees: nothing}"
TINY = f"""name: tiny
seats: {{members: [a, b], chair: chair}}
options: {{strict: false, words: 50-150}}
phases:
  - {PHASE}
"""


def loaded(keys: str, body: str = "") -> Workflow:
    return load(f"---\n{keys}\n---\n{body}", "tiny.md")


def phases(*lines: str, seats: str = "{members: [a, b], chair: chair}", more: str = "") -> Workflow:
    listed = "\n".join(f"  - {line}" for line in lines)
    return loaded(f"name: tiny\nseats: {seats}\noptions: {{strict: false}}\n{more}\nphases:\n{listed}")


# What loads


def test_a_phase_has_as_many_rounds_as_an_option_says() -> None:
    found = loaded(TINY.replace("strict: false", "most: 5").replace(PHASE, "{name: talk, rounds: [1, most]}"))
    assert [(one.min_rounds, one.max_rounds) for one in found.phases] == [(1, 5)]
    assert [(one.min_rounds, one.max_rounds) for one in found.with_options({"most": "3"}).phases] == [(1, 3)]
    assert found.with_options({"most": "3"}).with_options({}).phases[0].max_rounds == 3
    for wrong in ("100", "0.5", "many", True):
        with pytest.raises(
            UsageError, match=f"^the option most must be a number from 1 to 99, not {wrong}: the phase talk"
        ):
            found.with_options({"most": wrong})
    with pytest.raises(UsageError, match="phase talk: rounds"):
        found.with_options({"most": "0"})


def test_an_option_stands_for_a_number() -> None:
    found = loaded(
        """name: tiny
seats: {members: [a, b]}
options: {target: 90, gain: 5, window: 1000, part: 2/3, often: 2}
halt: {spent: {spent: {calls: often}}}
phases:
  - name: talk
    rounds: [1, 9]
    order: {shuffle: {every: often}}
    sees: {anonymous: {of: {fading: {keep: {3: all}, tokens: window}}}}
    when: {not: {some: {score: "> target"}}}
    until: {done: {all: [{every: {score: [">= target", 7]}}, {stuck: {field: score, gain: gain}}, {from_round: often}]},
            agreed: {share: {score: ">=target", at: part}}}
    reply: {score: 0-100}
"""
    )
    for workflow, target, gain in ((found, "90", "5"), (found.with_options({"target": "80", "gain": "3"}), "80", "3")):
        (phase,) = workflow.with_options({}).phases
        step = phase.steps[0]
        assert isinstance(phase.when, Not)
        assert phase.when.of == Ref("some", {"score": f"> {target}"})
        assert step.order == Ref("shuffle", {"every": "2"})
        assert step.sees == (Ref("anonymous", {"of": {"fading": {"keep": {"3": "all"}, "tokens": "1000"}}}),)
        (_, done), (_, agreed) = phase.until
        assert isinstance(done, AllOf)
        assert done.of == (
            Ref("every", {"score": [f">= {target}", "7"]}),
            Ref("stuck", {"field": "score", "gain": gain}),
            Ref("from_round", "2"),
        )
        assert agreed == Ref("share", {"score": f">= {target}", "at": "2/3"})
        assert workflow.halt == (("spent", Ref("spent", {"calls": "2"})),)
    assert [hint for hint in find_hints(found, ()) if "nothing reads it" in hint] == []
    assert any('">= 200"' in fault or ">= 200" in fault for fault in lint(found.with_options({"target": "200"})))


@pytest.mark.parametrize(
    ("rule", "fault"),
    [
        ('{every: {score: ">= taget"}}', 'there is no option "taget"; did you mean "target"?'),
        (
            "{stuck: {field: score, gain: mingain}}",
            'the rule "stuck": gain: there is no option "mingain"; known: target',
        ),
        ('{every: {score: ">= words"}}', 'the option words must be a number, because the rule "every": score'),
    ],
)
def test_an_option_in_place_of_a_number_is_checked(rule: str, fault: str) -> None:
    talk = f"{{name: talk, rounds: [1, 3], reply: {{score: 0-100}}, until: {{done: {rule}}}}}"
    with pytest.raises(UsageError) as wrong:
        loaded(TINY.replace("strict: false", "target: 90").replace(PHASE, talk))
    assert str(wrong.value).startswith("tiny.md: phase talk: ")
    assert fault in str(wrong.value)


def test_defaults() -> None:
    tiny = loaded(TINY, "# How\n")
    (phase,) = tiny.phases
    (step,) = phase.steps
    assert (tiny.name, tiny.description, tiny.halt, tiny.body.strip()) == ("tiny", "", (), "# How")
    assert (phase.number, phase.min_rounds, phase.max_rounds, phase.when, phase.until) == (1, 1, 1, None, ())
    assert (step.name, step.prompt, step.seats, step.tier) == ("positions", "positions", ("members",), "sonnet")
    assert (step.order, step.sees, step.reply, step.when) == (Ref("parallel"), (Ref("nothing"),), (), None)
    assert [seat.name for seat in tiny.members] == ["a", "b"]


def test_a_step_inherits_its_phase() -> None:
    asked = phases(
        "{name: p, seats: chair, tier: opus, sees: own, order: sequential, reply: {note: text}, prompt: ask, when: "
        "{option: strict}, steps: [{name: x}, "
        "{name: y, seats: [members, chair], tier: haiku, prompt: y, when: last_round}]}"
    )
    x, y = asked.phases[0].steps
    assert (x.seats, x.tier, x.sees, x.order, x.prompt) == (("chair",), "opus", (Ref("own"),), Ref("sequential"), "ask")
    assert (y.seats, y.tier, y.prompt, y.reply) == (("members", "chair"), "haiku", "y", x.reply)
    assert (x.when, y.when, asked.phases[0].when) == (None, Ref("last_round"), Ref("option", "strict"))


def test_conditions() -> None:
    asked = phases(
        "{name: p, reply: {s: a | b}, when: [disagreement, {all: [last_round, {not: {some: {s: a}}}]}],"
        " until: {over: {share: {s: [a, b], at: 2/3}}}}"
    ).phases[0]
    assert asked.when == AnyOf((Ref("disagreement"), AllOf((Ref("last_round"), Not(Ref("some", {"s": "a"}))))))
    assert asked.until == (("over", Ref("share", {"s": ["a", "b"], "at": "2/3"})),)


def test_seats_have_attributes_and_may_be_cast() -> None:
    asked = phases(
        "{name: p, seats: {from: p.names, without: p.muted}, reply: {names: list, muted: list}}",
        "{name: q, seats: human}",
        seats="{team: [a, tester: {speaker: shell, run: pytest -q, tier: opus}]}",
    )
    assert asked.phases[0].steps[0].seats == (Cast(("p", "names"), ("p", "muted")),)
    assert asked.seat("tester") == Seat("tester", "team", {"speaker": "shell", "run": "pytest -q", "tier": "opus"})
    assert asked.seats(["human", "team", "a"]) == (Seat("human", "human"), asked.seat("a"), asked.seat("tester"))
    assert asked.seat("human").speaker == "human"


GUESSED = "yes no on off null ~ 2024-01-01 12:30:00 0x1F 1e3 1_000 007 .inf True NO = << 90"


@pytest.mark.parametrize("word", GUESSED.split())
def test_plain_words_stay_text(word: str) -> None:
    assert frontmatter.load_yaml(f"key: {word}", "x") == {"key": word}
    assert frontmatter.load_yaml(f"{word}: x", "x") == {word: "x"}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: true", {"a": True}),
        ("a: false", {"a": False}),
        ('a: "true"', {"a": "true"}),
        ("a:", {"a": ""}),
        ("", {}),
        ("# nothing", {}),
        ("a: [1, {b: no}]", {"a": ["1", {"b": "no"}]}),
        ("a: |\n  x\n  y", {"a": "x\ny"}),
        ("---\na: 1\n...", {"a": "1"}),
    ],
)
def test_yaml(text: str, value: Any) -> None:
    assert frontmatter.load_yaml(text, "x") == value


@settings(deadline=None)
@given(
    st.text()
    | st.lists(st.sampled_from(["a: ", "- ", "{", "}", "[", "]", "\n", " ", "x", "&a ", "*a", "!t "])).map("".join)
)
def test_any_text_is_a_plain_value_or_refused(text: str) -> None:
    refusal, value = "it.md: ", {}
    try:
        value = frontmatter.load_yaml(text, "it.md")
    except UsageError as refused:
        refusal = str(refused)
    assert refusal.startswith("it.md: ")
    assert_plain(value)


def assert_plain(value: Any) -> None:
    assert type(value) in (dict, list, str, bool)
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        assert_plain(inner)


def test_folders_are_named_after_place_round_and_step() -> None:
    once, often = phases(PHASE, "{name: talk, rounds: [1, 9], steps: [{name: ask}, {name: answer}]}").phases
    assert once.folder(1, once.steps[0]) == "01-positions"
    assert often.folder(3, often.steps[1]) == "02-talk-r03-2-answer"
    assert once.folder(2, once.steps[0]) == "01-positions-r02", "a round that was granted has a folder of its own"


# What is refused when it is loaded


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("name: tiny", "must begin with a line of three hyphens"),
        ("", "must begin with a line of three hyphens"),
        ("# Title\n---\nname: x\n---", "must begin with a line of three hyphens"),
        ("---\nname: tiny\n", "no closing line of three hyphens"),
        ("---\n- a\n---", "must be keys with values"),
        ("---\njust words\n---", "must be keys with values"),
        ("---\na: [\n---", "not valid YAML"),
        ("---\na: 1\na: 2\n---", 'line 3: the key "a" is repeated'),
        ("---\na: {b: 1, b: 2}\n---", 'the key "b" is repeated'),
        ("---\na: &x 1\n---", "anchors and aliases are not part"),
        ("---\na: 1\nb: *a\n---", "not valid YAML|anchors and aliases"),
        ("---\na: !!int 1\n---", "tags are not part"),
        ("---\na: !!python/object:os.system x\n---", "tags are not part"),
        ("---\n? [a]\n: 1\n---", "a key must be a word"),
        ("---\na: 1\n...\n--- \nb: 2\n---", "has no key|only one YAML document|needs the key"),
        ("---\na: " + "[" * 30 + "]" * 30 + "\n---", "nested deeper than 24"),
        ("---\na: " + "x" * 1_000_001 + "\n---", "larger than 1,000,000"),
    ],
)
def test_frontmatter_that_is_refused(text: str, why: str) -> None:
    with pytest.raises(UsageError, match=why) as refused:
        load(text, "flows/tiny.md")
    assert str(refused.value).startswith("flows/tiny.md: ")


def test_a_second_document_is_refused() -> None:
    with pytest.raises(UsageError, match=r"Config.md: line 2: only one YAML document"):
        frontmatter.load_yaml("a: 1\n---\nb: 2", "Config.md")


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("name: tiny\n", "", 'a workflow needs the key "name"'),
        ("name: tiny", "nmae: tiny", 'a workflow has no key "nmae"; did you mean "name"?'),
        ("name: tiny", "name: Tiny", '"Tiny" is not a valid name'),
        ("name: tiny", "name: [tiny]", "name must be a word or text"),
        ("name: tiny", "name: t/../x", "is not a valid name"),
        ("name: tiny", f"name: {'t' * 41}", "at most 40"),
        ("name: tiny", "name: tiny\nedges: []", 'has no key "edges"'),
        ("seats: {members: [a, b], chair: chair}", "seats: [a, b]", "seats must be keys with values"),
        ("seats: {members: [a, b], chair: chair}", "seats: {}", "there must be at least one group"),
        ("[a, b]", "[a, a]", 'the group "members" must name its seats, each once'),
        ("[a, b]", "[]", 'the group "members" must name its seats, each once'),
        ("[a, b]", "[a, B]", '"B" is not a valid name'),
        ("[a, b]", "[a, true]", '"True" is not a valid name'),
        ("[a, b]", "[a, b: {teir: opus}]", 'seat b has no key "teir"; did you mean "tier"?'),
        ("[a, b]", "[a, b: opus]", "seat b must be keys with values"),
        ("options: {strict: false, words: 50-150}", "options: [strict]", "options must be keys with values"),
        ("strict: false", "Strict: false", '"Strict" is not a valid name'),
        ("  - " + PHASE, "  []", "phases: there must be at least one"),
        ("phases:\n  - " + PHASE, "phases: {}", "phases must be a list"),
        ("phases:\n  - " + PHASE, "", 'needs the key "phases"'),
        (PHASE, "positions", "phase 1 must be keys with values"),
        (PHASE, "{sees: nothing}", 'phase 1 needs the key "name"'),
        (PHASE, "{name: p, see: own}", 'phase p has no key "see"; did you mean "sees"?'),
        (PHASE, "{name: p, steps: []}", "each step needs its own name"),
        (PHASE, "{name: p, steps: {name: x}}", "phase p: steps must be a list"),
        (PHASE, "{name: p, steps: [x]}", "a step must be keys with values"),
        (PHASE, "{name: p, steps: [{sees: own}]}", 'a step of phase p needs the key "name"'),
        (PHASE, "{name: p, steps: [{name: x, rounds: 2}]}", 'step x has no key "rounds"'),
        (PHASE, "{name: p, steps: [{name: x}, {name: x}]}", "each step needs its own name"),
        (PHASE, PHASE + "\n  - " + PHASE, '"positions" names two phases or steps'),
        (PHASE, "{name: p, steps: [{name: q}]}\n  - {name: q}", '"q" names two phases or steps'),
        (PHASE, "{name: p, seats: membres}", 'no seat or group "membres"; did you mean "members"?'),
        (PHASE, "{name: p, seats: [members, c]}", 'no seat or group "c"'),
        (
            PHASE,
            "{name: p, seats: [members, {from: x.y}]}",
            "a list may contain only names",
        ),
        (PHASE, "{name: p, seats: {form: x.y}}", 'has no key "form"; did you mean "from"?'),
        (PHASE, "{name: p, seats: {from: names}}", "must be a step and one of its answers"),
        (PHASE, "{name: p, seats: {from: p.names, without: muted}}", "must be a step and one of its answers"),
        (PHASE, "{name: p, rounds: 0}", "not a range that begins at 1"),
        (PHASE, "{name: p, rounds: [3, 2]}", "not a range"),
        (PHASE, "{name: p, rounds: 100}", "a number or \\[min, max\\], at most 99"),
        (PHASE, "{name: p, rounds: [1, 2, 3]}", "a number or"),
        (PHASE, "{name: p, rounds: many}", "a number or"),
        (PHASE, "{name: p, rounds: [1, true]}", "a number or"),
        (PHASE, "{name: p, rounds: 1.5}", "a number or"),
        (PHASE, "{name: p, until: agreed}", "phase p: until must be keys with values"),
        (PHASE, "{name: p, until: {Agreed: last_round}}", '"Agreed" is not a valid name'),
        (PHASE, "{name: p, when: {some: {a: b}, every: {a: b}}}", "phase p: when: it must be a name, or one name"),
        (PHASE, "{name: p, when: []}", "it must be a name, or one name"),
        (PHASE, "{name: p, when: [last_round, []]}", "it must be a name, or one name"),
        (PHASE, '{name: p, when: "{{ round > 1 }}"}', "is not a valid name"),
        (PHASE, "{name: p, when: true}", "it must be a name, or one name"),
        (PHASE, "{name: p, order: [sequential]}", "step p: order: it must be a name, or one name"),
        (PHASE, "{name: p, sees: [own, []]}", "step p: sees: it must be a name, or one name"),
        (PHASE, "{name: p, tier: [opus]}", "is not a valid name"),
        (PHASE, "{name: p, prompt: ../x}", '"../x" is not a valid name'),
        (PHASE, "{name: p, reply: stance}", "step p: reply must be keys with values"),
        (PHASE, "{name: p, reply: {Stance: text}}", '"Stance" is not a valid name'),
        (PHASE, "{name: p, reply: {s: txt}}", 'reply: s: "txt" is not a type'),
        (PHASE, "{name: p, reply: {s: a | a}}", "is not a type"),
        (PHASE, "{name: p, reply: {s: a | }}", "is not a type"),
        (PHASE, "{name: p, reply: {s: a | b+}}", "is not a type"),
        (PHASE, "{name: p, reply: {s: integer+}}", "is not a type"),
        (PHASE, "{name: p, reply: {s: 9-1}}", "is not a type"),
        (PHASE, "{name: p, reply: {s: [a, b]}}", "is not a type"),
        (PHASE, '{name: p, reply: {s: "a | .*"}}', "is not a type"),
    ],
)
def test_workflow_that_is_refused(old: str, new: str, why: str) -> None:
    assert old in TINY
    with pytest.raises(UsageError, match=why) as refused:
        loaded(TINY.replace(old, new))
    assert str(refused.value).startswith(("tiny.md: ", "tiny: "))


def test_options_are_chosen_by_their_names() -> None:
    assert loaded(TINY).with_options({"strict": True}).options == {"strict": True, "words": "50-150"}
    with pytest.raises(UsageError, match='tiny has no option "strcit"; did you mean "strict"'):
        loaded(TINY).with_options({"strcit": True})


def test_members_may_be_others() -> None:
    other = loaded(TINY).with_members([Seat("x", "elsewhere"), Seat("y", "")])
    assert other.members == (Seat("x", "members"), Seat("y", "members"))
    assert other.groups["chair"] == loaded(TINY).groups["chair"]


# What is refused when it is linted

REPLY = "reply: {stance: agree | disagree, score: 0-100, blocking: list}"


@pytest.mark.parametrize(
    ("phase", "why"),
    [
        ("when: {sme: {stance: agree}}", 'phase p: when: there is no rule "sme"; did you mean "some"?'),
        ("when: {not: disagreemnt}", 'did you mean "disagreement"?'),
        ("when: {all: [last_round, lost_round]}", 'did you mean "last_round"?'),
        ("until: {over: {evry: {stance: agree}}}", 'phase p: until: over: there is no rule "evry"'),
        ("when: {some: {stnace: agree}}", 'some: the answer "stnace" does not exist; did you mean "stance"?'),
        ("when: {some: {stance: agreed}}", 'some: stance: "agreed" is not one of its options; did you mean "agree"?'),
        ("when: {some: {stance: [agree, mixed]}}", '"mixed" is not one of its options'),
        ("when: {stuck: {field: scor}}", 'stuck: the answer "scor" does not exist; did you mean "score"?'),
        ("when: {vote: {field: choice}}", 'vote: the answer "choice" does not exist'),
        ("when: {share: {stance: agree}}", 'the rule "share" needs either'),
        ("when: {share: {stance: agree, at: 5x}}", '"5x" is not a share'),
        ("when: {share: {stance: agree, at: 3/2}}", '"3/2" is not a share'),
        ("when: some", "need the name of an answer"),
        ("when: {stuck: {field: score, gain: 5x}}", '"5x" is not a number'),
        ("when: {stuck: {field: score, over: 1}}", "over must be 2 or more"),
        ("when: {stuck: {gain: 5}}", "missing a required argument: 'field'"),
        ("when: {spent: {eur: 5}}", "unexpected keyword argument 'eur'"),
        ("when: {spent: {usd: 5x}}", None),
        ("when: {repeats: {over: 5x}}", '"5x" is not a number'),
        ("when: {vote: {field: stance, method: bodra}}", 'no voting method "bodra"; did you mean "borda"?'),
        ("when: {last_round: {of: p}}", "unexpected keyword argument 'of'"),
        ("when: {option: strcit}", 'asks for "strcit"'),
        ("when: {option: [strict]}", "asks for"),
        ("when: {outcome: {q: done}}", 'outcome: the phase "q" does not exist'),
        ("when: {outcome: {p: finished}}", 'outcome: p: the outcome "finished" does not exist'),
        ("order: paralell", 'step p: order: there is no order "paralell"; did you mean "parallel"?'),
        ("order: {shuffle: {group: member}}", 'names the group "member"'),
        ("order: {shuffle: {every: 5x}}", "must be a number of rounds"),
        ("order: {sequential: reversed}", "too many positional arguments"),
        ("sees: so_fra", 'step p: sees: there is no view "so_fra"; did you mean "so_far"?'),
        ("sees: [own, positions]", 'there is no view "positions"'),
        ("sees: {recent: {rounds: 5x}}", "must be a whole number"),
        ("sees: {recent: {round: 1}}", "unexpected keyword argument 'round'"),
        ("sees: {fading: {keep: {3: most}}}", "must be a whole number"),
        ("sees: {fading: {keep: all}}", "as in {3: all, 7: 2}"),
        ("sees: {anonymous: so_fra}", 'there is no view "so_fra"'),
        ("tier: sonet", 'step p: tier "sonet" does not exist; did you mean "sonnet"?'),
        ("prompt: q", 'step p: prompt "q" does not exist'),
        ("seats: {from: p.names}", 'no step "p" asks for "names"'),
        ("seats: {from: p.blocking, without: q.muted}", 'no step "q" asks for "muted"'),
    ],
)
def test_lint(phase: str, why: str | None) -> None:
    known = Known(tiers=["sonnet"], prompts=["p"], personas=["a", "b", "chair"], speakers=["shell"])
    problems = lint(phases(f"{{name: p, {phase}, {REPLY}}}"), known)
    assert problems, phase
    assert all(problem.startswith("tiny: ") for problem in problems)
    if why:
        assert why in problems[0]


def test_lint_of_seats_halts_and_names() -> None:
    flawed = phases(
        "{name: own, reply: {grant: text, stance: text, blocking: text}}",
        seats="{members: [a, b: {speaker: shel, tier: opsu}, c: {persona: d}]}",
        more="halt: {broke: {spend: {usd: 1}}}",
    )
    known = Known(tiers=["opus", "sonnet"], prompts=["own"], personas=["a", "b"], speakers=["shell"])
    assert lint(flawed, known) == [
        'tiny: halt: broke: there is no rule "spend"; did you mean "spent"?',
        "tiny: phase own, step own: reply: grant: the program reads it, so it must be an integer or a range (0-100)",
        "tiny: phase own, step own: reply: stance: the program reads it, so it must be a choice (agree | disagree)",
        "tiny: phase own, step own: reply: blocking: the program reads it, so it must be a list",
        'tiny: "own" is a phase or step, and also a view; give the phase or step another name',
        'tiny: seat b: speaker "shel" does not exist; did you mean "shell"?',
        'tiny: seat b: tier "opsu" does not exist; did you mean "opus"?',
        'tiny: seat c: persona "d" does not exist; known: a, b. Otherwise write a section "## d" into '
        ".council/AgentPersonalities.md",
    ]
    with pytest.raises(UsageError, match=r"spend(.|\n)*persona"):
        check(flawed, known)


def test_what_is_not_known_is_not_checked() -> None:
    fine = phases("{name: p, tier: gold, prompt: anything}")
    assert lint(fine) == []
    assert check(fine) is fine


@pytest.mark.parametrize(
    "path",
    [path for folder in WORKFLOWS for path in sorted(folder.glob("*.md")) if path.stem.lower() not in GUIDES],
    ids=lambda p: p.stem,
)
def test_workflow_files_are_named_after_their_workflow(path: Path) -> None:
    assert load(path.read_text(encoding="utf-8"), path.name).name == path.stem.lower()


# ---- roles and documents ----

TWO = "name: own\nseats: {members: [architect, engineer]}\n"


def with_phases(phases: str, top: str = "") -> Workflow:
    return load(f"---\n{TWO}{top}phases:\n{phases}---\n", "own.md")


def test_a_phase_of_any_name_can_have_a_role() -> None:
    found = with_phases("  - {name: talk}\n  - {name: verdict, role: synthesis}\n  - {name: synthesis}\n")
    assert found.role("synthesis") == "verdict"
    assert found.role("control") == ""


def test_where_no_phase_declares_a_role_the_phase_of_its_name_has_it() -> None:
    """Sessions from before there were roles hold workflows without them."""
    assert with_phases("  - {name: synthesis}\n").roles == {"synthesis": "synthesis"}
    alone = "  - {name: talk}\n  - {name: control}\n"
    assert with_phases(alone).role("control") == ""  # a phase that happens to be called so
    assert with_phases(alone, "options: {control: false}\n").role("control") == "control"
    assert with_phases("  - {name: talk}\n  - {name: control, role: control}\n").role("control") == "control"
    assert with_phases("  - {name: synthesis, role: control}\n").roles == {"control": "synthesis"}


@pytest.mark.parametrize(
    ("phases", "top", "why"),
    [
        ("  - {name: talk, role: sinthesis}\n", "", 'phase talk: role: there is no role "sinthesis"; did you mean'),
        ("  - {name: a, role: control}\n  - {name: b, role: control}\n", "", "two phases have the role"),
        ("  - {name: a}\n", "document: {kind: An ADR}\n", "document: kind"),
        ("  - {name: a}\n", "document: {recommendation: path}\n", 'document needs the key "kind"'),
        (
            "  - {name: a}\n",
            "document: {kind: decision, dissents: d}\n",
            'document has no key "dissents"; did',
        ),
        ("  - {name: a}\n", "document: [adr]\n", "document must be keys with values"),
    ],
)
def test_roles_and_documents_that_nobody_knows_are_refused(phases: str, top: str, why: str) -> None:
    with pytest.raises(UsageError) as refused:
        with_phases(phases, top)
    assert why in str(refused.value)


def test_a_workflow_says_which_answers_its_document_is_made_of() -> None:
    found = with_phases("  - {name: a}\n", "document: {kind: decision, recommendation: path}\n")
    assert found.document is not None
    assert found.document.kind == "decision"
    assert found.document.answers == {"recommendation": "path"}
    assert found.with_options({"document": "none"}).document is None
    assert found.with_options({"document": "adr"}).document.kind == "adr"


def test_an_option_alone_makes_a_document_as_it_did_before() -> None:
    found = with_phases("  - {name: a}\n", "options: {document: adr}\n").document
    assert found is not None
    assert (found.kind, found.answers) == ("adr", {})
    assert with_phases("  - {name: a}\n").document is None
