"""Forgeries of a session by somebody who has our source: every hash that has no key is computed again."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from council.record import chain, metadata, turn_file
from council.record.session import Session, open_
from council.record.turn_file import Receipt


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


def rechain(folder: Path) -> None:
    """Compute the chain again, in the order of the debate, with the briefs and turns as they are now."""
    session = read(folder)
    plan = session.plan()
    base = chain.base(session.metadata)
    for turn, before in plan.expected.items():
        if receipt := session.receipts.get(turn):
            past = chain.find_past(session, turn, plan.scene.turns[:before])
            brief = turn_file.sha256(session.brief(turn) or b"")
            forged = replace(receipt, after=receipt.after and chain.link(base, past), brief=brief)
            data = turn_file.encode(forged, session.said[turn].body)
            session.turn_path(turn).write_bytes(data)
            session.hashes[turn] = turn_file.sha256(data)


def rewrite(folder: Path, turn: str, change: Callable[[Receipt, str], tuple[Receipt, str]]) -> None:
    """Change a receipt or a body, and seal the file again."""
    path = folder / "turns" / f"{turn}.md"
    path.write_bytes(turn_file.encode(*change(*turn_file.decode(path.read_bytes(), path))))
