"""What a terminal shows: Markdown, tables, the live view. Output is stripped of control sequences.

It decides nothing about a debate.
"""
