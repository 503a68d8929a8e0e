"""`council sandbox`, as a user calls it: real commands in the real sandbox."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from council.sandbox import probe
from tests.bubblewrap import needs_sandbox
from tests.coding import wait_until
from tests.helpers import PATIENCE, User, no_traceback
from tests.schemas import check

pytestmark = needs_sandbox
RIGHT_TO_LEFT = "\u202e"


@pytest.fixture
def user(tmp_path: Path) -> User:
    return User(tmp_path)


def test_output_receipt_and_exit_code(user: User) -> None:
    ended = user.council("sandbox", "--", "sh", "-c", "echo out; echo err >&2; pwd; exit 7")
    no_traceback(ended)
    assert (ended.code, ended.out) == (7, "out\nerr\n/job\n")
    end, limits, more, level = ended.err.splitlines()
    assert end.startswith("sandbox: exit 7; ")
    assert "60 s, 30 s of processor time, 512 MB of memory, 64 processes" in limits
    assert more.startswith("         64 MB each in /job, ")
    assert max(map(len, ended.err.splitlines())) <= 80
    assert level.startswith("kept by: a ")


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["sh", "-c", "kill -9 $$"], 137, "ended by signal 9"),
        (["sh", "-c", "kill -STOP $$"], 124, "stopped: it took too long"),
        (["sh", "-c", "trap '' TERM; yes"], 124, "of output left out"),
        (["nosuch"], 127, "exit 127"),
        (["tr", "a"], 1, "exit 1"),
        (["sh", "-c", "exit 255"], 255, "exit 255"),
    ],
    ids=str,
)
def test_each_end_has_a_code(words: list[str], code: int, says: str, user: User) -> None:
    ended = user.process("sandbox", "--seconds", "0.3", "--", *words)
    no_traceback(ended)
    assert (ended.code, says in ended.err) == (code, True), ended.text


def test_json(user: User) -> None:
    ended = user.process("sandbox", "--json", "--seconds", "5", "--", "sh", "-c", "printf '\\377'; kill -15 $$")
    found = ended.json
    assert (ended.code, ended.err) == (143, "")
    check("sandbox", found)
    assert (found["exit"], found["signal"], found["stopped"], found["output"]) == (None, 15, "", "\ufffd")
    assert found["bounds"]["seconds"] == 5


def test_long_lines_are_whole_and_the_middle_of_much_is_left_out(user: User) -> None:
    line = user.council("sandbox", "--", "sh", "-c", "head -c 100000 /dev/zero | tr '\\0' x")
    assert line.out == "x" * 100_000 + "\n"
    much = user.council("sandbox", "--", "sh", "-c", "head -c 1000000 /dev/zero | tr '\\0' x; echo end").out
    assert much.startswith("x" * 64_000 + "\n[872,004 bytes were left out]\nx")
    assert much.endswith("xend\n")


def test_no_escape_sequence_reaches_the_terminal(user: User) -> None:
    assert user.council("sandbox", "--", "printf", "a\\033[31mb\\033]0;title\\007c").out == "abc\n"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "Missing argument"),
        (["--seconds", "0", "--", "true"], "0.0 is not in the range"),
        (["--seconds", "soon", "--", "true"], "not a valid float"),
        (["--seconds", "nan", "--", "true"], "not a valid float"),
        (["--tree", "nowhere", "--", "true"], "does not exist"),
        (["--tree", "file", "--", "true"], "is a file"),
        (["--network", "--", "true"], "there is no option --network"),
    ],
)
def test_wrong_arguments(words: list[str], says: str, user: User) -> None:
    user.write("file", "")
    ended = user.council("sandbox", *words)
    no_traceback(ended)
    assert (ended.code, says in ended.err) == (2, True), ended.err


def test_a_tree_of_strange_files_is_copied_and_nothing_comes_back(user: User) -> None:
    tree = user.work / "tree"
    deep = tree.joinpath(*["d" * 200] * 15)
    deep.mkdir(parents=True)
    names = ["a\nb", f"{RIGHT_TO_LEFT}txt.py", "-rf", os.fsdecode(b"latin-\xe9"), "x" * 255, " "]
    for name in names:
        (tree / name).write_text("1")
    (deep / "leaf").write_text("deep")
    (tree / "secret").symlink_to("/etc/shadow")
    (tree / "up").symlink_to(user.root)
    os.mkfifo(tree / "pipe")
    (tree / ".git").mkdir()
    (tree / ".git" / "config").write_text("token")
    program = (
        "import json, os; print(json.dumps([[os.fsencode(p).hex() for p in os.listdir()],"
        "os.path.exists('secret'), os.path.exists('up'), sum('leaf' in f for _, _, f in os.walk('.'))]));"
        "open('new', 'w'), os.remove('-rf')"
    )
    ended = user.council("sandbox", "--tree", tree, "--", "python3", "-c", program)
    assert ended.code == 0, ended.text
    listed, secret, up, leaves = ended.json
    assert {os.fsdecode(bytes.fromhex(name)) for name in listed} == {*names, "d" * 200, "secret", "up"}
    assert (secret, up, leaves) == (False, False, 1)
    assert (tree / "-rf").exists()
    assert not (tree / "new").exists()


def test_a_tree_that_is_too_large_is_refused(user: User) -> None:
    with user.write("tree/huge", "").open("wb") as file:
        file.truncate(10**12)
    ended = user.council("sandbox", "--tree", "tree", "--", "true")
    no_traceback(ended)
    assert ended.code == 125
    assert "the tree takes more than the 64,000,000 bytes that fit into the sandbox" in ended.err


def test_where_no_sandbox_works_nothing_runs(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    probe.find_obstacle.cache_clear()
    monkeypatch.setattr(probe, "PROGRAMS", {"no-such-bwrap": "bubblewrap"})
    ended = user.council("sandbox", "--", "true")
    probe.find_obstacle.cache_clear()
    no_traceback(ended)
    assert ended.code == 125
    assert "no-such-bwrap is not installed" in ended.err
    assert "nothing was run" in ended.err
    assert ended.out == ""


def find_processes(words: str) -> list[int]:
    """Processes of this machine whose command line has these words."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = path.read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
        except OSError:
            continue
        if line.startswith(words):
            found.append(int(path.parent.name))
    return found


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_and_shows_what_was_printed(number: int, user: User) -> None:
    word = f"sleep 98765.{os.getpid()}{number}"
    process = user.spawn("sandbox", "--", "sh", "-c", f"echo begun; {word}")
    assert wait_until(lambda: bool(find_processes(word)))
    process.send_signal(number)
    out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out) == (128 + number, b"begun\n"), err
    assert b"stopped: cancelled" in err
    assert wait_until(lambda: not find_processes(word)), "it dies with its sandbox, which may take the kernel a moment"
