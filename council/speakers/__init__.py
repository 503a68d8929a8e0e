"""Whoever can speak for a seat: one file a speaker.

A speaker turns one brief into one reply. It records nothing and retries nothing.
"""
