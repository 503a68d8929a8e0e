"""Checks a session's record and says in sentences what that proves. Derived files prove nothing, and are not read."""

from __future__ import annotations

from dataclasses import dataclass

from council.next.errors import CouncilError
from council.next.record.proof import problems
from council.next.record.session import Session

COVERED = "the workflow, the templates, the question, the given files, the options and every turn with its brief"
BLIND = (
    "Without a head that you noted, this cannot find: a record in which every hash was computed again, the last turns "
    "cut off, or a receipt's model, cost, time or person rewritten with its hashes. Note the head, and check it with "
    "--head HEAD."
)
NEVER = "No head covers attempts/, desk/, facts that were added when the debate ended, and the derived files."


@dataclass(frozen=True)
class Report:
    """`problems` are what is wrong, each with its file; `sentences` say what was checked and what that proves."""

    head: str
    turns: int
    problems: tuple[str, ...]
    sentences: tuple[str, ...]


def verify(session: Session, noted: str = "") -> Report:
    """Read the whole record again. With a noted head this proves that nothing before it was changed."""
    noted = noted.strip().lower()
    found = tuple(problems(session.folder, noted))
    try:
        heads, said, batches = session.heads, len(session.said), session.plan.batches
    except CouncilError:
        return Report("", 0, found, ("The record cannot be read as a whole, so nothing is proven.",))
    covered = sum(map(len, batches[: heads.index(noted)] if noted in heads else batches))
    sentences = [f"{said} turns were read. Each receipt, brief and hash was compared with all that came before it."]
    if noted in heads:
        sentences.append(f"The head that you noted proves {COVERED}, up to the turn number {covered}.")
    if said > covered:
        sentences.append(f"{said - covered} turns are not covered by {'that' if noted else 'any'} head yet.")
    return Report(heads[-1], said, found, (*sentences, *([] if noted else [BLIND]), NEVER))
