"""Debates in which a person is asked: to approve code, to settle an appeal, to write freely, to approve a gate."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from council.candidates.base import Base
from council.engine.planner import Due
from tests import code_sessions, debates, gates
from tests.code_sessions import MEND, write_file
from tests.helpers import User, script
from tests.scripted import played

FREE = "---\nname: free\nseats: {members: [architect], me: human}\nphases:\n  - {name: positions, seats: me}\n---\n"
LINES = [
    b"    return '<script>alert(1)</script>'",
    *(b"    # line %d, long enough to scroll on a phone" % n for n in range(40)),
]
DRAFT = b"def add(a, b):\n    return a + b\n\n\ndef hostile():\n" + b"\n".join(LINES) + b"\n"
BASE = Base(
    {"src/app.py": b"def add(a, b):\n    return a - b\n"},
    {"tests/test_app.py": b"from src.app import add\n\n\ndef test_add():\n    assert add(1, 1) == 2\n"},
    facts={"commit": "0" * 40, "repository": "/nowhere", "executable": [], "hash": "sha1"},
)
APPROVAL, APPEAL, TURN = "02-approve/human", "01-debate-r02-3-appeal/human", "01-positions/human"


class Asked(Exception):
    """A person is due."""


def hold_code(user: User) -> str:
    """One candidate whose tests pass, to be approved; the session's id."""

    def say(due: Due) -> str:
        if due.of_a_person:
            raise Asked
        return code_sessions.say(due, draft=write_file("src/app.py", DRAFT))

    before = set(user.sessions)
    user.write(".council/Workflows/Mend.md", MEND)
    with suppress(Asked):
        code_sessions.hold(user, BASE, say, gate=True)
    return (set(user.sessions) - before).pop().name


def hold_appeal(user: User) -> str:
    """Specialists who disagree in principle: options with letters, one of them recommended."""
    debate, before = played("consensus/fundamental"), set(user.sessions)
    source = script(user, debates.words(debate))
    asked = user.council("run", *debates.options(debate), "--speaker", "replay", "--from", source, "Shall we split it?")
    assert asked.code == debates.WAITING, asked.err
    return (set(user.sessions) - before).pop().name


def hold_free(user: User) -> str:
    user.write(".council/Workflows/Free.md", FREE)
    user.write(".council/templates/free/positions.md.j2", gates.TEMPLATE)
    assert user.council("start", "-w", "free", "--id", "free", "What do you think?").code == 0
    return "free"


def hold_gates(user: User, *ids: str) -> None:
    """Debates that wait for a gate's answer, and that nobody runs."""
    user.write(".council/Workflows/Gated.md", gates.GATED)
    for name in ("gate", "release"):
        user.write(f".council/templates/gated/{name}.md.j2", gates.TEMPLATE)
    for id in ids:
        assert user.council("start", "-w", "gated", "--id", id, f"Shall we, {id}?").code == 0


def lose(route: Any) -> None:
    """What a browser sends arrives, and the answer is lost on its way back."""
    route.fetch()
    route.abort()
