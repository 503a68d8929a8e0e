"""What other rooms know of a finished session and only they can read out of it: findings, versions of code."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

from council.record.turn_file import sha256

if TYPE_CHECKING:
    from council.engine.contributions import IndexEntry
    from council.record.turn_file import Receipt
    from council.workflow.model import Workflow


def collect(folder: Path, workflow: Workflow, turns: Collection[tuple[Receipt, str]] | None) -> list[IndexEntry]:
    """The entries of each room whose kind of answer this session's workflow asks for. Most sessions have none, and only
    the others are planned, which takes longer than everything else here. `turns` are all that the session has, if they
    were just read: they are not read again."""
    from council.engine.contributions import indexed
    from council.errors import CouncilError
    from council.record.session import open_
    from council.replies import parse
    from council.reports.transcript import read_record

    asked = [(name, kind.type) for _, step in workflow.steps() for name, kind in step.reply]
    names, types = {name for name, _ in asked}, {kind for _, kind in asked}
    functions = []
    for name, function in sorted(indexed.known.items()):
        traits = indexed.traits(name)
        if types & {*traits.types} or names & {*traits.answers}:
            functions.append(function)
    if not functions:
        return []
    try:
        session = open_(folder)
        if turns is None:
            session.read_turns()
        for receipt, body in turns or ():
            brief = session.brief(receipt.turn)
            if brief is None or sha256(brief) != receipt.brief:
                return []
            session.remember(receipt, body, brief, "")
        record = read_record(session, session.plan())
        return [entry for function in functions for entry in function(record)]
    except (CouncilError, OSError):  # a damaged session has no entries; its row says what is wrong
        return []
    finally:
        parse.read.cache_clear()  # nobody reads these replies again soon
