"""Sessions that an earlier version recorded (`tests/recorded/`): restored for a new user, and helped to their end."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from council.record.session import Session, open_
from council.reports.model import Transcript
from council.reports.transcript import compose
from tests.fakeapi import FakeApi
from tests.helpers import Ended, Table, User, script

RECORDED = Path(__file__).parent / "recorded"


ABSENT = "absent:"


WAITING = 8


MOST_STEPS = 200


@dataclass(frozen=True)
class Recorded:
    """A recorded session: the session's folder, what is expected of it, and the overlay in force when it began."""

    folder: Path

    @cached_property
    def case(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.folder / "case.json").read_text("utf-8"))
        return found

    @cached_property
    def metadata(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.folder / "session" / "metadata.json").read_text("utf-8"))
        return found

    @property
    def complete(self) -> bool:
        return bool(self.case["state"] == "complete")

    def restore(self, root: Path) -> User:
        """A new user who has this session, its archived copy and its overlay. Git keeps no permissions of folders."""
        user = User(root, {"ANTHROPIC_API_KEY": "key"})
        session = user.home / "STATE" / "council-sessions" / self.metadata["session_id"]
        session.parent.mkdir(parents=True)
        shutil.copytree(self.folder / "session", session)
        if archived := self.metadata.get("archived_to"):
            copy = user.root / archived.removeprefix("~/")
            copy.parent.mkdir(parents=True)
            shutil.copyfile(session / "transcript.md", copy)
        for path in (user.home, *user.home.rglob("*")):
            path.chmod(0o700 if path.is_dir() else 0o600)
        if (overlay := self.folder / "overlay").is_dir():
            shutil.copytree(overlay, user.work / ".council")
        return user


def finish(user: User, case: Mapping[str, Any]) -> list[str]:
    """Speak the missing turns in the way that the case names; the turns that were asked for, in order."""
    if case["finish"] == "by hand":
        return finish_by_hand(user, case["words"])
    if case["finish"] == "replay":
        source = script(user, case["words"])
        return recover(user, case["words"], "--speaker", "replay", "--from", source)
    table = Table(user, case["words"])
    with FakeApi(table) as api:
        user.configure(f"endpoints: {{anthropic: {{base_url: {api.url}}}}}\nretry: {{budget: 0}}")
        people = recover(user, case["words"])
    return table.asked + people


def recover(user: User, words: Mapping[str, str], *how: str | Path) -> list[str]:
    """`council recover` to the end; a person's turns are recorded where it waits for them, and returned."""
    people: list[str] = []
    while (ended := user.council("recover", "last", *how)).code == WAITING:
        assert len(people) < MOST_STEPS
        for turn in user.council("status", "--json").json["due"]:
            record(user, turn, words)
            people.append(turn)
    assert ended.code == 0, ended.err
    return people


def finish_by_hand(user: User, words: Mapping[str, str]) -> list[str]:
    """`council next` and `council record` until nothing is due; the turns, in order."""
    turns: list[str] = []
    while due := done(user.council("next", "last", "--json")).json["due"]:
        assert len(turns) < MOST_STEPS
        for one in due:
            record(user, one["turn"], words)
            turns.append(one["turn"])
    return turns


def record(user: User, turn: str, words: Mapping[str, str]) -> None:
    """One turn by hand: its words, or why nobody speaks them."""
    said = words[turn]
    absent = ("--absent", said.removeprefix(ABSENT).strip()) if said.startswith(ABSENT) else ()
    done(user.council("record", "last", turn, *absent, stdin="" if absent else said))


def done(ended: Ended) -> Ended:
    assert ended.code == 0, ended.text
    return ended


def turns_of(session: Path) -> set[str]:
    return {path.relative_to(session / "turns").with_suffix("").as_posix() for path in session.glob("turns/*/*.md")}


def sessions() -> list[Recorded]:
    return [Recorded(path.parent) for path in sorted(RECORDED.glob("*/case.json"))]


def spoken(session: Path) -> dict[str, bytes]:
    """What nobody may change any more: the program, the topic, every brief and every turn."""
    paths = [
        session / "workflow.md",
        session / "topic.md",
        *session.glob("briefs/*/*.md"),
        *session.glob("turns/*/*.md"),
    ]
    return {path.relative_to(session).as_posix(): path.read_bytes() for path in paths}


def opened(name: str, place: Path) -> Session:
    """A copy of a recorded session in that place, read by this version."""
    source = RECORDED / name / "session"
    folder = place / json.loads((source / "metadata.json").read_text("utf-8"))["session_id"]
    shutil.copytree(source, folder)
    found = open_(folder)
    found.read_turns()
    return found


def composed(name: str, place: Path) -> Transcript:
    """A recorded session as reports show it, from a copy in that place."""
    found = opened(name, place)
    return compose(found, found.plan())
