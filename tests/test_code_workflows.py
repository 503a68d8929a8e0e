"""The workflows that write code, end to end: HTTP, git, the sandbox and its tests are real; the words are scripted.

tests/plans has what each of them asks in which order; `scripts/prove lab` runs every phase of `code`.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from council.workflow import frontmatter
from tests import phases
from tests.bubblewrap import needs_sandbox
from tests.fakeapi import FakeApi
from tests.helpers import User
from tests.repositories import git

NAMES = ("Code", "Reflexion", "RedBlue", "Evolve", "Tree")
WORKFLOWS = Path(__file__).resolve().parent.parent / "Workflows"
needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")


@pytest.mark.parametrize("name", NAMES)
def test_a_program_fits_on_a_page(name: str) -> None:
    keys, _ = frontmatter.split_text((WORKFLOWS / f"{name}.md").read_text("utf-8"), name)
    assert len(keys.strip().splitlines()) < 60


@needs_sandbox
@needs_git
def test_a_failure_is_reflected_on_and_what_passed_is_asked_nothing_more(tmp_path: Path) -> None:
    user = User(tmp_path, {"ANTHROPIC_API_KEY": "sk-ant-of-the-tests"})
    hidden = phases.make_project(user, {"tests/test_clamp.py": phases.SUITE.encode()})
    members = phases.Members(user, {"*-r01-1-draft/generator": phases.file(phases.SWAPPED)})
    with FakeApi(members) as api:
        begun = user.council("code", phases.TASK, "--hidden", hidden, "--speaker", "assistant")
        assert begun.code == 8, begun.text
        draft = "02-attempts-r01-1-draft/generator"
        recorded = user.council("record", "last", draft, stdin=phases.file(phases.SWAPPED))  # the first by hand
        assert (recorded.code, "02-attempts-r01-3-reflect/generator" in recorded.out) == (0, True), recorded.text
        ended = user.council("recover", "--speaker", "anthropic", ANTHROPIC_BASE_URL=api.url)
    assert ended.code == 0, ended.text
    assert members.asked == [
        "02-attempts-r01-3-reflect/generator", "02-attempts-r02-1-draft/generator", "03-teach/teacher",
    ]  # fmt: skip
    second = (user.session / "briefs/02-attempts-r02-1-draft/generator.md").read_text()
    for seen in ("assert clamp(5, 1, 3) == 3", phases.SWAPPED.splitlines()[1], "Take the middle of the three."):
        assert seen in second
    assert not [path for path in (user.session / "briefs").rglob("*.md") if "test_both" in path.read_text()]
    assert "Try one value by hand" in user.council("lessons", "list").out
    assert user.council("apply", "--yes").code == 0
    assert git(user.work, "show", f"council/{user.session.name}:clamp.py") == phases.SIMPLE.encode()
    assert phases.find_differences(user) == ["round-2.md"]  # it says which turn was typed in
