"""What council costs an assistant that holds no debate: a sample of `scripts/prove assistants`.

Claude Code, the real one. What a debate costs is in `test_claude_debate.py`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import footprints
from tests.claude_code import CLAUDE, ROOT

pytestmark = pytest.mark.skipif(not CLAUDE, reason="COUNCIL_TEST_CLAUDE names no claude program")
KB = 1_024


def test_being_installed_costs_a_conversation_two_kilobytes_at_most(tmp_path: Path) -> None:
    without = footprints.first_request(tmp_path / "without", None)
    assert 0 < footprints.first_request(tmp_path / "with-it", ROOT) - without <= 2 * KB
