"""`council mcp`: the manual loop as tools over the Model Context Protocol. Optional.

It talks only to its client, and never calls a model.
"""
