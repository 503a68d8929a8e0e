"""The modules of this room that register names of the language."""

from council.protocols import board, consensus, dissent, mind_changes, perspectives, stances

__all__ = ["board", "consensus", "dissent", "mind_changes", "perspectives", "stances"]
