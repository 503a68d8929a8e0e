"""Truthful reading: what real replies say is read as a careful reader reads it, and no more."""

from __future__ import annotations

import pytest

from tests import shapes
from tests.shapes import Shape


@pytest.mark.parametrize("shape", shapes.SHAPES, ids=[shape.why for shape in shapes.SHAPES])
def test_a_reply_is_read_as_a_careful_reader_reads_it(shape: Shape) -> None:
    assert shape.read() == shape.answers
