"""Prompt caching: where a brief is cut, what is asked to be kept, who waits for whom, and what it saves."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace

import pytest

from council.config.models import Endpoint, Model
from council.runner.prompt_cache import LIFETIME, PromptCache, breakpoints
from council.speakers.anthropic import _blocks
from council.speakers.base import Brief
from tests.fakeapi import Answer, Cache, FakeApi, Request
from tests.growth import compare
from tests.helpers import MEMBERS, Table, User, agreed, disputed

MODEL = Model("sonnet", Endpoint("anthropic", "http://x"), "one")
TOPIC = "Should we keep one database? " + "The report says that it holds the load of a whole year. " * 400
CONFIG = "endpoints: {{anthropic: {{base_url: {url}}}}}\ncache_from: {least}\nretry: {{first_wait: 0.01, budget: 1}}"


def brief(seat: str = "engineer", lengths: tuple[int, ...] = (400, 600), tail: int = 100, **changed) -> Brief:
    """A brief of pieces of these lengths, with a mark after each, and a shared tail behind the last."""
    pieces = [chr(ord("a") + number) * length for number, length in enumerate((*lengths, tail))]
    whole = Brief(f"01-positions/{seat}", seat, "".join(pieces), f" {seat}", MODEL)
    return replace(whole, **{"marks": tuple(itertools.accumulate(lengths)), **changed})


def test_ten_times_as_many_marks_take_about_ten_times_as_long():
    """A debate of many turns has a mark after each, and every brief is looked up."""

    def look_up(many: int) -> None:
        whole, cache = brief(lengths=(100,) * many), PromptCache(10)
        cache.answer_began(whole)
        assert cache.cached(whole) == len(whole.shared)

    assert compare(lambda: look_up(4_000), lambda: look_up(400), most=30) <= 30


# ---- breakpoints and blocks ----


@pytest.mark.parametrize(
    ("lengths", "least", "cached"),
    [
        ((400, 600), 100, (400, 1000, 1100)),
        ((400, 600), 101, (1000, 1100)),
        ((400, 600), 275, (1100,)),
        ((400, 600), 276, ()),
        ((), 25, (100,)),
        ((400, 1, 1, 1, 1, 1, 600), 100, (400, 1005, 1105)),
    ],
)
def test_a_prefix_is_cached_from_a_length_on(lengths, least, cached):
    assert breakpoints(brief(lengths=lengths), least) == cached


def test_nothing_shared_is_nothing_to_cache():
    assert breakpoints(brief(lengths=(), tail=0), 0) == ()


@pytest.mark.parametrize("least", [0, 100, 101, 260, 275, 276])
@pytest.mark.parametrize("lengths", [(), (400,), (400, 600), (0, 400, 400), (100,) * 30])
def test_blocks_say_what_the_brief_says(lengths, least):
    whole = brief(lengths=lengths)
    whole = replace(whole, keep=breakpoints(whole, least))
    blocks = _blocks(whole)
    assert "".join(block["text"] for block in blocks) == whole.text
    assert sum("cache_control" in block for block in blocks) == len(set(breakpoints(whole, least))) <= 4
    assert all(block["text"].strip() for block in blocks)
    assert "cache_control" not in blocks[-1], "what is a seat's own is nobody else's"


def test_a_short_brief_is_not_cut():
    assert [set(block) for block in _blocks(brief())] == [{"type", "text"}] * 2


@pytest.mark.parametrize("own", ["", "\n", " \n\n"])
def test_what_a_brief_ends_with_is_sent_even_if_it_is_white_space(own):
    whole = replace(brief(), own=own)
    assert "".join(block["text"] for block in _blocks(whole)) == whole.text
    assert all(block["text"].strip() for block in _blocks(whole))


# ---- who waits for whom ----


def waiting(cache: PromptCache, *briefs: Brief) -> set[str]:
    return {turn.partition("/")[2] for turn, start in cache.starts(briefs).items() if start.after}


def test_one_of_each_model_speaks_first_over_a_long_new_prefix():
    other = replace(MODEL, name="two")
    batch = [brief("a"), brief("b"), brief("c", model=other), brief("d", model=other)]
    starts = (cache := PromptCache(100)).starts(batch)
    assert waiting(cache, *batch) == {"b", "d"}
    assert starts["01-positions/b"].after is starts["01-positions/a"].begun
    assert starts["01-positions/d"].after is starts["01-positions/c"].begun


def test_nobody_waits_for_little_or_for_what_is_kept_already():
    clock = [0.0]
    cache = PromptCache(100, lambda: clock[0])
    assert waiting(PromptCache(300), brief("a"), brief("b")) == set(), "too short"
    assert waiting(cache, brief("a")) == set(), "nobody else is there"
    cache.answer_began(brief("a"))
    assert waiting(cache, brief("a"), brief("b")) == set(), "it is warm"
    longer = [brief(seat, lengths=(400, 600, 150), tail=100) for seat in "abcd"]
    assert waiting(cache, *longer[:2]) == set(), "of 1,250 characters 1,000 are warm: too little to wait for"
    assert waiting(cache, *longer) == {"b", "c", "d"}, "for three it is enough"
    clock[0] = LIFETIME
    assert waiting(cache, brief("a"), brief("b")) == {"b"}, "the API has forgotten it"


def test_nobody_waits_where_answers_take_long_to_begin():
    """As measured in this run: a wait of a whole answer would double the round."""
    cache = PromptCache(100)
    assert waiting(cache, brief("a"), brief("b")) == {"b"}, "nothing was measured yet"
    cache.call_ended(waited=1.0, total=2.0)
    assert waiting(cache, brief("a"), brief("b")) == set()
    cache.call_ended(waited=1.0, total=4.0)
    assert waiting(cache, brief("a"), brief("b")) == {"b"}, "the first call also waits for what is made once"


def test_who_does_not_wait_writes_nothing():
    """All of them would pay for what one alone writes; what is kept already, each of them reads."""
    cache = PromptCache(100)
    cache.call_ended(waited=1.0, total=1.0)
    starts = cache.starts([brief("a"), brief("b"), stranger := brief("c", shared="z" * 1100)])
    assert [start.keep for start in starts.values()] == [(400, 1000, 1100), (), ()]
    cache.answer_began(brief("a"))
    longer = [brief(seat, lengths=(400, 600, 500)) for seat in "ab"]
    assert [start.keep for start in cache.starts([*longer, stranger]).values()] == [(400, 1500, 1600), (1000,), ()]


def test_only_what_is_common_counts():
    stranger = brief("b", shared="z" * 1100)
    assert waiting(PromptCache(100), brief("a"), stranger) == set()
    assert waiting(PromptCache(100), brief("a"), stranger, brief("c")) == {"c"}


# ---- end to end, with an API that caches ----


def debate(tmp_path, least: int, topic: str = TOPIC, **faults) -> tuple[User, FakeApi]:
    user = User(tmp_path / str(least), {"ANTHROPIC_API_KEY": "k"})
    table = Table(user, disputed(), faults.get("faults"), latency=0.15, chunks=4, delay=0.4)
    with FakeApi(table, cache=Cache()) as api:
        user.configure(CONFIG.format(url=api.url, least=least))
        ended = user.council("run", topic, "--speaker", "anthropic")
    assert ended.code == 0, ended.err
    return user, api


def billed(user: User) -> float:
    """Input tokens with their weights: new, written, read."""
    total = 0.0
    for path in user.session.rglob("turns/*/*.md"):
        lines = (line.partition(": ") for line in path.read_text().split("\n---\n")[0].splitlines())
        keys = {key: value for key, _, value in lines}
        new, written, read = (json.loads(keys[name]) for name in ("input", "cache_write", "cache_read"))
        total += new + 1.25 * written + 0.1 * read
    return total


def without_keys(request: Request) -> str:
    """Fences have a session's keys in them."""
    return "".join(line for line in request.text.splitlines(keepends=True) if 'key="' not in line)


def test_a_long_topic_is_paid_for_once_a_model(tmp_path):
    cached, with_it = debate(tmp_path, 2000)
    naive, without = debate(tmp_path, 999_999_999)
    assert sorted(map(without_keys, with_it.prompts)) == sorted(map(without_keys, without.prompts))
    assert billed(cached) < 0.4 * billed(naive)
    marked = [block for request in with_it.prompts for block in request.body["messages"][0]["content"]]
    assert any("cache_control" in block for block in marked)
    assert not any("cache_control" in json.dumps(request.body["messages"]) for request in without.prompts)
    for user in (cached, naive):
        for request, path in zip(
            sorted(r.text for r in (with_it if user is cached else without).prompts),
            sorted(path.read_text() for path in user.session.rglob("briefs/*/*.md")),
            strict=True,
        ):
            assert request == path
        assert user.council("verify").code == 0


def rounds_of(api: FakeApi) -> list[list[tuple[str, str]]]:
    """What was asked and what began, in its order, four seats a round."""
    events = [(kind, text) for kind, text, _ in api.times]
    return [events[at : at + 8] for at in range(0, 24, 8)]


def test_the_first_begins_before_the_others_are_asked(tmp_path):
    """In the third round the first round's model is asked again: it has the topic, and what else is new is little."""
    _, api = debate(tmp_path, 2500)
    positions, challenges, closing = ([kind for kind, _ in events] for events in rounds_of(api))
    assert positions == challenges == ["asked", "began", *["asked"] * 3, *["began"] * 3]
    assert closing[:4] == ["asked"] * 4


def test_without_a_long_prefix_all_are_asked_at_once(tmp_path):
    _, api = debate(tmp_path, 2000, "Shall we?")
    for events in rounds_of(api):
        assert [kind for kind, _ in events][:4] == ["asked"] * 4


def test_the_others_go_on_when_the_first_fails(tmp_path):
    down = [Answer(fault="status", status=529)] * 2
    user, _ = debate(tmp_path, 2000, faults={f"01-positions/{MEMBERS[0]}": down})
    assert user.council("verify").code == 0


def test_the_others_are_not_left_waiting_when_the_first_is_denied(tmp_path):
    user = User(tmp_path, {"ANTHROPIC_API_KEY": "k"})
    table = Table(user, agreed(), {f"01-positions/{MEMBERS[0]}": [Answer(fault="status", status=400)]})
    with FakeApi(table) as api:
        user.configure(CONFIG.format(url=api.url, least=2000))
        assert user.council("run", TOPIC, "--speaker", "anthropic").code == 4
    assert len(api.prompts) == 4
