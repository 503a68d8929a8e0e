"""The plot of a comparison: each arm's share of solved tasks, with its interval. One SVG for light and dark pages.

Text is set large against the width, so that it can be read on a phone and in a narrow column too.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from council.lab.report import ArmReport, LabReport

WIDTH, LEFT, RIGHT = 600, 24, 24
TOP, ROW, FOOT = 92, 74, 58
STYLE = """
  .page { fill: #ffffff } .title { fill: #1a1d21; font-weight: 600; font-size: 21px }
  .about, .tick { fill: #5c6570; font-size: 15px } .name { fill: #1a1d21; font-weight: 600; font-size: 17px }
  .value { fill: #1a1d21; font-size: 17px } .range { fill: #5c6570; font-size: 15px }
  .grid { stroke: #e3e6ea } .axis { stroke: #aab2bb }
  text { paint-order: stroke; stroke: #ffffff; stroke-width: 5px; stroke-linejoin: round }
  .bar { stroke-width: 9 } .dot { stroke: #ffffff; stroke-width: 3 }
  .base .bar { stroke: #b9c2cc } .base .dot { fill: #66717d }
  .asked .bar { stroke: #9cc3f5 } .asked .dot { fill: #1c62c4 }
  @media (prefers-color-scheme: dark) {
    .page { fill: #14171b } text, .dot { stroke: #14171b }
    .title, .name, .value { fill: #eef1f4 } .about, .tick, .range { fill: #a3adb8 }
    .grid { stroke: #2a3037 } .axis { stroke: #59636e }
    .base .bar { stroke: #4a545f } .base .dot { fill: #aab4bf }
    .asked .bar { stroke: #24528f } .asked .dot { fill: #6cabff }
  }
"""


def draw(report: LabReport) -> str:
    height = TOP + ROW * len(report.arms) + FOOT
    spoken = "; ".join(f"{arm.arm}: {arm.solved} of {arm.of}" for arm in report.arms)
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
            f'font-family="system-ui, -apple-system, Segoe UI, Roboto, Helvetica, Arial, sans-serif">',
            f"<title>{escape(f'Tasks solved on {report.set}: {spoken}')}</title>",
            f"<style>{STYLE}</style>",
            f'<rect class="page" width="{WIDTH}" height="{height}" rx="10"/>',
            f'<text class="title" x="{LEFT}" y="38">{escape(_shorten(f"Tasks solved: {report.set}", 46))}</text>',
            f'<text class="about" x="{LEFT}" y="63">{escape(_shorten(_about(report), 74))}</text>',
            *_axis(height),
            *(line for row, arm in enumerate(report.arms) for line in _row(arm, TOP + ROW * row)),
            "</svg>",
            "",
        ]
    )


def _about(report: LabReport) -> str:
    by = ", ".join(report.models) or report.plan.speaker
    return f"{report.tasks} tasks · {by} · with 95% intervals"


def _shorten(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _x(share: float) -> float:
    return round(LEFT + share * (WIDTH - LEFT - RIGHT), 1)


def _axis(height: int) -> Iterator[str]:
    bottom = height - FOOT + 4
    for percent in (0, 25, 50, 75, 100):
        x = _x(percent / 100)
        kind = "axis" if percent == 0 else "grid"
        yield f'<line class="{kind}" x1="{x}" x2="{x}" y1="{TOP - 8}" y2="{bottom}"/>'
        anchor = {0: "start", 100: "end"}.get(percent, "middle")
        yield f'<text class="tick" x="{x}" y="{bottom + 24}" text-anchor="{anchor}">{percent}%</text>'


def _row(arm: ArmReport, top: int) -> Iterator[str]:
    asked = arm.arm not in ("single", "best-of-n")
    y = top + 46
    low, high = _x(arm.interval.low), _x(arm.interval.high)
    calls = f"{arm.calls / arm.of:.1f} calls a task" if arm.of else "no task"
    yield f'<g class="{"asked" if asked else "base"}">'
    yield (
        f'<text class="name" x="{LEFT + 8}" y="{top + 22}">{escape(_shorten(arm.arm, 22))}'
        f'<tspan class="range" font-weight="400" dx="10">{calls}</tspan></text>'
    )
    interval = f"{100 * arm.interval.low:.0f}–{100 * arm.interval.high:.0f}"
    yield (
        f'<text class="value" x="{WIDTH - RIGHT - 8}" y="{top + 22}" text-anchor="end">{arm.solved} of {arm.of}'
        f'<tspan class="range" dx="10">{arm.share:.0%} ({interval})</tspan></text>'
    )
    yield f'<line class="bar" x1="{low}" x2="{high}" y1="{y}" y2="{y}"/>'
    yield f'<circle class="dot" cx="{_x(arm.share)}" cy="{y}" r="9"/>'
    yield "</g>"
