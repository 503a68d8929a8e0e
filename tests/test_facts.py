"""A fact is computed when a template reads it, once per brief, and one that a room registers is there everywhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jinja2
import pytest
from jinja2 import meta

from council.engine.facts import Facts, PromptContext, describe_facts, fact
from council.prompts import brief as briefs
from council.prompts import templates
from council.record import session
from tests.helpers import User

PROTOCOLS = {
    "cast", "catalog", "findings", "left_out", "lettered", "measured", "not_cited", "tally", "unmet",
}  # fmt: skip
TINY = "---\nname: tiny\nseats: {m: architect}\nphases: [{name: p}]\n---\n"


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each fact is computed."""
    calls: Counter[str] = Counter()

    def counted(name: str, function: Callable[[PromptContext], Any]) -> Callable[[PromptContext], Any]:
        def count(context: PromptContext) -> Any:
            calls[name] += 1
            return function(context)

        return count

    for name, function in list(fact.known.items()):
        monkeypatch.setitem(fact.known, name, counted(name, function))
    return calls


@pytest.fixture
def weather() -> Iterator[None]:
    """A fact of a room that the kit does not have."""

    def weather(context: PromptContext) -> dict[str, str]:
        """The weather in the phase."""
        return {"sky": f"clear over {context.due.phase.name}"}

    fact(weather)
    yield
    del fact.known["weather"]


def project(user: User, template: str) -> None:
    user.write(".council/Workflows/tiny.md", TINY)
    user.write(".council/templates/tiny/p.md.j2", template)


def brief(user: User) -> str:
    ended = user.council("run", "-w", "tiny", "Shall we?", "--speaker", "assistant")
    assert ended.code == 8, ended.text
    return (user.session / "briefs/01-p/architect.md").read_text("utf-8")


def test_a_brief_computes_only_what_its_template_reads(tmp_path: Path, computed: Counter[str]) -> None:
    user = User(tmp_path)
    ended = user.council("run", "-w", "quick", "--only", "architect,engineer", "Shall we?", "--speaker", "assistant")
    assert ended.code == 8, ended.text
    found = session.open_(user.session)
    found.read_turns()
    turns = [path.stem for path in sorted(user.session.glob("briefs/*/*.md"))]
    assert turns == ["architect", "engineer"]
    assert set(computed) <= read_by(templates.load_program(found).templates)
    assert set(computed) & PROTOCOLS == set()
    assert {name for name, count in computed.items() if count > len(turns)} == set()
    assert computed["topic"] == len(turns)


def read_by(texts: Any) -> set[str]:
    environment = jinja2.Environment()
    return set().union(*(meta.find_undeclared_variables(environment.parse(text)) for text in texts.values()))


def test_each_fact_is_computed_once_per_brief(tmp_path: Path, computed: Counter[str]) -> None:
    user = User(tmp_path)
    project(user, "{{ tally }} {{ tally }}{% include 'tiny/part.md.j2' %}")
    user.write(".council/templates/tiny/part.md.j2", "{% for i in range(3) %}{{ tally }}{% endfor %}")
    brief(user)
    assert computed == {"tally": 1}


def test_what_is_included_only_sometimes_computes_nothing_else(tmp_path: Path, computed: Counter[str]) -> None:
    user = User(tmp_path)
    project(user, "{% if round > 1 %}{% include 'tiny/part.md.j2' %}{% endif %}")
    user.write(".council/templates/tiny/part.md.j2", "{{ tally }}")
    brief(user)
    assert computed == {"round": 1}


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("{{ weather.sky }}", "clear over p"),
        ("{% include 'tiny/part.md.j2' %}", "clear over p"),
        ("{% macro say() %}{{ weather.sky }}!{% endmacro %}{{ say() }}", "clear over p!"),
        ("{% from 'tiny/macros.md.j2' import say with context %}{{ say() }}", "clear over p!"),
        ("{% for i in range(2) %}{{ weather.sky }},{% endfor %}", "clear over p,clear over p,"),
        ("{{ weather is defined }} {{ wether is defined }}", "True False"),
        ("{% set weather = 'fog' %}{{ weather }}{% include 'tiny/own.md.j2' %}", "fogfog"),
        ("{% extends 'tiny/base.md.j2' %}{% block b %}{{ weather.sky }}{% endblock %}", "<clear over p>"),
    ],
)
def test_a_fact_of_another_room_works_in_every_kind_of_template(
    template: str, expected: str, tmp_path: Path, weather: None
) -> None:
    user = User(tmp_path)
    project(user, template)
    user.write(".council/templates/tiny/part.md.j2", "{{ weather.sky }}")
    user.write(".council/templates/tiny/own.md.j2", "{{ weather }}")
    user.write(".council/templates/tiny/base.md.j2", "<{% block b %}{% endblock %}>")
    user.write(".council/templates/tiny/macros.md.j2", "{% macro say() %}{{ weather.sky }}!{% endmacro %}")
    assert brief(user) == expected


def test_lint_knows_a_fact_of_another_room(tmp_path: Path, weather: None) -> None:
    user = User(tmp_path)
    project(user, "{{ weather.sky }}")
    assert user.council("lint", "tiny").code == 0
    project(user, "{{ wether.sky }}")
    ended = user.council("lint", "tiny")
    assert ended.code == 2
    assert 'reads "wether"; did you mean "weather"?' in ended.out
    assert describe_facts()["weather"] == "The weather in the phase."


def test_without_its_room_the_name_is_unknown(tmp_path: Path) -> None:
    user = User(tmp_path)
    project(user, "{{ weather.sky }}")
    assert user.council("lint", "tiny").code == 2
    ended = user.council("run", "-w", "tiny", "Shall we?", "--speaker", "assistant")
    assert ended.code == 2
    assert "'weather' is undefined" in ended.err


def test_every_fact_has_its_sentence() -> None:
    told = describe_facts()
    assert set(told) == set(fact.known) >= PROTOCOLS
    assert [name for name, sentence in told.items() if not sentence.endswith(".") or not sentence[0].isupper()] == []


def test_a_template_cannot_reach_the_facts_themselves(tmp_path: Path) -> None:
    user = User(tmp_path)
    project(user, "{{ self._TemplateReference__context }}")
    assert user.council("run", "-w", "tiny", "Shall we?", "--speaker", "assistant").code == 2
    found = session.open_(user.session)
    assert isinstance(Facts(briefs.prompt_context(found, found.plan().due[0]))["topic"], str)
