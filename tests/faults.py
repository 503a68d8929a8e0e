"""Runs the real program in processes that fail at a chosen moment: killed, half-way through a write, or out of disk.

The product knows nothing of this: `os` and `open` are wrapped from outside, in a child process, before `main` runs.
Every call that changes something under COUNCIL_HOME is counted, and at call number N the fault strikes. A nursery is a
process that has imported everything and forks a child for each command, so that thousands of faults take minutes. It
is itself forked from the warm process (see `tests/warm.py`), has no threads, and its children share nothing but what
was imported.
"""

from __future__ import annotations

import builtins
import ctypes
import errno
import gc
import importlib
import io
import json
import os
import secrets
import selectors
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from tests import helpers, warm

ROOT = Path(__file__).parent.parent
KINDS = {
    "none": "nothing is wrong; the calls are counted",
    "before": "SIGKILL before the call",
    "after": "SIGKILL after the call",
    "half": "half of a write, then SIGKILL",
    "full once": "ENOSPC once, half of a write being written",
    "full": "ENOSPC from here on for whatever takes room, until the program is started again",
    "broken once": "EIO once",
    "broken": "EIO for everything from here on",
}
DEATHS = ("before", "after", "half")
ERRORS = {"full once": errno.ENOSPC, "full": errno.ENOSPC, "broken once": errno.EIO, "broken": errno.EIO}
TAKES_ROOM = ("open", "write", "mkdir", "link", "symlink")
LONGEST = 120
ANSWERS = 99
BETWEEN = "\x1e"
SEED = "5eed" * 8
NEW_MOUNTS = 0x20000  # of unshare
PROGRAM = "from tests import faults; faults.serve()"

# ---- the debate that all of them hold: three rounds, one reply asked for again, one synthesis corrected ----

MEMBERS = ("architect", "designer", "engineer", "researcher")
TOPIC = "Shall we encrypt before the first release?"
QUESTION = ("--only", "architect", "--only", "engineer", TOPIC)
PROPOSES = "## Recommendation\r\nEncrypt the backups first.\n\n## Normative\nno\n\n"
BLOCKING = "Personal data would stand unencrypted in the backups."


def answered(stance: str, *blocking: str) -> str:
    items = "\n".join(f"- {item}" for item in blocking) or "none"
    signs = "R1" if stance == "agree" else "none: not before they are encrypted"
    return f"## Stance\n{stance}\n\n## Blocking\n{items}\n\n## Signs\n{signs}\n"


def synthesised(*disagreements: str) -> str:
    """The first of two does not do justice to what blocks, for either program: it is asked for again."""
    items = "\n".join(f"- {item}" for item in disagreements) or "none"
    rulings = "- C1: stands" if disagreements else "none"
    first = f"## Title\nEncryption\n\n## Answer\nYes.\n\n## Follows\nR1\n\n## Rulings\n{rulings}\n\n"
    first += "## Next steps\nnone\n\n## Confidence\nmedium\n\n"
    path = "## Recommended path\nEncrypt the backups first.\n"
    return f"{first}## Areas of convergence\n- Encryption comes.\n\n## Remaining disagreements\n{items}\n\n{path}"


def script() -> dict[str, str]:
    """Every reply by its turn. The bytes are awkward on purpose: they have to be kept as they come."""
    said = {
        f"01-positions/{seat}": f"The position of the {seat}:  \r\nencrypt – “soon”.\n\n{PROPOSES}" for seat in MEMBERS
    }
    said |= {f"02-challenges/{seat}": f"The {seat} is fine.\n\n{answered('agree')}" for seat in MEMBERS}
    said |= {f"03-closing/{seat}": f"The {seat} closes.\n\n{answered('agree')}" for seat in MEMBERS}
    said["02-challenges/architect"] = f"I object now.\n\n{answered('disagree', BLOCKING)}"
    said["02-challenges/engineer"] = "The engineer forgets what was asked for.\n"
    said["02-challenges/engineer.2"] = f"The engineer, once more.\n\n{answered('agree')}"
    said["03-closing/architect"] = f"I object still.\n\n{answered('disagree', BLOCKING)}"
    said["04-synthesis-r01/chair"] = f"The first synthesis.\n\n{synthesised()}"
    dissent = f"The architect disagrees (blocking): {BLOCKING}"
    said["04-synthesis-r02/chair"] = f"The second synthesis.\n\n{synthesised(dissent)}"
    return helpers.spelled(said)


def script_text(words: Mapping[str, str] | None = None) -> str:
    """As the replay reads it."""
    return "".join(f"{turn}: {json.dumps(reply, ensure_ascii=False)}\n" for turn, reply in (words or script()).items())


@dataclass(frozen=True)
class Fault:
    """What goes wrong, and at which call."""

    kind: str = "none"
    at: int = 0

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"no fault {self.kind!r}: use one of {', '.join(KINDS)}")

    def strikes(self, number: int, name: str) -> bool:
        if self.kind in ("full", "broken"):
            return number >= self.at and (self.kind == "broken" or name in TAKES_ROOM)
        return number == self.at and self.kind != "none"


@dataclass(frozen=True)
class Job:
    """A child's command line, or several one after the other, and how the world is meanwhile.

    `naive` swaps the durable writer for a plain one.
    """

    commands: tuple[tuple[str, ...], ...]
    env: Mapping[str, str]
    fault: Fault = Fault()
    naive: bool = False
    package: str = field(default_factory=helpers.package)


@dataclass(frozen=True)
class Ended:
    """How a command ended; killed by a signal, its code is minus the number. `asked` are the turns it had spoken."""

    code: int
    out: str
    err: str
    calls: tuple[str, ...]
    asked: tuple[str, ...]
    struck: tuple[str, ...]
    seconds: float

    @property
    def last_line(self) -> str:
        return (self.err.strip().splitlines() or [""])[-1]


# ---- in the child: the wrapped calls ----


class Injector:
    """Counts the calls that change something below `home`, tells of each, and lets the fault strike."""

    def __init__(self, fault: Fault, home: str, tell: Callable[[str], None]) -> None:
        self.fault = fault
        self.home = home
        self.tell = tell
        self.count = 0
        self.open: dict[int, str] = {}
        self.real = {name: getattr(os, name) for name in (*PATH_CALLS, "open", "write", "fsync", "close")}
        self.real_open = builtins.open

    def call(self, name: str, path: str, act: Callable[[], Any], half: Callable[[], Any] | None = None) -> Any:
        """One call, numbered. `half` does the first half of it, where it can be done by halves."""
        if not self.can_be_done(name, path):
            return act()  # it fails by itself, and changes nothing
        self.count += 1
        self.tell(f"call {name} {path.removeprefix(self.home)}")
        if not self.fault.strikes(self.count, name):
            return act()
        self.tell(f"struck {name} {path.removeprefix(self.home)}")
        return self.strike(act, half or (lambda: None))

    @staticmethod
    def can_be_done(name: str, path: str) -> bool:
        there = os.path.lexists(path)
        return there if name in ("unlink", "remove", "rmdir") else not (there and name == "mkdir")

    def strike(self, act: Callable[[], Any], half: Callable[[], Any]) -> None:
        if self.fault.kind == "after":
            act()
        if self.fault.kind == "half" or self.fault.kind.startswith("full"):
            half()
        if self.fault.kind in DEATHS:
            os.kill(os.getpid(), signal.SIGKILL)
        number = ERRORS[self.fault.kind]
        raise OSError(number, os.strerror(number))

    def below(self, path: Any) -> str | None:
        """The path where it is ours to count."""
        if isinstance(path, int):
            return self.open.get(path)
        text = os.path.abspath(os.fsdecode(path))  # noqa: PTH100 (it must not look at the disk)
        return text if text == self.home or text.startswith(self.home + os.sep) else None

    def install(self) -> None:
        for name in PATH_CALLS:
            setattr(os, name, self.of_path(name))
        os.open, os.write, os.fsync, os.close = self.os_open, self.os_write, self.os_fsync, self.os_close  # type: ignore[assignment]
        builtins.open = io.open = self.builtin_open  # type: ignore[assignment]

    def of_path(self, name: str) -> Callable[..., Any]:
        real = self.real[name]

        def wrapped(path: Any, *rest: Any, **keys: Any) -> Any:
            ours = self.below(path)
            return (
                real(path, *rest, **keys) if ours is None else self.call(name, ours, lambda: real(path, *rest, **keys))
            )

        return wrapped

    def os_open(self, path: Any, flags: int, *rest: Any, **keys: Any) -> int:
        ours = self.below(path)
        if ours is None:
            return int(self.real["open"](path, flags, *rest, **keys))
        must_fail = flags & os.O_EXCL and os.path.lexists(ours)
        changes = flags & (os.O_CREAT | os.O_WRONLY | os.O_TRUNC | os.O_APPEND) and not must_fail

        def act() -> int:
            return int(self.real["open"](path, flags, *rest, **keys))

        descriptor = int(self.call("open", ours, act)) if changes else act()
        self.open[descriptor] = ours
        return descriptor

    def os_write(self, descriptor: int, data: Any) -> int:
        real = self.real["write"]
        if descriptor not in self.open:
            return int(real(descriptor, data))
        half = memoryview(data)[: len(data) // 2]
        return int(
            self.call("write", self.open[descriptor], lambda: real(descriptor, data), lambda: real(descriptor, half))
        )

    def os_fsync(self, descriptor: int) -> None:
        if descriptor in self.open:
            self.call("fsync", self.open[descriptor], lambda: self.real["fsync"](descriptor))
        else:
            self.real["fsync"](descriptor)

    def os_close(self, descriptor: int) -> None:
        self.open.pop(descriptor, None)
        self.real["close"](descriptor)

    def builtin_open(self, path: Any, mode: str = "r", *rest: Any, **keys: Any) -> Any:
        ours = None if isinstance(path, int) else self.below(path)
        if ours is None or not set(mode) & set("wax+"):
            return self.real_open(path, mode, *rest, **keys)
        file = self.call("open", ours, lambda: self.real_open(path, mode, *rest, **keys))
        return CountedFile(self, ours, file)


PATH_CALLS = tuple("rename replace mkdir unlink remove rmdir link symlink truncate chmod".split())


class CountedFile:
    """A file opened for writing with `open`; what is written goes through to the system at once."""

    def __init__(self, injector: Injector, path: str, file: IO[Any]) -> None:
        self.injector, self.path, self.file = injector, path, file

    def write(self, data: Any) -> int:
        return int(
            self.injector.call(
                "write", self.path, lambda: self.through(data), lambda: self.through(data[: len(data) // 2])
            )
        )

    def through(self, data: Any) -> int:
        written = self.file.write(data)
        self.file.flush()
        return written

    def __getattr__(self, name: str) -> Any:
        return getattr(self.file, name)

    def __enter__(self) -> CountedFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()


def naive_put(made: Mapping[Path, bytes], temp: Path | None = None) -> None:
    """How one would write a file without a thought."""
    for path, data in made.items():
        with open(path, "wb") as file:  # noqa: PTH123 (that is the point)
            file.write(data)


def naive_write(path: Path, data: bytes) -> None:
    naive_put({path: data})


def tell_who_is_asked(package: str, tell: Callable[[str], None]) -> None:
    """A replay has no server that could keep a log of what was asked."""
    module = importlib.import_module(f"{package}.speakers.replay")
    replay = module.ReplaySpeaker if package == helpers.PACKAGES["old"] else module.Replay
    speak = replay.speak

    async def asked(self: Any, brief: Any, words: Callable[[str], None]) -> Any:
        tell(f"asked {brief.turn if package == helpers.PACKAGES['old'] else brief.due.id}")
        return await speak(self, brief, words)

    replay.speak = asked


def same_seed() -> None:
    """Every session gets the same secret, so that two debates can be compared, brief by brief."""
    real = secrets.token_hex
    secrets.token_hex = lambda nbytes=None: SEED if nbytes == 16 else real(nbytes)


def live(job: Job, tell: Callable[[str], None]) -> int:
    """The child's life: the world is prepared, then the program runs. The last exit code."""
    os.environ.clear()
    os.environ.update(job.env)
    os.chdir(job.env["HOME"])
    same_seed()
    tell_who_is_asked(job.package, tell)
    if job.naive:
        files: Any = importlib.import_module(f"{job.package}.record.files")
        files._put, files.write = naive_put, naive_write  # each program has one of them
    Injector(job.fault, job.env["COUNCIL_HOME"], tell).install()
    main = importlib.import_module(f"{job.package}.cli").main

    code = 0
    for argv in job.commands:
        sys.argv = ["council", *argv]
        tell(f"code {(code := main())}")
        for stream in (sys.stdout, sys.stderr):
            print(BETWEEN, end="", file=stream, flush=True)
    return code


# ---- the nursery: forks a child for each job that stands on its standard input ----


@dataclass
class Ward:
    """The nursery from inside: it waits for orders, and for what its children tell it until they end."""

    answers: IO[str]
    waiting: selectors.BaseSelector
    children: dict[int, dict[str, Any]] = field(default_factory=dict)
    heard: bytes = b""
    closing: bool = False

    def serve(self) -> None:
        self.waiting.register(0, selectors.EVENT_READ)
        while not self.closing:
            for key, _ in self.waiting.select():
                data = os.read(key.fd, 1 << 16)
                self.of_child(key.fd, data) if key.fd in self.children else self.orders(data)

    def of_child(self, pipe: int, data: bytes) -> None:
        self.children[pipe]["told"] += data
        if not data:
            self.waiting.unregister(pipe)
            self.answer(end(pipe, self.children.pop(pipe)))

    def orders(self, data: bytes) -> None:
        self.closing = not data
        *lines, self.heard = (self.heard + data).split(b"\n")
        for line in lines:
            pipe, child = begin(json.loads(line))
            self.waiting.register(pipe, selectors.EVENT_READ)
            self.children[pipe] = child
            self.answer({"job": child["job"], "pid": child["pid"]})

    def answer(self, words: dict[str, Any]) -> None:
        print(json.dumps(words), file=self.answers, flush=True)


def serve() -> None:
    """In the nursery, which is warm; where its first word is a folder, that is a disk of its own."""
    os.dup2(1, ANSWERS)
    os.dup2(2, 1)
    if sys.argv[1:]:
        mount_small_disk(sys.argv[1])
    warnings.simplefilter("error")
    sys.dont_write_bytecode = True
    with open(ANSWERS, "w", encoding="utf-8") as answers, selectors.DefaultSelector() as waiting:
        Ward(answers, waiting).serve()


def mount_small_disk(place: str) -> None:
    """A file system of one megabyte that nobody else sees, but through this process."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(NEW_MOUNTS):
        raise OSError(ctypes.get_errno(), "no mounts of one's own")
    subprocess.run(("mount", "--make-rprivate", "/"), check=True)
    subprocess.run(("mount", "-t", "tmpfs", "-o", "size=1m", "none", place), check=True)


def prepare() -> None:
    """Do once what every command does when it is the first: import, compile templates and patterns, meet the SDK."""
    import asyncio

    for which, package in helpers.PACKAGES.items():
        with helpers.drive(which), tempfile.TemporaryDirectory(prefix="council-warm-") as home:
            main = importlib.import_module(f"{package}.cli").main
            script = Path(home) / "script.yaml"
            script.write_text(script_text(), encoding="utf-8")
            os.environ |= {"HOME": home, "COUNCIL_HOME": f"{home}/memory"}
            for argv in (
                ["run", *QUESTION, "--speaker", "replay", "--from", str(script)],
                ["status"],
                ["build"],
                ["verify"],
            ):
                sys.argv = ["council", *argv]
                quietly(main)
    importlib.import_module("council.next.terminal.output").program.cache_clear()  # nobody called it here
    asyncio.run(meet_the_sdk())
    compile_templates()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    if len(threads := threading.enumerate()) > 1:
        raise RuntimeError(f"the nursery must not fork with threads: {threads}")
    gc.collect()
    gc.freeze()


def compile_templates() -> None:
    import jinja2

    from council.config import overlays
    from council.prompts import templates

    sandbox = templates.environment(jinja2.DictLoader(overlays.kit_templates()), metered=False)
    for name in overlays.kit_templates():
        if not name.startswith(f"{overlays.DOCUMENTS}/"):
            sandbox.get_template(name)


def quietly(main: Callable[[], int]) -> None:
    """What it prints is of interest only where it fails."""
    kept = sys.stdout, sys.stderr
    with tempfile.TemporaryFile("w+", encoding="utf-8") as said:
        sys.stdout = sys.stderr = said
        try:
            code = main()
        finally:
            sys.stdout, sys.stderr = kept
        said.seek(0)
        if code:
            raise RuntimeError(f"the nursery cannot even do {sys.argv}: exit {code}: {said.read()}")


async def meet_the_sdk() -> None:
    """One call over HTTP, server and client in the same thread."""
    import asyncio

    from council.config.models import Endpoint, Model
    from council.speakers.anthropic import AnthropicSpeaker
    from council.speakers.base import Brief
    from tests.fakeapi import FakeApi

    api, ready = FakeApi(), asyncio.Event()
    server = asyncio.create_task(api.serve(ready.set))
    await ready.wait()
    speaker = AnthropicSpeaker()
    model = Model("warm", Endpoint("warm", api.url), "warm")
    await speaker.speak(Brief("warm", "warm", "warm", "warm", model), lambda _: None)
    await speaker.close()
    api.stop()
    await server


def begin(order: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    ours, theirs = os.pipe()
    began = time.monotonic()
    pid = os.fork()
    if not pid:
        os.close(ours)
        be_born(order, theirs)
    os.close(theirs)
    return ours, {"job": order["job"], "pid": pid, "began": began, "told": b""}


def be_born(order: dict[str, Any], report: int) -> None:
    """In the child; it never returns."""
    code = 70
    try:
        signal.alarm(LONGEST)
        for descriptor, name, flags in ((0, "in", os.O_RDONLY), (1, "out", os.O_WRONLY), (2, "err", os.O_WRONLY)):
            file = os.open(order["streams"] + "." + name, flags)
            os.dup2(file, descriptor)
            os.close(file)
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False, buffering=1)  # noqa: SIM115
        tell_fd, write = report, os.write
        commands = tuple(tuple(argv) for argv in order["commands"])
        job = Job(commands, order["env"], Fault(**order["fault"]), order["naive"], order["package"])
        code = live(job, lambda line: _told(write, tell_fd, line))
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException:  # noqa: BLE001 (it is shown, and counts as a traceback)
        import traceback

        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(code)


def _told(write: Callable[[int, bytes], int], descriptor: int, line: str) -> None:
    write(descriptor, line.encode() + b"\n")


def end(pipe: int, child: dict[str, Any]) -> dict[str, Any]:
    os.close(pipe)
    _, status = os.waitpid(child["pid"], 0)
    seconds = time.monotonic() - child["began"]
    told = child["told"].decode().splitlines()
    return {"job": child["job"], "code": os.waitstatus_to_exitcode(status), "told": told, "seconds": seconds}


# ---- in the test: the nursery's other end ----


@dataclass
class Child:
    """A command that runs."""

    nursery: Nursery
    job: int
    pid: int
    streams: str

    def wait(self) -> Ended:
        """The end of its only command, or of its last."""
        return self.wait_all()[-1]

    def wait_all(self) -> list[Ended]:
        return self.nursery.ended(self)

    def kill(self, number: int = signal.SIGKILL) -> None:
        os.kill(self.pid, number)


@dataclass
class Nursery:
    """A process that forks the commands. `disk` is a folder where it alone sees a file system, of one megabyte."""

    folder: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="council-nursery-")))
    disk: Path | None = None
    jobs: int = 0
    messages: dict[tuple[int, str], dict[str, Any]] = field(default_factory=dict)

    def __enter__(self) -> Nursery:
        words = [self.disk] if self.disk else []
        self.process = warm.python(PROGRAM, *words, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.process.communicate(timeout=LONGEST)
        for path in self.folder.iterdir():
            path.unlink()
        self.folder.rmdir()

    def start(self, job: Job, stdin: str = "") -> Child:
        self.jobs += 1
        helpers.ran[job.package] += 1
        streams = str(self.folder / str(self.jobs))
        for name, text in (("in", stdin), ("out", ""), ("err", "")):
            Path(f"{streams}.{name}").write_text(text, encoding="utf-8")
        order = {**asdict(job), "job": self.jobs, "streams": streams}
        assert self.process.stdin
        self.process.stdin.write(json.dumps(order).encode() + b"\n")
        self.process.stdin.flush()
        return Child(self, self.jobs, int(self.message(self.jobs, "pid")["pid"]), streams)

    def run(self, job: Job, stdin: str = "") -> Ended:
        return self.start(job, stdin).wait()

    def first(self, children: Sequence[Child], count: int) -> list[Child]:
        """Those that have ended, once so many have."""
        while len(ended := [child for child in children if (child.job, "code") in self.messages]) < count:
            self.hear()
        return ended

    def hear(self) -> None:
        """The nursery's next word, kept for whoever waits for it."""
        assert self.process.stdout
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError("the nursery is gone")
        heard = json.loads(line)
        self.messages[heard["job"], "pid" if "pid" in heard else "code"] = heard

    def message(self, job: int, about: str) -> dict[str, Any]:
        """Its word on a job; what it says of others meanwhile is kept for them."""
        while (job, about) not in self.messages:
            self.hear()
        return self.messages.pop((job, about))

    def ended(self, child: Child) -> list[Ended]:
        """What became of each of its commands. One that did not end has the exit code of the process."""
        heard = self.message(child.job, "code")
        _, out, err = (self.stream(child, name).split(BETWEEN) for name in ("in", "out", "err"))
        told: list[dict[str, list[str]]] = [{}]
        for line in heard["told"]:
            kind, _, what = line.partition(" ")
            told[-1].setdefault(kind, []).append(what)
            if kind == "code":
                told.append({})
        whole = told[:-1] if len(told) > 1 and not told[-1] else told
        return [self.end_of(heard, *parts) for parts in zip(whole, out, err, strict=False)]

    @staticmethod
    def end_of(heard: Mapping[str, Any], told: Mapping[str, list[str]], out: str, err: str) -> Ended:
        code = int(told["code"][0]) if "code" in told else heard["code"]
        calls, asked, struck = (tuple(told.get(kind, [])) for kind in ("call", "asked", "struck"))
        return Ended(code, out, err, calls, asked, struck, heard["seconds"])

    @staticmethod
    def stream(child: Child, name: str) -> str:
        path = Path(f"{child.streams}.{name}")
        text = path.read_text(encoding="utf-8")
        path.unlink()
        return text
