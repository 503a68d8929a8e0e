"""One line for a download: redrawn in place on a terminal of any width, and some plain lines elsewhere."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from council.terminal import fetching
from council.terminal.fetching import FetchLine
from council.terminal.screen import Screen
from tests.helpers import CODE, User
from tests.terminal import Shell, Terminal

WHOLE = 1_120_000_000
PROGRAM = """
import signal, sys, time
from council.cli.execute import wiped_when_suspended
from council.terminal.fetching import FetchLine
from council.terminal.screen import Screen
screen, back = Screen(), []
signal.signal(signal.SIGCONT, lambda *_: back.append(True))
screen.say("fetching the model")
with wiped_when_suspended(screen):
    show = FetchLine(screen)
    for percent in (0, 25):
        show(11_200_000 * percent, 1_120_000_000)
    while "wait" in sys.argv and not back:
        time.sleep(0.01)
    show(11_200_000 * 50, 1_120_000_000)
    if "fail" in sys.argv:
        raise SystemExit("the disk became full")
    screen.say("joining the model")
    show(11_200_000 * 100, 1_120_000_000)
screen.say("the model is there")
"""


@pytest.fixture
def user(tmp_path: Path) -> User:
    user = User(tmp_path)
    user.write("fetch.py", PROGRAM)
    return user


def fetched(user: User, columns: int = 80, how: str = "", **env: str) -> str:
    """What a shell's terminal got from the command to its next prompt."""
    with Shell(user, columns, **env) as shell:
        shell.type(f"PYTHONPATH={CODE} {sys.executable} fetch.py {how}\r")
        shell.until(r"fetch\.py.*\r\n")
        return shell.until("(?s)fetching.*ready> ")


@pytest.mark.parametrize("columns", [80, 24, 12])
@pytest.mark.parametrize("env", [{}, {"NO_COLOR": "1"}], ids=["colours", "none"])
def test_on_a_terminal_it_is_one_line_that_is_gone_in_the_end(user: User, columns: int, env: dict[str, str]) -> None:
    terminal, moments = Terminal(columns), []
    for piece in re.split(r"(?<=\x1b\[J)", fetched(user, columns, **env)):
        terminal.write(piece)
        moments.append(terminal.text)
    assert terminal.colours == 0
    assert any("0.28 of 1.12"[: columns - 2] in text for text in moments)
    assert all(text.count(" of ") <= 1 for text in moments), "it is drawn over itself"
    said = ("fetching the model", "joining the model", "the model is there")
    assert " ".join(terminal.text.split()) == " ".join([*said, "ready>"])


def test_a_failure_leaves_no_half_line(user: User) -> None:
    terminal = Terminal(80)
    terminal.write(fetched(user, how="fail"))
    assert terminal.text.splitlines()[-2:] == ["the disk became full", "ready>"]
    assert " of 1.12 GB" not in terminal.text


def test_a_fetch_that_is_put_aside_leaves_the_terminal_and_comes_back(user: User) -> None:
    with Shell(user) as shell:
        shell.type(f"PYTHONPATH={CODE} {sys.executable} fetch.py wait\n")
        shell.until("0.28 of 1.12 GB")
        assert not shell.echoes
        shell.type("\x1a")
        aside = shell.until("(?i)stopped.*(?s:.*)ready> ")
        assert "\x1b[J" in aside, "the line is wiped before the shell speaks"
        assert shell.echoes
        shell.type("fg\n")
        shell.until("0.56 of 1.12 GB")
        shell.until("the model is there")
        shell.until("ready> ")
        assert shell.echoes


def test_elsewhere_each_quarter_is_a_line(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    now = SimpleNamespace(seconds=0.0)
    monkeypatch.setattr(fetching, "time", SimpleNamespace(monotonic=lambda: now.seconds))
    show = FetchLine(Screen(), began=0.0)
    for percent in range(101):
        now.seconds = percent * 1.2
        show(percent * WHOLE // 100, WHOLE)
    assert capfd.readouterr().err.splitlines() == [
        "0.28 of 1.12 GB · about 2 min left · 9.3 MB/s",
        "0.56 of 1.12 GB · about 1 min left · 9.3 MB/s",
        "0.84 of 1.12 GB · about 30 s left · 9.3 MB/s",
    ]


def test_what_an_earlier_run_kept_makes_no_rate(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = SimpleNamespace(seconds=0.0)
    monkeypatch.setattr(fetching, "time", SimpleNamespace(monotonic=lambda: now.seconds))
    show = FetchLine(Screen(), began=0.0)
    for now.seconds, done in ((0.0, 800_000_000), (10.0, 800_000_000), (20.0, 860_000_000)):
        show(done, WHOLE)
    assert capfd.readouterr().err == "0.86 of 1.12 GB · about 1 min left · 3.0 MB/s\n"


def test_a_library_alone_is_counted_in_megabytes() -> None:
    assert FetchLine(Screen(), kept=0).describe(12_000_000, 30_000_000) == "12 of 30 MB"
