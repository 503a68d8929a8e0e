"""The modules of this room that register names of the language."""

from council.reports import confirmation, kinds

__all__ = ["confirmation", "kinds"]
