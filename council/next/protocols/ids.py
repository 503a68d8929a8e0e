"""The register of a debate: what was said goes by id, and each vote is a row of voices.

R1 is a recommendation, K2 a condition, C3 a blocking item. Ids are given in the order in which things were said, so
they never change. Reading an id is all the reading there is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from council.next.engine.scene import Moment, Scene, Turn
from council.next.replies.kinds import Number, Signature, split_id
from council.next.text import fold
from council.next.workflow.model import Workflow

SIGNS, SAYS = "signs", "says"  # members sign a text, answer the question itself, or give the design a score
DESIGN = "the design"
OWN, NONE, UNDECIDED, UNREADABLE = "own", "none", "undecided", ""
LISTS = {"K": "conditions", "C": "blocking"}  # the answer that is its owner's whole list of such items
REJECT, WITHDRAWN, STANDS, SAME = "reject", "withdrawn", "stands", "same as"
WORDS = (REJECT, WITHDRAWN, STANDS, SAME)
MOST_REVISIONS = 26  # R2z is followed by a number of its own
QUOTES = str.maketrans(dict.fromkeys("“”„«»", '"'))
SHORTEST_QUOTE = 12  # characters that nobody repeats by chance
MOST_QUOTES = 3  # of one reply, because each is looked for in all that was said before


@dataclass(frozen=True)
class Quote:
    """Somebody's own words, and the turn that holds them."""

    seat: str
    label: str
    turn: str
    text: str


@dataclass(frozen=True)
class Ruling:
    """What somebody said of an item by its id. `word` is one of WORDS, or empty for a remark."""

    by: Quote
    word: str
    other: str = ""  # the id that it is the same as


@dataclass
class Item:
    """Something that got an id, and what was said of it. `holders` are those who list it now."""

    id: str
    by: Quote
    batch: int  # the number of the batch in which it was said, from 1
    replaces: str = ""
    holders: list[str] = field(default_factory=list)
    rulings: list[Ruling] = field(default_factory=list)
    adopted: list[Quote] = field(default_factory=list)  # in the words of those who took it over


@dataclass(frozen=True)
class Voice:
    """What one member declared in one vote. `side` is an id, an answer, `none`, `undecided`, or empty."""

    seat: str
    label: str
    turn: str
    round: int
    side: str
    why: str
    score: float | None
    recommends: str
    conditions: tuple[str, ...]
    blocking: tuple[str, ...]
    move: Quote | None  # the words that moved it. They have no turn if nobody said them
    silence: str
    by: str  # the person who spoke for this seat
    refused: tuple[str, ...] = ()  # those of its conditions that the others refuse
    agrees: bool = False


class Register:
    """All recommendations, conditions and blocking items of a debate, and its votes."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.asked, self.target = find_vote(scene.workflow)
        self.votes: dict[Moment, list[Voice]] = {}
        self.items: dict[str, Item] = {}
        self.by_letter: dict[str, list[Item]] = {"R": [], **{letter: [] for letter in LISTS}}
        self.same: dict[str, list[str]] = {}  # by each id: all that were called the same, the first one first
        self.own: dict[str, str] = {}  # each seat's newest recommendation
        self.listed: tuple[str, ...] = ()  # the recommendations that can be signed
        self.lists: dict[tuple[str, str], tuple[str, ...]] = {}  # the items on a seat's list, by letter and seat
        self._ids: dict[tuple[str, str, str], str] = {}  # by letter, owner and words; a text belongs to nobody
        self._last: dict[str, dict[str, Ruling]] = {}  # by item: each seat's last word on whether it is rejected
        self._counts: Counter[str] = Counter()  # of items by their letter, and of texts by their seat
        self._folded: dict[str, str] = {}
        self._batch = 0

    @classmethod
    def of(cls, scene: Scene) -> Register:
        """The register of what was said so far. It is kept beside the scene, and reads each turn once."""
        register: Register = scene.kept.pop("register", None) or cls(scene)
        for batch in scene.batches[register._batch :]:
            register._batch += 1
            register._add(batch)
        scene.kept["register"] = register  # not before: one that was interrupted is not used again
        return register

    def holders(self, id: str) -> set[str]:
        """Who lists an item now, in any of its wordings."""
        return {seat for one in self.same[id] for seat in self.items[one].holders}

    def rejections(self, id: str) -> Iterator[Quote]:
        """Who rejects an item in any of its wordings. A seat's last word counts, and no holder is among them."""
        holders = self.holders(id)
        for one in self.same[id]:
            last = self._last[one].values()
            yield from (ruling.by for ruling in last if ruling.word == REJECT and ruling.by.seat not in holders)

    def resolve(self, answers: Mapping[str, Any], seat: str) -> Signature:
        """What a reply declares in a vote. Beside a new text, `own`, `none` and the old text's id all mean the new one.

        The same words are the same text, so `own` beside somebody else's words means theirs."""
        given, text, old = answers.get(self.asked), answers.get("recommendation", ""), self.own.get(seat, "")
        if not isinstance(given, Signature):
            return Signature(DESIGN if isinstance(given, int | float) else str(given or UNREADABLE))
        if self.is_new(text) and given.side in (OWN, NONE, old):
            return Signature(OWN, given.why)
        if given.side == OWN:
            return Signature(self._ids.get(("R", "", fold(text)), old), given.why)
        return given if given.side in (NONE, UNDECIDED, *self.listed) else Signature(UNREADABLE)

    def is_later(self, id: str, than: str) -> bool:
        """Whether a text is a later version of another."""
        while id in self.items and id != than:
            id = self.items[id].replaces
        return id == than

    def is_new(self, text: str) -> bool:
        """Whether nobody recommended this before."""
        return bool(text) and ("R", "", fold(text)) not in self._ids

    def _add(self, turns: tuple[Turn, ...]) -> None:
        """Read the turns of one batch. None of them has read another's, so none signs what is new in it."""
        sides = [self.resolve(turn.answers, turn.seat.name) for turn in turns]
        for turn, side in zip(turns, sides, strict=True):
            writes = self.scene.workflow.writes_result(turn.phase, turn.step) and self.asked not in turn.asked
            if not writes:  # who writes the result only repeats what others said
                self._recommend(turn)
                for letter in LISTS:
                    self._list(letter, turn)
            self._rule(turn, anything=writes)
            if self.asked in turn.asked:
                self.votes.setdefault(turn.moment, []).append(self._voice(turn, side))
        # A text that nobody recommends any more, and that nobody signs in the last vote, leaves the list.
        signed = [one.side for one in next(reversed(self.votes.values()), []) if one.side in self.items]
        current = {*signed, *self.own.values()}
        texts = dict.fromkeys((*self.listed, *signed, *self.own.values()))
        self.listed = tuple(id for id in texts if id in current)

    def _voice(self, turn: Turn, side: Signature) -> Voice:
        seat, given = turn.seat.name, turn.answers.get(self.asked)
        return Voice(
            seat=seat,
            label=turn.seat.label,
            turn=turn.id,
            round=turn.round,
            side=self.own[seat] if side.side == OWN else side.side,
            why=side.why,
            score=float(given) if isinstance(given, int | float) else None,
            recommends=self.own.get(seat, ""),
            conditions=self.lists.get(("K", seat), ()),
            blocking=self.lists.get(("C", seat), ()),
            move=self._move(turn),
            silence=turn.silence(self.asked) or ("" if side.side else f"spoke, {self.asked} unreadable"),
            by=turn.said.by,
        )

    def _move(self, turn: Turn) -> Quote | None:
        """The words that moved a member, from the first earlier turn of somebody else that has them."""
        given = turn.answers.get("moved_by", "")
        for words in quotations(given):
            for other in (one for batch in self.scene.batches[: self._batch - 1] for one in batch):
                if other.id not in self._folded:
                    self._folded[other.id] = fold(other.text)
                if fold(words) in self._folded[other.id] and other.seat.name != turn.seat.name:
                    return quote(other, words)
        return Quote("", "", "", given) if given else None

    def _recommend(self, turn: Turn) -> None:
        """A seat's text. The same words are the same text, even if another seat says them again."""
        seat, text = turn.seat.name, turn.answers.get("recommendation", "")
        if self.is_new(text):
            old = self.own.get(seat, "")
            self._counts[seat] += 1
            if old and self.items[old].by.seat == seat and self._counts[seat] <= MOST_REVISIONS:
                id = f"{old.rstrip('bcdefghijklmnopqrstuvwxyz')}{chr(ord('a') + self._counts[seat] - 1)}"
            else:
                id, old = "", ""
            self._give_id("R", "", quote(turn, text), id, replaces=old)
        if text:
            self.own[seat] = self._ids["R", "", fold(text)]

    def _give_id(self, letter: str, owner: str, by: Quote, id: str = "", replaces: str = "") -> str:
        if not id:
            self._counts[letter] += 1
            id = f"{letter}{self._counts[letter]}"
        self.items[id], self.same[id], self._last[id] = Item(id, by, self._batch, replaces), [id], {}
        self.by_letter[letter].append(self.items[id])
        self._ids[letter, owner, fold(by.text)] = id
        return id

    def _list(self, letter: str, turn: Turn) -> None:
        """A seat's list as it is from now on, if it gives one. An item that begins with an id is that item."""
        seat, ids = turn.seat.name, list[str]()
        if LISTS[letter] not in turn.answers:
            return
        for text in items_of(turn.answers, LISTS[letter]):
            id, words = split_id(text)
            if self._had_read(id) and id[0] == letter:
                if words and self.items[id].by.seat != seat:
                    self.items[id].adopted.append(quote(turn, text))
            else:
                id = self._ids.get((letter, seat, fold(text))) or self._give_id(letter, seat, quote(turn, text))
            ids.append(id)
        self._hold(letter, seat, ids)

    def _had_read(self, id: str) -> bool:
        """Whether there was an item of this id before the batch that is being read."""
        return id in self.items and self.items[id].batch < self._batch

    def _hold(self, letter: str, seat: str, ids: list[str]) -> None:
        for id in self.lists.get((letter, seat), ()):
            self.items[id].holders.remove(seat)
        self.lists[letter, seat] = tuple(dict.fromkeys(ids))
        for id in self.lists[letter, seat]:
            self.items[id].holders.append(seat)

    def _rule(self, turn: Turn, anything: bool) -> None:
        """What a turn says of items by their ids. Only their owners, or who writes the result, call two the same."""
        seat = turn.seat.name
        for text in items_of(turn.answers, "rulings"):
            id, words = split_id(text)
            if not self._had_read(id):
                continue
            word, other = read_word(words)
            self.items[id].rulings.append(Ruling(quote(turn, words), word, other))
            if word in (REJECT, STANDS):
                self._last[id][seat] = self.items[id].rulings[-1]
            elif word == WITHDRAWN:
                # Who holds it in another wording may use either id.
                gone = {id} if seat in self.items[id].holders else {*self.same[id]}
                left = [one for one in self.lists.get((id[0], seat), ()) if one not in gone]
                self._hold(id[0], seat, left)
            elif word == SAME and self._had_read(other) and other[0] == id[0] != "R":
                owners = {self.items[one].by.seat for one in (id, other)}
                both = {*self.same[id], *self.same[other]} if anything or seat in owners else set[str]()
                self.same |= dict.fromkeys(both, sorted(both, key=lambda one: int(one[1:])))


def find_vote(workflow: Workflow) -> tuple[str, float | None]:
    """The answer that is counted: `signs`, `says`, or a score and what every seat must reach.

    A score is counted where an ending compares it with a target, as in `{every: {score: ">= target"}}`."""
    asked = {name: kind for step in workflow.steps() for name, kind in step.reply.items()}
    if name := next((name for name in (SIGNS, SAYS) if name in asked), ""):
        return name, None
    every = [ref.args for ref in workflow.endings() if ref.name == "every" and isinstance(ref.args, dict)]
    for name, wanted in [pair for args in every for pair in args.items()]:
        if isinstance(asked.get(name), Number) and str(wanted).startswith(">="):
            return name, workflow.number(str(wanted).removeprefix(">=").strip())
    return "", None


def quote(turn: Turn, text: object) -> Quote:
    return Quote(turn.seat.name, turn.seat.label, turn.id, str(text).strip())


def items_of(answers: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """The items of an answer. A line that holds nothing but ids names each of them."""
    found: list[str] = []
    for item in (one for one in answers.get(name) or () if isinstance(one, str)):  # others are a room's own
        parts = [part.strip() for part in item.replace(" and ", ",").split(",")]
        only_ids = len(parts) > 1 and all(id and not rest for id, rest in map(split_id, parts))
        found += parts if only_ids else [item]
    return tuple(found)


def read_word(words: str) -> tuple[str, str]:
    """The word of a ruling and, where it calls an item the same, the other id: `same as K1: both name a date`.
    Whatever follows `reject` is its reason: `reject as worded: a drill can lose data`."""
    head = fold(words.partition(":")[0]).rstrip(".")
    if head.startswith(f"{SAME} "):
        return SAME, split_id(head.removeprefix(SAME).strip())[0]
    first = head.partition(" ")[0]
    return (head if head in WORDS else REJECT if first == REJECT else ""), ""


def quotations(given: str) -> list[str]:
    """What is in quotation marks, or else the whole, where it is long enough to be somebody's words."""
    parts = given.translate(QUOTES).split('"')
    quoted = [words.strip().rstrip(".… ") for words in (parts[1::2] if len(parts) > 2 else parts[:1])]
    return [words for words in quoted if len(fold(words)) >= SHORTEST_QUOTE][:MOST_QUOTES]
