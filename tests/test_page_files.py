"""The page's own files: nothing inline, nothing from elsewhere, HTML in one place only, and modules of one screen."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from council import web

STATIC = Path(web.__file__).parent / "static"
SCRIPTS = sorted(STATIC.glob("*.js"))
LONGEST = 350
# What a strict policy refuses, and what turns text into markup or programs.
FORBIDDEN = (
    r"\beval\b|\bFunction\(|\.style\b|document\.write|insertAdjacentHTML|outerHTML|setAttribute\(.style|https?://"
)


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def test_the_document_has_nothing_inline_and_loads_nothing_foreign() -> None:
    tags = Tags()
    tags.feed((STATIC / "index.html").read_text("utf-8"))
    for tag, attributes in tags.found:
        assert not {name for name in attributes if name == "style" or name.startswith("on")}
        assert tag not in ("style", "base", "iframe")
        assert tag != "script" or attributes.get("src")
        for address in (attributes.get("src"), attributes.get("href")):
            assert not address or address.startswith(("/static/", "#"))
            assert not address or not address.startswith("/static/") or served(address)


def served(address: str) -> bool:
    """A file of ours; the look of reports has its own place."""
    return (STATIC / Path(address).name).is_file() or address == "/static/page.css"


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_a_module_is_short_makes_no_markup_and_imports_its_neighbours(path: Path) -> None:
    text = path.read_text("utf-8")
    assert len(text.splitlines()) <= LONGEST
    assert text.startswith("// "), "its first line says what it does"
    assert not re.search(FORBIDDEN, text)
    assert text.count("innerHTML") == (path.name == "dom.js"), "HTML is set in `markup` only"
    for name in re.findall(r"from \"(.+?)\"", text):
        assert (STATIC / name).is_file()


def test_styles_load_nothing() -> None:
    for path in STATIC.glob("*.css"):
        assert not re.search(r"url\(|@import|expression", path.read_text("utf-8"))
