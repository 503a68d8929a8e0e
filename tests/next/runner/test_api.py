"""The Python API is the command line's debate: same sessions, same endings, and it prints nothing."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from council.next.errors import Paused, UsageError, Waiting
from council.next.runner import api
from tests.next.runner.debating import Scripted, settings


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("COUNCIL_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "home"


def test_a_program_holds_a_debate_and_reads_it_again(home: Path, capfd: pytest.CaptureFixture[str]) -> None:
    result = api.run("Redis or PostgreSQL?", speaker=Scripted(settings(home)), documents={"plan.md": "One table."})
    assert (result.kind, result.is_over, result.members[0]) == ("agreed", True, "architect")
    assert result.synthesis.startswith("chair speaks")
    assert api.load_session(result.session_id) == result == api.recover()
    assert capfd.readouterr() == ("", "")


def test_an_error_names_its_session_and_another_call_goes_on(home: Path) -> None:
    with pytest.raises(Paused) as paused:
        api.run("Redis?", speaker=Scripted(settings(home), most=0.01), max_calls=5)
    id = paused.value.session_id
    assert len(list((api.load_session(id).folder / "turns").glob("*/*.md"))) == 5
    assert api.recover(id, speaker=Scripted(settings(home), most=0.01)).kind == "agreed"


def test_a_person_is_waited_for_and_never_asked(home: Path) -> None:
    with pytest.raises(Waiting) as waiting:
        api.run("Redis?", speaker=Scripted(settings(home)), gates=("positions",))
    assert api.load_session(waiting.value.session_id).due == ("01-positions-gate/human",)


def test_it_works_where_a_loop_runs_already(home: Path) -> None:
    async def notebook() -> str:
        return api.run("Redis?", speaker=Scripted(settings(home))).kind

    assert asyncio.run(notebook()) == "agreed"


def test_what_is_wrong_is_an_error_before_anything_is_written(home: Path) -> None:
    with pytest.raises(UsageError):
        api.run(" ", speaker=Scripted(settings(home)))
    with pytest.raises(TypeError):
        api.run("Redis?", speaker=Scripted(settings(home)), max_costs=1)
    assert not list(home.rglob("program.json"))


@pytest.mark.parametrize("topic", ["Just architect and engineer: Redis?", "Quick council: Redis?", "Council recovery"])
def test_words_that_call_a_council_are_part_of_a_programs_topic(home: Path, topic: str) -> None:
    result = api.run(topic, speaker=Scripted(settings(home)))
    assert (result.topic, result.workflow, len(result.members)) == (topic, "debate", 4)
