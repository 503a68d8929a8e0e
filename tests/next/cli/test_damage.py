"""Whatever is done to a file of a session: no command crashes, hangs, lies, or makes it worse."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from council.next.record.session import Session
from tests.helpers import picture
from tests.next.cli import scripts
from tests.next.cli.users import User

Q = "Redis or PostgreSQL?"
RECORD = (
    "program.json",
    "workflow.md",
    "topic.md",
    "metadata.json",
    "attached/01-spec.md",
    "turns/01-positions/engineer.md",
    "turns/04-synthesis/chair.md",
)
BRIEFS = ("briefs/01-positions/shared.md", "briefs/01-positions/engineer.md")
ATTEMPT = "attempts/01-positions/engineer~001.json"
DERIVED = ("state.json", "convergence.json", "transcript.md", "round-1.md", "synthesis.md")
HOLDER = (".lock", "runner.json")
# The result of each mutation: the record is damaged; only its proof is, and the debate can be shown; the file is made
# again; nothing; the system refuses what council wants to do; or the turn is asked for again.
DAMAGED, UNPROVEN, MENDED, HARMLESS, REFUSED, ASKED_AGAIN = "damaged unproven mended harmless refused asked".split()
CODES = {  # of verify, show, recover
    DAMAGED: (5, 1, 1),
    UNPROVEN: (5, 0, 0),
    MENDED: (0, 0, 0),
    ASKED_AGAIN: (0, 0, 0),
    HARMLESS: (0, 0, 0),
    REFUSED: (0, 0, 6),
}


def change(data: Callable[[bytes], bytes]) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(data(path.read_bytes()))


def put(make: Callable[[Path], object]) -> Callable[[Path], None]:
    def act(path: Path) -> None:
        path.unlink()
        make(path)

    return act


def flip(data: bytes) -> bytes:
    at = len(data) // 2
    if not data:
        return b"x"
    return data[:at] + bytes([data[at] ^ 32]) + data[at + 1 :]


CHANGES: dict[str, Callable[[Path], object]] = {
    "emptied": change(lambda _: b""),
    "cut": change(lambda data: data[: len(data) // 3]),
    "cut by a byte": change(lambda data: data[:-1]),
    "a bit flipped": change(flip),
    "a byte order mark": change(lambda data: b"\xef\xbb\xbf" + data),
    "other line ends": change(lambda data: data.replace(b"\n", b"\r\n")),
    "not UTF-8": change(lambda data: data[:20] + b"\xff\xfe" + data[20:]),
    "NULs behind it": change(lambda data: data + b"\0" * 64),
    "brackets": change(lambda _: b"[" * 100_000),
    "huge": lambda path: os.truncate(path, 10**12),
    "removed": put(lambda path: None),
    "a link to a file outside": put(lambda path: path.symlink_to("/etc/passwd")),
    "a link to itself": put(lambda path: path.symlink_to(path.name)),
    "a link to nothing": put(lambda path: path.symlink_to("nowhere")),
    "a folder": put(lambda path: path.mkdir()),
    "a pipe": put(os.mkfifo),
    "a device": put(lambda path: make_device(path)),  # noqa: PLW0108 (it is defined below)
}
LINKS = ("a link to a file outside", "a link to itself", "a link to nothing")


def make_device(path: Path) -> None:
    try:
        os.mknod(path, 0o600 | stat.S_IFCHR, os.makedev(1, 5))  # it never ends
    except OSError as refused:
        if refused.errno != errno.EPERM:
            raise
        pytest.skip("only root makes devices")


def expected(name: str, how: str) -> str:
    if name in DERIVED:
        return REFUSED if how == "a folder" else MENDED
    if name in HOLDER:
        return REFUSED if how == "a folder" or (name == ".lock" and how in LINKS) else HARMLESS
    if name in ("metadata.json", ATTEMPT) and how in ("cut by a byte", "a byte order mark", "other line ends"):
        return HARMLESS  # the same JSON
    if (name, how) in ((ATTEMPT, "removed"), ("topic.md", "other line ends")):
        return HARMLESS
    if name.endswith("chair.md") and how == "removed":
        return ASKED_AGAIN
    return UNPROVEN if name in BRIEFS else DAMAGED


# Another number, and another reply of the newest turn: nothing in the folder says that it is another one.
ANOTHER = (
    (ATTEMPT, "a bit flipped"),
    ("turns/04-synthesis/chair.md", "cut by a byte"),
    ("turns/04-synthesis/chair.md", "NULs behind it"),
)


def cases() -> Iterator[object]:
    """All of them, and every eleventh in each run of the tests."""
    both = [(name, how) for name in (*RECORD, *BRIEFS, ATTEMPT, *DERIVED, *HOLDER) for how in CHANGES]
    for number, (name, how) in enumerate(both):
        marks = () if number % 11 == 0 else (pytest.mark.full,)
        if (name, how) not in ANOTHER:
            yield pytest.param(name, how, marks=marks, id=f"{name} {how}")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> User:
    """A user with one debate, which had a call that failed and was held by a process that died."""
    user = User(tmp_path_factory.mktemp("whole"))
    user.write("spec.md", "# What we have\n")
    script = scripts.script(user.root / "script.yaml")
    ended = user.council("run", "--id", "ours", "-f", "spec.md", "--speaker", "replay", "--from", script, Q)
    assert ended.code == 0, ended
    session = Session(user.session)
    with session.hold():
        session.end_attempt(session.begin_attempt("01-positions/engineer"), usd=0.0, failed="overloaded")
    assert user.council("recover", "ours").code == 0
    (user.session / "runner.json").write_text('{"pid": 4000000, "host": "elsewhere", "since": 1.0, "work": ""}\n')
    return user


@pytest.mark.parametrize(("name", "how"), [*cases()])
def test_a_damaged_file(whole: User, name: str, how: str, tmp_path: Path) -> None:
    shutil.copytree(whole.root, tmp_path / "user")
    user = User(tmp_path / "user")
    path, state = user.session / name, expected(name, how)
    CHANGES[how](path)
    before = picture(user.session)
    codes = []
    for words in (("verify", "ours"), ("show", "ours"), ("list",), ("status", "ours")):
        ended = user.council(*words)
        assert "--debug" not in ended.err, "an error that nobody foresaw"
        codes.append(ended.code)
        if words == ("list",):
            assert "ours" in ended.out
        if words[0] == "verify" and state in (DAMAGED, UNPROVEN):
            named = (f"{name}: ", "turns/", "briefs/01-positions/")
            assert any(one in ended.out for one in named), "the file is named, or what rests on it"
    assert picture(user.session) == before, "who looks changes nothing"
    ended = user.council("recover", "ours", "--speaker", "replay", "--from", user.root / "script.yaml")
    assert "--debug" not in ended.err
    assert (*codes[:2], ended.code) == CODES[state]
    after = picture(user.session)
    changed = {one for one in before if after.get(one) != before[one]}
    follows = {*DERIVED, "metadata.json"} if state == ASKED_AGAIN or name == ATTEMPT else set()
    assert changed <= {"runner.json"} | (set() if state in (DAMAGED, UNPROVEN) else {name, *follows})
    if state == MENDED:
        assert path.read_bytes() == (whole.session / name).read_bytes()
    if state == REFUSED:
        assert f"{name}: " in ended.err
        assert "in the place of a file" in ended.err or "symbolic link" in ended.err


PLACES = (
    "", "turns", "turns/x", "turns/01-positions", "briefs", "briefs/01-positions", "attempts", "attempts/01-positions",
    "attached", "frozen", "desk", "desk/a~b",
)  # fmt: skip


@pytest.mark.parametrize("place", [*PLACES[:3], *(pytest.param(place, marks=pytest.mark.full) for place in PLACES[3:])])
def test_folders_without_end_break_neither_a_session_nor_the_list(whole: User, place: str, tmp_path: Path) -> None:
    shutil.copytree(whole.root, tmp_path / "user")
    user = User(tmp_path / "user")
    top = user.session / place
    top.mkdir(parents=True, exist_ok=True)
    at = os.open(top, os.O_RDONLY)
    for _ in range(1_200):  # more than Python nests calls
        os.mkdir("d", dir_fd=at)
        inner = os.open("d", os.O_RDONLY, dir_fd=at)
        os.close(at)
        at = inner
    os.close(at)
    for words in (("list",), ("status", "ours"), ("verify", "ours"), ("show", "ours"), ("recover", "ours")):
        ended = user.council(*words)
        assert "--debug" not in ended.err
        assert ended.code == 0 or "d: it is " in ended.text
    subprocess.run(["rm", "-rf", top / "d"], check=True)  # before pytest does, which calls itself for each
    assert user.council("verify", "ours").code == 0
