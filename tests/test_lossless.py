"""No line of a synthesis is lost, in whatever is made from it. The full size is in `scripts/prove trust`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests import syntheses


@pytest.fixture(scope="module", params=syntheses.BASES)
def base(request, tmp_path_factory) -> Path:
    return syntheses.begin(tmp_path_factory.mktemp("base"), request.param)


@pytest.mark.parametrize("seed", range(8))
def test_no_line_is_lost(seed, base, tmp_path):
    session, plan, written = syntheses.record(base, tmp_path / "copy", seed)
    assert plan.done
    assert syntheses.count_lines(written) > 20
    assert list(syntheses.find_lost(session, plan, written)) == []


def test_a_line_that_is_lost_is_found(base, tmp_path):
    session, _, written = syntheses.record(base, tmp_path / "copy", 1)
    turn = max(turn for turn in session.said if "synthesis" in turn)
    session.said[turn] = replace(session.said[turn], body="## Overview\nNothing.")
    found = list(syntheses.find_lost(session, session.plan(), written))
    assert len(found) > syntheses.count_lines(written)
