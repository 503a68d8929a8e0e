"""The modules of this room that register names of the language."""

from council.protocols import dissent, mind_changes, perspectives

__all__ = ["dissent", "mind_changes", "perspectives"]
