"""Scripted debates held on disk, by the commands that a user would give; what a person says is recorded by hand."""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from council.record.session import open_
from tests.helpers import User, derived_of, no_traceback, record_of, script, without_head
from tests.scripted import Played, played

ABSENT = "absent: "
WAITING = 8
# The debates that lose their last turns in tests, and whether at every cut.
CUT = {
    "board/fundamental": True, "board/rubber-stamp": False, "consensus/fundamental": True,
    "consensus/silent-specialist": False, "delphi/control": True, "delphi/silent": False,
    "perspectives/guided": True, "perspectives/vague": False,
}  # fmt: skip
KEPT: list[tempfile.TemporaryDirectory[str]] = []  # until this process ends


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


def held(user: User, name: str, by: Callable[[User, str], Path] = hold) -> Path:
    """The same for a user who has nothing yet, in a copy: for a test that only reads or cuts a debate."""
    shutil.copytree(_hold_once(name, by), user.root, dirs_exist_ok=True)
    return user.session


@cache
def _hold_once(name: str, by: Callable[[User, str], Path]) -> Path:
    KEPT.append(tempfile.TemporaryDirectory(prefix="council-held-"))
    root = Path(KEPT[-1].name, "user")
    by(User(root), name)
    return root


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


def record(user: User, turn: str, body: str) -> None:
    """One turn by hand: its words, or why nobody speaks them."""
    silent = ("--absent", body.removeprefix(ABSENT)) if body.startswith(ABSENT) else ()
    recorded = user.council("record", "last", turn, *silent, stdin="" if silent else body)
    assert recorded.code == 0, recorded.err


# ---- the last turns are lost ----


def recover_from_cuts(user: User, session: Path, name: str, everywhere: bool) -> Iterator[str]:
    """What is asked or derived in another way once the last turns were lost, and spoken again: a third of them; or
    `everywhere`, one to all of them. A person's answers are given again.
    """
    debate, turns = played(name), in_order(session)
    assert set(turns) == set(debate.said)
    script(user, words(debate))
    whole = {**without_head(derived_of(session)), **briefs_of(session)}
    for cut in range(1, len(turns) + 1) if everywhere else [len(turns) // 3]:
        for lost in turns[-cut:]:
            (session / "turns" / f"{lost}.md").unlink()
        to_its_end(user, everything(debate), "recover")
        again = {**without_head(derived_of(session)), **briefs_of(session)}
        changed = sorted(file for file in whole | again if whole.get(file) != again.get(file))
        yield from (f"{name}, without the last {cut} of {len(turns)} turns: {file}" for file in changed)


def in_order(session: Path) -> list[str]:
    """Its turns as they were due, which may follow from the session's own seed, and behind each what was asked for once
    more.
    """
    recorded = open_(session)
    recorded.read_turns()
    turns = (turn.id.removesuffix(".2") for turn in recorded.plan().scene.turns)
    return [one for turn in turns for one in (turn, f"{turn}.2") if one in recorded.said]


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
