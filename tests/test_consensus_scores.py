"""What the program measured: scores round by round, and who says the same again."""

from __future__ import annotations

from council.protocols.consensus import find_repeats, list_scores
from council.workflow.loader import load
from tests.scenes import absent, scene, turn

WORKFLOW = load(
    """---
name: tiny
seats: {members: [architect, engineer]}
phases:
  - {name: talk, rounds: [1, 3], reply: {sure: 0-1, score: 0-100}}
  - {name: end}
---
""",
    "tiny.md",
)
SAID = "Keep the monolith, because four engineers cannot run nine services at night."


def test_scores_are_told_round_by_round_and_silence_counts_as_nothing() -> None:
    found = scene(
        turn("architect", "talk", score=80), turn("engineer", "talk", score=61),
        turn("architect", "talk", 2, score=90), absent("engineer", "talk", 2, asked="score"),
    )  # fmt: skip
    assert [(one["round"], one["mean"]) for one in list_scores(found, WORKFLOW)] == [(1, 70.5), (2, 45.0)]
    assert list_scores(found, WORKFLOW)[1]["scores"] == [
        {"seat": "architect", "by": "Architect", "score": 90, "silence": ""},
        {"seat": "engineer", "by": "Engineer", "score": None, "silence": "not heard"},
    ]
    assert list_scores(found.at("end", 1, 1), WORKFLOW) == []
    assert len(list_scores(found.at("end", 1, 1), WORKFLOW, "talk")) == 2


def test_whoever_says_the_same_again_is_named_with_how_much_of_it() -> None:
    again = scene(
        turn("architect", "talk", body=SAID), turn("engineer", "talk", body="Split it along the teams."),
        turn("architect", "talk", 2, body=SAID), turn("engineer", "talk", 2, body="Nine services cost nine pagers."),
    )  # fmt: skip
    assert find_repeats(again) == [{"by": "Architect", "step": "talk", "share": 1.0}]
    assert find_repeats(scene(turn("architect", "talk", body=SAID))) == []
