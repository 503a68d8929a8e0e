"""A council in the real Claude Code, whose model and whose members speak from a script.

It is run where COUNCIL_TEST_CLAUDE names the program: with a home, a project and an API of its own, and the repository
linked as its skill.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections import Counter

import pytest

from tests.assistant import Assistant, by_hand
from tests.claude_code import CLAUDE, PATIENCE, as_bytes, long, room
from tests.fakeapi import Answer
from tests.helpers import disputed, quick

pytestmark = pytest.mark.skipif(not CLAUDE, reason="COUNCIL_TEST_CLAUDE names no claude program")
TOPIC = "Queue or table?"


@long  # a quarter of a second for each hook
def test_with_council_started_each_time(tmp_path):
    """As a user's hooks do: two members, and the chair. The other debates fork it from a warm process."""
    words = quick(("architect", "engineer"))
    begin = f"council start --workflow quick --only architect --only engineer '{TOPIC}'"
    with room(tmp_path, by_hand("", begin), words, env={"COUNCIL_VENV": sys.prefix}) as here:
        ended = here.to_its_end("Council: Queue or table?")
        assert (ended["result"], ended["permission_denials"]) == ("The council has spoken.\n", [])
        assert here.spoken() == as_bytes(words)
        assert here.user.council("verify").code == 0


def test_killed_in_round_two_and_finished_in_a_shell(tmp_path):
    """Of two members the answers are whole on disk, of two they never came: those are asked again, and only those."""
    words = disputed()
    slow = ("02-challenges/designer", "02-challenges/researcher")
    with room(tmp_path, by_hand(f"Council: {TOPIC}"), words, slow) as here:
        with here.claude(f"Council: {TOPIC}") as process:
            until = time.monotonic() + PATIENCE
            while here.whole() < 6 or len(here.members.asked) < 8:
                assert time.monotonic() < until
                time.sleep(0.05)
            os.killpg(process.pid, signal.SIGKILL)
        ended = here.user.process("recover", "--speaker", "anthropic")
        assert ended.code == 0, ended.err
        assert here.spoken() == as_bytes(words)
        asked = Counter(here.members.asked)
        assert {turn: asked[turn] for turn in words} == {turn: 2 if turn in slow else 1 for turn in words}
        assert here.user.council("verify").code == 0


@long
def test_begun_in_a_shell_and_finished_by_hand(tmp_path):
    words = disputed()
    with room(tmp_path, [], words) as here:
        here.members.faults = {"02-challenges/engineer": [Answer(fault="status", status=400)]}
        assert here.user.process("run", TOPIC, "--speaker", "anthropic").code == 4
        id = here.user.session.name
        here.api.responder = Assistant(by_hand("", begin=f"council next {id}"), here.members)
        ended = here.to_its_end(f"Council recovery: {id}")
        assert (ended["result"], ended["permission_denials"]) == ("The council has spoken.\n", [])
        assert here.spoken() == as_bytes(words)
        asked = Counter(here.members.asked)
        assert asked == {turn: 2 if turn == "02-challenges/engineer" else 1 for turn in words}
        assert here.user.council("verify").code == 0
