"""What lessons add: the answers that they are made of, and what happens when a session begins and ends.

Every command imports this, and few of them have to do with lessons: what reads and writes them is imported when needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from council.engine.contributions import FoundElsewhere, elsewhere
from council.errors import CouncilError
from council.lessons.answers import LESSON, LESSONS
from council.record.moments import began, finished

if TYPE_CHECKING:
    from council.engine.planner import Plan
    from council.record.session import Session


def _is_about_lessons(session: Session) -> bool:
    return any(name in (LESSON, LESSONS) for _, step in session.workflow.steps() for name, _ in step.reply)


@began
def open_ticket(session: Session) -> None:
    """A session that begins here may leave lessons."""
    if _is_about_lessons(session):
        from council.lessons import learning

        learning.open_ticket(session)


@elsewhere
def lessons(home: Path, asked: tuple[str, ...], most: int) -> Iterator[FoundElsewhere]:
    """The lessons that are nearest to the words of a search."""
    from council.lessons.store import FOLDER, Lessons
    from council.lessons.words import choose

    for one in Lessons(home / FOLDER).search(choose(" ".join(asked)), most):
        yield FoundElsewhere("lesson", one.id, one.sentence, one.session, f"council lessons show {one.id}")


@finished
def learn(session: Session, plan: Plan) -> None:
    """It leaves them when it ends. If they cannot be kept, the debate is complete all the same."""
    if _is_about_lessons(session):
        from council.lessons import learning

        try:
            learning.learn(session, plan)
        except (CouncilError, OSError) as failure:
            again = f"`council archive {session.id}` tries again"
            session.notices.append(f"the lessons of this session were not kept: {failure}; {again}")
