"""The modules of this room that register names of the language."""

from council.protocols import (
    board,
    casting,
    concerns,
    consensus,
    dissent,
    evidence,
    mind_changes,
    perspectives,
    specialists,
    stances,
)

__all__ = [
    "board",
    "casting",
    "concerns",
    "consensus",
    "dissent",
    "evidence",
    "mind_changes",
    "perspectives",
    "specialists",
    "stances",
]
