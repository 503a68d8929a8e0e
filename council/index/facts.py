"""From a session's files to the rows of the index. A file that is damaged becomes a row with the reason."""

from __future__ import annotations

import json
import math
import pwd
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from council.errors import CouncilError, Damaged, UsageError
from council.index import entries, scan
from council.record import catalog, files, turn_file
from council.record.turn_file import sha256
from council.text import one_line

if TYPE_CHECKING:
    from council.engine.contributions import IndexEntry
    from council.record.turn_file import Receipt
    from council.workflow.model import Reply, Workflow

MOST_PROGRAMS = 64  # remembered: nearly all sessions share a few workflows and options
LONGEST = 1_000_000  # characters of a text that can be found
SHORT = ("choice", "range", "integer")  # types of answers of persons that the index keeps
SCALE = "range"  # the type of an answer that says how sure or satisfied a seat is
CJK = re.compile(r"([\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff])")
TOPIC, TURN, DECISION, FINDING = COLUMNS = ("topic", "turn", "decision", "finding")  # of the full-text table
OF_TURNS = (TOPIC, TURN, DECISION)  # the pieces that every session has
PLANNING = {"central": "CPDE", "decentral": "DPDE"}  # who plans the work of a tree
FINISHED = "finished"  # the mark of turns to which nothing is added any more
FACTS = ("reason", "converged", "stances", "scores", "moved", "flips")  # of convergence.json
SYNTHESIS, PERSON = "synthesis", "person"  # kinds of turns: one that decides, and one of a person
Row = dict[str, Any]


@dataclass
class TurnFacts:
    row: Row
    text: str = ""


@dataclass
class SessionFacts:
    """One session: its row and, if they were asked for, its turns and what else of it can be found."""

    row: Row
    topic: str = ""
    turns: dict[str, TurnFacts] | None = None
    present: frozenset[str] = frozenset()  # every turn on the disk, read again or not
    entries: list[IndexEntry] = field(default_factory=list)


def read_session(root: Path, id: str, mark: str, known: Mapping[str, str] | None) -> SessionFacts | None:
    """The facts of a session; None if the folder is none. With `known`, the marks of the turns that the index has, the
    turns that are new or changed are read too."""
    from council.record.metadata import read_metadata

    folder = root / id
    if (began := catalog.read_beginning(folder)) is None:
        return None
    row: Row = {
        "root": str(root), "id": id, "mark": mark, "started": as_moment(began[0]), "written": began[1],
        "turns_mark": None, "completed": None, "workflow": None, "outcome": None, "fault": None,
    }  # fmt: skip
    found = SessionFacts(row)
    try:
        if mark == scan.LINK:
            raise Damaged(folder, "a symbolic link, which council does not follow to a session")
        metadata = read_metadata(folder)
    except (CouncilError, OSError) as wrong:
        row["fault"] = one_line(str(wrong), 300)
        if known is not None:
            row["turns_mark"], found.turns = "", {}
        return found
    row |= _of_metadata(folder, metadata)
    found.topic = str(metadata["topic"])
    if known is not None:
        _read_deep(folder, metadata, found, known)
    return found


def _of_metadata(folder: Path, metadata: Mapping[str, Any]) -> Row:
    completed = metadata.get("completed_at")
    return {
        "completed": as_moment(datetime.fromisoformat(completed)) if completed else None,
        "workflow": metadata["workflow"],
        "outcome": metadata.get("outcome"),
        "topic": one_line(str(metadata["topic"]), 300),
        "owner": _owner(folder),
        "version": metadata.get("council"),
        "rounds": metadata.get("rounds_completed"),
        "options": json.dumps(metadata["options"] | {"rounds_planned": metadata["rounds_planned"]}, sort_keys=True),
        "members": json.dumps(metadata["members"]),
    }


def _owner(folder: Path) -> str | None:
    try:
        return _name_user(folder.stat().st_uid)
    except (OSError, KeyError):
        return None


@lru_cache(maxsize=8)
def _name_user(number: int) -> str:
    return pwd.getpwuid(number).pw_name


def as_moment(moment: datetime) -> str:
    """In UTC, to the microsecond, so that texts sort as moments do."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


def _read_deep(folder: Path, metadata: Mapping[str, Any], found: SessionFacts, known: Mapping[str, str]) -> None:
    there, mark = scan.list_turns(folder)
    found.present, found.turns = frozenset(there), {}
    try:
        program = _read_program(folder, metadata)
    except (CouncilError, OSError) as wrong:
        found.row |= {"fault": one_line(str(wrong), 300), "turns_mark": ""}
        return
    reader = _TurnReader(folder, program)
    for turn, changed in there.items():
        if known.get(turn) != changed:
            found.turns[turn] = reader.read(turn, changed)
    faults = any(turn.row["fault"] for turn in found.turns.values())
    found.row |= program.row | _of_convergence(folder)
    found.row["turns_mark"] = "" if faults else FINISHED if metadata.get("completed_at") else mark
    if metadata.get("completed_at"):
        whole = reader.read_whole if len(found.turns) == len(there) else None
        found.entries = entries.collect(folder, program.workflow, whole)


def _read_program(folder: Path, metadata: Mapping[str, Any]) -> _Program:
    """The frozen workflow alone: its templates are most of a session's bytes, and of no use here."""
    path = folder / "workflow.md"
    data = files.read(path)
    if sha256(data) != metadata["files"]["workflow.md"]:
        raise Damaged(path, "changed since the session began; restore it from a backup")
    options = tuple(metadata["options"].items())
    try:
        return _load(data.decode("utf-8", "replace"), options)
    except UsageError as wrong:
        raise UsageError(f"{path}: {wrong}") from None


@lru_cache(maxsize=MOST_PROGRAMS)
def _load(text: str, options: tuple[tuple[str, Any], ...]) -> _Program:
    """Most sessions have the same few workflows and options."""
    from council.workflow.loader import load

    return _Program(load(text, "workflow.md").with_options(dict(options)))


class _Program:
    """What a workflow tells of the turns of its sessions: what each step asks for, and which one decides."""

    def __init__(self, workflow: Workflow) -> None:
        from council.protocols import dissent

        self.workflow, self.row = workflow, _of_workflow(workflow)
        steps = list(workflow.steps())
        self.asked = {(phase.name, step.name): _Asked(step.reply) for phase, step in steps}
        final = workflow.role(dissent.SYNTHESIS)
        self.deciding = next(((phase.name, step.name) for phase, step in steps if phase.name == final), None)


class _Asked:
    """The answers of a step that the index keeps: scales, and what a person answers in a word."""

    def __init__(self, reply: Reply) -> None:
        self.scales = [(name.replace("_", " "), one.high) for name, one in reply if one.type == SCALE and one.high]
        self.short = tuple((name, one) for name, one in reply if one.type in SHORT)


NOTHING_ASKED = _Asked(())


class _TurnReader:
    """Reads the turns of one session."""

    def __init__(self, folder: Path, program: _Program) -> None:
        self.top, self.program = f"{folder}/turns/", program
        self.read_whole: list[tuple[Receipt, str]] = []  # with their words, in the order in which they were read

    def read(self, turn: str, mark: str) -> TurnFacts:
        path = f"{self.top}{turn}.md"
        try:
            receipt, body = turn_file.decode(files.read(path), path)
            if receipt.turn != turn:
                raise Damaged(path, f"holds the turn {receipt.turn}; move it back to that name")
        except (CouncilError, OSError) as wrong:
            return TurnFacts({"turn": turn, "mark": mark, "fault": one_line(str(wrong), 300)})
        self.read_whole.append((receipt, body))
        place = (receipt.phase, receipt.step)
        kind = _kind_of(receipt, place == self.program.deciding)
        row = _of_receipt(receipt)
        row["turn"], row["mark"], row["kind"] = turn, mark, kind
        row |= _of_answers(self.program.asked.get(place, NOTHING_ASKED), body, kind)
        return TurnFacts(row, "" if receipt.absent else body)


def _of_answers(asked: _Asked, body: str, kind: str) -> Row:
    """What a person decided, and how sure or satisfied a seat is. Reading every answer as the planner does would take
    longer than all the rest together, and `council show` does."""
    folded = body.casefold() if asked.scales else ""  # most bodies do not have the word, which is told sooner
    given = [
        float(found[-1]) / high
        for title, high in asked.scales
        if title.casefold() in folded and (found := _find_numbers(title, body))
    ]
    confidence = round(given[0], 4) if given and 0 <= given[0] <= 1 else None
    if kind != PERSON or not asked.short or not body:
        return {"confidence": confidence}
    from council.replies import parse

    answers = parse.read(asked.short, body).found
    return {"confidence": confidence, "answers": json.dumps(answers, ensure_ascii=False) if answers else None}


def _find_numbers(title: str, body: str) -> list[str]:
    return re.findall(rf"^#{{1,6}} +{re.escape(title)}\W*\n+\W*(\d{{1,3}}(?:\.\d+)?)\b", body, re.I | re.M)


def _kind_of(receipt: Receipt, decides: bool) -> str:
    from council.workflow.model import HUMAN

    if decides:
        return SYNTHESIS
    if receipt.by or receipt.speaker == HUMAN:
        return PERSON
    return "member" if receipt.trial is None else "machine"


def _of_receipt(receipt: Receipt) -> Row:
    """Who replays words calls nobody: what it says is no model's now."""
    from council.speakers import registry
    from council.workflow.model import HUMAN

    calls, replays = receipt.calls, registry.describe(receipt.speaker).replays
    prices = [call.usd for call in calls]
    return {
        "seat": receipt.seat, "phase": receipt.phase, "step": receipt.step, "round": receipt.round,
        "speaker": receipt.speaker, "tier": receipt.tier, "started": receipt.started, "seconds": receipt.seconds,
        "model": None if replays else receipt.answered or receipt.asked,
        "calls": 0 if replays or receipt.absent or receipt.speaker == HUMAN else 1, "failed": len(receipt.attempts),
        "input": receipt.sent, "output": receipt.output,
        "usd": None if None in prices else math.fsum(price or 0.0 for price in prices),
        "known_usd": math.fsum(price or 0.0 for price in prices),
        "stop": receipt.stop, "absent": receipt.absent, "by": receipt.by,
        "trial": json.dumps(receipt.trial, ensure_ascii=False) if receipt.trial else None, "fault": None,
    }  # fmt: skip


def _of_workflow(workflow: Workflow) -> Row:
    """Who speaks when and sees what, in two words."""
    from council.engine.orders import order
    from council.engine.views import view

    steps = [step for _, step in workflow.steps()]
    orders = [order.traits(step.order.name) for step in steps]
    tree = any(one.of_tree for one in orders) or any(
        view.traits(ref.name).of_tree for step in steps for ref in step.sees
    )
    chain = not all(one.parallel for one in orders)
    options = {str(value) for value in workflow.options.values()}
    return {
        "topology": "tree" if tree else "chain" if chain else "graph_mesh",
        "protocol": next((name for value, name in PLANNING.items() if tree and value in options), None),
    }


def _of_convergence(folder: Path) -> Row:
    """How far the members agreed, as the derived `convergence.json` says it; empty without one that can be read."""
    try:
        found = json.loads(files.read(folder / "convergence.json"))
        scores = [value / 100 for value in found.get("scores", {}).values() if isinstance(value, int | float)]
        agree = [1.0 if stance == "agree" else 0.0 for stance in found.get("stances", {}).values()]
        known = {key: value for key in FACTS if (value := found.get(key))}
        known |= {"flips": [flip for flip in known["flips"] if isinstance(flip, dict)]} if "flips" in known else {}
        data = json.dumps(known, ensure_ascii=False, allow_nan=False)
    except (OSError, CouncilError, ValueError, TypeError, AttributeError, OverflowError, RecursionError):
        return {}
    values = scores or agree
    return {"score": round(sum(values) / len(values), 4) if values else None, "facts": data}


def spread(text: str) -> str:
    """The text as it is found: no longer than what is searched, and each character of a language that writes without
    spaces as a word of its own."""
    short = text[:LONGEST]
    return CJK.sub(r" \1 ", short) if not short.isascii() else short
