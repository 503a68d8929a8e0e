"""What council writes where it is told to: it follows no link of a repository, and replaces nothing but files."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.helpers import User
from tests.reviewing import SPEC, review

KEYS = "ssh-ed25519 mine\n"
WRITE = {
    "review --output": ("review", "--session", "last", "--fail-on", "never", "--output"),
    "review --patch": ("review", "--session", "last", "--fail-on", "never", "--patch"),
    "show -o": ("show", "--html", "--force", "-o"),
    "show --format -o": ("show", "--format", "sarif", "--force", "-o"),
}


@pytest.fixture(scope="module")
def user(tmp_path_factory: pytest.TempPathFactory) -> User:
    found = User(tmp_path_factory.mktemp("user"))
    found.write("sessions.md", SPEC)
    (found.root / "outside" / "deep").mkdir(parents=True)
    review(found, "sessions.md")
    return found


def link(user: User, name: str, to: str | Path) -> str:
    path = user.work / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    path.symlink_to(to)
    return name


# How a link stands in the way: what is put there, and the name of the output that it catches.
WAYS: dict[str, Callable[[User], str]] = {
    "a file": lambda user: link(user, "a.out", "../outside/authorized_keys"),
    "a file that is not there": lambda user: link(user, "b.out", "../outside/new"),
    "a folder": lambda user: link(user, "c", "../outside") + "/authorized_keys",
    "a folder above": lambda user: link(user, "d/e", user.root / "outside") + "/deep/new",
    "a folder and back": lambda user: link(user, "f", "../outside/deep") + "/../authorized_keys",
    "a link to a link": lambda user: link(user, "g", Path(link(user, "c", "../outside"))) + "/authorized_keys",
    "the whole path": lambda user: str(user.work / link(user, "h", "../outside") / "authorized_keys"),
    "git's own folder": lambda user: link(user, "i", ".git") + "/config",
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("command", WRITE)
def test_a_link_of_the_project_is_not_followed(user: User, command: str, way: str) -> None:
    keys = user.root / "outside" / "authorized_keys"
    keys.write_text(KEYS)
    before = sorted((user.root / "outside").rglob("*"))
    ended = user.council(*WRITE[command], WAYS[way](user))
    assert (ended.code, "is a link in the project" in ended.err) == (2, True), ended.text
    assert keys.read_text() == KEYS
    assert sorted((user.root / "outside").rglob("*")) == before


@pytest.mark.parametrize("command", WRITE)
def test_a_users_own_link_outside_of_the_project_and_an_ordinary_file_are_written(user: User, command: str) -> None:
    mine = user.root / "mine"
    mine.unlink(missing_ok=True)
    mine.symlink_to(user.root / "outside")
    (user.work / "made").mkdir(exist_ok=True)
    for target in ("../mine/list", "made/list", str(user.work / "list")):
        assert user.council(*WRITE[command], target).code == 0
        assert (user.work / target).is_file()
        (user.work / target).unlink()


def test_what_is_no_file_is_not_replaced_by_one(user: User) -> None:
    """The command of a pipe that council replaced would wait for ever; a device would be gone for everybody."""
    os.mkfifo(user.work / "pipe")
    for command in ("review --output", "review --patch"):
        ended = user.council(*WRITE[command], "pipe")
        assert (ended.code, "is not a regular file" in ended.err) == (2, True), ended.err
        assert user.council(*WRITE[command], "made").code == 2
    assert (user.work / "pipe").is_fifo()


def test_an_output_is_refused_before_anything_is_spent(user: User) -> None:
    link(user, "a.out", "../outside/authorized_keys")
    known = user.sessions
    for option in ("--output", "--patch"):
        ended = user.council("review", "sessions.md", option, "a.out", "--speaker", "anthropic")
        assert (ended.code, "is a link in the project" in ended.err) == (2, True), ended.err
    assert user.sessions == known


def test_a_baseline_that_leads_out_of_the_project_is_not_read(user: User) -> None:
    for name, to in (
        ("endless.json", "/dev/zero"),
        ("out.json", user.write("../outside/known.json", '{"findings": []}')),
    ):
        link(user, name, to)
        ended = user.council("review", "--session", "last", "--baseline", name)
        assert (ended.code, f"--baseline {name} leads out of the project" in ended.err) == (2, True), ended.err
