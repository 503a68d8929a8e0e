"""The modules of this room that register names of the language."""

from council.engine import orders, rules, views

__all__ = ["orders", "rules", "views"]
