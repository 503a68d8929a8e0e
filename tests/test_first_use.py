"""The first use of bin/council by real processes: killed, interrupted, without a network, with an old Python."""

from __future__ import annotations

import base64
import hashlib
import http.server
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from council.speakers import registry
from tests.launched import REPO, make_checkout, tools

pytest.importorskip("ensurepip")
PATIENCE = 120.0
OLD = ("3.6", "3.7", "3.8", "3.9", "3.10")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    return make_checkout(tmp_path / "a check out")


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    path = tools(tmp_path / "path", python3=os.path.realpath(sys.executable))
    return {"PATH": path, "HOME": str(tmp_path / "home"), "XDG_DATA_HOME": str(tmp_path / "data")}


@contextmanager
def begun(checkout: Path, env: dict[str, str]) -> Iterator[subprocess.Popen[str]]:
    """A first use, as an assistant starts it, once it has said that it installs."""
    with subprocess.Popen(
        [checkout / "bin" / "council"], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True,
    ) as process:  # fmt: skip
        assert process.stderr is not None
        assert process.stderr.readline().startswith("council: first use: installing")
        yield process


def worker_of(process: subprocess.Popen[str]) -> int:
    """The process that does the work: the shell waits for one that waits for it."""
    pid = process.pid
    for _ in range(2):
        (child,) = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        pid = int(child)
    return pid


def again(checkout: Path, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [checkout / "bin" / "council"], env=env, capture_output=True, text=True, timeout=PATIENCE, check=False
    )


def left_behind(env: dict[str, str]) -> list[str]:
    folder = Path(env["XDG_DATA_HOME"], "council")
    return sorted(re.sub(r"\d+", "N", path.name) for path in folder.iterdir())


@pytest.mark.skipif(sys.platform != "linux", reason="processes are found in /proc")
def test_an_assistant_that_gives_up_finds_it_done_the_next_time(checkout: Path, env: dict[str, str]) -> None:
    """Some kill a command with all that it started after ten seconds, and wait until its output ends."""
    with begun(checkout, env) as process:
        worker = worker_of(process)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate(timeout=PATIENCE)  # nobody else holds the pipes
        os.kill(worker, 0)
    done = again(checkout, env)
    assert (done.returncode, "first use: installing" in done.stderr) == (0, False), done.stderr
    assert left_behind(env) == ["venv-N-N.N"]


@pytest.mark.skipif(sys.platform != "linux", reason="processes are found in /proc")
def test_one_that_is_killed_half_way_leaves_nothing_that_counts(checkout: Path, env: dict[str, str]) -> None:
    """And of two that come after it at the same moment, one makes the environment, and the other waits for it."""
    with begun(checkout, env) as process:
        os.killpg(worker_of(process), signal.SIGKILL)
        _, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, err) == (
        1, "council: the first use was killed; run the same command again to start over\n",
    )  # fmt: skip
    with ThreadPoolExecutor() as pool:
        both = list(pool.map(lambda _: again(checkout, env), range(2)))
    said = "".join(done.stderr for done in both)
    assert ([done.returncode for done in both], said.count("first use: installing")) == ([0, 0], 1), said
    assert left_behind(env) == ["venv-N-N.N"]
    (made,) = Path(env["XDG_DATA_HOME"], "council").iterdir()
    assert not any(str(made.with_name(f".{made.name}")) in text for text in scripts_of(made))
    done = again(checkout, env)
    assert (done.returncode, done.stderr) == (0, "")


def scripts_of(venv: Path) -> list[str]:
    return [script.read_text() for script in (venv / "bin").iterdir() if not script.is_symlink()]


def test_one_that_is_interrupted_stops(checkout: Path, env: dict[str, str]) -> None:
    with begun(checkout, env) as process:
        os.killpg(process.pid, signal.SIGINT)
        _, err = process.communicate(timeout=PATIENCE)
    assert err == "council: stopped; run the same command again to start over\n"
    assert process.returncode in (130, -signal.SIGINT), "as the shell tells it"
    assert left_behind(env) == [".venv-N-N.N.lock"]


def test_without_a_network_it_says_so_and_the_next_attempt_works(
    checkout: Path, env: dict[str, str], tmp_path: Path
) -> None:
    wheel = make_wheel(tmp_path / "index" / "nothing")
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    (checkout / "requirements.lock").write_text(f"nothing==1.0 --hash=sha256:{digest}\n")
    with socket.create_server(("127.0.0.1", 0)) as held:
        port = held.getsockname()[1]
        (tmp_path / "home" / ".config" / "pip").mkdir(parents=True)
        (tmp_path / "home" / ".config" / "pip" / "pip.conf").write_text(
            f"[global]\nindex-url = http://127.0.0.1:{port}/\n"
        )
    done = again(checkout, env)
    first, sentence = done.stderr.splitlines()
    assert done.returncode == 1
    assert first.startswith("council: first use: installing")
    assert sentence.startswith("council: the dependencies could not be installed: check the network")
    assert "an assistant's sandbox may have no network, so do this once in a terminal" in sentence
    assert left_behind(env) == [".venv-N-N.N.lock"]
    with serve(tmp_path / "index", port):
        assert again(checkout, env).returncode == 0
    assert left_behind(env) == ["venv-N-N.N"]


def make_wheel(folder: Path) -> Path:
    """A package with nothing in it."""
    folder.mkdir(parents=True)
    path = folder / "nothing-1.0-py3-none-any.whl"
    about = "nothing-1.0.dist-info"
    files = {
        f"{about}/METADATA": "Metadata-Version: 2.1\nName: nothing\nVersion: 1.0\n",
        f"{about}/WHEEL": "Wheel-Version: 1.0\nGenerator: us\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    sums = {name: base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()) for name, text in files.items()}
    rows = [f"{name},sha256={sums[name].decode().rstrip('=')},{len(text)}\n" for name, text in files.items()]
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in {**files, f"{about}/RECORD": "".join([*rows, f"{about}/RECORD,,\n"])}.items():
            archive.writestr(name, text)
    return path


@contextmanager
def serve(folder: Path, port: int) -> Iterator[None]:
    """A package index, which is a folder for each package."""
    handler = partial(http.server.SimpleHTTPRequestHandler, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", port), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield
        finally:
            server.shutdown()


@pytest.mark.parametrize("version", OLD)
def test_with_an_old_python(checkout: Path, env: dict[str, str], tmp_path: Path, version: str) -> None:
    found = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))
    if not found:
        pytest.skip(f"Python {version} is not installed")
    shutil.rmtree(tmp_path / "path")
    env["PATH"] = tools(tmp_path / "path", python3=str(found[0]))
    done = again(checkout, env)
    assert (done.returncode, done.stdout) == (2, "")
    assert re.fullmatch("council: Python 3.11 or newer is needed and none is on PATH: [^\n]*\n", done.stderr)
    assert not Path(env["XDG_DATA_HOME"]).exists()


def readme_commands() -> list[str]:
    """Those at its beginning, in their order."""
    begin = (REPO / "README.md").read_text("utf-8").partition("\n## ")[0]
    return re.findall(r"^    (.+)$", begin, re.M)


def test_the_readmes_first_commands_work_in_a_new_clone(tmp_path: Path, env: dict[str, str]) -> None:
    """A real clone and a real first use, with a clean home: what a newcomer does. Only the 1.1 GB are left out."""
    set_up, replay, local, test = readme_commands()
    clone_of_checkout(tmp_path, set_up.replace("ADDRESS", "'{0}'"), env)
    done = in_clone(tmp_path, replay, env)
    if "check the network" in done.stderr:
        pytest.skip("the packages cannot be fetched here")
    assert done.returncode == 0, done.stderr
    assert "\n## Recommended path\n" in done.stdout
    assert re.search(r"^read it: \S+/council/bin/council show \S+$", done.stderr, re.M)
    (made,) = Path(env["XDG_DATA_HOME"], "council").iterdir()
    assert made.name.startswith("venv-")
    assert [*Path(env["HOME"]).rglob("synthesis.md")]
    for command in (f"{local} --help", f"{test} --help"):
        done = in_clone(tmp_path, command, env)
        assert (done.returncode, done.stderr) == (0, ""), command
        assert "usage:" in done.stdout.lower()


def clone_of_checkout(folder: Path, command: str, env: dict[str, str]) -> None:
    """What is not committed yet comes into it, too."""
    if not (REPO / ".git").exists() or not shutil.which("git"):
        pytest.skip("this is no checkout")
    for name in ("sh", "git"):
        Path(env["PATH"], name).symlink_to(shutil.which(name) or name)
    settings = folder / "gitconfig"
    settings.write_text("[safe]\ndirectory = *\n")  # in CI the checkout may be somebody else's
    own = {**env, "GIT_CONFIG_GLOBAL": str(settings)}
    subprocess.run(["sh", "-c", command.format(REPO)], cwd=folder, env=own, check=True, capture_output=True)
    changed = ["git", "-C", str(REPO), "ls-files", "-z", "-m", "-o", "--exclude-standard"]
    for name in subprocess.run(changed, env=own, check=True, capture_output=True, text=True).stdout.split("\0"):
        if name and (REPO / name).is_file():
            (folder / "council" / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(REPO / name, folder / "council" / name)


def in_clone(folder: Path, command: str, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    here = folder / "council"
    return subprocess.run(["sh", "-c", command], cwd=here, env=env, capture_output=True, text=True, check=False)


def test_the_readmes_first_commands_are_what_they_are_said_to_be() -> None:
    """Two set up everything, one does the main job, and one passes the tests."""
    begin = " ".join((REPO / "README.md").read_text("utf-8").partition("\n## ")[0].split())
    set_up, replay, local, test = readme_commands()
    contributing = (REPO / "CONTRIBUTING.md").read_text("utf-8")
    assert (f"    {set_up}\n    {test}\n") in contributing
    assert f"{set_up} {replay} These two commands do all the set-up." in begin
    assert f"One command does the main job, a debate of your own: {local} " in begin
    assert re.search(rf"One command passes the tests, in about \w+ minutes on two cores: {test} ", begin)
    (size,) = re.findall(r"[\d.]+ GB", registry.find("local").setup)
    assert f"It downloads a small language model ({size}, once, " in begin
