"""The docs say what the code does: the reference is made from it, and what the README names is there."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from council import speakers
from council.checks.lint import Known, lint
from council.cli import EPILOG, commands
from council.config import overlays, personas, settings
from council.prompts import templates
from council.workflow.loader import load
from council.workflow.vocabulary import PHASE_KEYS, STEP_KEYS, WORKFLOW_KEYS
from tests.helpers import User

ROOT = Path(__file__).resolve().parent.parent


@pytest.mark.golden
@pytest.mark.parametrize("name", ["reference", "workflows"])
def test_a_page_that_is_made_from_the_code_is_what_the_code_says(name: str, tmp_path: Path) -> None:
    """Whoever runs it: neither their own files nor those of a project come into it."""
    script = [sys.executable, str(ROOT / "scripts" / f"{name}.py")]
    env = {"HOME": str(tmp_path), "PATH": os.defpath, "LANG": "C.UTF-8"}
    made = subprocess.run(script, env=env, cwd=tmp_path, capture_output=True, text=True, check=True, timeout=60).stdout
    page = ROOT / "docs" / f"{name}.md"
    if os.environ.get("COUNCIL_UPDATE_GOLDEN"):
        page.write_text(made, "utf-8")
    assert page.read_text("utf-8") == made, "run scripts/update-golden and read the difference"


@pytest.mark.parametrize("name", sorted(overlays.workflows()))
def test_every_workflow_of_the_kit_is_without_fault(name: str) -> None:
    workflow = load(*overlays.workflow_text(name))
    own = templates.documents(workflow.name)
    known = Known(settings.load({}).tiers, templates.prompts(workflow.name), personas.load(), speakers.names(), own)
    assert workflow.name == name
    assert lint(workflow, known) == []
    assert workflow.description
    assert len(workflow.body) > 200


README = (ROOT / "README.md").read_text("utf-8")
LANGUAGE = (ROOT / "docs" / "workflows.md").read_text("utf-8")


def test_the_readme_can_be_read_in_a_few_minutes() -> None:
    assert len(README.split()) <= 1500


def test_the_readme_names_every_command() -> None:
    assert [name for name in commands.built_in() if f"`council {name}" not in README] == []


def test_the_guide_names_every_key_of_a_workflow() -> None:
    keys = {*WORKFLOW_KEYS, *PHASE_KEYS, *STEP_KEYS}
    assert [key for key in sorted(keys) if f"{key}:" not in LANGUAGE or f"`{key}`" not in LANGUAGE] == []


HEAD = "31941c58a72aca1f16d20595dfba45af8b6ba1fc06da65d9aa85ca4868e07529"


@pytest.mark.golden
def test_the_example_is_what_its_script_gives(user: User) -> None:
    """Nothing is edited but what differs from run to run: the session's id and head, and the marks with hashes."""
    page, script = ROOT / "docs" / "example.md", ROOT / "docs" / "example-script.yaml"
    ended = user.council("run", "--speaker", "replay", "--from", script, "Should we put Redis in front of PostgreSQL?")
    assert ended.code == 0, ended.text
    made = (user.session / "transcript.md").read_text("utf-8").replace(user.session.name, "20261118-120000-0123abcd")
    made = re.sub(r"^<!-- .* -->\n", "", made, flags=re.M)
    made = re.sub(r"(?<=^\*\*Head:\*\* )[0-9a-f]{64}", HEAD, made, flags=re.M)
    head, rule, shown = page.read_text("utf-8").partition("\n---\n\n")
    if os.environ.get("COUNCIL_UPDATE_GOLDEN"):
        page.write_text(head + rule + made, "utf-8")
        return
    assert shown == made, "run scripts/update-golden and read the difference"


def test_the_readmes_excerpt_is_in_the_example() -> None:
    """Word for word, in its order, with nothing changed but what is cut."""
    section = README.partition("\n## Example\n")[2].partition("\n## ")[0]
    excerpt = "\n".join(re.findall(r"^    (.*)", section, re.M))
    rest = " ".join((ROOT / "docs" / "example.md").read_text("utf-8").split())
    pieces = [piece.strip(" ,.;)") for piece in " ".join(excerpt.split()).split("[…]")]
    for piece in filter(None, pieces):
        _, found, rest = rest.partition(piece)
        assert found, piece
    assert len(pieces) > 5


@pytest.fixture
def user(tmp_path: Path) -> User:
    return User(tmp_path)


def test_the_configuration_shown_is_one(user: User) -> None:
    page = (ROOT / "docs" / "speakers.md").read_text("utf-8")
    (shown,) = re.findall(r"```yaml\n---\n(endpoints:.*?)\n---\n```", page, re.S)
    user.configure(shown)
    told = user.council("doctor", OUR_API_KEY="k")
    for line in ("tier haiku: qwen3:8b at ollama\n", "tier opus: our-model at ours\n"):
        assert f"ok    {line}" in told.out
    assert re.search(r"^(ok  |FAIL)  speaker: anthropic ", told.out, re.M), "its servers may be running or not"
    assert "- speaker: anthropic" not in user.council("doctor").out


@pytest.fixture
def project(user: User) -> User:
    """The project that the guide shows, as somebody would copy it."""
    files = re.findall(r"`(\.council/[\w./]+)`:\n\n```\w+\n(.*?)```\n", LANGUAGE, re.S)
    assert len(files) == 3
    for name, text in files:
        user.write(name, text)
    return user


def test_the_guides_workflow_is_one(project: User) -> None:
    assert project.council("lint", "weigh").out == "weigh: no problems found\n"
    (calls,) = re.findall(r"council cost weigh +# (\d+ to \d+ calls)", LANGUAGE)
    assert f"\n{calls}" in project.council("cost", "weigh").out


@pytest.mark.parametrize("options", [(), ("-o", "cautious", "-o", "words=60-100")])
def test_the_guides_workflow_runs(project: User, options: tuple[str, ...]) -> None:
    """Two rounds: in the second, two thirds agree, nothing blocks and all are sure."""
    turns = {"03-synthesis/chair": "## Recommended path\nA table.\n\n## Risks\nnone\n"}
    for member, stance, blocking in (
        ("architect", "mixed", "none"),
        ("engineer", "disagree", "none"),
        ("operator", "agree", "- there is no backup"),
    ):
        turns[f"01-positions/{member}"] = f"No queue, says the {member}."
        answer = "So I, the {}, say in round {}.\n\n## Stance\n{}\n\n## Blocking\n{}\n"
        turns[f"02-weighing-r01-1-answers/{member}"] = answer.format(member, 1, stance, blocking)
        turns[f"02-weighing-r02-1-answers/{member}"] = answer.format(member, 2, "agree", "none")
        for round in ("r01", "r02"):
            bet = f"The {member} bets in {round}.\n\n## Sure\n70\n\n## Changes my mind\nA measurement.\n"
            turns[f"02-weighing-{round}-2-bets/{member}"] = bet
    project.write("script.yaml", "".join(f"{turn}: {json.dumps(text)}\n" for turn, text in turns.items()))
    replay = ("--speaker", "replay", "--from", project.work / "script.yaml", "--json")
    ended = project.council("run", "--workflow", "weigh", *options, *replay, "Queue or table?")
    assert ended.code == 0, ended.text
    assert len(list(project.session.glob("turns/*/*.md"))) == len(turns)
    brief = (project.session / "briefs" / "02-weighing-r02-2-bets" / "operator.md").read_text("utf-8")
    assert f"Say in {'60-100' if options else '40-80'} words how sure you are" in brief
    assert "what it takes to run this at night" in brief


def test_the_exit_codes_are_those_of_the_program() -> None:
    page = (ROOT / "docs" / "sessions.md").read_text("utf-8").partition("## Exit codes")[2]
    shown = {int(code) for row in re.findall(r"^\| ([\d, ]+) \|", page, re.M) for code in row.split(",")}
    assert shown == set(map(int, re.findall(r"\b\d+\b", EPILOG)))


def test_the_configuration_explains_every_key() -> None:
    text = (ROOT / "Config.md").read_text("utf-8")
    assert [key for key in settings.KEYS if f"**{key}**" not in text] == []


@pytest.mark.parametrize(
    "page", sorted(ROOT.glob("*.md")) + sorted(ROOT.glob("docs/**/*.md")), ids=lambda page: page.name
)
def test_links_lead_to_something(page: Path) -> None:
    targets = re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text("utf-8"))
    assert [target for target in targets if not (page.parent / target).exists()] == []


def test_the_patterns_of_the_guide_lint_clean():
    guide = LANGUAGE.partition("## Patterns")[2].partition("\n## ")[0]
    phases = "".join(re.findall(r"^```yaml\n(.*?)^```", guide, re.M | re.S))
    names = sorted(set(re.findall(r"name: ([a-z-]+)", phases)) - {"choice"})
    head = "name: mine\nseats: {members: [architect, engineer, writer], chair: chair}\nphases:\n"
    last = "  - {name: synthesis, rounds: [1, 2], seats: chair, until: {complete: dissent_kept}}\n"
    prompts = "".join(f"## {name}\nAnswer.\n" for name in names)
    workflow = load(f"---\n{head}{phases}{last}---\n# Prompts\n{prompts}", "mine.md")
    known = Known(["sonnet"], {*names, "synthesis"}, ["architect", "engineer", "writer", "chair"], [])
    assert lint(workflow, known) == []
    assert [phase.name for phase in workflow.phases] == ["points", "actions", "choice", "approval", "synthesis"]


def test_the_loop_of_code_in_the_guide_is_short_and_without_fault(user: User) -> None:
    path = Path(__file__).parent / "fixtures" / "fix-until-green.md"
    code = path.read_text("utf-8").strip()
    assert code in LANGUAGE
    assert len(code.splitlines()) <= 15
    ended = user.council("lint", path)
    assert (ended.code, ended.out.splitlines()[-1].endswith("no problems found")) == (0, True), ended.text
    assert "note:" not in ended.out
