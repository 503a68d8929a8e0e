"""Who uses council: the name that a person's answer gets in its receipt."""

from __future__ import annotations

import getpass
import os
import subprocess
from contextlib import suppress

from council.next.text import one_line

LONGEST = 100
OWN = "GIT_CONFIG_GLOBAL"  # the user may keep the file elsewhere


def user_name() -> str:
    """The user's own `user.name` of Git, else the login. A repository's own configuration does not count, and is not
    read: the command runs outside of it."""
    env = {name: value for name, value in os.environ.items() if name == OWN or not name.startswith("GIT_")}
    with suppress(OSError, subprocess.SubprocessError):
        words = ["git", "config", "--global", "--get", "user.name"]
        told = subprocess.run(words, cwd="/", env=env, capture_output=True, timeout=5, check=False).stdout
        if name := one_line(told.decode("utf-8", "replace"), LONGEST):
            return name
    with suppress(OSError, KeyError):
        return one_line(getpass.getuser(), LONGEST)
    return f"user {os.getuid()}"
