"""What council promises about code that its members write: where it runs, what a green test means, and what is learned.

Each part is a promise and an attempt to break it, at full size; each is a module in scripts/proofs/of_lab/. "Expected"
is what should happen, "seen" what did. "Tried" and "held" count the same thing. What cannot hold is in the notes.
"""

from __future__ import annotations

from prove import Promises

COLUMNS = ("promise", "what was tried", "expected", "seen", "tried", "held")
PROMISES = Promises("of_lab")
parts, prove = PROMISES.parts, PROMISES.prove
