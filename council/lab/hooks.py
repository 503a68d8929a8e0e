"""What the lab adds to the end of a session: the commands that put its winner on a branch."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

from council.engine.contributions import Record, following


@following
def apply(record: Record, folder: Path) -> Iterator[str]:
    """How to take the winner over, and how to throw it away."""
    from council.candidates import base
    from council.candidates.approval import describe_refusal
    from council.candidates.results import find_winner
    from council.candidates.versions import follow

    ledger = follow(record.plan.scene)
    if not (record.plan.done and ledger.versions and (winner := find_winner(record.plan.scene, ledger))):
        return
    if describe_refusal(record.plan.scene):
        return
    id, red = folder.name, "" if winner.green else " --although-tests-fail"
    if base.read(record.frozen).facts.get("commit"):
        yield f"put it on a branch: council apply {id}{red}"
        yield f"and remove it again: council apply --undo {id}"
    else:
        yield f"take it over: patch -p1 < {shlex.quote(str(folder / 'result.patch'))}"
