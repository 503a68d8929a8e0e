"""What may interrupt a debate in the real Claude Code: samples of `scripts/prove assistants`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import interruptions
from tests.claude_code import CLAUDE, long

pytestmark = pytest.mark.skipif(not CLAUDE, reason="COUNCIL_TEST_CLAUDE names no claude program")
SAMPLE = (
    pytest.param("compaction after call 4 of the host", marks=long),
    "Esc in the middle of round two, members in the foreground",
    pytest.param("two assistants, one debate", marks=long),
)


@pytest.mark.parametrize("case", SAMPLE)
def test_the_debate_ends_and_verifies(case: str, tmp_path: Path) -> None:
    assert interruptions.CASES[case](tmp_path) == []
