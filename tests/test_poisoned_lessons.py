"""A lesson is words. Whatever it says and however it came, it changes no verdict, no gate and no path."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers import User, no_escapes, no_traceback, picture
from tests.learned import brief_of, lessons_of
from tests.poisoned import PAYLOADS, WAYS, WORD, find_leaks, hold_gated, look, put_others, teach

OURS = ("poisoned/memory", "poisoned/.cache", "calm")  # where a session and the index write


def test_no_payload_changes_anything(tmp_path: Path) -> None:
    """All of them at once, in every way in which they can come; the shelf shows whatever it finds."""
    calm, poisoned = User(tmp_path / "calm"), User(tmp_path / "poisoned")
    expected = look(hold_gated(calm))
    assert expected["due"] == ["04-gate/reader"]
    for way, put in WAYS.items():
        for payload in PAYLOADS.values() if way.startswith("planted") else [PAYLOADS["orders"]]:
            put(poisoned, payload)
        if way == "under another's name":
            put_others(poisoned)
    before = picture(tmp_path, OURS)
    session = hold_gated(poisoned, most=100)
    body = session.said["01-recall/shelf"].body
    assert body.count("\n- [") > 20
    assert WORD in brief_of(session, "02-loop-r01-1-draft/engineer")
    assert look(session) == expected
    assert find_leaks(session) == []
    assert picture(tmp_path, OURS) == before
    for words in ([], ["list", "mean", "list"]):
        ended = poisoned.council("lessons", *words)
        assert ended.code == 0
        no_escapes(ended)
        no_traceback(ended)


@pytest.mark.parametrize("payload", ["a heading", "escape sequences", "very long"])
def test_what_a_member_taught_is_as_harmless(payload: str, tmp_path: Path) -> None:
    user = User(tmp_path)
    teach(user, PAYLOADS[payload])
    (lesson,) = lessons_of(user).read_all(pytest.fail)
    assert WORD in lesson.change
    session = hold_gated(user)
    assert lesson.change in session.said["01-recall/shelf"].body
    assert list(session.plan().scene.turns[0].answers) == ["lessons"]
    assert find_leaks(session) == []
