"""A workflow of one's own has its document and its remarks without Python; overlays are frozen and harmless."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.debates import bare
from tests.helpers import User, script

PROGRAM = ".council/Workflows/naming.md"
WORKFLOW = """---
name: naming
description: Members propose names, and the clerk writes them up.
seats: {members: [architect, designer], clerk: chair}
document: {kind: memo, choice: name}
phases:
  - {name: proposals, sees: nothing, reply: {proposal: text, doubts: list}}
  - {name: synthesis, seats: clerk, reply: {name: text, because: list}}
---
# Naming

## Prompts

### Proposals

Propose a name for what the topic describes.

### Synthesis

Choose one of the names.
"""
MEMO = """# Memo: {{ title }}

We chose **{{ parts.choice }}** ({{ date }}).

{{ introduction }}

{{ written.because | below(1) }}

{% for reason in answers.because %}
* {{ reason }}
{% endfor %}

{% for round in stages | map(attribute="rounds") | sum(start=[]) %}
{% for turn in round.statements %}
{{ turn.label }}: {{ turn.answers[0].text }}
{% endfor %}
{% endfor %}

**Session ID:** {{ id }}
"""
REMARKS = """{% if turn.step == "proposals" and not turn.answers.doubts %}
no doubt at all
{% endif %}

{% set said = earlier | map(attribute="answers.proposal") | list %}
{% if turn.answers.proposal in said %}
the same name as before
{% endif %}
"""
WORDS = {
    "01-proposals/architect": "I say so.\n\n## Proposal\nHeron\n\n## Doubts\nnone",
    "01-proposals/designer": "I say so too.\n\n## Proposal\nHeron\n\n## Doubts\n- It is a bird.",
    "02-synthesis/chair": "Here it is.\n\n## Name\nHeron\n\n## Because\n- Two said so.\n- It is short.",
}


@pytest.fixture
def user(tmp_path: Path) -> User:
    made = User(tmp_path)
    made.write(PROGRAM, WORKFLOW)
    made.write(".council/templates/naming/memo.md.j2", MEMO)
    made.write(".council/templates/naming/remarks.md.j2", REMARKS)
    return made


def hold(user: User, words: dict[str, str] = WORDS) -> Path:
    ended = user.council("naming", "What do we call it?", "--speaker", "replay", "--from", script(user, words))
    assert ended.code == 0, ended.err
    return user.session


def test_a_document_and_remarks_without_python(user):
    assert user.council("lint", "naming").code == 0
    session = hold(user)
    document = (session / "decision.md").read_text("utf-8")
    assert bare(document).startswith("# Memo: What do we call it?\n\nWe chose **Heron** (2")
    assert "* Two said so.\n* It is short.\n" in document
    assert "\nHere it is.\n\n- Two said so.\n- It is short.\n" in document
    assert "Architect (Serena): Heron\nDesigner (Aditi): Heron\n" in document
    transcript = (session / "transcript.md").read_text("utf-8")
    assert transcript.count("*(no doubt at all)*") == 1
    assert transcript.count("*(the same name as before)*") == 1
    assert transcript.index("no doubt at all") < transcript.index("the same name as before")
    assert "no doubt at all" in user.council("show", "--html").out
    assert user.council("verify").code == 0
    filed = list((user.work / "docs" / "decisions").glob("*.md"))
    assert [re.sub(r"^written_sha256: .*\n", "", path.read_text("utf-8"), flags=re.M) for path in filed] == [document]
    assert user.council("decision").out.strip().endswith(filed[0].name), "it is not filed twice"


def test_what_a_session_began_with_stays_with_it(user):
    session = hold(user)
    before = {path.name: path.read_bytes() for path in session.glob("*.md")}
    user.write(".council/templates/naming/memo.md.j2", "Something else.")
    user.write(".council/templates/documents/transcript.md.j2", "Nothing.")
    (user.work / ".council/templates/naming/remarks.md.j2").unlink()
    assert user.council("build").code == 0
    assert {path.name: path.read_bytes() for path in session.glob("*.md")} == before
    assert user.council("verify").code == 0


def test_a_documents_template_is_overlaid_as_a_prompt_is(user):
    user.write(".council/templates/documents/transcript.md.j2", "Mine: {{ title }}, {{ verdict.answer }}\n")
    user.write(".council/templates/documents/round.md.j2", "Round {{ round.number }} of mine\n")
    session = hold(user)
    assert (session / "transcript.md").read_text("utf-8") == "Mine: What do we call it?, Heron\n"
    assert (session / "round-1.md").read_text("utf-8") == "Round 1 of mine\n"
    assert user.council("verify").code == 0


@pytest.mark.parametrize(
    "evil",
    [
        "{{ nothing.here }}",
        "{{ ''.__class__.__mro__ }}",
        "{% for a in range(10 ** 9) %}{% endfor %}",
        "{{ 1 / 0 }}",
        "{% for a in range(9999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
        "{% macro f(n) %}{% if n %}{{ f(n - 1) }}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(60) }}",
        "{% include 'documents/none.md.j2' %}",
    ],
)
def test_a_template_that_fails_costs_no_debate(evil, user):
    user.write(".council/templates/naming/memo.md.j2", evil)
    user.write(".council/templates/documents/transcript.md.j2", evil)
    session = hold(user)
    assert "The template naming/memo.md.j2 could not be rendered: " in (session / "decision.md").read_text("utf-8")
    assert (session / "transcript.md").read_text("utf-8").startswith("## Council Naming: What do we call it?")
    assert user.council("verify").code == 0


def test_words_of_a_debate_are_no_template(user):
    words = {turn: text.replace("Heron", "{{ 7 * 6 }}{% raw %}") for turn, text in WORDS.items()}
    document = (hold(user, words) / "decision.md").read_text("utf-8")
    assert "We chose **{{ 7 * 6 }}{% raw %}**" in document


@pytest.mark.parametrize(
    ("file", "text", "why"),
    [
        (
            ".council/Workflows/naming.md",
            WORKFLOW.replace("kind: memo", "kind: memoo"),
            'document: kind "memoo" does not',
        ),
        (
            ".council/Workflows/naming.md",
            WORKFLOW.replace("choice: name", "choice: nam"),
            'the answer "nam" does not exist',
        ),
        (".council/templates/naming/memo.md.j2", "{% if %}", "templates/naming/memo.md.j2, line 1: "),
        (".council/templates/naming/remarks.md.j2", "{{ turn", "templates/naming/remarks.md.j2, line 1: "),
    ],
)
def test_lint_finds_what_is_wrong(file, text, why, user):
    user.write(file, text)
    ended = user.council("lint", "naming")
    assert ended.code != 0
    assert why in ended.text
