"""Every reply of the table in messy.py gives the answers that stand there, and the others are asked for again."""

from __future__ import annotations

import pytest

from council.next.replies.read import read
from tests.next.replies.messy import GROUPS, Messy

ROWS = [(f"{group}: {row.why}", row) for group, rows in GROUPS.items() for row in rows]


@pytest.mark.parametrize("row", [row for _, row in ROWS], ids=[why for why, _ in ROWS])
def test_a_messy_reply_is_read_or_asked_again_and_never_guessed(row: Messy) -> None:
    answers = read(row.form, row.body)
    assert answers.found == row.found
    assert set(answers.problems) == set(row.asked), answers.problems
    for name, part in row.asked.items():
        assert part in answers.problems[name]


def test_the_table_is_large_and_has_no_reply_twice() -> None:
    assert len({why for why, _ in ROWS}) == len(ROWS)
    assert len({(tuple(row.form), row.body) for _, row in ROWS}) == len(ROWS) >= 155
