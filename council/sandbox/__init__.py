"""Runs commands that nobody trusts: the sandbox, the benches that try a candidate in it, and their verdicts.

It knows no sessions. Optional.
"""
