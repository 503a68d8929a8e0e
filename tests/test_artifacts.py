"""Files that a room derives from the record: written in folders, verified, and removed once they no longer follow."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from council.engine import contributions
from council.engine.contributions import ArtifactTraits, Record, artifact
from tests.helpers import User, script

WORKFLOW = """---
name: ask
seats: {members: [architect, engineer]}
phases:
  - {name: positions, reply: {stance: agree | disagree}}
---
"""
WORDS = {f"01-positions/{seat}": f"{seat}: yes.\n\n## Stance\nagree" for seat in ("architect", "engineer")}


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> User:
    """A debate whose members' words are derived once more, each in a file of its own."""

    def words(record: Record) -> Mapping[str, bytes]:
        turns = record.plan.scene.turns
        return {f"words/{turn.seat.name}/v1.txt": turn.body.encode() for turn in turns} | {
            "words.bin": record.topic.encode() + b"\0"
        }

    artifact.known  # noqa: B018 (all rooms have registered theirs)
    monkeypatch.setitem(contributions.artifact.known, "words", words)
    monkeypatch.setitem(artifact._traits, "words", ArtifactTraits(files=("words.bin",), folders=("words",)))
    user = User(tmp_path)
    user.write(".council/Workflows/ask.md", WORKFLOW)
    ended = user.council("ask", "Shall we?", "--speaker", "replay", "--from", script(user, WORDS))
    assert ended.code == 0, ended.text
    return user


def test_artifacts_are_written_and_verified(user: User) -> None:
    assert (user.session / "words/architect/v1.txt").read_text("utf-8") == WORDS["01-positions/architect"]
    assert (user.session / "words.bin").read_bytes() == b"Shall we?\0"
    verified = user.council("verify")
    assert (verified.code, "not part of the session" in verified.text) == (0, False)
    (user.session / "words/architect/v1.txt").write_text("changed", "utf-8")
    changed = user.council("verify")
    assert (changed.code, "words/architect/v1.txt: it does not follow from the turns" in changed.text) == (5, True)
    assert user.council("build").code == 0
    assert user.council("verify").code == 0


def test_what_does_not_follow_is_removed_with_its_folder(user: User) -> None:
    (user.session / "words/nobody/deep").mkdir(parents=True)
    for name in ("words/nobody/deep/v1.txt", "words/architect/v2.txt"):
        (user.session / name).write_text("left over", "utf-8")
    wrong = user.council("verify")
    assert (wrong.code, wrong.text.count("does not follow from the turns")) == (5, 2)
    assert user.council("build").code == 0
    assert sorted(path.name for path in (user.session / "words").rglob("*")) == [
        "architect", "engineer", "v1.txt", "v1.txt",
    ]  # fmt: skip
    assert user.council("verify").code == 0


def test_a_file_in_the_place_of_a_folder_is_replaced(user: User) -> None:
    for path in sorted((user.session / "words").rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    (user.session / "words").rmdir()
    (user.session / "words").write_text("no folder", "utf-8")
    assert user.council("build").code == 0
    assert user.council("verify").code == 0
