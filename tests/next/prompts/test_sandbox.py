"""Templates of strangers: each comes to an end, reaches nothing, and is refused in a sentence that names it."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from council.next.config import places
from council.next.errors import UsageError
from council.next.prompts.brief import freeze, write
from council.next.prompts.sandbox import FAILURES, MOST_CHARACTERS, Sandbox, explain, sandbox
from council.next.workflow.loader import load
from tests.bombs import BOMBS, HARMLESS, MILLION
from tests.next.debates import workflow_of
from tests.next.prompts.kit import KIT_TEMPLATES, begun, overlays
from tests.next.protocols.held import kit

ROOM = 1_000_000_000  # bytes of address space that all of them together may take
ROOT = Path(__file__).parents[3]
# The same without a namespace, which this sandbox does not have: what grows is written out.
LISTS = "{% set x = [1, 1] %}" + "{% set x = [x, x] %}" * 60
OWN = {
    "lists in lists": LISTS + "{{ x }}",
    "tuples in tuples, as a key": LISTS.replace("[", "(").replace("]", ")") + "{{ {x: 1}[x] }}",
    "mappings in mappings": LISTS.replace("[x, x]", "{'a': x, 'b': x}") + "{{ x == 1 }}",
    "arguments in arguments": "{% macro f() %}{{ varargs }}{% endmacro %}{% set x = [1] %}"
    + "{% set x = f(x, x, x) %}" * 60,
    "tildes": "{% set x = 'A' %}" + "{% set x = x ~ x %}" * 60,
    "sums of texts": "{% set x = 'A' %}" + "{% set x = x + x %}" * 60,
    "sums of lists": "{% set x = [1] %}" + "{% set x = x + x %}" * 60,
    "squares": "{% set x = 9 %}" + "{% set x = x * x %}" * 60,
    "blocks of text": "{% set x %}AA{% endset %}" + "{% set x %}{{ x }}{{ x }}{% endset %}" * 60,
    "joins": MILLION + "{{ (m ~ '') | list | join(m) }}",
    "slices": MILLION
    + "{% for a in range(99999) %}{% for b in range(99999) %}{% set c = m[1:] %}{% endfor %}{% endfor %}",
    "many upper": MILLION + "{{ ([m] * 50000) | map('upper') | list | length }}",
    "sorts": "{% for a in range(99999) %}{% set b = range(99999) | sort %}{% endfor %}",
    "a loop of one letter each": MILLION + "{% for a in m %}{% for b in m %}{% endfor %}{% endfor %}",
}
# What only reads takes time, too. The text stands in the template: nothing had to be made for it.
TEXT = "{% set m = '" + "A" * 1_000_000 + "' %}"
ITEMS = "{% set t = (" + "1, " * 9_000 + ") %}{% set n = range(90000) | list %}"
LOOP = "{% for a in range(99999) %}{% if READ %}{% endif %}{% endfor %}"
READS = ["m is upper", "m is eq m[1:]", "'AB' is in m", "'AB' in m", "m == m[1:]", "m.count('AB')", "m.strip('A')"]
READS += ["m | trim('A')", "m.replace('AB', '')", "m | replace('AB', '')", "m | length", "'%.1s' % m", "m[::2]"]
READS += ["n | max", "n | sum", "n | join", "n | unique | list", "[m] | select('upper') | list", "{}[t]", "{}.get(t)"]
READS += ["m | title is upper", "[{'a': m}] | map(attribute='a') | map('upper') | list", "{'a': m}", "m ~ m", "[n, n]"]
OWN |= {f"reads: {one}": TEXT + ITEMS + LOOP.replace("READ", one) for one in READS}
REACHES = [
    "{{ topic.__class__ }}",
    "{{ ''.__class__.__mro__ }}",
    "{{ self.__init__.__globals__ }}",
    "{{ seat.get.__self__ }}",
    "{{ '%s'.format('x') }}",
    "{{ range.__init__ }}",
    "{{ cycler }}",
    "{{ nobody.knows.this }}",
    "{% do x %}",
]


def outcome_of(text: str) -> str:
    found = Sandbox({"bomb.md.j2": text})
    try:
        return found.render("bomb.md.j2", {"topic": "a topic", "seat": {"title": "Engineer"}})
    except FAILURES as stopped:
        return f"stopped: {explain(stopped, 'bomb.md.j2')}"


@pytest.fixture(scope="module")
def defused() -> dict[str, str]:
    """Every bomb, rendered in a process that has little room."""
    limit: Callable[[], Any] = lambda: resource.setrlimit(resource.RLIMIT_AS, (ROOM, ROOM))  # noqa: E731
    program = (
        "import json; from tests.bombs import BOMBS; from tests.next.prompts.test_sandbox import OWN, outcome_of;"
        "print(json.dumps({name: outcome_of(text) for name, text in {**BOMBS, **OWN}.items()}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, timeout=300, preexec_fn=limit, check=False
    )
    assert done.returncode == 0, done.stderr.decode()[-3000:]
    found: dict[str, str] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("name", [*BOMBS, *OWN])
def test_no_template_grows_without_a_bound(name: str, defused: dict[str, str]) -> None:
    stopped = defused[name].startswith("stopped: the template bomb.md.j2: ")
    assert stopped or len(defused[name]) < 100, defused[name][:300]
    assert len(defused[name]) < 500
    assert "\n" not in defused[name]


@pytest.mark.parametrize("text", HARMLESS)
def test_what_templates_do_all_the_time(text: str) -> None:
    assert outcome_of(text) == HARMLESS[text]


@pytest.mark.parametrize("text", REACHES)
def test_a_template_reaches_nothing_but_its_facts(text: str) -> None:
    assert outcome_of(text).startswith("stopped: the template bomb.md.j2: "), outcome_of(text)


def test_templates_that_include_each_other_twice_come_to_an_end() -> None:
    texts = {f"t{n}": f"{{% include 't{n + 1}' %}}" * 2 for n in range(60)}
    with pytest.raises(FAILURES, match="does not come to an end"):
        Sandbox({**texts, "t60": ""}).render("t0", {})


def test_what_a_brief_quotes_costs_nothing() -> None:
    words = "A" * (MOST_CHARACTERS // 4)
    assert Sandbox({"long": "{{ words }}{{ words }}"}).render("long", {"words": words}) == words * 2
    with pytest.raises(FAILURES, match="more than 8,000,000 characters"):
        Sandbox({"long": "{{ words }}" * 5}).render("long", {"words": words})


def test_sessions_with_the_same_templates_share_what_was_compiled() -> None:
    one, same = frozenset(KIT_TEMPLATES.items()), frozenset({**KIT_TEMPLATES}.items())
    assert sandbox(one) is sandbox(same)
    assert sandbox(one) is not sandbox(frozenset({("a.md.j2", "a")}))


# ---- in a session ----


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("{{ 'A' * 3000000000 }}", "the template positions.md.j2: it does not come to an end, or makes too much text"),
        ("{{ topc }}", "the template positions.md.j2: 'topc' is undefined"),
        ("{{ seat.shoes }}", "the template positions.md.j2: 'dict object' has no attribute 'shoes'"),
        ("{% include '_tail.md.j2' %}{{ 1 // 0 }}", "the template positions.md.j2: "),
    ],
)
def test_a_users_template_that_fails_is_named_before_anything_is_stored(text: str, wrong: str, tmp_path: Path) -> None:
    with begun(tmp_path, own={"positions.md.j2": text}) as session:
        with pytest.raises(UsageError) as refused:
            write(session, session.plan.due[0])
        assert str(refused.value).startswith(wrong)
        assert "(for 01-positions/architect)" in str(refused.value)
        assert not (session.folder / "briefs").exists()


def test_the_template_that_failed_inside_another_is_named(tmp_path: Path) -> None:
    wrong = pytest.raises(UsageError, match=r"the template _seat\.md\.j2: 'nobody' is undefined")
    with begun(tmp_path, own={"_seat.md.j2": "\n{{ nobody }}"}) as session, wrong:
        write(session, session.plan.due[0])


@pytest.mark.parametrize(
    ("own", "wrong"),
    [
        ({"positions.md.j2": "{% if %}"}, "the template positions.md.j2: "),
        ({"positions.md.j2": "{% include name %}"}, "write the name of each template that it includes"),
        ({"positions.md.j2": "{% include '_haed.md.j2' %}"}, 'no template _haed.md.j2; did you mean "_head.md.j2"?'),
        ({"positions.md.j2": "{% include '../../etc/passwd' %}"}, "there is no template ../../etc/passwd"),
        ({"positions.md.j2": "{{ " + "(" * 3000 + "1" + ")" * 3000 + " }}"}, "it is nested too deeply"),
    ],
)
def test_templates_are_looked_at_when_a_session_is_born(own: dict[str, str], wrong: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as refused:
        freeze(kit("Debate"), overlays(tmp_path, own))
    assert wrong in str(refused.value)
    assert "\n" not in str(refused.value)


def test_only_what_a_workflow_can_reach_is_frozen() -> None:
    frozen = freeze(kit("Delphi", "synthesis"), [places.KIT])
    assert {"delphi/positions.md.j2", "_head.md.j2", "phase-gate.md.j2", "_again.md.j2"} <= {*frozen}
    assert not {"positions.md.j2", "board-respond.md.j2", "consensus/propose.md.j2"} & {*frozen}
    assert frozen == {name: KIT_TEMPLATES[name] for name in sorted(frozen)}


def test_a_prompt_that_is_nowhere_is_named_with_the_nearest_one() -> None:
    workflow = workflow_of([{"name": "talk", "prompt": "positons"}])
    with pytest.raises(UsageError) as refused:
        freeze(workflow, [places.KIT])
    assert 'test, step talk: there is no template positons.md.j2; did you mean "positions.md.j2"?' in str(refused.value)


def test_a_step_of_machines_alone_needs_no_template() -> None:
    seats = {"members": ["ada", {"bench": {"speaker": "shell"}}], "benches": [{"bench-two": {"speaker": "shell"}}]}
    phases = [{"name": "positions"}, {"name": "measure", "seats": "benches"}]
    assert "positions.md.j2" in freeze(workflow_of(phases, seats=seats), [places.KIT])
    with pytest.raises(UsageError, match="no template measure"):
        freeze(workflow_of([{"name": "measure"}], seats=seats), [places.KIT])


def test_a_section_of_the_workflow_is_a_prompt_and_never_a_template(tmp_path: Path) -> None:
    text = (
        "---\nname: own\nseats: {members: [engineer, architect]}\nphases:\n  - {name: talk, reply: {gist: text}}\n---\n"
        "# Prompts\n\n## talk\n\nSay {{ 7 * 7 }} and {% include 'x' %}.\n"
    )
    assert "_task.md.j2" in freeze(load(text, "own.md"), [places.KIT])
    with begun(tmp_path, workflow=text) as session:
        brief = write(session, session.plan.due[0]).text
    assert "\nSay {{ 7 * 7 }} and {% include 'x' %}.\n" in brief
    assert "# Now: Talk" in brief
