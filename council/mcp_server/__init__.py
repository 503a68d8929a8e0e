"""`council mcp`: the loop by hand as tools over the Model Context Protocol. Optional.

It speaks to nobody but its client, and never calls a model.
"""
