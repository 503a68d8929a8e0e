"""What a terminal shows: Markdown, tables, the live view, output that cannot command it.

It decides nothing about a debate.
"""
