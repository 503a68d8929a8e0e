"""What a debate cost and when it ended, from its receipts."""

from __future__ import annotations

import math
from datetime import datetime, timedelta
from typing import Any

from council.record.session import Session


def totals(session: Session) -> dict[str, Any]:
    """Add up every call: those that gave a reply, and those before them that failed. `calls` are the former.

    An unknown number makes its sum unknown, not smaller; `usd_at_least` is the part that is known. `fsum` gives the
    same sum in whatever order the turns arrived.
    """
    replies = list(session.receipts.values())
    prices, sent, received = ([getattr(call, name) for call in session.calls()] for name in ("usd", "sent", "output"))
    known = round(math.fsum(price or 0.0 for price in prices), 6)
    return {
        "calls": len(replies),
        "failed_calls": sum(len(receipt.attempts) for receipt in replies) + sum(map(len, session.pending.values())),
        "input_tokens": None if None in sent else sum(sent),
        "output_tokens": None if None in received else sum(received),
        "usd": None if None in prices else known,
        "usd_at_least": known,
    }


def ended_at(session: Session) -> datetime:
    """When the last turn ended, from the receipts, so that it never changes."""
    begun = datetime.fromisoformat(session.metadata["started_at"])
    ends = [datetime.fromisoformat(one.started) + timedelta(seconds=one.seconds) for one in session.receipts.values()]
    return max([begun, *ends])
