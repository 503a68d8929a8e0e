"""An interrupt of the Python API leaves a session that can be continued, in a script and in a notebook."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers import CODE, User, agreed, script

INTERRUPTED = """
import asyncio, signal, sys
import council

async def cell():
    signal.signal(signal.SIGINT, signal.default_int_handler)  # as in a notebook
    council.run("Shall we?", only_members=["architect", "engineer"], speaker="anthropic")

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
try:
    asyncio.run(cell()) if sys.argv[1] == "notebook" else council.run(
        "Shall we?", only_members=["architect", "engineer"], speaker="anthropic"
    )
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.parametrize("where", ["notebook", "script"])
def test_an_interrupt_ends_a_debate_that_can_be_continued(where: str, tmp_path: Path) -> None:
    user = User(tmp_path, {"ANTHROPIC_API_KEY": "sk-ant-of-the-tests"})
    with socket.create_server(("127.0.0.1", 0)) as silent:
        user.configure(f"endpoints:\n  anthropic: {{base_url: http://127.0.0.1:{silent.getsockname()[1]}}}")
        env = {**user.environment, "PYTHONPATH": str(CODE)}
        command = [sys.executable, "-c", INTERRUPTED, where]
        with subprocess.Popen(command, cwd=user.work, env=env, stdout=subprocess.PIPE, text=True) as running:
            silent.settimeout(30)
            call, _ = silent.accept()
            running.send_signal(signal.SIGINT)
            try:
                out, _ = running.communicate(timeout=15)
            finally:
                running.kill()
                call.close()
    assert out == "interrupted\n"
    assert user.council("status", "--json").json["state"] == "interrupted"
    source = script(user, agreed(("architect", "engineer")))
    assert user.council("recover", "last", "--speaker", "replay", "--from", source).code == 0
