"""Reads HTML that council made, and refuses tags and attributes that are not its own; texts that try to be HTML."""

from __future__ import annotations

import re
from html.parser import HTMLParser

KEPT_OPEN = {"meta", "br"}
TAGS = set(
    "html head meta title style body main section article header footer h1 h2 h3 h4 h5 h6 p dl dt dd div span details "
    "summary ul ol li pre code strong em br blockquote table thead tbody tr th td nav a".split()
)
SHAPES = set("svg g desc line path rect circle text".split())
GEOMETRY = set("role width height x y x1 x2 y1 y2 r rx d dx overflow text-anchor transform".split())
ATTRIBUTES = {"charset", "http-equiv", "content", "name", "class", "dir", "start", "id", "href", "tabindex", "open"}
PLACE = re.compile(r"#[a-z0-9/.-]+")  # a place of the page itself
EVIL = [
    "<script>alert(1)</script>",
    "</style><script>alert(1)</script>",
    "</title><img src=x onerror=alert(1)>",
    '" onmouseover="alert(1)" x=\'',
    "' onmouseover='alert(1)",
    "<!-- --><base href='//evil.example'>",
    "[a](javascript:alert(1)) ![b](https://evil.example/x.png) <https://evil.example>",
    "&lt;script&gt;alert(1)&lt;/script&gt; &amp; &#60;",
    "**<b>** *<i>* `</code><script>` ***",
    "# <img src=x>",
    "- <iframe src=x>\n  <object data=x>",
    "> <svg onload=alert(1)>",
    "```</pre><script>\n</code></pre><script>alert(1)</script>\n```",
    "| <td> | <a href=x> |",
    "</article></main></body></html><link rel=stylesheet href=//evil.example>",
]


class Strict(HTMLParser):
    """A parser that knows what council writes, and refuses everything else."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.places: list[str] = []
        self.links: set[str] = set()
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in TAGS | SHAPES, f"<{tag}> is no tag of ours"
        known = ATTRIBUTES | GEOMETRY if tag in SHAPES else ATTRIBUTES
        assert {name for name, _ in attrs} <= known, f"<{tag}> has attributes that are not ours: {attrs}"
        assert all(PLACE.fullmatch(value or "") for name, value in attrs if name == "href"), f"a link out: {attrs}"
        self.seen.add(tag)
        self.places += [value or "" for name, value in attrs if name == "id"]
        self.links |= {(value or "").removeprefix("#") for name, value in attrs if name == "href"}
        if tag not in KEPT_OPEN:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, f"</{tag}> closes what is not open"

    def handle_data(self, data: str) -> None:
        self.text.append(data)

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data}")


def parsed(text: str) -> Strict:
    parser = Strict()
    parser.feed(text)
    parser.close()
    assert parser.open == []
    return parser
