"""Forgeries of a session by somebody who has our source: every hash that has no key is computed again."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from council.engine import planner
from council.prompts import brief as briefs
from council.record import chain, files, metadata, turn_file
from council.record.session import Session, open_
from council.record.turn_file import Receipt
from tests.helpers import User, disputed, script

Change = Callable[[Receipt, str], tuple[Receipt, str]]


GATE = """---
name: gate
description: A proposal, and a person who decides.
seats: {members: [architect, designer], owner: human}
phases:
  - {name: proposals, sees: nothing, tier: sonnet}
  - {name: decision, seats: owner, reply: {decision: yes | no}}
---

# Prompts

## proposals

Propose something.

## decision

Decide.

{{ format }}
"""
MEMBERS = ("architect", "engineer")
WORDS = disputed(MEMBERS)
FIRST, LATER, LAST = "01-positions/architect", "02-challenges/engineer", "04-synthesis-r01/chair"


def hold(root: Path, words: Mapping[str, str] = WORDS, code: int = 0) -> User:
    user = User(root)
    members = [f"--only={member}" for member in MEMBERS]
    ended = user.council("run", "Shall we?", *members, "--speaker", "replay", "--from", script(user, words))
    assert ended.code == code, ended.err
    return user


def reseal(folder: Path, **changed: Any) -> None:
    """Change facts in the metadata; None removes one."""
    path = folder / "metadata.json"
    facts = {**json.loads(path.read_bytes()), **changed}
    path.write_bytes(metadata.seal({key: value for key, value in facts.items() if value is not None}))


def read(folder: Path) -> Session:
    """The session with all turns that can be read, whatever else is wrong with it."""
    session = open_(folder)
    for path in sorted((folder / "turns").rglob("*.md")):
        data = path.read_bytes()
        receipt, body = turn_file.decode(data, path)
        brief = session.brief(receipt.turn) or b""
        session.remember(receipt, body, brief, turn_file.sha256(data))
    return session


@dataclass(frozen=True)
class Forger:
    """Changes a session's files, then makes everything fit again that can be made to fit."""

    folder: Path

    def rewrite(self, turn: str, change: Change) -> None:
        """Change a receipt or a body, and seal the file again."""
        path = self.folder / "turns" / f"{turn}.md"
        path.write_bytes(turn_file.encode(*change(*turn_file.decode(path.read_bytes(), path))))

    def refreeze(self, name: str, data: bytes) -> None:
        """Change a frozen file, and its hash in the metadata."""
        (self.folder / name).write_bytes(data)
        hashes = json.loads((self.folder / "metadata.json").read_bytes())["files"]
        reseal(self.folder, files={**hashes, name: turn_file.sha256(data)})

    def rechain(self) -> None:
        """Compute the chain again, in the order of the debate, with the briefs and turns as they are now."""
        session = read(self.folder)
        plan = session.plan()
        base = chain.base(session.metadata)
        for turn, before in plan.expected.items():
            if receipt := session.receipts.get(turn):
                past = chain.find_past(session, turn, plan.scene.turns[:before])
                brief = turn_file.sha256(session.brief(turn) or b"")
                link = chain.link(base, past) if receipt.after else None
                data = turn_file.encode(replace(receipt, after=link, brief=brief), session.said[turn].body)
                session.turn_path(turn).write_bytes(data)
                session.hashes[turn] = turn_file.sha256(data)

    def rebrief(self) -> None:
        """Write the briefs again, from the program and the turns as they are now."""
        session = read(self.folder)
        said: dict[str, Any] = {}
        while True:
            due = planner.plan(session.workflow, said, session.metadata["seed"]).due
            for one in due:
                if session.brief(one.id) is not None:
                    shared, own, _ = briefs.render(session, one)
                    session.brief_path(one.id).write_bytes(files.encode(shared + own))
            answered = {one.id: session.said[one.id] for one in due if one.id in session.said}
            if not answered:
                return
            said |= answered


def rechain(folder: Path) -> None:
    Forger(folder).rechain()


def rewrite(folder: Path, turn: str, change: Change) -> None:
    Forger(folder).rewrite(turn, change)


def forge_everything(user: User, turn: str, old: str, new: str) -> None:
    """Put words into a turn, and make every brief, hash, link, derived file and stamp fit them."""
    forger = Forger(user.session)
    forger.rewrite(turn, lambda receipt, body: (receipt, body.replace(old, new)))
    forger.rebrief()
    forger.rechain()
    for command in ("build", "archive"):
        ended = user.council(command)
        assert ended.code == 0, ended.text
