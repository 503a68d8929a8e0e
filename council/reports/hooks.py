"""The modules of this room that register names of the language."""

from council.reports import kinds

__all__ = ["kinds"]
