"""What becomes of ids that are joined, rejected or withdrawn, and of texts in the same words."""

from __future__ import annotations

import pytest

from council.next.protocols.ids import Register
from council.next.protocols.outcome import outcome
from tests.next.protocols.held import Held, kit, signs


def test_many_conditions_are_each_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = []
    canonical = Register.canonical
    monkeypatch.setattr(Register, "canonical", lambda self, id: looks.append(id) or canonical(self, id))
    many = signs("R1", conditions=[f"condition {number} holds" for number in range(500)])
    held = Held(kit("Debate"), challenges={"all": signs("R1"), "D": many}).until("closing")
    held.plan.scene.kept.clear()
    looks.clear()
    assert len(outcome(held.plan).conditions) == 500
    assert len(looks) < 10 * 500
