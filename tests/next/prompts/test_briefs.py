"""Briefs: what a seat is asked, exactly; from the frozen templates alone, and the same in every process."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from council.next import rooms
from council.next.engine.planner import Due
from council.next.errors import Damaged, UsageError
from council.next.prompts.brief import Brief, render, write
from council.next.prompts.facts import Context, facts
from council.next.record.files import sha256
from council.next.record.session import Session
from council.next.replies.read import read
from tests.next.engine.test_rooms import toys
from tests.next.prompts.kit import ID, begun, hold, record
from tests.next.protocols.held import Held
from tests.next.record import strikes

WITH_TOYS = toys
ROOT = Path(__file__).parents[3]
REAL = ROOT / "tests" / "next" / "real" / "jobs"
GOLDEN = Path(__file__).parent / "golden"
PEOPLE = {
    "architect": ("Serena Blackwood", "system design, patterns, scalability, long-term architectural implications"),
    "designer": ("Aditi Sharma", "user experience, accessibility, user needs, interface implications"),
    "engineer": ("Marcus Webb", "implementation reality, tech debt, maintenance burden, practical constraints"),
    "researcher": ("Ava Chen", "data, precedent, external examples, what others have done"),
    "chair": ("", "a fair account of what was said, and a path that follows from it"),
}
WRITE = """
import sys
from itertools import pairwise
from pathlib import Path
from council.next.prompts.brief import write
from council.next.record.session import Session
from council.next.replies.read import read
session = Session(Path(sys.argv[1]))
with session.hold():
    for due in session.plan.due:
        print(due.id, write(session, due).hash, flush=True)
"""


def spoken(session: Session) -> Held:
    held = Held(session.workflow)
    held.plan = session.plan
    return held


def test_a_debate_is_held_by_its_briefs(tmp_path: Path) -> None:
    with begun(tmp_path) as session:
        held = spoken(session)
        briefs = hold(session, lambda due, _: held.reply(due))
        assert session.outcome.kind == "undecided"
        for id, brief in briefs.items():
            assert session.brief(id) == brief.text.encode()
            assert session.receipts[id].brief == brief.hash == sha256(brief.text.encode())


def test_what_a_batch_shares_is_stored_once(tmp_path: Path) -> None:
    with begun(tmp_path) as session:
        one, other, *_ = (write(session, due) for due in session.plan.due)
        assert one.shared == other.shared != ""
        assert one.own != other.own
        names = sorted(path.name for path in (tmp_path / ID / "briefs" / "01-positions").iterdir())
        assert names == ["architect.md", "designer.md", "engineer.md", "researcher.md", "shared.md"]
        assert all(one.text[:cut].strip() for cut in one.cuts)
        assert one.cuts[-1] == len(one.shared)


def test_a_stored_brief_is_used_as_it_is(tmp_path: Path) -> None:
    with begun(tmp_path) as session:
        due = session.plan.due[0]
        first = write(session, due)
        session.program["templates"]["positions.md.j2"] = "something else{{ cut }}"
        again = write(session, due)
        assert (again.shared, again.own, again.hash) == (first.shared, first.own, first.hash)
        assert render(session, due).text == "something else"


# ---- two processes, and kills ----


def in_a_process(folder: Path, seed: str = "0", program: str = WRITE) -> list[str]:
    """The briefs that another process writes, by their hashes."""
    done = subprocess.run(
        [sys.executable, "-c", program, str(folder)],
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": seed},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.splitlines()


def files_of(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.mark.parametrize("name", ["Debate", "Delphi"])
def test_every_process_writes_the_same_bytes(name: str, tmp_path: Path) -> None:
    with begun(tmp_path / "a", name) as session:
        held = spoken(session)
        for due in session.plan.due:
            record(session, due, held.reply(due))
        session.advance()
    shutil.copytree(tmp_path / "a" / ID, tmp_path / "b" / ID)
    found = [in_a_process(tmp_path / root / ID, seed) for root, seed in (("a", "1"), ("b", "2"))]
    assert found[0] == found[1] != []
    assert files_of(tmp_path / "a" / ID / "briefs") == files_of(tmp_path / "b" / ID / "briefs")


@pytest.mark.parametrize("kind", strikes.DEATHS)
def test_the_briefs_of_a_killed_run_equal_the_later_ones(kind: str, tmp_path: Path) -> None:
    with begun(tmp_path / "born"):
        pass

    def write_all(folder: Path) -> None:
        session = Session(folder)
        with session.hold():
            for due in session.plan.due:
                write(session, due)

    def copy(name: str) -> Path:
        shutil.copytree(tmp_path / "born" / ID, tmp_path / name / ID)
        return tmp_path / name / ID

    whole = copy("whole")
    calls = strikes.count(write_all, whole).number
    assert calls > 20
    for at in range(1, calls + 1, 3):
        folder = copy(f"{kind}-{at}")
        strikes.die(write_all, folder, kind, at)
        write_all(folder)
        assert files_of(folder / "briefs") == files_of(whole / "briefs"), at


def test_what_a_kill_left_of_a_brief_is_made_whole(tmp_path: Path) -> None:
    """The shared part is written first, so without its own part a brief was never stored."""
    with begun(tmp_path) as session:
        due = session.plan.due[0]
        whole = write(session, due).text
        own = session.folder / "briefs" / f"{due.id}.md"
        own.unlink()
        assert write(session, due).text == whole
        (own.parent / "shared.md").unlink()
        with pytest.raises(Damaged, match=r"shared\.md: it is missing; restore it from a backup"):
            write(session, due)


def test_a_session_that_nobody_holds_is_never_written_to(tmp_path: Path) -> None:
    with begun(tmp_path) as session:
        pass
    due = session.plan.due[0]
    assert render(session, due).text
    with pytest.raises(RuntimeError, match="hold the session"):
        write(session, due)
    assert not (session.folder / "briefs").exists()


# ---- facts ----


def test_facts_that_a_batch_shares_are_computed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    real = facts["transcript"]

    def counted(context: Context) -> object:
        asked.append(context.due.id)
        return real(context)

    monkeypatch.setitem(facts, "transcript", counted)
    with begun(tmp_path) as session:
        held = spoken(session)
        hold(session, lambda due, _: held.reply(due))
    folders = [id.partition("/")[0] for id in asked]
    assert sorted({*folders}) == sorted(folders), "each batch once"


def test_a_debate_of_the_core_asks_no_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with begun(tmp_path) as session:
        monkeypatch.setattr(rooms, "load", lambda kind, name: pytest.fail(f"{kind} {name}"))
        held = spoken(session)
        hold(session, lambda due, _: held.reply(due))


@pytest.mark.parametrize("templates", [None, [], {"positions.md.j2": 1}, {}, {"other.md.j2": "x"}])
def test_a_session_whose_templates_were_edited_is_damaged(templates: object, tmp_path: Path) -> None:
    with pytest.raises(Damaged, match=r"program\.json"), begun(tmp_path, program={"templates": templates}) as session:
        write(session, session.plan.due[0])


def test_a_session_that_lacks_an_included_template_names_it(tmp_path: Path) -> None:
    wrong = pytest.raises(UsageError, match=r"the template positions\.md\.j2: _gone\.md\.j2 \(for 01-positions")
    texts = {"positions.md.j2": "{% include '_gone.md.j2' %}"}
    with begun(tmp_path, program={"templates": texts}) as session, wrong:
        write(session, session.plan.due[0])


@pytest.mark.usefixtures("toys")
def test_a_fact_of_a_room_works_in_every_template(tmp_path: Path) -> None:
    with begun(tmp_path, own={"_seat.md.j2": "Be {{ mood }}.\n"}) as session:
        assert write(session, session.plan.due[0]).own == "Be playful in positions.\n"
    facts.pop("mood")


def test_without_its_room_a_fact_is_an_unknown_name(tmp_path: Path) -> None:
    wrong = pytest.raises(UsageError, match=r"_seat\.md\.j2: 'mood' is undefined")
    with begun(tmp_path, own={"_seat.md.j2": "Be {{ mood }}.\n"}) as session, wrong:
        write(session, session.plan.due[0])


def test_attached_documents_stand_beside_the_question_to_the_byte(tmp_path: Path) -> None:
    data = "# Größe\r\n\r\n\ttab\n\n".encode()
    with begun(tmp_path, attached={"docs/a b.md": data, "c.txt": b"x"}, topic="  Shall we?\n\n") as session:
        brief = write(session, session.plan.due[0]).text.encode()
    assert b'>\n  Shall we?\n\n\n</said by="the question"' in brief
    assert b'<said by="the document docs/a b.md" key="' in brief
    assert b'">\n' + data + b'\n</said by="the document docs/a b.md"' in brief


# ---- one whole debate, as its members read it ----


def reply_of(due: Due, _: Brief) -> str:
    """What real members said. They named three conditions each, and keep them when they are asked which two."""
    text = (REAL / "turns" / due.step.name / f"{due.seat.name}.md").read_text("utf-8")
    kept = "\n".join(f"- {item}" for item in read(due.step.reply, text).found.get("conditions", ()))
    return f"## Conditions\n{kept}" if due.first else text


@pytest.mark.golden
def test_golden_briefs_of_a_debate_that_real_members_held(tmp_path: Path) -> None:
    personas = {
        name: {"title": name.title(), "name": person, "focus": focus} for name, (person, focus) in PEOPLE.items()
    }
    topic = (REAL / "topic.md").read_text("utf-8").strip()
    with begun(tmp_path, topic=topic, personas=personas, program={"seed": "0" * 32}) as session:
        hold(session, reply_of)
        assert session.outcome.kind == "agreed on conditions"
    found = files_of(session.folder / "briefs")
    if os.environ.get("COUNCIL_UPDATE_GOLDEN"):
        shutil.rmtree(GOLDEN, ignore_errors=True)
        for name, data in found.items():
            (GOLDEN / name).parent.mkdir(parents=True, exist_ok=True)
            (GOLDEN / name).write_bytes(data)
    assert found == files_of(GOLDEN)


def test_each_round_begins_as_the_one_before_did_so_that_it_is_cached(tmp_path: Path) -> None:
    """Each later turn reads the same beginning: the question, its documents and all passages so far."""
    with begun(tmp_path, options={"three_rounds": True}, attached={"a.md": b"long"}) as session:
        held = spoken(session)
        briefs = hold(session, lambda due, _: held.reply(due))
    steps = [briefs[f"{place}/architect"] for place in ("01-positions", "02-challenges", "03-closing")]
    for before, after in pairwise([*steps, briefs["04-synthesis/chair"]]):
        marks = [cut for cut in before.cuts[:-1] if before.due.sees or cut == before.cuts[0]]
        assert len(marks) == max(1, len(before.due.sees) + 1)
        assert {*marks} <= {*after.cuts}
        assert after.text.startswith(before.text[: marks[-1]])
