"""Who uses council: the name that a person's answer gets in its receipt."""

from __future__ import annotations

import getpass
import os
from contextlib import suppress

from council import git
from council.errors import UsageError
from council.text import one_line

LONGEST = 100


def user_name() -> str:
    """The user's own `user.name` of Git, else the login. A repository's own configuration does not count."""
    with suppress(OSError, UsageError):
        done = git.run("config", "--global", "--get", "user.name")
        if name := one_line(done.stdout.decode("utf-8", "replace"), LONGEST):
            return name
    with suppress(OSError, KeyError):
        if name := one_line(getpass.getuser(), LONGEST):
            return name
    return f"user {os.getuid()}"
