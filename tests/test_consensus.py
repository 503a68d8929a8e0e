"""Consensus: the two worked examples with their scores, who reads what, who sits where, and a person who decides."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from council.checks import cost
from council.config import overlays, personas
from council.engine.planner import Due
from council.protocols.consensus import Escalation, find_escalations, give_letters, name_kind, option_not_offered
from council.runner import start
from council.runner.start import Request
from council.workflow.loader import load
from council.workflow.model import Workflow
from tests.debates import (
    APPEAL,
    CUT,
    MUTE,
    brief,
    everything,
    facts,
    held,
    hold,
    options,
    record,
    recover_from_cuts,
    words,
)
from tests.fakeapi import FakeApi
from tests.helpers import Table, User, derived_of, script
from tests.scenes import absent, scene, turn
from tests.scripted import Played, names, played
from tests.terminal import Running, Terminal

DEBATES = [name for name in names() if name.startswith("consensus/")]
CROSSCUTTING = ["observability", "operations", "test", "security"]
RATES = dict.fromkeys(("sonnet", "haiku", "opus"), cost.Rates("one", 1.0, 1.0, 1000))


@pytest.fixture
def user(tmp_path: Path) -> User:
    return User(tmp_path)


def program() -> Workflow:
    return load(*overlays.workflow_text("consensus"))


# ---- whole debates ----


def test_the_brief_names_the_target_that_the_rules_have(user):
    """An option, or a number in a workflow of the user's own: the brief has no number of its own."""
    own = (overlays.kit_folder() / "Workflows" / "Consensus.md").read_text("utf-8")
    for written, number in (("target", 95), ("77", 77)):
        user.write(".council/Workflows/Consensus.md", own.replace('">= target"', f'">= {written}"'))
        begun = user.council("start", "--workflow=consensus", "--only=database", "-otarget=95", "Shall we?")
        assert begun.code == 0, begun.err
        text = user.council("brief", "last", "01-debate-r01-1-propose/database").out
        assert len(re.findall(rf"\b{number}\b", text)) == 6
        assert not re.search(r"\b90\b", text)


@pytest.mark.parametrize("name", [name for name in DEBATES if name in CUT])
def test_from_every_cut_it_recovers_to_the_same_files(name, user):
    """One debate of the protocol is cut everywhere, and another once; in `scripts/prove trust`, all of them everywhere.
    How they end is in test_golden_sessions.py.
    """
    assert not [*recover_from_cuts(user, held(user, name), name, everywhere=CUT[name])]


@pytest.mark.parametrize("name", ["consensus/granted", "consensus/silent-specialist"])
def test_by_hand_it_is_the_same_debate(name, user, tmp_path):
    """`next` says who is due, one at a time, and `record` stores it; a person's turn is told as one."""
    debate = played(name)
    assert user.council("start", *options(debate), "Shall we?").code == 0
    while due := user.council("next", "--json").json["due"]:
        (one,) = due
        assert one["person"] is one["turn"].endswith(APPEAL)
        record(user, one["turn"], everything(debate)[one["turn"]])
    twin = held(User(tmp_path / "twin"), name)
    ours, theirs = facts(user.session), facts(twin)
    for fact in ("converged", "outcome", "reason", "scores", "blocking", "missing", "phases"):
        assert ours[fact] == theirs[fact], fact
    assert (user.session / "synthesis.md").read_text("utf-8") == (twin / "synthesis.md").read_text("utf-8")
    assert list(derived_of(user.session)) == list(derived_of(twin))


# ---- the worked examples ----

QUALITY_ALERT = {
    "protocol": (85, 93),
    "media-handler": (90, 91),
    "observability": (88, 92),
    "operations": (90, 91),
    "test": (92, 93),
    "security": (91, 92),
}


@pytest.mark.parametrize(("name", "told"), [("consensus/simple", QUALITY_ALERT), ("consensus/complex", MUTE)])
def test_the_worked_examples(name, told, user):
    """In the order told, with the scores told, and consensus in the round told."""
    debate = played(name)
    rounds = len(next(iter(told.values())))
    turns = [turn for turn in debate.end.scene.turns if turn.step == "propose"]
    assert [(turn.round, turn.seat.name, turn.answers["satisfaction_score"]) for turn in turns] == [
        (number + 1, seat, scores[number]) for number in range(rounds) for seat, scores in told.items()
    ]
    assert debate.end.scene.outcomes["debate"] == "consensus"
    assert not [turn for turn in debate.end.scene.turns if turn.step in ("escalate", "appeal")]
    found = facts(held(user, name))
    assert (found["converged"], found["outcome"], found["missing"]) == (True, "consensus", [])
    assert found["scores"] == {seat: scores[-1] for seat, scores in told.items()}
    mean = sum(found["scores"].values()) / len(told)
    assert found["reason"].startswith(f"mean {mean:.1f} in round {rounds}: ")
    assert "not heard" not in found["reason"]


# ---- who speaks when ----


def proposing(debate: Played) -> dict[int, list[str]]:
    """Who spoke in each round, in that order."""
    rounds: dict[int, list[str]] = {}
    for batch in debate.batches:
        for due in batch:
            if due.step.name == "propose" and due.first is None:
                assert len(batch) == 1, "they speak one after the other"
                rounds.setdefault(due.round, []).append(due.seat.name)
    return rounds


@pytest.mark.parametrize("name", DEBATES)
def test_the_crosscutting_four_speak_last_and_security_at_the_very_end(name):
    for seats in proposing(played(name)).values():
        assert seats[-4:] == CROSSCUTTING


def test_the_domain_is_shuffled_in_rounds_1_4_7_and_10():
    orders = {round: seats[:-4] for round, seats in proposing(played("consensus/cap")).items()}
    assert list(orders) == list(range(1, 11))
    assert {now for before, now in pairwise(orders) if orders[before] != orders[now]} == {4, 7, 10}
    assert {tuple(sorted(seats)) for seats in orders.values()} == {
        ("global-controller", "meeting-controller", "protocol")
    }


# ---- what they read ----


def shown(due: Due) -> dict[int, str]:
    """How the proposals of each earlier round are shown: whole, a line each, or not at all."""
    seen = {turn.round: "" for turn in due.scene.turns if turn.step == "propose" and turn.round < due.round}
    for one in due.sees:
        if one.turn.step == "propose" and one.turn.round in seen:
            assert seen[one.turn.round] in ("", "line" if one.gist else "whole")
            seen[one.turn.round] = "line" if one.gist else "whole"
    return seen


def first_of(debate: Played, round: int, seat: str = "security") -> Due:
    every = (due for batch in debate.batches for due in batch)
    return next(due for due in every if (due.step.name, due.round, due.seat.name) == ("propose", round, seat))


@pytest.mark.parametrize("round", range(1, 11))
def test_the_context_schedule(round):
    """Rounds 1-3 word for word; 4-7 the last two, and lines of the rest; from 8 on the last one."""
    seen = shown(first_of(played("consensus/cap"), round))
    whole = seen if round <= 3 else {round - 1, round - 2} if round <= 7 else {round - 1}
    rest = "line" if round <= 7 else ""
    assert seen == {earlier: "whole" if earlier in whole else rest for earlier in range(1, round)}


@pytest.mark.parametrize("name", DEBATES)
def test_each_sees_what_was_said_before_it_in_the_round(name):
    for batch in played(name).batches:
        for due in batch:
            if due.step.name == "propose":
                here = {turn.id for turn in due.scene.turns if (turn.step, turn.round) == ("propose", due.round)}
                assert here <= {one.turn.id for one in due.sees if not one.gist}


def test_more_than_50_000_tokens_become_lines_before_their_round_is_old():
    """In the third round everything would be whole; the first round is too much, and the second is not."""
    debate = played("consensus/simple")
    long = {
        id: replace(said, body=said.body.replace("## Rationale\n", f"## Rationale\n{'word ' * 5_000}"))
        for id, said in debate.said.items()
        if "-propose/" in id
    }
    low = {id: replace(said, body=re.sub(r"(score\n)\d+", r"\g<1>50", said.body)) for id, said in long.items()}
    due, rounds = debate.plan(low).due[0], {}
    for one in due.sees:
        rounds.setdefault(one.turn.round, set()).add(one.gist)
    assert (due.round, rounds) == (3, {1: {True}, 2: {False}})


def test_a_brief_has_lines_with_scores_and_how_the_scores_went(user):
    session = held(user, "consensus/cap")
    middle, late = (brief(session, f"01-debate-r{round:02}-1-propose/security") for round in (6, 9))
    assert re.search(r'^<said by="Protocol" key="\w+">\nNo\. \(satisfaction score 9\)\n</said', middle, re.M)
    assert "- Round 2, mean 78.4: " in middle
    assert "No. (satisfaction score 9)" not in late
    assert "Protocol 9," in next(line for line in late.splitlines() if line.startswith("- Round 2, mean 78.4: "))
    assert "# Now: your proposal, round 9 of at most 10" in late
    assert re.search(r"^- Round 9, so far: (?:[A-Z][\w ]+ \d+(?:, |$))+", late, re.M)
    assert "End your reply with these headings" in late
    assert "## Satisfaction score\n[a number from 0 to 100]" in late


def test_what_a_person_decided_stays_before_everybody(user):
    session = held(user, "consensus/cap")
    assert '<said by="Human" ' in brief(session, "01-debate-r10-1-propose/security")
    assert brief(session, "01-debate-r10-1-propose/security").count("## Decision\ncontinue") == 4


# ---- a person decides ----


@pytest.mark.parametrize(
    ("name", "round", "told"),
    [
        ("consensus/fundamental", 2, "The specialists have found a fundamental trade-off."),
        ("consensus/stalemate", 4, "The debate has stalled: satisfaction has not risen by 5 points in 3 rounds."),
        ("consensus/granted", 3, "The debate has reached its limit of 3 rounds without consensus."),
    ],
)
def test_the_three_escalations(name, round, told, user):
    """The person reads what it is about, the scores, all positions of the round, and lettered options."""
    session = held(user, name)
    text = brief(session, f"01-debate-r{round:02}{APPEAL}")
    clerk = brief(session, f"01-debate-r{round:02}-2-escalate/clerk")
    assert told in text
    assert "# Now: the question for a person" in clerk
    decision = text.partition("# Now: your decision")[2]
    assert re.search(r'\n<said by="Clerk" key="\w+">\nA\) .+\nB\) .+\n', decision)
    assert f"- Round {round}, mean " in text
    for seat in CROSSCUTTING:
        assert f'<said by="{seat.title()}' in text.partition("# Satisfaction so far")[0]
    others = {"fundamental trade-off", "has stalled", "reached its limit"} - {
        part for part in ("fundamental trade-off", "has stalled", "reached its limit") if part in told
    }
    assert not [part for part in others if part in text]


def test_options_without_letters_get_them(user):
    """And whoever speaks later has them with their letters too, for the person has answered with one."""
    session = held(user, "consensus/hybrid")
    options = "\nA) Accept the migration.\nB) Migrate without downtime.\nC) Both in turn.\n</said"
    assert options in brief(session, f"01-debate-r04{APPEAL}")
    for later in ("01-debate-r05-1-propose/protocol", "02-synthesis-r01/clerk"):
        assert options in brief(session, later).partition("# What a person chose from")[2]
    assert "# What a person chose from" not in brief(session, "01-debate-r04-1-propose/protocol")


@pytest.mark.parametrize(
    ("items", "found"),
    [
        ((), {}),
        (("A) One", "B) Two"), {"A": "One", "B": "Two"}),
        (("B. One", "**A)** Two", "(C) Three"), {"B": "One", "A": "Two", "C": "Three"}),
        (("One", "Two"), {"A": "One", "B": "Two"}),
        (("A) One", "A) Two"), {"A": "One", "B": "Two"}),
        (("A) One", "Two"), {"A": "One", "B": "Two"}),
        (("A rewrite", "B) Two"), {"A": "A rewrite", "B": "Two"}),
    ],
)
def test_letters(items, found):
    assert give_letters(items) == found


def test_more_options_than_letters_are_too_many():
    assert len(give_letters([f"Number {number}" for number in range(40)])) == 26


@pytest.mark.parametrize(
    ("said", "choice"),
    [
        ("B", "option B (Later.)"),
        ("b", "option B (Later.)"),
        ("Option A", "option A (Now.)"),
        ("**B)** Later.", "option B (Later.)"),
        ("option a) now", "option A (Now.)"),
        ("A, but slowly", "option A (Now.) as amended: “A, but slowly”"),
        ("B - not in the EU", "option B (Later.) as amended: “B - not in the EU”"),
        ("Option A, only after\nthe review.", "option A (Now.) as amended: “Option A, only after\nthe review.”"),
        ("A (only after the review)", "option A (Now.) as amended: “A (only after the review)”"),
        ("B\nbut not in June", "option B (Later.) as amended: “B\nbut not in June”"),
        ("A\uff0c但先审查", "option A (Now.) as amended: “A\uff0c但先审查”"),
        ("A hybrid of both", "A hybrid of both"),
        ("I, for one, want both", "I, for one, want both"),
        ("C", "C"),
        ("none", ""),
        ("None.", ""),
    ],
)
def test_what_a_person_chose(said, choice):
    asked = turn("clerk", "debate/escalate", 4, options=("A) Now.", "B) Later."))
    answer = turn("human", "debate/appeal", 4, decision="adopt", option=said)
    assert Escalation("debate", 4, asked, answer).choice == choice


OFFERED = "offered: A) Now.; B) Later.; give a letter, or say in your own words what applies"


@pytest.mark.parametrize(
    ("decision", "option", "why"),
    [
        ("adopt", "A", ""),
        ("adopt", "**b)** Later.", ""),
        ("adopt", "A, but only after the review", ""),
        ("adopt", "Both, one after the other.", ""),
        ("adopt", "I, for one, want both.", ""),
        ("continue", "none", ""),
        ("adopt", "none", f'"adopt" settles the question, so it needs an option; {OFFERED}'),
        ("adopt", "E", f"there is no option E; {OFFERED}"),
        ("adopt", "Option E.", f"there is no option E; {OFFERED}"),
        ("continue", "C, but later", f"there is no option C; {OFFERED}"),
    ],
)
def test_an_option_that_was_not_offered_is_refused(decision, option, why):
    asked = turn("clerk", "debate/escalate", 4, options=("A) Now.", "B) Later."))
    assert option_not_offered({"decision": decision, "option": option}, scene(asked)) == why


def test_where_no_options_were_offered_only_words_count():
    silent = scene(absent("clerk", "debate/escalate", 4, asked="options"))
    why = "there is no option A; offered: no options; give a letter, or say in your own words what applies"
    assert option_not_offered({"decision": "adopt", "option": "A"}, silent) == why
    assert option_not_offered({"decision": "adopt", "option": "Never."}, silent) == ""


def test_escalations_are_told_apart_by_their_round():
    silent = absent("clerk", "debate/escalate", 5, asked="options")
    found = find_escalations(
        scene(
            turn("clerk", "debate/escalate", 4, options=("Now.", "Later.")),
            turn("human", "debate/appeal", 4, decision="continue", option="B"),
            silent,
            turn("human", "debate/appeal", 5, decision="adopt", option="Never."),
        )
    )
    assert [(one.round, one.adopted, one.choice) for one in found] == [
        (4, False, "option B (Later.)"),
        (5, True, "Never."),
    ]
    assert (found[1].asked, found[1].options) == (silent, {})


@pytest.mark.parametrize(
    ("fired", "told"),
    [
        (("option", "not every", "last_round"), "max iterations"),
        (("option", "not every", "last_round", "stuck"), "stalemate"),
        (("option", "not every", "stuck", "share", "from_round"), "fundamental disagreement"),
        ((), "max iterations"),
    ],
)
def test_what_an_escalation_is_about(fired, told):
    assert name_kind(fired) == told


def test_an_answer_that_cannot_be_read_is_asked_for_again(user):
    debate = played("consensus/fundamental")
    script(user, words(debate))
    waiting = user.council("run", *options(debate), "Shall we?", "--speaker=replay", "--from=script.yaml")
    assert waiting.code == 8, waiting.err
    asked = f"01-debate-r02{APPEAL}"
    assert user.council("record", "last", asked, stdin="Take A, I would say.").code == 0
    (due,) = user.council("next", "--json").json["due"]
    assert due["turn"] == f"{asked}.2"
    assert 'there is no "## Decision"' in brief(user.session, due["turn"])
    reply = "Decision: adopt\nOption: A\nGrant: 0\nReason: Users feel latency first."
    assert user.council("record", "last", due["turn"], stdin=reply).code == 0
    assert user.council("recover").code == 0
    assert facts(user.session)["outcome"] == "fundamental"
    assert "a person decided: option A (Autonomous decisions" in facts(user.session)["reason"]


def test_a_person_grants_rounds_beyond_the_limit(user):
    session = held(user, "consensus/granted")
    assert "round 4 of at most 5" in brief(session, "01-debate-r04-1-propose/protocol")
    assert "This was the last" in brief(session, f"01-debate-r03{APPEAL}")
    assert facts(session)["outcome"] == "consensus"
    assert "in round 5: " in facts(session)["reason"]


def test_what_still_blocks_is_dissent_from_the_consensus(user):
    turn = "01-debate-r02-1-propose/security"
    said = everything(played("consensus/simple"))[turn].replace(
        "## Blocking\nnone", "## Blocking\n- PII is in the log."
    )
    written = everything(played("consensus/simple"))["02-synthesis-r01/clerk"]
    kept = written.replace("## Dissents\nnone", "## Dissents\n- Security blocks: PII is in the log.")
    session = hold(user, "consensus/simple", **{turn: said, "02-synthesis-r01/clerk": kept})
    found = facts(session)
    assert (found["converged"], found["outcome"]) == (False, "consensus with dissent")
    assert found["reason"].endswith("; 1 blocking item from security")
    assert "**Outcome:** consensus with dissent (mean " in (session / "transcript.md").read_text("utf-8")
    assert "accepted by consensus with dissent after 2 rounds" in (session / "decision.md").read_text("utf-8")


def test_continue_without_a_grant_in_the_last_round_ends_undecided(user):
    found = facts(held(user, "consensus/cap"))
    assert (found["converged"], found["outcome"]) == (False, "max-iterations")
    assert found["scores"]["protocol"] == 89


@pytest.mark.parametrize(("name", "outcome"), [("escalation-off", "stalemate"), ("unsettled", "max-iterations")])
def test_with_escalation_off_nobody_is_asked(name, outcome, user):
    debate = played(f"consensus/{name}")
    assert not [due for batch in debate.batches for due in batch if due.step.name in ("escalate", "appeal")]
    session = held(user, f"consensus/{name}")
    found = facts(session)
    assert (found["converged"], found["outcome"]) == (False, outcome)
    assert found["blocking"]


def test_a_dissent_that_the_clerk_leaves_out_twice_stands_there_in_its_owners_words(user):
    synthesis = (held(user, "consensus/escalation-off") / "synthesis.md").read_text("utf-8")
    assert "**Dissent on record** *(added by council: not found in the synthesis)*" in synthesis
    assert "- Database: blocking: “Two hours of downtime.”\n" in synthesis


def test_a_dissent_that_is_put_in_when_asked_for_is_not_added(user):
    session = held(user, "consensus/unsettled")
    assert "- Protocol: The message has two meanings.\n" in brief(session, "02-synthesis-r02/clerk")
    assert "Dissent on record" not in (session / "synthesis.md").read_text("utf-8")


# ---- silence ----


def test_silence_is_no_satisfaction(user):
    """Everybody else is at 95 for as long as it lasts, and there is no consensus."""
    session = held(user, "consensus/silent-specialist")
    found = facts(session)
    assert (found["converged"], found["outcome"]) == (False, "max-iterations")
    assert found["scores"]["security"] is None
    assert "security" in found["missing"]
    assert found["reason"] == (
        "mean 76.0 in round 5: protocol 95, observability 95, operations 95, test 95, "
        "security spoke, satisfaction score unreadable"
    )
    assert "Security (Rook) not heard" in brief(session, "01-debate-r02-1-propose/protocol")
    assert "There are no options, because the clerk gave none" in brief(session, f"01-debate-r05{APPEAL}")


def test_a_score_that_cannot_be_read_is_none():
    debate = played("consensus/silent-specialist")
    last = next(turn for turn in reversed(debate.end.scene.turns) if turn.seat.name == "security")
    assert "satisfaction_score" not in last.answers
    assert "95" in last.body


# ---- over the API ----


def test_a_debate_over_the_api_waits_for_the_person_and_pays_nothing_twice(user):
    debate = played("consensus/fundamental")
    table = Table(user, words(debate))
    user = replace(user, env={"ANTHROPIC_API_KEY": "k"})
    asked = f"01-debate-r02{APPEAL}"
    with FakeApi(table) as api:
        user.configure(f"endpoints: {{anthropic: {{base_url: {api.url}}}}}")
        waiting = user.council("run", *options(debate), "--speaker", "anthropic", "Shall we?")
        assert waiting.code == 8, waiting.err
        assert asked in waiting.err
        assert user.council("recover").code == 8
        record(user, asked, everything(debate)[asked])
        ended = user.council("recover")
    assert ended.code == 0, ended.err
    assert sorted(table.asked) == sorted(words(debate))
    assert facts(user.session)["phases"] == debate.end.scene.outcomes
    assert "**Debate ended (fundamental):**" in (user.session / "transcript.md").read_text("utf-8")


def test_what_it_took_is_within_its_bound(user):
    """The bound is reckoned from the workflow alone, and here nobody grants rounds beyond it."""
    debate = played("consensus/stalemate")
    user = replace(user, env={"ANTHROPIC_API_KEY": "k"})
    with FakeApi(Table(user, words(debate))) as api:
        user.configure(f"endpoints: {{anthropic: {{base_url: {api.url}}}}}")
        assert user.council("run", *options(debate), "--speaker", "anthropic", "Shall we?").code == 8
        record(user, f"01-debate-r04{APPEAL}", everything(debate)[f"01-debate-r04{APPEAL}"])
        ended = user.council("recover", "--json")
    assert ended.code == 0, ended.err
    found = ended.json
    assert found["totals"]["calls"] == len(debate.said)
    assert found["bound"]["calls"] == 2 * (60 + 10 + 2)
    assert all(found["totals"][name] <= most for name, most in found["bound"].items())


def test_a_person_decides_at_the_terminal(user):
    """The question is on one screen; a letter and a reason answer it."""
    debate = played("consensus/fundamental")
    user = replace(user, env={"ANTHROPIC_API_KEY": "sk-ant-of-the-tests"})
    with FakeApi(Table(user, words(debate))) as api:
        user.configure(f"endpoints: {{anthropic: {{base_url: {api.url}}}}}")
        command = ("consensus", "--only", "meeting-controller,media-handler", "Shall we?")
        with Running(user, *command, columns=100) as console:
            asked = console.until(r"A  B  C\r\n> ")
            screen = Terminal(100)
            screen.write(asked)
            shown = screen.text.rpartition("═══ Round 2 complete ═══")[2]
            assert "The specialists have found a fundamental trade-off." in shown
            first = "A) Autonomous decisions, with telemetry of each. (recommended: Enter)"
            assert f"{first}\nB) Central control.\n" in shown
            assert "<said" not in shown
            assert "Latency against observability." in screen.text
            console.type("a, because users feel latency first.\n")
            assert "(fundamental):" in console.until("archive:")
    assert facts(user.session)["reason"].endswith("option A (Autonomous decisions, with telemetry of each.)")
    answered = (user.session / "turns/01-debate-r02-3-appeal/human.md").read_text("utf-8").split("\n---\n", 1)[1]
    reason = "## Reason\nbecause users feel latency first.\n"
    assert answered == f"## Decision\nadopt\n\n## Option\nA\n\n## Grant\n0\n\n{reason}"
    assert user.council("verify").code == 0


# ---- who sits where ----

MATRIX: dict[str, set[str]] = {
    "api-endpoint": {"global-controller"},
    "signaling-message": {"meeting-controller", "protocol"},
    "media-forwarding": {"media-handler", "protocol"},
    "cross-service": {
        "global-controller", "meeting-controller", "media-handler", "protocol", "database", "infrastructure",
    },
    "database-schema": {"database", "global-controller", "meeting-controller"},
    "performance": {"global-controller", "meeting-controller", "media-handler"},
    "infrastructure-change": {"infrastructure", "global-controller", "meeting-controller", "media-handler"},
    "deployment": {"infrastructure"},
}  # fmt: skip


@pytest.mark.parametrize("feature", MATRIX)
def test_a_feature_type_seats_its_specialists_and_the_four_who_always_sit(feature, user):
    ended = user.council("start", "--workflow", "consensus", "--feature-type", feature, "Shall we?")
    assert ended.code == 0, ended.err
    found = json.loads((user.session / "metadata.json").read_text("utf-8"))
    assert set(found["members"]) == MATRIX[feature]
    (line,) = re.findall(r"^\*\*Council Members:\*\* (.*)$", ended.out, re.M)
    labels = line.split(", ")
    assert labels[-4:] == ["Observability", "Operations", "Test", "Security (Rook)"]
    assert {label.lower().replace(" ", "-") for label in labels[:-4]} == MATRIX[feature]


def test_the_matrix_of_the_page_is_the_workflows():
    found = program()
    groups = {name: {seat.name for seat in seats} for name, seats in found.groups.items()}
    assert {name: groups[name] for name in MATRIX} == MATRIX
    assert set(groups) == {*MATRIX, "domain", "crosscutting", "clerk"}
    assert groups["domain"] == MATRIX["cross-service"]
    rows = re.findall(r"^\| [^|]+ \| `(\w[\w-]*)` \| ([^|(]+?) (?:\([^|]*\) )?\|$", found.body, re.M)
    assert {name: set(seats.split(", ")) for name, seats in rows} == MATRIX


@pytest.mark.parametrize("option", ["--feature-type=signaling-message", "--only=signaling-message"])
def test_a_feature_type_is_another_word_for_only(option, user):
    assert user.council("start", "--workflow", "consensus", option, "--with", "database", "Shall we?").code == 0
    found = json.loads((user.session / "metadata.json").read_text("utf-8"))
    assert found["members"] == ["meeting-controller", "protocol", "database"]


@pytest.mark.parametrize(
    ("workflow", "feature", "why"),
    [
        ("consensus", "deploymnt", 'consensus has no feature type "deploymnt"; did you mean "deployment"?'),
        ("consensus", "crosscutting", 'consensus has no feature type "crosscutting"; known: api-endpoint, '),
        ("consensus", "domain", 'consensus has no feature type "domain"; known: '),
        ("consensus", "clerk", 'consensus has no feature type "clerk"; known: '),
        ("consensus", "security", 'consensus has no feature type "security"; '),
        ("board", "gate", 'board has no feature type "gate"; known: none'),
    ],
)
def test_a_feature_type_that_there_is_not(workflow, feature, why, user):
    refused = user.council("start", "--workflow", workflow, "--feature-type", feature, "Shall we?")
    assert refused.code == 2
    assert why in refused.err
    assert not user.sessions


def test_a_specialist_who_sits_anyway_may_be_named():
    request = Request("Shall we?", "consensus", with_=("security",), only=("media-handler", "test"))
    assert [seat.name for seat in start.seat_members(program(), request, personas.load())] == ["media-handler"]


@pytest.mark.parametrize("seat", ["clerk", "human"])
def test_whoever_has_a_part_already_cannot_be_a_specialist_too(seat, user):
    assert user.council("start", "--workflow", "consensus", "--with", seat, "Shall we?").code == 2
    assert not user.sessions


# ---- what it takes ----


def calls(workflow: Workflow) -> Mapping[str, tuple[int, int]]:
    return {row.step: (row.least, row.most) for row in cost.bound_steps(workflow, "", RATES)}


def test_the_calls_are_those_that_the_page_tells():
    ten = program()
    six = ten.with_members(ten.groups["signaling-message"]).with_options({"analysis": False})
    told = re.findall(r"^\| ([\w ,]+?) +\| (\d+)(?: or (\d+))? \| (\d+) \| (\d+) \|$", ten.body, re.M)
    page = {
        what: (int(least), int(more or least), int(most), int(longest)) for what, least, more, most, longest in told
    }
    names = {
        "who sits": "impact",
        "proposals": "propose",
        "the clerk, when a person is asked": "escalate",
        "synthesis": "synthesis",
    }
    assert set(page) == set(names)
    for what, step in names.items():
        (least, most), (more, longest) = calls(six).get(step, (0, 0)), calls(ten)[step]
        assert page[what] == (least, more, most, longest)
    assert calls(ten)["appeal"] == (0, 0)


def test_the_limit_of_rounds_is_an_option(user):
    three = calls(program().with_options({"max_rounds": "3"}))
    assert three["propose"] == (5, 30)
    assert user.council("cost", "consensus").code == 0
    assert user.council("lint", "consensus").out == "consensus: no problems found\n"
