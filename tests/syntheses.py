"""Syntheses as models write them, from a seed, and the lines of one that a document lost.

Each line has words of its own, so a line that is found is that line. A synthesis is recorded in a copy of a session as
the program records it; what is derived from it is read back as a reader gets it.
"""

from __future__ import annotations

import html
import random
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from council.engine.planner import Plan
from council.engine.scene import RecordedTurn
from council.record import chain
from council.record.session import Session, open_
from council.replies import parse
from council.reports import derived, produce, summary
from council.reports.html import page
from council.reports.transcript import compose
from council.workflow.model import Kind, Reply
from tests.debates import hold
from tests.helpers import User

BASES: dict[str, str] = {"consensus": "consensus/simple", "perspectives": "perspectives/settled"}
WORDS = ("storage", "Übertragung", "очередь", "数据", "ストレージ", "تخزين", "naïve", "e.g.", "p99", "`code`", "10 %")
DOCUMENTS: tuple[str, ...] = ("decision.md", "issue.md", "synthesis.md", "transcript.md")
KINDS = ("adr", "madr", "decision")
OWNERS = ("Latency", "Fewer Parts")


@dataclass
class Writer:
    """Writes blocks of Markdown. `lines` are those that must be kept: their text without the marks of their kind."""

    rng: random.Random
    lines: list[str]
    verbatim: list[str]
    count: int = 0

    def words(self, code: bool = False) -> str:
        self.count += 1
        said = " ".join(self.rng.choices(WORDS, k=self.rng.randint(1, 4)))
        text = f"word{self.count}x {said} end{self.count}x"
        (self.verbatim if code else self.lines).append(text)
        return text

    def block(self) -> str:
        return self.rng.choice(BLOCKS)(self)

    def text(self, size: int) -> str:
        return "\n\n".join(self.block() for _ in range(size))


def paragraph(writer: Writer) -> str:
    return "\n".join(writer.words() for _ in range(writer.rng.randint(1, 3)))


def bullets(writer: Writer) -> str:
    sign = writer.rng.choice("-*+")
    return "\n".join(f"{sign} {writer.words()}" for _ in range(writer.rng.randint(1, 4)))


def nested(writer: Writer) -> str:
    return (
        f"- {writer.words()}\n  - {writer.words()}\n    1. {writer.words()}\n    2. {writer.words()}\n\n"
        f"  {writer.words()}\n- [ ] {writer.words()}"
    )


def numbered(writer: Writer) -> str:
    return "\n".join(f"{number}. {writer.words()}" for number in range(1, writer.rng.randint(2, 5)))


def table(writer: Writer) -> str:
    rows = [f"| {writer.words()} | {writer.words()} |" for _ in range(writer.rng.randint(2, 4))]
    return "\n".join([rows[0], "|---|:-:|", *rows[1:]])


def code(writer: Writer) -> str:
    mark = writer.rng.choice(("```", "~~~", "````"))
    inner = [f"    {writer.words(code=True)}", f"# {writer.words(code=True)}", "", "## Overview", "- not an item"]
    return "\n".join([f"{mark}{writer.rng.choice(('proto', 'python', ''))}", *inner, mark])


def code_in_a_list(writer: Writer) -> str:
    inner = f"  ```sql\n  SELECT {writer.words(code=True)};\n  ## Confidence\n  ```"
    return f"- {writer.words()}\n\n{inner}\n- {writer.words()}"


def diagram(writer: Writer) -> str:
    return f"```mermaid\ngraph TD; A[{writer.words(code=True)}] --> B\n```"


def heading(writer: Writer) -> str:
    return f"{'#' * writer.rng.randint(1, 6)} {writer.words()}\n\n{writer.words()}"


def underlined(writer: Writer) -> str:
    return f"{writer.words()}\n{writer.rng.choice(('======', '------'))}\n\n{writer.words()}"


def comment(writer: Writer) -> str:
    return f"<!-- {writer.words()} -->\n\n{writer.words()} <b>bold</b> ![seen](https://example.org/x.png)"


def quotation(writer: Writer) -> str:
    return f"> {writer.words()}\n> {writer.words()}"


def label(writer: Writer) -> str:
    return f"**{writer.words()}:** {writer.words()}\n\n---\n\n[{writer.words()}]: https://example.org"


def sub_heading_of_an_answer(writer: Writer) -> str:
    name = writer.rng.choice(("Interfaces", "Caveats", "Tensions"))
    return f"#### {name}\n\n- {writer.words()}"


BLOCKS: tuple[Callable[[Writer], str], ...] = (
    paragraph, bullets, nested, numbered, table, code, code_in_a_list, diagram, heading, underlined, comment, quotation,
    label, sub_heading_of_an_answer,
)  # fmt: skip


def owned(writer: Writer) -> str:
    items = []
    for owner in writer.rng.choices(OWNERS, k=3):
        head = writer.rng.choice((f"{owner}:", f"**{owner}:**", f"*{owner}*:"))
        items.append(f"- {head} {writer.words()}\n  - {writer.words()}")
    return "\n".join(items)


@dataclass(frozen=True)
class Written:
    """A synthesis, its second reply, the lines to keep as text and those to keep as they are, answer by answer."""

    body: str
    sections: dict[str, tuple[tuple[str, ...], tuple[str, ...]]]


def write(reply: Reply, seed: int) -> Written:
    """A synthesis of all the answers, each with blocks of any kind."""
    rng = random.Random(seed)
    sections: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {}
    parts, count = [], 0
    names = [name for name, _ in reply]
    if rng.random() < 0.3:
        rng.shuffle(names)
    for name in ["", *names]:
        writer = Writer(rng, [], [], count)
        text = _answer(name, dict(reply).get(name), writer)
        count = writer.count
        sections[name] = tuple(writer.lines), tuple(writer.verbatim)
        parts.append(f"## {parse.format_heading(name)}\n\n{text}" if name else text)
    body = "\n\n".join(filter(None, parts))
    if rng.random() < 0.1:
        body += "\n\n```text\nwordlastx in a block that is never closed"
        sections[name] = sections[name][0], (*sections[name][1], "wordlastx in a block that is never closed")
    return Written(body.replace("\n", "\r\n") if rng.random() < 0.2 else body, sections)


def _answer(name: str, kind: Kind | None, writer: Writer) -> str:
    if kind is None:
        return writer.text(writer.rng.randint(0, 2))
    if kind.type == "choice":
        more = writer.rng.random() < 0.5
        return kind.options[0] + (f"\n\n{writer.text(1)}" if more else "")
    if name in ("arguments", "trade_offs") and writer.rng.random() < 0.5:
        return owned(writer)
    first = bullets(writer) + "\n\n" if kind.type == "list" and writer.rng.random() < 0.5 else ""
    return first + writer.text(writer.rng.randint(1, 4))


# ---- recorded in a session ----


def begin(folder: Path, kind: str) -> Path:
    """A session of this kind, held by the program to its end: the synthesis in it is replaced again and again."""
    return hold(User(folder), BASES[kind])


def record(base: Path, place: Path, seed: int) -> tuple[Session, Plan, Written]:
    """A copy of the session with another synthesis. One that cannot be read in full is asked for again, as ever."""
    folder = place / base.name
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(base, folder)
    session = open_(folder)
    session.read_turns()
    phase = session.workflow.role("synthesis")
    step = next(step for owner, step in session.workflow.steps() if owner.name == phase)
    written = write(step.reply, seed)
    after = [receipt for receipt in session.receipts.values() if receipt.phase not in _phases_before(session, phase)]
    kept = {receipt.turn: session.said[receipt.turn].body for receipt in after}
    for receipt in after:
        session.turn_path(receipt.turn).unlink()
    with session.hold():
        while due := session.plan().due:
            earlier = next((one for one in after if one.turn == due[0].id.removesuffix(".2")), None)
            assert earlier, f"{due[0].id} is due"
            body = written.body if due[0].phase.name == phase else kept[earlier.turn]
            if due[0].first:
                session.write_briefs({due[0].id: "Give the answers that are missing."})
                body = _repair(step.reply, due[0].first)
            session.record(replace(earlier, turn=due[0].id, after=chain.after(session, due[0])), body)
        return session, session.plan(), written


def _phases_before(session: Session, phase: str) -> list[str]:
    names = [one.name for one in session.workflow.phases]
    return names[: names.index(phase)]


def _repair(reply: Reply, first: RecordedTurn) -> str:
    """A second reply that gives just the answers which the first one lacks."""
    kinds, missing = dict(reply), parse.read(reply, first.body, first.brief).missing
    return "\n\n".join(f"## {parse.format_heading(name)}\n{_short(kinds[name])}" for name in missing)


def _short(kind: Kind) -> str:
    return kind.options[0] if kind.options else "- Repaired." if kind.type == "list" else "Repaired."


# ---- what is lost ----


def find_lost(session: Session, plan: Plan, written: Written) -> Iterator[str]:
    """Each line that a document lost, each line of code that it changed, and each answer that is out of order."""
    made = {name: data.decode("utf-8") for name, data in derived.derive(session, plan).items()}
    debate = compose(session, plan)
    result = summary.summarize(session.folder)
    wanted = [name for name in DOCUMENTS if name != "issue.md" or session.workflow.name == "perspectives"]
    documents = {name: made.get(name, "") for name in wanted}
    documents["JSON"] = str(summary.as_document(result)["synthesis"])
    documents |= {f"as {kind}": produce.derive(debate, session, plan, kind).get(produce.MAIN, "") for kind in KINDS}
    documents["page"] = html.unescape(re.sub(r"<[^>]*>", " ", page(debate)))
    for name, document in documents.items():
        plain = _plain(document)
        for answer, (lines, verbatim) in written.sections.items():
            places = []
            for line in lines:
                text = _plain(line if name != "page" else line.replace("`", ""))
                if text not in plain:
                    yield f"{name}: {answer or 'before the first answer'}: {line!r} is lost"
                else:
                    places.append(plain.rindex(text))
            for line in verbatim:
                if line not in document:
                    yield f"{name}: {answer}: the code {line!r} is lost or changed"
            grouped = answer in ("arguments", "trade_offs") and name in ("decision.md", "issue.md", "as decision")
            if places != sorted(places) and not grouped:
                yield f"{name}: {answer or 'before the first answer'}: the order is not the author's"


def _plain(text: str) -> str:
    """Without escapes and runs of spaces."""
    return " ".join(text.replace("\\", "").split())


def count_lines(written: Written) -> int:
    return sum(len(lines) + len(verbatim) for lines, verbatim in written.sections.values())
