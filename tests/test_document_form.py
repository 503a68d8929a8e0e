"""The form of the documents: what markdownlint says of them, and that MADR's headings and keys are MADR's."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from council.record.session import open_
from council.reports import documents, filing, lint_comment, produce
from council.text import mark_code
from tests import syntheses
from tests.debates import hold
from tests.examples import EXAMPLES
from tests.helpers import User

LIBRARY = Path(os.environ.get("COUNCIL_TEST_MARKDOWNLINT", "none"))
KINDS = ("adr", "madr", "decision", "spec", "plan")
TOPIC = (
    "\n---\nstatus: accepted\n---\n\n# Shall | we <b>go</b>?\n\n## Decision\n\n<details>\n\n**Status:** accepted\n\n"
    "- a\n* b\n\n```\n# open"
)
# Of the template of MADR 4.0.0: the headings in their order, and the keys of the front matter.
MADR_HEADINGS = [
    "## Context and Problem Statement", "## Decision Drivers", "## Considered Options", "## Decision Outcome",
    "### Consequences", "### Confirmation", "## Pros and Cons of the Options", "## More Information",
]  # fmt: skip
MADR_KEYS = ["status", "date", "decision-makers", "consulted", "informed"]


@pytest.fixture(scope="module")
def sessions(tmp_path_factory) -> list[filing.Made]:
    """Documents of every kind: from scripted debates with a hostile topic, and from syntheses in any Markdown."""
    made = []
    for name in ("consensus/fundamental", "perspectives/settled"):
        found = open_(hold(User(tmp_path_factory.mktemp("user")), name, TOPIC))
        found.read_turns()
        made += [filing.make(found, found.plan(), kind) for kind in KINDS]
    for seed in range(3):
        session, plan, _ = syntheses.record(found.folder, tmp_path_factory.mktemp("copy") / "copy", seed)
        made += [filing.make(session, plan, kind) for kind in KINDS]
    return made


needs_markdownlint = pytest.mark.skipif(
    not LIBRARY.is_dir() or not shutil.which("node"),
    reason="markdownlint could not be had from npm (COUNCIL_TEST_MARKDOWNLINT)",
)


def lint(*paths: Path) -> str:
    """What markdownlint finds with all of its rules, but for those that the comments in the files are about."""
    command = ["node", Path(__file__).with_name("markdownlint.mjs"), LIBRARY, *paths]
    found = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)
    assert (found.returncode, found.stderr) == (0, "")
    return found.stdout


@needs_markdownlint
def test_markdownlint_finds_nothing(sessions, tmp_path):
    paths = []
    for number, made in enumerate(sessions):
        paths.append(tmp_path / f"{number}-{made.kind}.md")
        paths[-1].write_text(made.linked(f"adr-{number:04}-x").texts[produce.MAIN], "utf-8")
    assert lint(*paths) == ""


@needs_markdownlint
def test_no_rule_is_off_in_the_examples_that_they_keep(tmp_path):
    """Their authors write clean Markdown: only the length of lines is free, and the HTML of folded parts is allowed."""
    pages = [one.page for one in EXAMPLES]
    assert lint(*pages) == ""
    bare = [tmp_path / page.name for page in pages]
    for page, copy in zip(pages, bare, strict=True):
        text = page.read_text("utf-8")
        assert json.loads(re.findall(r"<!-- markdownlint-configure-file (.*) -->", text)[0]) == {
            "MD013": False,
            "MD033": {"allowed_elements": list(lint_comment.FOLDED)},
        }
        copy.write_text(re.sub(r"<!-- markdownlint.* -->\n", "", text), "utf-8")
    found = set(re.findall(r"([\w-]+\.md):\d+ (MD\d+)/", lint(*bare)))
    assert found == {(page.name, rule) for page in pages for rule in ("MD013", "MD033")}


@pytest.mark.parametrize(
    ("words", "rule"),
    [
        ("* a", "MD004"),
        ("2. a\n3. b", "MD029"),
        ("## A\n\n#### B", "MD001"),
        ("## A\n\n## A", "MD024"),
        ("## A:", "MD026"),
        ("a\n- b", "MD032"),
        ("```\na\n```", "MD040"),
        ("see https://example.org", "MD034"),
        ("|a|b|\n|-|-|\n|1|2|", "MD060"),
        ("| a | b |\n| - | - |\n| 1 |", "MD056"),
        ("_a_", "MD049"),
        ("** a **", "MD037"),
        ("` a `", "MD038"),
        ("**All of it**", "MD036"),
    ],
)
def test_a_rule_is_off_where_somebodys_words_break_it(words, rule):
    document = f"---\nkind: x\n---\n\n# T\n\n{words}\n\n{lint_comment.MARK}\n"
    assert json.loads(re.findall(r"configure-file (.*) -->", lint_comment.put_comment(document))[0]).get(rule) is False
    assert rule not in lint_comment.put_comment(document.replace(words, "Words."))


def test_no_topic_or_reply_adds_a_title_or_a_key(sessions):
    """Only the one title, and front matter that is a plain mapping with the program's own values."""
    for made in sessions:
        text = made.texts[produce.MAIN]
        assert len(re.findall(r"^# .+$", re.sub(r"^(`{3,}|~{3,}).*?^\1", "", text, flags=re.M | re.S), re.M)) == 1
        matter = yaml.safe_load(text.split("---\n")[1])
        assert matter["session"] == made.session.id
        assert matter["kind"] == made.kind


def test_a_page_shows_no_html_of_the_documents(sessions):
    """What others wrote is disarmed, or in code."""
    for made in sessions:
        lines = mark_code(documents.unfold(made.texts[produce.MAIN]).split("\n"))
        assert [line for line, code in lines if not code and line.startswith("<")] == []


def test_a_madr_has_the_headings_and_the_keys_of_its_template(sessions):
    for made in sessions:
        if made.kind != "madr":
            continue
        text = made.texts[produce.MAIN]
        keys = list(yaml.safe_load(text.split("---\n")[1]))
        assert keys[: len(MADR_KEYS)] == MADR_KEYS
        ours = [line for line in text.splitlines() if line in MADR_HEADINGS]
        assert ours == [heading for heading in MADR_HEADINGS if heading in ours]
        assert {"## Context and Problem Statement", "## Considered Options", "## Decision Outcome"} <= set(ours)
        levels = re.findall(r"^## (.+)$", re.sub(r"^(`{3,}|~{3,}).*?^\1", "", text, flags=re.M | re.S), re.M)
        assert {f"## {title}" for title in levels} <= set(MADR_HEADINGS)
