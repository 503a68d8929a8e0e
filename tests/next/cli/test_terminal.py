"""What a person sees and types at a terminal."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
import yaml

from tests.next.cli.users import Behind, Running, Shell, User
from tests.terminal import Terminal

Q = "Redis or PostgreSQL?"
GATE = ("--speaker", "replay", "--gate", "positions")


@pytest.fixture
def waiting(user: User, agreed: Path) -> str:
    """The id of a session that waits at a gate."""
    assert user.replay(agreed, "--gate", "positions", Q).code == 8
    return user.session.name


def test_a_person_sees_each_side_and_what_will_be_recorded(user: User, waiting: str) -> None:
    with Running(user, "answer", "--by", "Ada") as run:
        shown = run.until(r"Gate\r\n[^>]*> ")
        for words in (Q, "R3, Engineer (Marcus): What engineer would do.", "Now: approve, or end the debate here?"):
            assert words in shown
        assert "</said" not in shown
        assert "Give your answers below" not in shown
        run.type("maybe\n")
        assert "approve, reject or veto" in run.until(r"> $")
        run.type("a\n")
        run.until(r"Reason\r\n[^>]*> ")
        run.type("It can be undone.\n\n")
        shown = run.until(r"Record this\? \[Y/n/e\]\r\n> ")
        assert "## Gate\r\napprove" in shown
        assert "It can be undone." in shown
        run.type("\n")
        code, rest = run.end()
    assert code == 0
    assert "recorded 01-positions-gate/human; due now: 02-challenges/architect" in rest
    assert 'by: "Ada"' in (user.session / "turns/01-positions-gate/human.md").read_text("utf-8")


def test_no_means_to_be_asked_again(user: User, waiting: str) -> None:
    with Running(user, "answer") as run:
        run.until(r"Gate\r\n[^>]*> ")
        run.type("v\n")
        run.until(r"Reason\r\n[^>]*> ")
        run.type("\n")
        run.until(r"Record this\? [^>]*> ")
        run.type("n\n")
        run.until(r"Gate\r\n[^>]*> ")
        run.type("approve\n")
        run.until(r"Reason\r\n[^>]*> ")
        run.type("\n")
        run.until(r"Record this\? [^>]*> ")
        run.type("y\n")
        assert run.end()[0] == 0
    assert "approve" in (user.session / "turns/01-positions-gate/human.md").read_text("utf-8")


def test_a_reply_is_changed_in_the_editor_before_it_is_recorded(user: User, waiting: str) -> None:
    editor = user.write("editor", '#!/bin/sh\nsed -i "s/approve/veto/" "$1"\n')
    editor.chmod(0o755)
    with Running(user, "answer", EDITOR=str(editor), VISUAL="") as run:
        run.until(r"Gate\r\n[^>]*> ")
        run.type("approve\n")
        run.until(r"Reason\r\n[^>]*> ")
        run.type("\n")
        run.until(r"Record this\? [^>]*> ")
        run.type("e\n")
        assert "## Gate\r\nveto" in run.until(r"Record this\? [^>]*> ")
        run.type("\n")
        assert run.end()[0] == 0
    assert "## Gate\nveto" in (user.session / "turns/01-positions-gate/human.md").read_text("utf-8")


@pytest.mark.parametrize(("key", "code"), [("\x04", 8), ("\x03", 130)])
def test_a_question_is_left_waiting_and_what_was_typed_is_given_back(
    user: User, waiting: str, key: str, code: int
) -> None:
    with Running(user, "answer") as run:
        run.until(r"Gate\r\n[^>]*> ")
        run.type("approve\n")
        run.until(r"Reason\r\n[^>]*> ")
        run.type("Half of a reason\n")
        run.until(r"Half of a reason\r\n> ")
        run.type(key)
        ended, rest = run.end()
    assert ended == code
    assert "You typed:" in rest
    assert "Gate: approve" in rest
    assert "Half of a reason" in rest
    assert "Traceback" not in rest
    assert f"council answer {waiting}" in rest or code == 130
    assert not (user.session / "turns/01-positions-gate").exists()


def test_pasted_lines_stay_together(user: User, waiting: str) -> None:
    pasted = "First paragraph.\n\nSecond paragraph,\nof two lines.\n"
    with Running(user, "answer") as run:
        run.until(r"Gate\r\n[^>]*> ")
        run.type("approve\n")
        run.until(r"Reason\r\n[^>]*> ")
        run.type(pasted)
        run.until(r"of two lines\.\r\n> ")
        run.type("\n")
        run.until(r"Record this\? [^>]*> ")
        run.type("\n")
        assert run.end()[0] == 0
    assert pasted.strip() in (user.session / "turns/01-positions-gate/human.md").read_text("utf-8")


def test_a_line_that_the_terminal_cuts_is_asked_for_again(user: User, waiting: str) -> None:
    with Running(user, "answer") as run:
        run.until(r"Gate\r\n[^>]*> ")
        run.type("approve\n")
        run.until(r"Reason\r\n[^>]*> ")
        run.type("x" * 5_000 + "\n")
        assert "nothing of this was taken" in run.until(r"type e[^>]*> ").replace("\r\n", " ")
        run.type("Short enough.\n\n")
        run.until(r"Record this\? [^>]*> ")
        run.type("\n")
        assert run.end()[0] == 0
    turn = (user.session / "turns/01-positions-gate/human.md").read_text("utf-8")
    assert "Short enough." in turn
    assert "xxx" not in turn


def test_a_run_asks_the_person_and_goes_on(user: User) -> None:
    """A person at every seat: nobody is asked two things at once."""
    with Running(user, "run", "--speaker", "human", "-w", "quick", "--only", "architect,designer", Q) as run:
        for _ in range(2):
            run.until(r"Blocking\r\n[^>]*> ")
            run.type("\n")
            run.until(r"Your words\r\n[^>]*> ")
            run.type("Keep the table.\n\n")
            run.until(r"Record this\? [^>]*> ")
            run.type("\n")
        assert "Synthesis" in run.until(r"Title\r\n[^>]*> ")
        run.type("\x04")
        code, rest = run.end()
    assert code == 8
    assert f"`council recover {user.session.name} --speaker human`" in rest
    assert len([*user.session.glob("turns/01-positions/*.md")]) == 2


@pytest.mark.parametrize("columns", [40, 80, 120])
def test_the_live_view_fits_the_window_and_is_wiped_at_the_end(user: User, agreed: Path, columns: int) -> None:
    with Running(user, "run", "--speaker", "replay", "--pace", "real", "--from", agreed, Q, columns=columns) as run:
        code, _ = run.end()
        screen = Terminal(columns)
        screen.write(run.raw)
    assert code == 0
    assert "so far" in run.raw
    assert "so far" not in screen.text
    assert "✓ Engineer (Marcus)" in screen.text
    assert "Keep PostgreSQL." in screen.text
    assert f"council show {user.session.name}" in screen.text.replace("\n", "")


def test_a_picture_from_before_the_process_was_put_aside_is_left_alone(user: User, agreed: Path) -> None:
    words = agreed.read_text("utf-8").replace("at some length", "at some length" + " word" * 200)
    slow = user.write("slow.yaml", words)
    with Running(user, "run", "--speaker", "replay", "--pace", "real", "--from", slow, Q) as run:
        for _ in range(3):
            run.until("so far")
            os.kill(run.process.pid, signal.SIGCONT)
        assert run.end()[0] == 0
        screen = Terminal(80)
        screen.write(run.raw)
    assert 1 <= screen.text.count("so far") <= 3


@pytest.mark.parametrize("key", ["\x03", "\x1a"], ids=["ctrl-c", "ctrl-z"])
def test_after_a_run_that_was_ended_or_put_aside_the_terminal_is_as_before(user: User, agreed: Path, key: str) -> None:
    """It echoes, and what is typed then reaches the shell, once."""
    slow = agreed.read_text("utf-8").replace("at some length", "at some length" + " word" * 3_000)
    script = user.write("slow.yaml", slow)
    with Shell(user) as shell:
        shell.type(f"./council run --speaker replay --pace real --from {script.name} 'Yes or no?'\n")
        shell.until("so far")
        shell.type(key)
        shell.until("ready> ")
        assert shell.echoes
        shell.type("echo $((40 + 2))\n")
        shown = shell.until(r"\n42\r\n(.|\n)*ready> ")
    assert shown.count("40 + 2") == 1
    assert "Traceback" not in shell.raw


def test_in_the_background_nothing_is_drawn(user: User, agreed: Path) -> None:
    with Behind(user, "run", "--speaker", "replay", "--pace", "real", "--from", agreed, Q) as run:
        code, _ = run.end()
    assert code == 0, run.raw
    assert "so far" not in run.raw
    assert "\x1b[J" not in run.raw
    assert "Keep PostgreSQL." in run.raw


@pytest.mark.parametrize(
    ("no_color", "term", "coloured"), [("", "xterm", True), ("", "dumb", False), ("1", "xterm", False)]
)
def test_colours_are_shown_where_they_are_wanted(
    user: User, agreed: Path, no_color: str, term: str, coloured: bool
) -> None:
    with Running(user, "run", "--speaker", "replay", "--from", agreed, Q, NO_COLOR=no_color, TERM=term) as run:
        assert run.end()[0] == 0
    assert ("\x1b[1m" in run.raw, "\x1b[32m" in run.raw) == (coloured, coloured)
    assert "\x1b" not in run.raw or term != "dumb"


def test_words_of_members_move_no_cursor(user: User, agreed: Path) -> None:
    evil = "\x1b]0;owned\x07\x1b[2J\u202edlrow"
    turns = {
        turn: reply.replace("length", f"length {evil}") for turn, reply in yaml.safe_load(agreed.read_text()).items()
    }
    turns["04-synthesis/chair"] = turns["04-synthesis/chair"].replace("Keep PostgreSQL.", f"Keep {evil}PostgreSQL.")
    script = user.write("evil.yaml", yaml.safe_dump(turns))
    with Running(user, "run", "--speaker", "replay", "--from", script, Q) as run:
        assert run.end()[0] == 0
        Terminal(80).write(run.raw)  # refuses every sequence that council does not write itself
    for words in (
        ("show",),
        ("show", "synthesis"),
        ("show", "01-positions/engineer"),
        ("list",),
        ("brief", "last", "02-challenges/engineer"),
    ):
        with Running(user, *words, PAGER="cat") as run:
            assert run.end()[0] == 0
            Terminal(80).write(run.raw)


def test_show_is_read_on_a_terminal(user: User, agreed: Path) -> None:
    assert user.replay(agreed, Q).code == 0
    with Running(user, "show", columns=60, PAGER="cat") as run:
        assert run.end()[0] == 0
        screen = Terminal(60)
        screen.write(run.raw)
    assert "Round 1: Initial Positions" in screen.text
    assert "####" not in screen.text
    assert "**" not in screen.text


def test_a_question_comes_again_after_it_was_put_aside(user: User, waiting: str) -> None:
    with Running(user, "answer") as run:
        run.until(r"Gate\r\n[^>]*> ")
        os.kill(run.process.pid, signal.SIGCONT)
        run.until(r"> ")
        run.type("\x04")
        assert run.end()[0] == 8


@pytest.mark.parametrize("columns", [40, 60, 80, 120])
def test_a_list_fits_the_window_and_shows_the_topic(user: User, written: Path, columns: int) -> None:
    assert user.replay(written / "dissent.yaml", "Redis or PostgreSQL for the whole of it?").code == 0
    with Running(user, "list", columns=columns) as run:
        assert run.end()[0] == 0
    lines = run.raw.splitlines()
    assert len(lines) == 2
    assert all(len(line) <= columns for line in lines)
    assert f"{user.session.name}  " in lines[1]
    assert "Redis or" in lines[1]
    assert ("agreed with dissent" in lines[1]) == (columns >= 60)


def test_a_page_does_not_flood_the_terminal(user: User, agreed: Path) -> None:
    assert user.replay(agreed, Q).code == 0
    with Running(user, "show", "--html") as run:
        code, shown = run.end()
    assert code == 2
    assert "-o debate.html" in shown
    assert "<html" not in shown


def test_a_person_answers_in_any_locale(user: User, waiting: str) -> None:
    with Running(user, "answer", LANG="C", LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0") as run:
        run.until(r"Gate\r\n[^>]*> ")
        run.type("approve\n")
        run.until(r"Reason\r\n[^>]*> ")
        run.type("Größe 会议\n\n")
        run.until(r"Record this\? [^>]*> ")
        run.type("\n")
        code, rest = run.end()
    assert "Error" not in rest
    assert code == 0
    assert "Größe 会议" in (user.session / "turns/01-positions-gate/human.md").read_text("utf-8")


def test_what_was_typed_before_the_question_is_no_answer(user: User, waiting: str) -> None:
    with Running(user, "answer") as run:
        run.type("veto\n\ny\n")
        run.until(r"Gate\r\n[^>]*> $")
        run.type("approve\n")
        run.until(r"Reason\r\n[^>]*> ")
        run.type("\n")
        run.until(r"Record this\? [^>]*> ")
        run.type("\n")
        assert run.end()[0] == 0
    assert "## Gate\napprove" in (user.session / "turns/01-positions-gate/human.md").read_text("utf-8")


def test_a_line_that_the_terminal_cuts_is_recorded_by_nobody_unseen(user: User, waiting: str) -> None:
    """A terminal gives at most 4,095 bytes of a line. What came is shown, and can be corrected before it counts."""
    with Running(user, "answer") as run:
        run.until(r"Gate\r\n[^>]*> ")
        run.type("approve\n")
        run.until(r"Reason\r\n[^>]*> ")
        run.type("word " * 1_200 + "\n")
        assert "The terminal cuts a line after 4095 bytes, so nothing of this was taken." in run.until(r"type e\s+> $")
        run.type("\n")
        run.until(r"Record this\? [^>]*> ")
        run.type("n\n")
        run.until(r"Gate\r\n[^>]*> ")
        run.type("\x04")
        assert run.end()[0] == 8
    assert not (user.session / "turns/01-positions-gate").exists()
