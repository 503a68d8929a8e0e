"""The record of a decision: that it holds all that was said and decided, from the record alone, and nothing else."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml

from council.record.session import open_
from council.reports import filing, parts
from tests.debates import APPEAL, MUTE, bare, everything, held, hold, options, to_its_end, words
from tests.helpers import User, no_traceback, script
from tests.scripted import played

TOPIC = "Implement participant mute functionality\n\nPeople talk over each other in large meetings."
LABELS = {"meeting-controller": "Meeting Controller"}


@pytest.fixture
def user(tmp_path: Path) -> User:
    return User(tmp_path)


def document(session: Path) -> str:
    """The document without its front matter, and without the note that it is a replay."""
    return bare((session / "decision.md").read_text("utf-8"))


def sections(text: str) -> dict[str, str]:
    """The document by its headings of the second level."""
    parts = re.split(r"^## (.+)$", text, flags=re.M)
    return {title: body.strip("\n") for title, body in zip(parts[1::2], parts[2::2], strict=True)}


def label(seat: str) -> str:
    return LABELS.get(seat, seat.title())


# ---- what stands in it ----


def test_it_begins_with_the_decision_and_has_each_thing_once(user):
    text = document(hold(user, "consensus/complex", TOPIC))
    assert text.startswith(
        "# ADR-NNNN: Implement participant mute functionality\n\n"
        "**Status:** accepted by consensus after 3 rounds\n\n**Decided by:** models in the roles of "
    )
    assert text.count("NNNN") == 1
    assert list(sections(text)) == [
        "Decision",
        "Dissents",
        "Next Steps",
        "Context",
        "Concerns",
        "Open Questions",
        "Responsibilities",
        "Interfaces",
        "Performance Targets",
        "Implementation Notes",
        "Note by the Author",
        "Record",
    ]
    found = sections(text)
    assert found["Decision"] == ("Mute is enforced on the server.\n\n*Written by the clerk: `02-synthesis-r01/clerk`*")
    assert found["Context"] == "> " + TOPIC.replace("\n\n", "\n>\n> ")
    assert found["Note by the Author"] == "Clerk on synthesis, round 1."
    assert found["Next Steps"] == "See [Implementation Notes](#implementation-notes)."
    assert found["Implementation Notes"] == "- Chaos tests with Redis down."
    assert found["Open Questions"] == found["Dissents"] == "None."
    assert found["Responsibilities"].startswith("- Database: Redis")
    assert "`" not in found["Responsibilities"], "nobody knows which turn a claim of the clerk is from"
    assert found["Interfaces"] == "- MuteParticipant\n- ParticipantMuted"


def test_the_rounds_are_one_folded_table_with_each_number_once(user):
    record = sections(document(held(user, "consensus/complex")))["Record"]
    assert record.startswith("This document was made from the record of a debate, ")
    assert "\n\n<details>\n<summary>Rounds and participants</summary>\n\n| member | 1 | 2 | 3 | last p" in record
    assert "\n\n</details>\n\n<!-- " in record
    rows = re.findall(r"^\| ([A-Z][\w ]+) \| (\d+) \| (\d+) \| (\d+) \| (.+) \|$", record, re.M)
    assert {row[0]: tuple(map(int, row[1:4])) for row in rows} == {label(seat): MUTE[seat] for seat in MUTE}
    assert "| **mean** | **75.4** | **81.9** | **91.6** | |" in record
    assert "satisfaction" not in record
    titles = [label(seat) for seat in MUTE]
    (members,) = re.findall(r"^- \*\*Members:\*\* (.+)$", record, re.M)
    assert sorted(members.split(", ")) == sorted(titles)
    assert "- **Author:** Clerk" in record
    assert "Rounds: 1-3 debate. A number says from 0 to 100 how satisfied " in record
    assert "consensus needs 90 from each." in record


# ---- how it was decided ----


@pytest.mark.parametrize(
    ("name", "status"),
    [
        ("simple", "accepted by consensus after 2 rounds"),
        ("hybrid", "accepted by consensus after 6 rounds"),
        ("granted", "accepted by consensus after 5 rounds"),
        ("stalemate", "accepted: decided by a person, option A, after 4 rounds (stalemate); Database blocked"),
        (
            "fundamental",
            "accepted: decided by a person, option A, after 2 rounds (fundamental); Meeting Controller blocked",
        ),
        ("escalation-off", "undecided after 4 rounds (stalemate); Database blocks"),
        ("unsettled", "undecided after 2 rounds (max-iterations); Protocol blocks"),
        ("silent-specialist", "undecided after 5 rounds (max-iterations)"),
    ],
)  # fmt: skip
def test_the_status_says_who_decided(name, status, user):
    text = document(held(user, f"consensus/{name}"))
    assert re.findall(r"^\*\*Status:\*\* (.*)$", text, re.M) == [status]


def test_what_a_person_decided_comes_first_and_what_they_did_not_choose_is_an_alternative(user):
    found = sections(document(held(user, "consensus/stalemate")))
    assert found["Decision"].startswith(
        "**root decided:** option A (Accept the migration, at night.) (`01-debate-r04-3-appeal/human`)\n\n"
        "> Maintenance is scheduled for Sunday.\n>\n> Human on appeal, round 4.\n\n"
    )
    offered = "(offered to the person who decided: `01-debate-r04-2-escalate/clerk`)"
    assert found["Considered Alternatives"] == (
        "- A) Accept the migration, at night. (chosen: `01-debate-r04-3-appeal/human`)\n"
        f"- B) Migrate without downtime. {offered}\n- C) Do not build it. {offered}"
    )
    assert found["Record"].startswith(
        "### Put to a Person\n\n**Round 4, stalemate.** Downtime against effort. (`01-debate-r04-2-escalate/clerk`)"
        "\n\nRecommended: B, for it can be undone.\n\nroot decided: adopt (`01-debate-r04-3-appeal/human`)\n"
    )
    assert found["Dissents"] == (
        "- Database: the migration takes two hours of downtime on large installations. "
        "(blocking concern C1, accepted by a person, `01-debate-r04-1-propose/database`)"
    )


def test_no_claim_of_an_author_gets_a_source_that_the_author_does_not_cite(user):
    """Security never spoke of a merger, and the program cannot know from which turn a paraphrase is."""
    cited = "01-debate-r01-1-propose/database"
    merger, redis = "- Security: approves the merger with another firm.\n", "- Redis is enough (Database).\n"
    claims = f"{merger}{redis}- It was measured: `{cited}`.\n"
    turn = "02-synthesis-r01/clerk"
    written = everything(played("consensus/complex"))[turn]
    said = f"{written}\n\n## Responsibilities\n{claims}\n## Next steps\n{claims}"
    text = document(hold(user, "consensus/complex", **{turn: said, f"{turn}.2": said}))
    assert claims in text


def test_a_dissent_that_the_synthesis_leaves_out_stands_there_in_its_owners_words(user):
    left_out = "## Overview\nMigrate.\n\n## Dissents\nnone\n"
    said = {f"02-synthesis-r0{number}/clerk": left_out for number in (1, 2)}
    again = {f"{turn}.2": left_out for turn in said}
    found = sections(document(hold(user, "consensus/stalemate", **said, **again)))
    assert found["Dissents"] == (
        "- Database blocked: “The migration takes two hours of downtime on large installations.” "
        "(blocking concern C1, accepted by a person, `01-debate-r04-1-propose/database`)"
    )


def test_a_choice_with_a_condition_is_quoted_whole(user):
    said = "A, but only after the privacy review and never in the EU"
    form = f"## Decision\nadopt\n## Option\n{said}\n## Grant\n0\n## Reason\nWe must."
    text = document(hold(user, "consensus/stalemate", **{f"01-debate-r04{APPEAL}": form}))
    choice = f"option A (Accept the migration, at night.) as amended: “{said}”"
    assert (
        "**Status:** accepted: decided by a person, option A as amended, after 4 rounds (stalemate); Database blocked\n"
        in text
    )
    assert f"decided:** {choice} (" in text


def test_an_option_that_was_not_offered_is_refused_before_it_is_recorded(user):
    debate, asked = played("consensus/stalemate"), f"01-debate-r04{APPEAL}"
    script(user, words(debate))
    assert user.council("run", *options(debate), "?", "--speaker=replay", "--from=script.yaml").code == 8
    for option, why in (("none", '"adopt" settles the question'), ("E", "there is no option E")):
        answers = [f"--answer={pair}" for pair in ("decision=adopt", f"option={option}", "grant=0", "reason=none")]
        refused = user.council("record", "last", asked, *answers)
        assert (refused.code, why in refused.err) == (2, True), refused.err
        assert "offered: A) Accept the migration, at night.; B) Migrate without downtime.; C)" in refused.err
        form = f"## Decision\nadopt\n## Option\n{option}\n## Grant\n0\n## Reason\nnone"
        assert user.council("record", "last", asked, stdin=form).code == 2
    answers = [f"--answer={pair}" for pair in ("decision=adopt", "option=B", "grant=0", "reason=none")]
    assert user.council("record", "last", asked, *answers, "--by=Kim Doe").code == 0
    session = to_its_end(user, everything(debate), "recover")
    matter = yaml.safe_load((session / "decision.md").read_text("utf-8").split("---\n")[1])
    assert (matter["outcome"], matter["decided_by"]) == ("stalemate", ["Kim Doe"])


@pytest.mark.parametrize(
    ("name", "headings"),
    [
        ("fundamental", ["Round 2, fundamental disagreement"]),
        ("granted", ["Round 3, max iterations"]),
        ("hybrid", ["Round 4, stalemate", "Round 5, stalemate"]),
    ],
)
def test_each_escalation_is_told_with_what_it_was_about(name, headings, user):
    told = sections(document(held(user, f"consensus/{name}")))["Record"]
    assert re.findall(r"^\*\*(Round .*?)\.\*\*", told, re.M) == headings


def test_a_decision_that_was_asked_for_twice_stands_there_whole(user):
    debate = played("consensus/fundamental")
    asked = f"01-debate-r02{APPEAL}"
    script(user, words(debate))
    assert user.council("run", *options(debate), "?", "--speaker=replay", "--from=script.yaml").code == 8
    assert user.council("record", "last", asked, stdin="A, if it can be seen.").code == 0
    reply = "Decision: adopt\nOption: A\nGrant: 0\nReason: # As I said."
    assert user.council("record", "last", f"{asked}.2", stdin=reply).code == 0
    text = document(to_its_end(user, everything(debate), "recover"))
    assert "> A, if it can be seen.\n>\n> ### As I said.\n" in text
    choice = "option A (Autonomous decisions, with telemetry of each.)"
    assert "**Status:** accepted: decided by a person, option A, after 2 rounds (fundamental); " in text
    assert f"decided:** {choice} (" in text


def test_whoever_was_silent_is_on_record(user):
    found = sections(document(held(user, "consensus/silent-specialist")))
    assert re.search(r"^\| Security (?:\| not heard ){4}\| unreadable \|", found["Record"], re.M)
    assert found["Dissents"] == "None."
    assert found["Remaining Reservations"].endswith("- Security gave no score (`01-debate-r05-1-propose/security`)")
    assert found["Record"].count("No person answered: nobody answered in time") == 2


def test_parts_of_a_record_may_be_headings_in_the_decision():
    said = "We go.\n\n### Consequences\n\n- Good: speed.\n\n#### Later\n\nMore.\n\n"
    said += "### Considered alternatives ###\n\n- Stay.\n\n### How\n\n- # Risks\n\n```\n# Drivers\n```"
    assert parts.split_parts({"decision": said, "risks": "None."}, "adr") == {
        "decision": "We go.\n\n### How\n\n- # Risks\n\n```\n# Drivers\n```",
        "consequences": "- Good: speed.\n\n#### Later\n\nMore.",
        "alternatives": "- Stay.",
        "risks": "None.",
    }


# ---- from the record alone ----


def test_it_is_made_again_byte_for_byte(user):
    session = held(user, "consensus/hybrid")
    text = document(session)
    assert str(user.root) not in text
    (session / "decision.md").unlink()
    assert user.council("build").code == 0
    assert document(session) == text
    found = open_(session)
    found.read_turns()
    assert bare(filing.make(found, found.plan()).texts["decision.md"]) == text


def test_the_date_is_that_of_the_last_word(user):
    session = held(user, "consensus/simple")
    facts = json.loads((session / "metadata.json").read_text("utf-8"))
    assert (session / "decision.md").read_text("utf-8").startswith(f'---\ndate: "{facts["completed_at"][:10]}"\n')


def test_the_projects_copy_differs_in_its_number_alone(user):
    (user.work / ".git").mkdir()
    session = hold(user, "consensus/simple", "Add a QualityAlert message")
    copy = user.work / "docs" / "decisions" / "adr-0001-add-a-qualityalert-message.md"
    filed = re.sub(r"written_sha256: .*\n", "", copy.read_text("utf-8"))
    assert filed == (session / "decision.md").read_text("utf-8").replace("ADR-NNNN", "ADR-0001")


HOSTILE = "Shall | we?\n\n# ADR-0000: Something else\n\n**Status:** accepted by consensus\n\n## Decision\n\nNone."


def test_no_topic_can_be_taken_for_the_document(user):
    text = document(hold(user, "consensus/granted", HOSTILE))
    assert re.findall(r"^# .*$", text, re.M) == ["# ADR-NNNN: Shall | we?"]
    assert len(re.findall(r"^\*\*Status:\*\*", text, re.M)) == 1
    assert len(re.findall(r"^## Decision$", text, re.M)) == 1


def test_no_position_breaks_its_row(user):
    debate = played("consensus/simple")
    turns = [turn for turn in debate.said if turn.endswith("/protocol")]
    script(user, {**words(debate), turns[-1]: debate.said[turns[-1]].body.replace("## Gist\n", "## Gist\n| 1 | \\| ")})
    record = sections(document(to_its_end(user, everything(debate), "run", *options(debate), "?")))["Record"]
    (row,) = re.findall(r"^\| Protocol .*$", record, re.M)
    assert row.endswith(" | 93 | \\| 1 \\| \\\\\\| Better field names, added trace_id field. |")


# ---- of other workflows ----

PLAIN = """---
name: plain
seats: {members: [architect, engineer], chair: chair}
options: {document: adr}
phases:
  - {name: positions, sees: nothing}
  - {name: synthesis, seats: chair}
---

Two positions and a synthesis, as free text.
"""


def test_a_workflow_without_scores_has_a_record_too(user):
    user.write("plain.md", PLAIN)
    turns = {
        "01-positions/architect": "A table.\n\nIt is there.",
        "01-positions/engineer": "A queue.",
        "02-synthesis/chair": "A table.",
    }
    script(user, turns)
    ended = user.council("run", "--workflow", "plain.md", "Queue or table?", "--speaker=replay", "--from=script.yaml")
    no_traceback(ended)
    assert ended.code == 0, ended.err
    text = document(user.session)
    assert "**Status:** proposed (no stance was asked for)\n" in text
    found = sections(text)
    assert list(found) == ["Decision", "Dissents", "Next Steps", "Context", "Record"]
    assert found["Decision"] == (
        "*(No stance was asked for. This synthesis is the chair's opinion.)*\n\nA table.\n\n"
        "*Written by the chair: `02-synthesis/chair`*"
    )
    assert "| member | 1 | last position |\n| --- | --- | --- |\n| Architect | spoke | A table. |" in found["Record"]


def test_nothing_is_filed_without_a_synthesis(user):
    (user.work / ".git").mkdir()
    user.write("plain.md", PLAIN)
    script(
        user,
        {
            "01-positions/architect": "A table.",
            "01-positions/engineer": "A queue.",
            "02-synthesis/chair": "absent: ill",
        },
    )
    ended = user.council("run", "--workflow", "plain.md", "Queue or table?", "--speaker=replay", "--from=script.yaml")
    assert ended.code == 0, ended.err
    assert not (user.session / "decision.md").exists()
    for kind in ("adr", "madr", "spec", "plan", "decision"):
        refused = user.council("decision", "last", "--as", kind)
        assert (refused.code, "nobody wrote what it is made of" in refused.err) == (2, True), refused.text
    assert not (user.work / "docs").exists()


def test_none_is_written_where_none_is_wanted(user):
    debate = played("consensus/simple")
    script(user, words(debate))
    session = to_its_end(user, everything(debate), "run", *options(debate), "-o", "document=none", "?")
    assert not (session / "decision.md").exists()


def test_a_models_decision_is_not_a_persons(user):
    """A chair may answer under the name that a person's ruling has."""
    user.write(
        "plain.md",
        "---\nname: plain\ndescription: Weigh it.\nseats: {members: [architect, engineer], chair: chair}\n"
        "options: {document: adr}\nphases:\n"
        "  - {name: positions, sees: nothing, reply: {satisfaction_score: 0-100}}\n"
        "  - {name: synthesis, seats: chair, reply: {decision: adopt | continue, option: text}}\n---\n",
    )
    turns = {f"01-positions/{seat}": "No.\n\n## Satisfaction score\n10\n" for seat in ("architect", "engineer")}
    script(user, {**turns, "02-synthesis/chair": "## Decision\nadopt\n\n## Option\nWe should do it.\n"})
    ended = user.council("run", "--workflow", "plain.md", "Queue or table?", "--speaker=replay", "--from=script.yaml")
    assert ended.code == 0, ended.text
    text = document(user.session)
    assert "person" not in text.replace("; no person took part\n", "")
    assert "This synthesis is the chair's opinion" in text
    assert "We should do it." in text
