"""Everything derived from a record: transcript, page, documents, archive, status and verification.

Nothing here reads a clock or decides anything about the debate.
"""
