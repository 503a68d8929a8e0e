"""The guards of reading: each alternative of each of them catches something that no other one does.

The examples pass through what the real text passes through before a guard sees it: where an apostrophe is taken out on
the way, a pattern with `can't` never matches.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest

from council.protocols import dissent, mind_changes
from council.replies import fields, values
from council.text import fold
from tests.guards import cuts


def each(frame: str, *words: str) -> Iterator[str]:
    """The frame with each of the words, which bars separate."""
    yield from (frame.format(word) for line in words for word in line.split("|"))


TAKEN_BACK = [
    "unless|if it holds|if anything|but|until|except|provided|however|once it holds|once again|once more|although",
    "though|conditional|pending|subject to|assuming|contingent|as long as|so long as",
    "reservation|reservations|caveat|caveats",
]
NOTHING = [
    *each("{}", "none|nothing|nothing blocks|nothing blocking|nothing blocks me|nothing blocks us|nothing blocks this"),
    *each("{}", "nothing blocks it|nil|n/a|na|not applicable|keine|keiner|keinen|keines|nichts"),
    *each("no {}", "items|issues|concerns|blockers|objections|risks|blocking items|major items|serious items"),
    *each("no {} items", "further|other"),
    *each("none {}", "so far|yet|at this time|at this point|at present|at the moment|identified|from me|from my side"),
    *each("none {}", "from my end|remaining|left|today"),
    *["none. Fine", "none - fine", "none—fine"],
]
EXAMPLES: dict[str, tuple[re.Pattern[str], Callable[[str], str], list[str]]] = {
    "what takes an answer back": (values.TAKEN_BACK, values._plain, [*each("fine {} so", *TAKEN_BACK)]),
    "what denies an answer": (
        values.DENIED,
        values._plain,
        [*each("agree. {} it", "no|not|never|yet|cannot|nor|or|I can't|I can’t|I don't|It isn't")],
    ),
    "what makes an answer conditional": (
        values.CONDITION,
        values._plain,
        [
            *each(", {} so", *TAKEN_BACK),
            *each(" (only {} reads)", "if|when|once|after|as|for|in|with"),
            *each(" {} my conditions", "with|on|under"),
            *each(" with two {}", "condition|conditions|reservations|caveats|changes|amendments|guardrails"),
            *each(" with a {}", "reservation|caveat"),
            *each(" ({})", "mostly|largely|broadly|partly|part|partial|partially|tentative|tentatively|provisional"),
            *each(" ({})", "provisionally|limited|pilot|trial|for now|in principle"),
            *[" mostly", " mostly; see below"],
        ],
    ),
    "what means nothing": (values.NOTHING, str, NOTHING),
    "which heading is an item's": (
        fields.ITEM,
        str,
        [
            "## 2. Guards",
            "## CRITICAL-1",
            *each("## 2. Our {}", "verdict|answer|answers|summary|conclusion|decision|vote|stance|position|assessment"),
            *each("## 2. Our {}", "result|overall view|final view"),
        ],
    ),
    "what says that a member disagrees": (
        dissent.OPPOSED,
        str,
        [
            *each("I {}", "disagree|object|challenge|oppose|dispute|reject|differ|push back|take issue|part ways"),
            *each("I {}", "part company|still object|also object|strongly object|would object|must object|do object"),
            *each("I {}", "have to object|will object|still don't agree|really don't agree|do not agree|don’t accept"),
            *each("I {}", "cannot endorse|can't support|will not support|won't support|I'd object|am opposed"),
            *each("I{} opposed", "'m| remain| am still| am strongly"),
            *each("I am {}", "not convinced|unconvinced|against"),
            *["I'd object", "my real disagreement", "my real disagreements"],
            *each("my {} objection", "actual|real|main|core|central|remaining|standing|strongest|biggest|primary"),
            *each("my real objections{}", "| was small| were small| has been met| have been met"),
            *each("my real disagreement is {}", "withdrawn|resolved|settled|answered|addressed|gone|no longer there"),
        ],
    ),
    "what says that a synthesis keeps a dissent": (
        dissent.OPPOSES,
        fold,
        [
            *each("he {}", "disagrees|dissents|opposes it|objects|rejects it|is against it|contests it|disputes it"),
            *each("he {}", "refuses|is unconvinced|is unpersuaded|is the outlier|is a minority|holds out|held out"),
            *each("he {}", "is holding out|hold out|is not convinced|is not persuaded|is sceptical|pushes back"),
            *each("he {}", "pushed back|is pushing back|push back|differs|differed|differ|parts ways|parted company"),
            *each("he {}", "takes issue|took issue|take issue|does not agree|cannot accept|cannot endorse|votes no"),
            *each("he {}", "cannot support|cannot sign|cannot share it|voted no|vote no|doesn't agree|doesn't accept"),
            *each("he {}", "doesn't endorse|doesn't support|doesn't sign|doesn't share|isn't convinced"),
            *["his pushback", "he isn't persuaded"],
        ],
    ),
    "what says that a dissent is over": (
        dissent.GIVEN_UP,
        fold,
        [
            *each("no longer {}", "disagrees|dissents|opposed|objects|rejects|against|contests|disputes|refuses"),
            *["withdrew", "withdrawn", "withdraws", "came round", "agrees now", "now agrees"],
        ],
    ),
    "what says that no flaw moved a seat": (
        mind_changes.NO_FLAW,
        str,
        [*each("{}", "none|no flaw|nothing|nil|n/a|not applicable|keine|nichts|none: I stay")],
    ),
    "what says that a seat moved": (
        mind_changes.MOVED,
        str,
        [
            *each("I{} concede it", "| have|'ve|’ve| must| do| hereby| now| since| therefore| also"),
            *each("I changed my {}", "mind|stance|position|view"),
            *each("I {}", "was wrong|stand wrong|was corrected|was mistaken|withdraw it|withdrew it|revised my view"),
            *each("I {}", "raised my score|lower my score|overlooked it|underrated it|no longer hold it"),
            *each("I now {}", "agree|accept|think|see|believe|support|say|persuaded|convinced"),
            *each("I{} now agree", " am|'m| was"),
            *each("it {} me", "convinced|persuaded|moved|swayed|won"),
            *each("I {} convinced by it", "am|was"),
            *each("I am {} by it", "persuaded|moved|swayed"),
        ],
    ),
    "what takes a move back": (
        mind_changes.TAKEN_BACK,
        str,
        [*each("{}", "not|never|nobody|nothing|none|no one|neither|nor|hardly|cannot|don't|don’t")],
    ),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_each_alternative_of_a_guard_catches_something_that_no_other_does(name: str) -> None:
    guard, prepare, examples = EXAMPLES[name]
    texts = [prepare(example) for example in examples]
    found = [_match(guard, text) for text in texts]
    idle = [
        alternative
        for alternative, rest in cuts(guard.pattern)
        if [_match(re.compile(rest, guard.flags), text) for text in texts] == found
    ]
    assert idle == []


def _match(guard: re.Pattern[str], text: str) -> tuple[int, int] | None:
    found = guard.search(text)
    return found.span() if found else None


def test_an_alternative_that_can_never_match_is_found() -> None:
    texts = ["I was now sure", "I am now sure"]
    idle = [
        cut
        for cut, rest in cuts(r"I(?: am|was)? now")
        if [bool(re.search(rest, text)) for text in texts] == [bool(re.search(r"I(?: am|was)? now", t)) for t in texts]
    ]
    assert idle == ["was"]
