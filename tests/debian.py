"""Programs from Debian's packages, which tests install where they may."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from filelock import FileLock

PATIENCE = 300.0  # seconds for one call of apt-get
INSTALL = ("install", "-qy", "--no-install-recommends")


def find(package: str, *names: str) -> str:
    """The path of the first of these programs that is here; where none is, `package` is installed if that is possible.
    Another installation, such as that of `.ci/run`, is waited for: a program may be here before what it needs.
    """
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        return _look(*names)
    with FileLock(Path(tempfile.gettempdir()) / "council-tests-apt.lock"):
        if not _look(*names) and not _call(*INSTALL, package):
            _call("update", "-q")  # the lists of packages may be old, or not there
            _call(*INSTALL, package)
        return _look(*names)


def _look(*names: str) -> str:
    return next(filter(None, map(shutil.which, names)), "")


def _call(*words: str) -> bool:
    env = {"DEBIAN_FRONTEND": "noninteractive", "PATH": os.defpath}
    done = subprocess.run(["apt-get", *words], env=env, capture_output=True, timeout=PATIENCE, check=False)
    return done.returncode == 0
