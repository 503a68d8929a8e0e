"""What reports say about a board: who did not challenge anybody, and the result of checking the document.

Nothing here decides anything: the workflow's rules do.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from council.engine.contributions import Addition, Record, addition, remark
from council.engine.scene import Turn
from council.text import fold, one_line
from council.workflow import declare
from council.workflow.model import Seat

CHALLENGES = declare.answer(
    "challenges", "whose points a seat challenges: reports name a seat that challenges nobody", types=("list",),
    concern="challenge",
)  # fmt: skip
declare.answer("risks", "what may go wrong: each item of a list is kept as a concern", concern="risk")
MOONSHOT = declare.seat("moonshot", "must give two versions of its position, a moonshot and a stepping stone")
VERSIONS = ("moonshot", "stepping stone")
ACCURATE = declare.answer("accurate", "yes or no, from seats that check the synthesis: reports say how many say yes")
CORRECTION = declare.answer("correction", "what must be changed in it, from seats that say no", types=("list",))


@remark
def both_versions(turn: Turn, _: Record) -> Iterator[str]:
    """Whether the moonshot's position gives both versions, in a workflow that does not ask again for them."""
    if turn.absent or turn.seat.name != MOONSHOT or turn.asked or turn.seat.gives:
        return  # only a position asks for no answers
    if missing := [version for version in VERSIONS if version not in fold(turn.body)]:
        yield f"it does not give a {' or a '.join(missing)}; both are required"


@remark
def rubber_stamp(turn: Turn, record: Record) -> Iterator[str]:
    """Whether a seat challenges another's point as asked, and says whose point it is."""
    if turn.absent or CHALLENGES not in turn.asked:
        return
    others = [seat for seat in record.workflow.all_seats() if seat.name != turn.seat.name]
    challenges = turn.answers.get(CHALLENGES, ())
    if not challenges and not _named(turn.prose, others):
        yield "rubber stamp: it challenges nobody, even when asked again"
    elif challenges and not any(_named(one, others) for one in challenges):
        yield "none of its challenges says whose point it is"


def _named(text: str, seats: Iterable[Seat]) -> bool:
    words = {
        word for seat in seats for word in (seat.name, seat.title, *str(seat.attributes.get("name") or "").split())
    }
    return any(re.search(rf"\b{re.escape(fold(word))}\b", fold(text)) for word in words if word)


@addition
def checked(record: Record) -> Addition | None:
    """The result of the last check of the document, with each correction word for word; None if nobody was asked."""
    turns = next(record.plan.scene.rounds_that_ask(ACCURATE), ())
    if not turns:
        return None
    content = [turn for turn in turns if turn.answers.get(ACCURATE) == "yes"]
    silent = "; ".join(f"{turn.seat.label} {why}" for turn in turns if (why := turn.describe_silence(ACCURATE)))
    unheard = f" ({silent})" if silent else ""
    corrected = " after a correction" if turns[0].round > 1 else ""
    text = f"{len(content)} of {len(turns)} find it accurate{corrected}{unheard}."
    objections = []
    for turn in (turn for turn in turns if turn.answers.get(ACCURATE) == "no"):
        wanted = "; ".join(f"“{one_line(item, 600)}”" for item in turn.answers.get(CORRECTION, ()))
        objections.append(f"{turn.seat.label} does not: {wanted or '(no correction given)'}")
    return Addition("Checked by the members", text, points=tuple(objections))
