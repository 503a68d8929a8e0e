"""What tries to get out of the sandbox stays in it: a sample of tests/probes.py (`scripts/prove lab` runs them all)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import probe_programs, probes
from tests.bubblewrap import needs_sandbox

pytestmark = needs_sandbox
SAMPLE = {
    "root, control group": (
        "a fork bomb", "memory of 8 children", "names of users, hosts and folders", "endless output"
    ),
    "root, watchdog": ("a daemon that stays", "stops itself", "keeps the first process alive"),
    "user, control group": (
        "memory of one process", "fills /dev/shm", "ends by a signal", "names: newline, 4,096 characters, right to left"
    ),
    "user, watchdog": ("memory of 8 children", "an infinite loop", "what namespaces do not contain"),
}  # fmt: skip


@pytest.mark.parametrize("way", SAMPLE)
def test_nothing_gets_out(way: str) -> None:
    if why := probes.find_ways()[way]:
        pytest.skip(why)
    found = probes.run_probes(way, ["all refusals", *SAMPLE[way]])
    assert {one.tries for one in found} == {"all refusals", *SAMPLE[way]}
    assert [f"{one.tries}: {one.wrong}" for one in found if one.wrong] == []


@pytest.mark.parametrize("tries", ["a server on this machine", "an abstract socket", "a socket like Docker's"])
def test_the_probes_find_what_is_there(tries: str, tmp_path: Path) -> None:
    """Outside of the sandbox they get out."""
    with probes.beside(f"control-{os.getpid()}") as facts:
        (tmp_path / "facts.json").write_text(json.dumps(facts))
        program = probe_programs.PRELUDE + probe_programs.NETWORK[tries]
        done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, check=True)
    assert done.stdout == b"OPEN: connected\n"


def test_there_are_40_probes_with_names_of_their_own() -> None:
    known = [probe.tries for probe in probes.list_probes()]
    assert len(set(known)) == len(known) == 40
