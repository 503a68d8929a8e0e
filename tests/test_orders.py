"""Every order: who speaks when inside a step."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from council.engine.orders import order
from council.engine.scene import Scene
from council.errors import UsageError
from council.workflow.model import Ref, Seat

DOMAIN = tuple(Seat(name, "domain") for name in ("gc", "mc", "protocol"))
CROSSCUTTING = tuple(Seat(name, "crosscutting") for name in ("test", "security"))
ALL = (*DOMAIN, *CROSSCUTTING)


def batches(name: str, seats: tuple[Seat, ...] = ALL, round: int = 1, seed: str = "s", **args: Any) -> list[list[str]]:
    scene = Scene(seed, {}, {"domain": DOMAIN, "crosscutting": CROSSCUTTING}, phase="debate", round=round)
    return [[seat.name for seat in batch] for batch in order.call(Ref(name, args or None), seats, scene)]


@pytest.mark.parametrize("name", ["parallel", "sequential", "shuffle", "by_group"])
def test_nobody_is_no_batch(name: str) -> None:
    assert batches(name, ()) == []


@pytest.mark.parametrize("name", ["parallel", "sequential", "shuffle", "by_group"])
def test_everybody_speaks_once(name: str) -> None:
    assert sorted(itertools.chain(*batches(name))) == sorted(seat.name for seat in ALL)


def test_parallel_sequential_and_by_group() -> None:
    assert batches("parallel") == [["gc", "mc", "protocol", "test", "security"]]
    assert batches("sequential") == [["gc"], ["mc"], ["protocol"], ["test"], ["security"]]
    assert batches("by_group") == [["gc", "mc", "protocol"], ["test", "security"]]
    assert batches("by_group", (*CROSSCUTTING, *DOMAIN[:1])) == [["test", "security"], ["gc"]]


def test_shuffle_moves_its_group_alone_which_comes_first() -> None:
    for seed in map(str, range(20)):
        mixed = batches("shuffle", (*CROSSCUTTING, *DOMAIN), seed=seed, group="domain")
        assert sorted(itertools.chain(*mixed[:3])) == ["gc", "mc", "protocol"]
        assert mixed[3:] == [["test"], ["security"]]


def test_shuffle_without_a_group_moves_everybody() -> None:
    assert len({batches("shuffle", seed=str(seed))[-1][0] for seed in range(60)}) == len(ALL)


def test_shuffle_holds_for_an_epoch_and_replays() -> None:
    orders = [batches("shuffle", round=round, group="domain", every="3") for round in range(1, 11)]
    assert orders == [batches("shuffle", round=round, group="domain", every="3") for round in range(1, 11)]
    assert orders[0] == orders[1] == orders[2]
    assert orders[3] == orders[4] == orders[5]
    seeds = [str(seed) for seed in range(30)]
    changed = [
        seed
        for seed in seeds
        if batches("shuffle", seed=seed, every="3") != batches("shuffle", round=4, seed=seed, every="3")
    ]
    assert len(changed) > 20


@pytest.mark.parametrize(
    ("args", "why"),
    [
        ({"group": "domains"}, 'names the group "domains"'),
        ({"every": "0"}, "must be a number of rounds"),
        ({"every": "often"}, "must be a number of rounds"),
        ({"every": "²"}, "must be a number of rounds"),
        ({"every": "-1"}, "must be a number of rounds"),
    ],
)
def test_shuffle_says_what_it_cannot_do(args: dict[str, str], why: str) -> None:
    with pytest.raises(UsageError, match=why):
        order.call(Ref("shuffle", args), ALL, Scene("s", {}, {"domain": DOMAIN}))


def test_every_order_has_its_sentence() -> None:
    assert set(order.known) == {
        "parallel",
        "sequential",
        "shuffle",
        "by_group",
        "unmuted",
        "seated",
        "still",
        "tree",
        "winner",
    }
    assert all((function.__doc__ or "").endswith(".") for function in order.known.values())
