"""Every file of a session, damaged in every way that we know: nothing crashes, hangs, lies or makes it worse."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from council.record import session
from tests.damage import (
    DAMAGED,
    HALF_DONE,
    ON_FINISHED,
    RECORD,
    SPECIAL,
    SPOKEN,
    WORDS,
    A,
    Case,
    Damaged,
    begin,
    check,
    check_open,
    copy,
    half_done_cases,
    name_of,
    resealed,
)
from tests.forgery import rechain
from tests.helpers import User, no_traceback, picture


@pytest.fixture(scope="session")
def finished(tmp_path_factory) -> User:
    return begin(tmp_path_factory.mktemp("finished"), WORDS)


@pytest.fixture(scope="session")
def half_done(tmp_path_factory) -> User:
    """All of the closing round but one member's turn."""
    return begin(tmp_path_factory.mktemp("half-done"), HALF_DONE)


def some_of(cases: list[Case]) -> list[Case]:
    """An eighth of them, and each file, mutation and expectation at least once; what is special is always done.

    `scripts/prove mutations` does all.
    """
    chosen, seen = list[Case](), set[tuple[str, str]]()
    for number, case in enumerate(cases):
        marks = {("file", case.file), ("name", case.name), ("expected", f"{case.expected} {case.file.split('/')[0]}")}
        if number % 8 == 0 or case in SPECIAL or not marks <= seen:
            chosen.append(case)
            seen |= marks
    return chosen


@pytest.mark.parametrize("case", some_of(ON_FINISHED), ids=name_of)
def test_a_finished_session(case: Case, finished: User, tmp_path: Path):
    check(copy(finished, tmp_path), case)


@pytest.mark.parametrize("case", some_of([*half_done_cases()]), ids=name_of)
def test_a_session_that_is_not_over(case: Case, half_done: User, finished: User, tmp_path: Path):
    check_open(copy(half_done, tmp_path), case, finished)


# ---- what is no mutation of one file ----


def test_a_half_done_session_pauses_and_says_why(half_done, tmp_path):
    user = copy(half_done, tmp_path)
    (user.session / "runner.json").write_text('{"paused": "the line was cut"}')
    assert ": paused (the line was cut)" in user.council("status").out
    (user.session / "runner.json").unlink()
    assert ": interrupted (before 03-closing/engineer)" in user.council("status").out


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read anything")
@pytest.mark.parametrize("file", [*RECORD, f"turns/{SPOKEN[0]}.md", f"briefs/{SPOKEN[0]}.md"])
def test_a_file_that_may_not_be_read(file, finished, tmp_path):
    case = Case("unreadable", file, lambda path: path.chmod(0), DAMAGED)
    damaged = Damaged(copy(finished, tmp_path), Case("none", file, lambda path: path.touch(), DAMAGED))
    case.mutate(damaged.user.session / file)
    for command in ("status", "verify", "show", "recover"):
        ended = damaged.council(command)
        assert ended.code in (1, 5, 6)
        damaged.names(ended)
        assert "complete" not in ended.out


def test_a_turn_of_another_session(finished, tmp_path):
    """It answers another brief: the fences of each session have keys of their own."""
    other = begin(tmp_path / "other", WORDS)
    foreign = (other.session / f"turns/{A}.md").read_bytes()
    check(copy(finished, tmp_path), Case("foreign", f"turns/{A}.md", lambda path: path.write_bytes(foreign), DAMAGED))


def test_a_session_that_is_a_link_is_not_followed(finished, tmp_path):
    user = copy(finished, tmp_path)
    folder = user.session
    folder.rename(user.root / "elsewhere")
    folder.symlink_to(user.root / "elsewhere")
    assert user.council("list", "--json").json[0]["state"] == "damaged"
    before = picture(user.root)
    for command in ("status", "show", "recover", "build", "next", "archive"):
        ended = user.council(command)
        no_traceback(ended)
        assert (ended.code, folder.name in ended.err) == (1, True)
    assert user.council("verify").code == 5
    assert picture(user.root) == before


@pytest.mark.parametrize("lost", [("metadata.json",), ("metadata.json", "turns"), ("metadata.json", "topic.md")])
def test_a_new_debate_leaves_a_damaged_session_alone(lost, finished, tmp_path):
    """What is swept away when a debate begins is what never began; a session without its metadata did begin."""
    user = copy(finished, tmp_path)
    damaged = user.session
    for name in lost:
        shutil.rmtree(damaged / name) if (damaged / name).is_dir() else (damaged / name).unlink()
    before = picture(damaged)
    assert user.council("run", "Another?", "--speaker", "replay", "--from", user.work / "script.yaml").code in (0, 4)
    assert picture(damaged) == before


def test_a_new_debate_leaves_a_linked_folder_alone(finished, tmp_path):
    user = copy(finished, tmp_path)
    foreign = user.root / "foreign"
    foreign.mkdir()
    for name in (".lock", "topic.md", "workflow.md"):
        (foreign / name).write_text("mine")
    (user.session.parent / "20200101-000000-00000000").symlink_to(foreign)
    before = picture(foreign)
    assert user.council("run", "Another?", "--speaker", "replay", "--from", user.work / "script.yaml").code in (0, 4)
    assert picture(foreign) == before


def test_what_an_earlier_version_left_before_it_began_is_no_session(finished, tmp_path):
    """Only hidden folders are swept; one with a session's name may be somebody's."""
    user = copy(finished, tmp_path)
    unborn = user.session.parent / "20200101-000000-00000000"
    unborn.mkdir()
    for name in (".lock", "topic.md", f".workflow.md.0123{session.files.TEMP}"):
        (unborn / name).touch()
    assert user.council("run", "Another?", "--speaker", "replay", "--from", user.work / "script.yaml").code in (0, 4)
    assert {path.name for path in unborn.iterdir()} == {".lock", "topic.md", f".workflow.md.0123{session.files.TEMP}"}
    assert unborn.name not in user.council("list").out


def test_a_forged_endpoint_is_no_endpoint(half_done, tmp_path):
    """The names of endpoints stand in a session, their addresses never do."""
    user = copy(half_done, tmp_path)
    for endpoint in ("http://127.0.0.1:1/", "https://evil.example"):
        resealed(speaker="anthropic", tiers={"sonnet": {"endpoint": endpoint, "model": "m", "base_url": endpoint}})(
            user.session / "metadata.json"
        )
        rechain(user.session)
        ended = user.council("recover", ANTHROPIC_API_KEY="sk-ant-none")
        no_traceback(ended)
        assert ended.code == 2
        assert "never from a session" in ended.err


def test_there_are_hundreds_of_them_and_those_that_are_tried_here_are_of_every_kind():
    for cases in (ON_FINISHED, [*half_done_cases()]):
        some = some_of(cases)
        assert {case.file for case in some} == {case.file for case in cases}
        assert {case.name for case in some} == {case.name for case in cases}
    assert set(some_of(ON_FINISHED)) >= set(SPECIAL)
    assert len(ON_FINISHED) + len([*half_done_cases()]) > 400
