"""What a user must know before anything is spent, on standard error: where the session is, and whose overlays count."""

from __future__ import annotations

import sys

from council.config import overlays, places
from council.record.session import Session
from council.reports import in_force
from council.text import harmless


def show_place(session: Session) -> None:
    """Say where a new session is and why, if it is not in the home."""
    if line := places.explain(session):
        print(harmless(line), file=sys.stderr)


def show_overlays(session: Session) -> None:
    """Say whose files the session's program is from, and which ones were passed over."""
    for line in describe_overlays(session):
        print(harmless(line), file=sys.stderr)


def show_work(what: str) -> None:
    """Say on a terminal what is being done meanwhile."""
    if sys.stderr.isatty():
        print(harmless(what), file=sys.stderr)


def describe_overlays(session: Session) -> list[str]:
    """The lines of it; none if all files are the kit's."""
    lines = [*in_force.describe(session), *in_force.describe_settings(session)]
    unused = overlays.unused_project()
    if unused and not any(line.startswith("project") for line in lines):
        lines.append(f"project overlay not used: {unused}")
    return lines
