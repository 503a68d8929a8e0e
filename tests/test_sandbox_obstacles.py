"""Where the sandbox does not work, `council doctor` says why and what to do, after it has really tried."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from council.sandbox import probe
from tests.bubblewrap import needs_sandbox
from tests.helpers import CODE, User

pytestmark = needs_sandbox
ASK = "from council.sandbox import probe; print(probe.find_obstacle())"
# A user of a namespace who can still write its settings, as root does it for the machine.
OTHER_USER = ["unshare", "--user", "--map-user=1000", "--map-group=1000", "--keep-caps"]
FORBID = ["sh", "-c", 'echo 0 > /proc/sys/user/max_user_namespaces && exec setpriv --ambient-caps=-all "$@"', "sh"]


@pytest.fixture
def afresh() -> Iterator[None]:
    probe.find_obstacle.cache_clear()
    yield
    probe.find_obstacle.cache_clear()


def line(tmp_path: Path) -> str:
    (found,) = [line for line in User(tmp_path).council("doctor").out.splitlines() if line[6:].startswith("sandbox: ")]
    return found


def ask(*prefix: str) -> str:
    env = {"PYTHONPATH": str(CODE), "PATH": os.defpath}
    done = subprocess.run([*prefix, sys.executable, "-c", ASK], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_doctor_says_that_it_works_and_what_keeps_its_bounds(tmp_path: Path) -> None:
    found = line(tmp_path)
    assert found.startswith("ok    sandbox: bubblewrap ")
    assert "memory" in found


@pytest.mark.usefixtures("afresh")
def test_doctor_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "PROGRAMS", {"no-such-bwrap": "bubblewrap"})
    found = line(tmp_path)
    assert found.startswith("-     sandbox: no code can be run: no-such-bwrap is not installed: ")
    if shutil.which("apt-get"):
        assert found.endswith("as root, `apt-get install bubblewrap`")


def test_where_namespaces_are_forbidden_it_names_the_setting() -> None:
    said = ask(*OTHER_USER, *FORBID)
    assert "write `user.max_user_namespaces=9999` to /etc/sysctl.d/60-council.conf, then `sysctl --system`" in said
    assert "bwrap: Creating new namespace failed" in said


def test_root_of_a_namespace_is_advised_to_be_a_user() -> None:
    assert "run council as a normal user" in ask("unshare", "--user", "--map-root-user")


@pytest.mark.usefixtures("afresh")
def test_apparmors_profile_is_printed_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel of this machine may have no AppArmor: its switch is a file, and the refusal is a real one."""
    switch = tmp_path / "apparmor_restrict_unprivileged_userns"
    switch.write_text("1\n")
    monkeypatch.setattr(probe, "APPARMOR", switch)
    said = probe._explain("the sandbox did not start: bwrap: setting up uid map: Permission denied")
    assert f"as root, write `{probe.PROFILE}` to /etc/apparmor.d/bwrap" in said
