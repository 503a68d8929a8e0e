"""A diagram has every phase, step, rule and outcome of its workflow, and is nothing that Mermaid could misread."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections import defaultdict
from contextlib import suppress
from pathlib import Path

import pytest

from council.checks.diagram import describe_condition, escape, mermaid
from council.config.overlays import GUIDES
from council.errors import UsageError
from council.workflow import gates
from council.workflow.loader import load
from council.workflow.model import Workflow
from tests.helpers import User
from tests.scripted import WORKFLOWS

HERE = Path(__file__).parent
FILES = [path for folder in WORKFLOWS for path in sorted(folder.glob("*.md")) if path.stem.lower() not in GUIDES]
FILES += [HERE / "fixtures" / "premortem.md", HERE.parent / "council" / "cli" / "starter.md"]
ARROW = re.compile(r'    (\w+) (-->|-\.->)(?:\|"([^"]*)"\|)? (\w+)')
BOX = re.compile(r'\s+(\w+)(\[/|\[\[|\(\[|\{\{|\[|\(|\{)"([^"]*)"(/\]|\]\]|\]\)|\}\}|\]|\)|\})(?::::(\w+))?')
LINE = re.compile(r"    (seat\d+) --- (seat\d+)")
FRAME = re.compile(r'    subgraph (\w+)\["([^"]*)"\]')


def read(path: Path) -> Workflow:
    return load(path.read_text("utf-8"), path.name)


def drawn(phases: str, more: str = "", seats: str = "{members: [a, b], chair: c}") -> str:
    return mermaid(load(f"---\nname: tiny\nseats: {seats}\n{more}\nphases:\n{phases}\n---\n", "tiny.md"))


def arrows(text: str) -> set[tuple[str, str, str]]:
    """From where, with which words, where to."""
    return {(one[1], one[3] or "", one[4]) for line in text.splitlines() if (one := ARROW.fullmatch(line))}


def boxes(text: str) -> dict[str, str]:
    return {one[1]: one[3] for line in text.splitlines() if (one := BOX.fullmatch(line))}


def gated(plain: Workflow) -> Workflow:
    """With a gate after every phase in which no person decides already."""
    for phase in plain.phases:
        with suppress(UsageError):
            gates.find_phase(plain, phase.name)
            after = plain.options.get(gates.AFTER, "")
            plain = plain.with_options({gates.AFTER: f"{after},{phase.name}".strip(",")})
    return plain


@pytest.fixture(params=[(path, with_gates) for path in FILES for with_gates in (False, True)], ids=str)
def workflow(request: pytest.FixtureRequest) -> Workflow:
    path, with_gates = request.param
    return gated(read(path)) if with_gates else read(path)


def test_every_line_is_of_a_kind_that_is_known(workflow: Workflow) -> None:
    first, *lines = mermaid(workflow).splitlines()
    assert first == "flowchart TD"
    strange = [
        line for line in lines
        if not any(kind.fullmatch(line) for kind in (ARROW, BOX, FRAME, LINE)) and line.strip() != "end"
        and not line.startswith("    classDef ")
    ]  # fmt: skip
    assert strange == []


def test_every_phase_is_a_frame_and_every_step_a_box_in_it(workflow: Workflow) -> None:
    text = mermaid(workflow)
    for phase in workflow.phases:
        name = f"p{phase.number}{'gate' if phase.gates else ''}"
        frame = re.search(rf'    subgraph {name}\["([^"]*)"\]\n(.*?)\n    end\n', text, re.S)
        assert frame, phase.name
        assert frame[1].partition(",")[0] == phase.name
        assert (f"{phase.max_rounds} rounds" in frame[1]) == (phase.max_rounds > 1)
        inside = boxes(frame[2])
        for number, step in enumerate(phase.steps, 1):
            label = inside[f"{name}s{number}"]
            assert label.startswith(f"{step.name}<br>")
            assert all(name.replace("_", " ") in label for name, _ in step.reply)
        assert not ARROW.search(frame[2]), "an arrow in a frame would draw its ends into it"


def test_every_box_is_reached_and_every_way_comes_to_the_end(workflow: Workflow) -> None:
    text = mermaid(workflow)
    ways, known = arrows(text), {name for name in boxes(text) if not name.startswith("seat")}
    assert {end for before, _, after in ways for end in (before, after)} == set(known)
    forth, back = defaultdict(set), defaultdict(set)
    for before, _, after in ways:
        forth[before].add(after)
        back[after].add(before)
    assert reached("topic", forth) == set(known)
    assert reached("done", back) == set(known)


def reached(start: str, ways: dict[str, set[str]]) -> set[str]:
    found: set[str] = set()
    waiting = {start}
    while waiting:
        found |= waiting
        waiting = set().union(*(ways[one] for one in waiting)) - found
    return found


def test_every_rule_is_written_on_an_arrow(workflow: Workflow) -> None:
    labels = {label for _, label, _ in arrows(mermaid(workflow))}
    for phase in workflow.phases:
        for condition in (phase.when, *(step.when for step in phase.steps)):
            assert condition is None or escape(describe_condition(condition)) in labels
        for outcome, condition in phase.until:
            assert f"{escape(outcome)}: {escape(describe_condition(condition))}" in labels
    for outcome, condition in workflow.halt:
        assert escape(f"{outcome}: {describe_condition(condition)}") in labels


def test_steps_that_are_left_out_and_rounds_that_repeat() -> None:
    text = drawn(
        "  - {name: p, rounds: [1, 3], reply: {s: x | y}, steps: [{name: q}, {name: r, when: {some: {s: x}}}],"
        " until: {good: {every: {s: y}}}}\n  - {name: z, when: {outcome: {p: cap}}, seats: chair}"
    )
    assert arrows(text) == {
        ("topic", "", "p1s1"),
        ("p1s1", "", "p1s2when"),
        ("p1s2when", "some s x", "p1s2"),
        ("p1s2when", "else", "p1end"),
        ("p1s2", "", "p1end"),
        ("p1end", "else, the next round", "p1s1"),
        ("p1end", "good: every s y", "p2when"),
        ("p1end", "cap: after round 3", "p2when"),
        ("p2when", "outcome p cap", "p2s1"),
        ("p2when", "else", "done"),
        ("p2s1", "", "done"),
    }
    assert 'subgraph p1["p, 1 to 3 rounds"]' in text
    assert boxes(text)["p1s1"] == "q<br>members (a, b) · parallel<br>sees so far<br>answers s"
    assert boxes(text)["p2s1"] == "z<br>chair (c)<br>sees so far"


def test_a_phase_that_repeats_begins_again_where_its_first_step_is_decided() -> None:
    text = drawn("  - {name: p, rounds: 2, steps: [{name: q, when: last_round}, {name: r}]}")
    assert ("p1end", "else, the next round", "p1s1when") in arrows(text)
    assert ("p1end", "after round 2", "done") in arrows(text)


def test_who_is_no_usual_member_is_drawn_otherwise() -> None:
    text = drawn(
        "  - {name: p, seats: human}\n  - {name: q, seats: tester}\n  - {name: r, seats: [members, human]}\n"
        "  - {name: s, reply: {who: list}}\n  - {name: t, seats: {from: s.who, without: s.who}}",
        seats="{members: [a, b], tester: [tester: {speaker: shell}]}",
    )
    kinds = {one[1]: (one[2], one[5]) for line in text.splitlines() if (one := BOX.fullmatch(line)) and "s1" in one[1]}
    assert kinds == {
        "p1s1": ("[/", "person"), "p2s1": ("[[", "machine"), "p3s1": ("[/", "person"), "p4s1": ("[", None),
        "p5s1": ("(", "cast"),
    }  # fmt: skip
    assert "whom s.who names, without s.who" in text


def test_benches_say_whose_work_they_try_and_with_what() -> None:
    text = drawn(
        "  - {name: p, seats: benches}\n  - {name: q, seats: one}\n  - {name: r, seats: shelf}",
        seats="{team: [a, b], benches: [{tester: {of: team, speaker: shell, run: pytest}}, {critic: {of: team}}], "
        "one: {last: {of: a, speaker: shell, run: bench, tests: hidden}}, shelf: {shelf: {speaker: shelf}}}",
        more="options: {bench: pytest}",
    )
    assert boxes(text)["p1s1"].startswith("p<br>benches (tester of team: pytest, critic of team) · parallel<br>")
    assert boxes(text)["p2s1"].startswith("q<br>one (last of a: bench, hidden tests)<br>")
    assert boxes(text)["p3s1"].startswith("r<br>shelf<br>")
    assert all(f"p{number}s1[[" in text and text.count(":::machine") == 3 for number in (1, 2, 3))


def test_a_tree_is_drawn_beside_the_phases() -> None:
    seats = "{all: [root, {left: {under: root}}, {right: {under: root}}, {deep: {under: left}}], chair: c}"
    text = drawn("  - {name: p, order: {tree: up}, sees: [up, {beside: p}]}", seats=seats)
    names = {node: name for node, name in boxes(text).items() if node.startswith("seat")}
    assert [*names.values()] == ["root", "left", "right", "deep"], "and nobody who is in no tree"
    assert {(names[above], names[below]) for above, below in LINE.findall(text)} == {
        ("root", "left"), ("root", "right"), ("left", "deep"),
    }  # fmt: skip
    assert 'subgraph seats["who is under whom"]' in text
    assert "who is under whom" not in drawn("  - {name: p}", seats=seats), "nothing here follows it"


def test_a_halt_leads_to_the_end_from_everywhere() -> None:
    text = drawn("  - {name: p}", more="halt: {broke: {spent: {usd: 3}}}")
    assert {("topic", "", "halt"), ("halt", "broke: spent usd 3", "done")} <= arrows(text)
    assert "-.->" in text


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        ("{not: {some: {s: x}}}", "not some s x"),
        ("{not: [last_round, {option: o}]}", "not (last_round or option o)"),
        ("{all: [last_round, [disagreement, {some: {s: [x, y]}}]]}", "last_round and (disagreement or some s x or y)"),
        ("[{all: [last_round]}]", "last_round"),
        ("{option: {o: false}}", "option o off"),
        ('{some: {s: ">= 90"}}', "some s >= 90"),
    ],
)
def test_conditions_in_words(condition: str, words: str) -> None:
    text = f"---\nname: t\nseats: {{m: a}}\nphases: [{{name: p, when: {condition}}}]\n---\n"
    when = load(text, "t.md").phases[0].when
    assert when is not None
    assert describe_condition(when) == words


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ('say "so"', "say #34;so#34;"),
        ("a[b]{c}(d)|e|", "a#91;b#93;#123;c#125;(d)#124;e#124;"),
        ("<b>&amp;#35;", "#60;b#62;#38;amp#59;#35;35#59;"),
        ("`code` *bold* _so_", "#96;code#96; #42;bold#42; so"),
        ("Größe ≥ 90 日本", "Größe #8805; 90 日本"),
        ("at 09:30: now", "at 09#58;30: now"),
        ("a\nb\r\n\tc %% d", "a b c #37;#37; d"),
        ("\u202eright\x1b[31m", "#8238;right#27;#91;31m"),
    ],
)
def test_nothing_in_a_text_is_a_sign(text: str, safe: str) -> None:
    assert escape(text) == safe


NASTY = """---
name: nasty
seats: {members: [end, subgraph, class-def]}
options: {o: 'x"]; click p1s1 "javascript:alert(1)"'}
phases:
  - name: style
    rounds: [1, 2]
    reply: {end: text}
    until: {end: {some: {end: ['a b', 'c "quoted"', "[x]-->(y)", "日本", "style:#fff;", "%%{init}%%"]}}}
  - {name: linkstyle, when: {option: {o: '1. one `two` | "three" --> four'}}}
---
"""


@pytest.fixture(scope="module")
def node() -> tuple[str, str]:
    folder = os.environ.get("COUNCIL_MERMAID", "")
    if not folder or not (program := shutil.which("node")):
        pytest.skip("COUNCIL_MERMAID names no folder in which `npm i mermaid jsdom` was run")
    return program, folder


def test_mermaid_itself_reads_all_of_them(node: tuple[str, str], tmp_path: Path) -> None:
    texts = {path.stem: mermaid(read(path)) for path in FILES} | {"nasty": mermaid(load(NASTY, "nasty.md"))}
    for name, text in texts.items():
        (tmp_path / f"{name}.mmd").write_text(text, "utf-8")
    names = sorted(str(path) for path in tmp_path.glob("*.mmd"))
    program, folder = node
    command = [program, str(HERE / "mermaid.mjs"), folder, *names]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout.splitlines() == [f"{name}: flowchart-v2" for name in names], done.stderr


def test_a_nasty_workflow_has_no_line_that_is_not_ours() -> None:
    text = mermaid(load(NASTY, "nasty.md"))
    for line in text.splitlines()[1:]:
        kinds = (ARROW, BOX, FRAME)
        assert any(kind.fullmatch(line) for kind in kinds) or line.strip() == "end" or "classDef" in line


def test_the_command(tmp_path: Path) -> None:
    user = User(tmp_path)
    ended = user.council("diagram", "board")
    assert (ended.code, ended.out) == (0, mermaid(read(HERE.parent / "Workflows" / "Board.md")))
    path = user.write("nasty.md", NASTY)
    assert user.council("diagram", path, "--format", "mermaid").out == mermaid(load(NASTY, "nasty.md"))
    assert user.council("diagram", path, "--format", "dot").code == 2
    with_gate = user.council("diagram", "board", "--gate", "challenge").out
    assert '["challenge-gate"]' in with_gate
    assert 'did you mean "challenge"?' in user.council("diagram", "board", "--gate", "chalenge").err
    assert 'did you mean "board"?' in user.council("diagram", "baord").err
