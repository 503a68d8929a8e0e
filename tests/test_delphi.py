"""Delphi: whole debates on disk, cut anywhere and recovered; who reads what; and what is reported at the end."""

from __future__ import annotations

import html
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from council.checks import cost
from council.config import overlays
from council.engine.planner import Plan
from council.engine.views import labels_for
from council.record import session as sessions
from council.replies.quotes import passages
from council.workflow.loader import load
from council.workflow.model import Workflow
from tests.debates import CUT, brief, facts, held, recover_from_cuts, text, words
from tests.fakeapi import FakeApi
from tests.helpers import Table, User, agreed, derived_of, disputed, no_traceback, script, unpriced
from tests.scripted import Played, names, played

DEBATES = [name for name in names() if name.startswith("delphi/")]
QUESTION = "Should we put Redis in front of PostgreSQL?"
MEMBERS = ("architect", "designer", "engineer", "researcher", "security")
HEADING = "### Did the debate help?\n"


@pytest.fixture
def user(tmp_path: Path) -> User:
    return User(tmp_path)


def options(debate: Played) -> list[str]:
    return ["--control"] if debate.script.workflow.options["control"] else []


def hold(user: User, name: str, **changed: str) -> Path:
    """A scripted debate, by the command, to its end; the session's folder."""
    debate = played(name)
    return to_its_end(user, {**words(debate), **changed}, "delphi", *options(debate), QUESTION)


def to_its_end(user: User, said: dict[str, str], *command: str) -> Path:
    ended = user.council(*command, "--speaker", "replay", "--from", script(user, said))
    no_traceback(ended)
    assert ended.code == 0, ended.err
    return user.session


def report(session: Path) -> str:
    return text(session, "transcript.md").partition(HEADING)[2].partition("\n### Receipts")[0]


# ---- whole debates ----


@pytest.mark.parametrize("name", [name for name in DEBATES if name in CUT])
def test_from_every_cut_it_recovers_to_the_same_files(name, user):
    """One debate of the protocol is cut everywhere, and another once; in `scripts/prove trust`, all of them everywhere.
    How they end is in test_golden_sessions.py.
    """
    assert not [*recover_from_cuts(user, held(user, name, hold), name, everywhere=CUT[name])]


@pytest.mark.parametrize("name", ["delphi/persuaded", "delphi/control"])
def test_by_hand_it_is_the_same_debate(name, user, tmp_path):
    """But for the price, which nobody knows of a debate by hand."""
    debate = played(name)
    assert user.council("start", "--workflow", "delphi", *options(debate), QUESTION).code == 0
    while due := user.council("next", "--json").json["due"]:
        for one in due:
            assert user.council("record", "last", one["turn"], stdin=debate.said[one["turn"]].body).code == 0
    twin = held(User(tmp_path / "twin"), name, hold)
    ours, theirs = (derived_of(session) for session in (user.session, twin))
    assert ours["synthesis.md"] == theirs["synthesis.md"]
    assert unpriced(ours["convergence.json"]) == unpriced(theirs["convergence.json"])
    assert list(ours) == list(theirs)
    assert "(unknown price)" in user.council("show").out.partition(HEADING)[2]


def test_over_the_api_each_part_has_its_price(user):
    debate = played("delphi/control")
    table = Table(user, words(debate))
    user = replace(user, env={"ANTHROPIC_API_KEY": "k"})
    with FakeApi(table) as api:
        user.configure(f"endpoints: {{anthropic: {{base_url: {api.url}}}}}")
        ended = user.council("delphi", "--control", QUESTION, "--speaker", "anthropic")
    assert ended.code == 0, ended.err
    found = facts(user.session)["helped"]
    metadata = json.loads(text(user.session, "metadata.json"))["totals"]
    assert (found["calls"], found["first_calls"], found["control"]["calls"]) == (6, 5, 1)
    assert 0 < found["first_usd"] < found["usd"]
    assert found["usd"] + found["control"]["usd"] == pytest.approx(metadata["usd"])
    assert found["calls"] + found["control"]["calls"] == metadata["calls"]
    assert HEADING in ended.out


# ---- who reads what ----

CHALLENGES = {seat: f"02-challenge-r01/{seat}" for seat in MEMBERS}


def test_the_first_round_is_blind(user):
    session = held(user, "delphi/unexplained", hold)
    for seat in MEMBERS:
        assert [one.by for one in passages(brief(session, f"01-positions/{seat}"))] == ["topic"]


def test_a_challenger_reads_labels_in_their_order(user):
    """Which was drawn for this reader: what stands first in one brief does not in another."""
    session = held(user, "delphi/unexplained", hold)
    scene = planned(session).scene
    for reader in (turn.seat for turn in scene.turns if turn.phase == "positions"):
        topic, *read = passages(brief(session, f"02-challenge-r02/{reader.name}"))
        drawn = {seat: label for seat, label in labels_for(reader, scene).items() if seat in MEMBERS}
        others = sorted(set(drawn.values()) - {"You"})
        assert (topic.by, drawn[reader.name]) == ("topic", "You")
        assert [one.by for one in read] == ["You", *others] * 2, "both rounds"
        assert all(re.fullmatch(r"Member [A-G]", label) for label in others)
        for one in read[5:]:
            (author,) = [seat for seat in MEMBERS if one.text == spoken(session, CHALLENGES[seat])]
            assert one.by == drawn[author]


def planned(folder: Path) -> Plan:
    found = sessions.open_(folder)
    found.read_turns()
    return found.plan()


def spoken(session: Path, turn: str) -> str:
    return text(session, f"turns/{turn}.md").split("\n---\n", 1)[1]


def test_no_challenger_is_told_a_count_or_a_name(user):
    session = held(user, "delphi/unexplained", hold)
    for turn in (*CHALLENGES.values(), *(f"02-challenge-r02/{seat}" for seat in MEMBERS)):
        asked = brief(session, turn)
        assert not re.search(r"\d/5|\d of 5|\d (?:say|yes|no)\b", asked)
        outside = re.sub(r'(?s)<said by="([^"]*)".*?</said by="\1"', "", asked).partition("# Now")[2]
        others = {"Serena", "Aditi", "Marcus", "Ava", "Rook"} - set(re.findall(r"You are (\w+)", outside))
        assert not others & set(re.findall(r"\w+", outside))


def test_the_pen_reads_names_and_ids(user):
    peers = "Member A forgets it."
    session = hold(user, "delphi/split", **{CHALLENGES["engineer"]: f"{peers}\n\n{CHALLENGE.format('no', 'none')}"})
    asked = brief(session, "03-synthesis-r01/pen")
    counted = (
        "The program has counted the last stance of everyone who\nwas asked: 3/5 say yes, engineer and security say no"
    )
    assert counted in asked
    for seat in MEMBERS:
        for turn in (f"01-positions/{seat}", CHALLENGES[seat]):
            assert f"\n- {turn} (" in asked
    assert peers not in asked
    for told in (asked, text(session, "transcript.md")):
        assert re.search(r"(?:\w+ \(\w+\)|Pen|Control) forgets it\.", told), "any of them may be Member A"


CHALLENGE = "## Stance\n{}\n\n## Flaw\n{}\n\n## Blocking\nnone\n\n## Gist\nNothing new.\n"


def test_whoever_says_the_same_again_is_heard(user):
    """In the words of the round before, to the letter: there is nothing to be asked once more."""
    stubborn = f"Writes are slow, and nobody answers that.\n\n{CHALLENGE.format('no', 'none')}"
    again = {f"02-challenge-r0{number}/engineer": stubborn for number in (1, 2)}
    session = hold(user, "delphi/unexplained", **again)
    assert facts(session)["stances"]["engineer"] == "no"
    assert not list(session.glob("turns/*/engineer.2.md"))


# ---- the synthesis ----


def test_a_synthesis_is_told_what_it_lacks(user):
    session = held(user, "delphi/synthesis-corrected", hold)
    first, second = (brief(session, f"03-synthesis-r0{number}/pen") for number in (1, 2))
    assert "Your last synthesis" not in first
    assert 'with each of these under "Dissents"' in second
    assert "\n- Engineer (Marcus): disagrees\n" in second
    assert "\n- there is no turn 01-positions/writer\n" in second
    assert facts(session)["phases"]["synthesis"] == "complete"
    assert "Citations not in order" not in text(session, "synthesis.md")


FORGETFUL = """In round {}, all say yes.

## Conclusion
Yes.

## Grounds
- They said so.

## Dissents
none

## Open questions
none

## Confidence
high
"""


def test_what_it_leaves_out_twice_stands_there_in_its_owners_words(user):
    session = hold(user, "delphi/split", **{f"03-synthesis-r0{n}/pen": FORGETFUL.format(n) for n in (1, 2)})
    document = text(session, "synthesis.md")
    assert facts(session)["phases"]["synthesis"] == "cap"
    assert "\n- it cites no turn by its id\n" in brief(session, "03-synthesis-r02/pen")
    assert "**Dissent on record** *(added by council: not found in the synthesis)*" in document
    assert "- Engineer (Marcus): disagrees. In their own words: “Nobody answers that writes are slow.”\n" in document
    assert "- Engineer (Marcus): blocking: “The restore is untested.”\n" in document
    assert "- Security (Rook): disagrees. In their own words: “Nobody says who may read it.”\n" in document
    assert "Architect" not in document.partition("Dissent on record")[2]
    assert "\n**Citations not in order** *(checked by council)*: it cites no turn by its id.\n" in document
    assert "Citations not in order" in user.council("show", "--html").out


def test_nobody_dissents_from_a_no_that_all_give(user):
    session = held(user, "delphi/no-split", hold)
    assert (facts(session)["outcome"], facts(session)["converged"]) == ("agreed", True)
    assert "Dissent on record" not in text(session, "synthesis.md")
    assert "**Round 2 skipped:**" in text(session, "transcript.md")


def test_who_says_yes_dissents_from_a_no(user):
    """And is named, if the synthesis forgets it: a dissent is what the fewer say, whatever they say."""
    session = hold(user, "delphi/unexplained", **{f"03-synthesis-r0{n}/pen": FORGETFUL.format(n) for n in (1, 2)})
    lost = text(session, "synthesis.md").partition("Dissent on record")[2]
    assert re.findall(r"^- (\w+) \(\w+\): (\w+)", lost, re.M) == [("Architect", "disagrees"), ("Architect", "blocking")]


# ---- what is reported ----


def test_the_ledger_names_what_moved_whom(user):
    session = held(user, "delphi/persuaded", hold)
    found = facts(session)
    assert [(one["seat"], one["from"], one["to"], one["round"], one["kind"]) for one in found["flips"]] == [
        ("architect", "yes", "no", 2, "persuaded"),
        ("designer", "yes", "no", 2, "persuaded"),
    ]
    assert {one["stands_in"] for one in found["flips"]} == {"01-positions/engineer"}
    assert found["flips"][0]["turn"] == "02-challenge-r01/architect"
    assert found["helped"] == {
        "first": {"answer": "no", "counts": {"yes": 2, "no": 3}, "of": 5},
        "final": {"answer": "no", "counts": {"no": 5}, "of": 5},
        "same": True,
        "flips": {"persuaded": 2, "explained": 0, "unexplained": 0},
        "calls": 11,
        "usd": 0.0,
        "first_calls": 5,
        "first_usd": 0.0,
    }
    told = report(session)
    assert "\nFirst count: 3 of 5 say no. Final count: 5 of 5 say no. 2 changes" in told
    assert (
        "- Architect (Serena), round 2: yes → no, persuaded: “\u2018Nine of ten slow requests are writes.\u2019 I"
        in told
    )
    assert "reads are slow.” Words of it are in 01-positions/engineer, which they had read.\n" in told
    assert found["flips"][0]["flaw"].startswith("“Nine of ten slow requests are writes.” I had taken")


def test_labels_in_a_flaw_are_names_again(user):
    """The designer calls the engineer by the label that the designer's own brief has."""
    debate = played("delphi/persuaded")
    assert user.council("start", "--workflow", "delphi", QUESTION).code == 0
    while due := user.council("next", "--json").json["due"]:
        for one in due:
            body = debate.said[one["turn"]].body
            if one["turn"] == CHALLENGES["designer"]:
                read = passages(brief(user.session, one["turn"]))
                (label,) = [passage.by for passage in read if "I measured the read path" in passage.text]
                assert re.fullmatch(r"Member [A-Z]", label)
                body = body.replace("The figures show", f"{label} shows")
            assert user.council("record", "last", one["turn"], stdin=body).code == 0
    flip = facts(user.session)["flips"][1]
    assert (flip["kind"], flip["stands_in"]) == ("persuaded", "01-positions/engineer")
    assert flip["flaw"].startswith("Engineer (Marcus) shows that a cache makes no write faster")
    assert flip["flaw"] in report(user.session)


def test_who_names_nothing_or_what_nobody_said_was_not_persuaded(user):
    session = held(user, "delphi/unexplained", hold)
    assert [(one["seat"], one["kind"], one["stands_in"]) for one in facts(session)["flips"]] == [
        ("designer", "unexplained", None),
        ("researcher", "explained", None),
    ]
    told = report(session)
    assert "- Designer (Aditi), round 2: yes → no, unexplained: they name no flaw in what they said before.\n" in told
    assert "- Researcher (Ava), round 2: mixed → no, explained: “Published benchmarks" in told


def test_silence_is_no_change_of_mind_and_no_vote(user):
    session = held(user, "delphi/silent", hold)
    found = facts(session)
    assert "engineer" not in [one["seat"] for one in found["flips"]]
    assert found["helped"]["final"] == {"answer": "yes", "counts": {"yes": 4}, "of": 5}
    assert found["reason"] == "4/5 say yes, engineer was not heard"
    assert found["outcome"] == "agreed with dissent"


def test_a_tie_is_no_answer(user):
    session = held(user, "delphi/tie", hold)
    assert facts(session)["helped"]["final"]["answer"] is None
    assert facts(session)["helped"]["same"] is True
    assert "First count: 2 yes, 2 no, 1 mixed." in report(session)


def test_the_control_reads_the_question_alone_and_counts_nowhere(user, tmp_path):
    session = held(user, "delphi/control", hold)
    asked = brief(session, "04-control/control")
    assert [one.by for one in passages(asked)] == ["topic"]
    for word in ("council", "perspective", "member", "debate"):
        assert word not in asked.lower().replace("council.", "")
    found = facts(session)
    assert "control" not in found["stances"]
    assert found["helped"]["control"] == {"answer": "yes", "same": False, "calls": 1, "usd": 0.0}
    told = report(session)
    assert "Baseline without a debate, 1 call ($0.0000): yes, not the debate's answer." in told
    assert "**⚪ Control:**" in told
    assert [path.name for path in sorted(session.glob("round-*.md"))] == ["round-1.md"]
    plain = held(User(tmp_path / "plain"), "delphi/no-split", hold)
    assert {key: value for key, value in facts(plain).items() if key not in ("phases", "helped")} == {
        key: value for key, value in found.items() if key not in ("phases", "helped")
    }
    assert "control" not in facts(plain)["helped"]
    assert "Control" not in text(plain, "transcript.md")


def test_a_control_that_cannot_be_read_says_nothing(user):
    session = hold(user, "delphi/control", **{f"04-control/control{again}": "I wonder." for again in ("", ".2")})
    assert facts(session)["helped"]["control"] == {"answer": None, "same": None, "calls": 2, "usd": 0.0}
    assert "Baseline without a debate: the answer could not be read." in report(session)


@pytest.mark.parametrize("workflow", ["debate", "board", "quick"])
def test_a_workflow_without_a_control_refuses_to_hold_one(workflow, user):
    ended = user.council("run", "--workflow", workflow, "--control", "Shall we?")
    assert ended.code == 2
    assert f'{workflow} has no option "control"' in ended.err
    assert user.sessions == []


def test_a_page_shows_the_same(user):
    held(user, "delphi/control", hold)
    ending = user.council("show", "--html").out.partition("<h2>Did the debate help?</h2>")[2]
    assert ": yes, not the debate's answer." in html.unescape(ending)
    assert "Control</h3>" in ending
    assert "Caches are fast." in ending
    assert HEADING in user.council("show").out


# ---- under other debates ----


def test_a_debate_about_where_the_council_heads_has_the_same_reports(user):
    said = disputed()
    said["03-closing/engineer"] = (
        "The architect convinced me: the architect stays with it.\n\n## Stance\nagree\n\n## Blocking\nnone\n"
    )
    said["03-closing/designer"] = "I have my doubts.\n\n## Stance\nmixed\n\n## Blocking\nnone\n"
    session = to_its_end(user, said, "run", QUESTION)
    found = facts(session)
    assert [(one["seat"], one["from"], one["to"], one["round"], one["kind"]) for one in found["flips"]] == [
        ("designer", "agree", "mixed", 3, "unexplained"),
        ("engineer", "disagree", "agree", 3, "explained"),  # what the architect says in the same round
    ]
    assert (found["helped"]["calls"], found["helped"]["first_calls"]) == (13, 8)
    assert "First count: 3 of 4 agree. Final count: 3 of 4 agree. 2 changes of mind" in report(session)


def test_persuasion_without_a_flaw_needs_a_sentence_that_says_so(user):
    said = disputed()
    said["03-closing/engineer"] = (
        "I have changed my mind: the researcher sees no reason against it.\n\n## Stance\nagree\n\n## Blocking\nnone\n"
    )
    (flip,) = facts(to_its_end(user, said, "run", QUESTION))["flips"]
    assert (flip["kind"], flip["flaw"]) == (
        "persuaded",
        "I have changed my mind: the researcher sees no reason against it.",
    )
    assert flip["stands_in"] == "02-challenges/architect"


def test_where_nobody_is_asked_where_they_stand_nothing_is_reported(user):
    said = {turn: f"{body}\n\n## Blocking\nnone\n" for turn, body in agreed().items() if turn.startswith("01")}
    said["02-synthesis-r01/chair"] = agreed()["04-synthesis-r01/chair"]
    session = to_its_end(user, said, "run", "--workflow", "quick", QUESTION)
    assert not {"flips", "helped"} & set(facts(session))
    assert HEADING not in text(session, "transcript.md")


def test_until_it_is_over_nothing_is_said_of_what_it_helped(user):
    debate = played("delphi/unexplained")
    assert user.council("start", "--workflow", "delphi", QUESTION).code == 0
    for batch in debate.batches[:2]:
        user.council("next")
        for due in batch:
            assert user.council("record", "last", due.id, stdin=debate.said[due.id].body).code == 0
    found = facts(user.session)
    assert [one["seat"] for one in found["flips"]] == ["designer", "researcher"]
    assert "helped" not in found
    assert HEADING not in text(user.session, "transcript.md")


# ---- what it takes ----


def program() -> Workflow:
    return load(*overlays.workflow_text("delphi"))


def test_the_calls_are_those_that_the_page_tells():
    rates = dict.fromkeys(("sonnet", "haiku", "opus"), cost.Rates("one", 1.0, 1.0, 1000))
    checked = program().with_options({"control": True})
    calls = {row.phase: (row.least, row.most) for row in cost.bound_steps(checked, "", rates)}
    calls["control"] = (0, calls["control"][1])  # only if it is asked for
    rows = re.findall(r"^\| \**([\w ]+?)\** +\| +\**(\d+)\** +\| +\**(\d+)\** +\|$", program().body, re.M)
    told = {what: (int(least), int(most)) for what, least, most in rows}
    assert told.pop("total") == tuple(map(sum, zip(*calls.values(), strict=True)))
    assert told == calls
    taken = [len(played(name).said) for name in DEBATES]
    assert min(taken) == 6
    assert max(taken) <= 18


def test_lint_and_cost_know_it(user):
    assert user.council("lint", "delphi").out == "delphi: no problems found\n"
    assert "\n6 to 17 calls" in user.council("cost", "delphi").out
    assert len(program().members) % 2 == 1
