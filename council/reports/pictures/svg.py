"""What every picture is made of: elements, text that is cut to its width, the signs of stances, and the frame.

A picture is as wide as its place. Horizontal places are percentages and vertical ones pixels, so text keeps its size.
What depends on the width is there twice, for wide and for narrow places, and the stylesheet shows one of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path

from council import text_width
from council.reports.markup import clean
from council.text import one_line

Link = Callable[[str], str]
WIDE, NARROW = 540, 296  # pixels: the least width of a picture in a wide window, and on a phone
SIZES = {"label": 14.2, "soft": 12, "head": 12, "word": 11.5, "faint": 11}  # of the stylesheet; bold is wider
LONGEST = 400  # characters of a label that are looked at
MARKS_A_LETTER = 3  # combining characters beyond that only hide what is around them
STACKED = re.compile(rf"((?:[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u20d0-\u20f0]){{{MARKS_A_LETTER}}})"
                     r"[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u20d0-\u20f0]+")  # fmt: skip
THIN, BROAD = frozenset("iljtfrI.,:;'’|!()[]{} -·"), frozenset("mwMW@%—…<>=+~#&^")  # in fonts that are rather wide


@cache
def stylesheet() -> str:
    return Path(__file__).with_name("pictures.css").read_text("utf-8")


def place_on_page(turn: str) -> str:
    return f"#{turn}"


# ---- elements ----


def element(name: str, *inside: str, **attributes: object) -> str:
    """An element. Attributes are named as in Python, and their values are escaped; an empty one is left out."""
    pairs = ((key.rstrip("_").replace("_", "-"), _value(value)) for key, value in attributes.items())
    start = "".join(f' {key}="{value}"' for key, value in pairs if value)
    return f"<{name}{start}>{''.join(inside)}</{name}>" if inside else f"<{name}{start}/>"


def _value(value: object) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else clean(str(value))


def percent(share: float) -> str:
    """A horizontal place: 0 is the left edge, 1 the right one."""
    return f"{_value(100 * share)}%"


def titled(text: str) -> str:
    """What a pointer shows and a screen reader says."""
    return element("title", clean(one_line(text, LONGEST)))


def frame(
    title: str, about: str, height: float, *inside: str, linked: bool = False, width: str = "100%", kind: str = ""
) -> str:
    """The picture. One with links is a group, because the parts of an image cannot be reached by keyboard."""
    named = titled(title) + element("desc", clean(one_line(about, 4 * LONGEST)))
    role = "group" if linked else "img"
    return element(
        "svg", named, *inside, class_=f"drawing {kind}".strip(), role=role, width=width, height=float(height)
    )


# ---- text ----


def measure(text: str, size: float = 13) -> float:
    """About how many pixels wide a text is, by its letters; rather too wide than too narrow."""
    return size * sum(map(_ems, text))


@cache
def _ems(char: str) -> float:
    columns = text_width.of(char)
    if columns != 1:
        return columns * 0.55
    return 0.36 if char in THIN else 1.05 if char in BROAD else 0.7 if char.isupper() else 0.6


def cut(text: str, pixels: float, size: float = 13) -> str:
    """The beginning of a text that is at most that wide."""
    flat = STACKED.sub(r"\1", one_line(text, LONGEST))
    if measure(flat, size) <= pixels:
        return flat
    left, kept = pixels - measure("…", size), 0
    for char in flat:
        left -= size * _ems(char)
        if left < 0:
            break
        kept += 1
    return flat[:kept].rstrip(" \u200d\ufe0f(,.;:-") + "…"


def write(
    text: str | tuple[str, str],
    x: float,
    y: float,
    share: float = 1,
    kind: str = "",
    anchor: str = "",
    shift: float = 0,
) -> str:
    """A line of text in that share of the width: cut for wide places and, if it needs that, again for narrow ones.

    Two texts are one for wide and one for narrow places.
    """
    size = SIZES.get(kind.partition(" ")[0], 13)
    both = (text, text) if isinstance(text, str) else text
    wide, narrow = (cut(one, share * room - abs(shift), size) for one, room in zip(both, (WIDE, NARROW), strict=True))
    place = {"x": percent(x), "y": float(y), "text_anchor": anchor, "dx": float(shift) or ""}
    if wide == narrow:
        return element("text", clean(wide), class_=kind, **place) if wide else ""
    tiers = ((wide, "wide"), (narrow, "narrow"))
    return "".join(element("text", clean(one), class_=f"{kind} {tier}".strip(), **place) for one, tier in tiers)


def at(x: float, y: float, *inside: str, kind: str = "") -> str:
    """Move what is drawn around the origin to a place."""
    return element("svg", *inside, x=percent(x), y=float(y), overflow="visible", class_=kind)


def line(x1: float, x2: float, y: float, kind: str) -> str:
    return element("line", x1=percent(x1), x2=percent(x2), y1=float(y), y2=float(y), class_=kind)


# ---- signs ----

RADIUS = 8
SIGNS = {
    "agree": '<circle r="8" class="fill"/><path d="M-3.8 .2-1.2 3 3.8-2.8" class="cutout"/>',
    "mixed": '<circle r="7" class="ring"/><path d="M0-7a7 7 0 0 0 0 14z" class="fill"/>',
    "disagree": '<circle r="7" class="ring"/><path d="M-2.8-2.8 2.8 2.8M-2.8 2.8 2.8-2.8" class="stroke"/>',
    "absent": '<circle r="7" class="ring dashed"/>',
    "silent": '<circle r="7" class="ring"/><text y="4" text-anchor="middle" class="sign">?</text>',
    "spoke": '<circle r="4" class="fill"/>',
    "flip": '<path d="M-8 0H6M1-4.5 6.5 0 1 4.5" class="stroke"/>',
}
ARROW = '<path d="M-5-3.5 1 0-5 3.5" class="head"/>'


def sign(tone: str) -> str:
    """The sign of a stance, around the origin. Its shape differs as well as its colour."""
    return element("g", SIGNS.get(tone, SIGNS["spoke"]), class_=f"tone {tone if tone in SIGNS else 'spoke'}")


def legend(signs: Iterable[tuple[str, str]], y: float) -> list[str]:
    """Signs with their meanings, two in a line."""
    drawn = []
    for place, (tone, meaning) in enumerate(signs):
        x, line_y = 0.5 * (place % 2), y + 24 * (place // 2)
        drawn += [at(x, line_y, element("g", sign(tone), transform="translate(9 0)"))]
        drawn += [write(meaning, x, line_y + 4, 0.495, "soft", shift=24)]
    return drawn
