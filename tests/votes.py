"""What `pref_voting` says of the random polls of `test_voting.py`, written down once: it takes 600 MB to install.

`python -m tests.votes` writes `fixtures/votes.txt` anew, where it is installed. A line a poll, its parts apart by bars.
Whole rankings: who leads by plurality, majority, Borda and Black, the Condorcet winner, and `cycle`. Ties and rankings
cut short: the firsts of each option, majority, Borda, the Condorcet winner, and `cycle`. Scores: who leads. `-`: nobody
voted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from random import Random
from typing import Any

from council.engine.voting import Ballot

VOTES = Path(__file__).parent / "fixtures" / "votes.txt"
KINDS = ("whole rankings", "ties and rankings cut short", "scores")
NOBODY = "-"
PROFILES = 3000


def recorded() -> dict[str, list[str]]:
    """The lines by the kind of poll."""
    found: dict[str, list[str]] = {}
    for line in VOTES.read_text("utf-8").splitlines():
        if line.startswith("# "):
            found[line[2:]] = []
        else:
            found[list(found)[-1]].append(line)
    return found


def letters(numbers: Iterable[int]) -> str:
    return "".join(chr(ord("a") + number) for number in sorted(numbers))


def whole(polls: Iterable[tuple[list[str], list[Any]]]) -> Iterator[str]:
    from pref_voting.combined_methods import blacks
    from pref_voting.other_methods import absolute_majority
    from pref_voting.profiles import Profile
    from pref_voting.scoring_methods import borda, plurality

    for _, ballots in polls:
        theirs = Profile([[ord(one) - ord("a") for one in sorted(b.places, key=b.place)] for b in ballots])
        leading = (letters(method(theirs)) for method in (plurality, absolute_majority, borda, blacks))
        yield "|".join([*leading, *pairs(theirs)])


def cut_short(polls: Iterable[tuple[list[str], list[Any]]]) -> Iterator[str]:
    from pref_voting.profiles_with_ties import ProfileWithTies
    from pref_voting.scoring_methods import borda_for_profile_with_ties

    for options, ballots in polls:
        if not any(one.places for one in ballots):
            yield NOBODY
            continue
        ranks = [{ord(option) - ord("a"): place + 1 for option, place in one.places.items()} for one in ballots]
        theirs = ProfileWithTies(ranks, candidates=[ord(one) - ord("a") for one in options])
        theirs.use_extended_strict_preference()
        firsts = theirs.plurality_scores_ignoring_overvotes()
        majority = [one for one in firsts if firsts[one] >= theirs.strict_maj_size()]
        leading = map(letters, (majority, borda_for_profile_with_ties(theirs)))
        yield "|".join([" ".join(str(firsts[one]) for one in sorted(firsts)), *leading, *pairs(theirs)])


def pairs(theirs: Any) -> Iterator[str]:
    winner = theirs.condorcet_winner()
    yield "" if winner is None else letters([winner])
    yield "cycle" if theirs.weak_condorcet_winner() is None else ""


def scores(polls: Iterable[tuple[list[str], list[dict[str, int]]]]) -> Iterator[str]:
    from pref_voting.grade_methods import score_voting
    from pref_voting.grade_profiles import GradeProfile

    for options, given in polls:
        if not any(any(row.values()) for row in given):
            yield NOBODY
            continue
        grades = [{ord(option) - ord("a"): score for option, score in row.items()} for row in given]
        candidates = [ord(one) - ord("a") for one in options]
        yield letters(
            score_voting(GradeProfile(grades, list(range(0, 101, 20)), candidates=candidates), ungraded_score=0)
        )


def profiles(linear: bool, seed: int) -> Iterator[tuple[list[str], list[Ballot]]]:
    """Random polls of 2 to 5 options and 1 to 9 voters, who may leave options out or put some beside each other."""
    dice = Random(seed)
    for _ in range(PROFILES):
        options = list("abcde"[: dice.randint(2, 5)])
        ballots = []
        for _ in range(dice.randint(1, 9)):
            order = dice.sample(options, len(options) if linear else dice.randint(0, len(options)))
            places = list(range(len(order)))
            if not linear and dice.random() < 0.4:
                places = sorted(dice.choices(range(3), k=len(order)))
            ranks = sorted(set(places))
            ballots.append(Ballot({option: ranks.index(place) for option, place in zip(order, places, strict=True)}))
        yield options, ballots


def scored_polls(polls: Iterable[tuple[list[str], list[Any]]]) -> Iterator[tuple[list[str], list[dict[str, int]]]]:
    """The same polls with points from 0 to 100 in place of ranks."""
    dice = Random(4)
    for options, ballots in polls:
        yield options, [{option: dice.randint(0, 5) * 20 for option in one.places} for one in ballots]


def main() -> None:
    lines = (
        whole(profiles(linear=True, seed=2)),
        cut_short(profiles(linear=False, seed=3)),
        scores(scored_polls(profiles(linear=False, seed=4))),
    )
    parts = [f"# {kind}\n" + "".join(f"{line}\n" for line in told) for kind, told in zip(KINDS, lines, strict=True)]
    VOTES.write_text("".join(parts), encoding="utf-8")


if __name__ == "__main__":
    main()
