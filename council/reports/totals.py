"""What a debate cost and when it ended, from its receipts."""

from __future__ import annotations

import math
from datetime import datetime, timedelta
from typing import Any

from council.record.session import Session


def totals(session: Session) -> dict[str, Any]:
    """Add up the receipts. An unknown price makes the sum unknown, not smaller.

    `fsum` gives the same sum in whatever order the turns arrived.
    """
    all_receipts = list(session.receipts.values())
    prices = [receipt.usd for receipt in all_receipts]
    return {
        "calls": len(all_receipts),
        "input_tokens": sum(receipt.input + receipt.cache_read + receipt.cache_write for receipt in all_receipts),
        "output_tokens": sum(receipt.output for receipt in all_receipts),
        "usd": None if None in prices else round(math.fsum(price or 0.0 for price in prices), 6),
    }


def ended_at(session: Session) -> datetime:
    """When the last turn ended, from the receipts, so that it never changes."""
    begun = datetime.fromisoformat(session.metadata["started_at"])
    ends = [datetime.fromisoformat(one.started) + timedelta(seconds=one.seconds) for one in session.receipts.values()]
    return max([begun, *ends])
