"""A session begins with all that it needs, or not at all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from council.next.errors import AuthError, UsageError
from council.next.runner.loop import Run
from council.next.runner.prepare import Request, lay
from tests.next.protocols.held import KIT
from tests.next.runner.debating import Scripted, begun, held, settings


@pytest.mark.parametrize(
    ("wanted", "members"),
    [
        ({}, "architect designer engineer researcher"),
        ({"with_": ("security",)}, "architect designer engineer researcher security"),
        ({"with_": ("Security", "engineer")}, "architect designer engineer researcher security"),
        ({"only": ("architect,engineer",)}, "architect engineer"),
        ({"only": ("Serena", "Marcus")}, "architect engineer"),
        ({"only": ("members",), "without": ("designer",)}, "architect engineer researcher"),
    ],
)
def test_members_are_chosen_by_seat_group_persona_title_or_first_name(
    tmp_path: Path, wanted: dict[str, Any], members: str
) -> None:
    assert " ".join(lay(Request("x", **wanted), settings(tmp_path)).members) == members


@pytest.mark.parametrize(
    ("wanted", "why"),
    [
        ({"with_": ("securty",)}, 'no member "securty"; .*security'),
        ({"only": ("architect",)}, "at least two members"),
        ({"without": ("security",)}, "not a member"),
        ({"with_": ("chair",)}, "another role"),
        ({"workflow": "debat"}, 'no workflow "debat"; .*debate'),
        ({"workflow": "perspectives", "with_": ("security",)}, "casts its members"),
        ({"options": {"wrds": "1"}}, 'no option "wrds"; .*words'),
        ({"options": {"normative": "yes"}}, "must be true or false"),
        ({"mode": "patch"}, 'no mode "patch"; .*patchlist'),
        ({"gates": ("positons",)}, 'no phase "positons"'),
        ({"workflow": "board", "without": ("contrarian",)}, "another role"),
        ({"workflow": "board", "only": ("moonshot",)}, "another role"),
        *(
            ({"workflow": "perspectives", "options": {name: value}}, f'the option "{name}" must be')
            for name in ("round_timeout", "total_timeout", "checkpoint_timeout")
            for value in ("soon", "-1", "0", "nan", "inf", "", True)
        ),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_written(tmp_path: Path, wanted: dict[str, Any], why: str) -> None:
    with pytest.raises(UsageError, match=why), begun(tmp_path, **wanted):
        pass
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


@pytest.mark.parametrize(
    ("topic", "files", "why"),
    [
        (" \n", {}, "topic is empty"),
        ("a\0b", {}, "NUL"),
        ("é" * 500_001, {}, "larger than 1 MB"),
        ("x", {"a.md": b""}, "empty or not a text"),
        ("x", {"a.md": b"\xff\xfe"}, "empty or not a text"),
        ("x", {"a.md": b"a\0b"}, "empty or not a text"),
        ("x", {"a.md": b"x" * 1_000_001}, "larger than 1 MB"),
        ("x", {"a.md": b"x" * 600_000, "b.md": b"y" * 600_000}, "together"),
        ("x", {"missing.md": None}, "No such file"),
    ],
)
def test_what_members_could_not_read_is_refused(
    tmp_path: Path, topic: str, files: dict[str, bytes | None], why: str
) -> None:
    for name, data in files.items():
        if data is not None:
            (tmp_path / name).write_bytes(data)
    home = tmp_path / "home"
    paths = tuple(tmp_path / name for name in files)
    with pytest.raises(UsageError, match=why), begun(home, topic, files=paths):
        pass
    assert not list(home.rglob("program.json"))


def test_a_limit_of_time_may_be_left_out(tmp_path: Path) -> None:
    for value in ("30", "0.5", "unlimited"):
        with begun(tmp_path, workflow="perspectives", options={"round_timeout": value}) as session:
            assert session.workflow.options["round_timeout"] == value


def test_topic_and_documents_are_kept_to_the_byte(tmp_path: Path) -> None:
    document = "\ufeff# Plan\r\n\r\n--- \u2028 é\n".encode()
    (tmp_path / 'odd "name"\n.md').write_bytes(document)
    topic = "\n  Redis?  \u2028\n"
    with begun(tmp_path, topic, files=(tmp_path / 'odd "name"\n.md',), frozen={"src/a.py": b"\xff"}) as session:
        assert session.topic == topic
        assert [text.encode() for text in session.attached.values()] == [document]
        assert session.read_frozen("src/a.py") == b"\xff"
    assert (session.folder / "topic.md").read_bytes() == topic.encode()


def test_two_documents_of_one_name_are_both_given(tmp_path: Path) -> None:
    given = (("a.md", b"one"), ("a.md", b"two"), ("a.md", b"one"))
    with begun(tmp_path, documents=given) as session:
        assert session.attached == {"a.md": "one", "a.md (2)": "two"}


def test_a_debate_begins_with_what_another_came_to(tmp_path: Path) -> None:
    with begun(tmp_path) as first:
        with pytest.raises(UsageError, match="no synthesis yet"), begun(tmp_path, after=first):
            pass
        held(Run(first, Scripted(settings(tmp_path)), settings(tmp_path)))
        with begun(tmp_path, after=first) as second:
            assert [*second.attached] == [f"synthesis of session {first.id}"]
            assert second.program["after"] == first.id


def test_nothing_that_a_session_uses_is_read_again_from_the_kit(tmp_path: Path) -> None:
    """Its own program is whole: workflow, templates, personas and options."""
    table = lay(Request("x", options={"words": "20-40"}, gates=("positions",)), settings(tmp_path))
    with begun(tmp_path, options={"words": "20-40"}, gates=("positions",)) as session:
        assert session.program["templates"] == table.templates
        assert session.workflow.options["words"] == "20-40"
        assert [phase.name for phase in session.workflow.phases][:2] == ["positions", "positions-gate"]
        assert {*session.program["personas"]} == {"architect", "designer", "engineer", "researcher", "chair"}
    assert session.metadata["members"] == ["architect", "designer", "engineer", "researcher"]
    assert session.metadata["rounds_planned"] == "adaptive"


def test_one_specialist_is_enough_beside_those_who_always_sit(tmp_path: Path) -> None:
    table = lay(Request("x", workflow="consensus", only=("database",)), settings(tmp_path))
    assert table.members == ("database",)
    assert table.options["analysis"] is False
    with pytest.raises(UsageError, match="another role"):
        lay(Request("x", workflow="consensus", with_=("clerk",)), settings(tmp_path))


def test_a_speaker_that_a_workflow_names_is_there_before_the_session_is(tmp_path: Path) -> None:
    text = (KIT / "Quick.md").read_text("utf-8").replace("chair: chair", "chair: {chair: {speaker: codex}}", 1)
    (tmp_path / "mine.md").write_text(text, "utf-8")
    with pytest.raises(AuthError, match="chair is spoken by codex, which cannot speak"):
        lay(Request("x", workflow=str(tmp_path / "mine.md")), settings(tmp_path))
