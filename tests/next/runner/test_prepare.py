"""A session begins with all that it needs, or not at all."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

import pytest

from council.next.errors import AuthError, UsageError
from council.next.runner.loop import Run
from council.next.runner.prepare import Request, lay
from council.next.speakers.base import sources
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
            (
                {"workflow": "perspectives", "options": {name: value}},
                f'(options: {name}: "{value}": write a number of seconds|the option "{name}" must be)',
            )
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


# ---- facts to cite ----


def test_evidence_is_numbered_and_its_whole_is_frozen_as_a_hash(tmp_path: Path) -> None:
    """Lines count as in an editor: a form feed, a tab or a line separator ends none."""
    path = tmp_path / "load.txt"
    path.write_bytes("one\r\ntwo\x0c\u2028still two\rthree\n".encode())
    with begun(tmp_path, evidence=(("file", str(path)), ("file", str(path)))) as session:
        names = ["E1, load.txt", "E2, load.txt"]
        assert [*session.attached] == names
        assert session.attached[names[0]] == "1 | one\n2 | two\x0c\u2028still two\n3 | three"
        assert session.program["evidence"] == dict.fromkeys(names, hashlib.sha256(path.read_bytes()).hexdigest())
        speaker = Scripted(settings(tmp_path))
        held(Run(session, speaker, settings(tmp_path)))
    assert all("3 | three" in brief for turn, brief in speaker.briefs.items() if "01-positions" in turn)


@pytest.mark.parametrize(
    ("text", "name", "lines"),
    [("x\n" * 60_000, "E1, long.txt, the first 50,000 of 60,000 lines", 50_000),
     ("x" * 200_000, "E1, long.txt, the first 100,000 characters", 1),
     ("x" * 99_999, "E1, long.txt", 1), ("\n" * 20 + "x", "E1, long.txt", 21)],
)  # fmt: skip
def test_of_a_long_fact_members_get_as_many_whole_lines_as_fit(
    tmp_path: Path, text: str, name: str, lines: int
) -> None:
    (tmp_path / "long.txt").write_text(text)
    with begun(tmp_path, evidence=(("file", str(tmp_path / "long.txt")),)) as session:
        assert [*session.attached] == [name]
        shown = session.attached[name].split("\n")
        assert len(shown) == lines
        assert sum(len(line.partition(" | ")[2]) + 1 for line in shown) <= 100_001


def test_the_cores_own_source_is_a_file() -> None:
    assert sources.knows("file")
    assert not sources.knows("command"), "it comes with the room sandbox"


@pytest.mark.parametrize(
    ("data", "why"),
    [(b"", "empty or not a text"), (b"\xff", "empty or not a text"), (b"a\0b", "empty or not a text"),
     (b" \n", "empty or not a text"), (b"x" * 16_000_001, "larger than 16 MB"), (None, "No such file"),
     ("pipe", "not a regular file"), ("folder", "not a regular file")],
    ids=str,
)  # fmt: skip
def test_what_is_no_text_is_no_fact_and_no_document(tmp_path: Path, data: Any, why: str) -> None:
    path = tmp_path / "given"
    if data == "pipe":
        os.mkfifo(path)
    elif data == "folder":
        path.mkdir()
    elif data is not None:
        path.write_bytes(data)
    with pytest.raises(UsageError, match=why), begun(tmp_path, evidence=(("file", str(path)),)):
        pass
    with pytest.raises(UsageError, match=why.replace("16", "1")), begun(tmp_path, files=(path,)):
        pass
    assert not list(tmp_path.rglob("program.json"))


def test_facts_have_a_size_together(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x" * 99 + "\n" + "y" * 99_000)
    five = (("file", str(tmp_path / "a.txt")),) * 5
    with pytest.raises(UsageError, match="longer than 400,000 characters"), begun(tmp_path, evidence=five):
        pass
