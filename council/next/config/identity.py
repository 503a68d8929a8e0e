"""Who uses council: the name that a person's answer gets in its receipt."""

from __future__ import annotations

import getpass
import os
import subprocess
from contextlib import suppress

from council.next.text import one_line

OWN = "GIT_CONFIG_GLOBAL"  # the user may keep the file elsewhere


def user_name() -> str:
    """The user's own `user.name` of Git, else the login. A repository's own configuration does not count, and is not
    read: the command runs outside of it."""
    env = {name: value for name, value in os.environ.items() if name == OWN or not name.startswith("GIT_")}
    name = ""
    with suppress(OSError, subprocess.SubprocessError):
        words = ["git", "config", "--global", "--get", "user.name"]
        told = subprocess.run(words, cwd="/", env=env, capture_output=True, timeout=5, check=False).stdout
        name = told.decode("utf-8", "replace").strip()
    with suppress(OSError, KeyError):
        name = name or getpass.getuser()
    return one_line(name, 100) or f"user {os.getuid()}"
