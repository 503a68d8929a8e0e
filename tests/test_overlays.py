"""Whose workflows, templates and personas are obeyed: what a project may bring, where it is looked for, and that a
debate says whose files it used."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest

import council
from council import git
from council.config import overlays, project
from tests import reviewing
from tests.helpers import User, agreed, no_traceback, script
from tests.hostile import ALONE, APPROVED, RUINOUS
from tests.hostile import bring_overlay as overlay

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another user")


@pytest.fixture
def user(tmp_path: Path) -> User:
    found = User(tmp_path)
    found.write("sessions.md", reviewing.SPEC)
    return found


def newest(user: User) -> Path:
    return max(user.sessions, key=lambda folder: (folder / "topic.md").stat().st_mtime_ns)


def metadata(user: User) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((newest(user) / "metadata.json").read_text("utf-8"))
    return found


def briefs(user: User) -> str:
    return "".join(path.read_text("utf-8") for path in sorted((newest(user) / "briefs").rglob("*.md")))


def ask(user: User, *words: str, **env: str) -> str:
    """Run a debate of the project, which needs no words yet, and return what was printed."""
    ended = user.council("run", "Shall we?", "--speaker", "assistant", *words, **env)
    no_traceback(ended)
    assert ended.code == 8, ended.text
    return ended.err


def test_a_review_ignores_what_the_project_brings(user: User) -> None:
    clean = reviewing.review(user, "sessions.md")
    overlay(user)
    ended = reviewing.review(user, "sessions.md")
    assert ended.out == clean.out
    assert "Approved" not in briefs(user) + ended.out
    assert "overlays" not in metadata(user)
    first = ended.err.splitlines()[0]
    assert first == f"project overlay not used: {user.work / '.council'} (--overlays uses it)"


@pytest.mark.parametrize(
    "words", [("run", "Council (patchlist): Review sessions.md"), ("patchlist", "-f", "sessions.md", "Q?")]
)
def test_a_review_by_another_command_ignores_them_too(user: User, words: tuple[str, ...]) -> None:
    overlay(user)
    assert user.council(*words, "--speaker", "assistant").code == 8
    assert "Approved" not in briefs(user)
    assert "overlays" not in metadata(user)
    assert user.council(*words, "--speaker", "assistant", "--overlays").code == 8
    assert "Approved" in briefs(user)


def test_a_review_uses_the_projects_files_when_asked(user: User) -> None:
    overlay(user)
    said = {"01-findings/engineer": "No findings.", "02-synthesis/chair": "## Summary\n\nNothing.\n"}
    said |= {"02-synthesis/engineer": "## Summary\n\nNothing.\n"}
    ended = reviewing.review(user, "sessions.md", "--overlays", said=said, code=0)
    assert "Approved" in briefs(user)
    (used,) = metadata(user)["overlays"]
    assert (used["whose"], used["folder"]) == ("project", str(user.work / ".council"))
    assert sorted(used["files"]) == [
        "AgentPersonalities.md", "Workflows/Patchlist.md", "templates/patchlist/findings.md.j2",
    ]  # fmt: skip
    assert ended.err.splitlines()[0].startswith("project overlay: ")
    assert "(3 files in force: AgentPersonalities.md, Workflows/Patchlist.md" in ended.err
    shown = user.council("show").out
    assert "**Overlays:** project (AgentPersonalities.md, Workflows/Patchlist.md" in shown
    assert str(user.root) not in shown.partition("### Receipts")[0]
    assert "project overlay: " in user.council("verify").out


@pytest.mark.parametrize("command", ["run", "start"])
def test_in_ci_the_projects_files_count_only_when_asked_for(user: User, command: str) -> None:
    user.write(".council/templates/debate/positions.md.j2", APPROVED)
    words = [command, "Shall we?", *(["--speaker", "assistant"] if command == "run" else [])]
    user.council(*words, CI="true")
    user.council("next", CI="true")
    assert "overlays" not in metadata(user)
    assert "Approved" not in briefs(user)
    ended = user.council(*words, "--overlays", CI="true")
    user.council("next", newest(user).name, CI="true")
    assert "project overlay: " in ended.err
    assert "Approved" in briefs(user)


def test_what_a_projects_workflow_decides_is_printed(user: User) -> None:
    user.write(".council/Workflows/Debate.md", RUINOUS)
    told = ask(user)
    assert "at most 99 rounds" in told
    assert "opus (claude-opus" in told
    assert "architect: human" in told


def test_the_users_own_files_are_recorded_too(user: User) -> None:
    path = user.settings / "templates/debate/positions.md.j2"
    path.parent.mkdir(parents=True)
    path.write_text(APPROVED)
    assert ask(user, CI="true").startswith("user overlay: ")
    (used,) = metadata(user)["overlays"]
    assert used["whose"] == "user"
    assert "Approved" in briefs(user)


def test_links_do_not_make_the_look_at_an_overlay_long(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    """Out of it none is followed; inside it, no folder is read twice, and none that is nested without end."""
    user.write("outside/canary.md.j2", "x")
    user.write(".council/Workflows/Mine.md", "x")
    user.write(".council/templates/mine/of-mine.md.j2", "x")
    for number in range(8):
        (user.work / f".council/templates/mine/{number}").symlink_to("..")
        (user.work / f".council/templates/out{number}").symlink_to(user.work / "outside")
    user.write("/".join([".council/templates", *["deep"] * 60, "bottom.md.j2"]), "x")
    monkeypatch.chdir(user.work)
    names = [facts[0] for folder in overlays.read_state() for facts in folder[1:] if isinstance(facts, tuple)]
    assert names.count("of-mine.md.j2") == 2, "as it is, and as what a link leads to"
    assert {"canary.md.j2", "bottom.md.j2"}.isdisjoint(names)


def test_a_replay_keeps_what_was_in_force(user: User) -> None:
    user.write(".council/templates/debate/positions.md.j2", APPROVED)
    assert user.council("run", "Q?", "--speaker", "replay", "--from", script(user, agreed())).code == 0
    first = metadata(user)["overlays"]
    assert user.council("run", "Q?", "--speaker", "replay", "--from", user.sessions[0].name).code == 0
    assert metadata(user)["overlays"] == first


def test_only_files_that_are_used_are_in_force(user: User) -> None:
    user.write(".council/Workflows/other.md", ALONE)
    user.write(".council/AgentPersonalities.md", "## nobody\n\n- **Title:** Nobody\n\nSilent.\n")
    assert "overlay" not in ask(user)
    assert "overlays" not in metadata(user)


# ---- where it is looked for ----


def test_outside_of_a_repository_only_the_current_folder_counts(user: User, tmp_path: Path) -> None:
    overlay(user)
    below = user.work / "a/b"
    below.mkdir(parents=True)
    assert project.find(user.work) == user.work / ".council"
    assert project.find(below) is None
    (user.work / ".git").mkdir()
    assert project.find(below) == user.work / ".council"


def test_a_repository_in_the_home_folder_does_not_reach_into_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """People keep their settings in one: everything they have would be one project."""
    monkeypatch.setenv("HOME", str(tmp_path))
    for path in (tmp_path / ".git", tmp_path / ".council", tmp_path / "src/thing"):
        path.mkdir(parents=True)
    assert project.find(tmp_path / "src/thing") is None
    assert project.find(tmp_path) == tmp_path / ".council"


def test_a_mounted_file_system_is_not_left() -> None:
    assert git.repository(Path("/proc/self")) == Path("/proc/self")


# ---- whose it is ----


@as_root
@pytest.mark.parametrize("name", [".council", ".council/templates", ".council/templates/debate/positions.md.j2"])
def test_what_belongs_to_somebody_else_is_not_obeyed(user: User, name: str) -> None:
    path = user.write(".council/templates/debate/positions.md.j2", APPROVED)
    os.chown(user.work / name, 4711, 4711)
    ended = user.council("run", "Shall we?", "--speaker", "assistant")
    no_traceback(ended)
    assert "another user (4711)" in ended.err
    if name == ".council":
        assert ended.err.startswith(f"project overlay not used: {path.parent.parent.parent}")
        assert ended.code == 8
        assert "Approved" not in briefs(user)
        asked_for = user.council("run", "Shall we?", "--speaker", "assistant", "--overlays")
        assert (asked_for.code, "cannot be used" in asked_for.err) == (2, True)
    else:
        assert (ended.code, user.sessions) == (2, [])


@pytest.mark.parametrize(
    "name", ["", ".council", ".council/templates/debate", ".council/templates/debate/positions.md.j2"]
)
def test_what_everybody_may_write_is_not_obeyed(user: User, name: str) -> None:
    user.write(".council/templates/debate/positions.md.j2", APPROVED)
    path = user.work / name
    path.chmod(path.stat().st_mode | 0o1002)  # with the sticky bit too, as /tmp has
    ended = user.council("run", "Shall we?", "--speaker", "assistant")
    no_traceback(ended)
    assert "everybody may write to" in ended.err
    assert "Approved" not in "".join(briefs(user) for _ in user.sessions[:1])


def test_a_link_instead_of_the_folder_is_not_followed(user: User, tmp_path: Path) -> None:
    user.write("elsewhere/templates/debate/positions.md.j2", APPROVED)
    (user.work / ".council").symlink_to("elsewhere")
    assert "it is a link" in ask(user)
    assert "Approved" not in briefs(user)


@pytest.mark.parametrize("kind", ["Workflows", "templates"])
def test_a_folder_in_it_that_leads_out_is_not_listed(user: User, tmp_path: Path, kind: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text(ALONE)
    (outside / "secret.md.j2").write_text("x")
    (user.work / ".council").mkdir()
    (user.work / ".council" / kind).symlink_to(outside)
    ended = user.council("lint", "secret")
    assert ended.code == 2
    assert "secret" not in ended.text.replace('no workflow "secret"', "")


def test_new_workflow_writes_nothing_into_anothers_folder(user: User) -> None:
    (user.work / ".council").mkdir(mode=0o777)
    (user.work / ".council").chmod(0o777)
    ended = user.council("new-workflow", "weigh")
    assert (ended.code, list((user.work / ".council").iterdir())) == (2, [])


@pytest.mark.parametrize(
    "name",
    ["../Config.md", "/etc/passwd", "../Config.md.j2", "a/../../x.md.j2", "./x.md.j2", "a//x.md.j2", "x\0.md.j2"],
)
def test_a_template_is_never_found_outside_of_its_folder(
    user: User, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in ("Config.md", "Config.md.j2", "x.md.j2", "templates/a/x.md.j2", "templates/x.md.j2"):
        user.write(f".council/{path}", "PASSWORD")
    monkeypatch.chdir(user.work)
    assert overlays.find_template(name) is None


def test_the_users_settings_are_in_no_brief(user: User) -> None:
    user.configure("concurrency: 8  # PASSWORD")
    (user.settings / "templates").mkdir()
    for code in ('{% include "../Config.md" %}', '{% import "../Config.md" as x %}', '{% extends "../Config.md" %}'):
        user.write(".council/templates/debate/positions.md.j2", code)
        ended = user.council("run", "Shall we?", "--speaker", "assistant")
        assert "PASSWORD" not in ended.text
        assert "PASSWORD" not in "".join(path.read_text() for path in user.home.rglob("*.*") if path.is_file())


# ---- threads ----


def test_each_thread_decides_for_itself(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    overlay(user)
    monkeypatch.chdir(user.work)
    monkeypatch.delenv("CI", raising=False)
    found: list[Path | None] = []
    with project.decided(False):
        other = threading.Thread(target=lambda: found.append(overlays.project_folder()))
        other.start()
        other.join()
        assert overlays.project_folder() is None
    assert found == [user.work / ".council"] == [overlays.project_folder()]


def test_the_python_api_decides_as_the_commands_do(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    user.write(".council/templates/debate/positions.md.j2", APPROVED)
    monkeypatch.chdir(user.work)
    for name, value in user.environment.items():
        monkeypatch.setenv(name, value)
    words = script(user, agreed())
    for env, wanted, expected in (("", None, True), ("true", None, False), ("true", True, True), ("", False, False)):
        monkeypatch.setenv("CI", env)
        council.run("Shall we?", speaker="replay", source=words, overlays=wanted)
        assert ("overlays" in metadata(user)) is expected, (env, wanted)
