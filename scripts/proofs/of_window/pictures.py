"""Pictures of debates are legible at every width, light and dark, whatever members wrote, and the page forbids nothing
that they need."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from prove import Outcome

from council.reports import html
from council.reports.model import Cell, Grid, GridRow, Transcript
from tests.recordings import composed, sessions
from tests.strict_html import EVIL

PROMISE = "pictures are legible"
WIDTHS = (320, 360, 641, 768, 1280, 1600)
LABELS = [
    *EVIL, "W" * 10_000, "字" * 500, "👩‍👩‍👧‍👦" * 80, "e" + "\u0301" * 500, "שלום עולם " * 40, "\u202egnp.exe",
]  # fmt: skip
CROWDS = {"60 seats, 12 rounds": (60, 12), "40 seats, 3 rounds": (40, 3), "5 seats, 99 rounds": (5, 99)}
# In the browser: text that leaves its picture, meets other text or lacks contrast, and a page that scrolls sideways.
LOOK = """() => {
  const light = (colour) => {
    const [r, g, b] = colour.match(/[\\d.]+/g).map((one) => one / 255)
      .map((one) => (one <= 0.03928 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const wrong = [];
  if (document.documentElement.scrollWidth > innerWidth) wrong.push("the page scrolls sideways");
  for (const picture of document.querySelectorAll("svg.drawing")) {
    const frame = picture.getBoundingClientRect();
    const ground = light(getComputedStyle(picture.closest(".panel")).backgroundColor);
    const texts = [...picture.querySelectorAll("text")].filter((one) => one.getClientRects().length);
    const boxes = texts.map((one) => one.getBoundingClientRect()).map((one) => ({
      left: one.left, right: one.right, top: one.top + one.height * 0.25, bottom: one.bottom - one.height * 0.25 }));
    texts.forEach((text, at) => {
      const one = boxes[at], ink = light(getComputedStyle(text).fill);
      if (one.left < frame.left - 1 || one.right > frame.right + 1) wrong.push(`outside: ${text.textContent}`);
      const contrast = (Math.max(ink, ground) + 0.05) / (Math.min(ink, ground) + 0.05);
      if (contrast < 4.5 && !text.matches(".count.agree")) wrong.push(`contrast ${contrast}: ${text.textContent}`);
      for (let other = at + 1; other < boxes.length; other += 1) {
        const two = boxes[other];
        if (one.left < two.right - 1 && two.left < one.right - 1 && one.top < two.bottom && two.top < one.bottom)
          wrong.push(`meet: ${text.textContent} | ${texts[other].textContent}`);
      }
    });
  }
  return [...new Set(wrong)];
}"""


def parts() -> list[str]:
    return ["recorded sessions", "hostile labels", *CROWDS]


def prove(part: str) -> Outcome:
    """Every page of the part in Chromium, at all widths, light and dark."""
    from playwright.sync_api import sync_playwright

    wrong, tried = list[str](), 0
    with sync_playwright() as browsers, TemporaryDirectory(prefix="council-proof-") as folder:
        browser = browsers.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        for name, page in _write_pages(part, Path(folder)):
            for told in _look(browser, page):
                tried += 1
                wrong += [f"{name}, {told}"] if told else []
        browser.close()
    seen = "yes" if not wrong else f"{len(wrong)} are not"
    row = (PROMISE, f"{part}: pages by widths and colours", "text within, apart, contrast 4.5", seen, tried)
    return Outcome([(*row, tried - len(wrong))], wrong)


def _look(browser: Any, page: str) -> Iterator[str]:
    """What is wrong with the page, at each width and in each scheme; empty for nothing."""
    tab = browser.new_page()
    told: list[str] = []
    tab.on("console", lambda message: told.append(message.text))
    tab.on("request", lambda request: told.append(f"asks for {request.url}"))
    tab.set_content(page)
    for width in WIDTHS:
        tab.set_viewport_size({"width": width, "height": 900})
        for scheme in ("light", "dark"):
            tab.emulate_media(color_scheme=scheme)
            faults = [*told, *tab.evaluate(LOOK)]
            yield f"{width} px, {scheme}: {'; '.join(faults[:3])}" if faults else ""
    tab.close()


def _write_pages(part: str, folder: Path) -> Iterator[tuple[str, str]]:
    if part == "recorded sessions":
        for one in sessions():
            if not one.case.get("kept"):
                yield one.folder.name, html.page(composed(one.folder.name, folder / one.folder.name))
        return
    example = composed("delphi-complete", folder)
    if part == "hostile labels":
        for label in LABELS:
            yield label[:20], html.page(_relabel(example, label))
        return
    seats, rounds = CROWDS[part]
    yield part, html.page(_fill(example, seats, rounds))


def _relabel(debate: Transcript, label: str) -> Transcript:
    """The debate with this label in place of every name, phase, option and reason."""
    grid, course = debate.verdict.grid, debate.course
    cells = tuple(Cell(label, "agree", "01-positions/engineer", label, label, label) for _ in grid.columns)
    rows = tuple(replace(row, label=label, icon=label[:2], cells=cells) for row in grid.rows)
    grid = replace(
        grid, columns=(label,) * len(grid.columns), rows=rows, counts=((label, "agree", 3), (label, "mixed", 2))
    )
    phases = tuple(replace(one, title=label, reason=label, outcome=label) for one in course.phases)
    spending = tuple(replace(one, title=label) for one in course.spending)
    return replace(
        debate, verdict=replace(debate.verdict, grid=grid), course=replace(course, phases=phases, spending=spending)
    )


def _fill(debate: Transcript, seats: int, rounds: int) -> Transcript:
    turn, tones = "01-positions/engineer", ("agree", "mixed", "disagree", "absent", "silent", "spoke")
    rows = [
        tuple(
            Cell(tone if at < 3 else "", tone, turn)
            for at, tone in ((at % 6, tones[at % 6]) for at in range(n, n + rounds))
        )
        for n in range(seats)
    ]
    named = tuple(GridRow(f"seat-{n}", f"Engineer {n} (Marcus)", "", cells) for n, cells in enumerate(rows))
    grid = Grid(tuple(f"Challenges {n}" for n in range(rounds)), named, (("agree", "agree", seats),))
    return replace(debate, verdict=replace(debate.verdict, grid=grid))
