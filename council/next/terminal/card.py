"""What a debate came to, as a few lines for a person: the answer first, then who objects, the cost and what is next."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import Any

from council.next.record.files import tilde
from council.next.terminal.output import columns, echo, program, style, wrap
from council.next.text import one_line, printable

LABEL = 12  # columns
NARROW = 60  # below this, a label has a line of its own
LONGEST = 600  # characters of somebody's words; the transcript has the rest


def print_card(now: Mapping[str, Any], metadata: Mapping[str, Any], files: Mapping[str, Any]) -> None:
    """The outcome of a debate that is over. `files` are the paths of its session and of the documents filed."""
    most = columns(sys.stdout)
    places = [(label, tilde(path)) for label, path in files.items() if path]
    places += [("Archive", str(metadata["archived_to"]))] if metadata.get("archived_to") else []
    if sys.stdout.isatty():
        sys.stdout.write("\n")
    for label, text in [*facts(now), *doubts(now), *places]:
        lead = f"{label:<{LABEL}}" if most >= NARROW else "  "
        lines = wrap(printable(text), most, lead)
        if most < NARROW:
            lines.insert(0, label)
        lines[0] = style(label, sys.stdout, bold=True) + lines[0].removeprefix(label)
        sys.stdout.write("\n".join(lines) + "\n")
    sys.stdout.write("\n")
    for what, command in commands(now, bool(files.get("Document"))):
        # A command is never broken by us, so it can be copied from any window.
        echo(f"{what:<{LABEL}}{command}" if most >= NARROW else f"{what}\n  {command}")


def facts(now: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What was asked, what it came to and on which conditions, and what a person said."""
    outcome = now["outcome"]
    yield "Question", one_line(now["prompt"], LONGEST)
    if outcome["answer"]:
        opinion = now["answer_as"] != "Answer"
        yield "Answer", f"({now['answer_as'][:1].lower()}{now['answer_as'][1:]}) " * opinion + outcome["answer"]
    yield "Outcome", f"{outcome['kind']} ({outcome['reason']})"
    for one in outcome["recommendations"]:
        if one["id"] == outcome["count"]["leading"]:
            yield "Decision", said(one)
    for one in outcome["conditions"]:
        yield "Condition", said(one["item"], f", {one['standing']}")
    for act in now["acts"]:
        did = f"{act['who'] or 'a person'} {act['what']} {act['option']}".rstrip()
        yield "Person", f"{did}: {one_line(act['words'], LONGEST)}" if act["words"] else did


def said(item: Mapping[str, Any], standing: str = "") -> str:
    return f"{item['id']}, {item['by']['label']}{standing}: {one_line(item['by']['text'], LONGEST)}"


def doubts(now: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Who objects, in their own words, who was absent, how sure the writer may be, and what it cost."""
    outcome, totals = now["outcome"], now["totals"]
    for one in outcome["dissents"]:
        yield "Objects", f"{one['label']}: {one_line(one['text'], LONGEST)}"
    for one in outcome["absent"]:
        yield "Absent", f"{one['label']}: {one['text']}"
    if outcome["confidence"]:
        word = outcome["confidence_said"]
        why = f" (the writer says {word}; what was counted allows no more)" if word != outcome["confidence"] else ""
        yield "Confidence", outcome["confidence"] + why
    for section in now["sections"].values():
        if section["answer"]:
            yield section["title"][: LABEL - 1] or "Result", section["answer"]
    cost = "cost unknown" if totals["usd"] is None else f"${totals['usd']:.4f}"
    replayed = f"; {now['replayed']} of {now['turns_of']} turns are a replay" if now["replayed"] else ""
    tokens = "unknown tokens" if totals["tokens"] is None else f"{totals['tokens']:,} tokens"
    yield "Cost", f"{totals['calls']} calls, {tokens}, {cost}{replayed}"


def commands(now: Mapping[str, Any], filed: bool) -> Iterator[tuple[str, str]]:
    """What may follow, ready to be copied."""
    council, id = program(), now["debate_id"]
    yield "Read it", f"{council} show {id}"
    if now["synthesis"] and now["outcome"]["status"] and not filed:
        yield "File it", f"{council} decision {id}"
    if now["synthesis"]:
        yield "Go on", f'{council} run --from {id} "…"'
    for section in now["sections"].values():
        yield from (("Then", command) for command in section["next"])
