"""The status, the dissents and the ledger of a document name the same members, whatever its author wrote.

Who dissents is worked out here from the turns alone. The debates are the scripted ones, and small ones of every count
whose synthesis lists nobody, everybody, or only some.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from council.config import overlays
from council.engine.planner import Plan
from council.engine.scene import Turn
from council.record.session import Session
from council.reports import dissents, documents, produce, sources
from council.workflow.loader import load
from council.workflow.model import Seat
from tests import recordings, tallies
from tests.examples import EXAMPLES, Example
from tests.scripted import Played, Script, names, play, played

COUNTED = ("board", "consensus", "debate", "delphi", "quick")  # protocols that ask for stances, scores or what blocks
KINDS = ("adr", "madr", "spec", "decision")
WHEN = "2026-01-02T03:04:05+00:00"
AGAINST = re.compile(r"([^:;]+?) (?:disagrees?|(?:is|are) undecided|says? \w+|block(?:s|ed)?)\b")
ITEM = re.compile(r"^- [*_]*(?:the )?(.*)", re.M | re.I)


def keep(debate: Played) -> Session:
    """A session of this debate that is on no disk."""
    facts = {"topic": "Shall we?", "started_at": WHEN, "completed_at": WHEN, "seed": "s", "session_id": "x"}
    session = Session(Path("x"), facts, debate.script.workflow, "Shall we?", said=dict(debate.said))
    session.planned = session.said, debate.end
    return session


def make(session: Session, kind: str) -> str:
    data = produce.KINDS[kind].facts(session, session.plan())
    assert data is not None
    return sources.resolve(documents.render(f"{documents.FOLDER}/{kind}", {}, **data), session.plan())


def find_section(document: str, *titles: str) -> str:
    found = re.search(rf"^(#+) (?:{'|'.join(titles)})$(.*?)(?=^#|\Z)", document, re.M | re.S)
    return found[2] if found else ""


def find_named(text: str, plan: Plan) -> set[str]:
    """The members with whose name an item of the list begins."""
    seats = {turn.seat.name: turn.seat for turn in plan.scene.turns}.values()
    items = [item.casefold() for item in ITEM.findall(text)]
    return {one.title for one in seats if any(item.startswith((one.title.casefold(), one.name)) for item in items)}


def find_expected(plan: Plan) -> set[str]:
    """Everybody whose newest stance is not the leading one, or whose newest list of what blocks has items."""
    stances: dict[str, str] = {}
    blocking: dict[str, list[str]] = {}
    last: list[Turn] = []
    for turn in plan.scene.turns:
        if turn.phase in plan.scene.roles.values():
            continue
        if "stance" in turn.asked:
            last = [*(one for one in last if one.moment == turn.moment), turn]
        if "stance" in turn.answers:
            stances[turn.seat.title] = str(turn.answers["stance"])
        if "blocking" in turn.answers:
            blocking[turn.seat.title] = [str(item) for item in turn.answers["blocking"]]
    leading = "agree"
    if not set(stances.values()) <= {"agree", "mixed", "disagree"}:
        votes = [str(turn.answers["stance"]) for turn in last if turn.answers.get("stance", "mixed") != "mixed"]
        votes = votes or [one for one in stances.values() if one != "mixed"]
        most = sorted({(votes.count(one), one) for one in votes}, reverse=True)
        leading = most[0][1] if most and (len(most) == 1 or most[0][0] > most[1][0]) else ""
    against = {title for title, stance in stances.items() if stance != leading}
    return against | {title for title, items in blocking.items() if items}


def find_faults(session: Session, kind: str) -> Iterator[str]:
    document, plan = make(session, kind), session.plan()
    expected = find_expected(plan)
    status = re.search(r"^\*\*Status:\*\* (.*)$", document, re.M)[1]  # type: ignore[index]
    titles = {turn.seat.title for turn in plan.scene.turns}
    found = (match[1] for clause in status.split("; ")[1:] for match in AGAINST.finditer(clause))
    in_status = {name for names in found for name in re.split(r", | and ", names) if name in titles}
    said = find_section(document, "Dissents", "Dissenting View")
    in_dissents = find_named(said, plan)
    if in_status != expected:
        yield f"the status names {in_status}, and {expected} dissent: {status}"
    if in_dissents != expected:
        yield f"the dissents name {in_dissents}, and {expected} dissent: {said}"
    if (said.strip() in ("None.", "*(The synthesis does not say.)*")) is bool(expected):
        yield f"{expected} dissent: {said}"
    rows = re.findall(r"^\| (C\d+) \|.* \(blocking\) \| .* \| (?:open|accepted by a person)[^|]*\|$", document, re.M)
    if set(rows) != set(re.findall(r"blocking concern (C\d+)", said)):
        yield f"in the ledger {rows} block: {said}"


@pytest.mark.parametrize("name", [name for name in names() if name.split("/")[0] in COUNTED])
def test_status_dissents_and_ledger_agree_in_each_scripted_debate(name: str) -> None:
    assert [fault for kind in KINDS for fault in find_faults(keep(played(name)), kind)] == []


RECORDED = [one.folder.name for one in recordings.sessions() if one.complete and not one.case.get("kept")]


@pytest.mark.parametrize("name", [name for name in RECORDED if not name.startswith("patchlist")])
def test_they_agree_in_the_sessions_of_earlier_versions(name: str, tmp_path: Path) -> None:
    session = recordings.opened(name, tmp_path)
    assert [fault for kind in KINDS for fault in find_faults(session, kind)] == []


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda one: one.name)
def test_they_agree_in_the_examples(example: Example) -> None:
    """A decision of Perspectives is left out: nobody gives a stance in it."""
    page = example.page.read_text("utf-8")
    status = re.search(r"^\*\*Status:\*\* (.*)$", page, re.M)[1]  # type: ignore[index]
    titles = re.search(r"^- \*\*Members:\*\* (.*)$", page, re.M)[1].split(", ")  # type: ignore[index]
    items = ITEM.findall(find_section(page, "Dissents", "Dissenting View"))
    assert [title for title in titles if any(item.startswith(title) for item in items)] == [
        title for title in titles if any(title in clause for clause in status.split("; ")[1:])
    ]


BLOCKS = "The {} cannot be undone after the {}."
THINGS = ("schema", "release", "contract", "switch", "backup", "key")


@lru_cache(maxsize=8)
def program(protocol: str) -> Any:
    return load(*overlays.workflow_text(protocol)).with_options(tallies.OPTIONS.get(protocol, {}))


def play_case(case: tallies.Case, rng: random.Random) -> Played:
    """The debate of a count, in which some block, and whose author lists whom chance says."""
    turns = tallies.turns(case)
    for answers in turns.values():
        if isinstance(answers, dict) and "blocking" in answers and rng.random() < 0.3:
            answers["blocking"] = [BLOCKS.format(*rng.sample(THINGS, 2))]
    listed = [f"{seat}: {BLOCKS.format(*rng.sample(THINGS, 2))}" for seat in case.seats if rng.random() < 0.5]
    listed += [rng.choice(("Somebody else would wait.", "Nobody else objects."))] * (rng.random() < 0.2)
    for step in ("synthesis/*", "synthesize/*"):
        field = "remaining_disagreements" if case.workflow in ("debate", "quick") else "dissents"
        turns[step] = {**turns[step], field: listed}
    only = [Seat(seat, "") for seat in case.seats if seat not in ("contrarian", "moonshot")]
    return play(Script("count", "", program(case.workflow).with_members(*[only]), "seed", 0.0, turns))


@pytest.mark.parametrize("protocol", ["board", "consensus", "debate", "delphi"])
def test_they_agree_for_every_count_and_every_author(protocol: str) -> None:
    rng = random.Random(protocol)
    every = list(tallies.cases(protocol))
    for case in rng.sample(every, 12):
        debate = play_case(case, rng)
        assert list(find_faults(keep(debate), rng.choice(KINDS))) == [], case


def test_a_document_that_names_somebody_else_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    session = keep(played("board/agreed"))
    assert list(find_faults(session, "adr")) == []
    monkeypatch.setattr(dissents, "find_dissenters", lambda scene: ())
    assert len(list(find_faults(session, "adr"))) == 3


OBJECTION = "Nobody can undo the release."


def write_board(dissent: str, blocking: str = OBJECTION) -> Session:
    """A board on which Test blocks, with this as its author's list of dissents."""
    turns = {
        "positions/*": "So.",
        "respond/*": {"challenges": [], "risks": [], "stance": "agree", "blocking": [], "gist": "So.", "ready": "yes"},
        "poll/*": {"move_on": "yes"}, "review/*": {"ruling": "continue", "repeating_rounds": 0},
        "check/*": {"accurate": "yes", "correction": []},
        "synthesize/*": {"chosen": "So.", "rejected": [], "dissents": [dissent], "risks": [], "confidence": "high"},
    }  # fmt: skip
    turns["respond/test"] = {**turns["respond/*"], "blocking": [blocking]}  # type: ignore[dict-item]
    return keep(
        play(Script("x", "", program("board").with_members([Seat("test", ""), Seat("cto", "")]), "s", 0.0, turns))
    )


def test_a_title_inside_of_another_word_names_nobody() -> None:
    said = find_section(make(write_board("The latest figures show no need for it."), "adr"), "Dissents")
    assert "- The latest figures show no need for it.\n" in said
    assert f"- Test blocks: “{OBJECTION}” (blocking concern C1, `" in said


def test_no_author_can_write_a_reference() -> None:
    forged = "{}01-positions/cto{}Test, round 9{}".format(*(sources.BEGIN, sources.BETWEEN, sources.END))
    open_end = f"We wait {sources.BEGIN}for the audit."
    session = write_board(open_end, f"{OBJECTION} {forged}")
    for kind in KINDS:
        data = produce.KINDS[kind].facts(session, session.plan())
        assert data is not None
        text = documents.render(f"{documents.FOLDER}/{kind}", {}, **data)
        made = sources.resolve(text, session.plan(), "x.record")
        assert (
            f"- Test blocks: “{OBJECTION} 01-positions/cto Test, round 9” (blocking concern C1, [Test, round 2]("
            in made
        )
        assert "We wait for the audit." in made
        assert not set(sources.BEGIN + sources.BETWEEN + sources.END) & set(made)
