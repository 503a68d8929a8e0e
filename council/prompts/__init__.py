"""From a due turn to its brief: templates, the facts they may use, and the phrases by which people call a council.

It sends nothing; what others wrote is fenced.
"""
