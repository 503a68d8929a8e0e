"""Debates over an API that fails, end to end: the real SDK, real HTTP, the real command line, scripted faults."""

from __future__ import annotations

import email.utils
import json
import os
import pty
import re
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.fakeapi import Answer, FakeApi
from tests.helpers import (
    AGREES,
    MEMBERS,
    Ended,
    Table,
    User,
    agreed,
    derived_of,
    disputed,
    key_of,
    no_escapes,
    no_traceback,
    summary,
    without_head,
)

KEY = "sk-ant-of-the-tests"
CONFIG = """
endpoints:
  anthropic: {{base_url: {url}}}
  other: {{base_url: {other}, key: OTHER_KEY}}
  keyless: {{base_url: {other}}}
prices:
  claude-sonnet-5-5: {{input: 2, output: 10, cache_read: 0.10, cache_write: 2.50}}
stall: {stall}
deadline: {deadline}
concurrency: {concurrency}
retry: {{first_wait: 0.01, most_wait: {most_wait}, budget: {budget}}}
"""
E = "01-positions/engineer"
DOWN = Answer(fault="status", status=529, message="overloaded for now")
FOR_EVER = 40


@pytest.fixture
def user(tmp_path) -> User:
    return User(tmp_path, {"ANTHROPIC_API_KEY": KEY})


def configure(user: User, api: FakeApi, other: FakeApi | None = None, **changed: float) -> None:
    usual = {"stall": 20, "deadline": 20, "concurrency": 8, "most_wait": 0.05, "budget": 1}
    user.configure(CONFIG.format(url=api.url, other=(other or api).url, **{**usual, **changed}))


def debate(
    user: User,
    faults: dict[str, list[Answer]] | None = None,
    *words: str,
    said: dict[str, str] | None = None,
    **how: float,
) -> tuple[Ended, Table]:
    """One `council run` with these faults, and who was asked."""
    table = Table(user, said or agreed(), faults)
    with FakeApi(table) as api:
        configure(user, api, **how)
        ended = user.council("run", "Shall we?", "--speaker", "anthropic", *words)
    no_traceback(ended)
    return ended, table


def recovered(user: User, *words: str, said: dict[str, str] | None = None) -> tuple[Ended, Table]:
    """`council recover` with an API that is well again."""
    table = Table(user, said or agreed())
    with FakeApi(table) as api:
        configure(user, api)
        ended = user.council("recover", *words)
    no_traceback(ended)
    return ended, table


def turns(user: User) -> set[str]:
    folder = user.session / "turns"
    return {str(path.relative_to(folder).with_suffix("")) for path in folder.rglob("*.md")}


def receipt(user: User, turn: str) -> dict[str, object]:
    lines = (user.session / f"turns/{turn}.md").read_text().split("\n---\n")[0].splitlines()[1:]
    return {key: json.loads(value) for key, _, value in (line.partition(": ") for line in lines)}


def facts(user: User) -> dict[str, object]:
    return json.loads((user.session / "convergence.json").read_text())


def complete(user: User) -> None:
    assert ": complete (" in user.council("status").out
    assert user.council("verify").code == 0


# ---- what is refused for good ----


@pytest.mark.parametrize(
    ("status", "names"),
    [
        (400, "max_tokens (8000) of the tier 'sonnet'"),
        (401, "ANTHROPIC_API_KEY"),
        (403, "ANTHROPIC_API_KEY"),
        (404, "Give the tier 'sonnet' a model"),
        (413, "shorten the documents"),
        (422, "of the tier 'sonnet'"),
    ],
)
def test_what_is_refused_for_good_is_asked_once(status, names, user):
    """The others' turns are kept, and a recovery asks for the rest alone."""
    ended, table = debate(user, {E: [Answer(fault="status", status=status)] * FOR_EVER})
    assert ended.code == 4
    assert f"answered {status}" in ended.err
    assert names in ended.err
    assert "trying again" not in ended.err
    assert ended.last.startswith("kept: 3 turns in ")
    assert f"council recover {user.session.name}" in ended.last
    assert sorted(table.asked) == [f"01-positions/{seat}" for seat in MEMBERS]
    status_ended = user.council("status")
    assert ": paused (" in status_ended.out
    assert str(status) in status_ended.out
    ended, again = recovered(user)
    assert ended.code == 0, ended.err
    assert again.asked[0] == E
    assert not set(again.asked) & turns_of(table, but=E)
    complete(user)


def turns_of(table: Table, but: str) -> set[str]:
    return {turn for turn in table.asked if turn != but}


def test_everybody_refused(user):
    no = [Answer(fault="status", status=401)] * FOR_EVER
    ended, _ = debate(user, {f"01-positions/{seat}": no for seat in MEMBERS})
    assert ended.code == 4
    assert ended.last.startswith("kept: 0 turns")


# ---- what passes ----

PASSING: dict[str, list[Answer]] = {
    "429 with seconds to wait": [Answer(fault="status", status=429, retry_after="0.02")],
    "429 with nonsense to wait": [Answer(fault="status", status=429, retry_after="soon")],
    "429 with a wait that is over": [Answer(fault="status", status=429, retry_after="-3")],
    "429 with no wait": [Answer(fault="status", status=429, retry_after="0")],
    "429 without": [Answer(fault="status", status=429)],
    "408": [Answer(fault="status", status=408)],
    "500": [Answer(fault="status", status=500)],
    "503": [Answer(fault="status", status=503)],
    "529": [Answer(fault="status", status=529)],
    "a reset": [Answer(fault="reset")],
    "a reset behind the headers": [Answer(fault="reset_after_headers")],
    "a web page": [Answer(fault="html")],
    "a stream that is cut": [Answer("half of it", fault="cut")],
    "a stream that ends too soon": [Answer("half of it", fault="end")],
    "a stream that stalls": [Answer("half of it", fault="stall")],
    "an error event": [Answer("half of it", fault="error_event")],
    "an event that is none": [Answer("half of it", fault="malformed")],
    "an empty answer": [Answer("")],
    "an answer of blanks": [Answer(" \n")],
    "no reason to stop": [Answer("all of it", stop=None)],
    "one after the other": [DOWN, Answer(fault="reset"), Answer("half", fault="cut"), Answer(fault="html")],
}


@pytest.mark.parametrize("name", PASSING)
def test_what_passes_is_tried_again_and_seen(name, user):
    how = {"stall": 0.5} if "stalls" in name else {}
    ended, table = debate(user, {E: PASSING[name]}, **how)
    assert ended.code == 0, ended.err
    assert len(re.findall(r"Engineer \(Marcus\): .+; trying again in 0\.\d s", ended.err)) >= len(PASSING[name])
    assert table.asked.count(E) >= 1 + len(PASSING[name])
    assert "half" not in (user.session / f"turns/{E}.md").read_text()
    assert turns(user) == set(agreed())
    assert (user.session / f"turns/{E}.md").read_text().endswith(agreed()[E])
    complete(user)


@pytest.mark.parametrize(
    ("fault", "calls"),
    [
        (Answer("", thinking="Hm.", stop="max_tokens"), 1),
        (Answer(""), 2),
        (Answer(fault="html"), 2),
        (Answer("half", fault="malformed"), 2),
    ],
)
def test_what_another_attempt_would_not_change_is_not_tried_for_long(fault, calls, user):
    ended, table = debate(user, {E: [fault] * FOR_EVER}, budget=60)
    assert ended.code == 3
    assert table.asked.count(E) == calls
    status = user.council("status", "--json").json
    assert status["totals"]["failed_calls"] == calls


def test_an_answer_without_its_goodbye_is_whole(user):
    """It has its reason to stop and is paid for: it is not asked for twice."""
    ended, table = debate(user, {E: [Answer(agreed()[E], fault="no_stop")]})
    assert ended.code == 0
    assert table.asked.count(E) == 1


def test_a_call_that_takes_too_long_is_given_up(user):
    ended, table = debate(user, {E: [Answer("late", latency=15)]}, deadline=2)
    assert ended.code == 0, ended.err
    assert "deadline of 2 s" in ended.err
    assert table.asked.count(E) >= 2


@pytest.mark.parametrize(
    "fault", [DOWN, Answer(fault="reset"), Answer("x", fault="cut"), Answer(""), Answer("x", stop=None)]
)
def test_beyond_the_budget_the_debate_pauses(fault, user):
    ended, _ = debate(user, {"02-challenges/engineer": [fault] * FOR_EVER}, budget=0.03)
    assert ended.code == 3
    assert "Engineer (Marcus) did not answer" in ended.err
    assert f"go on with: council recover {user.session.name}" in ended.last
    assert ended.last.startswith("kept: 7 turns")
    before = turns(user)
    status = user.council("status", "--json").json
    assert status["state"] == "paused"
    assert "Engineer (Marcus) did not answer" in status["why"]
    assert status["due"] == ["02-challenges/engineer"]
    assert user.council("verify").code == 0, "a pause is no damage"
    ended, again = recovered(user)
    assert ended.code == 0, ended.err
    assert again.asked == ["02-challenges/engineer", "04-synthesis-r01/chair"]
    assert turns(user) == before | set(again.asked)
    complete(user)


def test_four_who_fail_at_once_stay_within_one_budget(user):
    ended, table = debate(user, {f"01-positions/{seat}": [DOWN] * 2 for seat in MEMBERS}, budget=0.2, most_wait=0.02)
    assert ended.code == 0, ended.err
    assert all(table.asked.count(f"01-positions/{seat}") >= 3 for seat in MEMBERS)


@pytest.mark.parametrize("concurrency", [1, 2, 8])
def test_one_back_off_for_all(concurrency, user):
    """Those who were under way when one was told to wait are; nobody else begins before the wait is over."""
    wait = 0.4
    first = "01-positions/architect"
    slow = {f"01-positions/{seat}": [Answer(agreed()[f"01-positions/{seat}"], latency=0.6)] for seat in MEMBERS}
    slow[first] = [Answer(fault="status", status=429, retry_after=str(wait))]
    ended, table = debate(user, slow, concurrency=concurrency, most_wait=wait, budget=5)
    assert ended.code == 0, ended.err
    told = table.times[table.asked.index(first)]
    early = [turn for turn, at in zip(table.asked, table.times, strict=True) if at < told + wait]
    assert len(early) <= min(concurrency, len(MEMBERS))
    assert len(set(early)) == len(early)
    assert f"trying again in {wait} s" in ended.err


def test_a_wait_is_cut_to_the_longest_allowed(user):
    ended, _ = debate(user, {E: [Answer(fault="status", status=429, retry_after="5")]}, most_wait=0.02, budget=9)
    assert ended.code == 0
    assert "trying again in 0.0 s" in ended.err


HOUR = Answer(fault="status", status=429, retry_after="3600", message="too many requests")
LIMITED = (
    r"anthropic answered 429: too many requests\. It asks to wait 1 h: paused until {}\d\d:\d\d, nothing is lost; "
    "then run `council recover`"
)
DATE = r"\d{4}-\d\d-\d\d "


@pytest.mark.parametrize("words", [(), ("--quorum", "1"), ("--json",)])
@pytest.mark.parametrize("seats", [MEMBERS, MEMBERS[2:3]])
def test_a_rate_limit_of_an_hour_pauses_at_once_and_is_said_once(seats, words, user):
    """Nobody becomes absent by it; a recovery asks the API again, and pauses again if that says the same."""
    faults = {f"01-positions/{seat}": [HOUR] * FOR_EVER for seat in seats}
    ended, table = debate(user, faults, *words, budget=600, most_wait=60)
    assert ended.code == 3
    assert len(re.findall(f"^council: {LIMITED.format(f'({DATE})?')}$", ended.err, re.M)) == 1
    assert ended.err.count("429") == 1
    assert f"go on with: council recover {user.session.name}" in ended.last
    assert len(table.asked) == len(MEMBERS)
    assert not [turn for turn in turns(user) if receipt(user, turn)["absent"]]
    status = user.council("status", "--json").json
    assert (status["state"], len(status["due"])) == ("paused", len(seats))
    assert re.fullmatch(LIMITED.format(DATE), status["why"])
    with FakeApi(Table(user, agreed(), {turn: [HOUR] * FOR_EVER for turn in faults})) as api:
        configure(user, api, budget=600, most_wait=60)
        again = user.council("recover")
    assert (again.code, len(api.prompts)) == (3, len(seats))
    ended, _ = recovered(user)
    assert ended.code == 0, ended.err
    complete(user)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (lambda: email.utils.formatdate(time.time() + 7200, usegmt=True), r"2 h: paused until .*; then run"),
        (lambda: "1e300", r"for more than a year: paused, nothing is lost; later, run"),
    ],
    ids=["a date", "a wait without an end"],
)
def test_the_wait_may_be_a_date_or_have_no_end(asked, said, user):
    faults = {"02-challenges/engineer": [Answer(fault="status", status=429, retry_after=asked())]}
    ended, _ = debate(user, faults, budget=600)
    assert ended.code == 3
    assert re.search(rf"It asks to wait {said} `council recover`", ended.err), ended.err


def test_of_two_limits_the_longer_is_said(user):
    day = Answer(fault="status", status=429, retry_after="90000")
    ended, _ = debate(user, {"01-positions/architect": [HOUR], E: [day]}, budget=600)
    assert ended.code == 3
    assert "It asks to wait 25 h: paused" in ended.err
    assert "1 h:" not in ended.err


def test_one_failure_of_all_members_is_one_sentence(user):
    """The calls fail together, so they also wait together."""
    ended, _ = debate(user, {f"01-positions/{seat}": [DOWN] * FOR_EVER for seat in MEMBERS}, most_wait=1, budget=1)
    assert ended.code == 3
    names = "Architect (Serena), Designer (Aditi), Engineer (Marcus) and Researcher (Ava)"
    assert ended.err.count("did not answer") == 1
    assert f"council: {names} did not answer: anthropic answered 529: overloaded for now; tried " in ended.err
    assert "is not heard" not in ended.err


def test_a_server_that_is_gone_is_one_sentence(user):
    with FakeApi() as gone:
        configure(user, gone)
    ended = user.council("run", "Shall we?", "--speaker", "anthropic")
    assert (ended.code, ended.err.count("nothing answers at")) == (3, 1)


def test_a_proxy_that_is_gone_is_named(user):
    with FakeApi() as gone:
        user.configure("endpoints: {anthropic: {base_url: https://api.example.invalid}}")
    ended = user.council("run", "Shall we?", "--speaker", "anthropic", HTTPS_PROXY=gone.url)
    assert ended.code == 3
    assert ended.err.count(f"nothing answers at {gone.url[7:]}, the proxy in HTTPS_PROXY: is it running?") == 1


# ---- what is an answer, but not a plain one ----


def test_a_refusal_is_recorded_as_one(user):
    ended, table = debate(user, {"02-challenges/engineer": [Answer("", stop="refusal")]})
    assert ended.code == 0, ended.err
    assert table.asked.count("02-challenges/engineer") == 1
    found = receipt(user, "02-challenges/engineer")
    assert (found["stop"], found["absent"]) == ("refusal", "refused by the model")
    assert facts(user)["stances"]["engineer"] is None
    assert not facts(user)["converged"]
    assert "*absent: refused by the model*" in (user.session / "round-2.md").read_text()
    assert "**Degraded:** absent: Engineer (Marcus) in challenges" in (user.session / "transcript.md").read_text()


def test_a_reply_that_reached_its_limit_is_recorded_as_such(user):
    ended, _ = debate(user, {E: [Answer("Half a sentence and", stop="max_tokens")]})
    assert ended.code == 0
    assert "Engineer (Marcus): cut off" in ended.err
    assert receipt(user, E)["stop"] == "max_tokens"
    for name in ("round-1.md", "transcript.md"):
        assert "cut off: the model reached its limit of tokens" in (user.session / name).read_text()


def test_another_model_than_was_asked_is_seen_everywhere(user):
    ended, _ = debate(user, {E: [Answer("My words.", model="claude-tiny-1")]})
    assert ended.code == 0
    assert "Engineer (Marcus): asked of claude-sonnet-5-5, answered by claude-tiny-1" in ended.err
    found = receipt(user, E)
    assert (found["asked"], found["answered"]) == ("claude-sonnet-5-5", "claude-tiny-1")
    transcript = (user.session / "transcript.md").read_text()
    assert "asked of claude-sonnet-5-5, answered by claude-tiny-1" in transcript
    assert f"| {E} | anthropic | claude-sonnet-5-5 | claude-tiny-1 |" in transcript


def test_a_dated_name_of_the_same_model_is_no_news(user):
    ended, _ = debate(user, {E: [Answer("My words.", model="claude-sonnet-5-5-20260101")]})
    assert "answered by" not in ended.err


COUNTED = {
    "input_tokens": 1000, "cache_read_input_tokens": 500, "cache_creation_input_tokens": 200, "output_tokens": 300,
}  # fmt: skip
SONNET = (1000 * 2 + 500 * 0.10 + 200 * 2.50 + 300 * 10) / 1e6
HAIKU = (1000 * 0.10 + 500 * 0.01 + 200 * 0.125 + 300 * 0.50) / 1e6


def test_tokens_and_money_are_what_the_api_reported(user):
    """A call that was refused took nothing."""
    table = Table(user, agreed(), {E: [DOWN]}, usage=COUNTED)
    with FakeApi(table) as api:
        configure(user, api)
        ended = user.council("run", "Shall we?", "--json")
    usd = round(5 * SONNET + 4 * HAIKU, 6)
    assert ended.json["totals"] == {
        "calls": 9, "failed_calls": 1, "input_tokens": 9 * 1700, "output_tokens": 9 * 300, "usd": usd,
        "usd_at_least": usd,
    }  # fmt: skip
    found = receipt(user, E)
    assert [found[name] for name in ("input", "cache_read", "cache_write", "output")] == [1000, 500, 200, 300]
    assert found["usd"] == pytest.approx(SONNET)
    assert receipt(user, "02-challenges/engineer")["usd"] == pytest.approx(HAIKU)
    assert json.loads((user.session / "metadata.json").read_text())["totals"]["usd"] == usd
    assert user.council("list", "--json").json[0]["usd"] == usd


# ---- who is missing ----


def test_without_a_quorum_a_lost_member_pauses_the_debate(user):
    ended, _ = debate(user, {E: [DOWN] * FOR_EVER}, budget=0.02)
    assert ended.code == 3
    assert E not in turns(user)


def test_with_a_quorum_the_debate_goes_on_without_the_lost_member(user):
    gone = {"02-challenges/engineer": [DOWN] * FOR_EVER}
    ended, _ = debate(user, gone, "--quorum", "3", budget=0.02)
    assert ended.code == 0, ended.err
    found = receipt(user, "02-challenges/engineer")
    assert "overloaded for now" in str(found["absent"])
    assert found["stop"] == "absent"
    told = facts(user)
    assert told["stances"] == {**dict.fromkeys(MEMBERS, "agree"), "engineer": None}
    assert told["missing"] == ["engineer"]
    assert told["converged"] is False
    assert told["outcome"] == "agreed, one absent"
    assert "3/4 agree, engineer was not heard" in str(told["reason"])
    assert "Engineer (Marcus) is not heard" in ended.err
    assert "**Degraded:** absent: Engineer (Marcus) in challenges" in ended.out
    assert "**Degraded:** absent: Engineer (Marcus) in challenges" in (user.session / "transcript.md").read_text()
    assert "*absent: anthropic answered 529" in (user.session / "round-2.md").read_text()
    assert json.loads((user.session / "metadata.json").read_text())["absent"] == ["engineer"]
    assert "(absent: anthropic answered 529" in (user.session / "briefs/04-synthesis-r01/chair.md").read_text()
    complete(user)


def test_half_of_the_council_is_no_council(user):
    """Two agree and two are silent: that is no agreement, whatever the quorum allows."""
    gone = {f"02-challenges/{seat}": [DOWN] * FOR_EVER for seat in ("engineer", "designer")}
    closing = {f"03-closing/{seat}": f"As before.\n\n{AGREES}" for seat in MEMBERS}
    gone |= {turn.replace("02-challenges", "03-closing"): answers[:] for turn, answers in gone.items()}
    ended, _ = debate(user, gone, "--quorum", "2", said=agreed() | closing, budget=0.02)
    assert ended.code == 3, ended.err
    assert facts(user)["outcome"] == "insufficient"
    assert facts(user)["missing"] == ["designer", "engineer"]
    assert facts(user)["proceed_to_round3"] is True


@pytest.mark.parametrize(("lost", "quorum"), [(1, 4), (2, 3), (4, 1)])
def test_fewer_than_the_quorum_pause_the_debate(lost, quorum, user):
    gone = {f"01-positions/{seat}": [DOWN] * FOR_EVER for seat in MEMBERS[:lost]}
    ended, _ = debate(user, gone, "--quorum", str(quorum), budget=0.02)
    assert ended.code == 3
    assert not [turn for turn in turns(user) if receipt(user, turn)["absent"]]


def test_the_chair_is_in_no_quorum(user):
    ended, _ = debate(user, {"04-synthesis-r01/chair": [DOWN] * FOR_EVER}, "--quorum", "1", budget=0.02)
    assert ended.code == 3
    ended, again = recovered(user)
    assert (ended.code, again.asked) == (0, ["04-synthesis-r01/chair"])


# ---- what cannot be read ----

MUTE = "I would rather not say."
SECOND = "02-challenges/engineer.2"


def test_a_reply_that_cannot_be_read_is_asked_for_again_with_what_was_wrong(user):
    said = {**agreed(), "02-challenges/engineer": MUTE, SECOND: f"I do now.\n\n{AGREES.replace('agree', 'mixed')}"}
    ended, table = debate(user, said=said)
    assert ended.code == 0, ended.err
    assert table.asked.count(SECOND) == 1
    assert "(asked once more)" in ended.err
    brief = (user.session / f"briefs/{SECOND}.md").read_text()
    assert 'there is no "## Stance"' in brief
    assert MUTE in brief
    assert facts(user)["stances"]["engineer"] == "mixed"
    assert facts(user)["missing"] == []
    assert MUTE in (user.session / "round-2.md").read_text()
    complete(user)


def test_what_still_cannot_be_read_counts_as_missing(user):
    said = {**agreed(), "02-challenges/engineer": MUTE, SECOND: "I said no."}
    ended, table = debate(user, said=said)
    assert ended.code == 0, ended.err
    assert [turn for turn in table.asked if "engineer" in turn][1:] == ["02-challenges/engineer", SECOND]
    assert facts(user)["stances"]["engineer"] is None
    assert facts(user)["missing"] == ["engineer"]
    assert facts(user)["converged"] is False
    assert 'not answered: there is no "## Stance"' in (user.session / "round-2.md").read_text()
    complete(user)


def test_errors_for_words_are_no_agreement(user):
    """An endpoint that answers 200 with an error as its text convinces nobody."""
    said = dict.fromkeys(disputed(), "Error: 429 Too Many Requests")
    said |= {f"{turn}.2": "Error: 429 Too Many Requests" for turn in disputed()}
    ended, _ = debate(user, said=said)
    assert ended.code == 3, ended.err
    assert facts(user)["outcome"] == "insufficient"
    assert facts(user)["missing"] == sorted(MEMBERS)


# ---- the synthesis keeps the dissent ----

CORRECTED = "04-synthesis-r02/chair"


def test_a_synthesis_that_drops_a_dissent_is_corrected_once(user):
    said = disputed()
    said[CORRECTED] = said["04-synthesis-r01/chair"]
    said["04-synthesis-r01/chair"] = summary("All is well.")
    ended, table = debate(user, said=said)
    assert ended.code == 0, ended.err
    assert table.asked[-2:] == ["04-synthesis-r01/chair", CORRECTED]
    brief = (user.session / f"briefs/{CORRECTED}.md").read_text()
    assert "- Engineer (Marcus): The restore is untested." in brief
    assert "- Engineer (Marcus): disagrees" in brief
    synthesis = (user.session / "synthesis.md").read_text()
    assert "Engineer disagrees and blocks" in synthesis
    assert "Dissent on record" not in synthesis


def test_a_dissent_that_is_dropped_twice_is_appended_by_the_program(user):
    said = {**disputed(), "04-synthesis-r01/chair": summary("All is well."), CORRECTED: summary("All is very well.")}
    ended, table = debate(user, said=said)
    assert ended.code == 0, ended.err
    assert len(table.asked) == 14
    for text in ((user.session / "synthesis.md").read_text(), (user.session / "transcript.md").read_text(), ended.out):
        assert "**Dissent on record** *(added by council: not found in the synthesis)*" in text
        assert "- Engineer (Marcus): blocking: “The restore is untested.”" in text
        assert "- Engineer (Marcus): disagrees. In their own words: “I disagree: nobody has tried it since" in text
    complete(user)


# ---- the order in which they come ----


def late(place: int) -> float:
    return 0.06 * place


@pytest.mark.parametrize("place", [MEMBERS.index, MEMBERS[::-1].index])
def test_the_order_of_the_replies_changes_no_file(place: Callable[[str], int], user, tmp_path):
    """The same words as a replay gives, whoever was the first to answer."""
    words = disputed()
    slow = {
        turn: [Answer(words[turn], latency=late(place(turn.partition("/")[2])))]
        for turn in words
        if "chair" not in turn
    }
    ended, _ = debate(user, slow, said=words)
    assert ended.code == 0, ended.err
    twin = User(tmp_path / "twin", user.env)
    assert debate(twin, said=words)[0].code == 0
    ours, theirs = (
        {name: anonymous(one, data) for name, data in without_head(derived_of(one.session)).items()}
        for one in (user, twin)
    )
    assert ours == theirs


def anonymous(user: User, data: bytes) -> bytes:
    """Without the session's id and its head, which differ from one session to the next."""
    return re.sub(rb"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])", b"HEAD", data.replace(user.session.name.encode(), b"ID"))


# ---- other models and endpoints ----


def test_a_tier_is_mapped_to_another(user):
    table = Table(user, agreed())
    with FakeApi(table) as api:
        configure(user, api)
        assert user.council("run", "Q?", "--tier-map", "haiku=sonnet,sonnet=claude-opus-5-5").code == 0
    models = {request.body["model"] for request in api.prompts}
    assert models == {"claude-sonnet-5-5", "claude-opus-5-5"}
    assert receipt(user, "02-challenges/engineer")["asked"] == "claude-sonnet-5-5"
    assert receipt(user, E)["asked"] == "claude-opus-5-5"


def test_a_second_endpoint_has_a_key_of_its_own(user):
    table = Table(user, agreed())
    with FakeApi(table) as api, FakeApi(table) as other:
        configure(user, api, other)
        ended = user.council("run", "Q?", "--tier-map", "haiku=other/llama-4", OTHER_KEY="sk-other")
    assert ended.code == 0, ended.err
    assert {key_of(request) for request in api.prompts} == {KEY}
    assert {key_of(request) for request in other.prompts} == {"sk-other"}
    assert {request.body["model"] for request in other.prompts} == {"llama-4"}
    assert (len(api.prompts), len(other.prompts)) == (5, 4)
    assert receipt(user, "02-challenges/engineer")["usd"] is None
    assert "cost unknown" in ended.err


def test_a_second_endpoint_without_its_key_is_named(user):
    table = Table(user, agreed())
    with FakeApi(table) as api:
        configure(user, api)
        ended = user.council("run", "Q?", "--tier-map", "haiku=other/llama-4")
    assert ended.code == 4
    assert "OTHER_KEY" in ended.err


def test_an_endpoint_without_a_key_is_given_none(user):
    table = Table(user, agreed())
    with FakeApi(table) as other:
        configure(user, other)
        ended = user.council("run", "Q?", "--tier-map", "haiku=keyless/m,sonnet=keyless/m", ANTHROPIC_AUTH_TOKEN="tok")
    assert ended.code == 0, ended.err
    for request in other.prompts:
        assert KEY not in json.dumps(request.headers)
        assert "tok" not in json.dumps(request.headers)


def test_the_address_in_the_environment_goes_before_the_configured_one(user):
    table = Table(user, agreed())
    with FakeApi(table) as ours, FakeApi(table) as configured:
        configure(user, configured)
        assert user.council("run", "Q?", ANTHROPIC_BASE_URL=ours.url).code == 0
    assert not configured.requests


# ---- what is printed, and where ----


def test_one_json_object_and_nothing_else(user):
    ended, _ = debate(user, None, "--json")
    assert re.fullmatch(r"speaker: anthropic \(.*\)\n", ended.err)
    found = ended.json
    assert found["session_id"] == user.session.name
    assert found["state"] == "complete"
    assert found["outcome"] == "agreed"
    assert found["converged"] is True
    assert found["totals"]["calls"] == 9
    assert "Keep one database." in found["synthesis"]
    assert Path(found["archived_to"]).read_text() == (Path(found["folder"]) / "transcript.md").read_text()


def test_json_of_a_debate_that_pauses(user):
    ended, _ = debate(user, {E: [DOWN] * FOR_EVER}, "--json", budget=0.02)
    assert ended.code == 3
    assert ended.out == ""
    assert "council recover" in ended.last


def test_quiet_leaves_the_debate_alone(user):
    ended, _ = debate(user, {E: [DOWN]}, "--quiet")
    assert ended.code == 0
    assert re.fullmatch(r"speaker: anthropic \(.*\)\n", ended.err)
    assert agreed()[E] in ended.out


def test_results_stand_on_stdout_and_all_else_on_stderr(user):
    ended, _ = debate(user, {E: [DOWN]})
    no_escapes(ended)
    for words in agreed().values():
        assert words.strip() in ended.out
        assert words.strip() not in ended.err
    for told in ("speak", "trying again", "calls of at most", "session: ", "archive: "):
        assert told in ended.err
        assert told not in ended.out
    headings = [line for line in ended.out.splitlines() if line.startswith("##")]
    assert [line for line in headings if "Round" in line or "Council" in line] == [
        "## Council Debate: Shall we?",
        "### Round 1: Initial Positions",
        "### Round 2: Responses & Challenges",
        "### Council Synthesis",
    ]


def over_http(user: User, **how: object) -> subprocess.Popen[bytes]:
    return user.spawn("run", "Shall we?", **how)


@pytest.mark.parametrize("command", ["head", "full", "closed"])
def test_a_broken_stdout_does_not_lose_the_debate(command, user):
    with FakeApi(Table(user, agreed())) as api:
        configure(user, api)
        if command == "full":
            with Path("/dev/full").open("wb") as full:
                process = over_http(user, stdout=full)
        else:
            process = over_http(user)
        assert process.stderr is not None
        if process.stdout is not None:
            line = process.stdout.readline() if command == "head" else b""
            assert line in (b"", b"## Council Debate: Shall we?\n")
            process.stdout.close()
        err = process.stderr.read()
        process.stderr.close()
        assert process.wait(timeout=60) == (6 if command == "full" else 0), err
    assert b"Traceback" not in err
    assert b"9 calls" in err
    assert (b"the debate could not be printed: [Errno 28]" in err) is (command == "full")
    complete(user)


@pytest.mark.parametrize("words", [("status",), ("list", "--json"), ("show",), ("run", "--json", "Shall we?")])
def test_a_result_that_could_not_be_written_is_an_error(words, user):
    assert debate(user)[0].code == 0
    with FakeApi(Table(user, agreed())) as api, Path("/dev/full").open("wb") as full:
        configure(user, api)
        ended = user.process(*words, stdout=full)
    no_traceback(ended)
    assert ended.code == 6
    assert "could not be written" in ended.err or "No space left" in ended.err


CLOSED = """
import os, sys
os.close(1)
sys.stdout = sys.__stdout__ = None  # as an interpreter finds it
from council.cli import main
sys.exit(main())
"""


@pytest.mark.parametrize("words", [("status",), ("show",), ("list",), ("run", "Shall we?")])
def test_no_stdout_at_all(words, user):
    assert debate(user)[0].code == 0
    with FakeApi(Table(user, agreed())) as api:
        configure(user, api)
        ended = user.process(*words, stdout=None, program=CLOSED)
    no_traceback(ended)
    assert ended.code in (0, 6)


def test_an_interpreter_that_finds_no_stdout(user):
    assert debate(user)[0].code == 0
    ended = user.process("status", stdout=None, preexec_fn=lambda: os.close(1))
    no_traceback(ended)
    assert ended.code in (0, 6)


@pytest.mark.parametrize(("env", "live", "colour"), [
    ({"TERM": "xterm"}, True, True),
    ({"TERM": "xterm", "NO_COLOR": "1"}, True, False),
    ({"TERM": "dumb"}, False, False),
])  # fmt: skip
def test_a_terminal_has_a_live_line_and_colours_unless_it_wants_none(env, live, colour, user):
    with FakeApi(Table(user, agreed(), {E: [DOWN]}, latency=0.3)) as api:
        configure(user, api)
        seen, out = on_a_terminal(user, env)
    assert ("\x1b[J" in seen) is live
    assert (re.search(r"\x1b\[\d+m", seen) is not None) is colour
    assert "\x1b" not in out, "what is piped has no colours, wherever the progress goes"
    assert "trying again" in seen


def on_a_terminal(user: User, env: dict[str, str]) -> tuple[str, str]:
    """What a terminal on stderr shows, and what comes on stdout."""
    ours, theirs = pty.openpty()
    process = over_http(user, stderr=theirs, env=env)
    os.close(theirs)
    seen = b""
    while piece := read(ours):
        seen += piece
    os.close(ours)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    return seen.decode(), out.decode()


def read(terminal: int) -> bytes:
    """What a terminal shows next; nothing once nobody writes to it any more."""
    try:
        return os.read(terminal, 65536)
    except OSError:
        return b""
