"""The session on disk: its files, lock, metadata, turns, and the catalog of sessions. The only writer of the record.

What is derived from the record is made in `reports`.
"""
