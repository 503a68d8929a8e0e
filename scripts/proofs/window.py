"""What council promises about the window: searching sessions, looking at debates, and steering them from a page.

Each part is a promise and an attempt to break it, at full size; each is a module in scripts/proofs/of_window/.
"Expected" is what should happen, "seen" what did. "Tried" and "held" count the same thing.
"""

from __future__ import annotations

from prove import Promises

COLUMNS = ("promise", "what was tried", "expected", "seen", "tried", "held")
PROMISES = Promises("of_window")
parts, prove = PROMISES.parts, PROMISES.prove
