"""A cloned repository may bring any files: the commands still work there, and show nothing of what is outside."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.helpers import Ended, User, no_escapes, no_traceback

WORKFLOW = """---
name: {name}
description: {about}
seats: {{members: [architect, engineer]}}
options: {options}
phases:
  - {{name: positions, sees: nothing}}
---
"""


def text(name: str, about: str = "Weigh it.", options: str = "{}") -> str:
    return WORKFLOW.format(name=name, about=about, options=options)


@pytest.fixture
def user(tmp_path: Path) -> User:
    return User(tmp_path)


@pytest.fixture
def folder(user: User) -> Path:
    return user.write(".council/Workflows/plain.md", text("plain")).parent


def link(to: str) -> Callable[[Path], None]:
    return lambda path: path.symlink_to(to)


def huge(path: Path) -> None:
    path.write_text(text("odd"))
    os.truncate(path, 6_000_000_000)


def invalid(path: Path) -> None:
    path.write_bytes(b"---\nname: odd\ndescription: \xff\xfe\n---\n")


ODD = {
    "a pipe": os.mkfifo,
    "a folder": Path.mkdir,
    "a loop": link("odd.md"),
    "a link to nowhere": link("nowhere.md"),
    "a link out": link("/etc/passwd"),
    "a device": link("/dev/zero"),
    "a huge file": huge,
    "invalid UTF-8": invalid,
    "a long description": lambda path: path.write_text(text("odd", "y" * 10_000)),
    "aliases": lambda path: path.write_text("---\ndescription: &a [x, x]\nb: [*a, *a]\n---\n"),
    "deep nesting": lambda path: path.write_text(f"---\ndescription: {'[' * 50_000}\n---\n"),
    "a list for a description": lambda path: path.write_text(text("odd", "[a, b]")),
    "nothing": Path.touch,
}


def sane(ended: Ended, *codes: int) -> Ended:
    no_traceback(ended)
    no_escapes(ended)
    assert ended.code in codes, ended.text
    assert "Error: " not in ended.err, ended.text
    return ended


@pytest.mark.parametrize("odd", ODD)
def test_one_odd_file_stops_no_command(odd: str, folder: Path, user: User) -> None:
    ODD[odd](folder / "odd.md")
    assert "  plain" in sane(user.council("-h"), 0).out
    listed = sane(user.council("help", "all"), 0).out
    assert "  plain " in listed
    assert len(listed) < 8000
    sane(user.council("list"), 0)
    sane(user.council("run", "-w", "plain", "Q?", "--speaker", "assistant"), 8)
    sane(user.council("plain", "Q?", "--speaker", "assistant"), 8)
    sane(user.council("odd", "Q?", "--speaker", "assistant"), 2, 8)
    assert "plain: no problems found" in sane(user.council("lint"), 0, 2).out
    assert "  plain" not in sane(user.council("-h", CI="true"), 0).out
    assert "  plain " not in sane(user.council("help", "all", CI="true"), 0).out


def test_the_description_of_a_link_out_is_not_shown(folder: Path, user: User, tmp_path: Path) -> None:
    (tmp_path / "outside.md").write_text(text("odd", "A secret."))
    (folder / "odd.md").symlink_to(tmp_path / "outside.md")
    assert "secret" not in user.council("help", "all").text
    assert "secret" not in user.council("odd", "-h").text


@pytest.mark.parametrize(
    "name", ["--help", "-x", "a.b", "..x", "two words", "two\nlines", "\x1b[31mred", "", "x" * 200]
)
def test_a_file_that_is_not_named_as_workflows_are_is_no_command(name: str, folder: Path, user: User) -> None:
    (folder / f"{name}.md").write_text(text("odd", "A surprise."))
    assert "surprise" not in sane(user.council("help", "all"), 0).out
    unknown = sane(user.council("run", "-w", "unheard-of", "Q?", "--speaker", "assistant"), 2)
    assert len(unknown.err.splitlines()) == 2


def test_a_name_that_council_has_itself(folder: Path, user: User) -> None:
    (folder / "Run.md").write_text(text("run", "A surprise."))
    assert "surprise" not in sane(user.council("help", "all"), 0).out
    assert "surprise" not in sane(user.council("run", "-h"), 0).out


def test_thousands_of_workflows(folder: Path, user: User) -> None:
    for number in range(2000):
        (folder / f"w{number}.md").write_text(text(f"w{number}"))
    assert sane(user.council("-h"), 0).out.count("\n") < 26
    assert "  w1999 " in sane(user.council("help", "all"), 0).out
    assert len(sane(user.council("run", "-w", "unheard-of", "Q?", "--speaker", "assistant"), 2).err) < 2000


# ---- a command's own help and options ----


def test_help_shows_no_control_characters(folder: Path, user: User) -> None:
    about, words = r'"\e]0;title\a Weigh\b it. \u202e"', r'{words: "\e[2J5\n0"}'
    (folder / "odd.md").write_text(text("odd", about, words))
    shown = sane(user.council("odd", "-h"), 0).out
    assert "Weigh it." in shown
    assert "[default: 5 0]" in shown or "-o words=5 0\n" in shown
    assert {mark for mark in shown if mark < " " or mark == "\u202e"} == {"\n"}


OPTIONS = (
    "{help: false, speaker: x, json: false, from: x, quiet: true, topic: false, as-json: true, my-opt: false, "
    "my_opt: false, input: true, no-x: true, x: false, h: true, words: '$(id)'}"
)


def test_options_that_others_are_named_like(folder: Path, user: User) -> None:
    """The flag is the general option's, or the first one's; -o sets every option by its own name."""
    (folder / "odd.md").write_text(text("odd", options=OPTIONS))
    shown = sane(user.council("odd", "-h"), 0).out
    assert shown.count("--my-opt") == 1
    assert shown.count("--no-input") == 1
    given = ("--my-opt", "--no-no-x", "-o", "my_opt", "-o", "quiet=false")
    sane(user.council("odd", *given, "Q?", "--speaker", "assistant"), 8)
    facts = json.loads((user.session / "metadata.json").read_text("utf-8"))
    assert facts["options"] == {"my-opt": True, "no-x": False, "my_opt": True, "quiet": False}


def test_an_option_is_set_with_either_spelling(folder: Path, user: User) -> None:
    (folder / "odd.md").write_text(text("odd", options="{my-opt: false, your_opt: false}"))
    sane(user.council("odd", "-o", "my_opt", "-o", "your-opt", "Q?", "--speaker", "assistant"), 8)
    facts = json.loads((user.session / "metadata.json").read_text("utf-8"))
    assert facts["options"] == {"my-opt": True, "your_opt": True}


def test_a_link_out_among_templates_that_nobody_asked_for(folder: Path, user: User) -> None:
    user.write(".council/templates/other/spare.md.j2", "").unlink()
    (folder.parent / "templates/other/spare.md.j2").symlink_to("/etc/passwd")
    sane(user.council("plain", "Q?", "--speaker", "assistant"), 8)
