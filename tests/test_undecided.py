"""A debate that decided nothing, and asked nobody, ends with an exit code of its own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from council.protocols.undecided import explain_undecided
from tests.helpers import User, agreed, quick, script
from tests.scripted import names, played

REPLAY = ("--speaker", "replay", "--from", "script.yaml")
NO_DECISION = {
    "board/circular": "the debate is undecided (0/4 agree, ceo, cto, contrarian and moonshot are undecided)",
    "code/refused": "0 of 1 say approval approve (human not heard); 0 of 1 say approval reject (human not heard)",
    "consensus/escalation-off": "the debate ended as stalemate, and no person was asked",
    "consensus/silent-specialist": "the debate ended as max-iterations, and the person who was asked did not answer",
    "consensus/unsettled": "the debate ended as max-iterations, and no person was asked",
    "debate/errors-for-words": "the debate is insufficient (only 0 of 4 stances could be read; 0/4 agree",
    "perspectives/nobody-cast": "0 perspectives named, 2 to 4 needed, and no person was asked",
    "perspectives/too-many": "5 perspectives named",
    "quick/nobody-there": "the debate is insufficient (only 0 of 4 members were heard), and no person was asked",
}


@pytest.fixture
def user(tmp_path: Path) -> User:
    return User(tmp_path)


def test_only_debates_without_a_decision_and_without_a_person_are_undecided() -> None:
    debates = {name: played(name) for name in names()}
    found = {name: explain_undecided(one.end, one.script.workflow) for name, one in debates.items()}
    assert {name for name, why in found.items() if why} == set(NO_DECISION)
    for name, why in NO_DECISION.items():
        assert found[name].startswith(f"no decision: {why}")


def test_run_and_recover_end_with_3_and_the_record_is_complete(user: User) -> None:
    words = agreed()
    mixed = {turn: body.replace("agree\n", "mixed\n") for turn, body in words.items() if turn.startswith("02-")}
    words |= mixed | {turn.replace("02-challenges", "03-closing"): body for turn, body in mixed.items()}
    script(user, words)
    first = user.council("run", *REPLAY, "Q?")
    assert first.code == 3
    assert "no decision: the debate is undecided" in first.err
    again = user.council("recover", *REPLAY, "--json")
    assert (again.code, again.json["state"], again.json["outcome"]) == (3, "complete", "undecided")
    assert user.council("verify").code == 0


def test_one_yes_to_normative_opens_the_third_round(user: User) -> None:
    """An answer that may be missing is not asked for again; one member who gives it is enough."""
    words = agreed()
    words |= {turn.replace("02-challenges", "03-closing"): body for turn, body in words.items() if turn[:2] == "02"}
    script(user, words)
    assert user.council("run", *REPLAY, "Q?").code == 0
    facts = json.loads((user.session / "convergence.json").read_text("utf-8"))
    assert facts["proceed_to_round3"] is False
    assert "0 of 4 say normative yes;" in facts["why"]
    assert not list(user.session.glob("turns/*/*.2.md"))
    earlier = user.session
    words["02-challenges/designer"] += "\n## Normative\nyes\n"
    script(user, words)
    assert user.council("run", *REPLAY, "Q?").code == 0
    later = next(one for one in user.sessions if one != earlier)
    facts = json.loads((later / "convergence.json").read_text("utf-8"))
    assert (facts["proceed_to_round3"], facts["rules_fired"]) == (True, ["some"])
    assert "1 of 4 say normative yes" in facts["why"]
    assert facts["missing"] == []


def test_what_takes_no_vote_is_answered_on_every_surface(user: User) -> None:
    script(user, quick())
    ended = user.council("run", "-w", "quick", *REPLAY, "Q?")
    assert (ended.code, "**Outcome:** answered (no vote was taken)" in ended.out) == (0, True), ended.err
    (row,) = user.council("list", "--json").json
    shown = user.council("show", "last", "--json").json
    assert (row["outcome"], shown["outcome"], shown["verdict"]["reason"]) == (
        "answered",
        "answered",
        "no vote was taken",
    )
    facts = json.loads((user.session / "convergence.json").read_text("utf-8"))
    metadata = json.loads((user.session / "metadata.json").read_text("utf-8"))
    assert (facts["outcome"], metadata["outcome"]) == ("answered", "answered")
    texts = [user.council("show", "last", *how).out for how in ((), ("--html",))]
    texts += [user.council("list").out, user.council("decision", "last", "--as", "adr", "--dry-run").out]
    assert all("answered" in text and "insufficient" not in text for text in texts)


def test_where_most_members_of_a_quick_council_are_silent_nothing_is_answered(user: User) -> None:
    silent = dict.fromkeys(("01-positions/architect", "01-positions/engineer"), "absent: ill")
    script(user, {**quick(), **silent})
    ended = user.council("run", "-w", "quick", *REPLAY, "Q?")
    assert (ended.code, "only 2 of 4 members were heard" in ended.err) == (3, True), ended.err
    shown = user.council("show", "last", "--json").json
    assert (shown["outcome"], shown["verdict"]["carried"]) == ("insufficient", False)
