"""The chain: each receipt names the hash of everything that its turn had as its past. The last link is the head.

A link covers what was fixed when the session began (the program, the topic, the options) and each earlier turn with its
brief. The order in which parallel turns arrived does not matter: a turn of the same batch is not in its past. The head
covers every turn, and what people added later.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from council.engine.planner import RETRY, Due, Plan
from council.engine.scene import Turn
from council.errors import Damaged
from council.record.metadata import digest
from council.text import join_words

if TYPE_CHECKING:
    from council.record.session import Session

# Every other key of the metadata is fixed when the session begins. These are added later: by a person, who may change
# the debate's result (the head covers them), or by the program, which can compute them again from the turns.
ADDED = ("continued_by", "dismissed")
COMPUTED = (
    "completed_at", "rounds_completed", "outcome", "absent", "totals", "archived_to", "derived", "archived", "deriving",
)  # fmt: skip
REMEDY = (
    "restore what is missing or changed from a backup, or move this turn away too, and `council recover` runs it again"
)


def base(metadata: Mapping[str, Any]) -> str:
    """The hash of what was fixed at birth. `files` in it has the hashes of the workflow, the program and the topic."""
    return digest({key: value for key, value in metadata.items() if key not in (*ADDED, *COMPUTED)})


def link(base: str, turns: Mapping[str, str], **added: Any) -> str:
    """The hash over a session's base, the hashes of turn files by turn, and what was added later, if anything was."""
    return digest({"base": base, "turns": turns, **added})


def after(session: Session, due: Due) -> str:
    """The link for the receipt of a turn that is due."""
    return link(base(session.metadata), find_past(session, due.id, due.scene.turns))


def head(session: Session) -> str:
    """The hash of the whole session as it is now. The turns must have been read."""
    added = {key: session.metadata[key] for key in ADDED if key in session.metadata}
    return link(base(session.metadata), session.hashes, **added)


def is_recorded(session: Session) -> bool:
    """Whether the turns are chained: those that an earlier version recorded are not."""
    return any(receipt.after for receipt in session.receipts.values())


def check(session: Session, plan: Plan) -> Iterator[Damaged]:
    """Recorded turns whose past is not the one that they were recorded after."""
    chained: set[str] = set()
    links: dict[frozenset[str], str] = {}  # the turns of one batch have the same
    fixed = base(session.metadata)
    for turn, before in plan.expected.items():
        receipt = session.receipts.get(turn)
        if receipt is not None:
            past = find_past(session, turn, plan.scene.turns[:before])
            turns = frozenset(past)
            unchained = receipt.after is None and not chained.isdisjoint(turns)
            if receipt.after and turns not in links:
                links[turns] = link(fixed, past)
            if unchained or (receipt.after and receipt.after != links[turns]):
                why = "was not recorded after the turns, the program and the metadata that are here"
                yield Damaged(session.turn_path(turn), f"{why}; {REMEDY}")
            if receipt.after:
                chained.add(turn)
    for turn, receipt in session.receipts.items():
        if receipt.after and turn not in plan.expected and plan.due:
            missing = join_words(due.id for due in plan.due)
            yield Damaged(session.turn_path(turn), f"was recorded after {missing}, which is missing now; {REMEDY}")


def find_past(session: Session, turn: str, scene: Iterable[Turn]) -> dict[str, str]:
    """The hashes of the turns before this one: those of its scene, each with its second try, and its own first try."""
    tries = [name for one in scene for name in (one.id, one.id + RETRY)]
    first = turn.removesuffix(RETRY)
    return {
        name: session.hashes[name] for name in (*tries, *([first] if first != turn else [])) if name in session.hashes
    }
