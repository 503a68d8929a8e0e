"""Holds a debate by hand in an assistant: its subagents are the members, and council decides, asks and records.

Every client can do it by commands: `council next` names the turns that are due, each member runs `council brief`, and
stores its answer with the command that ends its brief. Claude Code's hooks spare members and host these commands.
"""
