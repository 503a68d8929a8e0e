"""Who changed their mind in a debate, whose argument it was, and whether the debate changed the answer.

A change of mind is a stance that differs from the one that the seat gave before. In a debate with scores instead of
stances, it is a score at least `STEP` points away from the seat's previous one. (Passing a workflow's target is not a
change of mind: 89 to 90 is one point.)

A change is *persuaded* if the seat names a flaw in what it said before, and words of that are in a peer's turn that it
had read, and not equally well in its own turns. It is *explained* if the seat names a flaw that is in no such turn, or
if one of its concerns was settled (or for a fall, raised) since its previous turn, and otherwise *unexplained*. If a
step asks for no `flaw`, only sentences of the prose and of a `rationale` count in which the seat says that it moved
("Marcus convinced me: …"). So a persuasion may be missed, if a seat rewords an argument completely.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any

from council.engine.conditions import rule
from council.engine.scene import Scene, Turn, Verdict, describe_silent
from council.protocols.concerns import find_reasons
from council.protocols.stances import AGREE, DISAGREE, MIXED, STANCE
from council.replies.quotes import passages
from council.text import content_words, fold, join_words, one_line, split_passages, stands_in
from council.workflow import declare
from council.workflow.model import Workflow

FLAW = declare.answer(
    "flaw",
    "why the stance has changed: the program looks for that argument in what the seat had read",
    types=("text",),
)
RATIONALE = declare.answer(
    "rationale", "why a seat answers so: a sentence in it may say what changed its mind", types=("text",)
)
ANSWER = declare.answer("answer", "in a phase with the role `control`: the answer of that seat alone")
CONTROL = declare.role(
    "control", "one seat answers alone, for comparison: it is not part of the debate", option="control"
)
declare.option(CONTROL, "turned on by `--control`: one seat also answers alone, in the phase with this role")
PERSUADED, EXPLAINED, UNEXPLAINED = KINDS = ("persuaded", "explained", "unexplained")
STEP = 10  # points of 100
SAME_ARGUMENT = 0.6  # of the content words in a sentence of the named flaw, found in one passage
MARGIN = 0.001  # a share this much higher is higher
LONGEST_VOTE = 60  # characters of an answer in a reason
MIN_WORDS = 3  # content words: fewer are not enough to recognize an argument
LABEL = re.compile(r"\bMember [A-Z]{1,2}\b|\bYou\b")
NO_FLAW = re.compile(
    r"\W*(?:none|no flaw|nothing|nil|n/?a|not applicable|keine?r?s?|nichts)(?=\W*$|\s*[.:;,(–—-])", re.I
)
SENTENCE = re.compile(r"(?<=[.!?…”\"])\s+")
QUOTED = re.compile(r"“([^“”]+)”|\"([^\"\n]+)\"|^[ \t]*>(.+)$", re.M)
MOVED = re.compile(
    r"\bI(?: have|['’]ve| must| do| hereby)?(?: now| since| therefore| also)?"
    r" (?:changed? my (?:mind|stance|position|view)|(?:was|stand) (?:wrong|corrected|mistaken)|concede|withdr[ae]w"
    r"|revised? my|raised? my|lower(?:ed)? my|overlooked|underrated|no longer)\b"
    r"|\bI(?: am|['’]m| was)? now (?:agree|accept|think|see|believe|support|say|persuaded|convinced)\b"
    r"|\b(?:convinced|persuaded|moved|swayed|won) me\b|\bI (?:am|was) (?:convinced|persuaded|moved|swayed) by\b",
    re.I,
)
TAKEN_BACK = re.compile(r"\b(?:not|never|nobody|nothing|none|no one|neither|nor|hardly|cannot)\b|n['’]t\b", re.I)


@dataclass(frozen=True)
class Flip:
    """A seat that changed its mind in `turn`. The `flaw` is one passage of that turn, and `source` the peer's turn that
    has words of it. `concerns` are the ids of those that explain it: settled before a rise, raised before a fall."""

    turn: Turn
    before: Any
    after: Any
    flaw: str
    kind: str
    source: Turn | None = None
    concerns: tuple[str, ...] = ()


def find_measured_field(workflow: Workflow) -> str:
    """The answer that shows changes of mind: the stance, else the first score from 0 to 100; empty for none.

    Where code is tried, such a score says how sure somebody is of code, and whether it helped is for the tests to say.
    """
    steps = [step for phase, step in workflow.steps() if not is_control(phase.name, workflow)]
    asked = [answer for step in steps for answer in step.reply]
    if any(name == STANCE for name, _ in asked):
        return STANCE
    if workflow.benches:
        return ""
    scores = (name for name, kind in asked if (kind.type, kind.low, kind.high) == ("range", 0, 100))
    return next((name for name in scores if declare.answer.is_opinion(name)), "")


def find_flips(scene: Scene, field: str = STANCE) -> tuple[Flip, ...]:
    """Every change of mind, oldest first. An absent seat has not moved."""
    previous: dict[str, Any] = {}
    flips = []
    for turn in (turn for turns in find_rounds(scene, field) for turn in turns):
        said = turn.answers.get(field)
        before = previous.get(turn.seat.name)
        if said is not None and before is not None and _moved(before, said):
            flips.append(_flip(turn, before, said, scene))
        if said is not None and (before is None or _moved(before, said)):
            previous[turn.seat.name] = said
    return tuple(flips)


def find_rounds(scene: Scene, field: str) -> list[tuple[Turn, ...]]:
    """The turns of each round that asked for this answer, oldest first."""
    return [turns for turns in reversed(list(scene.rounds_that_ask(field))) if not is_control(turns[0].phase, scene)]


def is_control(phase: str, of: Workflow | Scene) -> bool:
    """Whether a phase is the control, which is not part of the debate."""
    return phase == of.role(CONTROL)


def _moved(before: Any, said: Any) -> bool:
    if isinstance(before, (int, float)) and isinstance(said, (int, float)):
        return abs(said - before) >= STEP
    return fold(str(before)) != fold(str(said))


def _flip(turn: Turn, before: Any, said: Any, scene: Scene) -> Flip:
    flaws = find_flaws(turn)
    for flaw in flaws:
        if source := find_source(flaw, turn, scene):
            return Flip(turn, before, said, flaw, PERSUADED, source)
    if flaws:
        return Flip(turn, before, said, flaws[0], EXPLAINED)
    concerns, answer = find_reasons(scene, turn, is_rise(before, said))
    return Flip(turn, before, said, "", EXPLAINED if concerns else UNEXPLAINED, answer, concerns)


def is_rise(before: Any, said: Any) -> bool:
    """Whether a seat moved towards agreement."""
    if isinstance(before, (int, float)) and isinstance(said, (int, float)):
        return said > before
    order = (DISAGREE, MIXED, AGREE)
    return said not in order or before not in order or order.index(said) > order.index(before)


def find_flaws(turn: Turn) -> tuple[str, ...]:
    """What the seat says moved it, each in one piece of the turn: its answer if it was asked, else the sentences of its
    own words that say so."""
    if FLAW in turn.asked:
        flaw = str(turn.answers.get(FLAW) or "").strip()
        return () if NO_FLAW.match(flaw) or not content_words(flaw) else (flaw,)
    parts = [*split_passages(turn.prose), *split_passages(str(turn.answers.get(RATIONALE, "")))]
    said = (sentence.strip() for part in parts for sentence in SENTENCE.split(part))
    return tuple(one for one in said if _says_it_moved(one) and stands_in(one, turn.whole))


def _says_it_moved(sentence: str) -> bool:
    """Whether a sentence says that the seat moved; "nobody has convinced me" does not."""
    sentence = " ".join(sentence.split())
    said = MOVED.search(sentence)
    return said is not None and not TAKEN_BACK.search(sentence, 0, said.end())


def find_source(flaw: str, turn: Turn, scene: Scene) -> Turn | None:
    """The first turn that the seat had read that contains this argument, better than its own turns do."""
    names = {word for one in scene.turns for word in _seat_words(one)}
    own = [part for one in _before(turn, scene) if one.seat.name == turn.seat.name for part in split_passages(one.body)]
    for words in _arguments(flaw, names):
        least = max([SAME_ARGUMENT, *(_share(words, part) + MARGIN for part in own)])
        for peer, text in find_read_turns(turn, scene):
            if any(_share(words, part) >= least for part in split_passages(text)):
                return peer
    return None


def _before(turn: Turn, scene: Scene) -> Iterator[Turn]:
    return takewhile(lambda one: one.id != turn.id, scene.turns)


def _arguments(flaw: str, names: set[str]) -> Iterator[set[str]]:
    """The content words of each quotation and sentence in a flaw, and of the whole flaw, without names."""
    pieces = ["".join(found.groups("")) for found in QUOTED.finditer(flaw)]
    for piece in (*pieces, *SENTENCE.split(flaw), flaw):
        words = {word.removesuffix("'s").removesuffix("’s") for word in content_words(LABEL.sub(" ", piece))} - names
        if len(words) >= MIN_WORDS:
            yield words


def _seat_words(turn: Turn) -> frozenset[str]:
    seat = turn.seat
    return content_words(f"{seat.name} {seat.title} {seat.attributes.get('name') or ''}")


def _share(words: set[str], passage: str) -> float:
    return len(words & content_words(passage)) / len(words)


def find_read_turns(turn: Turn, scene: Scene) -> list[tuple[Turn, str]]:
    """The turns of other seats in this turn's brief, each with the words that were shown.

    The recorded brief decides. Labels are ignored, because each reader has its own.
    """
    shown = {LABEL.sub("", one.text) for one in passages(turn.said.brief)}
    found = []
    for peer in _before(turn, scene):
        if peer.seat.name != turn.seat.name and not peer.absent:
            found += [(peer, text) for text in (peer.body, peer.gist) if LABEL.sub("", text) in shown][:1]
    return found


# ---- did the debate help? ----


@dataclass(frozen=True)
class RoundCount:
    """The answers of one round. `answer` is the one that more than half of all asked seats gave, or None."""

    turns: tuple[Turn, ...]
    counts: Mapping[str, int] = field(default_factory=dict)
    mean: float | None = None

    @property
    def of(self) -> int:
        return len(self.turns)

    @property
    def answer(self) -> str | None:
        return next((answer for answer, votes in self.counts.items() if 2 * votes > self.of), None)


@dataclass(frozen=True)
class CallTotals:
    calls: int
    usd: float | None


@dataclass(frozen=True)
class Comparison:
    """The first round that asked compared with the last, and what each took. `control` is one seat's answer alone."""

    first: RoundCount
    last: RoundCount
    flips: tuple[Flip, ...]
    spent: CallTotals
    before: CallTotals
    control: Turn | None = None

    @property
    def same(self) -> bool:
        """Whether the debate ended with its first round's answer; for scores, within `STEP` points of it."""
        if self.first.mean is not None and self.last.mean is not None:
            return abs(self.last.mean - self.first.mean) < STEP
        return self.first.answer == self.last.answer

    @property
    def kinds(self) -> dict[str, int]:
        counts = Counter(flip.kind for flip in self.flips)
        return {kind: counts[kind] for kind in KINDS}


def compare_rounds(scene: Scene, field: str = STANCE) -> Comparison | None:
    """Compare the first round with the last; None if nobody was asked for this answer."""
    debate = [turn for turn in scene.turns if not is_control(turn.phase, scene)]
    asked = find_rounds(scene, field)
    if not asked:
        return None
    last = asked[0][-1]
    control = [turn for turn in scene.turns if is_control(turn.phase, scene)]
    return Comparison(
        first=count_answers(asked[0], field),
        last=count_answers(asked[-1], field),
        flips=find_flips(scene, field),
        spent=sum_calls(debate),
        before=sum_calls([*_before(last, scene), last]),
        control=control[-1] if control else None,
    )


def count_answers(turns: tuple[Turn, ...], field: str) -> RoundCount:
    """Count the answers of a round. Absent and unreadable seats stay in the total, without a vote or points."""
    said = [turn.answers.get(field) for turn in turns]
    heard = [one for one in said if one is not None]
    if heard and all(isinstance(one, (int, float)) for one in heard):
        return RoundCount(turns, mean=round(math.fsum(heard) / len(turns), 1))
    return RoundCount(turns, dict(Counter(fold(str(one)) for one in heard).most_common()))


def sum_calls(turns: Iterable[Turn]) -> CallTotals:
    """The calls of these turns and their price. A second try is a second call; persons and machines make none."""
    called = [turn for turn in turns if not turn.seat.is_person and turn.said.trial is None]
    prices = [said.usd for turn in called for said in (turn.first, turn.said) if said]
    usd = None if None in prices else round(math.fsum(price or 0.0 for price in prices), 6)
    return CallTotals(sum(2 if turn.first or turn.problems else 1 for turn in called), usd)


def read_control_answer(turn: Turn) -> str | None:
    """The control's answer; None if it cannot be read."""
    answer = turn.answers.get(ANSWER)
    return None if answer is None else fold(str(answer))


@rule(reads=("field",), equal=True)
def split(scene: Scene, field: str = STANCE) -> Verdict:
    """The seats' newest answers differ. A seat that falls silent keeps its last answer."""
    said = {name: fold(str(value)) for name, (_, value) in scene.last_words(field).items()}
    counts = Counter(said.values()).most_common()
    silent = [turn for turn in next(scene.rounds_that_ask(field), ()) if turn.seat.name not in said]
    votes = (
        join_words(f"{number} {one_line(answer, LONGEST_VOTE)}" for answer, number in counts) if counts else "nothing"
    )
    reason = f"{field}: {votes}" + (f" ({describe_silent(silent, field)})" if silent else "")
    tally = {field: dict(counts), "not_heard": [turn.seat.name for turn in silent]}
    return Verdict(len(counts) > 1, reason, tally=tally)


@rule(reads=("field",), equal=True)
def moved(scene: Scene, field: str = STANCE) -> Verdict:
    """Some seat changed its answer since it was last asked; for a score, by 10 points or more."""
    now = {turn.id for turn in scene.latest(field)}
    names = [flip.turn.seat.name for flip in find_flips(scene, field) if flip.turn.id in now]
    return Verdict(bool(names), f"{join_words(names)} moved" if names else "nobody moved", tally={"moved": names})
