"""`council lab run` over a real HTTP API and in the real sandbox: equal calls, continued, shared, within its budget."""

from __future__ import annotations

import json
import re
import resource
import signal
import threading
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from council.errors import StorageError
from council.lab import budget, experiment, results
from council.lab.results import ArmResult
from council.record import files, lock
from tests.bubblewrap import needs_sandbox
from tests.fakeapi import Answer, FakeApi, Request
from tests.helpers import Ended, User
from tests.lab_worlds import Model, fair, user_of, words, write_set

pytestmark = needs_sandbox
ARMS = ("single", "reflexion", "best-of-n")


def ok(ended: Ended) -> Ended:
    assert ended.code == 0, ended.text
    return ended


def read(folder: Path) -> dict[tuple[str, str], ArmResult]:
    plan = experiment.read(folder)
    return {
        (task["id"], arm): results.read_result(folder, task["id"], arm, id, task.get("choice", ""))
        for task in plan.tasks
        for arm, id in task["sessions"].items()
    }


def test_every_task_is_solved_by_every_arm_with_equal_calls(tmp_path: Path) -> None:
    """The second draft of plus1 is right; of plus2 none is, and of plus3 every one."""
    tries = {"plus1": 0}

    def coin(name: str, request: Request) -> bool:
        again = "attempt 2" in request.text
        tries["plus1"] += name == "plus1"
        return name == "plus3" or (name == "plus1" and (again or tries["plus1"] == 5))

    with FakeApi(Model(coin)) as api:
        user, folder = user_of(tmp_path, api.url), tmp_path / "lab"
        said = ok(user.council(*words(write_set(tmp_path, 3), folder), "--jobs", "1")).err
        found, prompts = read(folder), len(api.prompts)
        again = ok(user.council(*words(f"file:{tmp_path / 'tasks.jsonl'}", folder)))
        assert len(api.prompts) == prompts
    assert {task: [(found[task, arm].solved, found[task, arm].calls) for arm in ARMS] for task, _ in found} == {
        "Plus/1": [(False, 1), (True, 3), (True, 3)],
        "Plus/2": [(False, 1), (False, 5), (False, 5)],
        "Plus/3": [(True, 1), (True, 1), (True, 1)],
    }
    assert prompts == sum(one.calls for one in found.values()) == 21
    assert found["Plus/2", "reflexion"].why == "hidden tests: fail"
    assert "Plus/1: reflexion: solved (3 calls" in said
    assert ": solved" not in again.err


def test_a_reply_that_cannot_be_read_counts_among_the_calls(tmp_path: Path) -> None:
    """The workflow asks for it once more, and n grows by that; a sample is not asked for twice."""
    model, asked = Model(lambda *_: True), []

    def speak(request: Request) -> Answer:
        asked.append(request)
        return Answer("I would rather not.") if len(asked) in (1, 2, 4) else model(request)

    with FakeApi(speak) as api:
        user, folder = user_of(tmp_path, api.url), tmp_path / "lab"
        ok(user.council(*words(write_set(tmp_path, 1), folder), "--jobs", "1"))
    found = read(folder)
    assert [(found["Plus/1", arm].solved, found["Plus/1", arm].calls) for arm in ARMS] == [
        (False, 1), (True, 2), (True, 2),
    ]  # fmt: skip
    assert len(asked) == 5
    assert "differ from the workflow" not in ok(user.council("lab", "report", str(folder))).out


def test_a_large_sum_of_all_sessions_needs_a_word_once(tmp_path: Path) -> None:
    """The sum is that of the sessions that the run would begin. Without the word, nothing is written."""
    with FakeApi(Model(lambda *_: True)) as api:
        user, folder = user_of(tmp_path, api.url), tmp_path / "lab"
        config = user.settings / "Config.md"
        config.write_text(config.read_text().replace("---\n", "---\nask_above: 0.05\n", 1))
        command = words(write_set(tmp_path, 3), folder, "--against", "single")
        refused = user.council(*command)
        assert (refused.code, "add --max-cost USD or --yes" in refused.err) == (2, True), refused.err
        assert (api.prompts, folder.exists()) == ([], False)
        ok(user.council(*command, "--limit", "1"))
        ok(user.council(*command, "--yes"))
        ok(user.council(*command))


def test_a_rate_limit_of_an_hour_stops_the_run_and_fails_no_session(tmp_path: Path) -> None:
    """The next sessions would meet it too. The same command continues."""
    limited = Answer(fault="status", status=429, retry_after="3600")
    with FakeApi(lambda _: limited) as api:
        user, folder = user_of(tmp_path, api.url), tmp_path / "lab"
        command = words(write_set(tmp_path, 3), folder, "--jobs", "1")
        ended = user.council(*command)
        assert (ended.code, len(api.prompts)) == (3, 1)
        assert re.search(r"It asks to wait 1 h: paused until .*; then run the same command again\n", ended.err), (
            ended.err
        )
        assert "given up" not in ended.err
        api.responder = Model(lambda *_: True)
        ok(user.council(*command))
    assert {one.state for one in read(folder).values()} == {"solved"}


def test_a_killed_run_is_continued_and_pays_for_nothing_twice(tmp_path: Path) -> None:
    with FakeApi(Model(fair(0.6), latency=0.02)) as api:
        user, folder = user_of(tmp_path, api.url), tmp_path / "lab"
        command = words(write_set(tmp_path, 3), folder, "--jobs", "2", "--against", "single")
        with user.spawn(*command) as running:
            while len(api.prompts) < 4 and running.poll() is None:
                time.sleep(0.01)
            running.send_signal(signal.SIGKILL)
        ok(user.council(*command))
        found = read(folder)
        assert {one.state for one in found.values()} <= {"solved", "failed"}
        # A call is on record before it is made: those that the kill prevented are there too, at most one a job.
        assert 0 <= sum(one.calls for one in found.values()) - len(api.prompts) <= 2


def test_two_runs_at_once_share_the_work(tmp_path: Path) -> None:
    with FakeApi(Model(fair(0.6), latency=0.05)) as api:
        user, folder = user_of(tmp_path, api.url), tmp_path / "lab"
        command = words(write_set(tmp_path, 3), folder, "--jobs", "2", "--against", "single")
        runs = [user.spawn(*command) for _ in range(2)]
        assert [process.wait(60) for process in runs] == [0, 0]
        said = [process.stderr.read().decode() for process in runs if process.stderr]
        ok(user.council(*command))  # what one left to the other, and the other had done already
        found = read(folder)
        assert {one.state for one in found.values()} <= {"solved", "failed"}
        assert sum(one.calls for one in found.values()) == len(api.prompts)
        for process in runs:
            for stream in (process.stdout, process.stderr):
                assert stream is not None
                stream.close()
    assert all("HTTP" not in one for one in said)


def test_a_run_says_which_tasks_it_left_to_another(tmp_path: Path) -> None:
    with FakeApi(Model(fair(1.0))) as api:
        user, folder = user_of(tmp_path, api.url), tmp_path / "lab"
        command = words(write_set(tmp_path, 1), folder, "--against", "single")
        assert user.council(*command, "--max-cost", "0.0001").code == 3  # begun, and not a call made
        (session,) = (one.parent for one in (folder / experiment.SESSIONS).glob("*/metadata.json"))
        with lock.hold(session):
            left = ok(user.council(*command))
        assert (len(api.prompts), "another run is at them: Plus/1;" in left.err) == (0, True), left.err
        assert "another run" not in ok(user.council(*command)).err


def test_what_another_run_left_when_it_was_killed_is_done_at_the_end(tmp_path: Path) -> None:
    other = ExitStack()  # holds what a run holds until it dies

    def die(request: Request) -> Answer:
        other.close()
        return Model(fair(1.0))(request)

    with FakeApi(die) as api:
        user, folder = user_of(tmp_path, api.url), tmp_path / "lab"
        command = words(write_set(tmp_path, 2), folder, "--jobs", "1", "--against", "single")
        assert user.council(*command, "--max-cost", "0.0001").code == 3  # begun, and not a call made
        (session,) = (one.parent for one in (folder / experiment.SESSIONS).glob("*/metadata.json"))
        other.enter_context(lock.hold(session))
        assert "another run" not in ok(user.council(*command)).err
        assert {one.state for one in read(folder).values()} == {"solved"}


def test_all_arms_and_runs_together_keep_within_the_budget(tmp_path: Path) -> None:
    """Each call is billed with what the API says it used, so what is on record is what was paid."""

    def model(request: Request) -> Answer:
        counts = {"input_tokens": 1_000, "output_tokens": 2_000}
        return Answer(Model(fair(0.0))(request).text, latency=0.05, usage=counts)

    usd = 0.25  # a call costs $0.022, and is bounded by $0.08 and the prompt
    with FakeApi(model) as api:
        user, folder = user_of(tmp_path, api.url), tmp_path / "lab"
        command = words(write_set(tmp_path, 2), folder, "--jobs", "2", "--max-cost", str(usd))
        runs = [user.spawn(*command) for _ in range(2)]
        ended = [(*process.communicate(timeout=60), process.returncode) for process in runs]
        assert {code for *_, code in ended} in ({3}, {0, 3}), ended  # one may have found the last task in other hands
        spent = len(api.prompts) * 0.022
        assert 0.1 < spent <= usd
        assert sum(one.usd or 0.0 for one in read(folder).values()) == pytest.approx(spent)
    assert all(b"--max-cost 0.25 leaves too little" in err for _, err, code in ended if code)


def test_a_disk_that_takes_nothing_is_named(tmp_path: Path) -> None:
    plan = experiment.Experiment("a", "b", (), {}, "c", 0, 1)
    (tmp_path / "lab" / experiment.LOCK).mkdir(parents=True)
    with pytest.raises(StorageError, match=f"{experiment.LOCK}: Is a directory"):
        experiment.settle(tmp_path / "lab", plan)
    most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, most[1]))
    try:
        with (
            pytest.raises(StorageError, match="one: File too large: "),
            budget.allow(tmp_path, "one", 1.0, 2.0, lambda id: 0.0, threading.Event()),
        ):
            pytest.fail("it was not written down")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, most)


def test_a_second_run_removes_nothing_that_the_first_is_writing(tmp_path: Path) -> None:
    folder = tmp_path / "lab"
    plan = experiment.Experiment("a", "b", (), {}, "c", 0, 1)
    experiment.settle(folder, plan)
    being_written = folder / "STATE" / "council-sessions" / "one" / f".turn{files.TEMP}"
    being_written.parent.mkdir(parents=True)
    being_written.write_text("half")
    experiment.settle(folder, plan)
    assert being_written.exists()


def test_a_signal_ends_it_at_once_and_nothing_is_lost(tmp_path: Path) -> None:
    with FakeApi(Model(fair(1.0), latency=30)) as api:
        user, folder = user_of(tmp_path, api.url), tmp_path / "lab"
        with user.spawn(*words(write_set(tmp_path, 3), folder, "--jobs", "2")) as running:
            while len(api.prompts) < 2 and running.poll() is None:
                time.sleep(0.01)
            running.send_signal(signal.SIGTERM)
            assert running.wait(20) == 128 + signal.SIGTERM
        assert len(api.prompts) == 2
    assert {one.state for one in read(folder).values()} == {"unfinished"}
    assert sum(one.calls for one in read(folder).values()) == 2


def test_a_session_that_cannot_end_is_given_up_and_counts(tmp_path: Path) -> None:
    broken = {"on": True}

    def model(request: Request) -> Answer:
        if broken["on"] and "`plus1`" in request.text:
            return Answer(fault="status", status=500)
        return Model(fair(1.0))(request)

    with FakeApi(model) as api:
        user, folder = user_of(tmp_path, api.url), tmp_path / "lab"
        command = words(write_set(tmp_path, 2), folder, "--against", "single")
        said = ok(user.council(*command)).err
        first = read(folder)
        broken["on"] = False
        ok(user.council(*command))
    assert first["Plus/1", "single"].state == "failed"
    assert "Plus/1: reflexion: given up" in said
    assert first["Plus/2", "reflexion"].solved
    assert all(one.solved for one in read(folder).values())


def test_questions_are_answered_by_single_calls_and_by_most_of_several(tmp_path: Path) -> None:
    file = tmp_path / "sums.jsonl"
    asked = [{"question": f"What is {n} + 1?", "choices": ["1", "2", "3"], "answer": n - 1} for n in (1, 2)]
    file.write_text("".join(f"{json.dumps(one)}\n" for one in asked))
    with FakeApi(Model(fair(1.0))) as api:
        user, folder = user_of(tmp_path, api.url), tmp_path / "lab"
        given = ["lab", "run", f"file:{file}", "-w", "quick", "--speaker", "anthropic", "--folder", str(folder)]
        ok(user.council(*given))
    found = read(folder)
    assert sorted(one.state for one in found.values()) == ["failed"] * 3 + ["solved"] * 3
    assert {one.why for one in found.values()} == {"", "answered B, right is A"}
    assert {one.calls for (_, arm), one in found.items() if arm == "best-of-n"} == {
        one.calls for (_, arm), one in found.items() if arm == "quick"
    }


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (["--workflow", "debate"], "debate runs no hidden tests"),
        (["--against", "doubl"], "--against doubl: no such arm"),
        (["--seed", "1"], "compares something else: seed is 0 there, and 1 was asked for"),
    ],
)
def test_what_cannot_be_compared_is_refused(user_and_api: Any, more: list[str], says: str) -> None:
    user, api, command = user_and_api
    ended = user.council(*command, *more)
    assert (ended.code, len(api.prompts)) == (2, 1), ended.err
    assert says in ended.err


@pytest.fixture
def user_and_api(tmp_path: Path) -> Any:
    """A user with a finished comparison of one task with nothing."""
    with FakeApi(Model(fair(1.0))) as api:
        user: User = user_of(tmp_path, api.url)
        command = words(write_set(tmp_path, 1), tmp_path / "lab", "--against", "")
        ok(user.council(*command))
        yield user, api, command
