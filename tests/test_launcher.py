"""bin/council and the environment it makes, with a stand-in for the package and without the network.

`test_first_use.py` really makes some.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from tests.launched import REPO, make_checkout, tools


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    return make_checkout(tmp_path / "a check out")


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    """What is handed to the launcher: COUNCIL_VENV is an environment that is there already."""
    python = tmp_path / "an environment" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.symlink_to(sys.executable)
    return {"PATH": os.defpath, "HOME": str(tmp_path), "COUNCIL_VENV": str(python.parent.parent)}


def council(program: Path | str, *args: str, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run([program, *args], capture_output=True, text=True, timeout=60, check=False, **options)


def test_arguments_arrive_as_they_were_given(checkout: Path, env: dict[str, str]) -> None:
    args = ["run", "two words", "", "*", "--", "it's", "naïve"]
    done = council(checkout / "bin" / "council", *args, env=env)
    assert json.loads(done.stdout)["argv"] == [str(checkout / "bin" / "council"), *args]
    assert (done.returncode, done.stderr) == (0, "")


def test_nothing_is_imported_from_where_it_is_called(checkout: Path, env: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit('a foreign module was run')")
    done = council(checkout / "bin" / "council", env=env | {"PYTHONPATH": str(tmp_path)}, cwd=tmp_path)
    assert json.loads(done.stdout)["path"][0] == str(checkout)


INJECTED = (
    "LD_PRELOAD",
    "LD_LIBRARY_PATH",
    "LD_AUDIT",
    "DYLD_INSERT_LIBRARIES",
    "PIP_INDEX_URL",
    "PIP_TARGET",
    "PYTHONHOME",
)


def test_nothing_is_loaded_that_the_environment_names(checkout: Path, env: dict[str, str], tmp_path: Path) -> None:
    words = {name: str(tmp_path / "evil") for name in INJECTED} | {"WORDS": "one\nLD_WORDS=two\nexport LD_X='y"}
    done = council(checkout / "bin" / "council", env=env | words)
    seen = json.loads(done.stdout)["env"]
    assert done.returncode == 0
    assert [name for name in seen if name.startswith(("LD_", "DYLD_", "PIP_", "PYTHON"))] == []
    assert seen["WORDS"] == words["WORDS"]


def test_commands_that_council_starts_inherit_nothing(checkout: Path, env: dict[str, str]) -> None:
    inherited = json.loads(council(checkout / "bin" / "council", env=env).stdout)["env"]
    assert {name for name in inherited if name.startswith("PYTHON")} == set()
    assert env.items() <= inherited.items()


@pytest.mark.parametrize("target", ["a check out/bin/council", "{tmp}/a check out/bin/council", "bin/council", "hop"])
def test_called_through_a_link(checkout: Path, env: dict[str, str], tmp_path: Path, target: str) -> None:
    (tmp_path / "bin").symlink_to("a check out/bin")
    (tmp_path / "hop").symlink_to("bin/council")
    link = tmp_path / "council"
    link.symlink_to(target.format(tmp=tmp_path))
    for done in (council(link, env=env), council("./council", env=env, cwd=tmp_path)):
        assert json.loads(done.stdout)["path"][0] == str(checkout)


def test_the_exit_code_is_councils(checkout: Path, env: dict[str, str]) -> None:
    assert council(checkout / "bin" / "council", "fail", env=env).returncode == 7


def test_signals_reach_council(checkout: Path, env: dict[str, str]) -> None:
    with subprocess.Popen([checkout / "bin" / "council", "wait"], env=env, stdout=subprocess.PIPE) as running:
        assert running.stdout is not None
        assert json.loads(running.stdout.readline())["pid"] == running.pid
        running.send_signal(signal.SIGTERM)
        assert running.wait(60) == -signal.SIGTERM


@pytest.mark.parametrize("old", [True, False])
def test_without_a_new_enough_python(checkout: Path, tmp_path: Path, old: bool) -> None:
    path = tools(tmp_path / "path", **({"python3": shutil.which("false") or "false"} if old else {}))
    done = council(checkout / "bin" / "council", env={"PATH": path, "HOME": str(tmp_path)})
    assert done.returncode == 2
    assert done.stderr.startswith("council: Python 3.11 or newer is needed")
    assert done.stderr.count("\n") == 1


def test_without_a_place_for_its_environment(checkout: Path, tmp_path: Path) -> None:
    done = council(checkout / "bin" / "council", env={"PATH": tools(tmp_path / "path")})
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "set HOME or XDG_DATA_HOME" in done.stderr


def test_an_environment_of_another_lock_is_refused(checkout: Path, env: dict[str, str]) -> None:
    (Path(env["COUNCIL_VENV"]) / "requirements.lock").write_text("something else\n")
    done = council(checkout / "bin" / "council", env=env)
    assert done.returncode == 1
    assert "remove it" in done.stderr


@pytest.fixture
def environment() -> ModuleType:
    spec = importlib.util.spec_from_file_location("environment", REPO / "scripts" / "environment.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def make(environment: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], Path]:
    """Makes an environment at `data/venv`, with a Python that says nothing."""
    (tmp_path / "lock").write_text("# nothing\n")

    def run(mutex: object, new: Path, *command: str | Path) -> None:
        if "venv" in command:
            (Path(command[-1]) / "bin").mkdir(parents=True)
            (Path(command[-1]) / "bin" / "python").symlink_to(sys.executable)

    def make() -> Path:
        environment.main(tmp_path / "data" / "venv", tmp_path / "lock")
        return tmp_path / "data" / "venv"

    monkeypatch.setattr(environment, "run", run)
    return make


def test_what_a_killed_first_use_left_is_thrown_away(make: Callable[[], Path], tmp_path: Path) -> None:
    (tmp_path / "data" / ".venv.new" / "half").mkdir(parents=True)
    assert sorted(entry.name for entry in make().iterdir()) == ["bin", "lock"]
    assert [entry.name for entry in (tmp_path / "data").iterdir()] == ["venv"]


def test_an_environment_whose_python_is_gone_is_made_again(make: Callable[[], Path]) -> None:
    python = make() / "bin" / "python"
    python.unlink()
    python.symlink_to("gone")
    assert (make() / "bin" / "python").exists()


def test_what_is_not_ours_is_left_alone(
    make: Callable[[], Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    thesis = tmp_path / "data" / "venv" / "thesis.txt"
    thesis.parent.mkdir(parents=True)
    thesis.write_text("years of work")
    code, sentence = ended(make, capsys)
    assert (code, "in the way" in sentence) == (2, True)
    assert thesis.read_text() == "years of work"


def ended(make: Callable[[], Path], capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """The exit code, and the one sentence that was the last to be printed."""
    with pytest.raises(SystemExit) as end:
        make()
    assert isinstance(end.value.code, int)
    *before, last = capsys.readouterr().err.splitlines()
    assert all(line.startswith("council: first use: installing") for line in before)
    return end.value.code, last


@pytest.mark.parametrize(
    ("printed", "ending"),
    [
        ("WARNING: Retrying\nERROR: no answer\n", (1, r"check the network .* run this again \(ERROR: no answer\)")),
        ("ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM ...\n", (1, "not what council pins, so it was not used")),
        ("ERROR: [Errno 28] No space left on device\n", (6, "the disk became full .* free some space, or set XDG_DA")),
        ("", (1, "check the network")),
    ],
)
def test_when_the_dependencies_cannot_be_had(
    environment: ModuleType,
    make: Callable[[], Path],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    printed: str,
    ending: tuple[int, str],
) -> None:
    def run(*_: object) -> None:
        raise environment.Refused(*environment.verdict(printed, 10**9))

    monkeypatch.setattr(environment, "run", run)
    code, sentence = ended(make, capsys)
    assert (code, bool(re.search(ending[1], sentence))) == (ending[0], True), sentence
    assert [entry.name for entry in (tmp_path / "data").iterdir()] == [".venv.lock"]


def test_a_command_that_fails_tells_what_it_printed(environment: ModuleType, tmp_path: Path) -> None:
    with (tmp_path / "mutex").open("w") as mutex, pytest.raises(environment.Refused) as refused:
        environment.run(mutex, tmp_path, "sh", "-c", "printf 'one\\ntw\\377o\\n' >&2; exit 3")
    assert "(tw\N{REPLACEMENT CHARACTER}o)" in refused.value.args[0]


def test_a_full_disk_is_known_by_its_free_space_too(environment: ModuleType) -> None:
    """venv says of it no more than that a command failed."""
    sentence, code = environment.verdict("Error: Command '[…]' returned non-zero exit status 1.", 4096)
    assert (code, "the disk became full" in sentence) == (6, True)


def test_when_there_is_no_room(
    environment: ModuleType,
    make: Callable[[], Path],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(environment.shutil, "disk_usage", lambda _: SimpleNamespace(free=30_000_000))
    code, sentence = ended(make, capsys)
    assert (code, "takes 120 MB" in sentence, "has 30 MB free: free some space" in sentence) == (6, True, True)


def test_when_its_place_cannot_be_written(
    make: Callable[[], Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "data").write_text("in the way")
    code, sentence = ended(make, capsys)
    assert (
        code,
        sentence.startswith(f"council: {tmp_path / 'data'}: File exists: make it a directory that can be written"),
    ) == (
        6,
        True,
    )


def test_when_it_is_stopped_the_next_one_begins_anew(
    environment: ModuleType,
    make: Callable[[], Path],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(environment, "mend", interrupt)
        assert ended(make, capsys) == (130, "council: stopped; run the same command again to start over")
    assert (make() / "bin" / "python").exists()


def test_when_python_cannot_make_environments(
    environment: ModuleType,
    make: Callable[[], Path],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(environment.importlib.util, "find_spec", lambda name: None)
    code, sentence = ended(make, capsys)
    assert (code, bool(re.search(r"apt install python3\.\d+-venv\)$", sentence))) == (2, True)
