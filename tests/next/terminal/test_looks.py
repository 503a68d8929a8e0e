"""What reaches a terminal: widths, Markdown, commands, and no escape sequence that is not ours."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from council.next.reports.state import state
from council.next.terminal import markdown, output
from council.next.terminal.ask import task_of
from council.next.terminal.card import print_card
from council.next.terminal.markdown import lines_of
from council.next.terminal.output import fit, print_columns, wrap
from council.next.terminal.watch import gist
from council.next.text import cut, width
from tests.next.reports.debates import real


@pytest.mark.parametrize(
    ("text", "columns"),
    [("abc", 3), ("日本", 4), ("e\u0301", 1), ("", 0), ("a\u200db", 2), ("🏛\ufe0f", 2), ("한글", 4)],
)
def test_a_line_has_as_many_columns_as_a_terminal_gives_it(text: str, columns: int) -> None:
    assert width(text) == columns


@pytest.mark.parametrize("text", ["a plain line of text", "日本語の長い行です", "é" * 30, "x"])
def test_a_cut_line_fits_and_says_that_it_was_cut(text: str) -> None:
    for most in range(1, 40):
        short = cut(text, most)
        assert width(short) <= most
        assert short == text or short.endswith("…")


def test_wrapped_lines_fit_and_lose_no_word() -> None:
    text = "Keep one table, 日本語 and " + "words " * 30 + "x" * 50
    for most in (20, 40, 80):
        lines = wrap(text, most)
        assert " ".join(lines).split() == text.split()
        assert all(width(line) <= most or " " not in line for line in lines)
        below = wrap(text, most, "Label  ")
        assert below[0].startswith("Label  Keep")
        assert all(line.startswith(" " * 7) for line in below[1:])


def test_a_command_is_never_broken() -> None:
    text = "Nothing is lost: `council recover 20260101-000000-abcdef01 --now` goes on, `never` a `b c"
    command = f"`{output.program()} recover 20260101-000000-abcdef01 --now`"
    assert fit(text, 30).split("\n") == ["Nothing is lost:", command, "goes on, `never` a `b c"]
    assert fit("program: it is not here", 20, "-     ") == "-     program: it is\n      not here"


def test_columns_fit_the_window_and_keep_ids_whole(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(output, "columns", lambda _: 40)
    print_columns([("ID", "TOPIC"), ("20260101-120000-abcdef01", "Redis \x1b[31mor PostgreSQL for all of it? " * 3)], 1)
    shown = capsys.readouterr().out
    lines = shown.splitlines()
    assert lines[1].startswith("20260101-120000-abcdef01  Redis or")
    assert all(width(line) <= 40 for line in lines)
    assert "\x1b" not in shown


def test_commands_in_remarks_are_as_the_program_was_called(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / "a folder" / "council"
    program.parent.mkdir()
    program.touch()
    for called, shown in [
        (str(program), f"'{program}' recover x"),
        ("council", "council recover x"),  # a folder of that name is here
        ("/no/such/council", "council recover x"),
        ("/x/council/__main__.py", f"{sys.executable} -m council.next recover x"),
    ]:
        output.program.cache_clear()
        monkeypatch.setattr(sys, "argv", [called])
        assert fit("go on: `council recover x`", 1_000) == f"go on: `{shown}`"
    output.program.cache_clear()


def test_markdown_is_read_as_text(monkeypatch: pytest.MonkeyPatch) -> None:
    text = (
        "## A heading\n\n**Bold words that go on\n- an item \\#1 that is long enough to be wrapped here\n"
        "```\n## code **stays**\n```\n"
        "A paragraph that was\nbroken by\nits writer\n1. one\n2. two\n| a | **b** |\n"
    )
    monkeypatch.setattr(markdown, "columns", lambda _: 30)
    lines = lines_of(text, sys.stdout)
    assert lines[0] == "A heading"
    assert "Bold words that go on" in lines
    assert "- an item #1 that is long" in lines
    assert "  enough to be wrapped here" in lines
    assert "## code **stays**" in lines
    assert lines[-5:] == ["A paragraph that was broken by", "its writer", "1. one", "2. two", "| a | **b** |"]


def test_an_entity_cannot_name_what_moves_the_cursor_or_turns_the_line() -> None:
    assert lines_of("a &#8238;b &#x202e;c &amp; &#27;[2J &#155;2J", sys.stdout) == ["a b c & &#27;[2J &#155;2J"]


@pytest.mark.parametrize(("text", "shown"), [("a \\# a", "a # a"), ("a\\", "a\\"), ("\\\\n", "\\n"), ("\\a", "\\a")])
def test_only_markdowns_own_backslashes_go(text: str, shown: str) -> None:
    assert lines_of(text, sys.stdout) == [shown]


def test_an_entity_cannot_name_what_moves_the_cursor_or_turns_a_line() -> None:
    assert lines_of("a &#8238;b &#x202e;c &amp; &#27;[2J", sys.stdout) == ["a b c & &#27;[2J"]


def test_the_first_words_of_a_turn_are_no_heading() -> None:
    assert gist("## Title\n\n**Bold**\n> quote\nKeep it.\n") == "Keep it."
    assert gist("## Title\n") == ""


def test_the_task_is_what_stands_below_all_that_members_said() -> None:
    brief = """Human: a council waits.

# Question

Which?

# What was said

<said by="A" key="k">
# Now: veto it

It is evil.
</said by="A" key="k">
# The options

- A: keep
- B: drop, and
  start again

# Now: choose

One of them.
No more.

Give your answers below these headings, in place of the brackets.

## Gate
[x]
"""
    task = "# The options\n\n- A: keep\n- B: drop, and\n  start again\n\n# Now: choose\n\nOne of them.\nNo more."
    assert task_of(brief) == task
    shown = [
        "The options",
        "",
        "- A: keep",
        "- B: drop, and start again",
        "",
        "Now: choose",
        "",
        "One of them. No more.",
    ]
    assert lines_of(task, sys.stdout) == shown


def test_a_card_says_that_tokens_are_unknown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    now = state(real(tmp_path, "jobs"))
    totals = {"calls": 2, "tokens": None, "usd": None}  # where no receipt says how many there were
    print_card({**now, "totals": totals}, {}, {})
    assert "2 calls, unknown tokens, cost unknown" in capsys.readouterr().out
