"""How alike two findings are, or two groups of them: whether they name the same fault of the same place. Pure.

No model: content words, pieces of words and places, each with a fixed weight, so that every figure can be explained.
Nothing is decided here; who merges holds the figure against `SAME`.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from council.reviews.locate import Place
from council.reviews.model import Finding
from council.text import EMPTY_WORDS, fold

# Two groups of findings are one where their likeness reaches this. The weights and this figure come from the odd files
# of tests/pairs/, where 95 of 100 pairs that it joins are one; the even ones are what the tests measure.
SAME = 0.58
# What the figure is made of: the likeness of the issues, of the changes and of all pieces of words, from 0 to 1 each.
ISSUE, CHANGE, PIECES = 0.7, 0.8, 0.9
# Where they stand: the same passage, another one of the same lines, not known of one of them, or of both.
HERE, BESIDE, UNKNOWN, NOWHERE = 0.35, 0.05, 0.3, 0.25
# One has no place, and its words are those of the other's passage.
PASSAGE = 0.45
# One wants more of what the other wants less of: no likeness of words makes up for that.
OPPOSED = -3.0
# They stand at two places: the same kind of fault, but not the same fault, however alike the words are.
ELSEWHERE = -math.inf
# Large groups share words by chance.
COMPANY = -0.1
# On the same lines everybody uses the words that stand there: they tell little.
THERE = 0.3
ENOUGH = 2000  # characters of a text that are looked at

PIECE = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
HUMPS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
# What a reviewer says about anything; like EMPTY_WORDS, these tell no fault from another.
REVIEW_WORDS = frozenset(
    "add added allow another any anybody introduce introduced offer replace replaced switch support anyone anything "
    "cannot case clear complete define defined describe described does document each else ensure every everybody "
    "everyone everything example far first given gives happen happens here instead keep kept know known lack lacks "
    "leave leaves let lets long made make makes many may mean meaning means mention mentioned might missing much must "
    "need needed needs never new nobody nothing nowhere now old once other own place please plan prefer provide put "
    "require required requires rule said same say says section see set something specification specified specify spec "
    "state stated still take text too two unclear undefined unspecified use used uses using very way where whether "
    "while whole whose within without yet aber alle als am an auch auf aus bei beim bis da das dass dem den der des "
    "die dies diese dieser doch ein eine einem einen einer eines er es fehlt für hier ihr im in ist ja jede jedem "
    "jeden jeder jedes kann kein keine keinen man mehr mit muss nach nicht nichts noch nur ob oder ohne schon sein "
    "sich sie sind so sollte sollten soll um und unklar vom von vor war was wenn werden wie wird wo wurde zu zum zur "
    "über".split()
)
# Words that reviewers of any specification use for one another, by their beginnings.
KIN = {
    beginning: kin.split()[0]
    for kin in (
        "limit cap capped maxim max bound unbound unlimit endless upper ceiling restrict obergrenze begrenz unbegrenz",
        "expir ttl lifetime validity non-expir ablauf läuft gültig",
        "delet eras remov purg drop cleanup löschen löscht gelöscht lösch entfern",
        "retention retain aufbewahr",
        "duplicat twice doubl doppelt idempoten dedup repeat",
        "retr attempt tried try wiederhol versuch backoff",
        "slow latency performan expensive costly langsam",
        "memory ram speicher heap",
        "crash die died dead abort interrupt absturz",
        "encrypt unencrypt plaintext cleartext verschlüssel tls https",
        "authenticat unauthenticat signature signed hmac mtls",
        "permission authoris authoriz unauthoris access privilege scope",
        "accessib",  # by itself: what a screen reader can use is no matter of permission
        "log logs logged logging audit protokoll",
        "notif warn alert inform benachrichtig",
        "concurren parallel atomic simultan race",
        "batch chunk stream",
        "async synchron background queue enqueu",
        "whitelist allowlist",
        "forge forged fake spoof trust",
        "inject escap sanitis sanitiz",
        "rollback revert undo zurückroll",
        "locali locale translat language sprache übersetz",
        "unique random generat",
        "less reduc shorten lower decreas smaller verkürz verringer senk",
        "more increas rais lengthen extend longer enlarg erhöh verlänger",
        "deadline frist",
        "check validat verif inspect prüf überprüf",
        "lost lose loses losing loss vanish disappear verlor verlier verlust",
        "leak disclos expos reveal",
        "steal stolen theft thief",
        "answer respon return reply antwort",
        "wrong incorrect falsch",
        "law legal illegal unlawful gdpr dsgvo violat complian",
        "administrator admin admins",
        "cheap fast schnell quick",
        "file files datei",
        "user users customer customers people person persons client clients account accounts nutzer kunde konto",
        "time times day days hour hours month months minute minutes second seconds week weeks year years tag tage",
        "mail mails e-mail email",
        "password passwort passwör passwords",
    )
    for beginning in kin.split()
}
ENDINGS = re.compile(
    r"(?:isations?|izations?|ations?|ations?|ingly|ings?|edly|ies|ied|ed|es|ly|ments?|ers?|able|ungen|ung|en|ern|em|e"
    r"|s|y|n|ion|ions|al|ive|t)$"
)


MORE = re.compile(
    r"\b(?:rais\w*|increas\w*|lengthen\w*|extend\w*|longer|higher|enlarg\w*|erhöh\w*|verlänger\w*"
    r"|(?:too|zu) (?:short|low|small|few|strict|lenient|weak|little|kurz|niedrig|klein|wenig))\b"
)
LESS = re.compile(
    r"\b(?:low?er\w*|reduc\w*|shorten\w*|shorter|decreas\w*|cut|smaller|senk\w*|verkürz\w*|verringer\w*"
    r"|(?:too|zu) (?:long|high|large|big|much|many|generous|lang|hoch|groß|viel))\b"
)
Weights = dict[str, float]


def stems(text: str) -> dict[str, None]:
    """The content words of a text, in their order, less their endings; kindred words count as one."""
    return dict.fromkeys(map(_stem, _words(text)))


def _words(text: str) -> list[str]:
    words = (match[0].replace("’", "'").removesuffix("'s") for match in PIECE.finditer(_folded(text)))
    return [word for word in words if word not in EMPTY_WORDS and word not in REVIEW_WORDS]


def _folded(text: str) -> str:
    return fold(HUMPS.sub(" ", text[:ENOUGH]))


@lru_cache(maxsize=8192)
def _stem(word: str) -> str:
    for size in range(len(word), 3, -1):
        if kin := KIN.get(word[:size]):
            return kin
    if kin := KIN.get(word):
        return kin
    short = ENDINGS.sub("", word) if len(word) > 4 and not word.isdigit() else word
    return short if len(short) > 3 else word


def _pieces(text: str) -> dict[str, None]:
    """Every three letters in a row of the content words: compounds and other forms share most of them."""
    edged = (f" {word} " for word in _words(text))
    return dict.fromkeys(word[at : at + 3] for word in edged for at in range(len(word) - 2))


def _leaning(text: str) -> int:
    """1 where a text wants more of something, -1 where it wants less, 0 where it says nothing of the kind."""
    balance = len(MORE.findall(text)) - len(LESS.findall(text))
    return (balance > 0) - (balance < 0)


@dataclass(frozen=True)
class Gist:
    """What is compared of a finding, or of a group: its words by weight; `*_there` less what stands at its place."""

    issue: Weights
    change: Weights
    pieces: Weights
    issue_there: Weights
    change_there: Weights


@dataclass(frozen=True)
class Traits:
    """What two findings are compared by one to one, whatever group they are in."""

    place: Place
    words: Weights
    passage: Weights
    leaning: int


def gists(said: Sequence[tuple[Finding, Place]]) -> tuple[list[Gist], list[Traits]]:
    """The gists and traits of a whole batch: a word weighs the more, the fewer of its findings use it."""
    texts = [(stems(item.issue), stems(item.change), _pieces(f"{item.issue} {item.change}")) for item, _ in said]
    rarity = _rarity([{**issue, **change} for issue, change, _ in texts])
    scarcity = _rarity([pieces for _, _, pieces in texts])
    found, traits = [], []
    for (item, place), (issue, change, pieces) in zip(said, texts, strict=True):
        passage = stems(place.passage) if place.found else {}
        words = [{word: rarity[word] for word in part} for part in (issue, change)]
        there = [{word: one * (THERE if word in passage else 1) for word, one in part.items()} for part in words]
        found.append(Gist(*map(_unit, (*words, {piece: scarcity[piece] for piece in pieces}, *there))))
        leaning = _leaning(fold(f"{item.issue[:ENOUGH]} {item.change[:ENOUGH]}"))
        around = _unit({word: rarity.get(word, 1.0) for word in passage})
        traits.append(Traits(place, _unit(words[0] | words[1]), around, leaning))
    return found, traits


def _rarity(bags: Sequence[Mapping[str, None]]) -> Weights:
    counts = Counter(word for bag in bags for word in bag)
    return {word: math.log((len(bags) + 10) / (count + 1)) for word, count in counts.items()}


def _unit(weights: Weights) -> Weights:
    length = math.sqrt(math.fsum(one * one for one in weights.values()))
    return {word: one / length for word, one in weights.items()} if length else {}


def together(gists: Iterable[Gist]) -> Gist:
    """The middle of a group; each of its members counts the same."""
    whole = list(gists)
    return Gist(*(_middle([getattr(gist, name) for gist in whole]) for name in Gist.__dataclass_fields__))


def _middle(parts: Sequence[Weights]) -> Weights:
    total: Weights = {}
    for part in parts:
        for word, one in part.items():
            total[word] = total.get(word, 0.0) + one
    return _unit(total)


def _cosine(one: Weights, other: Weights) -> float:
    """Summed exactly, so that the order of the words, which differs from run to run, cannot show."""
    return math.fsum([one[word] * other[word] for word in one.keys() & other.keys()])


def circumstances(one: Traits, other: Traits) -> tuple[float, bool]:
    """What speaks for two findings beside their words, and whether they stand at the same place."""
    here = False
    if _elsewhere(one.place, other.place):
        figure = ELSEWHERE
    elif not one.place.found and not other.place.found:
        figure = NOWHERE
    elif not (one.place.found and other.place.found):
        figure = UNKNOWN + PASSAGE * max(_cosine(one.words, other.passage), _cosine(other.words, one.passage))
    elif "section" in (one.place.how, other.place.how):  # a chapter has room for many faults
        figure = NOWHERE
    elif here := _meet(one.place, other.place):
        figure = HERE if _shared(one.passage, other.passage) else BESIDE
    else:  # a line, and the whole chapter around it
        figure = 0.0
    return figure + (OPPOSED if one.leaning * other.leaning < 0 else 0.0), here


def _elsewhere(one: Place, other: Place) -> bool:
    """Whether they are known to be in two files, or were both found and have nothing of the text in common."""
    if one.path and other.path and one.path != other.path:
        return True
    if not (one.found and other.found):
        return False
    if one.stretch and other.stretch and one.passage and other.passage:
        return min(one.stretch[1], other.stretch[1]) <= max(one.stretch[0], other.stretch[0])
    return _common_lines(one, other) <= 0


def _common_lines(one: Place, other: Place) -> int:
    return min(one.last, other.last) - max(one.first, other.first) + 1


def _meet(one: Place, other: Place) -> bool:
    """Whether they share lines; a whole chapter does not stand where one of its lines stands."""
    longest = max(one.last - one.first, other.last - other.first) + 1
    return _common_lines(one, other) >= longest / 5 or longest <= 5


def _shared(one: Weights, other: Weights) -> bool:
    """Whether two passages are mostly one: half of the shorter one's words stand in the other."""
    return 2 * len(one.keys() & other.keys()) >= min(len(one), len(other))


def likeness(one: Gist, other: Gist, beside: float, here: bool, sizes: int) -> float:
    """The figure that is held against `SAME`. `beside` are the circumstances, in the middle of all pairs of members;
    `sizes` is the number of those pairs.
    """
    issue = _cosine(one.issue_there, other.issue_there) if here else _cosine(one.issue, other.issue)
    change = _cosine(one.change_there, other.change_there) if here else _cosine(one.change, other.change)
    words = ISSUE * issue + CHANGE * change + PIECES * _cosine(one.pieces, other.pieces)
    return words + beside + COMPANY * math.log(sizes)
