"""What the count allows: whether it carries a conclusion, and what council writes where a synthesis claims more."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from council.engine.planner import ENDED, ENDED_BY_CAP, Plan
from council.protocols import outcome
from council.protocols import perspectives as sides
from council.protocols.consensus import find_escalations
from council.protocols.perspectives import CONFIDENCE, LOW
from council.protocols.stances import (
    AGREE,
    CONSENSUS,
    CONSENSUS_WITH_DISSENT,
    DISAGREE,
    INSUFFICIENT,
    MIXED,
    Standing,
    assess,
)
from council.text import fold, join_words, one_line

UNHEARD, UNREADABLE = "not heard", "unreadable"
NO_STANCE = "no stance was asked for"
LONGEST_CLAIM = 200
SENTENCE_END = re.compile(r"(?<=.)[.!?…](?=\s|$)", re.S)
ABBREVIATED = re.compile(r"(?:\b(?:e\.g|i\.e|etc|vs|cf|approx|no|Dr|Mr|Ms|St)|\b[A-Z])\.$")
LONGEST_ABBREVIATION = len("approx.")
LEAD = re.compile(r"^\s*(?:[-*+•]\s+|\d+[.)]\s+|>\s?)")
ITEM = re.compile(r"\s*(?:[-*+•]|\d+[.)])\s")
MARKS = re.compile(r"\*\*|__|`")
HEADING = re.compile(r"\s*(?:#{1,6}\s|```|~~~|\|)")
NUMBERS = dict(zip("zero one two three four five six seven eight nine ten".split(), range(11), strict=True))
COUNTED = re.compile(
    r"\b(\w+)(?:/| of | out of )(?:the |our )?(\w+)(?: \w+){0,2}? (agree|say|says|said|vote|voted) ?(\w*)"
)
UNANIMOUS = re.compile(r"(?<!not )\b(?:unanimous(?:ly)?|with one voice|without (?:any )?(?:dissent|objection))\b")
EVERYBODY = re.compile(
    r"(?<!not )(?<!almost )(?<!nearly )\b"
    r"(?:everyone|everybody|every member|we all|all(?: of)?(?: (?:the|our|us|them))?(?: (\d+|two|three|four|five|six|"
    r"seven|eight|nine|ten))?(?: members)?) (?:agreed?|agrees|says?|said)\b"
)
NO_AGREEMENT = re.compile(
    r"\bno (?:answer|option|majority|consensus|agreement)\b|\b(?:is|are|remains?) (?:split|divided|undecided)\b"
    r"|\b(?:did|could|do|does|can) ?not (?:agree|decide)\b|\bmost (?:members )?disagree\b"
)


def is_carried(plan: Plan, now: Standing) -> bool:
    """Whether the conclusion was decided: by a majority, by the rules on scores, by a person or by a phase."""
    ending = outcome.outcome(plan, now)
    if outcome.find_denial(plan):
        return False
    if now.own:
        return True
    if now.stances:
        return bool(now.answer) and 2 * count_votes(now) > len(now.stances)
    if now.scores:
        agreed = ending in (CONSENSUS, CONSENSUS_WITH_DISSENT)
        return agreed or any(one.adopted for one in find_escalations(plan.scene)[-1:])
    return ending not in (ENDED_BY_CAP, INSUFFICIENT) and not sides.were_too_few(plan.scene)


def count_votes(now: Standing) -> int:
    """How many gave the leading answer."""
    return list(now.stances.values()).count(now.answer)


def format_votes(now: Standing) -> str:
    """`3 of 4 agree`, or `3 of 5 say yes`"""
    return f"{count_votes(now)} of {len(now.stances)} {'agree' if now.answer == AGREE else f'say {now.answer}'}"


def describe_lack(plan: Plan, now: Standing, quote: bool = True) -> str:
    """Why no conclusion was decided, as `No answer leads: 2 yes, 2 no and 1 not heard, of 5`; empty if one was.

    A majority that disagrees carries none: the members reject each other's answers. Without `quote`, the reason is left
    out where it may name seats as a moderator called them, or repeat what a person decided.
    """
    if is_carried(plan, now):
        return ""
    if denied := outcome.find_denial(plan):
        return denied.verdict.reason if quote else denied.outcome.capitalize()
    if now.stances:
        return f"{'Most disagree' if do_most_disagree(now) else 'No answer leads'}: {format_count(now)}"
    if now.scores:
        return f"No consensus: {now.reason}" if quote else "No consensus"
    few = "fewer than two perspectives were heard in the last round" if sides.were_too_few(plan.scene) else ""
    why = few or (outcome.reason(plan, now) if quote else "")
    return f"Not settled: {why}" if why else "Not settled"


def do_most_disagree(now: Standing) -> bool:
    return 2 * list(now.stances.values()).count(DISAGREE) > len(now.stances)


def format_count(now: Standing) -> str:
    """`2 agree, 1 mixed and 1 not heard, of 4`"""
    silent = {name: UNREADABLE if name in now.unreadable else UNHEARD for name in now.missing}
    counts = Counter(stance or silent[name] for name, stance in now.stances.items())
    order = sorted(counts, key=lambda said: (said in (UNREADABLE, UNHEARD), said != now.answer, said == MIXED))
    return join_words(f"{counts[said]} {said}" for said in order) + f", of {len(now.stances)}"


def asked_no_stance(plan: Plan, now: Standing) -> bool:
    """Whether nobody was asked for a stance or a score, and no rule ended a phase."""
    endings = (ending for phase, ending in plan.scene.outcomes.items() if not outcome.is_synthesis(phase, plan.scene))
    return plan.done and not (now.own or now.stances or now.scores) and all(ending == ENDED for ending in endings)


def preface(plan: Plan, conclusion: str, quote: bool = True) -> str:
    """A warning above the synthesis that the count does not carry it, or that it claims another count; else empty.

    Without `quote`, it holds nobody's words.
    """
    now, author = assess(plan.scene), name_author(plan)
    if lack := describe_lack(plan, now, quote) or (NO_STANCE.capitalize() if asked_no_stance(plan, now) else ""):
        return f"{lack}. This synthesis is the {author}'s opinion."
    if claim := find_wrong_claim(now, conclusion):
        return f"The count is: {format_votes(now)}. The {author} writes otherwise{f': “{claim}”' if quote else '.'}"
    if now.stances and now.answer != AGREE and not re.search(rf"\b{re.escape(fold(now.answer))}\b", fold(conclusion)):
        return f"The count is: {format_votes(now)}. The {author} does not name this answer."
    return ""


def find_wrong_claim(now: Standing, conclusion: str) -> str:
    """The sentence at the beginning of a conclusion that claims another count than the stances have; empty for none."""
    if not now.stances or not now.answer:
        return ""
    opening = [sentence for sentence, _ in zip(split_sentences(conclusion), range(2), strict=False)]
    return one_line(next((said for said in opening if _is_wrong(fold(said), now)), ""), LONGEST_CLAIM)


def _is_wrong(said: str, now: Standing) -> bool:
    votes, of = count_votes(now), len(now.stances)
    others = {"yes", "no", *(stance for stance in now.stances.values() if stance)} - {now.answer, MIXED, AGREE}
    begins_otherwise = now.answer != AGREE and re.match(r"\W*(\w+)\b", said + " _").group(1) in others  # type: ignore[union-attr]
    if begins_otherwise or NO_AGREEMENT.search(said):
        return True
    everybody = any(not found[1] or _number(found[1], of) == of for found in EVERYBODY.finditer(said))
    if votes < of and (UNANIMOUS.search(said) or everybody):
        return True
    return any(
        (_number(found.group(1), of), _number(found.group(2), of)) != (votes, of)
        for found in COUNTED.finditer(said)
        if found.group(3) == AGREE or found.group(4) == now.answer
        if _number(found.group(1), of) is not None and _number(found.group(2), of) == of
    )


def _number(word: str, of: int) -> int | None:
    return int(word) if word.isdecimal() else of if word == "all" else NUMBERS.get(word)


def cap_confidence(plan: Plan) -> str:
    """The confidence of the synthesis, but never more than the count allows; empty if it gives none."""
    tries = outcome.find_syntheses(plan)
    said = tries[-1].answers.get(CONFIDENCE) if tries else None
    return "" if said is None else str(said) if is_carried(plan, assess(plan.scene)) else LOW


def explain_capped_confidence(plan: Plan) -> str:
    """Why council sets a low confidence, if the synthesis claims more than the count allows; otherwise empty."""
    tries = outcome.find_syntheses(plan)
    said = tries[-1].answers.get(CONFIDENCE) if tries else None
    if said in (None, LOW) or is_carried(plan, now := assess(plan.scene)):
        return ""
    if sides.explain_low_confidence(plan.scene, ENDED_BY_CAP):
        return ""  # it says so itself
    why = "no answer has a majority" if now.stances else "nothing was settled"
    why = "most disagree" if do_most_disagree(now) else why
    return f"set by council: {why}; “{said}” was written"


def name_author(plan: Plan) -> str:
    return next((turn.seat.title.lower() for turn in outcome.find_syntheses(plan)), "chair")


def split_sentences(text: str) -> Iterator[str]:
    """The sentences of a Markdown text as plain text, without headings and markup. None begins in one paragraph or item
    and ends in another."""
    for words in _split_blocks(text):
        begin = 0
        for end in (*(found.end() for found in SENTENCE_END.finditer(words)), len(words)):
            if end > begin and not ABBREVIATED.search(words, max(begin, end - LONGEST_ABBREVIATION), end):
                yield words[begin:end].strip()
                begin = end
        if words[begin:].strip():
            yield words[begin:].strip()


def _split_blocks(text: str) -> Iterator[str]:
    block: list[str] = []
    for line in [*text.splitlines(), ""]:
        heading = HEADING.match(line)
        if block and (heading or not line.strip() or ITEM.match(line)):
            yield plain(" ".join(block))
            block = []
        if line.strip() and not heading:
            block.append(LEAD.sub("", line))


def plain(text: str) -> str:
    """A Markdown text in one line, without its emphasis."""
    return " ".join(MARKS.sub("", text).split())
