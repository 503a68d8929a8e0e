"""Truthful reading: what real replies say is read as a careful reader reads it, and no document says more."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import shapes, tallies
from tests.shapes import Shape
from tests.tallies import CLAIMS, SEATS, Case


@pytest.mark.parametrize("shape", shapes.SHAPES, ids=[shape.why for shape in shapes.SHAPES])
def test_a_reply_is_read_as_a_careful_reader_reads_it(shape: Shape) -> None:
    assert shape.read() == shape.answers


# ---- no conclusion above its tally ----

SAMPLE = [
    *(Case("delphi", votes, CLAIMS[0]) for votes in ("?????", "mmm--", "yynnm", "yy---")),
    *(Case("delphi", votes, claim) for votes in ("yyyyn", "yyyyy", "nnny") for claim in CLAIMS),
    *(Case("delphi with a decision", votes, claim) for votes in ("yynn", "yyyn") for claim in CLAIMS[:2]),
    *(Case("debate", votes, CLAIMS[1]) for votes in ("yyn", "ynn-")),
    *(Case("board", votes, CLAIMS[0]) for votes in ("yymm", "yyyn")),
    *(Case("consensus", votes, CLAIMS[0]) for votes in ("yy", "y?")),
    *(Case("perspectives", votes, CLAIMS[0]) for votes in ("yy", "y-")),
    Case("quick", "yyy", CLAIMS[0]),
]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    root = tmp_path_factory.mktemp("homes")
    with tallies.at_home(root):
        yield root


@pytest.mark.parametrize("case", SAMPLE, ids=str)
def test_no_document_states_more_than_the_count(case: Case, home: Path) -> None:
    assert tallies.judge(case, tallies.hold(case, home)) == []


def test_every_protocol_that_concludes_is_tried() -> None:
    assert {case.protocol for case in SAMPLE} == set(SEATS)
    assert all(len(list(tallies.cases(protocol))) > 40 for protocol in SEATS)
