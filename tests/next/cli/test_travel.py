"""A debate that changes hands: another person, machine, home, time zone or clock goes on with it."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path

import pytest

from council.next.record.session import Session
from tests.next.cli.users import PROGRAM, User
from tests.next.record.sessions import contents

Q = "Redis or PostgreSQL?"
CENTURY = 100 * 365 * 86_400
CLOCK = (
    "import time; real, utc = time.time, time.gmtime; time.time = lambda: real() + {0}; "
    "time.gmtime = lambda at=None: utc(time.time() if at is None else at); "
)


def say(user: User, id: str, turn: str, **how: object) -> None:
    seat = turn.partition("/")[2]
    words = f"The {seat} begins, at some length.\n\n## Recommendation\nThe {seat} would keep it.\n\n## Normative\nno\n"
    path = user.write("reply.md", words)
    ended = user.process("record", id, turn, "--file", path, **how)
    assert ended.code == 0, ended


SEATS = ("architect", "designer", "engineer", "researcher")


def test_a_debate_by_hand_is_finished_by_a_run_and_told_as_every_other(user: User, agreed: Path) -> None:
    """What assistants used is unknown, and is called so."""
    assert user.council("start", "--id", "ours", Q).code == 0
    for seat in SEATS:
        say(user, "ours", f"01-positions/{seat}")
    done = user.council("recover", "ours", "--speaker", "replay", "--from", agreed)
    assert done.code == 0, done.err
    assert "Outcome     agreed (4 of 4 sign R1)" in done.out
    assert "4 calls, unknown tokens, cost unknown" in done.out
    assert user.council("recover", "ours").out == done.out
    assert user.council("show", "ours", "--html").code == 0
    assert user.council("list", "--json").json[0]["usd"] is None


def test_a_run_that_stopped_is_finished_by_hand(user: User, agreed: Path) -> None:
    whole = agreed.read_text("utf-8")
    part = user.write("part.yaml", whole[: whole.index("01-positions/researcher")])
    assert user.council("run", "--id", "ours", "--speaker", "replay", "--from", part, Q).code == 3
    say(user, "ours", "01-positions/researcher")
    done = user.council("next", "ours", "--json").json
    assert [one["turn"] for one in done["due"]] == [f"02-challenges/{seat}" for seat in SEATS]
    for seat in SEATS:
        ended = user.council("record", "ours", f"02-challenges/{seat}", "--answer", "signs=R1")
        assert ended.code == 0, ended
    given = ["title=One", "answer=Keep it.", "follows=R1", "confidence=high", "recommended_path=Stay."]
    given += ("areas_of_convergence=- One.", "remaining_disagreements=none", "next_steps=- Measure.")
    words = [part for one in given for part in ("--answer", one)]
    assert user.council("record", "ours", "04-synthesis/chair", *words).code == 0
    assert user.council("status", "ours", "--json").json["kind"] == "agreed"


def test_a_session_travels_as_an_archive_and_its_head_goes_with_it(user: User, agreed: Path, tmp_path: Path) -> None:
    """From a person to another one, and on to CI: each head that was noted on the way still proves its part."""
    assert user.council("start", "--id", "ours", Q).code == 0
    heads = []
    for number, (more, turns) in enumerate(
        [({"TZ": "Pacific/Apia"}, SEATS[:2]), ({"TZ": "America/Los_Angeles"}, SEATS[2:]), ({"CI": "true"}, ())]
    ):
        for seat in turns:
            say(user, "ours", f"01-positions/{seat}", env=more)
        heads.append(user.council("verify", "ours", "--json").json["head"])
        pack = tmp_path / f"{number}.tar"
        with tarfile.open(pack, "w") as archive:
            archive.add(user.session, "ours")
        user = User(tmp_path / f"user-{number}")
        folder = user.home / "STATE" / "council-sessions"
        folder.mkdir(parents=True)
        with tarfile.open(pack) as archive:
            archive.extractall(folder, filter="data")
    done = user.council("recover", "ours", "--speaker", "replay", "--from", agreed, CI="true")
    assert done.code == 0, done.err
    assert "began on another machine" in done.err
    for head in heads:
        assert user.council("verify", "ours", "--head", head).code == 0
    assert len({*heads}) == 2, "a head is over whole batches"


@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "Pacific/Apia", "Nowhere/None", "XXX-25", ""])
def test_no_local_time_comes_into_a_record(user: User, agreed: Path, zone: str) -> None:
    """Dates and times are in UTC, and the day of a document is that of the last word."""
    words = ("run", "--speaker", "replay", "--from", agreed, Q)
    assert user.process(*words, env={"TZ": zone}).code == 0
    session = Session(user.session)
    moments = [receipt.started for receipt in session.receipts.values()]
    metadata = session.metadata
    moments += [metadata["started_at"], metadata["completed_at"]]
    assert all(moment.endswith("Z") for moment in moments)
    assert [*moments[:-2], moments[-1]] == sorted([*moments[:-2], moments[-1]])
    first, day = min(moments), max(moments)[:10]
    assert session.id.startswith(first.replace("-", "").replace("T", "-").replace(":", "")[:13])
    filed = user.process("decision", "last", "--dry-run", "--to", "adr", env={"TZ": zone})
    assert day in filed.out
    assert user.process("build", "last", env={"TZ": zone}).code == 0
    before = contents(user.session)
    assert user.process("build", "last", env={"TZ": "UTC"}).code == 0
    assert contents(user.session) == before


@pytest.mark.parametrize(
    "clocks", [(0, -CENTURY // 2, CENTURY), (79 * CENTURY, 0, 79 * CENTURY), (-CENTURY // 2, 0, 0)]
)
def test_a_clock_that_jumps_blocks_and_hides_nothing(user: User, agreed: Path, clocks: tuple[int, ...]) -> None:
    """It is set wrong where a debate begins, or is moved between two of its turns."""
    first, second, third = (f"{CLOCK.format(jump)}{PROGRAM}" for jump in clocks)
    assert user.process("start", "--id", "ours", Q, program=first).code == 0
    for seat, program in zip(SEATS, (first, second, third, first), strict=True):
        say(user, "ours", f"01-positions/{seat}", program=program)
    done = user.process("recover", "ours", "--speaker", "replay", "--from", agreed, program=second)
    assert done.code == 0, done.err
    assert user.process("start", "--id", "another", Q, program=third).code == 0
    for program in (first, second, third):
        for words in (("status", "ours"), ("show", "ours"), ("verify", "ours"), ("build", "ours"), ("status", "last")):
            ended = user.process(*words, program=program)
            assert (ended.code, "--debug" in ended.err) == (0, False), (words, ended)
        listed = user.process("list", "--json", program=program)
        assert {row["session_id"]: row["status"] for row in json.loads(listed.out)} == {
            "ours": "complete",
            "another": "waiting",
        }
    assert len([*user.home.glob("RESEARCH/*/*.md")]) == 1


STARTS = [
    "never", "", "2026-01-01T00:00:00", "9999-12-31T23:59:59Z", "0001-01-01T00:00:00+23:59", "+12026-01-01", "2026",
    "2199-01-01T00:00:00Z",
]  # fmt: skip


def test_a_start_that_is_none_hides_no_session(user: User) -> None:
    for number, start in enumerate(STARTS):
        assert user.council("start", "--id", f"s-{number}", Q).code == 0
        path = user.home / "STATE" / "council-sessions" / f"s-{number}" / "metadata.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), "started_at": start}))
    assert user.council("start", "--id", "usual", Q).code == 0
    assert len(user.council("list", "--json").json) == len(STARTS) + 1
    shown = user.council("list").out
    for number in range(len(STARTS)):
        assert f"s-{number} " in shown
        assert user.council("status", f"s-{number}", "--json").json["status"] == "waiting"


def test_a_nul_in_a_reply_is_kept_and_reaches_no_terminal_page_or_document(user: User, agreed: Path) -> None:
    """The record has it to the byte, and the members read it so. What people and programs read has a sign for it."""
    assert user.council("start", "--id", "ours", Q).code == 0
    for seat in SEATS:
        body = f"The {seat} begins\0 at some length.\n\n## Recommendation\nKeep\0 it: {seat}.\n\n## Normative\nno\n"
        turn_id = f"01-positions/{seat}"
        if seat == "engineer":
            ended = user.council("record", "ours", turn_id, "--file", user.write("reply.md", body))
        else:
            ended = user.council("record", "ours", turn_id, stdin=body)
        assert ended.code == 0
        turn = (user.session / "turns" / "01-positions" / f"{seat}.md").read_bytes()
        assert turn.partition(b"\n---\n")[2] == body.encode()
    assert user.council("recover", "ours", "--speaker", "replay", "--from", agreed).code == 0
    for words in ((), ("01-positions/engineer",), ("round", "1"), ("--html",), ("--json",)):
        shown = user.council("show", "ours", *words)
        assert shown.code == 0
        assert "\0" not in shown.out
    derived = [path for path in user.session.iterdir() if path.is_file()]
    assert not [path.name for path in derived if b"\0" in path.read_bytes()]
    filed = user.council("decision", "ours", "--to", "adr")
    assert (filed.code, b"\0" in next((user.work / "adr").iterdir()).read_bytes()) == (0, False)
    assert user.council("verify", "ours").code == 0
