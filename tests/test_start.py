"""A process that begins many sessions reads the overlays once, and again as soon as one of their files has changed."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from council.config import overlays
from tests.helpers import User

KIT = overlays.kit_folder()
TEMPLATE = "templates/positions.md.j2"


def change(path: Path, name: str, ending: str) -> None:
    """The kit's file in an overlay, with another ending."""
    (path / name).parent.mkdir(parents=True, exist_ok=True)
    (path / name).write_text((KIT / name).read_text("utf-8") + ending)


CHANGES: dict[str, Callable[[User], object]] = {
    "a template of the user": lambda user: change(user.settings, TEMPLATE, "One more line.\n"),
    "a persona of the user": lambda user: change(user.settings, "AgentPersonalities.md", "\nOne more line.\n"),
    "a workflow of the user": lambda user: change(user.settings, "Workflows/Debate.md", "\nOne more line.\n"),
    "a template of the project": lambda user: change(user.work / ".council", TEMPLATE, "One more line.\n"),
    "a tier": lambda user: user.configure("tiers: {sonnet: {model: claude-opus-5-5}}"),
}


def frozen(user: User) -> tuple[bytes, ...]:
    """What a new session freezes, without what differs from one to the next."""
    begun = user.council("start", "--json", "Shall we?")
    assert begun.code == 0, begun.err
    folder = Path(begun.json["folder"])
    facts = json.loads((folder / "metadata.json").read_text("utf-8"))
    same = {key: facts.get(key) for key in ("members", "tiers", "options", "overlays", "files")}
    return json.dumps(same).encode(), (folder / "program.json").read_bytes(), (folder / "workflow.md").read_bytes()


@pytest.mark.parametrize("what", CHANGES)
def test_a_changed_overlay_counts_at_once(tmp_path: Path, what: str) -> None:
    """And as soon as it is gone, it no longer does."""
    user = User(tmp_path)
    user.settings.mkdir(parents=True)
    before = frozen(user)
    assert frozen(user) == before
    CHANGES[what](user)
    changed = frozen(user)
    assert changed != before
    other = User(tmp_path)
    begun = other.process("start", "--json", "Shall we?")
    fresh = Path(begun.json["folder"])
    assert tuple((fresh / name).read_bytes() for name in ("program.json", "workflow.md")) == changed[1:]
    for folder in (user.settings, user.work / ".council"):
        shutil.rmtree(folder, ignore_errors=True)
    assert frozen(user) == before


def test_one_session_does_not_change_the_next(tmp_path: Path) -> None:
    """Members, options and modes are those of each request."""
    user = User(tmp_path)
    words: list[tuple[str, ...]] = [
        (), ("--only", "architect,engineer"), ("--with", "security"), ("--normative",), ("--mode", "patchlist"),
        ("-o", "words=20-40"), ("--tier-map", "haiku=sonnet"), ("--workflow", "quick"),
    ]  # fmt: skip

    def begin(more: tuple[str, ...]) -> dict[str, object]:
        folder = Path(user.council("start", "--json", *more, "Shall we?").json["folder"])
        facts = json.loads((folder / "metadata.json").read_text("utf-8"))
        return {key: facts[key] for key in ("members", "tiers", "options", "output_mode", "workflow", "files")}

    first = [begin(more) for more in words]
    assert [begin(more) for more in words] == first
    assert len({json.dumps(facts) for facts in first}) == len(words)
