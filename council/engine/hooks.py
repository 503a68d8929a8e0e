"""The modules of this room that register names of the language."""

from council.engine import orders, planner, rules, tree, views

__all__ = ["orders", "planner", "rules", "tree", "views"]
