"""The workflow language: its objects, and the loader that makes them from a file.

It knows the form of a workflow and no meaning: what a rule, an order or a view does is the engine's.
"""
