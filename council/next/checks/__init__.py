"""Checks a workflow before anything is spent."""
