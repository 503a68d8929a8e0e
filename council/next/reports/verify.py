"""Checks a session's record and says in sentences what that proves. Derived files prove nothing, and are not read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from council.next.errors import CouncilError, Damaged
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

    @property
    def is_sound(self) -> bool:
        return not self.problems


def verify(session: Session, noted: str = "") -> Report:
    """Read the whole record again. With a noted head this proves that nothing before it was changed."""
    try:
        heads, said = session.heads, len(session.said)
        problems = [*check_chain(session), *check_briefs(session), *check_turns(session)]
    except Damaged as damage:
        return Report("", 0, (str(damage),), ("The record cannot be read as a whole, so nothing is proven.",))
    noted = noted.strip().lower()
    covered = sum(len(batch) for batch in session.plan.batches)
    sentences = [f"{said} turns were read. Each receipt, brief and hash was compared with all that came before it."]
    if noted and noted not in heads:
        problems.append(f"{noted} is not a head of this session: it is now {heads[-1]}. The record was changed, or")
        problems[-1] += " the head is another session's."
    elif noted:
        part = heads.index(noted)
        covered = sum(len(batch) for batch in session.plan.batches[:part])
        sentences.append(f"The head that you noted proves {COVERED}, up to the turn number {covered}.")
    if said > covered:
        sentences.append(f"{said - covered} turns are not covered by {'that' if noted else 'any'} head yet.")
    return Report(heads[-1], said, tuple(problems), (*sentences, *([] if noted else [BLIND]), NEVER))


def check_chain(session: Session) -> Iterator[str]:
    """Each receipt names the head before its batch."""
    for head, batch in zip(session.heads, session.plan.batches, strict=False):
        for id in batch:
            if session.receipts[id].after != head:
                yield f"turns/{id}.md: its receipt names another past than the files before it have"


def check_briefs(session: Session) -> Iterator[str]:
    """The brief of a turn is the one that its receipt names."""
    for id, receipt in session.receipts.items():
        if receipt.brief:
            try:
                session.brief(id)
            except CouncilError as wrong:
                yield str(wrong)


def check_turns(session: Session) -> Iterator[str]:
    """No turn is there that the workflow never asked for."""
    asked = {id for batch in session.plan.batches for id in batch}
    now = {due.id.rpartition("/")[0] for due in session.plan.due}
    for id in session.said:
        if id not in asked and id.rpartition("/")[0] not in now:
            yield f"turns/{id}.md: the workflow never asked for this turn; move it away"
