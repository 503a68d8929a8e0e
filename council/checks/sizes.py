"""What a seat has to read: every turn that may have been spoken by then, with its size but without words."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from string import ascii_letters

from council.engine.orders import order
from council.engine.positions import list_named
from council.engine.scene import RecordedTurn, Scene, Turn
from council.engine.views import View, everything, look, view
from council.protocols.casting import split_source
from council.protocols.consensus import find_score_field
from council.protocols.ledger import is_concern
from council.workflow.model import Phase, Seat, Step, Workflow

BYTES_A_TOKEN = Fraction(5, 2)  # prose has about four, but a bound needs a margin
# A token has several bytes of these. Of any other, such as digits and other scripts, it may have one alone.
PROSE = f"{ascii_letters} \n".encode()
GIST = 80  # tokens of a gist, usually
MOST_GIST = 600  # the maximum: 300 characters of four bytes, and some figures


def estimate_tokens(text: str) -> int:
    return len(text) // 4 + 1


def bound_tokens(text: str) -> int:
    return int(len(text.encode("utf-8", "replace")) / BYTES_A_TOKEN) + 1


def bound_any_tokens(text: str) -> int:
    """The maximum of a text that may be anything, such as a log: of what is no prose, each byte can be a token."""
    data = text.encode("utf-8", "replace")
    others = len(data.translate(None, PROSE))
    return int((len(data) - others) / BYTES_A_TOKEN) + others


@dataclass(frozen=True)
class Size:
    """A number of tokens: the usual one, and the maximum."""

    usual: int = 0
    max_: int = 0

    @classmethod
    def of(cls, text: str) -> Size:
        """The size of a text that somebody gave, which may be anything."""
        return cls(estimate_tokens(text), bound_any_tokens(text) + 1)

    def __add__(self, other: Size) -> Size:
        return Size(self.usual + other.usual, self.max_ + other.max_)


@dataclass
class History:
    """Every turn that may have been spoken so far, with its size but without words.

    A view that depends on words may show fewer of the real turns, but never more.
    """

    workflow: Workflow
    turns: list[Turn] = field(default_factory=list)
    sizes: dict[str, Size] = field(default_factory=dict)

    def spoke(self, phase: Phase, step: Step, round: int, sized: Iterable[tuple[Seat, Size]]) -> None:
        for seat, size in sized:
            made = Turn(
                f"{phase.folder(round, step)}/{seat.name}", phase.name, step.name, round, seat, RecordedTurn("")
            )
            self.turns.append(made)
            self.sizes[made.id] = size

    def scores(self, phase: Phase) -> int:
        """The number of scores given in the phase so far."""
        asked = {step.name for step in phase.steps if find_score_field(self.workflow, phase.name) in dict(step.reply)}
        return sum((turn.phase, turn.step in asked) == (phase.name, True) for turn in self.turns)

    def has_concerns(self) -> bool:
        """Whether somebody may have raised a concern so far, which briefs then list."""
        raised = {step.name for _, step in self.workflow.steps() for name, _ in step.reply if is_concern(name)}
        return any(turn.step in raised for turn in self.turns)

    def may_leave_out(self, step: Step, seats: Iterable[Seat]) -> set[str]:
        """The seats that the order may leave out, because of what was said in the steps it names. One that selects from
        a group leaves at least one of it."""
        spoken = {name for turn in self.turns for name in (turn.phase, turn.step)}
        traits, given = order.traits(step.order.name), order.arguments(step.order)
        if traits.selects and split_source(given["by"])[0] in spoken:
            return {seat.name for seat in [seat for seat in seats if seat.group == given["group"]][1:]}
        return {seat.name for seat in seats} if spoken.intersection(list_named(order, step.order)) else set()

    def heard(self, phase: Phase, step: Step, round: int, seat: Seat) -> Size:
        """The size of the turns that the seat may read in this step of this round."""
        flow = self.workflow
        scene = Scene("", flow.options, flow.groups, tuple(self.turns), roles=flow.roles)
        scene = scene.at(phase.name, round, phase.max_rounds)
        by_words = [ref for ref in step.sees if ref.name in view.known and not view.traits(ref.name).by_place]
        if not all(view.traits(ref.name).one_each for ref in by_words):
            return self._sum(everything(scene))  # it may show any turn
        largest: dict[str, Size] = {}
        for turn in self.turns if by_words else ():
            size, known = self.sizes[turn.id], largest.get(turn.seat.about, Size())
            largest[turn.seat.about] = Size(max(size.usual, known.usual), max(size.max_, known.max_))
        placed = look([ref for ref in step.sees if ref not in by_words], seat, scene)
        return sum(largest.values(), self._sum(placed))

    def _sum(self, seen: View) -> Size:
        return sum((Size(GIST, MOST_GIST) if one.gist else self.sizes[one.turn.id] for one in seen), Size())
