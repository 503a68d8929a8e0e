"""A user for tests: a home folder, a working folder, an environment, and the command line as that user meets it.

`User.council` calls it in this process, which is enough for most things; `User.spawn` in a process of its own.

There are two programs for as long as the new core is built beside the old one, and the same tests hold for both. Which
of them a user calls is decided here alone: by `drive`, or for a whole run of the tests by COUNCIL_TEST_PROGRAM=next.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import json
import os
import re
import shlex
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any, TextIO
from unittest import mock

import council
from tests import warm
from tests.fakeapi import Answer, Request

CODE = Path(council.__file__).resolve().parent.parent
PATIENCE = 60.0
PACKAGES = {"old": "council", "next": "council.next"}
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
DERIVED = ("convergence.json", "state.json", "synthesis.md", "transcript.md", "decision.md", "issue.md")
_driven = [os.environ.get("COUNCIL_TEST_PROGRAM", "old")]
ran: Counter[str] = Counter()  # how often each package was run


def package() -> str:
    """The package of the program that users call now."""
    return PACKAGES[_driven[-1]]


def kit() -> Path:
    """Where its workflows, templates and personas lie."""
    return CODE if package() == PACKAGES["old"] else CODE / "council" / "next" / "kit"


def run_line() -> str:
    """What Python is given with -c to run it."""
    ran[package()] += 1
    return f"import sys; from {package()}.cli import main; sys.exit(main())"


@contextlib.contextmanager
def drive(which: str) -> Iterator[None]:
    """In this block, users call that program."""
    _driven.append(which)
    try:
        yield
    finally:
        _driven.pop()


class Hung(BaseException):
    """The program did not come back. No handler of the program's own catches this."""


@dataclass(frozen=True)
class Ended:
    """How one command ended."""

    code: int
    out: str
    err: str

    @property
    def text(self) -> str:
        return self.out + self.err

    @property
    def last(self) -> str:
        """The last line on stderr: what is kept, and how to go on."""
        return self.err.rstrip("\n").rpartition("\n")[2]

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def _born(session: Path) -> int:
    topic = session / "topic.md"  # it is written once
    return topic.stat().st_mtime_ns if topic.exists() else 0


@dataclass(frozen=True)
class User:
    """Everything that a command may look at lies below `root`."""

    root: Path
    env: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for folder in (self.root, self.work):
            folder.mkdir(exist_ok=True, parents=True)

    @property
    def work(self) -> Path:
        return self.root / "work"

    @property
    def home(self) -> Path:
        return self.root / "memory"

    @property
    def settings(self) -> Path:
        return self.root / "config" / "council"

    @property
    def sessions(self) -> list[Path]:
        """All session folders, oldest first. Names do not say which of one second was first."""
        folder = self.home / "STATE" / "council-sessions"
        found = folder.iterdir() if folder.is_dir() else ()
        return sorted(found, key=lambda one: (one.name[:15], _born(one)))

    @property
    def session(self) -> Path:
        (only,) = self.sessions
        return only

    @property
    def environment(self) -> dict[str, str]:
        own = {
            "HOME": str(self.root),
            "COUNCIL_HOME": str(self.home),
            "XDG_CONFIG_HOME": str(self.root / "config"),
            "PATH": os.defpath,
            "LANG": "C.UTF-8",
            "TERM": "dumb",
        }
        return {**own, **self.env}

    def write(self, name: str, text: str | bytes) -> Path:
        """A file in the working folder."""
        path = self.work / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    def configure(self, text: str) -> None:
        """The user's own Config.md, given the YAML of its frontmatter."""
        self.settings.mkdir(parents=True, exist_ok=True)
        (self.settings / "Config.md").write_text(f"---\n{text}\n---\n")

    def council(self, *words: str | Path, stdin: str | bytes = b"", **env: str) -> Ended:
        """One command, in this process."""
        with (
            tempfile.TemporaryFile("w+b") as given,
            _stream() as out,
            _stream() as err,
            mock.patch.dict(os.environ, {**self.environment, **env}, clear=True),
            mock.patch.multiple(sys, argv=["council", *map(str, words)], stdout=out, stderr=err),
            contextlib.chdir(self.work),
            limited(),
        ):
            given.write(stdin.encode() if isinstance(stdin, str) else stdin)
            given.seek(0)
            with os.fdopen(os.dup(given.fileno()), encoding="utf-8") as typed, mock.patch.object(sys, "stdin", typed):
                code = _exit_code()
            return Ended(code, _read(out), _read(err))

    @property
    def listed(self) -> dict[str, str]:
        """The id and the state of each session, newest first."""
        rows = self.council("list", "--all", "--json").json
        return {row.get("session_id") or row["id"]: row.get("state") or row["status"] for row in rows}

    def spawn(self, *words: object, program: str = "", **how: Any) -> subprocess.Popen[bytes]:
        """One command, in a process of its own."""
        env = {**self.environment, "PYTHONPATH": str(CODE), **how.pop("env", {})}
        command = [sys.executable, "-c", program or run_line(), *map(str, words)]
        cwd = how.pop("cwd", self.work)
        streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return warm.start(command, cwd=cwd, env=env, **{**streams, **how})

    def process(self, *words: object, **how: Any) -> Ended:
        """One command in a process of its own, to its end."""
        with self.spawn(*words, **how) as process:
            try:
                out, err = process.communicate(timeout=PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
                raise
        return Ended(process.returncode, _text(out), _text(err))


def _text(data: bytes | None) -> str:
    return (data or b"").decode("utf-8", "replace")


def _stream() -> TextIO:
    return tempfile.TemporaryFile("w+", encoding="utf-8", newline="")


def _read(stream: TextIO) -> str:
    stream.flush()
    stream.seek(0)
    return stream.read()


def _exit_code() -> int:
    handlers = {number: signal.getsignal(number) for number in SIGNALS}
    ran[package()] += 1
    try:
        return int(importlib.import_module(f"{package()}.cli").main())
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def limited(seconds: float = PATIENCE) -> Iterator[None]:
    """The block, or Hung where it takes longer."""

    def hung(number: int, frame: FrameType | None) -> None:
        raise Hung(f"still running after {seconds} s")

    before = signal.signal(signal.SIGALRM, hung)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


# ---- what words a seat says: each program reads its own headings of them ----

PROPOSES = "\n\n## Recommendation\nKeep one database.\n\n## Normative\nno\n"
AGREES = "## Stance\nagree\n\n## Blocking\nnone\n\n## Signs\nR1\n"
WRITES = (
    "## Title\nOne database\n\n## Answer\nKeep one database.\n\n## Follows\nR1\n\n"
    "## Next steps\nnone\n\n## Confidence\nhigh\n\n## Rulings\n{0}\n\n"
)
SUMMARY = "## Areas of convergence\n- {0}\n\n## Remaining disagreements\n{1}\n\n## Recommended path\n{0}\n"
MEMBERS = ("architect", "designer", "engineer", "researcher")


def summary(path: str = "Keep one database.", disagreements: str = "none", rulings: str = "none") -> str:
    return WRITES.format(rulings) + SUMMARY.format(path, disagreements)


def agreed(members: tuple[str, ...] = MEMBERS) -> dict[str, str]:
    """The words of a debate in which all agree, so that the third round is skipped."""
    positions = {f"01-positions/{seat}": f"The {seat} would keep one database.{PROPOSES}" for seat in members}
    challenges = {f"02-challenges/{seat}": f"The {seat} sees no reason against it.\n\n{AGREES}" for seat in members}
    return spelled({**positions, **challenges, "04-synthesis-r01/chair": summary()})


def quick(members: tuple[str, ...] = MEMBERS) -> dict[str, str]:
    """The words of a quick council in which nobody blocks."""
    positions = {f"01-positions/{seat}": f"The {seat} would.\n\n## Blocking\nnone\n" for seat in members}
    return spelled({**positions, "02-synthesis-r01/chair": summary()})


def disputed(members: tuple[str, ...] = MEMBERS) -> dict[str, str]:
    """The words of a debate of three rounds in which the engineer disagrees to the end."""
    against = "I disagree: nobody {0}.\n\n## Stance\ndisagree\n\n## Blocking\n- The restore is untested.\n"
    against += "\n## Signs\nnone: nobody {0}\n"
    words = agreed(members)
    words |= {f"03-closing/{seat}": f"The {seat} stays with it.\n\n{AGREES}" for seat in members}
    words["02-challenges/engineer"] = against.format("tested the restore")
    words["03-closing/engineer"] = against.format("has tried it since")
    kept = "- Engineer disagrees and blocks: the restore is untested."
    return spelled({**words, "04-synthesis-r01/chair": summary(disagreements=kept, rulings="- C1: stands")})


def script(user: User, words: Mapping[str, str], name: str = "script.yaml") -> Path:
    """A replay script with these words. JSON is YAML, but for characters that take two escapes."""
    pair = re.compile(r"\\u(d[89ab][0-9a-f]{2})\\u(d[c-f][0-9a-f]{2})")

    def joined(found: re.Match[str]) -> str:
        high, low = (int(half, 16) for half in found.groups())
        return f"\\U{0x10000 + ((high - 0xD800) << 10) + low - 0xDC00:08x}"

    return user.write(name, pair.sub(joined, json.dumps(spelled(words))))


def spelled(words: Mapping[str, str]) -> dict[str, str]:
    """The same words under the turns of the program. For the new one, a second synthesis is a second try."""
    if package() == PACKAGES["old"]:
        return words if isinstance(words, dict) else dict(words)
    second = re.compile(r"-synthesis-r02/(.*)")
    once = {turn.replace("-synthesis-r01/", "-synthesis/"): said for turn, said in words.items()}
    return {second.sub(r"-synthesis/\1.2", turn): said for turn, said in once.items()}


def turn_id(id: str) -> str:
    """What the program calls this turn."""
    return next(iter(spelled({id: ""})))


# ---- an API that speaks for the seats ----


class Table:
    """Answers each brief with the words of its turn, and before them with that turn's faults, each once.

    A brief is known by what it says, for it lies on disk before it is sent.
    """

    def __init__(
        self, user: User, words: Mapping[str, str], faults: Mapping[str, Sequence[Answer]] | None = None, **how: Any
    ) -> None:
        self.user, self.words, self.how = user, spelled(words), how
        self.faults = {turn_id(turn): list(answers) for turn, answers in (faults or {}).items()}
        self.asked: list[str] = []
        self.times: list[float] = []
        self.turns: dict[bytes, str] = {}
        self.read: set[Path] = set()

    def __call__(self, request: Request) -> Answer:
        turn = self.turn(request.text)
        self.asked.append(turn)
        self.times.append(time.monotonic())
        waiting = self.faults.get(turn)
        return waiting.pop(0) if waiting else Answer(self.words[turn], **self.how)

    def turn(self, text: str) -> str:
        """Each brief is read once, for it is written once."""
        if text.encode() not in self.turns:
            for session in self.user.sessions:
                for path in {*(session / "briefs").rglob("*.md")} - self.read:
                    turn = str(path.relative_to(session / "briefs").with_suffix(""))
                    self.read.add(path)
                    if not turn.endswith("shared"):
                        self.turns[brief_of(session, turn)] = turn
        assert text.encode() in self.turns, f"a brief that is on no disk: {text[:200]}"
        return self.turns[text.encode()]


def key_of(request: Request) -> str:
    """Which header carries it is the SDK's affair."""
    return request.headers.get("x-api-key") or request.headers.get("authorization", "").removeprefix("Bearer ")


# ---- what lies on disk ----


def fingerprint(path: Path) -> str:
    """What a path is and holds, in a word; links are not followed."""
    about = path.lstat()
    kind = stat.S_IFMT(about.st_mode)
    if stat.S_ISLNK(kind):
        return f"link to {path.readlink()}"
    if not stat.S_ISREG(kind):
        return oct(kind)
    return hashlib.sha256(path.read_bytes()).hexdigest() if about.st_size < 10_000_000 else f"{about.st_size} bytes"


def picture(folder: Path, but: tuple[str, ...] = ()) -> dict[str, str]:
    """Every path below a folder with its fingerprint, but those of the names given."""
    found = {}
    for top, folders, names in os.walk(folder):
        for path in (Path(top) / name for name in (*folders, *names)):
            relative = str(path.relative_to(folder))
            if not any(relative == name or relative.startswith(f"{name}/") for name in but):
                found[relative] = fingerprint(path)
    return found


def brief_of(session: Path, turn: str) -> bytes:
    """What a seat was asked. The new program keeps what a batch shares in a file of its own."""
    own = session / "briefs" / f"{turn}.md"
    shared = [own.with_suffix(".shared.md"), own.with_name("shared.md")]
    return b"".join(path.read_bytes() for path in (*[path for path in shared if path.exists()][:1], own))


def receipts_of(session: Path) -> dict[str, dict[str, Any]]:
    """What stands above each reply, by its turn."""
    found = {}
    for path in sorted(session.glob("turns/*/*.md")):
        _, *lines = path.read_bytes().split(b"\n---\n")[0].decode().splitlines()
        facts = (line.partition(": ") for line in lines)
        found[f"{path.parent.name}/{path.stem}"] = {key: json.loads(value) for key, _, value in facts}
    return found


def record_of(session: Path) -> dict[str, bytes]:
    """The record's files and what they hold."""
    names = [Path("metadata.json"), Path("workflow.md"), Path("topic.md"), Path("program.json")]
    names += [
        path.relative_to(session) for top in ("briefs", "turns") for path in sorted((session / top).rglob("*.md"))
    ]
    return {str(name): (session / name).read_bytes() for name in names}


def derived_of(session: Path) -> dict[str, bytes]:
    paths = [*session.glob("round-*.md"), *(session / name for name in DERIVED)]
    return {path.name: path.read_bytes() for path in paths if path.exists()}


def without_head(made: dict[str, bytes]) -> dict[str, bytes]:
    """The derived files of turns that were spoken at another time: the head covers when they were."""
    head = re.compile(rb'^(head: |\*\*Head:\*\* )"?[0-9a-f]{64}"?$', re.M)
    return {name: head.sub(rb"\1-", data) for name, data in made.items()}


def without_receipts(made: dict[str, bytes]) -> dict[str, bytes]:
    """What was said and decided, less the remarks on who was asked for it, and what that cost."""
    told = re.compile(rb"^\*\((?:entered by hand|recorded by: member|asked of |answered by ).*\)\*\n", re.M)
    rounds = {name: told.sub(b"", data) for name, data in made.items() if name.startswith("round-")}
    rest = {name: unpriced(data) for name, data in made.items() if name not in rounds and name != "transcript.md"}
    return {name: {**rounds, **rest}[name] for name in made if name != "transcript.md"}


def unpriced(facts: bytes) -> bytes:
    """The facts of a debate without its id, and what it cost, which nobody knows of one that was held by hand."""
    return re.sub(rb'("(?:(?:first_)?usd|debate_id)"): [^,\s]+', rb"\1: 0", facts)


def says(ended: Ended, words: str) -> bool:
    """Whether it says this on stderr. The new program has words of its own, and names the same things."""
    if package() == PACKAGES["old"]:
        return words in ended.err
    return all(name in ended.err for pair in re.findall(r'"([^"]+)"|\'([^\']+)\'', words) for name in pair)


def launcher(path: Path) -> Path:
    """A `council` for PATH that runs the program: the kit's, while the new one has none of its own."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if package() == PACKAGES["old"]:
        path.symlink_to(CODE / "bin" / "council")
        return path
    start = f"import sys; del sys.argv[0]; sys.path.insert(0, {str(CODE)!r}); {run_line()}"
    path.write_text(f'#!/bin/sh\nexec "$COUNCIL_VENV/bin/python" -I -c {shlex.quote(start)} "$0" "$@"\n')
    path.chmod(0o755)
    return path


def no_traceback(ended: Ended) -> None:
    assert "Traceback" not in ended.text
    assert "--debug" not in ended.err, f"an error that nobody foresaw: {ended.err}"


def no_escapes(ended: Ended) -> None:
    """Nothing that a terminal would obey."""
    bad = [char for char in ended.text if (ord(char) < 32 and char not in "\n\t") or 0x7F <= ord(char) < 0xA0]
    assert not bad, f"control characters reached the terminal: {bad}"
