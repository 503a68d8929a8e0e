"""Pictures: well-formed, within what the page allows, true to the debate, and legible whatever the labels are."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from council.reports import pictures
from council.reports.model import Cell, Course, Grid, GridRow, PhaseCourse, RoundSpending, StepCourse, Vote
from council.reports.pictures import Month, svg
from tests.recordings import composed as recorded
from tests.strict_html import EVIL, GEOMETRY, SHAPES

TURN = "01-positions/engineer"
HOSTILE = [
    *EVIL, "x" * 10_000, "字" * 10_000, "W" * 500, "👩‍👩‍👧‍👦" * 80, "e" + "\u0301" * 5_000, "שלום עולם " * 40,
    "\u202egnp.exe", "\x00\x1b[2J\ud800", "", " ", "a\nb\tc",
]  # fmt: skip
TONES = ["agree", "mixed", "disagree", "absent", "silent", "spoke", "", "unheard-of"]


def parsed(picture: str) -> ET.Element:
    """The picture, which is one well-formed element of what the page's policy allows."""
    root = ET.fromstring(picture)
    assert root.tag == "svg"
    assert "url(" not in picture
    for element in root.iter():
        allowed = {"class"} | ({"href"} if element.tag == "a" else GEOMETRY)
        assert element.tag in SHAPES | {"a", "title"}
        assert set(element.attrib) <= allowed, element.attrib
        assert re.fullmatch(r"#[a-z0-9/.-]+", element.get("href", f"#{TURN}"))
    assert root[0].tag == "title"
    assert root[0].text
    return root


def texts(root: ET.Element) -> Iterator[str]:
    for element in root.iter("text"):
        yield element.text or ""


def shown(root: ET.Element) -> str:
    return " ".join(texts(root))


def titles(root: ET.Element) -> list[str]:
    return [element.findtext("title", "") for element in root.iter("a")]


def grid(seats: int, rounds: int, label: str = "Engineer (Marcus)") -> Grid:
    cells = tuple(Cell(TONES[n % 3], TONES[n % 3], TURN, "mixed" if n % 3 == 2 else "") for n in range(rounds))
    rows = tuple(GridRow(f"seat-{n}", label, "⚙️", cells[n % 2 :] + cells[: n % 2]) for n in range(seats))
    return Grid(tuple(f"Phase {n // 2}" for n in range(rounds)), rows, (("agree", "agree", seats),))


# ---- months ----


def test_months_are_drawn_without_a_gap_and_say_how_their_debates_ended() -> None:
    ends = {"agreed": 3, "consensus with dissent": 2, "split": 1, "reviewed, contested": 1, "": 1}
    root = parsed(
        pictures.draw_months([Month("2026-02", ends, 1.5, 1.5), Month("2025-11", {"agreed": 1}, None, 0.004)])
    )
    assert [element.get("class", "").split() for element in root.iter("rect")] == [
        ["stack", "agree"], *(["stack", tone] for tone in ("agree", "mixed")), ["half"],
        *(["stack", tone] for tone in ("disagree", "spoke", "absent")), ["bar"], ["stack", "absent"], ["bar"],
    ]  # fmt: skip
    names = [name for name in texts(root) if name in ("Sep", "Oct", "Nov", "Dec", "Jan", "Feb")]
    assert names == ["Sep", "Oct", "Nov", "Dec", "Jan", "Feb"], "at least six, the newest last"
    assert root.findtext("desc") == (
        "November 2025: 1 debate, 1 agreed, $0.0040+. February 2026: 8 debates, 3 agreed, 2 with dissent, "
        "1 no agreement, 1 another outcome, 1 not finished, $1.50"
    )
    assert {"$1.50", "$2", "<1¢+"} <= set(texts(root)), "the short form is for narrow places"


def test_of_many_months_the_newest_are_drawn_and_of_none_nothing() -> None:
    long_ago = [Month(f"{year}-06", {"agreed": 1}) for year in range(2000, 2027)]
    root = parsed(pictures.draw_months(long_ago))
    assert root.findtext("desc") == "June 2026: 1 debate, 1 agreed"
    assert "Cost" not in shown(root), "nothing had a price"
    assert pictures.draw_months([]) == pictures.draw_months([Month("2026-11")]) == ""


# ---- whatever is drawn ----


COUNTED = Grid(("A",), (), (("agree", "agree", 2), ("mixed", "mixed", 1), ("not heard", "silent", 1)))
VOTE = Vote("Choice", "plurality", "winner", "Rust with 3 of 5", (("Rust", 3.0), ("Go", 1.0)), ("Rust",), 5.0, ("ava",))
SPENT = (
    RoundSpending("Positions", 4, 0, 12_300, 2_100, 0.5, 0.5),
    RoundSpending("Challenges", 3, 2, None, 900, None, 0.25),
    RoundSpending("Closing", 4, 0, None, None, None, 0.0),
    RoundSpending("Synthesis", 1, 0, 0, 0, 0.0, 0.0),
)
COURSE = Course(
    (
        PhaseCourse("Positions", "done", 1, 1, True, "", "", 1, (StepCourse("Positions", "seat", "done", 4),)),
        PhaseCourse(
            "Trial", "now", 2, 5, True, "", "", 0,
            (
                StepCourse("Attempt", "cast", "done", 3), StepCourse("Run", "machine", "now", 3),
                StepCourse("Appeal", "person", "skipped", 1), StepCourse("Rule", "seat", "ahead", 1),
            ),
        ),
        PhaseCourse("Closing", "skipped", 0, 1, False, "", "0 of 4 say stance disagree", 0, ()),
        PhaseCourse("Approval", "ahead", 0, 1, False, "", "", 0, (StepCourse("Approval", "person", "ahead", 1),)),
        PhaseCourse("Budget", "halted", 1, 9, True, "budget", "$0.52 spent", 0, ()),
        PhaseCourse("Synthesis", "unreached", 0, 2, True, "", "", 0, ()),
    )
)  # fmt: skip


@pytest.mark.parametrize("label", HOSTILE)
def test_hostile_labels_are_text_and_fit(label):
    found = grid(2, 3, label)
    cell = Cell(label, "agree", TURN, label, label)
    rows = tuple(replace(row, icon=label[:3], cells=(cell, *row.cells[1:])) for row in found.rows)
    root = parsed(pictures.draw_stances(replace(found, columns=(label, label, "Last"), rows=rows)))
    others = (
        pictures.draw_vote(
            replace(VOTE, title=label, summary=label, counts=((label, 3.0), ("Go", 1.0)), silent=(label,))
        ),
        pictures.draw_spending([replace(one, title=label) for one in SPENT]),
        pictures.draw_count(replace(COUNTED, counts=((label, "agree", 2), (label, "disagree", 1)))),
        pictures.draw_protocol(Course(tuple(replace(phase, title=label, reason=label) for phase in COURSE.phases))),
    )
    for drawn in (root, *map(parsed, others)):
        assert all(svg.measure(text, min(svg.SIZES.values())) <= svg.WIDE for text in texts(drawn))
        assert all(len(text) <= svg.LONGEST for text in texts(drawn))


@given(st.text(max_size=60), st.floats(10, 400), st.sampled_from(sorted(svg.SIZES.values())))
def test_labels_are_cut_by_width(text, pixels, size):
    cut = svg.cut(text, pixels, size)
    assert svg.measure(cut, size) <= max(pixels, svg.measure("…", size))
    assert cut.endswith("…") or cut == " ".join(svg.STACKED.sub(r"\1", svg.one_line(text, svg.LONGEST)).split())


@pytest.mark.parametrize("scored", [False, True])
@pytest.mark.parametrize(("seats", "rounds"), [(1, 1), (2, 6), (60, 12), (3, 99)])
def test_any_number_of_seats_and_rounds(seats, rounds, scored):
    found = grid(seats, rounds)
    if scored:
        score = Cell("85", "score", TURN)
        found = replace(found, rows=tuple(replace(row, cells=(score,) * rounds) for row in found.rows), target=90.0)
    picture = (pictures.draw_scores if scored else pictures.draw_stances)(found)
    root = parsed(picture)
    assert len(titles(root)) == seats * rounds
    assert float(root.get("height", "")) >= 30 * seats
    assert picture == (pictures.draw_scores if scored else pictures.draw_stances)(found)


def test_every_class_has_a_style():
    scored = Grid(("A",), (GridRow("a", "A", "", (Cell("95", "score", TURN),)),), (), 90.0)
    drawn = pictures.draw_stances(grid(2, 3)) + pictures.draw_scores(scored) + pictures.draw_count(COUNTED)
    drawn += pictures.draw_protocol(COURSE) + pictures.draw_spending(SPENT) + pictures.draw_vote(VOTE)
    used = {name for found in re.findall(r'class="([^"]*)"', drawn) for name in found.split()}
    styled = set(re.findall(r"\.([a-z]+)", pictures.stylesheet()))
    assert used - {"cell", "seat", "cast", "person", "lost", "step"} <= styled


# ---- stances ----


def test_who_stood_where_and_who_changed_their_mind(tmp_path):
    debate = recorded("delphi-complete", tmp_path)
    root = parsed(pictures.draw_stances(debate.verdict.grid))
    assert "Architect (Serena), round 2 (Challenge): no, from yes, persuaded by Engineer" in titles(root)
    links = [link.get("href") for link in root.iter("a")]
    assert links[:2] == [
        "#01-positions/architect",
        "#02-challenge-r01/architect",
    ]
    arrows = [element for element in root.iter("path") if element.get("class") == "head"]
    assert len(arrows) == 2
    assert shown(root).count("persuaded by Engineer") == 2
    assert root.findtext("desc") == "In the last round: no: 5"


def test_a_link_leads_where_the_page_wants(tmp_path):
    debate = recorded("delphi-complete", tmp_path)
    picture = pictures.draw_stances(debate.verdict.grid, lambda turn: f"#/s/x/{turn}")
    assert 'href="#/s/x/02-challenge-r01/architect"' in picture


def test_absent_unreadable_and_not_asked_differ():
    silent = [Cell("", tone, TURN) for tone in ("absent", "silent", "spoke")]
    cells = (*silent, Cell(), Cell("agree", "agree", TURN))
    root = parsed(pictures.draw_stances(Grid(tuple("ABCDE"), (GridRow("a", "A", "", cells),), ())))
    assert [title.partition(": ")[2] for title in titles(root)] == [
        "absent",
        "unreadable",
        "not asked",
        "agree",
    ]
    signs = [ET.tostring(element) for element in root.iter("g") if "tone" in element.get("class", "")]
    assert len(set(signs[:4])) == 4, "each has a shape of its own"


def test_many_rounds_have_a_legend_instead_of_words():
    root = parsed(pictures.draw_stances(grid(3, 12)))
    assert shown(root).split().count("disagree") == 1
    assert "changed their mind" in shown(root)
    wide = parsed(pictures.draw_stances(grid(3, 40)))
    assert int(wide.get("width", "")) > 900, "it scrolls instead of being squeezed"


def test_without_stances_nothing_is_drawn():
    spoke = Grid(("A",), (GridRow("a", "A", "", (Cell("", "spoke", TURN),)),), ())
    assert pictures.draw_stances(spoke) == pictures.draw_scores(spoke) == pictures.draw_stances(Grid((), (), ())) == ""


# ---- scores ----


def test_scores_have_bars_and_the_line_that_they_must_reach(tmp_path):
    found = recorded("consensus-granted", tmp_path).verdict.grid
    assert found.target == 90
    assert pictures.draw_stances(found) == ""
    root = parsed(pictures.draw_scores(found))
    assert "Protocol, round 1 (Debate): 40" in titles(root)
    bars = [float(bar.get("height", "")) for bar in root.iter("rect")]
    assert bars[:5] == pytest.approx([12, 12, 12, 21, 28.5])
    kinds = [bar.get("class") for bar in root.iter("rect")]
    assert kinds[:5] == ["bar short"] * 4 + ["bar enough"]
    assert "90 is enough" in shown(root)


def test_a_missing_score_has_no_bar():
    cells = (Cell("0", "score", TURN), Cell("", "absent", TURN), Cell("", "silent", TURN), Cell("250", "score", TURN))
    root = parsed(pictures.draw_scores(Grid(tuple("ABCD"), (GridRow("a", "A", "", cells),), ())))
    assert [float(bar.get("height", "")) for bar in root.iter("rect")] == [1, 30]


# ---- the last count ----


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        ((("agree", "agree", 3), ("disagree", "disagree", 1)), "3 of 4 agree: a majority"),
        ((("agree", "agree", 2), ("mixed", "mixed", 2)), "2 of 4 agree: no majority"),
        ((("mixed", "mixed", 3),), "0 of 3 agree: no majority"),
        ((("yes", "agree", 2), ("not heard", "silent", 2)), "2 of 4 say yes: no majority"),
    ],
)
def test_a_majority_is_shown_only_if_there_is_one(counts, said):
    root = parsed(pictures.draw_count(Grid((), (), counts)))
    assert said in shown(root)
    widths = [float((part.get("width") or "").rstrip("%")) for part in root.iter("rect") if part.get("class") != "half"]
    assert sum(widths) == pytest.approx(100)


def test_the_last_count_is_of_the_last_round_that_asked(tmp_path):
    counts = recorded("board-guided", tmp_path).verdict.grid.counts
    assert counts == (("disagree", "disagree", 3),) or sum(number for _, _, number in counts) == 3
    assert all(title != "not heard" for title, _, _ in counts), "the person's guidance came after it"


# ---- votes ----


def test_a_vote_names_what_won_and_who_was_not_heard():
    root = parsed(pictures.draw_vote(VOTE))
    assert [bar.get("width") for bar in root.iter("rect") if "bar" in (bar.get("class") or "")] == ["60%", "20%"]
    assert "3 · won" in shown(root)
    assert "1: ava" in shown(root)
    assert "Rust with 3 of 5" in (root.findtext("desc") or "")


def test_a_tie_has_no_winner():
    tie = replace(VOTE, outcome="tie", counts=(("A", 2.0), ("B", 2.0)), leading=("A", "B"), silent=())
    assert shown(parsed(pictures.draw_vote(tie))).count("2 · tied") == 2
    nobody = replace(VOTE, outcome="none", counts=(("A", 0.0),), leading=(), silent=("a", "b"))
    root = parsed(pictures.draw_vote(nobody))
    assert "won" not in shown(root)
    assert not [bar for bar in root.iter("rect") if "bar" in (bar.get("class") or "")]


# ---- what it cost ----


def test_an_unknown_cost_is_hatched_and_not_zero():
    root = parsed(pictures.draw_spending(SPENT))
    assert "$0.5000 · 12.3k in, 2.1k out" in shown(root)
    assert "Challenges (2 failed)" in shown(root)
    assert "at least $0.2500" in shown(root)
    hatched = [line for line in root.iter("line") if line.get("class") == "unknown"]
    assert [(line.get("x1"), line.get("x2")) for line in hatched] == [("50%", "58%"), ("0%", "100%")]
    bars = [bar.get("width") for bar in root.iter("rect") if bar.get("class") == "bar"]
    assert bars == ["100%", "50%"], "what is free, and what is unknown, has none"


def test_without_prices_the_bars_are_tokens():
    free = (replace(SPENT[0], usd=None, usd_at_least=0.0), replace(SPENT[3], input=7_200))
    root = parsed(pictures.draw_spending(free))
    assert [bar.get("width") for bar in root.iter("rect") if bar.get("class") == "bar"] == ["100%", "50%"]
    assert "cost unknown" in shown(root)
    assert pictures.draw_spending(SPENT[3:]) == pictures.draw_spending(()) == ""


def test_the_rounds_add_up_to_what_the_debate_cost(tmp_path):
    debate = recorded("consensus-granted", tmp_path)
    spent, total = debate.course.spending, debate.verdict.spending
    assert [one.title for one in spent] == [*(f"Debate {number}" for number in range(1, 6)), "Synthesis 1"]
    assert sum(one.usd or 0 for one in spent) == pytest.approx(total.usd)
    assert (sum(one.calls for one in spent), sum(one.failed for one in spent)) == (total.calls, total.failed)
    assert sum(one.output or 0 for one in spent) == total.output


# ---- the protocol ----


def test_the_protocol_lights_the_current_step():
    picture = pictures.draw_protocol(COURSE)
    root = parsed(picture)
    assert root.get("role") == "img"
    for told in (
        "round 2 of 5",
        "1 absent",
        "skipped",
        "0 of 4 say stance disagree",
        "if needed",
        "halted",
        "not reached",
    ):
        assert told in shown(root), told
    assert len([chip for chip in root.iter("rect") if chip.get("class") == "lit"]) == 1
    assert "Trial, round 2 of 5, now Run" in (root.findtext("desc") or "")
    assert {"Appeal, a person", "Run, a machine", "Attempt \u00d7 3"} <= set(texts(root))


def test_the_course_of_a_debate_that_skipped_a_round(tmp_path):
    phases = recorded("delphi-complete", tmp_path).course.phases
    assert [(phase.title, phase.state, phase.rounds) for phase in phases][:2] == [
        ("Positions", "done", 1), ("Challenge", "done", 1),
    ]  # fmt: skip
    assert phases[1].outcome == "settled"


def test_the_course_of_a_debate_that_is_going_on(tmp_path):
    first, second, *rest = recorded("debate-mid-batch", tmp_path).course.phases
    assert (first.state, second.state) == ("done", "now")
    assert {phase.state for phase in rest} == {"ahead"}
    assert [step.state for step in second.steps] == ["now"]
    assert (second.steps[0].seats, rest[0].sure, rest[-1].sure) == (4, False, True)


def test_the_course_of_a_debate_that_waits_for_a_person(tmp_path):
    phases = recorded("perspectives-at-the-gate", tmp_path).course.phases
    now = [step for phase in phases for step in phase.steps if step.state == "now"]
    assert [step.kind for step in now] == ["person"]


# ---- all of them ----


@pytest.mark.parametrize("name", ["board-guided", "consensus-granted"])
def test_golden_pictures(name, tmp_path):
    golden = Path(__file__).parent / "pictures" / f"{name}.txt"
    drawn = "\n".join(f"{one.name}: {one.svg}" for one in pictures.draw_all(recorded(name, tmp_path)))
    made = drawn.replace("><", ">\n<") + "\n"
    if os.environ.get("COUNCIL_UPDATE_GOLDEN"):
        golden.write_text(made, "utf-8")
    assert made == golden.read_text("utf-8")


@pytest.mark.parametrize("name", ["board-guided", "delphi-complete", "patchlist-complete", "quick-quorum"])
def test_every_picture_of_a_recorded_session(name, tmp_path):
    drawn = list(pictures.draw_all(recorded(name, tmp_path)))
    assert {picture.name for picture in drawn} >= {"protocol"}
    for picture in drawn:
        assert parsed(picture.svg)[0].text == picture.title
