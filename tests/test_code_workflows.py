"""The workflows that write code, end to end: HTTP, git, the sandbox and its tests are real; the words are scripted.

tests/plans has what each of them asks in which order; `scripts/prove lab` runs every phase of `code`.
"""

from __future__ import annotations

import itertools
import re
import shutil
from pathlib import Path

import pytest

from council.checks.lint import lint
from council.engine.planner import plan
from council.engine.scene import RecordedTurn
from council.workflow import frontmatter
from council.workflow.loader import load
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


@pytest.mark.parametrize("name", ["reflexion", "gates"])
def test_what_a_guide_shows_is_a_workflow(name: str) -> None:
    page = (WORKFLOWS.parent / "docs" / f"{name}.md").read_text("utf-8")
    (shown,) = re.findall(r"^```yaml\n((?:(?!```).)*^phases:\n.*?)^```$", page, re.M | re.S)
    seats = "" if "seats:\n" in shown else "seats: {team: [generator]}\n"
    assert lint(load(f"---\nname: shown\n{seats}{shown}---\n", name)) == []


def test_the_topologies_of_the_docs_are_what_they_are_called() -> None:
    path, said = WORKFLOWS.parent / "tests/fixtures/topologies.md", dict[str, RecordedTurn]()
    workflow = load(path.read_text("utf-8"), path.name)
    assert lint(workflow) == []
    edges: dict[str, set[tuple[str, str]]] = {}
    while (now := plan(workflow, said, "seed")).due:
        for due in now.due:
            here = edges.setdefault(due.phase.name, set())
            here |= {(one.turn.seat.name, due.seat.name) for one in due.sees if one.turn.phase == due.phase.name}
            said[due.id] = RecordedTurn("I agree.")
    members = ("architect", "engineer", "researcher")
    assert edges["mesh"] == {(one, other) for one in members for other in members}
    assert edges["star"] == {pair for one in members for pair in (("chair", one), (one, "chair"))}
    assert edges["chain"] == set(itertools.combinations(members, 2))


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
    assert phases.find_differences(user) == ["round-1.md"]  # it says which turn was typed in
