"""Clocks that are wrong: another time zone, the year 9999, a time before the last turn."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.helpers import no_traceback
from tests.next.cli.users import User

Q = "Redis or PostgreSQL?"
# A process whose clock says something else: seconds since 1970, by turns.
CLOCK = """
import itertools, sys, time
moments = itertools.cycle({moments})
clock = lambda: next(moments)
real = time.gmtime, time.localtime
time.time = clock
time.gmtime = lambda seconds=None: real[0](clock() if seconds is None else seconds)
time.localtime = lambda seconds=None: real[1](clock() if seconds is None else seconds)
from council.next.cli import main
sys.exit(main(sys.argv[1:]))
"""
MOMENTS = {
    "in 1970": [1.0],
    "in 9999": [253402300000.0],
    "going back": [1.8e9 - step for step in range(0, 100_000, 997)],
    "far apart": [4e9, 1e9, 2e9],
}


@pytest.mark.parametrize("moments", MOMENTS.values(), ids=MOMENTS)
def test_a_debate_is_whole_whatever_the_clock_says(moments: list[float], user: User, agreed: Path) -> None:
    program = CLOCK.format(moments=moments)

    def council(*words: str | Path) -> str:
        ended = user.process(*words, program=program)
        assert ended.code == 0, ended
        no_traceback(ended)
        return ended.out

    assert "Outcome     agreed" in council("run", "--speaker", "replay", "--from", agreed, Q)
    for words in (("list",), ("status",), ("verify",), ("build",), ("recover",), ("show",), ("archive",)):
        council(*words)
    (row,) = json.loads(council("list", "--json"))
    assert (row["status"], row["kind"]) == ("complete", "agreed")
    assert user.council("verify").code == 0, "also by the right clock"


@pytest.mark.parametrize("zone", ["Pacific/Apia", "Pacific/Niue", "Asia/Kolkata", "nonsense"])
def test_times_are_utc_in_every_zone(zone: str, user: User, agreed: Path) -> None:
    assert user.process("run", "--speaker", "replay", "--from", agreed, Q, env={"TZ": zone}).code == 0
    facts = json.loads((user.session / "metadata.json").read_text("utf-8"))
    assert facts["started_at"].endswith("Z")
    assert user.session.name[:15] == facts["started_at"][:19].translate({ord(sign): None for sign in "-:Z"}).replace(
        "T", "-"
    )
    made = (user.session / "transcript.md").read_bytes()
    assert user.process("build", env={"TZ": "UTC"}).code == 0
    assert (user.session / "transcript.md").read_bytes() == made
