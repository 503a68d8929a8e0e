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
    wide = columns(sys.stdout)
    if sys.stdout.isatty():
        sys.stdout.write("\n")
    for label, text in [("Question", question_of(now)), *facts(now), *places(metadata, files)]:
        print_fact(label, text, wide)
    sys.stdout.write("\n")
    for what, command in commands(now, bool(files.get("Document"))):
        # A command is never broken by us, so it can be copied from any window.
        echo(f"{what:<{LABEL}}{command}" if wide >= NARROW else f"{what}\n  {command}")


def print_fact(label: str, text: str, wide: int) -> None:
    """A label and a text beside or, in a narrow window, below it."""
    bold = style(label.ljust(LABEL) if wide >= NARROW else label, sys.stdout, bold=True)
    indent = LABEL if wide >= NARROW else 2
    first, *others = wrap(printable(text), wide - indent)
    sys.stdout.write(f"{bold}{first}\n" if wide >= NARROW else f"{bold}\n  {first}\n")
    for line in others:
        sys.stdout.write(" " * indent + line + "\n")


def question_of(now: Mapping[str, Any]) -> str:
    return one_line(now["prompt"], LONGEST)


def facts(now: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Every fact that somebody would be misled without. Each dissent is among them."""
    outcome = now["outcome"]
    if outcome["answer"]:
        opinion = now["answer_as"] != "Answer"
        yield "Answer", f"({now['answer_as'][:1].lower()}{now['answer_as'][1:]}) " * opinion + outcome["answer"]
    yield "Outcome", f"{outcome['kind']} ({outcome['reason']})"
    for one in outcome["recommendations"]:
        if one["id"] == outcome["count"]["leading"]:
            yield "Decision", f"{one['id']}, {one['by']['label']}: {one_line(one['by']['text'], LONGEST)}"
    for one in outcome["conditions"]:
        item = one["item"]
        yield (
            "Condition",
            f"{item['id']}, {item['by']['label']}, {one['standing']}: {one_line(item['by']['text'], LONGEST)}",
        )
    for act in now["acts"]:
        words = one_line(act["words"], LONGEST)
        yield (
            "Person",
            f"{act['who'] or 'a person'} {act['what']} {act['option']}".rstrip() + (f": {words}" if words else ""),
        )
    yield from doubts(outcome)
    for section in now["sections"].values():
        if section["answer"]:
            yield section["title"][: LABEL - 1] or "Result", section["answer"]
    totals = now["totals"]
    cost = "cost unknown" if totals["usd"] is None else f"${totals['usd']:.4f}"
    replayed = f"; {now['replayed']} of {now['turns_of']} turns are a replay" if now["replayed"] else ""
    tokens = "unknown tokens" if totals["tokens"] is None else f"{totals['tokens']:,} tokens"
    yield "Cost", f"{totals['calls']} calls, {tokens}, {cost}{replayed}"


def doubts(outcome: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Who objects, in their own words, who was absent, and how sure the writer may be."""
    for one in outcome["dissents"]:
        yield "Objects", f"{one['label']}: {one_line(one['text'], LONGEST)}"
    for one in outcome["absent"]:
        yield "Absent", f"{one['label']}: {one['text']}"
    if outcome["confidence"]:
        said = outcome["confidence_said"]
        why = f" (the writer says {said}; what was counted allows no more)" if said != outcome["confidence"] else ""
        yield "Confidence", outcome["confidence"] + why


def places(metadata: Mapping[str, Any], files: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for label, path in files.items():
        if path:
            yield label, tilde(path)
    if archived := metadata.get("archived_to"):
        yield "Archive", str(archived)


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
