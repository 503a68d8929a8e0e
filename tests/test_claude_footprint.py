"""What a debate costs the assistant that hosts it, in the real Claude Code: samples of `scripts/prove assistants`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import footprints, rules_files
from tests.assistant import by_hand, is_member
from tests.claude_code import CLAUDE, ROOT, room

pytestmark = pytest.mark.skipif(not CLAUDE, reason="COUNCIL_TEST_CLAUDE names no claude program")
KB = 1_024


def test_long_replies_and_rules_files_reach_neither_the_host_nor_the_members(tmp_path: Path) -> None:
    """The host is told no words of members, and the members nothing that the user or the project says elsewhere."""
    words = footprints.debate(8 * KB)
    with room(tmp_path, by_hand(footprints.CALL), words) as here:
        rules_files.plant(here.user)
        ended = here.to_its_end(footprints.CALL)
        assert (ended["result"], ended["permission_denials"]) == ("The council has spoken.\n", [])
        found = footprints.measure(here.api.requests)
        assert found.put <= 12 * KB
        assert found.calls <= 10
        members = [one for one in here.api.requests if is_member(one)]
        reached = rules_files.reached(members)
        assert {where: reached[where] for where in rules_files.WHERE if where not in rules_files.GIT} == dict.fromkeys(
            (where for where in rules_files.WHERE if where not in rules_files.GIT), 0
        )
        host = rules_files.reached(one for one in here.api.requests if not is_member(one))
        assert all(host[where] for where in rules_files.WHERE if where != "the project's AGENTS.md"), "they are read"
        assert here.user.council("verify").code == 0


def test_being_installed_costs_a_conversation_two_kilobytes_at_most(tmp_path: Path) -> None:
    without = footprints.first_request(tmp_path / "without", None)
    assert 0 < footprints.first_request(tmp_path / "with-it", ROOT) - without <= 2 * KB
