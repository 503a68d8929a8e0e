"""Overlays, and where sessions are kept."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from council.next.config import places
from council.next.errors import StorageError, UsageError
from tests.next.config.homes import put


@pytest.fixture
def mine(home: Path) -> Path:
    folder = home / ".config" / "council"
    (folder / "Workflows").mkdir(parents=True)
    (folder / "templates" / "debate").mkdir(parents=True)
    return folder


# ---- overlays ----


def test_the_first_overlay_that_has_a_file_is_used(mine: Path, project: Path) -> None:
    both = places.overlays(project)
    assert both == (project, mine, places.KIT)
    kits = places.find_workflow("debate", both)
    assert kits == places.KIT / "Workflows" / "Debate.md"
    put(mine / "Workflows", Debate="x")
    assert places.find_workflow("DEBATE", both) == mine / "Workflows" / "Debate.md"
    put(project / "Workflows", debate="x", own="x")
    assert places.find_workflow("debate", both) == project / "Workflows" / "debate.md"
    assert "own" in places.workflows(both)


def test_a_project_counts_only_where_it_is_handed_in(mine: Path, project: Path) -> None:
    put(project / "Workflows", debate="x", own="x")
    put(project / "templates", position="x")
    (project / "templates" / "position.md.j2").write_text("x")
    assert places.find_workflow("debate") == places.KIT / "Workflows" / "Debate.md"
    assert "own" not in places.workflows()
    assert places.find_template("position.md.j2") is None
    assert places.find_template("position.md.j2", places.overlays(project)) == project / "templates/position.md.j2"


def test_a_name_that_is_nearly_right_is_recognized() -> None:
    with pytest.raises(UsageError, match='no workflow "debat"; did you mean "debate"'):
        places.find_workflow("debat")
    with pytest.raises(UsageError, match="no workflow"):
        places.find_workflow("recovery")
    assert places.find_workflow("drafts/mine.md") == Path("drafts/mine.md")


@pytest.mark.parametrize(
    "name", ["../Config.md", "/etc/passwd", "a/../../x.md.j2", "a//b.md.j2", "./a.md.j2", "a\0.md.j2", "x.md", ""]
)
def test_no_template_is_found_outside_of_the_templates(name: str, mine: Path) -> None:
    (mine / "x.md.j2").write_text("x")
    (mine / "templates" / "a.md.j2").write_text("x")
    assert places.find_template(name) is None


def test_relative_base_directories_are_ignored(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", "here")
    assert places.user_folder() == home / ".config" / "council"
    monkeypatch.setenv("XDG_CONFIG_HOME", "/srv/config")
    monkeypatch.setenv("XDG_CACHE_HOME", "/srv/cache")
    assert (places.user_folder(), places.cache()) == (Path("/srv/config/council"), Path("/srv/cache/council"))


def test_texts_have_the_lines_of_any_system(mine: Path) -> None:
    (mine / "a.md").write_bytes(b"one\r\ntwo\n")
    assert places.read(mine / "a.md") == "one\ntwo\n"


# ---- the project ----


def test_the_nearest_folder_up_to_the_repository_is_the_project(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deep = project.parent / "a" / "b"
    deep.mkdir(parents=True)
    monkeypatch.chdir(deep)
    assert places.project() is None  # it has nothing to obey yet
    put(project, Config="limits: {}")
    assert places.project() == project
    put(deep.parent / ".council", Config="limits: {}")
    assert places.project() == deep.parent / ".council"
    (deep / ".council" / "sessions").mkdir(parents=True)  # one that has only sessions is passed over
    assert places.project() == deep.parent / ".council"


def test_nothing_above_the_repository_or_outside_of_one_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path / ".council", Config="limits: {}")
    monkeypatch.chdir(tmp_path / "project")
    assert places.project() is None
    plain = tmp_path / "plain" / "folder"
    plain.mkdir(parents=True)
    monkeypatch.chdir(plain)
    assert places.project() is None
    put(plain / ".council", Config="limits: {}")
    assert places.project() == plain / ".council"


def test_a_repository_in_the_home_does_not_reach_into_it(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / ".git").mkdir()
    put(home / ".council", Config="limits: {}")
    (home / "work").mkdir()
    monkeypatch.chdir(home / "work")
    assert places.project() is None
    monkeypatch.chdir(home)
    assert places.project() == home / ".council"


def test_a_current_folder_that_is_gone_has_no_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert places.project() is None
    assert places.project_steps() == []
    monkeypatch.chdir(tmp_path)


def test_in_ci_a_project_counts_only_if_it_is_asked_for(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(project, Config="limits: {}")
    for value, counts in (("true", False), ("1", False), ("yes", False), ("false", True), ("0", True), ("", True)):
        monkeypatch.setenv("CI", value)
        assert (places.project() is not None) == counts, value
        assert bool(places.judge_project()[1]) != counts
    monkeypatch.setenv("CI", "true")
    assert places.project(True) == project
    assert "--overlays uses it" in places.judge_project()[1]
    assert places.project(False) is None
    assert places.judge_project(False)[1] == ""


# ---- sessions ----


def test_a_home_that_can_be_written_is_used(tmp_path: Path) -> None:
    chosen, why = places.choose_home(tmp_path / "memory")
    assert (chosen, why) == (places.sessions(tmp_path / "memory"), "")
    assert list(chosen.iterdir()) == []
    assert chosen.stat().st_mode & 0o777 == 0o700


READ_ONLY = """
import os, sys
from pathlib import Path
from council.next.config import places
from council.next.errors import CouncilError
home, chosen_by, drop = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
os.chdir(sys.argv[4])
if drop == "yes":
    os.setuid(65534)
try:
    sessions, why = places.choose_home(home, chosen_by)
    print(sessions, why, places.archive_for(sessions / "x", home), sep="|")
except CouncilError as wrong:
    print(type(wrong).__name__, wrong, sep="|")
"""


def choose_without_rights(home: Path, here: Path, chosen_by: str = "") -> list[str]:
    """What `choose_home` says to a user who may not write to the home. Root may write anywhere, so it becomes one."""
    drop = "yes" if os.geteuid() == 0 else "no"
    words = [sys.executable, "-c", READ_ONLY, str(home), chosen_by, drop, str(here)]
    env = {"PYTHONPATH": os.pathsep.join(sys.path), "PATH": os.environ["PATH"], "HOME": str(home.parent)}
    done = subprocess.run(words, capture_output=True, text=True, env=env, check=True, cwd="/")
    return done.stdout.strip().split("|")


@pytest.fixture
def locked() -> Iterator[tuple[Path, Path]]:
    """A home that nobody may write to, and a project of the user as whom the code runs."""
    with tempfile.TemporaryDirectory() as folder:
        top = Path(folder)
        top.chmod(0o755)
        home, here = top / "home", top / "project"
        for one in (home, here, here / ".git", here / "deep"):
            one.mkdir()
            os.chown(one, 65534 if os.geteuid() == 0 else -1, -1)
        home.chmod(0o555)
        yield home / "memory", here


def test_a_default_home_that_cannot_be_written_is_replaced_by_the_project(locked: tuple[Path, Path]) -> None:
    home, here = locked
    sessions, why, archive = choose_without_rights(home, here / "deep")
    assert sessions == str(here / ".council/sessions")
    assert archive == str(here / ".council/archive")
    assert why == f"~/{home.name} cannot be written (Permission denied)"
    assert (here / ".council/sessions/.gitignore").read_bytes() == b"*\n"
    assert choose_without_rights(home, here)[0] == sessions  # again, with what is there now


def test_a_home_that_the_user_chose_is_never_replaced(locked: tuple[Path, Path]) -> None:
    home, here = locked
    kind, sentence = choose_without_rights(home, here, "COUNCIL_HOME")
    assert kind == "StorageError"
    assert sentence.endswith("COUNCIL_HOME chose this folder, so no other is used instead")
    assert not (here / ".council").exists()


def test_where_nothing_can_be_written_the_error_says_so(locked: tuple[Path, Path]) -> None:
    home, here = locked
    for folder in (here, here / "deep"):
        folder.chmod(0o555)
    kind, sentence = choose_without_rights(home, here / "deep")
    assert kind == "StorageError"
    assert sentence.endswith("nor can a session be kept in the project")


def test_another_problem_than_missing_rights_moves_no_session(tmp_path: Path) -> None:
    (tmp_path / "memory").write_text("a file where the folder would be")
    with pytest.raises(StorageError, match=r"Not a directory"):
        places.choose_home(tmp_path / "memory")
    assert not (tmp_path / "project" / ".council").exists()
