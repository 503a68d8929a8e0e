"""The new core, built beside the old one. Nothing outside this folder imports it yet.

`runner` holds a debate: it asks the plan of a session what is due, has that spoken, and records it.
"""
