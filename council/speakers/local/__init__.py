"""The small model embedded on this machine: fetched once, held to a grammar.

It is chosen by name or after asking, never as a silent fallback.
"""
