"""Runs inside the sandbox. Standard library only."""
