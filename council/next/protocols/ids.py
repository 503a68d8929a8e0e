"""What members say about each other's words goes by id: R1 a recommendation, K2 a condition, C3 a blocking item.

Ids are given in the order in which things were said, so they never change. Reading an id is all the reading there is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from council.next.engine.scene import Moment, Scene, Turn
from council.next.replies.kinds import Signature, split_id
from council.next.text import fold

LISTS = {"K": "conditions", "C": "blocking"}  # the answer that is its owner's whole list of such items
REJECT, WITHDRAWN, STANDS, SAME = "reject", "withdrawn", "stands", "same as"
WORDS = (REJECT, WITHDRAWN, STANDS, SAME)
MOST_REVISIONS = 26  # R2z is followed by a number of its own
NONE, UNDECIDED, UNREADABLE = "none", "undecided", ""


@dataclass(frozen=True)
class Said:
    """Somebody's own words, and the turn that holds them."""

    seat: str
    label: str
    turn: str
    text: str


@dataclass(frozen=True)
class Ruling:
    """What somebody said of an item by its id. `word` is one of WORDS, or empty for a remark."""

    by: Said
    word: str
    other: str = ""  # the id that it is the same as


@dataclass
class Item:
    """Something that got an id, and what was said of it. `holders` are those who list it now."""

    id: str
    by: Said
    batch: int  # the number of the batch in which it was said, from 1
    replaces: str = ""
    holders: list[str] = field(default_factory=list)
    rulings: list[Ruling] = field(default_factory=list)
    adopted: list[Said] = field(default_factory=list)  # in the words of those who took it over

    def rejections(self) -> dict[str, Ruling]:
        """Who rejects it, by seat. A seat's last word counts, and who lists an item does not reject it."""
        last = {one.by.seat: one for one in self.rulings if one.word in (REJECT, STANDS)}
        return {seat: one for seat, one in last.items() if one.word == REJECT and seat not in self.holders}


class Register:
    """All recommendations, conditions and blocking items of a debate, and what each turn signs."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.items: dict[str, Item] = {}
        self.own: dict[str, str] = {}  # each seat's newest recommendation
        self.signed: dict[str, Signature] = {}  # what each turn signs, as an id where it signs a text
        self.listed: tuple[str, ...] = ()  # the recommendations that can be signed
        self.lists: dict[tuple[str, str], tuple[str, ...]] = {}  # the items on a seat's list, by letter and seat
        self._held: dict[str, tuple[Any, ...]] = {}
        self._texts: dict[str, str] = {}
        self._joined: dict[str, str] = {}  # the first of those that were called the same
        self._same: dict[str, list[str]] = {}  # by the first one: all that were called the same
        self._said: dict[tuple[str, str], dict[str, Item]] = {}  # each seat's own items, by their words
        self._counts: Counter[str] = Counter()
        self._writer = scene.workflow.phase("synthesis")
        self._vote: tuple[Moment | None, set[str]] = (None, set())  # what is signed in the last vote
        self._read = 0

    @classmethod
    def of(cls, scene: Scene) -> Register:
        """The register of what was said so far. It is kept beside the scene, and reads each turn once."""
        register: Register = scene.kept.setdefault("register", None) or cls(scene)
        scene.kept["register"] = register
        for batch in scene.batches[register._read :]:
            register._read += 1
            register._add(batch)
        return register

    def of_letter(self, letter: str) -> list[Item]:
        return [item for id, item in self.items.items() if id[0] == letter]

    def held_at(self, turn: Turn) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
        """What the seat had said when this turn was over: its recommendation, its conditions, and what it blocks for.

        Items that were called the same are one."""
        own, *lists = self._held[turn.id]
        conditions, blocking = (tuple(dict.fromkeys(map(self.canonical, ids))) for ids in lists)
        return own, conditions, blocking

    def joined(self, id: str) -> list[Item]:
        """An item with all that was called the same, the first one first."""
        first = self.canonical(id)
        return [self.items[one] for one in self._same.get(first, [first])]

    def canonical(self, id: str) -> str:
        return self._joined.get(id, id)

    def side(self, turn: Turn) -> Signature:
        """What a turn signs, before or after it was added: an id that its seat had read, or its own new text."""
        given = turn.answers.get("signs")
        text = str(turn.answers.get("recommendation") or "")
        return self.resolve(given, turn.seat.name, text) if isinstance(given, Signature) else SILENT

    def resolve(self, given: Signature, seat: str, text: str = "") -> Signature:
        """What a signature means beside this text. With a new one, `own`, `none` and the old text's id all mean it.

        The same words are the same text, so `own` beside somebody else's words means theirs."""
        old = self.own.get(seat, "")
        if self.is_new(text) and given.side in ("own", NONE, old):
            return Signature("own", given.why)
        if given.side == "own":
            return Signature(self._texts.get(fold(text), old), given.why)
        if given.side in (NONE, UNDECIDED, *self.listed):
            return given
        return SILENT

    def is_result(self, turn: Turn) -> bool:
        """Whether this turn writes the result of the debate."""
        return self._writer is not None and (turn.phase, turn.step) == (self._writer.name, self._writer.steps[0].name)

    def is_new(self, text: str) -> bool:
        """Whether nobody recommended this before."""
        return bool(text) and fold(text) not in self._texts

    def _add(self, turns: tuple[Turn, ...]) -> None:
        """Read the turns of one batch. None of them has read another's."""
        if self.is_result(turns[0]):
            for turn in turns:
                self._rule(turn)  # who writes the result only repeats what others said
                self._held[turn.id] = ("", (), ())
                self.signed |= {turn.id: self.side(turn)} if "signs" in turn.asked else {}
            return
        sides = [self.side(turn) for turn in turns]
        for turn, side in zip(turns, sides, strict=True):
            if text := str(turn.answers.get("recommendation") or ""):
                self._recommend(turn, text)
            if "signs" in turn.asked:
                self.signed[turn.id] = replace(side, side=self.own[turn.seat.name]) if side.side == "own" else side
        for turn in turns:
            for letter in LISTS:
                self._list(letter, turn)
        for turn in turns:
            self._rule(turn)
            seat = turn.seat.name
            held = (self.lists.get((letter, seat), ()) for letter in LISTS)
            self._held[turn.id] = (self.own.get(seat, ""), *held)
        self._list_texts(turns)

    def _list_texts(self, turns: tuple[Turn, ...]) -> None:
        """A text that its owner has replaced, and that nobody signs in the last vote, leaves the list."""
        sides = [self.signed[turn.id].side for turn in turns if turn.id in self.signed]
        if sides and turns[0].moment != self._vote[0]:
            self._vote = (turns[0].moment, set())
        self._vote[1].update(sides)
        replaced = {item.replaces for item in self.items.values()}
        texts = (item.id for item in self.of_letter("R"))
        self.listed = tuple(id for id in texts if id not in replaced or id in self._vote[1])

    def _recommend(self, turn: Turn, text: str) -> None:
        """A seat's text. The same words are the same text, even if another seat says them again."""
        seat, words = turn.seat.name, fold(text)
        if words not in self._texts:
            old = self.own.get(seat, "")
            revisions = sum(one.by.seat == seat for one in self.of_letter("R"))
            if old and self.items[old].by.seat == seat and revisions < MOST_REVISIONS:
                id = f"{old.rstrip('bcdefghijklmnopqrstuvwxyz')}{chr(ord('a') + revisions)}"
            else:
                self._counts["R"] += 1
                id, old = f"R{self._counts['R']}", ""
            self.items[id] = Item(id, said(turn, text), self._read, old)
            self._texts[words] = id
        self.own[seat] = self._texts[words]

    def _list(self, letter: str, turn: Turn) -> None:
        """A seat's list as it is from now on, if it gives one. An item that begins with an id is that item."""
        seat, name = turn.seat.name, LISTS[letter]
        if name not in turn.answers:
            return
        before = self._said.setdefault((letter, seat), {})
        now: list[Item] = []
        for text in items_of(turn, name):
            id, words = split_id(text)
            if id in self.items and id[0] == letter and self.items[id].batch < self._read:
                now.append(self.items[id])
                if words and self.items[id].by.seat != seat:
                    self.items[id].adopted.append(said(turn, text))
                continue
            if fold(text) not in before:
                self._counts[letter] += 1
                id = f"{letter}{self._counts[letter]}"
                self.items[id] = before[fold(text)] = Item(id, said(turn, text), self._read)
            now.append(before[fold(text)])
        for id in self.lists.get((letter, seat), ()):
            self.items[id].holders.remove(seat)
        self.lists[letter, seat] = tuple(dict.fromkeys(item.id for item in now))
        for id in self.lists[letter, seat]:
            self.items[id].holders.append(seat)

    def _rule(self, turn: Turn) -> None:
        seat = turn.seat.name
        for text in items_of(turn, "rulings"):
            id, words = split_id(text)
            if id not in self.items:
                continue
            word, other = read_word(words)
            self.items[id].rulings.append(Ruling(said(turn, words), word, other))
            owners = {self.items[one].by.seat for one in (id, other) if one in self.items}
            if word == WITHDRAWN:
                self._withdraw(id, seat)
            elif (
                word == SAME
                and other in self.items
                and other[0] == id[0] != "R"
                and (self.is_result(turn) or seat in owners)
            ):
                first, second = sorted((self.canonical(id), self.canonical(other)), key=lambda one: int(one[1:]))
                if first != second:
                    moved = self._same.pop(second, [second])
                    self._same.setdefault(first, [first]).extend(moved)
                    self._joined.update(dict.fromkeys(moved, first))

    def _withdraw(self, id: str, seat: str) -> None:
        """Take an item from a seat's list. Who holds it in another wording, called the same, may use either id."""
        named = [one for one in self.joined(id) if seat in one.holders]
        for item in [self.items[id]] if self.items[id] in named else named:
            item.holders.remove(seat)
            self.lists[id[0], seat] = tuple(one for one in self.lists[id[0], seat] if one != item.id)


SILENT = Signature(UNREADABLE)


def read_word(words: str) -> tuple[str, str]:
    """The word of a ruling and, where it calls an item the same, the other id: `same as K1: both name a date`."""
    head = fold(words.partition(":")[0])
    if head.startswith(f"{SAME} "):
        return SAME, split_id(head.removeprefix(SAME).strip())[0]
    return (head if head in WORDS else ""), ""


def said(turn: Turn, text: object) -> Said:
    return Said(turn.seat.name, turn.seat.label, turn.id, str(text).strip())


def items_of(turn: Turn, name: str) -> tuple[str, ...]:
    """The items of an answer. A line that holds nothing but ids names each of them."""
    return items_in(turn.answers, name)


def items_in(answers: Mapping[str, Any], name: str) -> tuple[str, ...]:
    given = answers.get(name) or ()
    return tuple(one for item in (given if isinstance(given, tuple) else (str(given),)) for one in split_items(item))


def split_items(item: str) -> Iterator[str]:
    parts = [part.strip() for part in item.replace(" and ", ",").split(",")]
    if len(parts) > 1 and all(id and not rest for id, rest in map(split_id, parts)):
        yield from parts
    else:
        yield item
