"""Whether the sandbox works here. A real command is run: that `bwrap` is installed says nothing."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

from council.sandbox import cgroup, seccomp
from council.sandbox.model import Job
from council.sandbox.run import SandboxError, run

PROGRAMS = {"bwrap": "bubblewrap", "setpriv": "util-linux", "prlimit": "util-linux", "tar": "tar"}
INSTALL = {
    "apt-get": "apt-get install", "dnf": "dnf install", "zypper": "zypper install", "pacman": "pacman -S",
    "apk": "apk add",
}  # fmt: skip
OLDEST_KERNEL, OLDEST_BUBBLEWRAP = (5, 14), "0.8"
APPARMOR = Path("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")
PROFILE = "abi <abi/4.0>, profile bwrap /usr/bin/bwrap flags=(unconfined) { userns, }"
PROFILES = "/etc/apparmor.d/bwrap"
SWITCHES = {"kernel.unprivileged_userns_clone": 1, "user.max_user_namespaces": 9999}


@cache
def find_obstacle() -> str:
    """Why no command can be run here, and what to do about it. Empty if the sandbox works."""
    if obstacle := _find_missing():
        return obstacle
    try:
        ran = run(Job(("sh", "-c", "cat probe && test ! -e /home"), {"probe": b"it works"}))
    except SandboxError as failure:
        return _explain(str(failure))
    if ran.exit or ran.output != b"it works":
        return f"a first command in the sandbox failed: {ran.output.decode('utf-8', 'replace')}"
    return ""


def describe() -> str:
    """What keeps the bounds here."""
    kept = "control groups bound memory and processes" if cgroup.find_home() else "a watchdog bounds memory"
    return f"{_read_version()}; {kept}"


def _find_missing() -> str:
    if sys.platform != "linux":
        return (
            "the sandbox is made of Linux namespaces, which this system does not have; run council in a Linux virtual "
            "machine"
        )
    for program, package in PROGRAMS.items():
        if shutil.which(program, path=os.defpath) is None:
            install = next((words for name, words in INSTALL.items() if shutil.which(name)), "install the package")
            return f"{program} is not installed: as root, `{install} {package}`"
    if tuple(map(int, re.findall(r"\d+", platform.release())[:2])) < OLDEST_KERNEL:
        return f"the sandbox needs Linux {OLDEST_KERNEL[0]}.{OLDEST_KERNEL[1]} or later; this is {platform.release()}"
    if not seccomp.is_supported():
        return f"the sandbox knows the system calls of {', '.join(seccomp.MACHINES)}, not those of {platform.machine()}"
    return ""


def _explain(failure: str) -> str:
    """What to do about a sandbox that does not start. The kernel's own messages do not say."""
    if "Unknown option" in failure:
        return f"bubblewrap {OLDEST_BUBBLEWRAP} or later is needed; this is {_read_version()}"
    if "setresuid failed" in failure:
        return f"this root is one user of a namespace that has no other: run council as a normal user ({failure})"
    if _read(APPARMOR) == "1":
        return (
            f"AppArmor forbids bubblewrap to make namespaces: as root, write `{PROFILE}` to {PROFILES}, then "
            f"`apparmor_parser -r {PROFILES}` ({failure})"
        )
    for name, value in SWITCHES.items():
        if _read(Path("/proc/sys", *name.split("."))) == "0":
            return (
                f"this system forbids users to make namespaces: as root, write `{name}={value}` to "
                f"/etc/sysctl.d/60-council.conf, then `sysctl --system` ({failure})"
            )
    if "namespace" in failure or "Operation not permitted" in failure or "Permission denied" in failure:
        return (
            "this machine is perhaps a container that may not make namespaces: run council outside of it, or start the "
            "container with `--security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt "
            f"systempaths=unconfined` ({failure})"
        )
    return failure


def _read(path: Path) -> str:
    return path.read_text().strip() if path.exists() else ""


def _read_version() -> str:
    return subprocess.run(["/usr/bin/bwrap", "--version"], capture_output=True, text=True, check=False).stdout.strip()
