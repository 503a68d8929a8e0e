"""Who should sit: an analysis of what the topic touches names specialists from a list, and only they take part.

The list is the group itself, so nobody else can be seated. An analysis that names nobody on it seats all of them:
too many specialists are better than too few.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from council.engine.conditions import rule
from council.engine.facts import PromptContext, fact
from council.engine.orders import Batches, order, shuffle
from council.engine.scene import Scene, Turn, Verdict
from council.errors import UsageError
from council.protocols.casting import MARKS, NAME_END, find_mentioned, split_source
from council.text import join_words, one_line
from council.workflow import declare
from council.workflow.model import IMPACT, Seat, Workflow

ANALYSIS = declare.option("analysis", "whether the debate begins with an analysis of who should sit")
LIST = declare.option("specialists", "the list that the members come from: `auto` for the nearest, or a kit's name")
PARTS = declare.answer(
    "parts", "from an analysis: the parts that the topic touches, `Part: what changes`", types=("list",)
)
HINTS = ("touches", "paths", "keywords")  # what a list says of a specialist, for the analysis


@dataclass(frozen=True)
class Seating:
    """Who sits because of an analysis. `seated` says why of each; `unknown` was named and is not on the list. `all_of`
    says why the whole list sits; empty if the analysis chose."""

    turn: Turn
    seated: Mapping[str, str]
    left_out: tuple[Seat, ...]
    unknown: tuple[str, ...]
    all_of: str = ""

    @property
    def parts(self) -> tuple[str, ...]:
        """The parts that the topic touches, as the analysis says them."""
        return tuple(map(str, self.turn.answers.get(PARTS, ())))

    @property
    def reason(self) -> str:
        """What decided it, in the analysis's own words: its only answer that is no list."""
        return " ".join(said for said in self.turn.answers.values() if isinstance(said, str))


def read_seating(listed: Iterable[Seat], scene: Scene, by: str) -> Seating | None:
    """What the newest analysis makes of a list of specialists; None if there was none."""
    step, name = split_source(by)
    turns, listed = scene.named(step), tuple(listed)
    if not turns:
        return None
    others = {seat.name: seat.title for group in scene.groups.values() for seat in group if seat not in listed}
    titles = {seat.name: seat.title for seat in listed}
    seated: dict[str, str] = {}
    unknown = []
    for item in turns[-1].answers.get(name, ()):
        head, *rest = NAME_END.split(str(item).strip(MARKS), maxsplit=1)
        named = find_mentioned(head, titles) | find_mentioned(head, {seat: seat for seat in titles})
        seated |= {seat: "".join(rest).strip(f"{MARKS}:)") for seat in named if seat not in seated}
        if not named and not find_mentioned(head, others):
            unknown.append(one_line(head.strip(MARKS), 60))
    if seated:
        ordered = {seat: seated[seat] for seat in titles if seat in seated}
        left_out = tuple(seat for seat in listed if seat.name not in seated)
        return Seating(turns[-1], ordered, left_out, tuple(unknown))
    lost = "was not heard" if turns[-1].absent else turns[-1].describe_silence(name) or "names nobody on the list"
    return Seating(turns[-1], dict.fromkeys(titles, ""), (), tuple(unknown), f"the analysis {lost}")


@order(sources=("by",), selects=True)
def seated(seats: tuple[Seat, ...], scene: Scene, *, by: Any, group: Any, every: Any = 1) -> Batches:
    """As `shuffle`, without the seats of `group` that the answer `by` does not name. If it names none, all sit."""
    batches = shuffle(seats, scene, group=group, every=every)
    found = read_seating((seat for seat in seats if seat.group == group), scene, by)
    return [(seat,) for (seat,) in batches if found is None or seat.group != group or seat.name in found.seated]


@rule(sources=("of",), informs=True)
def names_seats(scene: Scene, of: Any, *, group: Any) -> Verdict:
    """The answer `of` names at least one seat of `group`."""
    if group not in scene.groups:
        raise UsageError(f'the rule "names_seats" names the group "{group}", which the workflow does not have')
    found = read_seating(scene.groups[group], scene, of)
    if found is None:
        return Verdict(False, "nothing was analysed")
    return Verdict(not found.all_of, describe_seating(found, len(scene.groups[group])))


def describe_seating(found: Seating, listed: int) -> str:
    """Who sits, of how many, and what was named in vain, in one line."""
    chosen = f"{join_words(found.seated)}, of {listed} on the list"
    told = f"{found.all_of}, so all {listed} on the list sit" if found.all_of else chosen
    return told + (f"; not on the list, so not seated: {', '.join(found.unknown)}" if found.unknown else "")


def find_seating(workflow: Workflow, scene: Scene) -> Seating | None:
    """Who of the members sits because of the workflow's analysis; None without one."""
    source = next((step.order.args["by"] for _, step in workflow.steps() if order.traits(step.order.name).selects), "")
    return read_seating(workflow.members, scene, source) if source else None


def list_table(workflow: Workflow, scene: Scene) -> tuple[Seat, ...]:
    """The members who take part, and the seats that share a step with them. Before an analysis, all may."""
    found = find_seating(workflow, scene)
    return tuple(seat for seat in workflow.table if found is None or seat not in found.left_out)


def is_analysis(phase: str, of: Workflow | Scene) -> bool:
    """Whether a phase says who should sit, before the debate."""
    return phase == of.role(IMPACT)


@fact
def listed(context: PromptContext) -> list[dict[str, str]]:
    """For an analysis: the specialists to choose from, each with `title`, `focus`, `touches`, `paths`, `keywords`."""
    fields = ("focus", *HINTS)
    seats = context.workflow.members
    return [{"title": seat.title, **{name: str(seat.attributes.get(name) or "") for name in fields}} for seat in seats]


@fact
def always(context: PromptContext) -> list[str]:
    """For an analysis: those who sit in any case, by title."""
    members = context.workflow.members
    return [seat.title for seat in context.workflow.table if seat not in members]
