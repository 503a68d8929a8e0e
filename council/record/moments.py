"""What rooms do when a session begins and when it has been finished: functions that their `hooks.py` registers.

A room that was removed does nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from council.workflow.registry import Hook

if TYPE_CHECKING:
    from council.engine.planner import Plan
    from council.record.session import Session

began: Hook[Callable[[Session], None]] = Hook("began", leading=1)
finished: Hook[Callable[[Session, Plan], None]] = Hook("finished", leading=2)


def announce_begin(session: Session) -> None:
    """A new session is on the disk, and nobody has spoken in it."""
    for function in began.known.values():
        function(session)


def announce_end(session: Session, plan: Plan) -> None:
    """Nothing more is due, and the metadata do not say so yet. A run that is killed here is finished again later, so a
    function may be called twice for one session.
    """
    for function in finished.known.values():
        function(session, plan)
