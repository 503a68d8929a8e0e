"""What a review finds: the nouns, and the format in which members are asked for them. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from council.engine.scene import Turn
from council.workflow import declare

FINDINGS = declare.answer("findings", "in a review, of the type `findings`: all of them are merged into one list")
RULINGS = declare.answer("rulings", "in a review: what members say of each other's findings")
SUMMARY = declare.answer("summary", "in a review: the words above its list")
SEVERITIES = ("blocking", "high", "medium", "low")
WORDS = ("agree", "disagree with evidence", "disagree with concern", "withdrawn")


def lists_findings(turn: Turn) -> bool:
    """Whether the turn was asked for a review's list. A bench has a plain list under the same name."""
    return FINDINGS in turn.asked and not turn.seat.attributes.get("run")


@dataclass(frozen=True)
class Anchor:
    """Where a finding is, as its author says: a file, lines, a quoted passage, the number of a section; each may be
    lacking.
    """

    path: str = ""
    first: int = 0
    last: int = 0
    quote: str = ""
    section: str = ""


@dataclass(frozen=True)
class Finding:
    """One item of one member's list. `number` is the author's own (B1); `replacement` is None where none was written,
    and empty where the passage is to go. `inferred`: the severity is the program's guess, and not the author's word.
    `repeats` is the id of the entry in the list that it is the same as, if its author says so.
    """

    number: str
    severity: str
    issue: str
    change: str = ""
    anchor: Anchor = Anchor()
    replacement: str | None = None
    inferred: bool = False
    repeats: str = ""


@dataclass(frozen=True)
class Findings:
    """A member's list. `none`: the member said that there is nothing. `unparsed` are pieces that could not be read.
    `tally` is how many findings of each severity the member counts, and `approved` whether the member approves.
    """

    items: tuple[Finding, ...] = ()
    unparsed: tuple[str, ...] = ()
    none: bool = False
    tally: tuple[tuple[str, int], ...] = ()
    approved: bool = False

    def __bool__(self) -> bool:
        """Whether it says anything: findings, or that there are none."""
        return bool(self.items) or self.none


@dataclass(frozen=True)
class Ruling:
    """What a member says of another's finding, by its id: one of WORDS, and why."""

    id: str
    word: str
    why: str = ""


@dataclass(frozen=True)
class Pairing:
    """What a member says of two entries of the list: that they are one finding, or that they differ, and why."""

    id: str
    other: str
    same: bool
    why: str = ""

    @property
    def word(self) -> str:
        return "same as" if self.same else "different from"


@dataclass(frozen=True)
class Document:
    """What is reviewed: a file's path as people write it, and its text."""

    path: str
    text: str


# The format, as it is printed into a brief. What it says is what `read` and `rulings` read.

FORMAT = """\
List your findings under these headings, gravest first; leave out a heading that has none. If you have nothing at all,
write "No findings." and no list.

**BLOCKING:**
- B1: (file.md:12-14) [issue] → [proposed change]

**HIGH:**
- H1: (file.md:20) "[a passage, word for word]" [issue] → [proposed change]

**MEDIUM/LOW:**
- M1: (file.md:31) [issue] → [proposed change]
- L1: [issue]

Say where: file and lines in brackets, or the passage itself in quotation marks, word for word. If you can write the
text that should stand there in place of the lines or the passage, put it below the item, indented, in a block of its
own; an empty block takes the passage away:

- B2: (file.md:40) "[the passage]" [issue] → [proposed change]

  ```suggestion
  [the new text]
  ```
"""

RULING_FORMAT = """\
## Rulings
One line for each finding that you judge, by its id, in one of these words, and why:

[id]: agree
[id]: disagree with evidence: [what shows it, and where]
[id]: disagree with concern: [what you fear]
[id]: withdrawn: [why; only for findings of your own]
[id]: same as [id]: [why the two are one fault; or "different from", where others take them for one]
"""
