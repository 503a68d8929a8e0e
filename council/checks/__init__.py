"""All that can be said of a workflow before a cent is spent: lint, hints, reachability, cost, diagram.

It changes nothing and calls nobody.
"""
