"""A council in other assistants for real: OpenCode, Codex, Copilot CLI and Gemini CLI, by the portable loop.

Each is run where its variable names the program, such as COUNCIL_TEST_OPENCODE; `scripts/check-clients` gets them all.
"""

from __future__ import annotations

import re
import shlex
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import client_promises, gemini
from tests.claude_code import LONG
from tests.client_promises import CLIENTS, EXACT, SEPARATE, STARTED
from tests.clients import ROOT, Client


@pytest.fixture(params=CLIENTS.values(), ids=CLIENTS)
def client(request: pytest.FixtureRequest) -> Client:
    found: Client = request.param
    if not found.program:
        pytest.skip(f"{found.variable} names no program")
    return found


@pytest.fixture
def folder(client: Client, tmp_path: Path) -> Iterator[Path]:
    if client.homes is None:
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(prefix="council-client-", dir=client.homes) as name:
        yield Path(name).resolve()


@pytest.mark.parametrize("client", CLIENTS.values(), ids=CLIENTS)
def test_the_docs_say_what_is_tried_here(client: Client) -> None:
    """The command lines and the rules in docs/skill.md are those of these tests."""
    guide = (ROOT / "docs" / "skill.md").read_text()
    (command,) = re.findall(rf"\| `({client.name} .*)`", guide)
    tried = [word for word in client.arguments("Council: …") if word not in ("-m", gemini.MODEL)]
    assert shlex.split(command) == [client.name, *tried]
    assert f"```toml\n{gemini.POLICY}```" in guide


def test_the_docs_say_that_geminis_program_needs_a_key() -> None:
    """The other programs work with the login that people have; this one is given a key here, too."""
    guide = " ".join((ROOT / "docs" / "skill.md").read_text().split())
    assert f"Gemini CLI needs a key for its API (`{gemini.KEY}`) or a company's licence" in guide


def test_it_lists_the_skill(client: Client, folder: Path) -> None:
    assert client_promises.list_skills(client, folder) == []


def test_a_whole_debate_by_the_portable_loop(client: Client, folder: Path) -> None:
    """Members are asked at once, each in a context of its own, and store their words themselves, byte for byte."""
    assert client_promises.debate(client, folder) == {STARTED: [], SEPARATE: [], EXACT: []}


def test_killed_in_the_middle_of_a_round_and_finished_in_a_shell(client: Client, folder: Path) -> None:
    if client.name == "claude" and not LONG:
        pytest.skip("COUNCIL_TEST_LONG is not set")
    assert client_promises.recover(client, folder) == []
