"""`council mcp`: the manual loop over the Model Context Protocol, as tools, prompts and resources. Optional.

It talks only to its client, and never calls a model.
"""
