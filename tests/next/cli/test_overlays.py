"""Files of a project, which a stranger may have written: it is said which of them count, and none stops a command."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.helpers import Ended, no_escapes, no_traceback
from tests.next.cli.users import User
from tests.next.protocols.held import KIT

Q = "Redis or PostgreSQL?"
POSITIONS = "{% include '_head.md.j2' %}# Now: Ours\n\n{{ step.form }}\n{% include '_tail.md.j2' %}"
PERSONA = "## architect\n\n- **Title:** Ours\n\nYou agree.\n"
WORKFLOW = """---
name: {name}
description: {about}
seats: {{members: [architect, engineer]}}
options: {options}
phases: [{{name: positions, sees: nothing, reply: {{recommendation: text}}}}]
---
"""


@pytest.fixture
def user(tmp_path: Path) -> User:
    made = User(tmp_path / "user")
    (made.work / ".git").mkdir()
    return made


def program(user: User) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((user.sessions[-1] / "program.json").read_text("utf-8"))
    return found


# ---- what is in force ----


@pytest.mark.parametrize("words", [("start",), ("run", "--speaker", "assistant")])
def test_files_of_a_project_in_force_are_printed_and_recorded(words: tuple[str, ...], user: User) -> None:
    user.write(".council/templates/positions.md.j2", POSITIONS)
    user.write(".council/AgentPersonalities.md", PERSONA)
    user.write(".council/Workflows/Debate.md", (KIT / "Debate.md").read_text("utf-8"))
    names = ["AgentPersonalities.md", "Workflows/Debate.md", "templates/positions.md.j2"]
    ended = user.council(*words, Q)
    assert f"project overlay: ~/work/.council ({names[0]}, {names[1]} and {names[2]})\n" in ended.err
    assert program(user)["overlays"] == {"~/work/.council": names}
    assert f"- **In force from the project:** {', '.join(names)}\n" in user.council("show").out.replace("\\", "")
    assert "In force from the project" in user.council("show", "--html").out


def test_in_ci_they_count_only_when_they_are_asked_for(user: User) -> None:
    user.write(".council/templates/positions.md.j2", POSITIONS)
    ended = user.council("start", Q, CI="true")
    assert "overlay:" not in ended.err
    assert "is not used in CI; --overlays uses it" in ended.err
    assert program(user)["overlays"] == {}
    assert "project overlay: " in user.council("start", "--overlays", Q, CI="true").err
    assert program(user)["overlays"] == {"~/work/.council": ["templates/positions.md.j2"]}


def test_the_users_own_files_are_told_too(user: User) -> None:
    path = user.settings / "templates/positions.md.j2"
    path.parent.mkdir(parents=True)
    path.write_text(POSITIONS)
    assert "user overlay: " in user.council("start", Q, CI="true").err
    assert program(user)["overlays"] == {"~/config/council": ["templates/positions.md.j2"]}


def test_files_that_decide_nothing_here_are_not_in_force(user: User) -> None:
    user.write(".council/Workflows/other.md", WORKFLOW.format(name="other", about="x", options="{}"))
    user.write(".council/AgentPersonalities.md", PERSONA.replace("architect", "lawyer"))
    assert "overlay" not in user.council("start", Q).err
    assert program(user)["overlays"] == {}


def test_a_replay_keeps_what_was_in_force(user: User, agreed: Path) -> None:
    user.write(".council/templates/positions.md.j2", POSITIONS)
    assert user.replay(agreed, Q).code == 0
    (user.work / ".council/templates/positions.md.j2").unlink()
    assert user.council("run", "--speaker", "replay", "--from", user.session.name).code == 0
    assert program(user)["overlays"] == {"~/work/.council": ["templates/positions.md.j2"]}
    briefs = [session / "briefs/01-positions/shared.md" for session in user.sessions]
    assert len(briefs) == 2
    assert all("# Now: Ours" in path.read_text("utf-8") for path in briefs)


def test_a_changed_or_deleted_file_counts_at_once_and_in_no_session_before(user: User) -> None:
    """Also within one process, which holds one debate after the other."""
    path = user.write(".council/templates/positions.md.j2", POSITIONS)

    def asked(number: int) -> str:
        return (user.sessions[number] / "briefs/01-positions/shared.md").read_text("utf-8")

    assert user.council("start", Q).code == 0
    path.write_text(POSITIONS.replace("Ours", "Theirs"))
    assert user.council("start", Q).code == 0
    path.unlink()
    assert user.council("start", Q).code == 0
    first, second, third = map(asked, range(3))
    assert "# Now: Ours" in first
    assert "# Now: Theirs" in second
    assert "# Now: " in third
    assert not {"# Now: Ours", "# Now: Theirs"} & {*third.splitlines()}
    assert user.council("next", user.sessions[0].name).code == 0
    assert asked(0) == first


def test_a_template_reaches_no_file_outside_of_the_templates(user: User) -> None:
    user.configure("concurrency: 8  # PASSWORD")
    (user.settings / "templates").mkdir(parents=True)
    for code in ('{% include "../Config.md" %}', '{% import "../Config.md" as x %}', '{% extends "../Config.md" %}'):
        user.write(".council/templates/positions.md.j2", code)
        ended = user.council("start", Q)
        assert ended.code == 2
        assert "there is no template ../Config.md" in ended.err
        assert user.sessions == []


def test_words_of_a_question_a_persona_or_a_document_are_no_template(user: User) -> None:
    evil = "{{ 7 * 7 }} {% include 'x' %} {# gone #}"
    user.write(
        ".council/AgentPersonalities.md", f"## architect\n\n- **Title:** A {evil}\n- **Focus:** {evil}\n\n{evil}\n"
    )
    user.write("doc.md", f"{evil}\n")
    assert user.council("start", "--file", "doc.md", f"Is {evil} right?").code == 0
    folder = user.session / "briefs/01-positions"
    shared, own = ((folder / name).read_text("utf-8") for name in ("shared.md", "architect.md"))
    assert f"Is {evil} right?" in shared
    assert f"\n{evil}\n" in shared
    assert own.count(evil) >= 3
    assert "49" not in re.sub(r"key=\"[0-9a-f]+\"", "", shared + own)


# ---- odd files ----


def link(to: str) -> Callable[[Path], None]:
    return lambda path: path.symlink_to(to)


def huge(path: Path) -> None:
    path.write_text(WORKFLOW.format(name="odd", about="x", options="{}"))
    os.truncate(path, 6_000_000_000)


def text(about: str, options: str = "{}") -> Callable[[Path], object]:
    return lambda path: path.write_text(WORKFLOW.format(name="odd", about=about, options=options))


ODD: dict[str, Callable[[Path], object]] = {
    "a pipe": os.mkfifo,
    "a folder": Path.mkdir,
    "a loop": link("odd.md"),
    "a link to nowhere": link("nowhere.md"),
    "a link out": link("/etc/passwd"),
    "a device": link("/dev/zero"),
    "a huge file": huge,
    "invalid UTF-8": lambda path: path.write_bytes(b"---\nname: odd\ndescription: \xff\xfe\n---\n"),
    "a long description": text("y" * 10_000),
    "aliases": lambda path: path.write_text("---\ndescription: &a [x, x]\nb: [*a, *a]\n---\n"),
    "deep nesting": lambda path: path.write_text(f"---\ndescription: {'[' * 50_000}\n---\n"),
    "a list for a description": text("[a, b]"),
    "nothing": Path.touch,
}


def sane(ended: Ended, *codes: int) -> Ended:
    no_traceback(ended)
    no_escapes(ended)
    assert ended.code in codes, ended.text
    return ended


@pytest.fixture
def folder(user: User) -> Path:
    return user.write(".council/Workflows/plain.md", WORKFLOW.format(name="plain", about="x", options="{}")).parent


@pytest.mark.parametrize("odd", ODD)
def test_one_odd_file_stops_no_command(odd: str, folder: Path, user: User) -> None:
    ODD[odd](folder / "odd.md")
    assert " plain" in sane(user.council("-h"), 0).out
    listed = sane(user.council("help", "all"), 0).out
    assert " plain" in listed
    assert len(listed) < 12_000
    sane(user.council("list"), 0)
    sane(user.council("plain", Q, "--speaker", "assistant"), 8)
    sane(user.council("run", "-w", "plain", Q, "--speaker", "assistant"), 8)
    sane(user.council("odd", Q, "--speaker", "assistant"), 2, 8)
    assert "plain: no problems found" in sane(user.council("lint"), 0, 2).out
    assert " plain" not in sane(user.council("-h", CI="true"), 0).out


def test_the_description_of_a_link_out_is_not_shown(folder: Path, user: User, tmp_path: Path) -> None:
    text("A secret.")(tmp_path / "outside.md")
    (folder / "odd.md").symlink_to(tmp_path / "outside.md")
    assert "secret" not in user.council("help", "all").text
    assert "secret" not in user.council("odd", "-h").text


@pytest.mark.parametrize(
    "name", ["--help", "-x", "a.b", "..x", "two words", "two\nlines", "\x1b[31mred", "", "x" * 200]
)
def test_a_file_that_is_not_named_as_workflows_are_is_no_command(name: str, folder: Path, user: User) -> None:
    text("A surprise.")(folder / f"{name}.md")
    assert "surprise" not in sane(user.council("help", "all"), 0).out
    unknown = sane(user.council("run", "-w", "unheard-of", Q, "--speaker", "assistant"), 2)
    assert len(unknown.err.splitlines()) == 2


def test_a_name_that_council_has_itself_is_councils(folder: Path, user: User) -> None:
    (folder / "Run.md").write_text(WORKFLOW.format(name="run", about="A surprise.", options="{}"))
    assert "surprise" not in sane(user.council("help", "all"), 0).out
    assert "surprise" not in sane(user.council("run", "-h"), 0).out


def test_thousands_of_workflows(folder: Path, user: User) -> None:
    for number in range(2000):
        (folder / f"w{number}.md").write_text(WORKFLOW.format(name=f"w{number}", about="x", options="{}"))
    assert sane(user.council("-h"), 0).out.count("\n") < 30
    assert re.search(r"and \d{4} more", sane(user.council("help", "all"), 0).out)
    sane(user.council("w1999", Q, "--speaker", "assistant"), 8)
    assert len(sane(user.council("run", "-w", "unheard-of", Q, "--speaker", "assistant"), 2).err) < 2_500


def test_help_shows_no_control_characters(folder: Path, user: User) -> None:
    text(r'"\e]0;title\a Weigh\b it. \u202e"', r'{words: "\e[2J5\n0"}')(folder / "odd.md")
    shown = sane(user.council("odd", "-h"), 0).out
    assert "Weigh it." in shown
    assert {mark for mark in shown if mark < " " or mark == "\u202e"} == {"\n"}


OPTIONS = "{help: false, speaker: x, json: false, from: x, quiet: true, topic: false, my_opt: false, words: '$(id)'}"


def test_options_may_be_named_like_general_ones(folder: Path, user: User) -> None:
    """`-o` sets every option of the workflow by its own name, and a general option stays what it is."""
    text("x", OPTIONS)(folder / "odd.md")
    given = ("-o", "json=true", "-o", "speaker=me", "-o", "help=true", "-o", "quiet=false", "-o", "my-opt=true")
    sane(user.council("odd", *given, Q, "--speaker", "assistant"), 8)
    chosen = {"json": True, "speaker": "me", "help": True, "quiet": False, "my_opt": True}
    assert program(user)["options"] == chosen
    assert program(user)["speaker"] == "assistant"
    sane(user.council("odd", "-h"), 0)
