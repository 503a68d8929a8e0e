"""Begins a session and runs it: the loop, the loop by hand, budget, retries and the prompt cache.

It shows nothing: watchers are handed in.
"""
