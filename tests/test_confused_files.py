"""Files of a session whose hashes are right and whose content is not: another type, a FIFO, folders without end."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from council.speakers.assistant import transcripts
from tests import confused
from tests.helpers import User, agreed, no_traceback, script


@pytest.fixture
def user(tmp_path: Path) -> User:
    return User(tmp_path)


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> User:
    return confused.begin(tmp_path_factory.mktemp("begun"))


@pytest.fixture(scope="module")
def complete(tmp_path_factory: pytest.TempPathFactory) -> User:
    return confused.complete(tmp_path_factory.mktemp("complete"))


# ---- metadata, sealed again ----


@pytest.mark.parametrize("state", ["begun", "complete"])
def test_metadata_of_another_type_are_damaged_or_harmless(state: str, request: pytest.FixtureRequest) -> None:
    """At most an error that names the file. Every fifth value; `scripts/prove mutations` tries all."""
    found = confused.confuse(request.getfixturevalue(state), every=5)
    assert found.wrong == []
    assert found.tried > len(confused.CONFUSED) * len(confused.OPTIONAL) / 5
    assert found.refused > found.tried / 3


# ---- the notes of an assistant's members ----


def turns(path: Path) -> dict[str, Any]:
    return {"turn": "01-positions/architect", "call": "c", "pid": os.getpid(), "at": time.time(), "transcripts": "/x"}


def written(change: dict[str, Any] | str | bytes) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        note = json.dumps(turns(path) | change).encode() if isinstance(change, dict) else change
        path.write_bytes(note.encode() if isinstance(note, str) else note)

    return write


NOTES: dict[str, Callable[[Path], object]] = {
    "a FIFO": os.mkfifo,
    "a folder": Path.mkdir,
    "a link to a device": lambda path: path.symlink_to("/dev/zero"),
    "a link to a note": lambda path: path.symlink_to("../metadata.json"),
    "a huge file": lambda path: (path.touch(), os.truncate(path, 33_000_000)),
    "an empty file": written(b""),
    "brackets": written(b"[" * 100_000),
    "a list": written("[]"),
    "a key too many": written({"zeal": 1}),
    "a key missing": written('{"turn": "01-positions/architect"}'),
    **{
        f"{key} {value!r:.20}": written({key: value})
        for key in ("turn", "call", "pid", "at", "transcripts")
        for value in (None, True, [], {}, -1, 10**400, "\0", "1")
        if not (key == "call" and isinstance(value, str)) and (key, value) != ("transcripts", "1")
    },
    "another turn": written({"turn": "01-positions/engineer"}),
    "a path": written({"turn": "../../architect"}),
    "no number": written(json.dumps(turns(Path()) | {"at": float("nan")})),
}


@pytest.mark.parametrize("kind", NOTES)
def test_a_note_that_council_did_not_write_is_named(begun: User, tmp_path: Path, kind: str) -> None:
    """Not followed, not waited for, and no traceback."""
    shutil.copytree(begun.root, tmp_path / "user", symlinks=True)
    user = User(tmp_path / "user")
    path = user.session / ".asked" / "01-positions.architect.json"
    path.parent.mkdir()
    NOTES[kind](path)
    for command in (("next",), ("recover", "--speaker", "replay", "--from", script(user, agreed())), ("status",)):
        ended = user.council(*command)
        no_traceback(ended)
        assert ended.code == 1, (command, ended)
        assert ".asked/01-positions.architect.json" in ended.text
    proof = user.council("verify")
    assert proof.code == 5
    assert ".asked/01-positions.architect.json" in proof.out
    assert user.council("list", "--json").json[0]["state"] == "damaged"
    path.rmdir() if path.is_dir() else path.unlink()
    assert user.council("next").code == 0


@pytest.mark.parametrize("at", [0.0, 1e10])
def test_a_note_from_another_time_blocks_nobody(begun: User, tmp_path: Path, at: float) -> None:
    """The process with that number runs, but no answer will come: the note is from years ago, or from the future."""
    shutil.copytree(begun.root, tmp_path / "user")
    user = User(tmp_path / "user")
    note = transcripts.CallNote("01-positions/architect", "c", 1, at, "/nowhere")
    transcripts.write_note(user.session, note)
    ended = user.council("recover", "--speaker", "replay", "--from", script(user, agreed()))
    assert ended.code == 0, ended.err


@pytest.mark.parametrize("name", ["agent-1.meta.json", "agent-1.jsonl"])
def test_a_transcript_that_is_no_file_is_not_waited_for(begun: User, tmp_path: Path, name: str) -> None:
    shutil.copytree(begun.root, tmp_path / "user")
    user = User(tmp_path / "user")
    (tmp_path / "agent-1.meta.json").write_text('{"toolUseId": "c"}')
    (tmp_path / name).unlink(missing_ok=True)
    os.mkfifo(tmp_path / name)
    note = transcripts.CallNote("01-positions/architect", "c", 1, time.time(), str(tmp_path))
    transcripts.write_note(user.session, note)
    assert user.council("next").code == 0


LINES: list[Any] = [
    {}, {"message": 1}, {"message": {}}, {"message": {"content": 1}}, {"message": {"content": [1, {}, {"text": 1}]}},
    {"message": {"content": [{"text": "x"}], "stop_reason": 1}}, {"message": {"usage": [], "content": [{"text": "x"}]}},
    {"message": {"id": [], "usage": {"input_tokens": "x"}, "content": [{"text": "x"}], "stop_reason": "end_turn"}},
    {"message": {"id": 1, "usage": {"input_tokens": -5}, "content": [{"text": "x"}], "stop_reason": "end_turn"}},
    {"timestamp": 1, "message": {"id": "1", "content": [{"text": "x"}], "stop_reason": "end_turn", "model": 7}},
]  # fmt: skip


@pytest.mark.parametrize("line", LINES, ids=str)
def test_a_transcript_of_other_types_is_no_traceback(tmp_path: Path, line: dict[str, Any]) -> None:
    path = tmp_path / "agent-1.jsonl"
    for asked in ({}, {"message": {"content": "asked"}}):
        path.write_text(json.dumps({"type": "user"} | asked) + "\n" + json.dumps({"type": "assistant"} | line) + "\n")
        answer = transcripts.read_answer(path)
        assert answer is None or isinstance(answer.spoken.body, str)


# ---- runner.json ----


@pytest.mark.parametrize("pid", [10**30, -1, 0, "1", None, 1.5, [], True])
def test_a_note_of_a_runner_of_another_type_is_no_traceback(begun: User, tmp_path: Path, pid: object) -> None:
    shutil.copytree(begun.root, tmp_path / "user")
    user = User(tmp_path / "user")
    (user.session / "runner.json").write_text(json.dumps({"pid": pid, "host": os.uname().nodename, "paused": pid}))
    for command in ("status", "next", "list"):
        ended = user.council(command)
        assert ended.code == 0, ended.err


# ---- folders ----


@pytest.mark.parametrize("top", ["", "turns", "briefs", "attempts", ".asked", "mine"])
def test_folders_nested_without_end_break_nothing(user: User, top: str) -> None:
    """Neither the session that they are in, nor the list of all."""
    for id in ("first", "second"):
        assert user.council("start", "--id", id, "Shall we?").code == 0
    nest(user.sessions[0] / top, 1_100)
    listed = user.council("list", "--json")
    states = {row["session_id"]: row["state"] for row in listed.json}
    assert states["second"] == "waiting"
    damaged = top in ("turns", "briefs", "attempts")
    assert states["first"] == ("damaged" if damaged else "waiting")
    for command in ("status", "verify", "next", "show", "build"):
        ended = user.council(command, "first")
        no_traceback(ended)
        assert ended.code == ({"verify": 5}.get(command, 1) if damaged else 0), ended.err
    subprocess.run(["rm", "-rf", user.sessions[0]], check=True)  # Python cannot remove it


def nest(folder: Path, depth: int) -> None:
    """Folders in folders, deeper than a path may be long and than Python calls itself."""
    folder.mkdir(exist_ok=True)
    here = os.open(folder, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir("deep", dir_fd=here)
        here, above = os.open("deep", os.O_RDONLY, dir_fd=here), here
        os.close(above)
    os.close(here)
