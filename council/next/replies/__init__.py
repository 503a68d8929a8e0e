"""Replies: one declaration prints an answer's format into the brief, reads the answer back and says what is wrong.

Nothing here guesses what somebody meant. An answer is below its heading in the declared form, or it is missing and
asked for once more. This room knows no workflow, no seat and no protocol.
"""
