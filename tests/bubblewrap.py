"""Whether the sandbox works on this machine, for tests that run real commands in it: `pytestmark = needs_sandbox`.

Where bubblewrap is missing and can be had from apt, it is installed once. Elsewhere these tests are skipped, and the
reason says what is missing.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

import pytest
from filelock import FileLock

from council.sandbox import probe


@cache
def missing() -> str:
    """Why the sandbox does not work here; empty if it does."""
    if shutil.which("bwrap") is None and os.geteuid() == 0 and shutil.which("apt-get"):
        with FileLock(Path(tempfile.gettempdir()) / "council-tests-apt.lock"):
            if shutil.which("bwrap") is None:
                install()
    return probe.find_obstacle()


def install() -> None:
    quiet = {"DEBIAN_FRONTEND": "noninteractive", "PATH": os.defpath}
    for words in (["install"], ["update"], ["install"]):  # the lists of packages may be old, or not there
        done = subprocess.run(
            ["apt-get", *words, "-qy", *(["--no-install-recommends", "bubblewrap"] if words == ["install"] else [])],
            env=quiet, capture_output=True, timeout=180, check=False,
        )  # fmt: skip
        if words == ["install"] and done.returncode == 0:
            return


needs_sandbox = pytest.mark.skipif(bool(missing()), reason=f"no sandbox here: {missing()}")
