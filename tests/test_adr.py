"""The record of a decision: that it holds all that was said and decided, from the record alone, and nothing else."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml

from council.record.session import open_
from council.reports import adr, documents
from tests.debates import APPEAL, MUTE, bare, everything, hold, options, to_its_end, words
from tests.helpers import User, no_traceback, script
from tests.scripted import played

TOPIC = "Implement participant mute functionality\n\nPeople talk over each other in large meetings."
LABELS = {"meeting-controller": "Meeting Controller", "security": "Security (Rook)"}


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


def test_it_has_everything_that_was_asked_for(user):
    text = document(hold(user, "consensus/complex", TOPIC))
    assert text.startswith("# ADR-NNNN: Implement participant mute functionality\n\n**Status:** ")
    assert text.count("NNNN") == 1
    assert list(sections(text)) == [
        "Topic and motivation",
        "Participants",
        "Rounds",
        "Design",
        "Satisfaction scores",
        "Dissent on record",
        "Implementation notes",
        "Open questions",
    ]
    found = sections(text)
    assert found["Topic and motivation"] == "> " + TOPIC.replace("\n\n", "\n>\n> ")
    assert found["Implementation notes"] == "- Chaos tests with Redis down."
    assert found["Open questions"] == found["Dissent on record"] == "None."
    told = [found["Participants"].find(f"- **{label(seat)}**: ") for seat in (*MUTE, "clerk")]
    assert -1 not in told
    assert told[3:] == sorted(told[3:])


def test_each_round_has_its_scores_its_mean_its_gists_and_what_blocks(user):
    rounds = sections(document(hold(user, "consensus/complex")))["Rounds"]
    parts = re.split(r"^### (.+)$", rounds, flags=re.M)[1:]
    assert parts[::2] == [f"Debate, round {number}, mean {mean}" for number, mean in ((1, 75.4), (2, 81.9), (3, 91.6))]
    for number, part in enumerate(parts[1::2]):
        rows = re.findall(r"^\| ([^|]+) \| (\d+) \| (.+) \|$", part, re.M)
        assert {who: int(score) for who, score, _ in rows} == {label(seat): MUTE[seat][number] for seat in MUTE}
        assert [who for who, _, _ in rows][-4:] == [label(seat) for seat in ("observability", "operations", "test")] + [
            "Security (Rook)"
        ]
    assert (
        "| Security (Rook) | 60 | CRITICAL: Who can mute whom? Need authorization checks, audit logging |" in parts[1]
    )
    assert (
        "- Security (Rook): Authorization checks are missing.\n- Security (Rook): Audit logging is missing." in parts[1]
    )
    assert "Blocking" not in parts[5]


def test_the_scores_stand_in_a_table_by_round(user):
    lines = sections(document(hold(user, "consensus/complex")))["Satisfaction scores"].splitlines()
    assert lines[0] == "| specialist | round 1 | round 2 | round 3 |"
    assert lines[1] == "|---|---|---|---|"
    assert lines[-1] == "| **mean** | **75.4** | **81.9** | **91.6** |"
    assert set(lines[2:-1]) == {f"| {label(seat)} | {' | '.join(map(str, scores))} |" for seat, scores in MUTE.items()}


def test_the_design_is_the_synthesis(user):
    design = sections(document(hold(user, "consensus/complex")))["Design"]
    assert design.startswith(
        "Clerk on synthesis, round 1.\n\n### Overview\n\nMute is enforced on the server.\n\n"
        "### Responsibilities\n\n- Database: Redis"
    )
    assert (
        "### Interfaces\n\n- MuteParticipant\n- ParticipantMuted\n\n### Performance targets\n\n- Mute latency" in design
    )
    assert "Dissents" not in design


# ---- how it was decided ----


@pytest.mark.parametrize(
    ("name", "status"),
    [
        ("simple", "accepted by consensus after 2 rounds"),
        ("hybrid", "accepted by consensus after 6 rounds"),
        ("granted", "accepted by consensus after 5 rounds"),
        ("stalemate", "decided by a person, option A (Accept the migration, at night.), after 4 rounds (stalemate)"),
        ("fundamental", "decided by a person, option A (Autonomous decisions, with telemetry of each.), after 2 rounds "
         "(fundamental)"),
        ("cap", "undecided after 10 rounds (max-iterations)"),
        ("escalation-off", "undecided after 4 rounds (stalemate)"),
        ("unsettled", "undecided after 2 rounds (max-iterations)"),
        ("silent-specialist", "undecided after 5 rounds (max-iterations)"),
    ],
)  # fmt: skip
def test_the_status_says_who_decided(name, status, user):
    text = document(hold(user, f"consensus/{name}"))
    assert re.findall(r"^\*\*Status:\*\* (.*)$", text, re.M) == [status]


def test_an_escalation_stands_there_with_its_options_and_the_decision_word_for_word(user):
    found = sections(document(hold(user, "consensus/stalemate")))
    body = played("consensus/stalemate").said[f"01-debate-r04{APPEAL}"].body
    assert found["Escalations"] == (
        "### Round 4: stalemate\n\nTension: Downtime against effort.\n\nOptions:\n\n"
        "- A) Accept the migration, at night.\n- B) Migrate without downtime.\n- C) Do not build it.\n\n"
        "Recommendation: B, for it can be undone.\n\n"
        "The person's decision: adopt, option A (Accept the migration, at night.)\n\n"
        + "\n".join(f"> {line}".rstrip() for line in body.strip().splitlines())
    )
    assert found["Dissent on record"] == (
        "- Database: “The migration takes two hours of downtime on large installations.”\n- Database: satisfaction 65"
        "\n\nIn the synthesis:\n\n- Database: the migration takes two hours of downtime on large installations."
    )


def test_a_choice_with_a_condition_is_quoted_whole(user):
    said = "A, but only after the privacy review and never in the EU"
    form = f"## Decision\nadopt\n## Option\n{said}\n## Grant\n0\n## Reason\nWe must."
    text = document(hold(user, "consensus/stalemate", **{f"01-debate-r04{APPEAL}": form}))
    choice = f"option A (Accept the migration, at night.) as amended: “{said}”"
    assert f"**Status:** decided by a person, {choice}, after 4 rounds (stalemate)\n" in text
    assert f"The person's decision: adopt, {choice}\n" in text


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
        ("fundamental", ["### Round 2: fundamental disagreement"]),
        ("granted", ["### Round 3: max iterations"]),
        ("hybrid", ["### Round 4: stalemate", "### Round 5: stalemate"]),
    ],
)
def test_each_escalation_is_told_with_what_it_was_about(name, headings, user):
    told = sections(document(hold(user, f"consensus/{name}")))["Escalations"]
    assert re.findall(r"^### .*$", told, re.M) == headings


def test_a_decision_that_was_asked_for_twice_stands_there_whole(user):
    debate = played("consensus/fundamental")
    asked = f"01-debate-r02{APPEAL}"
    script(user, words(debate))
    assert user.council("run", *options(debate), "?", "--speaker=replay", "--from=script.yaml").code == 8
    assert user.council("record", "last", asked, stdin="A, if it can be seen.").code == 0
    reply = "Decision: adopt\nOption: A\nGrant: 0\nReason: # As I said."
    assert user.council("record", "last", f"{asked}.2", stdin=reply).code == 0
    text = document(to_its_end(user, everything(debate), "recover"))
    assert "> A, if it can be seen.\n>\n> Decision: adopt\n> Option: A\n> Grant: 0\n> Reason: # As I said." in text
    choice = "option A (Autonomous decisions, with telemetry of each.)"
    assert f"**Status:** decided by a person, {choice}, after 2 rounds (fundamental)\n" in text
    assert f"The person's decision: adopt, {choice}\n" in text


def test_whoever_was_silent_is_on_record(user):
    found = sections(document(hold(user, "consensus/silent-specialist")))
    assert "| Security (Rook) | not heard | absent: timeout |" in found["Rounds"]
    assert re.search(
        r"^\| Security \(Rook\) (?:\| not heard ){4}\| spoke, unreadable \|$", found["Satisfaction scores"], re.M
    )
    assert found["Dissent on record"] == "- Security (Rook): gave no score"
    assert found["Escalations"].count("No person answered: nobody answered in time") == 2


# ---- from the record alone ----


def test_it_is_made_again_byte_for_byte(user):
    session = hold(user, "consensus/hybrid")
    text = document(session)
    assert f"\n**Session ID:** {session.name}\n" in text
    assert str(user.root) not in text
    (session / "decision.md").unlink()
    assert user.council("build").code == 0
    assert document(session) == text
    found = open_(session)
    found.read_turns()
    assert documents.render("documents/adr", {}, **adr.facts(found, found.plan())) == text


def test_the_date_is_that_of_the_last_word(user):
    session = hold(user, "consensus/simple")
    facts = json.loads((session / "metadata.json").read_text("utf-8"))
    assert f"\n**Date:** {facts['completed_at'][:10]}\n" in document(session)


def test_the_projects_copy_differs_in_its_number_alone(user):
    (user.work / ".git").mkdir()
    session = hold(user, "consensus/simple", "Add a QualityAlert message")
    copy = user.work / "docs" / "decisions" / "adr-0001-add-a-qualityalert-message.md"
    assert copy.read_text("utf-8") == (session / "decision.md").read_text("utf-8").replace("ADR-NNNN", "ADR-0001")


HOSTILE = "Shall | we?\n\n# ADR-0000: Something else\n\n**Status:** accepted by consensus\n\n## Design\n\nNone."


def test_no_topic_can_be_taken_for_the_document(user):
    text = document(hold(user, "consensus/granted", HOSTILE))
    assert re.findall(r"^# .*$", text, re.M) == ["# ADR-NNNN: Shall | we?"]
    assert len(re.findall(r"^\*\*Status:\*\*", text, re.M)) == 1
    assert len(re.findall(r"^## Design$", text, re.M)) == 1


def test_no_position_breaks_its_row(user):
    debate = played("consensus/simple")
    turn = "01-debate-r01-1-propose/protocol"
    said = debate.said[turn].body.replace("Good idea, but", "| 100 | no \\| idea, but", 2)
    script(user, {**words(debate), turn: said})
    rounds = sections(document(to_its_end(user, everything(debate), "run", *options(debate), "?")))["Rounds"]
    assert "| Protocol | 85 | \\| 100 \\| no \\\\\\| idea, but field naming could be clearer. |" in rounds


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
    assert "**Status:** done after 1 round\n" in text
    found = sections(text)
    assert set(found) == {
        *("Topic and motivation", "Participants", "Rounds", "Design"),
        *("Dissent on record", "Implementation notes", "Open questions"),
    }
    assert found["Design"] == "*(No stance was asked for. This synthesis is the chair's opinion.)*\n\nA table."
    assert "| member | position |\n|---|---|\n| Architect (Serena) | A table. It is there. |" in found["Rounds"]


def test_without_a_synthesis_it_says_so(user):
    user.write("plain.md", PLAIN)
    script(
        user,
        {
            "01-positions/architect": "A table.",
            "01-positions/engineer": "absent: ill",
            "02-synthesis/chair": "absent: ill",
        },
    )
    ended = user.council("run", "--workflow", "plain.md", "Queue or table?", "--speaker=replay", "--from=script.yaml")
    assert ended.code == 0, ended.err
    found = sections(document(user.session))
    assert found["Design"] == "*(There is none: nobody wrote it.)*"
    assert "| Engineer (Marcus) | absent: ill |" in found["Rounds"]


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
    assert "person" not in text
    assert "This synthesis is the chair's opinion" in text
    assert "We should do it." in text
