"""What a debate took and when it ended, from its receipts."""

from __future__ import annotations

import math
from datetime import datetime, timedelta
from typing import Any

from council.record.session import Session


def totals(session: Session) -> dict[str, Any]:
    """What the debate took, from its receipts. A price that nobody knows makes the sum unknown, not smaller.

    `fsum`, because its sum is the same in whatever order the turns came in.
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
    """When the last word was spoken. From the receipts, so that it is the same however often it is asked."""
    begun = datetime.fromisoformat(session.metadata["started_at"])
    ends = [datetime.fromisoformat(one.started) + timedelta(seconds=one.seconds) for one in session.receipts.values()]
    return max([begun, *ends])
