"""The modules of this room that register names of the language."""

from council.prompts import facts, invocation

__all__ = ["facts", "invocation"]
