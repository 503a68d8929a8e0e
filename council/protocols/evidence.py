"""Evidence: numbered facts that a session froze when it began, and whether what members cite is among them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from council.engine.contributions import Addition, Record, addition, artifact, remark
from council.engine.facts import PromptContext, fact
from council.engine.scene import Turn
from council.errors import Damaged
from council.text import join_words, mark_code, one_line

FILE, CITATIONS = "evidence.json", "citations.json"
CITED = re.compile(r"\[(E\d{1,4}(?::\d[\d-]*)?(?:\s*[,;]\s*E\d{1,4}(?::\d[\d-]*)?)*)\]")
ONE = re.compile(r"E(\d{1,4})(?::(\d{1,7})(?:-(\d{1,7}))?)?")
FILES, TEXTS, COMMANDS = "file", "text", "command"


@dataclass(frozen=True)
class Evidence:
    """One fact. `lines` are those that members were shown, `of` those that there are; `exit` is a command's code, None
    if it was stopped, as `ended` says."""

    number: int
    kind: str
    name: str
    sha256: str
    lines: int
    of: int
    exit: int | None = None
    ended: str = ""

    @property
    def id(self) -> str:
        return f"E{self.number}"

    @property
    def title(self) -> str:
        cut = f", the first {self.lines:,} of {self.of:,} lines" if self.lines < self.of else ""
        ran = f", {self.ended}" if self.ended else ""
        return f"{self.kind} {one_line(self.name, 200)}{ran}{cut}"


@dataclass(frozen=True)
class Citation:
    """What a turn cites, as written, and why it names nothing; empty if it does."""

    turn: str
    cited: str
    number: int
    problem: str


def read(frozen: Mapping[str, bytes]) -> dict[int, Evidence]:
    """The facts by number; none in most sessions."""
    if FILE not in frozen:
        return {}
    try:
        known = Evidence.__dataclass_fields__
        rows: list[dict[str, Any]] = json.loads(frozen[FILE])["evidence"]
        found = [Evidence(**{key: value for key, value in row.items() if key in known}) for row in rows]
    except (ValueError, TypeError, KeyError, AttributeError):
        raise Damaged(FILE, "not the evidence of a session; restore it from a backup") from None
    return {one.number: one for one in found}


def find_citations(turn: Turn, facts: Mapping[int, Evidence]) -> Iterator[Citation]:
    """Each citation in a turn once, in the order written. What is in a block of code cites nothing."""
    text = "\n".join(line for line, code in mark_code(turn.body.splitlines()) if not code)
    written = dict.fromkeys(one for found in CITED.finditer(text) for one in re.split(r"\s*[,;]\s*", found[1]))
    for cited in written:
        match = ONE.fullmatch(cited)
        number = int(match[1]) if match else 0
        yield Citation(turn.id, cited, number, _explain(cited, match, facts.get(number)))


def _explain(cited: str, match: re.Match[str] | None, known: Evidence | None) -> str:
    if match is None:
        return f"cites {cited}, which is not a fact or lines of it, as in E1:3-7"
    if known is None:
        return f"cites {cited}, which does not exist"
    first, last = int(match[2] or 1), int(match[3] or match[2] or 1)
    if not 1 <= first <= last <= max(known.lines, 1):
        shown = f"{known.lines:,} line{'s' if known.lines != 1 else ''}"
        return f"cites {cited}, but {known.id} has {shown}{' here' if known.lines < known.of else ''}"
    return ""


def list_citations(turns: Iterable[Turn], facts: Mapping[int, Evidence]) -> list[Citation]:
    return [citation for turn in turns if not turn.absent for citation in find_citations(turn, facts)]


@remark
def cites_nothing(turn: Turn, record: Record) -> Iterator[str]:
    """Whether what a turn cites as evidence exists."""
    if (facts := read(record.frozen)) and not turn.absent:
        yield from (citation.problem for citation in find_citations(turn, facts) if citation.problem)


@fact
def evidence(context: PromptContext) -> str:
    """The ids of the facts that members can cite, as in `E1 to E3`; empty in a debate without evidence."""
    found = list(read(context.extra).values())
    return " to ".join(dict.fromkeys((found[0].id, found[-1].id))) if found else ""


@addition
def evidence_used(record: Record) -> Addition | None:
    """The facts that the debate was given, who cited each, and how many citations name nothing."""
    return describe_use(record.frozen, record.plan.scene.turns)


def describe_use(frozen: Mapping[str, bytes], turns: Iterable[Turn]) -> Addition | None:
    """How the evidence was used; None without any."""
    facts, turns = read(frozen), list(turns)
    if not facts:
        return None
    found, labels = list_citations(turns, facts), {turn.id: turn.seat.label for turn in turns}
    wrong = [citation for citation in found if citation.problem]
    points = []
    for given in facts.values():
        who = dict.fromkeys(labels[one.turn] for one in found if one.number == given.number and not one.problem)
        cited = f"cited by {join_words(who)}" if who else "cited by nobody"
        points.append(f"{given.id}: {given.title} (sha256 {given.sha256[:12]}…): {cited}")
    points += [f"{labels[one.turn]} {one.problem}" for one in wrong]
    text = f"{len(found)} citation{'s' if len(found) != 1 else ''}, {len(wrong) or 'none'} of what is not there."
    return Addition("Evidence", text, points=tuple(points))


@artifact(files=(CITATIONS,))
def citations(record: Record) -> Mapping[str, bytes]:
    """Every citation, with why it names nothing."""
    if not (facts := read(record.frozen)):
        return {}
    found = list_citations(record.plan.scene.turns, facts)
    rows = [{"turn": one.turn, "cited": one.cited, "problem": one.problem or None} for one in found]
    wrong = sum(1 for one in found if one.problem)
    data = {"evidence": [one.id for one in facts.values()], "citations": rows, "wrong": wrong}
    return {CITATIONS: (json.dumps(data, indent=2, ensure_ascii=False) + "\n").encode("utf-8", "surrogateescape")}
