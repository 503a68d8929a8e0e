"""A reply as its author wrote it: every line of it belongs to an answer, or comes before the first one."""

from __future__ import annotations

import pytest

from council.replies.parse import outline, read
from council.workflow.model import Kind

TEXT, LIST = Kind("text"), Kind("list")
DESIGN = (("overview", TEXT), ("interfaces", LIST), ("confidence", Kind("choice", ("high", "medium", "low"))))
SCORES = (("proposal", TEXT), ("satisfaction_score", Kind("range", low=0, high=100)), ("blocking", LIST))

WRITTEN = """Here is the design.

```mermaid
graph TD; A --> B
```

## Overview

It stores messages.

## Data model

| Part | Owns |
|---|---|
| db | rows |

### Interfaces

- of the database

## Interfaces

A paragraph before.

1. First
   - nested
2. Second

```proto
message A { int32 a = 1; }
## Confidence
```

## Appendix

> A quotation.

## Confidence
medium

Because the data is thin.
"""


def test_each_line_belongs_to_the_answer_above_it():
    found = outline(DESIGN, WRITTEN)
    assert found.preface == "Here is the design.\n\n```mermaid\ngraph TD; A --> B\n```\n"[:-1]
    assert list(found.answers) == ["overview", "interfaces", "confidence"]
    assert found.answers["overview"].endswith("| db | rows |\n\n### Interfaces\n\n- of the database")
    assert found.answers["interfaces"].startswith("A paragraph before.\n\n1. First\n   - nested\n2. Second\n\n```proto")
    assert found.answers["interfaces"].endswith("## Confidence\n```\n\n## Appendix\n\n> A quotation.")
    assert found.answers["confidence"] == "medium\n\nBecause the data is thin."


def test_a_text_may_begin_with_a_heading_of_its_own_level():
    found = read((("recommendation", TEXT),), "## Recommendation\n\n## Keep it\n\nBecause it works.\n\n## Later\nLook.")
    assert found.problems == ()
    assert found.found["recommendation"] == "## Keep it\n\nBecause it works.\n\n## Later\nLook."


def test_a_higher_heading_ends_a_text():
    found = read((("path", TEXT),), "## Path\nDo it.\n# End\nBye.")
    assert (found.found["path"], found.prose) == ("Do it.", "# End\nBye.")


def test_a_label_inside_another_answer_stays_where_it_is():
    body = "## Overview\n**Interfaces:** none for now\n\nMore.\n\n## Interfaces\n- get\n\n## Confidence\nhigh"
    assert outline(DESIGN, body).answers == {
        "overview": "**Interfaces:** none for now\n\nMore.",
        "interfaces": "- get",
        "confidence": "high",
    }


@pytest.mark.parametrize(
    ("body", "score"),
    [
        ("## Proposal\nX\n## Satisfaction Score\n85%\n## Blocking Concerns (if < 90%)\n1. Slow\n2. Costly", 85),
        ("## Proposal\nX\n\nSatisfaction: 85%\n\nBlocking concerns:\n- Slow\n- Costly", 85),
        ("## Proposal\nX\n## Satisfaction score (0-100)\n~85\n## Blockers\n- Slow\n- Costly", 85),
        ("## Proposal\nX\n**Satisfaction:** ≈ 85 %\n## Blocking issues\n- Slow\n- Costly", 85),
        ("## Proposal\nX\n## Satisfaction score\n85\nSatisfaction: it grows.\n## Blocking\n- Slow\n- Costly", 85),
    ],
)
def test_headings_and_scores_as_people_write_them(body, score):
    found = read(SCORES, body)
    assert found.problems == ()
    assert found.found["satisfaction_score"] == score
    assert found.found["blocking"] == ("Slow", "Costly")


@pytest.mark.parametrize("score", ["0.9", "1.0", "0,85", "0.9 (very)"])
def test_a_share_of_one_is_asked_for_again(score):
    found = read(SCORES, f"## Proposal\nX\n## Satisfaction score\n{score}\n## Blocking\nnone")
    assert found.problems == (
        'the text under "## Satisfaction score" is between 0 and 1; write a number from 0 to 100',
    )


@pytest.mark.parametrize(("score", "value"), [("0", 0), ("1", 1), ("90.5", 90.5), ("1.5", 1.5)])
def test_other_numbers_are_read(score, value):
    assert read(SCORES, f"## Satisfaction score\n{score}").found["satisfaction_score"] == value


def test_what_another_seat_said_is_no_answer():
    body = "## Proposal\nX\n## Satisfaction score (Database)\n40\n## Blocking\nnone"
    assert "satisfaction_score" not in read(SCORES, body).found
