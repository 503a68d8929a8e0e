"""Shapes in which models write reviews that nobody asked them for in that form, and how a careful reader takes them.

Each shape has the reply, the findings in it (the severity, a phrase of its issue, and whether the severity is only
inferred), what has to be listed as unparsed, and what is outside of the list. Every item of the reply is one of these.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from hypothesis import strategies as st

from council.reviews.parse.findings import read
from council.text import fold
from tests.helpers import MEMBERS, User
from tests.similar import NOTHING, review

PEER = """\
- B1: The lock is taken late, so that two writers meet. → Take it first.
- H1: No unit is given for the timeout of the lease. → Seconds.
"""


@dataclass(frozen=True)
class Shape:
    name: str
    text: str
    findings: tuple[tuple[str, str], ...] = ()
    inferred: tuple[str, ...] = ()  # phrases of the findings whose severity is only inferred
    unparsed: tuple[str, ...] = ()
    outside: tuple[str, ...] = ()
    brief: str = ""

    def wrong(self) -> Iterator[str]:
        """What the program reads otherwise than a careful reader: missed, invented, misread or lost."""
        found = read(self.text, self.brief)
        left = list(found.items)
        for severity, phrase in self.findings:
            match = next((item for item in left if fold(phrase) in fold(item.issue)), None)
            if match is None:
                yield f"{self.name}: missed: {phrase}"
                continue
            left.remove(match)
            if match.severity != severity:
                yield f"{self.name}: {phrase}: {match.severity} in place of {severity}"
            if match.inferred != (phrase in self.inferred):
                yield f"{self.name}: {phrase}: {'inferred' if match.inferred else 'not inferred'}"
        yield from (f"{self.name}: invented: {item.severity} {item.issue}" for item in left)
        pieces = fold("\n".join(found.unparsed))
        yield from (f"{self.name}: lost: {phrase}" for phrase in self.unparsed if fold(phrase) not in pieces)
        listed = fold("\n".join(f"{item.issue} {item.change}" for item in found.items))
        for phrase in self.outside:
            if fold(phrase) in pieces or fold(phrase) in listed:
                yield f"{self.name}: not outside: {phrase}"
        if len(found.unparsed) > len(self.unparsed):
            yield f"{self.name}: unparsed: {found.unparsed}"

    @property
    def gates(self) -> bool:
        """Whether a careful reader would stop at it."""
        return any(severity == "blocking" and phrase not in self.inferred for severity, phrase in self.findings)


SHAPES = (
    Shape(
        "counts in one bold line",
        """\
# Review

**CRITICAL: 0 | IMPORTANT: 2 | MINOR: 1**

### IMPORTANT

1. The retry loop has no upper bound at all.
2. The lease is renewed by a timer that may be late.

### MINOR

1. The title of the page says nothing.
""",
        (("high", "no upper bound"), ("high", "may be late"), ("low", "title of the page")),
        outside=("IMPORTANT: 2",),
    ),
    Shape(
        "a count with words behind it",
        "## Summary\n\nCRITICAL: 0 — No blocking issues found\n\n## Minor\n\n- The footer is grey on grey.\n",
        (("low", "footer is grey"),),
        outside=("No blocking issues",),
    ),
    Shape(
        "counts as bullets",
        """\
**Counts**
- CRITICAL: 0 issues
- MAJOR: 1 issue
- MINOR: 0

**MAJOR**
- The export leaves out archived rows.
""",
        (("high", "archived rows"),),
        outside=("0 issues", "1 issue"),
    ),
    Shape(
        "a severity that is in no table",
        """\
## IMPORTANT Issues

### 1. Guards ignored
- MatchArm.Guard is parsed but never evaluated.

### 2. Spans are off by one
- The last column is not counted.
""",
        unparsed=("MatchArm.Guard is parsed", "The last column is not counted"),
    ),
    Shape(
        "the reply's own ladder",
        """\
## CRITICAL Issues

None.

## IMPORTANT Issues

### 1. Guards ignored
- MatchArm.Guard is parsed but never evaluated.

## MINOR Issues

### 2. Spans are off by one
- The last column is not counted.
""",
        (("high", "Guards ignored"), ("low", "Spans are off by one")),
    ),
    Shape(
        "must, should, could",
        """\
## Must

- Name who may delete the table of audits.

## Should

- Give the unit of every timeout.

## Could

- Sort the glossary by its letters.
""",
        (("blocking", "who may delete"), ("high", "unit of every timeout"), ("low", "Sort the glossary")),
    ),
    Shape(
        "a plain line with a colon inside of an issue",
        """\
## CRITICAL

### 1. The token is in the address
It can be read in every log.

Either:
- send it in a header, or
- send it in a cookie

### 2. The key never changes
One leak is for ever.

### 3. The backup is not encrypted
Anybody at the site can read it.
""",
        (("blocking", "token is in the address"), ("blocking", "key never changes"), ("blocking", "backup is not")),
    ),
    Shape(
        "test cases inside of an issue",
        """\
## CRITICAL

### 1. An empty list is refused
The parser stops at the bracket.

Test Cases:
- an empty list
- a list of one

### 2. A comment ends the file
Everything behind it is dropped.
""",
        (("blocking", "empty list is refused"), ("blocking", "comment ends the file")),
    ),
    Shape(
        "a field that sounds like a summary",
        """\
**[Major]** The action of step three is not defined for an empty cart.

**Replacement for the empty cart's Action cell:**

> Show the start page.

**[Major]** The price is computed before the discount is known.

**[Minor]** The term basket is used for two things in the text.
""",
        (("high", "action of step three"), ("high", "price is computed"), ("low", "term basket")),
    ),
    Shape(
        "a numbered chapter over tagged paragraphs",
        """\
## 1. Architecture

**[Major]** Two services write to the same table without a lock.

**[Minor]** The diagram has no legend.

## 2. Build Spec Material

**[Minor]** The version of the compiler is not given.

**[Major]** Nothing says who may publish a release.
""",
        (("high", "Two services write"), ("low", "no legend"), ("low", "compiler"), ("high", "publish a release")),
    ),
    Shape(
        "headings with a number and their own severity",
        """\
### 1. CRITICAL – The lock is taken too late
Two writers meet.

### 2. IMPORTANT – The log is never rotated
The disk fills up.

### 3. MINOR – A typo in the glossary
Lease is spelled twice.
""",
        (("blocking", "lock is taken too late"), ("high", "log is never rotated"), ("low", "typo in the glossary")),
    ),
    Shape(
        "an approval that names what was mended",
        """\
**STATUS: APPROVED**

**Original Issues Addressed:**
1. **CRITICAL-2**: The missing lock is there now.
2. **MAJOR-1**: The unit of the timeout is given.

**MINOR**
- The second table has no caption.
""",
        (("low", "second table"),),
        outside=("missing lock", "unit of the timeout"),
    ),
    Shape(
        "a summary sentence with a bold severity",
        """\
In general there are **CRITICAL** issues around the way in which keys are kept, see below.

**HIGH:**
- H1: The key is in the repository. → Take it out.
""",
        (("high", "key is in the repository"),),
    ),
    Shape(
        "recommended fix",
        """\
## CRITICAL

### The key is in the repository
Anybody with access can sign.

**Recommended Fix:**
Take it out and change it.

## MINOR

### The title is too long
It is cut on a phone.

**Example Fix:**
Call it Keys.
""",
        (("blocking", "key is in the repository"), ("low", "title is too long")),
    ),
    Shape(
        "headings that belong to an issue",
        """\
## Blocking

### The importer drops rows without a date

#### Why This Matters

Invoices vanish.

#### Proposed content

Keep them and mark them.

#### Files:

- import.md
- dates.md
""",
        (("blocking", "drops rows without a date"),),
    ),
    Shape(
        "a list of what to do first",
        """\
## CRITICAL

**CRITICAL-3**: The import detection takes comments for imports.

## Recommended Actions

### High Priority (Fix Before Merge)
1. Fix import detection bug (CRITICAL-3)
""",
        (("blocking", "import detection takes comments"),),
        outside=("Fix import detection bug",),
    ),
    Shape(
        "an arrow between two words",
        "[Major] No specification for how Code mode Phase 3→4 transition validates its input.\n",
        (("high", "Phase 3→4 transition validates"),),
    ),
    Shape(
        "none, in bold",
        """\
## CRITICAL

**None identified** - All critical functionality appears to be working.

## MINOR

- The help text is cut.
""",
        (("low", "help text is cut"),),
        outside=("All critical functionality",),
    ),
    Shape(
        "approved, and nothing else",
        "STATUS: APPROVED ✅\n\nThe critical path was tested, and it is critical that it stays so.\n",
        outside=("critical path",),
    ),
    Shape(
        "approved, with a severity in a sentence",
        """\
**Verdict: APPROVED**

One **CRITICAL** thing to watch after the merge is the size of the log.
""",
        (("blocking", "size of the log"),),
        inferred=("size of the log",),
    ),
    Shape(
        "no criticals by its own count, and one in the list",
        """\
CRITICAL_COUNT: 0

- [Critical] The naming of the two endpoints differs.
- [Minor] A comma is missing.
""",
        (("blocking", "naming of the two endpoints"), ("low", "comma is missing")),
        inferred=("naming of the two endpoints",),
    ),
    Shape(
        "not approved",
        "**Status: NOT APPROVED**\n\n- [Critical] The naming of the two endpoints differs.\n",
        (("blocking", "naming of the two endpoints"),),
    ),
    Shape(
        "approved once something is done",
        "Verdict: approved once B1 is fixed\n\n**BLOCKING:**\n- B1: The key is in the repository. → Take it out.\n",
        (("blocking", "key is in the repository"),),
    ),
    Shape("a copy of a peer's list", PEER, brief=f"They said:\n{PEER}", outside=("lock is taken late",)),
    Shape(
        "a copy of a peer's list with other numbers",
        "**HIGH:**\n1. The lock is taken late, so that two writers meet. → Take it first.\n"
        "2. The lease has no owner. → Name one.\n",
        (("high", "lease has no owner"),),
        brief=f"They said:\n{PEER}",
        outside=("lock is taken late",),
    ),
    Shape(
        "a peer's first line, and something of one's own",
        "**HIGH:**\n- H7: No unit is given for the timeout of the lease.\n  The renewal has the same fault, and nobody "
        "counts how often it fails.\n",
        (("high", "nobody counts how often"),),
        brief=f"They said:\n{PEER}",
    ),
    Shape(
        "bullets under a heading without a severity",
        "## Concerns\n\n- Nobody owns the rota.\n- The alarm goes to a list that nobody reads.\n",
        unparsed=("Nobody owns the rota", "The alarm goes to a list"),
    ),
    Shape(
        "strengths first",
        "## Strengths\n\n- The text is short.\n- The diagram helps.\n\n## High\n\n- The owner is not named.\n",
        (("high", "owner is not named"),),
        outside=("text is short", "diagram helps"),
    ),
    Shape(
        "the same fault in two places of one reply",
        "**HIGH:**\n- H1: (s.md:10) No limit of size. → Limit it.\n- H2: (s.md:50) No limit of size. → Limit it.\n",
        (("high", "No limit of size"), ("high", "No limit of size")),
    ),
    Shape(
        "one number for two findings of one reply",
        "**BLOCKING:**\n- B1: (s.md:10) SQL injection in the search form. → Bind.\n\n"
        "And in the second file:\n\n**BLOCKING:**\n- B1: (t.md:50) SQL injection in the export form. → Bind.\n",
        (("blocking", "in the search form"), ("blocking", "in the export form")),
    ),
    Shape(
        "a list that is given twice",
        "**HIGH:**\n- H1: (s.md:10) No limit of size. → Limit it.\n\n# Final answer\n\n**HIGH:**\n"
        "- H1: (s.md:10) No limit of size. → Limit it.\n",
        (("high", "No limit of size"),),
    ),
    Shape(
        "a numbered list without any severity",
        "I see these points:\n\n1. The owner is not named.\n2. The unit is not given.\n",
        unparsed=("owner is not named", "unit is not given"),
    ),
    Shape(
        "tagged paragraphs without a severity that is known",
        "**[Question]** Who pays for the storage of old versions?\n\n**[Major]** The old versions are never deleted.\n",
        (("high", "old versions are never deleted"),),
        unparsed=("Who pays for the storage",),
    ),
    Shape(
        "a severity in a sentence of prose",
        "The retry loop is a blocking issue: it never ends when the server is down.\n",
        (("blocking", "it never ends"),),
        inferred=("it never ends",),
    ),
    Shape(
        "no blocking issues, said in a bullet of the list",
        "**BLOCKING:**\n- There are no blocking issues.\n\n**LOW:**\n- L1: The glossary is not sorted.\n",
        (("low", "glossary is not sorted"),),
    ),
)


def try_shape(root: Path, shape: Shape) -> Iterator[str]:
    """What is wrong with the exit code where every member writes the shape, and with a shape as it is read."""
    yield from shape.wrong()
    if shape.brief:  # it is about what the members are given to read, which the program decides itself
        return
    user = User(root)
    user.write("s.md", "# A specification\n\nNothing of it matters here.\n")
    ended = review(user, by_everybody(shape.text))
    if ended.code != (5 if shape.gates else 0):
        yield f"{shape.name}: exit {ended.code}, though a careful reader would {'' if shape.gates else 'not '}stop"


def by_everybody(text: str, **challenges: str) -> dict[str, str]:
    """A review in which every member writes the same, and rules as `challenges` say."""
    said = {f"01-findings/{seat}{again}": text for seat in MEMBERS for again in ("", ".2")}
    said |= {f"02-challenges/{seat}": challenges.get(seat, NOTHING) for seat in MEMBERS}
    return {**said, "04-synthesis/chair": "## Summary\n\nTake them up.\n"}


# Generated replies: whatever they are made of, every item is somewhere.

WORDS = (
    "lock lease queue table index token cookie header footer invoice export import backup rota alarm glossary column "
    "parser bracket comment price discount basket release compiler diagram legend timeout retry cache purge replica"
).split()
SEVERE = ("CRITICAL", "Blocking", "HIGH", "Major", "MEDIUM", "Minor", "LOW", "IMPORTANT", "Serious")
HEADINGS = (
    "## {} Issues", "### {}", "**{}:**", "## Concerns", "## 2. Build Spec Material", "# Review", "## Open points",
    "**{}**", "## {} ({})", "### Details", "## 3. {} findings",
)  # fmt: skip
OUTSIDE = ("## Strengths", "## Summary", "**Original Issues Addressed:**", "## What works", "## Resolved")
ITEMS = (
    "- {words}", "* **{words}**", "1. {words}", "### 4. {words}", "- [{severity}] {words}", "**[{severity}]** {words}",
    "- B{n}: {words}", "**H{n}**: {words}", "- {words}\n  Why This Matters: it breaks {more}",
    "1. **{words}**\n   Recommended Fix: take {more}", "- ({severity}) {words}", "### 2. {severity} – {words}",
    "**[Question]** {words}", "- {words} → take {more}",
)  # fmt: skip
BETWEEN = ("", "\n", "Either:\n", "Test Cases:\n", "---\n", "CRITICAL: 0 | IMPORTANT: 2\n", "**Recommended Fix:**\n")


@dataclass(frozen=True)
class Written:
    """A generated reply, and the first words of each of its items that is not under a heading of OUTSIDE."""

    text: str
    items: tuple[str, ...]

    def lost(self) -> list[str]:
        found = read(self.text)
        kept = _plain(
            "\n".join([*(f"{item.number} {item.issue} {item.change}" for item in found.items), *found.unparsed])
        )
        return [item for item in self.items if _plain(item) not in kept]


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", fold(text)))


@st.composite
def replies(draw: st.DrawFn) -> Written:
    lines: list[str] = []
    items: list[str] = []
    number = 0
    for _ in range(draw(st.integers(1, 4))):
        outside = draw(st.booleans()) and draw(st.booleans())
        heading = draw(st.sampled_from(OUTSIDE if outside else HEADINGS))
        heading = heading.replace("###", "##")  # below a heading that leaves the list it would be outside too
        count = draw(st.integers(0, 4))
        lines += [heading.replace("{}", draw(st.sampled_from(SEVERE)), 1).replace("{}", str(count)), ""]
        for _ in range(count):
            number += 1
            words = f"The {draw(st.sampled_from(WORDS))} of part {number} has no {draw(st.sampled_from(WORDS))}"
            item = draw(st.sampled_from(ITEMS[:3] if outside else ITEMS))
            more = f"the {draw(st.sampled_from(WORDS))} {number}"
            lines += [item.format(words=words, severity=draw(st.sampled_from(SEVERE)), n=number, more=more)]
            lines += [draw(st.sampled_from(BETWEEN))]
            items += [] if outside else [words]
    return Written("\n".join(lines), tuple(items))
