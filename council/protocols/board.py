"""What a board's readers are told besides its words: who challenged nobody, and how the check of the document went.

Pure, and nothing here decides anything: the workflow's rules do.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from council.engine.contributions import Addition, Record, addition, remark
from council.engine.scene import Turn
from council.text import fold, join_words, one_line
from council.workflow import declare
from council.workflow.model import Seat

CHALLENGES = declare.answer(
    "challenges", "whose points a seat challenges: readers are told of one that challenges nobody", types=("list",)
)
MOONSHOT = declare.seat("moonshot", "has to give two versions of its position, a moonshot and a stepping stone")
VERSIONS = ("moonshot", "stepping stone")
ACCURATE = declare.answer("accurate", "yes or no, by those who check the synthesis: readers see how many say yes")
CORRECTION = declare.answer("correction", "what must be changed in it, for those who say no", types=("list",))


@remark
def both_versions(turn: Turn, _: Record) -> Iterator[str]:
    """The moonshot's position has to give two versions."""
    if turn.absent or turn.seat.name != MOONSHOT or turn.asked:  # only a position asks for no answers
        return
    if missing := [version for version in VERSIONS if version not in fold(turn.body)]:
        yield f"it names no {' and no '.join(missing)}, and always has to give both"


@remark
def rubber_stamp(turn: Turn, record: Record) -> Iterator[str]:
    """Somebody was to challenge another's point, and did not, or did not say whose it is."""
    if turn.absent or CHALLENGES not in turn.asked:
        return
    others = [seat for seat in record.workflow.all_seats() if seat.name != turn.seat.name]
    challenges = turn.answers.get(CHALLENGES, ())
    if not challenges and not _named(turn.prose, others):
        yield "rubber stamp: it challenges nobody, also when asked again"
    elif challenges and not any(_named(one, others) for one in challenges):
        yield "no challenge of it says whose point it is"


def _named(text: str, seats: Iterable[Seat]) -> bool:
    words = {word for seat in seats for word in (seat.name, seat.title, *_person(seat)) if word}
    return any(re.search(rf"\b{re.escape(fold(word))}\b", fold(text)) for word in words)


def _person(seat: Seat) -> list[str]:
    return str(seat.attributes.get("name") or "").split()


@addition
def checked(record: Record) -> Addition | None:
    """How the last check of the document went, with each correction word for word; none where nobody was asked."""
    turns = next(record.plan.scene.rounds_that_ask(ACCURATE), ())
    if not turns:
        return None
    content = [turn for turn in turns if turn.answers.get(ACCURATE) == "yes"]
    silent = [turn.seat.label for turn in turns if ACCURATE not in turn.answers]
    unheard = f" ({join_words(silent)} not heard)" if silent else ""
    corrected = " after a correction" if turns[0].round > 1 else ""
    text = f"{len(content)} of {len(turns)} find it accurate{corrected}{unheard}."
    objections = tuple(_objection(turn) for turn in turns if turn.answers.get(ACCURATE) == "no")
    return Addition("Checked by the members", text, points=objections)


def _objection(turn: Turn) -> str:
    wanted = "; ".join(f"“{one_line(item, 600)}”" for item in turn.answers.get(CORRECTION, ()))
    return f"{turn.seat.label} does not: {wanted or '(no correction given)'}"
