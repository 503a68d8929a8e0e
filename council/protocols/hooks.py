"""The modules of this room that register names of the language."""

from council.protocols import board, dissent, mind_changes, perspectives

__all__ = ["board", "dissent", "mind_changes", "perspectives"]
