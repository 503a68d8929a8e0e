"""The report of a comparison: exact statistics, every failure, the same bytes from the same folder."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import jsonschema
import pytest

from council.lab import plot
from council.lab import report as reports
from council.lab.statistics import Pairs, cover, pair, wilson
from tests.bubblewrap import needs_sandbox
from tests.fakeapi import FakeApi
from tests.helpers import CODE, User
from tests.lab_worlds import Model, fair, user_of, words, write_set


def test_the_interval_covers_the_truth_as_often_as_it_says() -> None:
    """Exactly, over every outcome of the binomial: at a true share of 0.6, for every number of tasks of HumanEval."""
    covered = {of: cover(of, 0.6) for of in range(20, 165)}
    assert min(covered.values()) >= 0.93
    assert round(min(covered.values()), 4) == 0.935


@pytest.mark.parametrize(
    ("solved", "of", "low", "high"),
    [(0, 0, 0, 1), (0, 10, 0, 0.2775), (10, 10, 0.7225, 1), (24, 40, 0.446, 0.7365), (81, 263, 0.2553, 0.3662)],
)
def test_wilson(solved: int, of: int, low: float, high: float) -> None:
    interval = wilson(solved, of)
    assert (interval.low, interval.high) == pytest.approx((low, high), abs=1e-4)


def test_mcnemar_counts_the_tasks_on_which_the_arms_differ() -> None:
    found = pair([(True, True)] * 3 + [(True, False)] + [(False, True)] * 8 + [(False, False)])
    assert found == Pairs(3, 1, 8, 1)
    assert found.p == pytest.approx(2 * (1 + 9) / 2**9)
    assert Pairs(5, 0, 0, 5).p == 1
    assert Pairs(0, 2, 2, 0).p == 1


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> tuple[User, Path]:
    """A comparison of which the second half was never begun."""
    place = tmp_path_factory.mktemp("lab")
    with FakeApi(Model(fair(0.4, seed=2))) as api:
        user, folder = user_of(place, api.url), place / "lab"
        ended = user.council(*words(write_set(place, 6), folder, "--limit", "2"))
        assert ended.code == 0, ended.err
    plan = json.loads((folder / "lab.json").read_text())
    more = {"id": "Plus/9", "hash": "", "sessions": {arm: f"plus-9-{arm}" for arm in plan["arms"]}}
    (folder / "lab.json").write_text(json.dumps({**plan, "tasks": [*plan["tasks"], more]}))
    return user, folder


def document(user: User, folder: Path) -> Any:
    return user.council("lab", "report", folder, "--json").json


@needs_sandbox
def test_the_report_counts_what_every_arm_has_finished(compared: tuple[User, Path]) -> None:
    found = document(*compared)
    jsonschema.validate(found, json.loads((CODE / "docs" / "lab.schema.json").read_text("utf-8")))
    assert (found["planned"], found["tasks"], found["set"]) == (3, 2, "file:tasks.jsonl")
    assert found["unfinished"] == ["Plus/9"]
    assert found["uneven"] == []
    calls = {arm["arm"]: arm["calls"] for arm in found["arms"]}
    assert calls["best-of-n"] == calls["reflexion"] >= calls["single"] == 2
    for arm in found["arms"]:
        states = [one["state"] for one in found["results"] if one["arm"] == arm["arm"]]
        assert (arm["solved"], arm["of"]) == (states.count("solved"), 2)
        assert arm["low"] <= arm["pass_at_1"] <= arm["high"]
    assert len(found["pairs"]) == 3


@needs_sandbox
def test_the_same_folder_gives_the_same_files(compared: tuple[User, Path], tmp_path: Path) -> None:
    user, folder = compared
    moved = tmp_path / "elsewhere"
    shutil.copytree(folder, moved)
    made = []
    for place in (folder, moved):
        assert user.council("lab", "report", place, "--to", tmp_path / "report").code == 0
        made.append([(tmp_path / f"report{ending}").read_bytes() for ending in (".md", ".json", ".svg")])
    assert made[0] == made[1]
    text = made[0][0].decode()
    failures = [one for one in document(*compared)["results"] if one["state"] == "failed"]
    assert failures
    assert all(f"| {one['task']} | {one['arm']} | {one['why']} |" in text for one in failures)
    assert "](report.svg)" in text
    assert str(folder) not in text


@needs_sandbox
def test_a_session_that_is_damaged_or_given_up_counts_as_failed(compared: tuple[User, Path], tmp_path: Path) -> None:
    user, folder = compared
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    before = document(user, folder)
    solved = next(one for one in before["results"] if one["state"] == "solved")
    turn = next((copy / "STATE" / "council-sessions" / solved["session"] / "turns").rglob("*.md"))
    turn.write_text(turn.read_text() + "edited")
    after = document(user, copy)
    assert after["tasks"] == before["tasks"]
    (failed,) = (one for one in after["results"] if one["session"] == solved["session"])
    assert failed["state"] == "failed"
    assert "cannot be read" in failed["why"]


@needs_sandbox
def test_the_plot_shows_every_arm_and_stays_in_its_frame(compared: tuple[User, Path]) -> None:
    report = reports.compose(compared[1])
    root = ET.fromstring(plot.draw(report))
    width, height = map(float, root.attrib["viewBox"].split()[2:])
    space = "{http://www.w3.org/2000/svg}"
    text = " ".join("".join(one.itertext()) for one in root.iter(f"{space}text"))
    assert all(arm.arm in text and f"{arm.solved} of {arm.of}" in text for arm in report.arms)
    for one in root.iter(f"{space}circle"):
        radius = float(one.attrib["r"])
        assert radius <= float(one.attrib["cx"]) <= width - radius
        assert radius <= float(one.attrib["cy"]) <= height - radius
    assert len(list(root.iter(f"{space}circle"))) == 3
    assert "prefers-color-scheme: dark" in plot.draw(report)


def test_a_folder_without_a_plan_is_refused(tmp_path: Path) -> None:
    ended = User(tmp_path).council("lab", "report", tmp_path)
    assert ended.code == 2
    assert "`council lab run` writes it" in ended.err


def test_what_a_set_says_is_no_markup() -> None:
    assert reports.cite("a|<img src=x>\x1b[2J&") == "a\\|&lt;img src=x&gt;&amp;"
