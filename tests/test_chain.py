"""The chain: what each receipt says of everything before its turn, and the head of the session."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from council.record import chain
from council.record.turn_file import Receipt
from tests.forgery import FIRST, LAST, LATER, MEMBERS, WORDS, hold, read, rechain, reseal, rewrite
from tests.helpers import User, script
from tests.recordings import RECORDED, Recorded, done, finish


def links(session: Path) -> dict[str, str | None]:
    return {turn: receipt.after for turn, receipt in read(session).receipts.items()}


def test_turns_of_one_batch_have_the_same_past_in_whatever_order_they_came(tmp_path: Path) -> None:
    user = User(tmp_path)
    done(user.council("start", "Shall we?", *[f"--only={member}" for member in MEMBERS]))
    for phase in ("01-positions", "02-challenges"):
        for member in reversed(MEMBERS):
            done(user.council("record", "last", f"{phase}/{member}", stdin=WORDS[f"{phase}/{member}"]))
    found = links(user.session)
    assert found[FIRST] == found["01-positions/engineer"] == chain.link(chain.base(read(user.session).metadata), {})
    assert found[LATER] == found["02-challenges/architect"] != found[FIRST]


def test_a_second_try_has_the_first_as_its_past(tmp_path: Path) -> None:
    unreadable = "We should.\n\n## Stance\nperhaps\n"
    user = hold(tmp_path, {**WORDS, LATER: unreadable, f"{LATER}.2": WORDS[LATER]})
    session = read(user.session)
    base, hashes = chain.base(session.metadata), session.hashes
    positions = {turn: hashes[turn] for turn in hashes if turn.startswith("01-")}
    assert session.receipts[LATER].after == chain.link(base, positions)
    assert session.receipts[f"{LATER}.2"].after == chain.link(base, {**positions, LATER: hashes[LATER]})
    assert session.receipts[LAST].after == chain.link(
        base, {turn: file for turn, file in hashes.items() if turn != LAST}
    )


def test_the_head_is_the_link_after_the_last_turn(tmp_path: Path) -> None:
    """So the head of a session that went on is in the receipts of the turns that followed."""
    words = {turn: said for turn, said in WORDS.items() if turn != LAST}
    user = hold(tmp_path, words, code=4)
    before = chain.head(read(user.session))
    done(user.council("recover", "--from", script(user, WORDS)))
    session = read(user.session)
    assert session.receipts[LAST].after == before
    assert chain.head(session) == chain.link(chain.base(session.metadata), session.hashes) != before


@pytest.mark.parametrize("turn", [FIRST, LATER])
def test_a_turn_with_its_seals_computed_again_is_found_by_the_turns_after_it(turn: str, tmp_path: Path) -> None:
    user = hold(tmp_path)
    rewrite(user.session, turn, lambda receipt, body: (receipt, body.replace("database", "warehouse") + "Or two."))
    for command in ("status", "recover", "build"):
        ended = user.council(command)
        assert ended.code == 1
        assert "was not recorded after the turns" in ended.text
    rechain(user.session)
    assert user.council("show").code == 0


@pytest.mark.parametrize("fact", ["topic", "started_at", "tiers", "options", "stranger"])
def test_a_fact_that_was_fixed_when_the_session_began_is_in_every_link(fact: str, tmp_path: Path) -> None:
    user = hold(tmp_path)
    other = {
        "topic": "Shall they?",
        "started_at": "2020-01-01T00:00:00+00:00",
        "tiers": {},
        "options": {"words": "1-2"},
    }
    reseal(user.session, **{fact: other.get(fact, "x")})
    ended = user.council("verify")
    assert ended.code == 5
    assert ended.out.count("was not recorded after") == len(WORDS)


def test_a_receipt_without_its_link_is_found(tmp_path: Path) -> None:
    user = hold(tmp_path)

    def strip(receipt: Receipt, body: str) -> tuple[Receipt, str]:
        return replace(receipt, after=None), body

    rewrite(user.session, LAST, strip)
    assert f"{LAST}.md: was not recorded after" in user.council("verify").out


def test_a_lost_turn_with_later_turns_is_not_asked_for_again(tmp_path: Path) -> None:
    """The later turns answered words that nobody has any more. Without them, it is asked for again."""
    user = hold(tmp_path)
    (user.session / "turns" / f"{FIRST}.md").unlink()
    ended = user.council("recover", "--from", script(user, WORDS))
    assert ended.code == 1
    assert f"was recorded after {FIRST}, which is missing now" in ended.err
    assert "move this turn away too" in ended.err
    for path in (user.session / "turns").glob("0[2-4]*/*.md"):
        path.unlink()
    for path in (user.session / "briefs").glob("0[2-4]*/*.md"):
        path.unlink()
    done(user.council("recover", "--from", script(user, WORDS)))
    done(user.council("verify"))


@pytest.mark.parametrize(
    "name", ["debate-mid-batch", "debate-mid-batch-0.2.0", "debate-asked-again", "perspectives-at-the-gate"]
)
def test_a_session_of_an_earlier_version_goes_on_with_a_chain(name: str, tmp_path: Path) -> None:
    recorded = Recorded(RECORDED / name)
    user = recorded.restore(tmp_path)
    old = read(user.session).receipts
    finish(user, recorded.case)
    done(user.council("verify"))
    found = links(user.session)
    assert {turn for turn, after in found.items() if after is None} == set(old)
    assert len(found) > len(old)
    turn = next(iter(old))
    rewrite(user.session, turn, lambda receipt, body: (receipt, body + "\nAnd more.\n"))
    assert "was not recorded after the turns" in user.council("verify").out


def test_who_went_on_with_a_session_is_in_its_head(tmp_path: Path) -> None:
    user = User(tmp_path)
    done(user.council("start", "Shall we?", *[f"--only={member}" for member in MEMBERS]))
    done(user.council("record", "last", FIRST, stdin=WORDS[FIRST]))
    done(user.council("recover", "--speaker", "replay", "--from", script(user, WORDS)))
    facts = json.loads((user.session / "metadata.json").read_bytes())
    assert (facts["speaker"], facts["continued_by"]) == ("assistant", "replay")
    before = chain.head(read(user.session))
    reseal(user.session, continued_by="anthropic")
    assert chain.head(read(user.session)) != before
