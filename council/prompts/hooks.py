"""The modules of this room that register names of the language."""

from council.prompts import invocation

__all__ = ["invocation"]
