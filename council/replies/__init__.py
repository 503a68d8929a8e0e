"""One declaration of answers prints the format into a brief and reads the answers back from a reply.

It judges nothing: what an answer means is for rules.
"""
