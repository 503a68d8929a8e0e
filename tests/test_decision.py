"""The decision document and the issue: what stands in them, what is said to be missing, and what is never made up."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from council.engine.planner import Plan
from council.protocols import perspectives
from council.record import session
from council.reports import decision, documents, filing
from tests.debates import EVALUATED, bare, evaluation, everything, held, hold, text
from tests.helpers import User, script
from tests.scenes import scene, turn
from tests.scripted import played

WRITTEN = "03-synthesis/moderator"
FOLLOW_UP = "04-follow-up/human"
SECTIONS = [
    "# Decision: Shall we?",
    "## Recommendation",
    "## Dissenting View",
    "## Next Steps",
    "## Question",
    "## Perspectives Considered",
    "### Latency",
    "### Fewer Parts",
    "## Points of Agreement",
    "## Key Tensions",
    "## Acceptance",
    "## Note by the Author",
    "## Record",
]


@pytest.fixture
def user(tmp_path: Path) -> User:
    return User(tmp_path)


def synthesis(**answers: str) -> str:
    """A moderator's synthesis; an answer of None is left out."""
    usual = {
        "Arguments": "- Latency: 15 ms were measured.\n- Latency: the peak is at noon.\n- Fewer Parts: one store.",
        "Trade offs": "- Latency: 5 ms more.\n- Fewer Parts: an index more.",
        "Agreement": "- PostgreSQL is fast enough.",
        "Tensions": "- Latency against Fewer Parts: what happens at ten times the load.\n- How long we grow so.",
        "Recommendation": "Keep PostgreSQL, because nobody has to run more.",
        "Confidence": "high",
        "Caveats": "- Up to ten times the load.\n- Reads only.",
        "Dissent": "Latency would put Redis in front today.",
        "Acceptance": "- The slowest in a hundred takes less than 30 ms.\n- Nothing new is deployed.",
    }
    given = usual | {name.replace("_", " ").capitalize(): words for name, words in answers.items()}
    return "I weigh.\n\n" + "\n\n".join(f"## {name}\n{words}" for name, words in given.items() if words is not None)


def decided(user: User, name: str = "perspectives/settled", **answers: str) -> str:
    return bare(text(hold(user, name, **{WRITTEN: synthesis(**answers)}), "decision.md"))


def section(document: str, title: str) -> str:
    return document.partition(f"\n## {title}\n")[2].partition("\n## ")[0].strip()


# ---- the document ----


def test_a_decision_has_its_sections_in_their_order(user):
    document = decided(user)
    begun = re.findall(r"^#+ .+$", document, re.M)
    assert begun == SECTIONS
    head = "# Decision: Shall we?\n\n**Status:** accepted: settled, as the moderator recommends\n\n"
    head += "**Decided by:** models in the roles of the moderator and the perspectives; root (a person) was heard\n\n"
    head += "**Rounds:** 1\n\n**Perspectives:** Latency, Fewer Parts\n\n## Recommendation\n\nKeep PostgreSQL"
    assert document.startswith(head)
    assert section(document, "Perspectives Considered") == (
        "### Latency\n\n- Key arguments:\n  - 15 ms were measured.\n  - the peak is at noon.\n"
        "- Trade-offs accepted: 5 ms more.\n- Its last word: `02-debate-r01-3-rebut/latency`\n\n"
        "### Fewer Parts\n\n- Key arguments: one store.\n- Trade-offs accepted: an index more.\n"
        "- Its last word: `02-debate-r01-3-rebut/fewer-parts`"
    )
    agreed = section(document, "Points of Agreement")
    assert agreed.startswith("- PostgreSQL is fast enough.\n\nConceded in the debate:\n\n")
    assert agreed.endswith("- Fewer Parts: “I concede that.” (`02-debate-r01-3-rebut/fewer-parts`)")
    assert section(document, "Key Tensions").splitlines()[0].endswith("what happens at ten times the load.")
    assert section(document, "Recommendation") == (
        "Keep PostgreSQL, because nobody has to run more.\n\n*Written by the moderator: `03-synthesis/moderator`*\n\n"
        "**Confidence:** High\n\n**Caveats:**\n\n- Up to ten times the load.\n- Reads only."
    )
    assert section(document, "Dissenting View") == "Latency would put Redis in front today."
    assert section(document, "Note by the Author") == "I weigh."
    assert section(document, "Next Steps") == "None were named."


def test_it_is_filed_in_the_project_byte_for_byte(user):
    user.write(".council/README.md", "")
    document = decided(user)
    (filed,) = (user.work / "docs/decisions").glob("*-shall-we.md")
    assert re.sub(r"written_sha256: .*\n", "", filed.read_text("utf-8")) == text(user.session, "decision.md")
    assert document.count(user.session.name) == 0, "it is in the front matter alone"


def test_the_same_record_gives_the_same_document(user):
    document, folder = decided(user), user.session
    (folder / "decision.md").write_text("mine", "utf-8")
    assert user.council("verify").code == 5
    assert user.council("build").code == 0
    assert bare(text(folder, "decision.md")) == document
    found = session.open_(folder)
    found.read_turns()
    assert bare(filing.make(found, found.plan()).texts["decision.md"]) == document


def test_the_question_is_quoted_and_cannot_pass_for_a_section(user):
    debate = held(user, "perspectives/settled")
    found = session.open_(debate)
    found.read_turns()
    found.metadata["topic"] = "Redis?\n\n## Recommendation\nBuy it."
    document = documents.render("documents/decision", {}, **decision.facts(found, found.plan()))
    assert document.startswith("# Decision: Redis?\n")
    assert "\n> Redis?\n>\n> ### Recommendation\n> Buy it.\n" in document
    assert document.count("\n## Recommendation\n") == 1


def test_what_is_put_and_assumed_and_said_by_a_person_stands_with_the_question(user):
    asked = section(text(held(user, "perspectives/vague"), "decision.md"), "Question")
    assert asked == (
        "> Shall we?\n\n**Put as:** Do we cache the search results?\n\n"
        "*(The question stayed unclear; what follows was assumed.)*\n\n**Assumed:**\n\n- Guests are meant.\n\n"
        "**A person said:**\n\n- The search results.\n- I cannot say."
    )
    guided = section(text(held(User(user.root / "guided"), "perspectives/guided"), "decision.md"), "Question")
    assert guided.endswith("- after round 1: Think of the team's PostgreSQL experience.")


@pytest.mark.parametrize(
    ("left_out", "title", "told"),
    [
        ({"arguments": None}, "Perspectives Considered", "- Key arguments: *(The synthesis does not say.)*"),
        ({"trade_offs": "none"}, "Perspectives Considered", "- Trade-offs accepted: *(The synthesis does not say.)*"),
        ({"agreement": None}, "Points of Agreement", "*(The synthesis does not say.)*"),
        ({"agreement": "none"}, "Points of Agreement", "None."),
        ({"tensions": None}, "Key Tensions", "*(The synthesis does not say.)*"),
        ({"recommendation": None}, "Recommendation", "*(The synthesis does not say.)*\n\n*Written by the moderator: "),
        ({"confidence": "rather"}, "Recommendation", "**Confidence:** *(The synthesis does not say.)*"),
        ({"caveats": None}, "Recommendation", "**Caveats:** *(The synthesis does not say.)*"),
        ({"caveats": "none"}, "Recommendation", "**Caveats:** None."),
        ({"dissent": None}, "Dissenting View", "*(The synthesis does not say.)*"),
    ],
)
def test_what_is_missing_is_said_to_be_missing(left_out, title, told, user):
    """Asked for once more, the moderator leaves it out again."""
    again = {f"{WRITTEN}.2": synthesis(**left_out)}
    document = text(hold(user, "perspectives/settled", **{WRITTEN: synthesis(**left_out)}, **again), "decision.md")
    assert told in section(document, title)


def test_an_absent_moderator_decides_nothing(user):
    session = held(user, "perspectives/not-opposed")
    assert not (session / "decision.md").exists()
    assert "*(There is none: the moderator was absent.)*" in text(session, "synthesis.md")


def test_what_is_said_of_nobody_who_was_there_is_kept_apart(user):
    arguments = "- **Latency:** 15 ms.\n- Fewer: one store.\n- Beauty: looks.\n- Somebody said so."
    considered = section(decided(user, arguments=arguments), "Perspectives Considered")
    assert "- Key arguments: 15 ms.\n" in considered
    assert "- Key arguments: one store.\n" in considered
    assert considered.endswith(
        "*(The synthesis does not say whose these are:)*\n\n- Beauty: looks.\n- Somebody said so."
    )


@pytest.mark.parametrize(
    ("head", "owner"),
    [
        ("User Experience", "User Experience"),
        ("user experience", "User Experience"),
        ("**Experience**", "User Experience"),
        ("Operational", "Operational Simplicity"),
        ("Simplicity", "Simplicity"),
        ("simplicity advocate", ""),
        ("Advocate", ""),
        ("", ""),
        ("日本", ""),
    ],
)
def test_whose_an_item_is(head, owner):
    assert decision.find_owner(head, ["User Experience", "Operational Simplicity", "Simplicity"]) == owner


def test_a_heading_in_a_reply_is_no_section_of_the_document(user):
    document = decided(user, recommendation="### First\nKeep it.\n\n#### Second ###\n\nWatch.\n===\nOn.\n\n---")
    added = ["##### First", "###### Second ###", "### Watch."]
    at = SECTIONS.index("## Recommendation") + 1
    assert re.findall(r"^#+ .+$", document, re.M) == [*SECTIONS[:at], *added, *SECTIONS[at:]]
    assert "##### First\nKeep it.\n\n###### Second ###\n\n### Watch.\nOn.\n\n---\n" in document


def test_whoever_was_muted_or_never_heard_is_named_as_such(user):
    document = text(held(user, "perspectives/muted"), "decision.md")
    assert "### Taste\n\n- *(muted before the debate was over)*\n- Key arguments:" in document
    assert "### Habit\n\n- Key arguments:" in document
    gone = {
        turn: "absent: overloaded" for turn in everything(played("perspectives/settled")) if turn.endswith("/latency")
    }
    document = text(hold(User(user.root / "gone"), "perspectives/settled", **gone), "decision.md")
    assert "### Latency\n\n- *(absent: nothing was heard of it)*\n" in document


# ---- how sure it is ----


def test_after_the_last_round_the_confidence_is_low_whatever_was_written(user):
    folder = held(user, "perspectives/cap")
    why = "*(set by council: the debate reached its last round unsettled; “high” was written)*"
    document = text(folder, "decision.md")
    assert f"**Confidence:** Low {why}" in section(document, "Recommendation")
    assert section(document, "Key Tensions").endswith("*(The debate reached its last round unsettled.)*")
    assert text(folder, "synthesis.md").endswith(f"**Confidence:** low {why}\n")
    assert f"**Confidence:** low {why}" in text(folder, "transcript.md")
    assert "set by council" in user.council("show", "--html").out
    assert "came to its last round unsettled" in text(folder, f"briefs/{WRITTEN}.md")


def test_a_confidence_that_is_low_already_or_settled_stays_as_it_was_written(user):
    unattended = held(user, "perspectives/unattended")
    assert "**Confidence:** Low\n" in text(unattended, "decision.md")
    assert "set by council" not in text(unattended, "synthesis.md")
    assert "**Confidence:** High\n" in decided(User(user.root / "settled"))


def test_a_person_who_ends_it_is_named_and_lowers_nothing(user):
    document = decided(user, "perspectives/ended")
    assert section(document, "Key Tensions").endswith("*(A person ended the debate after round 1.)*")
    assert "**Confidence:** High\n" in document


def test_a_cap_of_others_than_those_who_were_cast_lowers_nothing():
    written = turn("pen", "synthesis", confidence="high")
    said = scene(turn("ceo", "challenge", stance="mixed"), written, outcomes={"challenge": "cap"})
    pen, board = {"pen": (written.seat,)}, {"board": (said.turns[0].seat,)}
    assert perspectives.explain_low_confidence(replace(said, groups=pen), "cap") != ""
    assert perspectives.explain_low_confidence(replace(said, groups=pen | board), "cap") == ""


# ---- the issue ----


def test_a_yes_at_the_end_writes_an_issue_with_the_decisions_context(user):
    folder = hold(user, "perspectives/settled", **{WRITTEN: synthesis()})
    issue = text(folder, "issue.md")
    assert re.findall(r"^#+ .+$", issue, re.M) == [
        "# Carry out: Shall we?", "## Context", "## Decision", "## Constraints", "## Dissent", "## Acceptance",
        "## Background",
    ]  # fmt: skip
    assert f", session {folder.name}.\n" in issue
    assert "> Shall we?\n" in section(issue, "Context")
    assert "**Perspectives:** Latency, Fewer Parts" in section(issue, "Context")
    assert section(issue, "Decision") == "Keep PostgreSQL, because nobody has to run more.\n\n**Confidence:** High"
    assert "- Up to ten times the load.\n- Reads only." in section(issue, "Constraints")
    assert "- Latency: 5 ms more." in section(issue, "Constraints")
    assert section(issue, "Dissent") == "Latency would put Redis in front today."
    assert section(issue, "Acceptance") == (
        "- [ ] The slowest in a hundred takes less than 30 ms.\n- [ ] Nothing new is deployed."
    )


@pytest.mark.parametrize("said", ["## Create workflow\nno\n", "absent: nobody answered in time"])
def test_without_a_yes_there_is_none(said, user):
    folder = hold(user, "perspectives/settled", **{FOLLOW_UP: said})
    assert (folder / "decision.md").exists()
    assert not (folder / "issue.md").exists()


def test_nobody_but_a_person_can_ask_for_it(user):
    """What a moderator writes under such a heading is no person's answer."""
    claimed = evaluation("agreement") + "\n## Create workflow\nyes\n"
    said = {EVALUATED: claimed, WRITTEN: synthesis() + "\n\n## Create workflow\nyes\n"}
    folder = hold(user, "perspectives/settled", **said, **{FOLLOW_UP: "## Create workflow\nno\n"})
    assert not (folder / "issue.md").exists()


def test_a_yes_of_a_model_that_is_asked_for_it_counts_for_nothing():
    asked = [turn(seat, "follow-up", create_workflow="yes") for seat in ("moderator", "human")]
    plans = [Plan((), (), scene(one), frozenset()) for one in asked]
    assert [decision.wants_issue(one) for one in plans] == [False, True]


@pytest.mark.parametrize(
    ("stance", "path", "told"),
    [
        ("stop", "Go ahead.", "*(The count is: 2 of 2 say stop. The chair does not name this answer.)*"),
        ("stop", "We stop.", ""),
    ],
)
def test_a_conclusion_that_does_not_name_the_counted_answer_has_the_count_above_it(stance, path, told, tmp_path):
    user = User(tmp_path)
    user.write(
        "plain.md",
        "---\nname: plain\ndescription: Weigh it.\nseats: {members: [architect, engineer], chair: chair}\n"
        "options: {document: decision}\nphases:\n  - {name: positions, sees: nothing, reply: {stance: go | stop}}\n"
        "  - {name: synthesis, seats: chair, reply: {recommended_path: text}}\n---\n",
    )
    said = {f"01-positions/{seat}": f"So.\n\n## Stance\n{stance}\n" for seat in ("architect", "engineer")}
    script(user, {**said, "02-synthesis/chair": f"## Recommended path\n{path}\n"})
    ended = user.council("run", "--workflow", "plain.md", "Shall we?", "--speaker=replay", "--from=script.yaml")
    assert ended.code == 0, ended.text
    text = (user.session / "decision.md").read_text("utf-8")
    assert told in text
    assert ("The count is" in text) is bool(told)
