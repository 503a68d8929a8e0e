"""The modules of this room that register names of the language."""

from council.workflow import limits, model

__all__ = ["limits", "model"]
