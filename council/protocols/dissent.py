"""Rules about dissent: whether it was expressed, and whether the synthesis keeps it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from council.engine.conditions import rule
from council.engine.facts import PromptContext, fact
from council.engine.scene import Scene, Turn, Verdict
from council.protocols.ledger import read_ledger
from council.protocols.settling import ends_concern, split_ids
from council.protocols.stances import AGREE, BLOCKING, DISAGREE, MIXED, STANCE, find_opposed
from council.text import content_words, fold, join_words, one_line, overlap
from council.workflow import declare, gates

SYNTHESIS = declare.role(
    "synthesis", "the result of the debate: its first step writes `synthesis.md`, which must keep all dissent"
)

OPPOSED = re.compile(
    r"\bI(?:['’]d| would| must| have to| do| will)?(?: (?:\w+ly|still|also))?"
    r" (?:disagree|object|challenge|oppose|dispute|reject|differ|push back|take issue|part (?:ways|company))\b"
    r"|\bI(?: still| really)?(?: do not| don['’]t| cannot| can['’]t| will not| won['’]t)"
    r" (?:agree|accept|endorse|support)\b"
    r"|\bI(?: am|['’]m| remain)(?: still| strongly)? (?:not convinced|unconvinced|opposed|against)\b"
    r"|\bmy (?:actual|real|main|core|central|remaining|standing|strongest|biggest|primary)"
    r" (?:objection|disagreement)s?\b"
    r"(?! (?:was|were|has been|have been)\b)"
    r"(?![^.!?\n]{0,200}\b(?:withdrawn|resolved|settled|answered|addressed|gone|no longer)\b)",
    re.I,
)
QUOTED = re.compile(r"^[ \t]*>.*$|“[^“”]*”|\"[^\"\n]*\"", re.M)


@rule
def disagreement(scene: Scene) -> Verdict:
    """Someone wrote "I disagree", "I challenge" or the like in the last step, other than in a quotation."""
    # A person who approves at a gate says nothing for or against: it is still the step before it that counts.
    turns = next((turns for turns in reversed(scene.moments()) if gates.GATE not in turns[0].asked), ())
    names = [turn.seat.name for turn in turns if OPPOSED.search(QUOTED.sub("", turn.body))]
    reason = f"{join_words(names) if names else 'nobody'} disagreed explicitly"
    return Verdict(bool(names), reason, tally={"disagreed": names})


LEFT_OUT = "left_out"


@rule(author="by", quoted=True)
def dissent_kept(scene: Scene, *, by: str = "") -> Verdict:
    """The last turn of the step `by` (default: of the synthesis) names everyone who still disagrees, and lists every
    blocking item with its owner."""
    written = scene.named(by or scene.role(SYNTHESIS))
    if not written or written[-1].absent:
        return Verdict(False, "there is no synthesis")
    lost = find_missing_dissent(scene, written[-1].whole)
    reason = f"{len(lost)} dissent{'s' if len(lost) > 1 else ''} not found in it" if lost else "all dissent is kept"
    return Verdict(not lost, reason, tally={LEFT_OUT: [f"{turn.seat.label}: {words}" for turn, words in lost]})


@fact
def left_out(context: PromptContext) -> list[str]:
    """In the next round of a phase with `dissent_kept`: the dissents that the previous round left out."""
    return [one_line(item, 600) for item in context.noted(LEFT_OUT)]


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
MIN_REASON = 2  # words of content, below a heading such as "Dissents"
QUOTATION = re.compile(r"“([^“”]+)”|\"([^\"\n]+)\"")
OPPOSES = re.compile(
    r"\b(?:disagree|dissent|oppos|object|reject|against|contest|disput|refus|unconvinced|unpersuaded|outlier|minority"
    r"|h(?:o|e)ld(?:s|ing)?[ -]?out|not (?:\w+ )?(?:convinced|persuaded)|s[ck]eptic|push(?:es|ed|ing)? back|pushback"
    r"|differ(?:s|ed)?\b|part(?:s|ed) (?:ways|company)|t(?:akes?|ook) issue|vot(?:es?|ed) no"
    r"|(?:not|cannot) (?:agree|accept|endorse|support|sign|share))"
    r"|n['’]t (?:\w+ )?(?:agree|accept|endorse|support|sign|share|convinced|persuaded)\b"
)
# A sentence that says that the dissent is over keeps nothing of it.
GIVEN_UP = re.compile(
    r"\bno longer (?:\w+ )?(?:disagree|dissent|oppos|object|reject|against|contest|disput|refus)"
    r"|\b(?:withdrew|withdrawn|withdraws|came round|agrees now|now agrees)\b"
)
AGREES = re.compile(r"\bagree[sd]?\b")
PASSAGE_END = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*+•]\s|\d+[.)]\s|\||#{1,6}\s))")
LIST_ITEM = re.compile(r"\s*(?:[-*+•]|\d+[.)])\s")
TITLE = re.compile(r"\s*(?:#{1,6}\s.*|(\*\*|__)[^*_\n]+\1:?)\s*")
SENTENCE_END = re.compile(r"(?<=[.!?;])\s+")


def find_missing_dissent(scene: Scene, synthesis: str) -> list[tuple[Turn, str]]:
    """Each blocking item and each remaining `disagree` that is missing from the synthesis, with its turn."""
    return find_missing(synthesis, find_dissent(scene))


def find_missing(text: str, dissent: Iterable[tuple[Turn, str]]) -> list[tuple[Turn, str]]:
    """What a text does not keep of these dissents: blocking items in their words, or DISAGREES."""
    passages = list(_split_in_context(text))  # a dissent and its owner's name must be in the same one
    return [
        (turn, words)
        for turn, words in dissent
        if not any(_keeps(passage, context, turn, words) for passage, context in passages)
    ]


def _split_in_context(text: str) -> Iterator[tuple[str, str]]:
    """Each passage with its heading, and with the lines above it that introduce a list and end with a colon."""
    title = ""
    leads: list[tuple[int, str]] = []
    for passage in filter(str.strip, PASSAGE_END.split(text)):
        first = passage.lstrip("\n")
        depth = len(first) - len(first.lstrip()) + (LIST_ITEM.match(first) is not None)
        if heading := TITLE.match(first):
            title, leads = heading.group().strip(), []
        leads = [lead for lead in leads if lead[0] < depth]
        yield passage, "\n".join([title, *(words for _, words in leads)])
        if passage.rstrip(" *_").endswith(":"):
            leads.append((depth, passage))


def find_dissent(scene: Scene) -> list[tuple[Turn, str]]:
    """All dissent by each seat's newest answers: that it disagrees, and its blocking items."""
    dissent = [(turn, DISAGREES) for turn in find_opposed(scene)]
    for turn, items in scene.last_words(BLOCKING).values():
        dissent += [(turn, words) for item in items if not ends_concern(str(item)) for words in _read(str(item), scene)]
    return dissent


def _read(item: str, scene: Scene) -> list[str]:
    """An item in words: one that only names concerns by their ids has the words in which each was raised."""
    ids, rest, _ = split_ids(item)
    return [one.opened.text for one in read_ledger(scene) if not rest and one.id in ids] or [item]


def _keeps(passage: str, context: str, turn: Turn, words: str) -> bool:
    """Whether a passage keeps a dissent. Its owner's name, and that it is a dissent, may be in the heading above it."""
    names = _names_of(turn.seat.name, turn.seat.title, str(turn.seat.attributes.get("name", "")))
    if not names.search(fold(f"{context}\n{passage}")):
        return False
    if words != DISAGREES:
        return overlap(words, passage) >= SAME_WORDS
    standing = " ".join(one for one in SENTENCE_END.split(fold(passage)) if not GIVEN_UP.search(one))
    under = OPPOSES.search(fold(context)) and not AGREES.search(standing)
    if under and len(content_words(names.sub("", standing))) >= MIN_REASON:
        return True
    return OPPOSES.search(standing) is not None or _quotes(passage, turn.body) or _answers(standing, turn)


def _answers(passage: str, turn: Turn) -> bool:
    """Whether the passage says which answer to the question itself the seat gave, as in `Ava says yes`."""
    stance = fold(str(turn.answers.get(STANCE, "")))
    said = rf"\b(?:say|said|says|vot(?:es?|ed)|answer(?:s|ed)?|stay(?:s|ed)?)\W+(?:\w+\W+)?{re.escape(stance)}\b"
    return stance not in ("", AGREE, MIXED, DISAGREE) and re.search(said, passage) is not None


@lru_cache(maxsize=1024)
def _names_of(name: str, title: str, person: str) -> re.Pattern[str]:
    """What a seat may be called, in folded text."""
    called = {fold(name), fold(title), *content_words(person)}
    return re.compile("|".join(rf"\b{re.escape(one)}\b" for one in sorted(called) if one))


def _quotes(passage: str, body: str) -> bool:
    """Whether the passage quotes enough words of the turn exactly."""
    quoted = (fold("".join(found.groups(""))).rstrip(".,") for found in QUOTATION.finditer(passage))
    return any(len(words.split()) >= MIN_QUOTED and words in fold(body) for words in quoted)
