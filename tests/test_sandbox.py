"""Templates of strangers: none makes more text, values or work than a brief needs, and what is usual works as ever."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from pathlib import Path

import jinja2
import pytest
from jinja2.utils import Namespace

from council.config import overlays
from council.prompts import sandbox, templates
from council.prompts.brief import BROKEN
from council.prompts.meter import WORK, Meter, weigh
from council.record.program import Program
from tests.bombs import BOMBS, HARMLESS
from tests.helpers import CODE, PATIENCE, User, no_traceback

ROOM = 1_000_000_000  # bytes of address space that all of them together may take
DEFUSE = """
import json, sys
from tests.bombs import BOMBS
from tests.test_sandbox import render
print(json.dumps({name: render(text) for name, text in BOMBS.items()}))
"""


def render(text: str) -> str:
    """What the template gives, or the kind of the error that ended it."""
    found = templates.environment(jinja2.DictLoader({"bomb.md.j2": text}))
    try:
        return sandbox.render(lambda: found.get_template("bomb.md.j2"), {}, 0)
    except (jinja2.TemplateError, *BROKEN) as stopped:
        return f"stopped: {type(stopped).__name__}"


@pytest.fixture(scope="module")
def defused() -> dict[str, str]:
    """Each bomb, rendered in a process that has little room."""
    limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (ROOM, ROOM))  # noqa: E731
    done = subprocess.run(
        [sys.executable, "-c", DEFUSE],
        cwd=CODE,
        capture_output=True,
        timeout=5 * PATIENCE,
        preexec_fn=limit,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()[-3000:]
    found: dict[str, str] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("name", BOMBS)
def test_no_template_grows_without_a_bound(name: str, defused: dict[str, str]) -> None:
    assert defused[name].startswith("stopped: ") or len(defused[name]) < 100, defused[name][:300]


@pytest.mark.parametrize("text", HARMLESS)
def test_what_templates_do_all_the_time(text: str) -> None:
    assert render(text) == HARMLESS[text]


def test_what_a_brief_quotes_does_not_count() -> None:
    """A long debate makes long briefs, and each must be written."""
    found = templates.environment(jinja2.DictLoader({"long.md.j2": "{{ words }}{{ words }}"}))
    words = "A" * 3 * sandbox.LARGEST
    data = {"words": words}
    assert sandbox.render(lambda: found.get_template("long.md.j2"), data, len(words)) == words * 2
    with pytest.raises(jinja2.TemplateError, match="longer than 2,000,000"):
        sandbox.render(lambda: found.get_template("long.md.j2"), data, 0)


@pytest.mark.parametrize(
    "name", ["times", "lipsum", "padded by a format", "power", "center", "the filter center", "brackets"]
)
def test_lint_refuses_what_it_can_see(name: str, tmp_path: Path) -> None:
    user = User(tmp_path)
    user.write(".council/Workflows/tiny.md", "---\nname: tiny\nseats: {m: architect}\nphases: [{name: p}]\n---\n")
    user.write(".council/templates/tiny/p.md.j2", BOMBS[name])
    linted = user.council("lint", "tiny")
    no_traceback(linted)
    assert linted.code == 2
    assert "templates/tiny/p.md.j2" in linted.out


def test_a_debate_refuses_a_bomb_before_anything_is_spent(tmp_path: Path) -> None:
    user = User(tmp_path)
    user.write(".council/templates/debate/positions.md.j2", BOMBS["times"])
    ended = user.council("run", "Shall we?", "--speaker", "assistant")
    no_traceback(ended)
    assert (ended.code, "too much text" in ended.err) == (2, True)


def test_templates_are_metered_unless_all_of_them_are_the_kits_word_for_word() -> None:
    ours = {name: text for name, text in overlays.kit_templates().items() if "/" not in name}
    name = min(ours)
    assert not templates.load_environment(Program(ours, {})).metered
    for others in ({**ours, name: f"{ours[name]} "}, {**ours, "more.md.j2": ""}, {f"board/{name}": ours[name]}):
        assert templates.load_environment(Program(others, {})).metered


def test_what_a_template_can_change_is_weighed_each_time() -> None:
    """A list of the record weighs the same each time; one that holds a namespace may have grown."""
    meter = Meter()
    lasting, within = ["a" * 100, {"b": 1}], Namespace(text="a")
    assert meter.weigh(lasting) == meter.weigh(lasting) == weigh(lasting, WORK)
    assert id(lasting) in meter.known
    before = meter.weigh([within])
    holder = [within]
    assert meter.weigh(holder) == before
    within["text"] = "a" * 1000
    assert meter.weigh(holder) == before + 999
    assert id(holder) not in meter.known
