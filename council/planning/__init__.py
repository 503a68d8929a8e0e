"""From a question to work: the chain of four councils, and what the tasks of a work plan are made of. Each council
is an ordinary session. Optional.
"""
