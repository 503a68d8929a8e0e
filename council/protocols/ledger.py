"""The ledger of concerns: every blocking item, challenge and risk, who raised it, and what became of it.

A concern is an item of an answer that is declared with `concern`. It gets an id when it is first named. Its owner keeps
it by naming it again, by its id or in about the same words, or by calling it open, and settles it by saying so; a
blocking item is settled too if its owner was heard and no longer names it. Nobody else can settle it but a person, who
accepts it. A seat that names another's concern joins it, and holds it open for itself alone. An absent seat settles
nothing.

The ledger is read turn by turn, so what was said later changes nothing in what it says of earlier turns.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice

from council.engine.scene import Scene, Turn
from council.protocols.consensus import ADOPT, DECISION
from council.protocols.mentions import find_mentioned
from council.protocols.settling import (
    Settled,
    ends_concern,
    find_accepted,
    find_ids,
    find_kept,
    find_settled,
    split_ids,
)
from council.text import content_words, fold, likeness, split_passages
from council.workflow import declare
from council.workflow.declare import Word
from council.workflow.model import Seat

OPEN, ANSWERED, WITHDRAWN, ACCEPTED = STATUSES = ("open", "answered", "withdrawn", "accepted")
OPENED, REPEATED, JOINED, REOPENED = "opened", "repeated", "joined", "reopened"
BLOCKS = "blocking"  # the kind of concern that stands in the way of consensus
SAME_WORDS = 0.6  # of the content words of two items, taken together: the same concern in other words
TAKEN_UP = 0.6  # of a concern's content words, in one passage of somebody else's turn
MIN_WORDS = 3  # content words: fewer are not enough to recognize a concern in a passage
MOST_COMPARED = 50  # concerns that an item or a passage is compared with, the newest first: time stays linear


@dataclass(frozen=True)
class Event:
    """One thing that happened to a concern, in the words that did it. `by` is the turn that answered it, if any."""

    what: str
    turn: str
    phase: str
    round: int
    seat: str
    text: str = ""
    by: str = ""


@dataclass(frozen=True)
class Concern:
    """A concern at the end of a scene. `text` is its newest wording, and `holders` are the seats that still name it."""

    id: str
    kind: str
    owner: Seat
    text: str
    status: str
    history: tuple[Event, ...]
    holders: tuple[str, ...] = ()

    @property
    def opened(self) -> Event:
        return self.history[0]

    @property
    def settled(self) -> Event | None:
        """What settled it; None while it is open."""
        ended = (event for event in reversed(self.history) if event.what in STATUSES)
        return None if self.status == OPEN else next(ended)


_read: list[tuple[tuple[Turn, ...], tuple[Concern, ...]]] = []  # the last ledgers: one plan asks for the same again
_reading: list[_Reader] = []  # the one that read the newest of them, unless a thread is using it


def read_ledger(scene: Scene) -> tuple[Concern, ...]:
    """Every concern that was raised so far, in the order of its id."""
    for turns, ledger in _read:
        if turns is scene.turns:
            return ledger
    reader = _find_reader(scene)
    for turn in scene.turns[len(reader.turns) :]:
        reader.read(turn)
    ledger = tuple(draft.freeze() for draft in reader.drafts)
    _reading[:] = [reader]
    _read[:] = [(scene.turns, ledger), *_read[:3]]
    return ledger


def forget() -> None:
    """What was read of debates that nobody asks for again soon."""
    _read[:] = _reading[:] = ()


def _find_reader(scene: Scene) -> _Reader:
    """The last reader if it has read the beginning of this scene: a debate that is planned only grows."""
    with suppress(IndexError):
        reader = _reading.pop()
        same = len(reader.turns) <= len(scene.turns) and reader.scene.roles == scene.roles
        if same and all(map(operator.is_, reader.turns, scene.turns)):
            return reader
    return _Reader(scene)


def is_concern(answer: str) -> bool:
    """Whether the items of an answer of this name are concerns."""
    return answer in declare.answer.known and declare.answer.known[answer].concern != ""


def is_beside(turn: Turn, scene: Scene) -> bool:
    """Whether a turn is beside the debate: its phase has a role, such as the synthesis."""
    return turn.phase in scene.roles.values()


class _Draft:
    """A concern while the ledger is read. `held` has each seat that names it; `taken_up` is a peer's answer to it."""

    def __init__(self, id: str, word: Word, owner: Seat) -> None:
        self.id, self.word, self.owner = id, word, owner
        self.text, self.words = "", frozenset[str]()
        self.history: list[Event] = []
        self.held: dict[str, Turn] = {}
        self.accepted = False
        self.taken_up: Turn | None = None
        self.frozen: Concern | None = None  # as long as nothing happens to it

    def note(self, what: str, turn: Turn, text: str, by: str = "") -> None:
        self.frozen = None
        self.history.append(Event(what, turn.id, turn.phase, turn.round, turn.seat.name, text, by))

    def name(self, turn: Turn, item: str, wording: str) -> None:
        """A seat names the concern: for the first time, again, or after it was settled."""
        seat, owned = turn.seat.name, turn.seat.name == self.owner.name
        new = not self.history
        kept = self.accepted or seat in self.held
        what = OPENED if new else REPEATED if kept else REOPENED if owned or not self.held else JOINED
        self.note(what, turn, item)
        if not self.accepted:
            self.held[seat] = turn
        if owned and wording:
            self.text, self.words, self.taken_up = wording, content_words(wording), None

    def settle(self, turn: Turn, said: Settled | None, by: Turn | None) -> None:
        """A seat no longer holds it: because it says so, or because it no longer names it."""
        answer = by or self.taken_up
        what = WITHDRAWN if (said.withdrawn if said else answer is None) else ANSWERED
        self.note(what, turn, said.words if said else "", answer.id if answer and what == ANSWERED else "")
        self.held.pop(turn.seat.name, None)

    def freeze(self) -> Concern:
        if self.frozen is None:
            ended = next((event.what for event in reversed(self.history) if event.what in STATUSES), OPEN)
            status = ACCEPTED if self.accepted else OPEN if self.held else ended
            kind, history, holders = self.word.concern, tuple(self.history), tuple(self.held)
            self.frozen = Concern(self.id, kind, self.owner, self.text, status, history, holders)
        return self.frozen


class _Reader:
    """Reads one turn after the other. What a phase with a role says is beside the debate, but for a person's words."""

    def __init__(self, scene: Scene) -> None:
        self.words = {name: word for name, word in declare.answer.known.items() if word.concern}
        self.scene = scene
        self.turns: list[Turn] = []  # that were read
        self.shown: frozenset[str] | None = None  # the ids in the brief of the turn that is being read, once needed
        self.drafts: list[_Draft] = []
        self.own: dict[tuple[str, str], dict[str, _Draft]] = {}  # by seat and answer, in the order of their ids
        self.held: dict[str, dict[str, _Draft]] = {}  # by seat: what it still names
        self.open: dict[str, _Draft] = {}
        self.spoke: dict[str, Turn] = {}

    def read(self, turn: Turn) -> None:
        self.turns.append(turn)
        if turn.absent:
            return
        self.shown = None
        text = _read_words(turn)
        if turn.seat.is_person:
            self.accept(turn, text)
        if is_beside(turn, self.scene):
            return
        said, named = self.list_items(turn)
        self.keep(turn, find_kept(text), named)
        self.settle(turn, [*said, *find_settled(text)], named)
        self.take_up(turn, text)
        self.spoke[turn.seat.name] = turn

    # ---- what a seat names ----

    def list_items(self, turn: Turn) -> tuple[list[Settled], set[str]]:
        """Take in the items of a turn: the concerns that it calls settled in them, and those that it names."""
        said: list[Settled] = []
        named: set[str] = set()
        for answer in turn.asked:
            items = turn.answers.get(answer) if answer in self.words else None
            if isinstance(items, tuple):
                self.match(turn, self.words[answer], map(str, items), said, named)
        return said, named

    def match(self, turn: Turn, word: Word, items: Iterable[str], said: list[Settled], named: set[str]) -> None:
        """Find the concern of each item: by its id, else by its words among the seat's own, else it is a new one. What
        blocks is never a part of a challenge or a risk, which block nothing: it is a concern of its own."""
        left: list[tuple[str, str]] = []
        for item in items:
            ids, rest, parted = split_ids(item)
            shown = self.find(ids, turn)
            if shown and ends_concern(item):
                said += [one for one in find_settled(item) if one.id in ids]
                continue
            known = [draft for draft in shown if parted or draft.owner.name == turn.seat.name]
            milder = {draft.id for draft in known if word.concern == BLOCKS != draft.word.concern}
            for draft in known:
                named.add(draft.id) if draft.id in milder else self.name(draft, turn, item, rest, named)
            if len(known) == len(milder):
                left.append((item, f"{known[0].id}: {known[0].text}" if milder and not rest else item))
        own = self.own.setdefault((turn.seat.name, word.name), {})
        exact = {fold(draft.text): draft for draft in own.values()}
        candidates = {draft.id: draft for draft in reversed(own.values()) if draft.id not in named}
        for item, wording in left:
            same = exact.get(fold(wording))
            if same is not None and same.id in named:
                continue
            found = same or _find_alike(wording, candidates.values())
            draft = found or _Draft(f"C{len(self.drafts) + 1}", word, turn.seat)
            self.drafts += [draft] if found is None else []
            own[draft.id] = exact[fold(wording)] = draft
            candidates.pop(draft.id, None)
            self.name(draft, turn, item, wording, named)

    def keep(self, turn: Turn, kept: Mapping[str, str], named: set[str]) -> None:
        """Take in that a seat calls a concern open that it raised or holds: "C2 is not answered", "I reopen C2"."""
        for draft in self.find(kept, turn):
            if turn.seat.name in (draft.owner.name, *draft.held) and not self.is_quoted(kept[draft.id], turn):
                self.name(draft, turn, kept[draft.id], "", named)

    def is_quoted(self, sentence: str, turn: Turn) -> bool:
        """Whether a sentence begins with another seat's name and a colon, as a line of what was said before does."""
        head, colon, _ = sentence.partition(":")
        others = (one.seat for one in self.spoke.values() if one.seat.name != turn.seat.name)
        return bool(colon) and not find_ids(head) and bool(find_mentioned(f"{head}:", others))

    def find(self, ids: Iterable[str], turn: Turn) -> list[_Draft]:
        """The concerns of these ids. An id counts only if the seat's brief shows it: members may number their own."""
        numbers = dict.fromkeys(int(id[1:]) for id in ids)
        drafts = [self.drafts[number - 1] for number in numbers if 0 < number <= len(self.drafts)]
        if not drafts or not turn.said.brief or turn.seat.is_person:
            return drafts
        if self.shown is None:
            self.shown = frozenset(find_ids(turn.said.brief))
        return [draft for draft in drafts if draft.id in self.shown]

    def name(self, draft: _Draft, turn: Turn, item: str, wording: str, named: set[str]) -> None:
        if draft.id not in named:
            draft.name(turn, item, wording)
        elif wording:
            draft.note(REPEATED, turn, item)  # more of it, in an item of its own
        named.add(draft.id)
        if not draft.accepted:
            self.held.setdefault(turn.seat.name, {})[draft.id] = self.open[draft.id] = draft

    # ---- how a concern ends ----

    def settle(self, turn: Turn, said: Iterable[Settled], named: set[str]) -> None:
        """Settle what the seat holds and calls settled, or was asked for and no longer names."""
        held = self.held.get(turn.seat.name, {})
        told: dict[str, Settled] = {}
        for one in said:
            if not self.is_quoted(one.words, turn):
                told.setdefault(one.id, one)
        shown = {draft.id for draft in self.find(told, turn)}
        for draft in [draft for id, draft in held.items() if id not in named]:
            words = told.get(draft.id) if draft.id in shown else None
            heard = isinstance(turn.answers.get(draft.word.name), tuple)
            if words or (heard and (draft.word.lapses or draft.taken_up)):
                draft.settle(turn, words, self.find_answer(words, turn) if words else None)
                del held[draft.id]
                if not draft.held:
                    del self.open[draft.id]

    def find_answer(self, said: Settled, turn: Turn) -> Turn | None:
        """The last turn of the seat that a sentence names as the one who answered."""
        seats = (one.seat for name, one in self.spoke.items() if name != turn.seat.name)
        named = find_mentioned(said.words, seats)
        return self.spoke[named[0].name] if named else None

    def take_up(self, turn: Turn, text: str) -> None:
        """Note that a turn answers others' concerns: by their ids, or if their owners' silence is to settle them, in
        their words."""
        others = {one.id: one for one in self.open.values() if turn.seat.name not in one.held}
        for unread in _list_unread(turn, others.values()):
            del others[unread]
        if not others:
            return
        for draft in self.find(find_ids(text), turn):
            if draft.id in others:
                draft.taken_up = turn
        passages = [content_words(part) for part in split_passages(text)]
        lapsing = (draft for draft in reversed(others.values()) if draft.word.lapses)
        for draft in islice(lapsing, MOST_COMPARED):
            least = max(TAKEN_UP * len(draft.words), MIN_WORDS)
            if any(len(draft.words & words) >= least for words in passages):
                draft.taken_up = turn

    def accept(self, turn: Turn, text: str) -> None:
        """A person accepts the concerns that they name, or by adopting an option, all that are open."""
        accepted = find_accepted(text)
        everything = "*" in accepted or turn.answers.get(DECISION) == ADOPT
        by_id = self.find((id for id in accepted if id != "*"), turn)
        for draft in list(self.open.values()) if everything else by_id:
            if draft.held:
                draft.note(ACCEPTED, turn, accepted.get(draft.id, accepted.get("*", "")))
                for seat in draft.held:
                    del self.held[seat][draft.id]
                draft.held, draft.accepted = {}, True
                del self.open[draft.id]


def _find_alike(wording: str, candidates: Iterable[_Draft]) -> _Draft | None:
    """The concern in the most similar words; None if none is similar enough."""
    words = content_words(wording)
    scored = ((likeness(words, draft.words), bool(draft.held), draft) for draft in islice(candidates, MOST_COMPARED))
    alike = [one for one in scored if one[0] >= SAME_WORDS]
    return max(alike, key=lambda one: one[:2])[2] if alike else None


def _list_unread(turn: Turn, concerns: Iterable[_Draft]) -> list[str]:
    """The concerns that the turn cannot answer: those that were named beside it, and that its brief does not have.
    Of many that were named beside it, only the newest are looked for."""
    if not turn.said.brief:
        return []
    beside = [one for one in concerns if any(named.moment == turn.moment for named in one.held.values())]
    looked_for = {one.id for one in beside[-MOST_COMPARED:]}
    return [one.id for one in beside if one.id not in looked_for or one.text[:80] not in turn.said.brief]


def _read_words(turn: Turn) -> str:
    """A seat's own words, without the items of its lists: naming a concern is not answering it."""
    texts = (str(value) for value in turn.answers.values() if isinstance(value, str))
    return "\n\n".join(filter(None, (turn.prose, *texts)))
