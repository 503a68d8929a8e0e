"""`council serve`: a page on this machine that shows debates, also while they run, and takes people's answers.

It keeps nothing: what it shows is read from the files, and what it is told becomes a turn, as from a terminal.
"""
