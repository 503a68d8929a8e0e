"""Finds sessions fast: a derived SQLite file in the cache, and the commands that ask it.

It knows facts, never states: whether a session is complete is asked of the session's files. It can be deleted.
"""
