"""A session as the page shows it: what was decided, who objects, what is waiting, and then the evidence.

Plain data. A text of members is either for the page to set as text, or HTML that `reports.markup` made, and then its
key is `html`. The state is never taken from an index: `reports.verify.status` reads it from the files.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from council.checks import cost
from council.prompts import question
from council.protocols import outcome
from council.record.session import Session
from council.reports import documents, filing, front_matter, pictures, produce, summary, transcript
from council.reports import html as page
from council.reports.concerns import list_shown
from council.reports.given import split_question
from council.reports.markdown import addition_text
from council.reports.markup import markup
from council.reports.model import DebateVerdict, Round, Stage, Transcript, plain
from council.reports.verify import status
from council.text import one_line
from council.web import table
from council.web.finding import LONGEST_TITLE

MOST_GIVEN = 20_000  # characters of a text that was given with the question


def session(folder: Path) -> dict[str, Any]:
    """The whole session. Of a damaged one, only what `list` knows, and what is wrong with it."""
    known = status(folder)
    row = summary.as_row(summary.summarize(folder, known))
    found, plan = known.session, known.plan
    if found is None or plan is None:
        return row | {"title": row["topic"], "readable": False}
    row["title"] = one_line(str(found.metadata["topic"]), LONGEST_TITLE)
    if found.kept_from:
        return row | {"readable": False, "kept": _kept(found)}
    debate, seats = transcript.compose(found, plan), table.seats_of(found, plan)
    return {
        **row,
        "readable": True,
        "head": debate.head,
        "kind": debate.workflow,
        **_asked(debate),
        "verdict": _verdict(debate, seats),
        "notes": [plain(fact) for fact in debate.facts if fact.caution],
        "absent": list(debate.absent),
        "facts": [plain(fact) for fact in debate.facts if not fact.caution],
        "concerns": _concerns(debate),
        "strip": list(table.strip(found, plan)),
        "questions": [question.as_json(question.build(found, due)) for due in plan.due if due.of_a_person],
        "open": table.open_round(found, plan, debate, seats),
        "sections": [_section(section) for section in debate.sections.values()],
        "synthesis": _synthesis(debate, seats),
        "effect": _effect(debate, seats),
        "stages": [_stage(stage, seats) for stage in debate.stages],
        "documents": list(_documents(debate, found, plan)) if plan.done else [],
        "following": transcript.list_following(found, plan) if plan.done else [],
        "pictures": _pictures(debate, "stances", "scores", "count", "ballots"),
        "course": _pictures(debate, "protocol", "spending"),
        "receipts": [plain(one) for one in debate.receipts],
        "usage": cost.format_usage(_usage(debate.verdict)),
    }


def _asked(debate: Transcript) -> dict[str, Any]:
    """The question, if the title is not all of it, and the texts that were given with it."""
    asked, given = split_question(debate.question, debate.topic)
    texts = [
        {
            "title": one.title,
            "text": one.text[:MOST_GIVEN],
            "lines": one.text.count("\n") + 1,
            "cut": len(one.text) > MOST_GIVEN,
        }
        for one in given
    ]
    return {"question": markup(asked) if " ".join(asked.split()) != debate.title else "", "given": texts}


def _kept(found: Session) -> str:
    """The transcript of a debate that this version would read differently, as it was written."""
    try:
        return markup((found.folder / "transcript.md").read_text("utf-8", "replace"))
    except OSError:
        return ""


def _verdict(debate: Transcript, seats: Sequence[str]) -> dict[str, Any]:
    verdict = debate.verdict
    moved = sum(bool(cell.moved_from) for row in verdict.grid.rows for cell in row.cells)
    shown = any(section.answer for section in debate.sections.values())
    path = "" if shown or " ".join(verdict.path.split()) in verdict.answer else verdict.path
    return {
        "answer": verdict.answer,
        "carried": verdict.carried,
        "outcome": verdict.outcome,
        "reason": verdict.reason,
        "tally": verdict.tally,
        "tone": verdict.tone,
        "confidence": verdict.confidence,
        "changes": moved,
        "path": {"title": verdict.path_title, "html": markup(path)} if path else None,
        "dissent": plain(verdict.dissent),
        "blocking": [plain(one) for one in verdict.blocking if one != verdict.dissent],
        "grid": _grid(debate, seats),
    }


def _concerns(debate: Transcript) -> dict[str, Any] | None:
    """The ledger, what is open first; None if nobody raised a concern."""
    if debate.ledger is None:
        return None
    return {"summary": debate.ledger.summary, "rows": plain(list_shown(debate.concerns, debate.speakers))}


def _grid(debate: Transcript, seats: Sequence[str]) -> dict[str, Any]:
    """Who stood where. Empty if nobody was asked for a stance or a score."""
    grid = debate.verdict.grid
    if not any(cell.text for row in grid.rows for cell in row.cells):
        return {"columns": [], "rows": [], "counts": []}
    rows = [plain(row) | {"colour": table.colour(row.seat, seats)} for row in grid.rows]
    return {"columns": list(grid.columns), "rows": rows, "counts": plain(grid.counts)}


def _pictures(debate: Transcript, *names: str) -> list[dict[str, str]]:
    """Some pictures of `show --html`, whose links lead to the turns on this page."""

    def link(turn: str) -> str:
        return f"#/s/{debate.id}/{turn}"

    grid = debate.verdict.grid
    grid = replace(grid, rows=tuple(replace(row, icon="") for row in grid.rows))  # the page has initials instead
    shown = replace(debate, verdict=replace(debate.verdict, grid=grid))
    return [{"title": one.title, "svg": one.svg} for one in pictures.draw_all(shown, link) if one.name in names]


def _section(section: Any) -> dict[str, Any]:
    """A protocol's own list, such as the findings of a review, with the lines of the document that they are about."""
    parts = [{"title": part.title, "tone": part.tone, "html": markup(part.text)} for part in section.parts]
    return {"title": section.title, "answer": section.answer, "html": markup(section.text), "parts": parts}


def _synthesis(debate: Transcript, seats: Sequence[str]) -> dict[str, Any] | None:
    made = debate.synthesis
    if made is None:
        return None
    return {
        "preface": made.preface,
        "card": table.card(made.statement, seats),
        "additions": [markup(addition_text(addition)) for addition in made.additions],
    }


def _effect(debate: Transcript, seats: Sequence[str]) -> dict[str, Any] | None:
    """Whether the debate helped."""
    effect = debate.effect
    if effect is None:
        return None
    alone = [table.card(turn, seats) for turn in effect.alone]
    return {"title": effect.title, "text": effect.text, "moves": list(effect.moves), "cards": alone}


def _stage(stage: Stage, seats: Sequence[str]) -> dict[str, Any]:
    return {
        "phase": stage.phase,
        "before": plain(stage.before),
        "rounds": [_round(round, seats) for round in stage.rounds],
        "after": plain(stage.after),
    }


def _round(round: Round, seats: Sequence[str]) -> dict[str, Any]:
    cards = [table.card(turn, seats) for turn in round.statements]
    return {
        "place": round.place,
        "heading": round.heading,
        "phase": round.phase,
        "title": round.title,
        "brief": page.brief(round),
        "cards": cards,
    }


def _documents(debate: Transcript, found: Session, plan: Any) -> Iterator[dict[str, str]]:
    """The documents of the debate, without their front matter, and where they are filed."""
    made = produce.derive(debate, found, plan)
    places = (
        dict(line.partition(": ")[::2] for line in filing.describe_places(found, plan).splitlines()) if made else {}
    )
    for name, text in made.items():
        body = documents.unfold(front_matter.MATTER.sub("", text, count=1))
        stem = name.removesuffix(".md")
        yield {"name": stem, "title": outcome.heading(stem), "place": places.get(stem, ""), "html": markup(body)}


def _usage(verdict: DebateVerdict) -> cost.DebateCost:
    took = verdict.spending
    return cost.DebateCost(took.calls, took.input, took.output, took.usd, took.cached, took.failed, took.usd_at_least)


# ---- two sessions beside each other ----


def compare(first: Path, second: Path) -> dict[str, Any]:
    """Two sessions: the verdicts, the figures and the members' last words on it, side by side."""
    both = [_side(folder) for folder in (first, second)]
    figures = [dict(side.pop("figures")) for side in both]
    names = dict.fromkeys([*figures[0], *figures[1]])
    rows = [{"name": name, "values": [one.get(name, "") for one in figures]} for name in names]
    for row in rows:
        row["same"] = row["values"][0] == row["values"][1]
    stances = [side.pop("stances") for side in both]
    seats = dict.fromkeys([*stances[0], *stances[1]])
    seated = [
        {"label": (stances[0].get(seat) or stances[1][seat])["label"], "cells": [one.get(seat) for one in stances]}
        for seat in seats
    ]
    asked = [(side["title"], side["question"], side.pop("given")) for side in both]
    same = asked[0] == asked[1]
    return {"sides": both, "same_question": same, "figures": rows, "seats": seated}


def _side(folder: Path) -> dict[str, Any]:
    made = session(folder)
    if not made["readable"]:
        return {**made, "question": "", "given": [], "figures": [("State", made["state"])], "stances": {}}
    verdict, totals = made["verdict"], made["totals"]
    turns = sum(len(round["cards"]) for stage in made["stages"] for round in stage["rounds"])
    tokens = None if totals["output_tokens"] is None else f"{totals['output_tokens']:,}"
    figures = [
        ("State", made["state"]),
        ("Workflow", made["kind"]),
        ("Outcome", verdict["outcome"]),
        ("Count", verdict["tally"]),
        ("Confidence", verdict["confidence"]),
        ("Members", str(len(made["members"]))),
        ("Turns", str(turns)),
        ("Changes of mind", str(verdict["changes"])),
        ("Tokens written", tokens or "unknown"),
        ("Cost", "none" if totals["usd"] == 0 else cost.format_dollars(totals["usd"])),
    ]
    kept = (
        "session_id",
        "title",
        "question",
        "given",
        "state",
        "started_at",
        "age",
        "workflow",
        "kind",
        "verdict",
        "readable",
    )
    stances = {
        row["seat"]: {"label": row["label"], **row["cells"][-1]} for row in verdict["grid"]["rows"] if row["cells"]
    }
    return {**{key: made[key] for key in kept}, "figures": [(n, v) for n, v in figures if v], "stances": stances}
