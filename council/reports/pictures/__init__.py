"""Pictures of a debate as SVG: pure functions from the transcript's model to text, the same for the same debate.

    draw_all(debate, link)     every picture that there is something to draw for, with its name and title
    draw_stances(grid, link)   who stood where: seats by rounds, with an arrow for each change of mind
    draw_scores(grid, link)    the same for scores from 0 to 100: bars, with a line at the score that is enough
    draw_count(grid)           the last count of the stances, with a line at half of all members
    draw_vote(vote)            the votes for each option; what won, or a tie, is named
    draw_protocol(course)      phases and steps: what is over, skipped and why, going on, to come; people and machines
    draw_spending(spending)    what each round cost; what is unknown is hatched
    draw_months(months)        the debates of each month by how they ended, and what they cost
    draw_bars(title, about, bars)   amounts with labels, for anything else

Each returns one `<svg>` as wide as its place, with text of a fixed size, or "" if there is nothing to draw. The classes
are in `pictures.css` (`stylesheet()`), with the colours of the page. There is no script, style or address in a picture;
`link` makes the address of a turn from its id, by default its place on the same page.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from council.reports.model import Transcript
from council.reports.pictures.bars import Bar, draw_bars, draw_count, draw_spending, draw_vote
from council.reports.pictures.months import Month, draw_months
from council.reports.pictures.protocol import draw_protocol
from council.reports.pictures.scores import draw_scores
from council.reports.pictures.stances import draw_stances
from council.reports.pictures.svg import Link, place_on_page, stylesheet

__all__ = [
    "Bar", "Month", "Picture", "draw_all", "draw_bars", "draw_count", "draw_months", "draw_protocol", "draw_scores",
    "draw_spending", "draw_stances", "draw_vote", "stylesheet",
]  # fmt: skip


@dataclass(frozen=True)
class Picture:
    name: str
    title: str
    svg: str


def draw_all(debate: Transcript, link: Link = place_on_page) -> Iterator[Picture]:
    grid, course = debate.verdict.grid, debate.course
    drawn = [
        Picture("stances", "Who stood where", draw_stances(grid, link)),
        Picture("scores", "Scores by round", draw_scores(grid, link)),
        Picture("count", "The last count", draw_count(grid)),
        *(Picture("ballots", f"The vote: {vote.title}", draw_vote(vote)) for vote in course.votes),
        Picture("protocol", "The protocol", draw_protocol(course)),
        Picture("spending", "Cost by round", draw_spending(course.spending)),
    ]
    yield from (picture for picture in drawn if picture.svg)
