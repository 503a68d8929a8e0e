"""A council in other assistants for real: OpenCode, Copilot CLI and Gemini CLI, by the portable loop.

Each is run where its variable names the program, such as COUNCIL_TEST_OPENCODE; `scripts/check-clients` gets them all.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import client_promises
from tests.client_promises import CLIENTS, EXACT, SEPARATE, STARTED
from tests.clients import Client


@pytest.fixture(params=CLIENTS.values(), ids=CLIENTS)
def client(request: pytest.FixtureRequest) -> Client:
    found: Client = request.param
    if not found.program:
        pytest.skip(f"{found.variable} names no program")
    return found


def test_it_lists_the_skill(client: Client, tmp_path: Path) -> None:
    assert client_promises.list_skills(client, tmp_path) == []


def test_a_whole_debate_by_the_portable_loop(client: Client, tmp_path: Path) -> None:
    """Members are asked at once, each in a context of its own, and store their words themselves, byte for byte."""
    assert client_promises.debate(client, tmp_path) == {STARTED: [], SEPARATE: [], EXACT: []}


def test_killed_in_the_middle_of_a_round_and_finished_in_a_shell(client: Client, tmp_path: Path) -> None:
    assert client_promises.recover(client, tmp_path) == []
