"""Renders a session's briefs again, from its frozen program and its turns, and compares them with those on disk."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from council.engine import planner
from council.engine.planner import Due, Plan
from council.errors import Damaged, UsageError
from council.prompts import brief as briefs
from council.record import chain, files
from council.record.session import Session

FOLDER = "briefs"
REMEDY = "restore the session from a backup"


def find(folder: Path) -> list[Path]:
    """Every brief of a session that is there."""
    top = folder / FOLDER
    return [path for path in files.walk(top) if path.suffix == ".md"] if top.is_dir() else []


def check(session: Session, plan: Plan, seen: Iterable[Path]) -> Iterator[Damaged]:
    """Briefs that are not what their turns were asked. Those of another version cannot be rendered again. `seen` are
    the briefs that were there before the turns were read: a run goes on meanwhile.
    """
    if session.reproducible:
        for turn, due in recall(session, plan):
            if due is None:
                yield Damaged(session.turn_path(turn), f"was not due after the turns before it; {REMEDY}")
            elif _differs(session, due):
                why = "does not follow from the program and the turns before it"
                yield Damaged(session.brief_path(turn), f"{why}; {REMEDY}")
    yield from _check_unanswered(session, plan, seen)


def recall(session: Session, plan: Plan) -> Iterator[tuple[str, Due | None]]:
    """Each recorded turn as it was when it was due: planned again from its past alone."""
    batches: dict[frozenset[str], list[str]] = {}
    for turn, before in plan.expected.items():
        if turn in session.said:
            past = chain.find_past(session, turn, plan.scene.turns[:before])
            batches.setdefault(frozenset(past), []).append(turn)
    for earlier, turns in batches.items():
        said = {turn: session.said[turn] for turn in earlier}
        due = {one.id: one for one in planner.plan(session.workflow, said, session.metadata["seed"]).due}
        yield from ((turn, due.get(turn)) for turn in turns)


def _check_unanswered(session: Session, plan: Plan, seen: Iterable[Path]) -> Iterator[Damaged]:
    """Briefs on disk whose turns are not recorded: only a turn that is due has one."""
    due = {one.id: one for one in plan.due}
    for path in seen:
        turn = path.relative_to(session.folder / FOLDER).with_suffix("").as_posix()
        if turn in session.said:
            continue
        if turn not in due:
            yield Damaged(path, "no turn of this debate has this brief; remove it")
        elif session.reproducible and _differs(session, due[turn]):
            yield Damaged(path, "edited after council wrote it; remove it, and `council recover` writes it again")


def _differs(session: Session, due: Due) -> bool:
    try:
        shared, own, _ = briefs.render(session, due)
    except UsageError:  # a forged program: council freezes only templates that can be rendered
        return True
    try:
        return files.encode(shared + own) != session.brief(due.id)
    except Damaged:
        return True
