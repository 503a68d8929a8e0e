"""A reply taken apart for readers: prose, and each answer below its title; what is short fits in a line."""

from __future__ import annotations

import pytest

from council.replies.compact import Piece, compact, pieces
from council.replies.parse import describe
from council.workflow.model import Kind, Reply

ANSWERS: Reply = (
    ("stance", Kind("choice", ("agree", "mixed", "disagree"))),
    ("blocking", Kind("list")),
    ("path", Kind("text")),
)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Prose.\n\n## Stance\nagree", [Piece("", "Prose."), Piece("Stance", "agree", short=True)]),
        ("## Stance\nquite mixed", [Piece("Stance", "quite mixed", short=True)]),
        ("## Stance\nquite mixed so", [Piece("Stance", "quite mixed so")]),
        ("## Stance\nmixed so far", [Piece("Stance", "mixed so far")]),
        ("## Blocking\n- one", [Piece("Blocking", "- one")]),
        ("## Blocking\nnone", [Piece("Blocking", "none", short=True)]),
        ("## Path\nyes", [Piece("Path", "yes")]),
        ("## Other\nagree", [Piece("", "## Other\nagree")]),
        ("\n\n## Stance\n\nagree\n\n", [Piece("Stance", "agree", short=True)]),
    ],
)
def test_a_reply_taken_apart(text: str, found: list[Piece]) -> None:
    assert [*pieces(text, ANSWERS)] == found


def test_no_word_is_left_out() -> None:
    text = f"Before.\n\n{describe(ANSWERS)}\n\n## Stance\nagree\n\nAfter it.\n\n## Blocking\n- One.\n"
    shown = "\n".join(f"{one.title} {one.text}" for one in pieces(text, ANSWERS))
    assert set(text.replace("#", "").split()) <= set(shown.replace("#", "").split())


def test_a_heading_inside_code_is_code():
    body = "## Stance\nagree\n\n## Path\n```\n## Stance\nmixed\n```\nSo."
    reply = (("stance", Kind("choice", ("agree", "mixed"))), ("path", Kind("text")))
    assert compact(body, reply) == "**Stance:** agree\n**Path:**\n```\n## Stance\nmixed\n```\nSo."
    assert [(piece.title, piece.text) for piece in pieces(body, reply)] == [
        ("Stance", "agree"), ("Path", "```\n## Stance\nmixed\n```\nSo."),
    ]  # fmt: skip


def test_a_heading_of_many_spaces_costs_nothing():
    line = f"# a{' ' * 20_000}x{' #' * 10_000}x"
    assert [piece.text for piece in pieces(line, ())] == [line]
