"""The modules of this room that register names of the language."""

from council.workflow import gates, limits, model

__all__ = ["gates", "limits", "model"]
