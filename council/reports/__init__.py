"""All that is derived from a record: transcript, page, documents, archive, status and proof.

Nothing here looks at a clock or decides anything about the debate.
"""
