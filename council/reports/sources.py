"""From a fact in a document to the turn that it was read from. What an author claims gets no source.

While a document is made, a reference to a turn is a mark that no author can write. At the end it becomes a link into
the record, if that is filed beside the document, or else the turn's id, which `council show SESSION TURN` prints.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import quote

from council.engine.planner import Plan
from council.engine.scene import Turn
from council.protocols import outcome
from council.text import mark_code, slug
from council.workflow.model import Seat

BEGIN, BETWEEN, END = "\ue0f0", "\ue0f1", "\ue0f2"
WHOLE = "whole"  # in place of a turn's id
POINT_TO_ALL = f"{BEGIN}{WHOLE}{BETWEEN}All that was said{END}"  # nothing where no record is filed beside the document
MARKS = str.maketrans("", "", BEGIN + BETWEEN + END)
NO_MARK = f"[^{BEGIN}{BETWEEN}{END}]*"  # what an author wrote with such a mark ends nothing of ours
REFERENCE = re.compile(f"{BEGIN}({NO_MARK}){BETWEEN}({NO_MARK}){END}")
WRITTEN = re.compile(r"(?<![\w/`.-])\[?`?(\d\d-[a-z0-9-]+/[a-z0-9-]+)`?\]?(?![\w/`-]|\()")
OWNER = re.compile(r"[*_`]*([^:*_`\n]{1,80}?)[*_`]*:")
ASIDE = re.compile(r"\(([^()\n]{1,80})\)")
STANDS = re.compile(
    r"[*_]*([^\W_][\w -]{0,60}?)[*_]* (?:\(\d+\) )?"
    r"(?:still |would |will |is (?:undecided|unsure|not|against|opposed)\b|disagree[sd]?\b|object(?:s|ed)?\b|holds?\b"
    r"|stays?\b|block(?:s|ed)?\b)"
)
NAMES_END = re.compile(r",|;| and | & |/")


@dataclass(frozen=True)
class Sources:
    """The turns of a finished debate, and the number of each round."""

    turns: Mapping[str, Turn]
    numbers: Mapping[tuple[str, int], int]

    def refer(self, turn: Turn | None) -> str:
        """A reference to a turn; empty for none."""
        if turn is None:
            return ""
        number = self.numbers.get((turn.phase, turn.round))
        label = f"{name_seat(turn.seat)}, {f'round {number}' if number else outcome.heading(turn.step).lower()}"
        return f"{BEGIN}{turn.id}{BETWEEN}{label}{END}"

    def point(self, turn: Turn | None, text: str) -> str:
        """A text that is a link to a turn where there are links, and only the text where there are none."""
        return f"{BEGIN}{turn.id}{BETWEEN}={text}{END}" if turn else text

    def cite(self, text: str) -> str:
        """An author's text, with a reference in place of each id of a turn that the author cites. Nothing is added."""
        lines = mark_code(text.translate(MARKS).split("\n"))
        return "\n".join(line if code else WRITTEN.sub(self._put, line) for line, code in lines)

    def find_owners(self, item: str) -> set[str]:
        """The seats that an item of a list is ascribed to, whether they were ever heard or not."""
        first = slug(item, len(item)).removeprefix("the-")
        names = {slug(name) for name in _find_names(item)}
        seats = {turn.seat.name: turn.seat for turn in self.turns.values()}.values()
        called = {seat.name: {seat.name, slug(name_seat(seat))} for seat in seats}
        return {
            seat
            for seat, own in called.items()
            if own & names or any(f"{first}-".startswith(f"{name}-") for name in own)
        }

    def _put(self, found: re.Match[str]) -> str:
        turn = self.turns.get(found[1])
        return self.refer(turn) if turn else found[0]


def name_seat(seat: Seat) -> str:
    """The seat's short name: what it stands for, without a person's name."""
    return seat.title


def find_sources(plan: Plan) -> Sources:
    """What a document of this debate can refer to."""
    return Sources({turn.id: turn for turn in plan.scene.turns}, outcome.number_rounds(plan))


def _find_names(words: str) -> Iterator[str]:
    """The names at the beginning of an item, as in `Test and Security: …` or `Test disagrees`, and in brackets."""
    owners = [found[1].partition(" (")[0] for pattern in (STANDS, OWNER) if (found := pattern.match(words))]
    for part in [*owners, *ASIDE.findall(words)]:
        yield from NAMES_END.split(re.sub(r"^(?:raised|held|argued|proposed)?(?: for)? ?by ", "", part))


def resolve(text: str, plan: Plan, record: str = "") -> str:
    """The document with its references as links into the folder `record`, or as the ids of the turns. Of marks that
    somebody wrote, only the words between them stay."""
    sources = find_sources(plan)
    ours = {sources.refer(turn) for turn in sources.turns.values()} | {POINT_TO_ALL}

    def put(found: re.Match[str]) -> str:
        id, label = found[1], found[2].replace("[", "(").replace("]", ")")
        if found[0].replace("\\", "") not in ours and not (id in sources.turns and label.startswith("=")):
            return f"{id} {found[2]}"
        if id == WHOLE:
            return f"[{label}]({quote(record)}/transcript.md)" if record else ""
        if record:
            return f"[{label.removeprefix('=')}]({quote(record)}/turns/{id}.md)"
        return label[1:] if label.startswith("=") else f"`{id}`"

    return REFERENCE.sub(put, text).translate(MARKS)
