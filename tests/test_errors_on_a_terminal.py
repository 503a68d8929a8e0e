"""Errors on a terminal: wrapped by the program, each command in a row of its own; in a pipe, one line as it is."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import termios
from pathlib import Path

import pytest

from council.terminal.errors import wrap_line
from council.text_width import width
from tests.helpers import User

LONG = (
    "council: nobody can speak: the embedded model needs a library of the system: install it "
    "(`apt install libgomp1`), then run this again; or log in with `claude` and type `council run --speaker claude`"
)


@pytest.mark.parametrize("columns", [39, 60, 79, 100])
def test_rows_fit_and_commands_have_rows_of_their_own(columns: int) -> None:
    rows = list(wrap_line(LONG, columns))
    assert [row for row in rows if width(row) > columns] == []
    assert "    apt install libgomp1" in rows
    assert "    council run --speaker claude" in rows
    assert re.findall(r"[\w-]+", " ".join(rows)) == re.findall(r"[\w-]+", LONG)
    assert [row for row in rows if row[:1] in "(),;" or row[-1:] == "("] == []


def test_a_command_that_is_too_long_for_a_row_is_not_broken() -> None:
    command = f"council recover 20261119-120000-1a2b3c4d --from /home/somebody/{'x' * 60}/script.yaml"
    assert f"    {command}" in list(wrap_line(f"kept: 4 turns in ~/x; go on with: {command}", 40))


def test_brackets_around_words_stay() -> None:
    line = "(once more) there is no repository here; name it with --repo (the session began in ~/x, or go there)"
    assert " ".join(wrap_line(line, 40)) == line


def test_a_short_line_stays_as_it_is() -> None:
    line = "council: there is no session; `council list` shows them"
    assert list(wrap_line(line, 79)) == [line]


def on_a_terminal(user: User, columns: int, *words: str) -> list[str]:
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    with user.spawn(*words, stderr=theirs) as process:
        os.close(theirs)
        seen = b""
        while True:
            try:
                piece = os.read(ours, 65536)
            except OSError:
                break
            if not piece:
                break
            seen += piece
        assert process.wait(timeout=60) == 2
    os.close(ours)
    return seen.decode().replace("\r\n", "\n").splitlines()


@pytest.mark.parametrize("columns", [40, 80])
def test_an_error_on_a_terminal_and_in_a_pipe(columns: int, tmp_path: Path) -> None:
    user = User(tmp_path)
    words = ("run", "--workflow", "nothing-like-it", "Shall we?")
    rows = on_a_terminal(user, columns, *words)
    piped = user.process(*words).err.splitlines()
    assert len(piped) == 2
    assert piped[0].startswith('council: there is no workflow "nothing-like-it"; known: board, ')
    assert max(map(len, rows)) < columns
    assert re.findall(r"[\w-]+", " ".join(rows)) == re.findall(r"[\w-]+", " ".join(piped))
    assert ("    council run -h" in rows) is (columns == 40)
