"""What a person sees: on terminals wide and narrow, with colours and without; and pipes get the Markdown itself."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import unicodedata
from collections.abc import Callable
from functools import cache

import pytest

from council import text_width
from council.replies.compact import compact
from council.speakers.replay import THOUGHT, rhythm
from council.terminal import markdown, screen, table, watch
from council.terminal.screen import Screen
from council.text import harmless
from council.workflow.model import Kind
from tests.fakeapi import Answer, FakeApi, Request, Responder
from tests.helpers import CODE, Table, User, agreed, disputed, script
from tests.terminal import Shell, Shown, Terminal

KEY = "sk-ant-of-the-tests"
EVIL = "Words \x1b[2J\x1b[3A\x1b]0;owned\x07 and \x1b[31mmore\x08\x9b5A of them"
LONG = "A measurement comes first, and after it whatever it shows to be needed: an index, a cache, or nothing at all. "
WIDE = "日本語の文章もここに混ざっています🚀と⚙️の絵文字" * 4


@pytest.fixture
def user(tmp_path) -> User:
    return User(tmp_path, {"ANTHROPIC_API_KEY": KEY})


def words() -> dict[str, str]:
    found = disputed()
    found["01-positions/architect"] = EVIL
    found["01-positions/designer"] = LONG * 3
    found["01-positions/engineer"] = f"- {WIDE}\n- {LONG}"
    return found


def debate(user: User, columns: int = 80, rows: int = 30, **env: str) -> Shown:
    """A debate over HTTP, streamed slowly enough for the block to be drawn."""
    with FakeApi(Table(user, words(), chunks=6, delay=0.05)) as api:
        user.configure(f"endpoints:\n  anthropic: {{base_url: {api.url}}}\nretry: {{budget: 0}}")
        return Shown(user, ("run", "Shall we?"), columns, rows, **env)


@pytest.fixture(scope="module")
def held(tmp_path_factory) -> Callable[[int, int], tuple[User, Shown]]:
    """That debate in a window of this size, held once for all who look at it."""

    @cache
    def hold(columns: int, rows: int) -> tuple[User, Shown]:
        user = User(tmp_path_factory.mktemp("user"), {"ANTHROPIC_API_KEY": KEY})
        return user, debate(user, columns, rows)

    return hold


def longest(text: str) -> int:
    return max(map(text_width.width, text.splitlines()))


# ---- keys typed meanwhile ----

BLOCK = "[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]"


class Held(FakeApi):
    """Answers nobody until it is opened."""

    def __init__(self, responder: Responder) -> None:
        super().__init__(responder)
        self.opened = asyncio.Event()

    def open(self) -> None:
        self._loop.call_soon_threadsafe(self.opened.set)

    async def _answer(self, request: Request, writer: asyncio.StreamWriter) -> bool:
        await self.opened.wait()
        return await super()._answer(request, writer)


@pytest.fixture
def api(user):
    with Held(Table(user, words())) as api:
        user.configure(f"endpoints:\n  anthropic: {{base_url: {api.url}}}\nretry: {{budget: 0}}")
        yield api


@pytest.fixture
def shell(user, api):
    """A shell in which `council run` waits for its first answers, with its block drawn."""
    with Shell(user) as shell:
        shell.type("./council run 'Shall we?'\n")
        shell.until(BLOCK)
        assert not shell.echoes
        yield shell


def test_typed_keys_spoil_no_block_and_wait_for_the_shell(shell, api):
    shell.type("echo typed-$((40+2))\n")
    shell.until(BLOCK)
    api.open()
    assert "typed" not in shell.until("archive: ")
    assert shell.until("typed-42").count("ready> ") == 1, "the shell has read what was typed, once"
    assert shell.echoes


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_gives_the_terminal_back(number, shell):
    shell.type("lost keys")
    if number == signal.SIGINT:
        shell.type("\x03")
    else:
        os.killpg(os.tcgetpgrp(shell.ours), number)
    ended = shell.until("ready> ")
    assert f"stopped by {number.name}" in ended
    assert "lost keys" not in ended
    assert shell.echoes


def test_an_error_gives_the_terminal_back(shell, api):
    api.responder = lambda _: Answer(fault="status", status=400)
    api.open()
    assert "answered 400" in shell.until("ready> ")
    assert shell.echoes


def test_a_debate_that_is_put_aside_leaves_the_terminal_and_comes_back(shell, api):
    shell.type("\x1a")
    aside = shell.until("(?i)stopped.*(?s:.*)ready> ")
    assert not re.search(BLOCK, aside.rpartition("\x1b[J")[2]), "the block is wiped before the shell speaks"
    assert shell.echoes
    shell.type("fg\n")
    shell.until(BLOCK)
    assert not shell.echoes
    shell.type("\x1a")
    shell.until("ready> ")
    shell.type("bg\n")
    shell.until("ready> ")
    assert shell.echoes
    api.open()
    behind = shell.until("archive: ")
    assert not re.search(BLOCK, behind), "in the background nothing is drawn"
    assert "Outcome" in behind
    assert shell.echoes


# ---- a whole debate ----


@pytest.mark.parametrize(("columns", "rows"), [(80, 30), (40, 30), (120, 9)])
def test_a_debate_on_a_terminal(columns, rows, held):
    user, shown = held(columns, rows)
    assert shown.code == 0, shown.raw
    text = shown.screen.text
    assert not re.search("[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]", text), "the block is gone in the end"
    assert "── Round 1: Initial Positions ──" in text
    assert "━━ Council Synthesis ━━" in text
    assert "Stance: disagree\nBlocking:\n- The restore is untested." in text
    assert "Round 2 closed: 4 replies" in text
    assert "Outcome: agreed with dissent" in text
    assert f"/council-sessions/{user.session.name}archive:" in text.replace("\n", ""), "the paths are there"
    assert " ".join(LONG.split()) in " ".join(text.split())
    assert "Words and more5A of them" in text
    assert "owned" not in shown.raw


def test_the_block_shows_who_speaks_and_what(held):
    moments = held(80, 30)[1].moments()
    blocks = [text for text in moments if re.search("^⠋|^[⠙⠹⠸⠼⠴⠦⠧⠇⠏]", text, re.M)]
    several = [text for text in blocks if len(re.findall("^[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] ", text, re.M)) == 4]
    assert several, "four seats speak at once, each in a row"
    assert any(re.search(r"^. Designer \(Aditi\) +….*\w", text, re.M) for text in several), "the last words are shown"
    assert all(re.search(r"^  [\d,]+ tokens · \d+ s · \$\d", text, re.M) for text in several)
    assert all(text.count("Round 1: Initial Positions") <= 1 for text in moments), "the block is drawn over itself"


def test_the_block_shows_one_at_a_time_where_one_at_a_time_speaks(user):
    """The others wait for their place, and are only counted."""
    with FakeApi(Table(user, words(), chunks=6, delay=0.05)) as api:
        user.configure(f"endpoints:\n  anthropic: {{base_url: {api.url}}}\nretry: {{budget: 0}}\nconcurrency: 1")
        shown = Shown(user, ("run", "Shall we?"), 80, 30)
    assert shown.code == 0, shown.raw
    blocks = [text for text in shown.moments() if re.search(f"^{BLOCK}", text, re.M)]
    rows = [re.findall(f"^{BLOCK} [A-Z]", text, re.M) for text in blocks]
    assert max(map(len, rows)) == 1
    assert any(re.search(r"^  [\d,]+ tokens · .* · 3 waiting$", text, re.M) for text in blocks)


@pytest.mark.parametrize(("columns", "rows"), [(40, 30), (120, 9)])
def test_where_there_is_little_room_one_row_has_to_do(columns, rows, held):
    _, shown = held(columns, rows)
    assert not re.search(r"\x1b\[\d*A", shown.raw)
    assert any(re.search("^[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] [0-9,]+ tokens · [0-9]+ s · [$]0", text, re.M) for text in shown.moments())


@pytest.mark.parametrize("columns", [80, 40])
def test_no_line_is_longer_than_the_window(columns, held):
    _, shown = held(columns, 30)
    rows = [
        row
        for row in shown.raw.replace("\r\n", "\n").split("\n")
        if not re.search("~/memory|[0-9a-f]{64}|^read it: ", row)  # what is copied is not broken
    ]
    drawn = [part for row in rows for part in re.split(r"\r|\x1b\[\d*[AJK]", row)]
    assert max(map(text_width.width, drawn)) < columns


def test_who_is_absent_is_told_once_and_not_measured(user):
    """Where the debate itself is seen, its turns say who was not heard; a pipe leaves that to stderr."""
    gone = Answer(fault="status", status=500)
    for stdout in ("terminal", "pipe"):
        table = Table(user, agreed(), {f"{round}/researcher": [gone] for round in ("01-positions", "02-challenges")})
        with FakeApi(table) as api:
            user.configure(f"endpoints:\n  anthropic: {{base_url: {api.url}}}\nretry: {{budget: 0}}")
            shown = Shown(user, ("run", "Shall we?", "--quorum", "3"), 80, 30, stdout=stdout)
        assert shown.code == 0, shown.raw
        text = shown.screen.text
        assert "Round 1 closed: 3 replies · 1 absent" in text
        assert "Researcher (Ava): 0 words" not in text
        assert ("Researcher (Ava) is not heard" in text) is (stdout == "pipe")
        assert ("absent: anthropic answered 500" in text) is (stdout == "terminal")


def test_a_row_counts_down_while_its_seat_waits(monkeypatch):
    monkeypatch.setattr(watch.time, "monotonic", lambda: 100.0)
    speech = watch.Speech(None, until=102.5)
    assert speech.waits == "waiting 3 s"
    monkeypatch.setattr(watch.time, "monotonic", lambda: 102.4)
    assert speech.waits == "waiting 1 s"
    monkeypatch.setattr(watch.time, "monotonic", lambda: 102.6)
    assert speech.waits == ""


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.4, "0 s"), (99.4, "99 s"), (99.6, "1 min 40 s"), (119.7, "2 min 00 s"), (3_599.6, "60 min 00 s")],
)
def test_a_minute_has_sixty_seconds(seconds, words):
    assert watch.format_duration(seconds) == words


def test_no_row_ends_with_what_would_join_it_to_the_next(user):
    family = {turn: "👩\u200d👩\u200d👧 " * 12 if turn.startswith("01-") else said for turn, said in agreed().items()}
    with FakeApi(Table(user, family, chunks=60, delay=0.01)) as api:
        user.configure(f"endpoints:\n  anthropic: {{base_url: {api.url}}}\nretry: {{budget: 0}}")
        shown = Shown(user, ("run", "Shall we?"), 80, 30, NO_COLOR="1")
    assert shown.code == 0
    rows = re.findall(f"({BLOCK} .*?)\x1b\\[[JK]", shown.raw)
    assert any("👩👩👧" in row for row in rows)
    assert not [row for row in rows if "\u200d" in row]


def test_without_colours(user):
    shown = debate(user, NO_COLOR="1")
    assert shown.screen.colours == 0
    assert "**Stance:** disagree" in shown.screen.text
    assert "── Round 1: Initial Positions ──" in shown.screen.text
    assert re.search("[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]", shown.raw), "the block needs no colour"


def test_a_dumb_terminal_gets_neither_colours_nor_a_block(user):
    shown = debate(user, TERM="dumb")
    assert shown.code == 0
    assert "\x1b" not in shown.raw
    assert not re.search("[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]", shown.raw)
    assert longest("\n".join(row for row in shown.screen.text.split("\n") if "closed" not in row)) <= 80


def test_a_pipe_gets_the_words_themselves(user):
    """The heading, then every reply as it was given, less what a terminal would obey."""
    words = agreed() | {"01-positions/designer": LONG * 3}
    shown = Shown(
        user, ("run", "Shall we?", "--speaker", "replay", "--from", script(user, words)), 80, 30, stdout="pipe"
    )
    assert shown.code == 0
    out = shown.out.decode()
    names = {"architect": "🏛️ Architect (Serena)", "designer": "🎨 Designer (Aditi)"}
    names |= {"engineer": "⚙️ Engineer (Marcus)", "researcher": "🔍 Researcher (Ava)"}
    assert out.startswith("## Council Debate: Shall we?\n\n**Session ID:** ")
    rounds = {"Round 1: Initial Positions": "01-positions", "Round 2: Responses & Challenges": "02-challenges"}
    for title, phase in rounds.items():
        said = "".join(f"**{name}:**\n{words[f'{phase}/{seat}'].strip()}\n\n" for seat, name in names.items())
        assert f"### {title}\n\n{said}" in out
    chair = words["04-synthesis-r01/chair"].strip()
    assert f"### Council Synthesis\n\n**⚖️ Chair:**\n{chair}\n\n**Outcome:** agreed (4/4 agree)\n\n" in out
    assert "\x1b" not in out


# ---- rows ----


def test_a_window_made_narrower_is_cleared_whole(monkeypatch):
    """The terminal has wrapped what was drawn; the block still begins where it began."""
    made = screen.Screen()
    made.block = ["x" * 70, "y" * 30]
    monkeypatch.setattr(screen, "size", lambda _: (100, 30))
    assert made._home() == "\r\x1b[1A"
    monkeypatch.setattr(screen, "size", lambda _: (40, 30))
    assert made._home() == "\r\x1b[2A"
    monkeypatch.setattr(screen, "size", lambda _: (20, 3))
    assert made._home() == "\r\x1b[2A", "never above the window"


@pytest.mark.parametrize("text", [WIDE, LONG, "e\u0301" * 60, "🏳️‍🌈" * 30, "\udcff" * 90, "👩‍👩‍👧" * 20])
@pytest.mark.parametrize("most", [1, 7, 40])
def test_cutting_by_columns(text, most):
    for part in (text_width.cut(text, most), text_width.tail(text, most)):
        assert 0 < text_width.width(part) <= most


@pytest.mark.parametrize(
    ("char", "columns"), [("a", 1), ("日", 2), ("🚀", 2), ("\u0301", 0), ("\u200d", 0), ("·", 1), ("\udcff", 1)]
)
def test_columns(char, columns):
    assert text_width.of(char) == columns


@pytest.mark.parametrize("width", [20, 40, 100])
def test_wrapping_keeps_every_word(width):
    text = f"{LONG}{WIDE} https://example.org/{'x' * 120} {LONG}"
    lines = text_width.wrap(text, width, "- ", "  ")
    assert "".join(text.split()) == "".join("".join(lines).split())[1:]
    assert all(text_width.width(line) <= width for line in lines if "xxx" not in line)
    assert any("/" + "x" * 120 in line for line in lines), "an address stays whole"


# ---- Markdown on a terminal ----


def test_code_and_tables_are_left_as_they_are():
    text = f"```\n{'long ' * 40}\n## no heading\n```\n| {'a' * 200} |"
    assert markdown.Paint(40).text(text) == text


def test_painted_text_says_what_the_plain_one_says():
    text = f"## Points\n\n1. **Strong words** and {LONG}\n\n> quoted {LONG}\n"
    plain = unicodedata.normalize("NFC", text_width.STYLE.sub("", markdown.Paint(50, colour=True).text(text)))
    for word in text.replace("**", "").replace("#", "").split():
        assert word in plain


def test_a_paragraph_that_was_wrapped_for_a_wider_window_is_wrapped_again():
    item = (
        "- one point that is long, and goes on for quite some time, until the line is full\n  and goes on below\n- two"
    )
    text = f"{wrapped(LONG * 3, 90)}\n\n{item}\n\nName: short\n{wrapped(LONG * 2, 110)}  \nafter a break\n"
    shown = markdown.Paint(60).text(text).split("\n")
    assert max(map(text_width.width, shown)) < 60
    paragraph, points, *_ = " ".join(line or "\n" for line in shown).split("\n")
    assert paragraph.split() == (LONG * 3).split()
    assert [line for line in shown[: shown.index("") - 1] if text_width.width(line) < 45] == [], "no ragged line"
    assert points.split() == item.split()
    assert "Name: short" in shown
    assert "after a break" in shown
    assert markdown.Paint(121).text("one\ntwo\n\nthree") == "one\ntwo\n\nthree", "what fits stays as it is"


def wrapped(text, most):
    return "\n".join(text_width.wrap(text, most))


def test_wide_characters_are_not_joined_with_a_space():
    text = f"{WIDE[:30]}\n{WIDE[:30]}"
    assert markdown.Paint(40).text(text).count(" ") == 0


def test_each_long_answer_begins_below_an_empty_line():
    text = "## Blocking\n- one\n- two\n\n## Path\nGo.\n\n## Stance\nagree"
    assert markdown.Paint(60).text(text, ANSWERS) == (
        "**Blocking:**\n- one\n- two\n\n**Path:**\nGo.\n\n**Stance:** agree"
    )
    text = "Prose.\n\n## Stance\nagree\n\n## Blocking\nnone"
    assert markdown.Paint(60).text(text, ANSWERS) == "Prose.\n\n**Stance:** agree\n**Blocking:** none"


def test_headings_on_a_terminal_are_not_glued_to_the_line_above(user):
    words = script(user, disputed())
    shown = Shown(user, ("run", "Shall we?", "--speaker", "replay", "--from", words), 80, 30).screen.text.split("\n")
    rules = [at for at, line in enumerate(shown) if re.match("──|━━", line)]
    assert len(rules) > 4
    assert [shown[at - 1] for at in rules[1:]] == [""] * (len(rules) - 1)


def test_a_second_synthesis_says_why_there_is_one(user):
    example = CODE / "docs" / "example-script.yaml"
    shown = Shown(user, ("run", "Redis?", "--speaker", "replay", "--from", example), 80, 30).screen.text
    _, second = shown.split("━━ Council Synthesis, corrected ━")
    assert "\nAsked once more, because this was left out: Researcher (Ava): disagrees\n" in second
    assert shown.count("Asked once more") == 1


def test_no_text_can_smuggle_a_sequence():
    for colour in (True, False):
        terminal = Terminal(60)
        terminal.write(
            "above\r\n" + markdown.Paint(60, colour).speech(EVIL, "cyan", f"{EVIL}\r\x1b[5A").replace("\n", "\r\n")
        )
        assert terminal.text.startswith("above\n")
        assert "owned" not in terminal.text


ANSWERS = (
    ("stance", Kind("choice", options=("agree", "disagree"))),
    ("blocking", Kind("list")),
    ("path", Kind("text")),
)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Prose.\n\n## Stance\nagree\n\n## Blocking\nnone", "Prose.\n\n**Stance:** agree\n**Blocking:** none"),
        ("## Stance\n\nagree\n\n## Blocking\n- one\n- two", "**Stance:** agree\n**Blocking:**\n- one\n- two"),
        ("## Stance\nI do not know it yet", "**Stance:**\nI do not know it yet"),
        ("## Stance\n## Blocking\nnone", "**Stance:**\n**Blocking:** none"),
        ("## Path\nyes", "**Path:**\nyes"),
        ("## Other\n\nagree", "## Other\n\nagree"),
        ("## Stance", "**Stance:**"),
    ],
)
def test_short_answers_in_a_line(text, shown):
    assert compact(text, ANSWERS) == shown


# ---- the rhythm of a replay ----


@pytest.mark.parametrize("body", ["One two\n\nthree.  ", "", "   ", WIDE, "word"])
@pytest.mark.parametrize("seconds", [0.0, 3.5])
def test_the_rhythm_of_a_replay(body, seconds):
    beats = list(rhythm(body, seconds))
    moments = [moment for moment, _ in beats]
    assert "".join(piece for _, piece in beats) == body
    assert moments == sorted(moments)
    assert moments[-1] == pytest.approx(seconds)
    assert moments[0] >= seconds * THOUGHT
    assert beats == list(rhythm(body, seconds))


def test_a_replay_takes_the_seconds_of_the_receipts(user):
    words = script(user, agreed())
    assert user.council("run", "Shall we?", "--speaker", "replay", "--from", words, "--pace", "real").code == 0
    spoken = {path.name: path.read_text() for path in user.session.glob("turns/01-positions/*.md")}
    seconds = {name: float(re.search(r"^seconds: (.*)$", text, re.M)[1]) for name, text in spoken.items()}
    assert all(0.1 < taken < 20 for taken in seconds.values()), seconds
    first = user.session
    assert user.council("run", "x", "--speaker", "replay", "--from", first.name, "--pace", "real").code == 0
    (again,) = (folder for folder in user.sessions if folder != first)
    for path in again.glob("turns/01-positions/*.md"):
        taken = float(re.search(r"^seconds: (.*)$", path.read_text(), re.M)[1])
        assert seconds[path.name] <= taken < seconds[path.name] + 20


def test_only_a_replay_has_a_pace(user):
    ended = user.council("run", "Shall we?", "--speaker", "assistant", "--pace", "real")
    assert ended.code == 2
    assert "--pace real goes with --speaker replay" in ended.err
    assert not user.sessions


# ---- show and list ----


def test_show_on_a_terminal_goes_through_the_pager(user):
    assert user.council("run", "Shall we?", "--speaker", "replay", "--from", script(user, words())).code == 0
    pager = user.write("pager", '#!/bin/sh\necho "the pager"\ncat\n')
    pager.chmod(0o755)
    shown = Shown(user, ("show",), 60, 30, PAGER=str(pager))
    text = shown.screen.text
    assert text.startswith("the pager\n── Council Debate: Shall we? ─")
    assert "sha256:" not in text.replace("| ", "")
    assert "\x1b" not in shown.raw, "this pager did not say that it knows colours"
    piped = Shown(user, ("show",), 60, 30, stdout="pipe", PAGER=str(pager))
    assert piped.out.decode().rstrip() == harmless((user.session / "transcript.md").read_text()).rstrip()


ROW = {
    "session_id": "20261118-145118-d31870ac", "state": "complete", "why": "agreed", "age": "3h", "topic": WIDE,
    "outcome": "stable disagreement", "turns": 13, "due": [], "usd": 0.1234,
}  # fmt: skip
BAD = ROW | {
    "state": "damaged",
    "why": f"/somewhere/{ROW['session_id']}/turns/x.md: it is not as council wrote it",
    "topic": "",
    "outcome": None,
}
BAD |= {"usd": None}


@pytest.mark.parametrize("columns", [120, 0])
def test_the_table_of_sessions(columns):
    header, *rows = table.lines([ROW, BAD], columns, colour=False)
    assert header.split() == list(table.COLUMNS)
    assert not columns or longest("\n".join([header, *rows])) < columns
    assert rows[0].split()[0] == ("d31870ac" if columns else ROW["session_id"])
    assert "$0.12  stable disagreement  日本" in rows[0]
    assert rows[1].split()[1:5] == ["damaged", "3h", "?", "-"]
    assert header.index("OUTCOME") == rows[0].index("stable")
    assert columns or WIDE in rows[0]
    assert [text_width.STYLE.sub("", line) for line in table.lines([ROW, BAD], columns, colour=True)] == [header, *rows]


OWN = ROW | {"session_id": "a-name-of-the-users-own-for-a-session", "topic": LONG}
LENGTHY = ROW | {
    "outcome": "cap (0 of 1 pass trial (generator: fail))",
    "topic": "Make parse() accept an empty line " * 5,
}


@pytest.mark.parametrize("columns", [60, 80, 120, 200])
def test_the_topic_has_at_least_half_of_the_width(columns):
    """Whatever the ids and the outcomes are."""
    header, *rows = table.lines([ROW, LENGTHY, OWN], columns, colour=False)
    assert longest("\n".join([header, *rows])) < columns
    begin = header.index("TOPIC")
    assert columns - 1 - begin >= columns // 2
    assert rows[1][begin:].startswith("Make parse() accept an empt"[: columns // 2 - 1])
    assert rows[2][begin:].startswith(LONG[: columns // 2 - 1])
    assert text_width.width(rows[0]) > columns - 3, "what there is of room is used"
    assert rows[0].startswith("d31870ac "), "an id that council chose is short enough"


def test_short_topics_leave_the_room_to_the_others():
    _, row = table.lines([OWN | {"topic": "Shall we?"}], 90, colour=False)
    assert row == "a-name-of-the-users-own-for-a-session   3h  $0.12  stable disagreement  Shall we?"


def test_a_session_of_a_project_keeps_its_whole_id():
    header, row, _ = table.lines([ROW | {"topic": LONG}, OWN], 80, colour=False, whole=True)
    assert header.split() == ["SESSION", "AGE", "STATE", "TOPIC"]
    assert row.startswith(ROW["session_id"])


@pytest.mark.parametrize("columns", [80, 74])
def test_in_a_narrow_window_a_complete_debate_shows_its_outcome_as_its_state(columns):
    running = ROW | {"state": "running", "outcome": None, "topic": LONG, "usd": 0.001}
    header, *rows = table.lines([ROW, BAD, running], columns, colour=False)
    assert header.split() == ["SESSION", "AGE", "COST", "STATE", "TOPIC"]
    assert longest("\n".join([header, *rows])) < columns
    assert re.match(r"d31870ac   3h   \$0.12  stable d\S*…?  +日本", rows[0])
    assert re.match(r"d31870ac   3h       \?  damaged  +\(turns/x.m", rows[1])
    assert re.match(r"d31870ac   3h  <\$0.01  running  +A measu", rows[2])
    coloured = table.lines([ROW, BAD, running], columns, colour=True)
    assert [text_width.STYLE.sub("", line) for line in coloured] == [header, *rows]


def test_in_a_very_narrow_window_the_table_has_no_cost():
    header, *rows = table.lines([ROW, BAD], 40, colour=False)
    assert header.split() == ["SESSION", "AGE", "STATE", "TOPIC"]
    assert longest("\n".join([header, *rows])) < 40
    assert rows[0].startswith("d31870ac   3h  stable…   日本")


@pytest.mark.parametrize(("known", "shown"), [(0.0, "?"), (0.001, "<$0.01+"), (0.42, "$0.42+")])
def test_a_cost_of_which_a_part_is_known(known, shown):
    _, row = table.lines([ROW | {"usd": None, "totals": {"usd_at_least": known}}], 0, colour=False)
    assert shown in row.split()


def test_a_part_of_a_debate_is_shown_like_the_whole_on_a_terminal_and_as_it_is_in_a_pipe(user):
    assert user.council("run", "Shall we?", "--speaker", "replay", "--from", script(user, agreed())).code == 0
    shown = Shown(user, ("show", "last", "synthesis"), 80, 30)
    assert shown.screen.colours
    assert "#" not in shown.screen.text
    assert "Recommended path" in shown.screen.text
    assert "\x1b" not in (piped := Shown(user, ("show", "last", "synthesis"), 80, 30, stdout="pipe").out.decode())
    assert "# Recommended path" in piped


def test_a_page_does_not_flood_the_terminal(user):
    assert user.council("run", "Shall we?", "--speaker", "replay", "--from", script(user, agreed())).code == 0
    shown = Shown(user, ("show", "last", "--html"), 80, 30)
    assert shown.code == 2
    assert "add -o debate.html" in " ".join(shown.screen.text.split())
    assert Shown(user, ("show", "last", "--html"), 80, 30, stdout="pipe").out.startswith(b"<!DOCTYPE html>")


def test_the_table_on_a_terminal_and_in_a_pipe(user):
    assert user.council("run", "Shall we?", "--speaker", "replay", "--from", script(user, agreed())).code == 0
    shown = Shown(user, ("list",), 80, 30)
    assert shown.screen.colours
    assert [line.split()[0] for line in shown.screen.text.split("\n")] == ["SESSION", user.session.name[-8:]]
    assert user.council("status", user.session.name[-8:]).code == 0, "the short id is taken for the long one"
    piped = Shown(user, ("list",), 80, 30, stdout="pipe").out.decode()
    assert [line.split()[0] for line in piped.splitlines()] == ["SESSION", user.session.name]
    assert "\x1b" not in piped


def test_the_receipts_fit_a_usual_window(user):
    with FakeApi(
        Table(user, disputed(), usage={"input_tokens": 12_345, "cache_read_input_tokens": 10_000, "output_tokens": 1})
    ) as api:
        user.configure(f"endpoints:\n  anthropic: {{base_url: {api.url}}}")
        assert user.council("run", "Shall we?", "--speaker", "anthropic").code == 0
    shown = Shown(user, ("show",), 80, 30, PAGER="cat").screen.text
    receipts = shown[shown.index("── Receipts ─") :].split("\n")
    assert receipts[2].split() == ["TURN", "ANSWERED", "BY", "IN", "CACHED", "OUT", "USD"]
    assert receipts[3].startswith("01-positions/architect    claude-sonnet-5-5  22,345  10,000    1  0.0257")
    assert max(map(text_width.width, receipts)) < 80
    assert "13 calls of at most 24, 290,485 tokens in of at most" in receipts[-2]
    status = Shown(user, ("status",), 40, 30).screen.text
    assert "(130,000 from\nthe cache)" in status


def test_lasting():
    assert [watch.format_duration(seconds) for seconds in (0.4, 99, 125)] == ["0 s", "99 s", "2 min 05 s"]


@pytest.mark.parametrize("columns", [40, 80])
def test_a_run_ends_with_how_to_read_it_on_one_line(user, columns):
    shown = Shown(user, ("run", "Shall we?", "--speaker", "replay", "--from", script(user, agreed())), columns, 30)
    lines = shown.raw.split("\r\n")
    assert f"read it: council show {user.session.name}" in lines, "a terminal that wraps it still copies one line"
    assert user.council("show", user.session.name).code == 0


def test_what_a_signal_does_to_the_block_waits_until_it_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stream cannot be written twice at once: Ctrl-Z in the middle of a line ended the program."""
    screen, done = Screen(), list[str]()

    def struck(stream: object, text: str) -> None:
        done.append(text)
        if text == "a line\n":
            screen.when_written(lambda: screen.insist("wiped\n"))

    monkeypatch.setattr(screen, "_put", struck)
    screen.insist("a line\n")
    screen.when_written(lambda: screen.insist("at once\n"))
    assert done == ["a line\n", "wiped\n", "at once\n"]
