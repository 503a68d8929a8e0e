"""A skill that is installed for one project: it has no hooks, and no program on PATH.

With the real Claude Code where COUNCIL_TEST_CLAUDE names it.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from council.cli.install_skill import KIT
from tests.assistant import by_hand
from tests.claude_code import CLAUDE, ROOT, Room, long, room
from tests.helpers import User, agreed, picture

real = pytest.mark.skipif(not CLAUDE, reason="COUNCIL_TEST_CLAUDE names no claude program")
TOPIC = 'Redis or "not"? $(touch P)'


def by_command(here: Room) -> None:
    done = here.user.council("install-skill", "--project", "--claude")
    assert done.code == 0, done.text


def by_copy(here: Room) -> None:
    done = here.user.council("install-skill", "--project", "--copy")
    assert done.code == 0, done.text


def as_npx_skills_does(here: Room) -> None:
    """All files of the repository that are not hidden, in .agents, and a link to them."""
    copy = here.user.work / ".agents" / "skills" / "council"
    for name in (*KIT, "council", "docs", "README.md"):
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, copy / name, dirs_exist_ok=True)
        else:
            shutil.copy(ROOT / name, copy / name)
    link = here.user.work / ".claude" / "skills" / "council"
    link.parent.mkdir(parents=True)
    link.symlink_to("../../.agents/skills/council")


@real
@pytest.mark.parametrize(
    ("install", "folder"),
    [
        pytest.param(by_command, "room", marks=long),
        (by_copy, "a room"),
        pytest.param(as_npx_skills_does, "room", marks=long),
    ],
)
def test_a_debate_in_the_project(tmp_path: Path, install: Callable[[Room], None], folder: str) -> None:
    """`council` is not found, so the host and its members use the skill's own program. Nothing has to be permitted but
    the skill itself.
    """
    words = agreed()
    with room(tmp_path / folder, by_hand(f"Council: {TOPIC}"), words, skill=None) as here:
        install(here)
        begin = f"/council Council: {TOPIC}"
        ended = here.to_its_end(begin)
        assert (ended["result"], ended["permission_denials"]) == ("The council has spoken.\n", [])
        assert here.spoken() == {turn: f"{text.rstrip()}\n".encode() for turn, text in words.items()}
        assert Counter(here.members.asked) == dict.fromkeys(words, 1)
        assert not (here.user.work / "P").exists()
        assert here.user.council("verify").code == 0


@pytest.mark.parametrize("undo", [[], ["--undo"]], ids=["install", "undo"])
def test_a_link_of_the_repository_leads_to_no_other_folder(undo: list[str], tmp_path: Path) -> None:
    user = User(tmp_path)
    assert user.council("install-skill", "--claude", "--copy").code == 0
    (user.work / ".claude").symlink_to("../.claude")
    before = picture(user.root)
    ended = user.council("install-skill", "--project", *undo)
    assert (ended.code, "is a link that leads out of the project" in ended.err) == (2, True), ended.text
    assert picture(user.root) == before


@pytest.mark.parametrize("facts", ["[]", "{", "[" * 100_000, '{"files": []}'])
def test_a_copy_that_a_stranger_wrote_is_described(facts: str, tmp_path: Path) -> None:
    user = User(tmp_path)
    assert user.council("install-skill", "--project", "--claude", "--copy").code == 0
    copy = user.work / ".claude" / "skills" / "council"
    (copy / ".council-copy.json").write_text(facts)
    told = user.council("doctor").out
    assert "~/work/.claude/skills/council is a copy of None, changed by hand: .council-copy.json" in told
    assert user.council("install-skill", "--project", "--undo").code == 2
    assert copy.is_dir()
