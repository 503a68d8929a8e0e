"""Rules about dissent: whether it was expressed, and whether the synthesis keeps it."""

from __future__ import annotations

import re

from council.engine.conditions import rule
from council.engine.facts import PromptContext, fact
from council.engine.scene import Scene, Turn, Verdict
from council.protocols.stances import BLOCKING, find_opposed
from council.text import content_words, fold, join_words, one_line, overlap, split_passages
from council.workflow import declare

SYNTHESIS = declare.role(
    "synthesis", "the result of the debate: its first step writes `synthesis.md`, which must keep all dissent"
)

OPPOSED = re.compile(
    r"\bI(?:['’]d| would| must| have to| do| will)?(?: (?:\w+ly|still|also))?"
    r" (?:disagree|object|challenge|oppose|dispute|reject)\b",
    re.I,
)
QUOTED = re.compile(r"^[ \t]*>.*$|“[^“”]*”|\"[^\"\n]*\"", re.M)


@rule
def disagreement(scene: Scene) -> Verdict:
    """Someone wrote "I disagree", "I challenge" or the like in the last step, other than in a quotation."""
    turns = scene.moments()[-1] if scene.turns else ()
    names = [turn.seat.name for turn in turns if OPPOSED.search(QUOTED.sub("", turn.body))]
    reason = f"{join_words(names) if names else 'nobody'} disagreed explicitly"
    return Verdict(bool(names), reason, tally={"disagreed": names})


@rule(author="by", quoted=True)
def dissent_kept(scene: Scene, *, by: str = "") -> Verdict:
    """The last turn of the step `by` (default: of the synthesis) names everyone who still disagrees, and lists every
    blocking item with its owner."""
    written = scene.named(by or scene.role(SYNTHESIS))
    if not written or written[-1].absent:
        return Verdict(False, "there is no synthesis")
    lost = find_missing_dissent(scene, written[-1].whole)
    reason = f"{len(lost)} dissent{'s' if len(lost) > 1 else ''} left out" if lost else "all dissent is kept"
    return Verdict(not lost, reason, tally={"left_out": [f"{turn.seat.label}: {words}" for turn, words in lost]})


@fact
def left_out(context: PromptContext) -> list[str]:
    """In the next round of a phase with `dissent_kept`: the dissents that the previous round left out."""
    return [one_line(item, 600) for item in context.noted("left_out")]


CITED = re.compile(r"(?<![\w/-])(\d\d-[a-z0-9-]+/[a-z][a-z0-9-]*)(?:\.2)?(?![\w/-])")


@rule(author="by")
def cites(scene: Scene, *, by: str = "") -> Verdict:
    """The last turn of the step `by` (default: of the synthesis) cites turns by their ids, and none that does not
    exist."""
    written = scene.named(by or scene.role(SYNTHESIS))
    if not written or written[-1].absent:
        return Verdict(False, "there is no synthesis")
    spoken = {turn.id for turn in scene.turns if turn.phase != written[-1].phase and not turn.absent}
    named = list(dict.fromkeys(CITED.findall(written[-1].whole)))
    wrong = [id for id in named if id not in spoken]
    problems = [f"there is no turn {id}" for id in wrong] or ([] if named else ["it cites no turn by its id"])
    reason = "; ".join(problems) or f"it cites {len(named)} turn{'s' if len(named) > 1 else ''}"
    return Verdict(not problems, reason, tally={"not_cited": problems})


@fact
def not_cited(context: PromptContext) -> list[str]:
    """In the next round of a phase with `cites`: what was wrong with the citations of the previous round."""
    return [one_line(item, 600) for item in context.noted("not_cited")]


DISAGREES = "disagrees"
SAME_WORDS = 0.6
MIN_QUOTED = 4  # words
QUOTATION = re.compile(r"“([^“”]+)”|\"([^\"\n]+)\"")
OPPOSES = re.compile(r"\b(disagree|dissent|oppos|object|reject|against|contest|disput|refus|unconvinced)")


def find_missing_dissent(scene: Scene, synthesis: str) -> list[tuple[Turn, str]]:
    """Each blocking item and each remaining `disagree` that is missing from the synthesis, with its turn."""
    passages = split_passages(synthesis)  # a dissent and its owner's name must be in the same one
    return [
        (turn, words)
        for turn, words in find_dissent(scene)
        if not any(_keeps(passage, turn, words) for passage in passages)
    ]


def find_dissent(scene: Scene) -> list[tuple[Turn, str]]:
    """All dissent by each seat's newest answers: that it disagrees, and its blocking items."""
    dissent = [(turn, DISAGREES) for turn in find_opposed(scene)]
    for turn, items in scene.last_words(BLOCKING).values():
        dissent += [(turn, item) for item in items]
    return dissent


def _keeps(passage: str, turn: Turn, words: str) -> bool:
    called = {fold(turn.seat.name), fold(turn.seat.title), *content_words(str(turn.seat.attributes.get("name", "")))}
    named = any(re.search(rf"\b{re.escape(name)}\b", fold(passage)) for name in called if name)
    if words == DISAGREES:
        return named and (OPPOSES.search(fold(passage)) is not None or _quotes(passage, turn.body))
    return named and overlap(words, passage) >= SAME_WORDS


def _quotes(passage: str, body: str) -> bool:
    """Whether the passage quotes enough words of the turn exactly."""
    quoted = (fold("".join(found.groups(""))).rstrip(".,") for found in QUOTATION.finditer(passage))
    return any(len(words.split()) >= MIN_QUOTED and words in fold(body) for words in quoted)
