"""Whether the sandbox works on this machine, for tests that run real commands in it: `pytestmark = needs_sandbox`.

Where bubblewrap is missing and can be had from apt, it is installed once. Elsewhere these tests are skipped, and the
reason says what is missing.
"""

from __future__ import annotations

from functools import cache

import pytest

from council.sandbox import probe
from tests import debian


@cache
def missing() -> str:
    """Why the sandbox does not work here; empty if it does."""
    debian.find("bubblewrap", "bwrap")
    return probe.find_obstacle()


needs_sandbox = pytest.mark.skipif(bool(missing()), reason=f"no sandbox here: {missing()}")
