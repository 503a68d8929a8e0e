"""Whether the sandbox works here. A real command is run: that `bwrap` is installed says nothing."""

from __future__ import annotations

import shutil
import sys
from functools import cache

from council.sandbox.model import Job
from council.sandbox.run import SandboxError, run


@cache
def find_obstacle() -> str:
    """Why no command can be run here, and what to do about it. Empty if the sandbox works."""
    if sys.platform != "linux":
        return "the sandbox needs Linux; on another system, run council in a Linux machine or container"
    for program, package in (("bwrap", "bubblewrap"), ("setpriv", "util-linux"), ("prlimit", "util-linux")):
        if shutil.which(program) is None:
            return f"{program} is not installed; install the package {package}"
    try:
        ran = run(Job(("true",), {"probe": b""}))
    except SandboxError as failure:
        return str(failure)
    return "" if ran.exit == 0 else f"a first command in the sandbox failed: {ran.output.decode('utf-8', 'replace')}"
