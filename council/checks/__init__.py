"""Checks a workflow before anything is spent: lint, hints, reachability, cost and diagram.

It changes nothing and calls no model.
"""
