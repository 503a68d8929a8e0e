"""One debate in three places: begun in Claude Code, continued in another client, finished in CI."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from tests import relay
from tests.claude_code import CLAUDE, long
from tests.client_promises import CLIENTS

pytestmark = pytest.mark.skipif(not CLAUDE, reason="COUNCIL_TEST_CLAUDE names no claude program")


@pytest.mark.parametrize("name", ["codex", "opencode", pytest.param("claude", marks=long)])
def test_one_debate_in_three_places(name: str) -> None:
    """With one head after each; the third client is Claude Code without hooks."""
    client = CLIENTS[name]
    if not client.program:
        pytest.skip(f"{client.variable} names no program")
    with tempfile.TemporaryDirectory(prefix="council-relay-", dir=client.homes, ignore_cleanup_errors=True) as place:
        assert relay.run(Path(place).resolve(), client).wrong == []
