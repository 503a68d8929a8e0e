"""The portable loop by script, for any client: what a host and its members do next, given what they were shown last.

Both follow the text that `council` prints, never `--json`, and know nothing of the client. An adapter for a client
turns what its model was asked into a `Talk`, and each action into a call of one of the client's tools:

    act = portable.Council("Council: Queue or table?", words)
    act(Talk(opening, shown, seen))  ->  [Shell("council next 2026…")]

A conversation belongs to a member if it opens with the sentence that `council next` prints for one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

DELIMITER = "TOPIC-7c1f92ab"
ENDED = "The council has spoken.\n"
ATTEMPTS = 5

SESSION = re.compile(r"\d{8}-\d{6}-[0-9a-f]{8}")
DUE = re.compile(r"^- (?P<name>.+?): model (?P<model>\S+), prompt: (?P<prompt>.+?)\s*$", re.M)
SENTENCE = re.compile(
    r"Run `(?P<command>[^`]+ brief (?P<session>\S+) (?P<turn>\S+)(?: --part \d+)?)` and do what it prints\."
)
PROGRAM = r"""(?:"[^"\n]+"|'[^'\n]+'|\S+)"""
INSTEAD = re.compile(
    rf"save your answer in a new file and run: "
    rf"(?P<command>{PROGRAM} record (?P<session>\S+) (?P<turn>\S+) --file - <) FILE"
)
STORE = re.compile(
    rf"^\s*(?P<command>{PROGRAM} record (?P<session>\S+) (?P<turn>\S+) --file - <<'(?P<end>ANSWER-\w+)')", re.M
)
OVER = "Nothing is due: the debate is over"
SKILL = "You are the host of a debate"  # SKILL.md, once the client has loaded it


@dataclass(frozen=True)
class Talk:
    """One conversation of a model: what opened it, what was said since the model's newest answer, and all of it."""

    opening: str
    shown: str
    seen: str

    @property
    def turn(self) -> str | None:
        """The turn of the member whose conversation this is; None in the host's."""
        found = SENTENCE.search(self.opening)
        return found["turn"] if found else None


@dataclass(frozen=True)
class Load:
    """Load the skill."""


@dataclass(frozen=True)
class Shell:
    """Run a command line in the client's shell."""

    command: str


@dataclass(frozen=True)
class Save:
    """Write a new file in the project."""

    name: str
    text: str


@dataclass(frozen=True)
class Ask:
    """Ask a member: a subagent with a context of its own. Several in one answer are asked at once."""

    name: str
    model: str
    prompt: str


@dataclass(frozen=True)
class Say:
    """Say this, and nothing more."""

    text: str


Action = Load | Shell | Save | Ask | Say


class Council:
    """A host that holds one debate, and members who say the words given for their turn. `begin` is the first command,
    in place of a new session's. It counts how often each turn's member read its brief. A turn that is due for the
    sixth time is not asked for again.
    """

    def __init__(self, topic: str, words: Mapping[str, str], begin: str = "") -> None:
        self.words = words
        self.topic = topic
        self.begin = begin or f"council start - <<'{DELIMITER}'\n{topic}\n{DELIMITER}"
        self.launched: Counter[str] = Counter()
        self.asked: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()

    def __call__(self, talk: Talk) -> list[Action]:
        return self.member(talk) if talk.turn else self.host(talk)

    def host(self, talk: Talk) -> list[Action]:
        """Load the skill, start, ask all that is due at once, and look again when they have answered."""
        if OVER in talk.shown:
            return [Say(ENDED)]
        if due := list(DUE.finditer(talk.shown)):
            self.launched.update(row["prompt"] for row in due)
            if max(self.launched.values()) > ATTEMPTS:
                return [Say("The same turn is due again and again.\n")]
            return [Ask(row["name"], row["model"], row["prompt"]) for row in due]
        if SKILL in talk.shown:
            return [Shell(self.begin)]
        _, loaded, since = talk.seen.rpartition(SKILL)
        if sessions := SESSION.findall(since):
            return [Shell(f"{program(talk.seen)} next {sessions[-1]}")]
        if DELIMITER in talk.shown:
            return [Shell(f"council start - < {DELIMITER}.md")]
        return [Save(f"{DELIMITER}.md", self.topic) if loaded else Load()]

    def member(self, talk: Talk) -> list[Action]:
        """Run the command of the sentence, then the one with which the brief or its part ends, and say no more than
        that. Where the shell refuses it, save the words in a file first.
        """
        if stores := list(STORE.finditer(talk.shown)):
            store = stores[-1]  # a topic may quote such a line; the brief's own ending is the last
            self.asked[store["turn"]] += 1
            words = self.words[store["turn"]].removesuffix("\n")  # what a shell reads so ends with a new line
            return [Shell(f"{store['command']}\n{words}\n{store['end']}")]
        if sentences := list(SENTENCE.finditer(talk.shown)):
            return [Shell(sentences[-1]["command"])]
        if stored := re.search(r"recorded \S+.*", talk.shown):
            return [Say(stored[0])]
        self.refused[str(talk.turn)] += 1
        stores, instead = list(STORE.finditer(talk.seen)), INSTEAD.search(talk.seen)
        if self.refused[str(talk.turn)] > ATTEMPTS or not (stores and instead):  # a client may have cut what it said
            return [Say("My answer cannot be stored.")]
        store = stores[-1]
        if store["end"] in talk.shown:
            return [Shell(f"{instead['command']} {store['end']}.md")]
        return [Save(f"{store['end']}.md", self.words[store["turn"]])]


def program(seen: str) -> str:
    """What the commands that council printed begin with."""
    sentences = list(SENTENCE.finditer(seen))
    return sentences[-1]["command"].partition(" brief ")[0] if sentences else "council"
