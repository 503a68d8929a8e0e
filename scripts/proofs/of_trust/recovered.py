"""Whatever number of its last turns a debate loses, it recovers to the same briefs and the same derived files."""

from __future__ import annotations

import tempfile
from pathlib import Path

from prove import Outcome

from tests import debates
from tests.helpers import User
from tests.scripted import names

PROMISE = "lost turns are asked for and derived as before"
PROTOCOLS = ("board", "consensus", "delphi", "perspectives")


def parts() -> list[str]:
    return [*PROTOCOLS]


def prove(part: str) -> Outcome:
    wrong, tried, broken = [], 0, set[str]()
    for name in (one for one in names() if one.startswith(f"{part}/")):
        with tempfile.TemporaryDirectory(prefix="council-recovered-") as place:
            user = User(Path(place, "user"))
            session = debates.hold(user, name)
            tried += len(debates.in_order(session))
            found = [*debates.recover_from_cuts(user, session, name, everywhere=True)]
            broken |= {one.partition(": ")[0] for one in found}
            wrong += found[:3]
    return Outcome([(PROMISE, f"cuts of the debates of {part}", tried, tried - len(broken))], wrong)
