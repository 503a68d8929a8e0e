"""Scripted debates held on disk, by the commands that a user would give; what a person says is recorded by hand."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.helpers import User, no_traceback, record_of, script
from tests.scripted import Played, played

ABSENT = "absent: "
WAITING = 8


def everything(debate: Played) -> dict[str, str]:
    """What every seat says, by turn."""
    return {id: one.body if one.absent is None else f"{ABSENT}{one.absent}" for id, one in debate.said.items()}


def people(debate: Played) -> set[str]:
    """The turns of a person, for whom nobody else speaks."""
    return {due.id for batch in debate.batches for due in batch if due.of_a_person}


def words(debate: Played) -> dict[str, str]:
    """What everybody says, but a person."""
    return {turn: body for turn, body in everything(debate).items() if turn not in people(debate)}


def options(debate: Played) -> list[str]:
    """The command line for the workflow, the members and the options of a scripted debate."""
    workflow = debate.script.workflow
    only = [f"--only={','.join(seat.name for seat in workflow.members)}"] if workflow.members else []
    values = (
        (name, str(value).lower() if isinstance(value, bool) else value) for name, value in workflow.options.items()
    )
    return [f"--workflow={workflow.name}", *only, *(f"-o{name}={value}" for name, value in values)]


def hold(user: User, name: str, topic: str = "Shall we?", **changed: str) -> Path:
    """A scripted debate, with some of its words changed, to its end; the session's folder."""
    debate = played(name)
    said = {**everything(debate), **changed}
    script(user, {turn: body for turn, body in said.items() if turn not in people(debate)})
    return to_its_end(user, said, "run", *options(debate), topic)


def to_its_end(user: User, said: Mapping[str, str], *command: str) -> Path:
    """Run the command; while the debate waits for a person, record that person's words and recover it."""
    replay = ("--speaker", "replay", "--from", user.work / "script.yaml")
    ended = user.council(*command, *replay)
    while ended.code == WAITING:
        no_traceback(ended)
        (due,) = user.council("next", "--json").json["due"]
        assert due["person"]
        record(user, due["turn"], said[due["turn"]])
        ended = user.council("recover", *replay)
    no_traceback(ended)
    assert ended.code == 0 or (ended.code == 3 and "no decision: " in ended.err), ended.err
    return user.session


def cuts(spoken: Sequence[str], everywhere: bool) -> Sequence[int]:
    """How many of the last turns are lost: each number of them, or one, half and all of them."""
    return range(1, len(spoken) + 1) if everywhere else sorted({1, len(spoken) // 2, len(spoken)})


def record(user: User, turn: str, body: str) -> None:
    """One turn by hand: its words, or why nobody speaks them."""
    silent = ("--absent", body.removeprefix(ABSENT)) if body.startswith(ABSENT) else ()
    recorded = user.council("record", "last", turn, *silent, stdin="" if silent else body)
    assert recorded.code == 0, recorded.err


# ---- what lies in the session's folder ----


def text(session: Path, name: str) -> str:
    return (session / name).read_text("utf-8")


def bare(document: str) -> str:
    """A document without its front matter, and without the notes below its title."""
    plain = re.sub(r"\A---\n.*?\n---\n\n", "", document, flags=re.S)
    return re.sub(r"(?<=\n\n)> \*\*.*\n(?:>.*\n)*\n", "", plain, count=1)


def brief(session: Path, turn: str) -> str:
    return text(session, f"briefs/{turn}.md")


def facts(session: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(text(session, "convergence.json"))
    return found


def briefs_of(session: Path) -> dict[str, bytes]:
    return {name: data for name, data in record_of(session).items() if name.startswith("briefs/")}


# ---- words of two of them ----

APPEAL = "-3-appeal/human"
MUTE = {
    "database": (70, 78, 91),
    "protocol": (85, 88, 93),
    "meeting-controller": (80, 75, 92),
    "observability": (75, 85, 91),
    "operations": (70, 82, 90),
    "test": (88, 90, 93),
    "security": (60, 75, 91),
}
EVALUATED = "02-debate-r01-4-evaluate/moderator"


def evaluation(reading: str, muted: str = "") -> str:
    listed = f"- {muted}" if muted else "none"
    return f"So.\n\n## Reading\n{reading}\n\n## Off topic\nnone\n\n## Muted\n{listed}\n\n## Gist\nIt moves.\n"
