"""The row of a session as `council list` shows it, whatever is in its folder."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any


def age(began: datetime) -> str:
    """How long ago that was, in its largest unit."""
    seconds = (datetime.now(UTC) - began).total_seconds()
    for unit, size in (("d", 86400), ("h", 3600), ("m", 60)):
        if seconds >= size:
            return f"{seconds // size:.0f}{unit}"
    return f"{max(seconds, 0):.0f}s"


def describe(folder: Path) -> dict[str, Any]:
    """The row of a session from its files, and under `waiting` the turns that a person has to speak. Whatever is in one
    folder, the others are listed."""
    from council.reports import summary
    from council.reports.verify import Status, status

    try:
        found = status(folder)
        row = summary.as_row(summary.summarize(folder, found))
        due = found.plan.due if found.plan and not (found.session and found.session.kept_from) else ()
        return row | {"waiting": [one.id for one in due if one.of_a_person]}
    except Exception as failure:  # noqa: BLE001 (a mistake of ours must not hide the other sessions)
        why = f"cannot be read ({type(failure).__name__}: {failure}); `council verify {folder.name}` says more"
        return summary.as_row(summary.summarize(folder, Status("damaged", why))) | {"waiting": []}
