"""state.json and convergence.json: they fit their schema, follow from the record alone, and tell what was said."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import council.next.reports
from council.next import extras, rooms
from council.next.engine import registry
from council.next.protocols.ids import Register
from council.next.record.session import Session
from council.next.replies import kinds
from council.next.reports.build import build, is_safe
from council.next.reports.finish import finish
from council.next.reports.section import rooms_of
from council.next.reports.state import convergence, state
from council.next.text import encode
from tests.next.debates import any_reply
from tests.next.protocols.held import Held, kit, signs
from tests.next.record.sessions import ID, born, receipt
from tests.next.workflow.test_loading import text_of

SCHEMA = json.loads((Path(council.next.reports.__file__).parent / "state.schema.json").read_bytes())
CHECK = jsonschema.Draft202012Validator(SCHEMA)
TOYS = Path(__file__).parent.parent / "toyrooms"
NAMES = ("Debate", "Quick", "Delphi", "Board", "Consensus", "Perspectives", "Planning-1", "Confirm")
MEMBERS = {"Debate": ["architect", "designer"], "Quick": ["architect"], "Delphi": ["architect", "designer", "engineer"]}


def begin(root: Path, name: str, **options: Any) -> Session:
    members = [seat.name for seat in kit(name).members][:3]
    with born(root, name=name, program={"members": members, "options": options}):
        pass
    return Session(root / ID)


def go_on(session: Session, rng: random.Random, turns: int) -> None:
    with session.hold():
        while session.plan.due and turns:
            turns -= 1
            due = rng.choice(session.plan.due)
            said = any_reply(due, rng, tuple(Register.of(session.plan.scene).items) or ("R1",))
            session.record(receipt(due, absent=said.absent, usd=said.usd), encode(said.body))
            session.advance()


@pytest.mark.parametrize("name", NAMES)
def test_every_state_of_any_debate_fits_the_schema(name: str, tmp_path: Path) -> None:
    rng = random.Random(name)
    options = {"max_rounds": "2"} if "max_rounds" in kit(name).options else {}
    session = begin(tmp_path, name, **options)
    CHECK.validate(json.loads(json.dumps(state(session))))
    while session.plan.due:
        go_on(session, rng, 5)
        CHECK.validate(json.loads(json.dumps(state(session))))
        assert state(Session(session.folder)) == state(session)
    found = state(session)
    assert (found["status"], found["due"], found["turns_of"]) == ("complete", [], len(session.said))
    told = [one for round in found["rounds"] for one in round["arguments"] + round["rebuttals"]]
    assert {one["turn"] for one in told} <= {turn.id for turn in session.plan.scene.turns}


def test_derived_files_are_made_again_byte_for_byte_also_by_another_process(tmp_path: Path) -> None:
    session = begin(tmp_path, "Debate")
    go_on(session, random.Random(7), 99)
    build(session)
    names = ("state.json", "convergence.json")
    before = {name: (session.folder / name).read_bytes() for name in names}
    for name in names:
        (session.folder / name).unlink()
    code = (
        "import sys; from pathlib import Path; from council.next.record.session import Session; "
        "from council.next.reports.build import build; build(Session(Path(sys.argv[1])))"
    )
    env = {"PYTHONHASHSEED": "77", "PYTHONPATH": ".", "TZ": "Pacific/Apia"}
    subprocess.run([sys.executable, "-c", code, str(session.folder)], env=env, check=True)
    assert {name: (session.folder / name).read_bytes() for name in names} == before
    elsewhere = tmp_path / "elsewhere" / ID
    shutil.copytree(session.folder, elsewhere)
    build(Session(elsewhere))
    assert {name: (elsewhere / name).read_bytes() for name in names} == before


def test_convergence_is_told_while_a_debate_waits() -> None:
    held = Held(kit("Debate"), challenges={"all": signs("R1")}).until("challenges")

    class Waiting:
        outcome = held.outcome

    before = convergence(Waiting())  # type: ignore[arg-type]
    assert (before["converged"], before["proceed_to_round3"], before["kind"]) == (None, None, None)
    held.until("synthesis")
    Waiting.outcome = held.outcome
    assert convergence(Waiting()) == {  # type: ignore[arg-type]
        "converged": True,
        "reason": "4 of 4 sign R1",
        "proceed_to_round3": False,
        "kind": None,
        "standing": "agreed",
    }


def test_who_answers_whom_is_told_by_ids(tmp_path: Path) -> None:
    session = begin(tmp_path, "Debate")
    challenges = {"all": signs("R1"), "D": signs("R2", conditions="K1")}
    held = Held(kit("Debate"), challenges=challenges)
    with session.hold():
        while session.advance().due:
            for due in session.plan.due:
                held.plan = session.plan
                session.record(receipt(due), encode(held.reply(due).body))
    rounds = state(session)["rounds"]
    assert [(one["round_number"], one["title"]) for one in rounds[:2]] == [
        (1, "Initial Positions"),
        (2, "Responses & Challenges"),
    ]
    answers = {one["perspective"]: one["responding_to"] for one in rounds[1]["rebuttals"]}
    assert answers["engineer"] == ["architect"]
    assert answers["designer"] is None
    assert rounds[1]["arguments"] == []


@pytest.fixture
def toys(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(extras, "__path__", [*extras.__path__, str(TOYS)])
    rooms.of_the_kit.cache_clear()
    known = (*vars(registry).values(), kinds.NAMED)
    words = [one for one in known if isinstance(one, dict)]
    before = [dict(one) for one in words]
    yield
    for one, names in zip(words, before, strict=True):
        for name in {*one} - {*names}:
            del one[name]
    for name in [name for name in sys.modules if name.startswith("council.next.extras.toys")]:
        del sys.modules[name]
    rooms.of_the_kit.cache_clear()


PLAY = [{"name": "play", "rounds": ["1", "2"], "reply": {"throw": "dice"}, "until": {"over": "everybody_laughs"}}]


@pytest.mark.usefixtures("toys")
def test_a_room_adds_a_section_files_and_what_is_done_in_the_end(tmp_path: Path) -> None:
    with born(tmp_path, program={"members": ["ada"], "options": {}}, workflow=text_of(phases=PLAY)):
        pass
    session = Session(tmp_path / ID)
    assert rooms_of(session) == ["toys"]
    for number, dots in enumerate((3, 6), 1):
        with session.hold():
            (due,) = session.plan.due
            session.record(receipt(due), encode(f"Talk.\n\n## Throw\n{'• ' * dots}"))
            session.advance()
        build(session)
        found = state(session)
        CHECK.validate(json.loads(json.dumps(found)))
        assert len(found["files"]) == number
    assert found["sections"]["scores"]["data"] == {"throws": [3, 6]}
    assert found["sections"]["scores"]["unmet"] == ""
    assert (session.folder / "throws/2.txt").read_bytes() == b"6\n"
    (session.folder / "state.json").write_text(json.dumps({"files": ["throws/9.txt", "../../x", "program.json"]}))
    (session.folder / "throws/9.txt").write_text("stale")
    build(session)
    assert not (session.folder / "throws/9.txt").exists()
    assert (session.folder / "program.json").exists()
    with session.hold():
        finish(session, tmp_path)
    assert (tmp_path / "applause").read_text() == ID


def test_a_debate_of_the_core_uses_no_room(tmp_path: Path) -> None:
    for number, name in enumerate(NAMES):
        assert rooms_of(begin(tmp_path / str(number), name)) == []


@pytest.mark.parametrize(
    "name",
    ["", ".", "..", "../x", "/etc/x", "turns/a.md", "program.json", ".lock", "a/../b", "a/.b", "state.json", "desk/x"],
)
def test_no_room_writes_into_the_record(name: str) -> None:
    assert not is_safe(name)
    assert is_safe("result.md")
    assert is_safe("versions/1/a.py")
