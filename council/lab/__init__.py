"""The code lab's commands: code, apply, sandbox and lessons, and the lab that compares workflows on sets of tasks.
Optional.
"""
