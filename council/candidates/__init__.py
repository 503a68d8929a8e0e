"""Code that members write: the answer type `files`, the versions of each candidate, and the rules and views over them.

Pure: it reads turns, and runs nothing. Optional.
"""
