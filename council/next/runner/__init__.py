"""Holds a debate: prepares a session, has what is due spoken, and records it. `run` and `recover` are one loop."""
