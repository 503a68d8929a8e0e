"""The docs say what the code does: the reference is made from it, and what the README names is there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from council import briefs, config, personas
from council.cli import council
from council.lint import Known, lint
from council.speakers.choice import NAMES
from council.workflow import load

ROOT = Path(__file__).resolve().parent.parent
REFERENCE = ROOT / "docs" / "reference.md"


@pytest.mark.golden
def test_the_reference_is_what_the_code_says() -> None:
    made = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "reference.py")], capture_output=True, text=True, check=True, timeout=60
    ).stdout
    if os.environ.get("COUNCIL_UPDATE_GOLDEN"):
        REFERENCE.write_text(made, "utf-8")
    assert REFERENCE.read_text("utf-8") == made, "run scripts/update-golden and read the difference"


@pytest.mark.parametrize("name", sorted(config.workflows()))
def test_every_workflow_of_the_kit_is_without_fault(name: str) -> None:
    workflow = load(*config.workflow_text(name))
    known = Known(config.load({}).tiers, briefs.prompts(workflow.name), personas.load(), NAMES)
    assert workflow.name == name
    assert lint(workflow, known) == []
    assert workflow.description
    assert len(workflow.body) > 200


def test_the_readme_names_every_command() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    assert [name for name in council.commands if f"`council {name}" not in readme] == []


def test_the_configuration_explains_every_key() -> None:
    text = (ROOT / "Config.md").read_text("utf-8")
    assert [key for key in config.KEYS if f"**{key}**" not in text] == []


@pytest.mark.parametrize(
    "page", sorted(ROOT.glob("*.md")) + sorted(ROOT.glob("docs/**/*.md")), ids=lambda page: page.name
)
def test_links_lead_to_something(page: Path) -> None:
    targets = re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text("utf-8"))
    assert [target for target in targets if not (page.parent / target).exists()] == []
