"""The Python API is the command line's debate: same sessions, same endings, and it prints nothing."""

from __future__ import annotations

import asyncio
import os
import shutil
from pathlib import Path

import pytest

from council.next.errors import Paused, UsageError, Waiting
from council.next.record.session import Session
from council.next.runner import api, by_hand
from tests.next.runner.debating import Scripted, begun, settings


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


def test_what_a_session_from_elsewhere_says_of_speakers_is_not_believed(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that began here goes on as it began."""
    with pytest.raises(Paused):
        api.run("Redis?", speaker=Scripted(settings(home), most=0.01), max_calls=1, id="ours")
    folder = api.load_session("ours").folder
    with begun(home, id="named", speaker="assistant", seats={"engineer": "assistant"}):
        pass
    with pytest.raises(Waiting, match="council next named"):
        api.recover("named")
    with begun(home, id="by-hand") as session:
        assert session.program["models"], "the kit's, which nobody asked for"
        assert api.begun_with(session, settings(home)) == {}
    other = home.with_name("other")
    shutil.copytree(folder.parent / "named", other / "STATE" / "council-sessions" / "named")
    monkeypatch.setenv("COUNCIL_HOME", str(other))
    monkeypatch.setenv("COUNCIL_SPEAKER", "replay")
    with pytest.raises(UsageError, match="a replay needs --from"):
        api.recover("named")


def test_the_loop_by_hand_works_where_a_loop_runs_already(home: Path) -> None:
    with begun(home, id="by-hand") as session:

        async def server() -> list[str]:
            return [brief.due.id for brief in by_hand.due_now(session, settings(home))]

        assert len(asyncio.run(server())) == 4


def test_facts_come_from_files_and_from_sources_that_a_room_has(home: Path) -> None:
    home.mkdir(parents=True)
    (home / "load.txt").write_text("p95: 40 ms\n")
    result = api.run("Redis?", speaker=Scripted(settings(home)), evidence=[home / "load.txt"])
    assert [*Session(result.folder).attached] == ["E1, load.txt"]
    with pytest.raises(UsageError, match=r"optional room .*sandbox"):
        api.run("Redis?", speaker=Scripted(settings(home)), evidence_commands=["make bench"])


def test_the_users_own_limits_hold_and_a_large_sum_needs_a_word(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on the command line: Config.md only lowers what is asked for, and an unknown price cannot be capped."""
    config = Path(os.environ["HOME"]) / ".config" / "council" / "Config.md"
    config.parent.mkdir(parents=True)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(config.parents[1]))
    config.write_text("---\nlimits: {max_calls: 2}\n---\n")
    for asked, made in ((None, 2), (5, 2), (1, 1)):
        with pytest.raises(Paused, match=f"limit of {made} calls"):
            api.run("Redis?", speaker=Scripted(settings(home), most=0.01), max_calls=asked)
    config.write_text("---\nask_above: 0\n---\n")
    before = len(list(home.rglob("program.json")))
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-test")
    with pytest.raises(UsageError, match="likely to cost about"):
        api.run("Redis?", speaker="api")
    with pytest.raises(UsageError, match="price of this speaker is unknown"):
        api.run("Redis?", speaker=Scripted(settings(home), most=None), max_cost=1.0)
    assert len(list(home.rglob("program.json"))) == before


@pytest.mark.parametrize("topic", ["Just architect and engineer: Redis?", "Quick council: Redis?", "Council recovery"])
def test_words_that_call_a_council_are_part_of_a_programs_topic(home: Path, topic: str) -> None:
    result = api.run(topic, speaker=Scripted(settings(home)))
    assert (result.topic, result.workflow, len(result.members)) == (topic, "debate", 4)
