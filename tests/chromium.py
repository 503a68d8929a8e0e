"""A real Chromium, for tests of the page: `pytestmark = needs_chromium`. What a page does that ours never may is
collected: errors on the console, what the policy refused, and requests to another origin.

Where Chromium is missing and can be had from apt, it is installed once. Elsewhere these tests are skipped, and the
reason says what is missing.
"""

from __future__ import annotations

import importlib.util
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from tests import debian
from tests.helpers import CODE, PATIENCE

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

NAMES = ("chromium", "chromium-browser", "google-chrome")
WAIT = PATIENCE * 1000  # milliseconds until a test gives up waiting for the page
AXE = "COUNCIL_TEST_AXE"  # the path of axe.min.js, from npm (.ci/npm)
NODE_MODULES = CODE / ".ci" / "npm" / "node_modules" / "axe-core" / "axe.min.js"
# Every violation of the policy, also those that Chromium would only note.
RUN = "axe.run(document, {resultTypes: ['violations']})"
WATCH = (
    "addEventListener('securitypolicyviolation', (e) => console.error(`policy: ${e.violatedDirective} ${e.sample}`))"
)


@cache
def find() -> str:
    """The path of Chromium; empty if there is none."""
    return debian.find("chromium", *NAMES)


def missing() -> str:
    """Why there is no browser for tests; empty if there is one."""
    lacking = [name for name in ("playwright", "starlette", "uvicorn") if importlib.util.find_spec(name) is None]
    if lacking:
        return f"{' and '.join(lacking)} not installed (`pip install -e .[test]`)"
    return "" if find() else "Chromium is not installed (`apt-get install chromium`)"


needs_chromium = pytest.mark.skipif(bool(missing()), reason=f"no browser here: {missing()}")


def find_axe() -> Path | None:
    """axe-core's script, if npm could fetch it."""
    return next((path for path in (Path(os.environ.get(AXE, "")), NODE_MODULES) if path.is_file()), None)


@contextmanager
def chromium(*more: str) -> Iterator[Browser]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        own = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=find(), args=[*own, "--disable-gpu", *more])
        try:
            yield browser
        finally:
            browser.close()


class Window:
    """One page in a browser of its own, with what it did that it may not."""

    def __init__(self, browser: Browser, address: str, width: int = 1280, height: int = 900, **how: Any) -> None:
        self.context = browser.new_context(viewport={"width": width, "height": height}, **how)
        self.context.set_default_timeout(WAIT)
        self.page: Page = self.context.new_page()
        self.origin = urlsplit(address).netloc
        self.wrong: list[str] = []
        self.page.add_init_script(WATCH)
        self.page.on("pageerror", lambda error: self.wrong.append(f"error: {error}"))
        self.page.on("console", lambda said: self.wrong.append(said.text) if said.type == "error" else None)
        self.page.on("request", self._notice)
        self.page.on("dialog", self._refuse)
        self.page.goto(address)

    def _refuse(self, dialog: Any) -> None:
        self.wrong.append(f"a dialog: {dialog.message}")
        dialog.dismiss()

    def _notice(self, request: Any) -> None:
        if urlsplit(request.url).netloc != self.origin and not request.url.startswith("data:"):
            self.wrong.append(f"a request to {request.url}")

    def open(self, route: str) -> None:
        self.page.evaluate("(route) => { location.hash = route }", route)

    def see(self, selector: str, text: str = "") -> Any:
        """The element, once it is there."""
        found = self.page.locator(selector)
        found = (found.filter(has_text=text) if text else found).first
        found.wait_for()
        return found

    def wait_until(self, holds: Callable[[], bool]) -> None:
        """Until something is so in the test. Meanwhile, the page and what listens to it go on."""
        latest = time.monotonic() + PATIENCE
        while not holds():
            assert time.monotonic() < latest
            self.page.wait_for_timeout(10)

    def forgive(self, *parts: str) -> None:
        """What the test has caused itself is not wrong."""
        self.wrong = [one for one in self.wrong if not any(part in one for part in parts)]

    @property
    def overflow(self) -> int:
        """How many pixels the page is too wide."""
        return int(self.page.evaluate("document.documentElement.scrollWidth - innerWidth"))

    def find_barriers(self, axe: Path) -> list[str]:
        """What axe-core finds wrong with the page as it is."""
        if not self.page.evaluate("typeof axe === 'object'"):
            self.page.evaluate(axe.read_text("utf-8"))  # as a debugger would: the policy lets no page load it
        found = self.page.evaluate(RUN)
        return [f"{one['id']}: {one['nodes'][0]['html'][:200]}" for one in found["violations"]]

    def close(self) -> None:
        self.context.close()
        assert self.wrong == []
