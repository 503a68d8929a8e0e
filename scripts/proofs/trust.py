"""What council promises between sessions, about money, at a repository's border and in its documents.

Each part is a promise and an attempt to break it, at full size; each is a module in scripts/proofs/of_trust/. "Tried"
and "held" count the same thing. What cannot hold is in the notes.
"""

from __future__ import annotations

from prove import Promises

COLUMNS = ("promise", "what was tried", "tried", "held")
PROMISES = Promises("of_trust")
parts, prove = PROMISES.parts, PROMISES.prove
