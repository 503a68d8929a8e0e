"""Documents say what was decided, each thing once, and a kind is refused where its facts are lacking."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from council.next.errors import UsageError
from council.next.record.session import Session
from council.next.reports.build import build, view
from council.next.reports.documents import KINDS, choose, document_of
from council.next.reports.filing import kinds_of
from council.next.reports.render import KIT
from council.next.reports.state import state
from tests.next.protocols.held import signs
from tests.next.record.sessions import ID
from tests.next.reports import goldens
from tests.next.reports.debates import begin, held, hold, real

MEMBERS = ["architect", "designer", "engineer", "researcher"]


def debate(root: Path, challenges: Any, closing: Any = None, *gates: str, **more: Any) -> Session:
    session = begin(root, "Debate", MEMBERS, gates=list(gates), options=more.pop("options", {}))
    return hold(session, held(session, challenges=challenges, closing=closing or challenges, **more))


ONE = {"all": signs("R1")}
SPLIT = {"A": signs("R1"), "D": signs("R1"), "E": signs("R3"), "R": signs("R3")}
NO = {"human": {"gate": "veto", "reason": "Not before the audit.", "by": "Ada"}}


@pytest.mark.parametrize(
    ("given", "status"),
    [
        ({"challenges": ONE}, "accepted"),
        ({"challenges": {**ONE, "R": signs("R4")}}, "accepted with dissent"),
        ({"challenges": {"all": signs("R1", conditions="A date is named.")}}, "accepted on conditions"),
        ({"challenges": SPLIT}, "proposed"),
        ({"challenges": {"all": signs("undecided", "all of it")}}, "proposed"),
        ({"challenges": ONE, "options": {"accept": "person"}}, "proposed"),
    ],
)
def test_the_status_says_what_was_counted(given: dict[str, Any], status: str, tmp_path: Path) -> None:
    text = document_of(debate(tmp_path, **given))
    assert f"**Status:** {status} (" in text
    if status == "proposed":
        assert "accepted" not in text
        assert "**Decided by:** nobody yet" in text or given.get("options")


def test_a_veto_is_never_accepted(tmp_path: Path) -> None:
    text = document_of(debate(tmp_path, ONE, None, "synthesis", synthesis_gate=NO))
    assert "**Status:** rejected" in text
    assert "accepted" not in text
    assert text.count("Not before the audit.") == 2  # in the status, as the reason, and in the person's own words
    assert "**Decided by:** Ada" in text


def test_nothing_is_filed_of_a_debate_that_was_stopped_or_goes_on(tmp_path: Path) -> None:
    gone: dict[str, Any] = {"human": None}
    session = debate(tmp_path, ONE, None, "positions", positions_gate=gone)
    assert state(session)["outcome"]["kind"] == "stopped"
    assert kinds_of(session) == []
    with pytest.raises(UsageError, match="there is nothing to file"):
        document_of(session)
    other = begin(tmp_path / "other", "Debate", MEMBERS)
    with pytest.raises(UsageError, match=f"council recover {ID}"):
        document_of(other)


def test_a_kind_is_refused_without_its_facts_and_says_what_can_be_filed(tmp_path: Path) -> None:
    session = real(tmp_path, "jobs")
    with pytest.raises(UsageError, match=r"plan needs tasks.*it can be filed as adr, madr, decision and issue"):
        document_of(session, "plan")
    with pytest.raises(UsageError, match="spec needs components and acceptance tests"):
        document_of(session, "spec")
    with pytest.raises(UsageError, match='there is no document "adrr"; did you mean "adr"'):
        document_of(session, "adrr")
    session = goldens.consensus(tmp_path / "consensus")
    now = state(session)
    with pytest.raises(UsageError, match="decision needs perspectives and points of agreement"):
        choose(now, "decision", session)
    assert choose(now, "madr", session) == "madr"


def test_every_kind_that_a_debate_can_fill_has_all_of_it_once(tmp_path: Path) -> None:
    """The writer's words, the conditions, the dissents, the acts and the next steps stand in each document, once."""
    for number, name in enumerate(("dissent", "conditions", "consensus", "board", "perspectives")):
        session = goldens.SESSIONS[name](tmp_path / str(number))
        now = state(session)
        for kind in KINDS:
            try:
                text = document_of(session, kind)
            except UsageError:
                continue
            for said in said_once(now):
                assert text.count(said) == 1, (name, kind, said)


def said_once(now: dict[str, Any]) -> list[str]:
    written = now["synthesis"]["answers"]
    lists = [item for name, value in written.items() if isinstance(value, list) and name != "rulings" for item in value]
    # Parts of a perspective stand below its name, without it.
    items = [str(item).partition(": ")[2] or str(item) for item in lists]
    found = [written["answer"], written.get("recommended_path"), *items]
    found += [term["item"]["by"]["text"] for term in now["outcome"]["conditions"]]
    found += [one["text"] for one in now["outcome"]["dissents"] if not one["text"].startswith("R")]
    found += [act["words"] for act in now["acts"]]
    found += [one["text"] for one in now["outcome"]["check"].get("corrections", ())]
    return [one for one in map(str, found) if one and one != "None" and "`" not in one and "<" not in one]


def test_dissents_are_in_their_owners_words_with_their_turn(tmp_path: Path) -> None:
    closing = {**ONE, "R": signs("none", "It needs a week of measurements.")}
    text = document_of(debate(tmp_path, {**ONE, "R": signs("R4")}, closing))
    assert "- **Researcher (Ava):** It needs a week of measurements. (03-closing/researcher)" in text


def test_a_refused_condition_stands_with_every_rejection(tmp_path: Path) -> None:
    challenges = {**ONE, "D": signs("R1", conditions="A date is named.")}
    reject = signs("R1", rulings="K1: reject: nobody can know it")
    text = document_of(debate(tmp_path, challenges, {"all": reject, "D": signs("R1")}, options={"three_rounds": True}))
    assert "- **K1** (Designer (Aditi); refused): A date is named." in text
    assert text.count(": reject: nobody can know it (03-closing/") == 3


def test_who_decided_and_how_it_came_about_stand_in_front_matter(tmp_path: Path) -> None:
    text = document_of(goldens.consensus(tmp_path))
    matter = yaml.safe_load(text.split("---\n")[1])
    assert (matter["decided_by"], matter["outcome"], matter["session"]) == ("person", "decided by a person", ID)
    assert matter["replayed_turns"] == len(list((tmp_path / ID / "turns").glob("*/*.md")))
    assert "Only until the load test in March; then we look again." in text
    assert "- **A**, offered to the person who decided: Redis and PostgreSQL, with a check of roles." in text
    madr = document_of(goldens.consensus(tmp_path / "2"), "madr")
    keys = [line.partition(":")[0] for line in madr.split("---\n")[1].splitlines()]
    assert keys[:5] == ["status", "date", "decision-makers", "consulted", "informed"]
    assert len(keys) == len({*keys})


def test_a_model_at_a_persons_seat_is_called_that_and_asks_for_no_issue(tmp_path: Path) -> None:
    session = goldens.perspectives(tmp_path)
    assert kinds_of(session) == ["decision", "issue"]
    other = begin(tmp_path / "2", "Perspectives", ["moderator"])
    said = {"follow-up": {"create_workflow": "yes"}, "analyze": {"perspectives": ("Cost: money", "Speed: time")}}
    said["analyze"] |= {"clear": "yes", "opposed": ("Cost, Speed",)}
    said["evaluate"] = {"reading": "agreement"}
    hold(other, goldens.script(other, said))
    assert kinds_of(other) == ["decision"]
    approved = debate(tmp_path / "3", ONE, None, "synthesis", synthesis_gate={"human": {"gate": "approve"}})
    build(approved)
    assert "**a model at a person's seat approved**" in (approved.folder / "transcript.md").read_text("utf-8")


def test_a_projects_own_template_replaces_the_kits(tmp_path: Path) -> None:
    own = '---\nlayout: "post"\nsession: "mine"\n---\n# {{ title }}\n\n'
    own += '{% import "_document.md.j2" as part with context %}{{ part.dissents() }}'
    text = document_of(real(tmp_path, "logout"), "adr", template=own)
    matter = yaml.safe_load(text.split("---\n")[1])
    assert (matter["layout"], matter["session"], matter["document"]) == ("post", ID, "adr")
    assert "- **Designer (Aditi):** R3b: " in text
    with pytest.raises(UsageError, match=r"the template adr.md.j2: 'colour' is undefined"):
        document_of(Session(tmp_path / ID), "adr", template="{{ colour }}")


@pytest.mark.parametrize("matter", ["---\n---\n", "---\n\n---\n", "---\nlayout: post\n---\n"])
def test_front_matter_of_a_template_takes_in_no_words_below_it(matter: str, tmp_path: Path) -> None:
    text = document_of(real(tmp_path, "logout"), template=f"{matter}# {{{{ title }}}}\n\n---\n\nOur rule.\n")
    facts, _, body = text.removeprefix("---\n").partition("\n---\n")
    assert yaml.safe_load(facts)["session"] == ID
    assert "\n---\n\nOur rule.\n" in body
    assert "# " in body


def test_the_kits_own_templates_may_be_copied_into_a_project(tmp_path: Path) -> None:
    session = real(tmp_path, "logout")
    for kind in ("adr", "madr", "decision", "issue"):
        own = (KIT / f"{kind}.md.j2").read_text("utf-8")
        assert document_of(session, kind, template=own) == document_of(session, kind)


def test_templates_get_every_turn_by_its_id(tmp_path: Path) -> None:
    session = real(tmp_path, "jobs")
    data = view(state(session))
    assert {*data["turns"]} == {turn.id for turn in session.plan.scene.turns}
    assert json.dumps(data)
