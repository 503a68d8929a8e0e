"""Usage: scripts/screenshots

Takes the pictures of docs/window.md from the page itself, in Chromium, and writes them to docs/pictures/. The debates
are those of tests/page_world.py: replayed words, and a scripted API for the one that is still running. The figures are
those of a year of copies, which scripts/generate-sessions writes.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import generate_sessions  # noqa: E402

from tests import chromium, page_world  # noqa: E402
from tests.chromium import Window  # noqa: E402
from tests.helpers import User  # noqa: E402
from tests.webserver import WebServer  # noqa: E402

PLACE = ROOT / "docs" / "pictures"
PHONE = {"width": 390, "height": 780}
DESK = {"width": 1180, "height": 780}
DAYS, DAY = 356, 24 * 60  # of the figures, and its minutes
FAMILIES = ("system-ui", "sans", "sans-serif", "DejaVu Sans")
# Inter, if it is installed (fonts-inter), as the system's own font: the page names none.
RULE = """<match target="pattern"><test qual="any" name="family"><string>{}</string></test>
<edit name="family" mode="prepend" binding="strong"><string>Inter</string></edit></match>"""
FONTS = f"""<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig>
<include>/etc/fonts/fonts.conf</include>{"".join(map(RULE.format, FAMILIES))}</fontconfig>"""


def main() -> None:
    PLACE.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        user = User(Path(place))
        over = page_world.hold_example(user)  # before the browser starts, which keeps a loop running
        Path(place, "fonts.conf").write_text(FONTS)
        os.environ["FONTCONFIG_FILE"] = str(Path(place, "fonts.conf"))
        year = generate_year(Path(place, "year"))
        with WebServer(user) as server, chromium.chromium() as browser:
            window = Window(browser, server.address, **DESK)
            window.open(f"#/s/{over}")
            window.see("h1.answer")
            take(window, "answer")
            page_world.FEW, page_world.PACE = page_world.WORDS, 0.15
            with page_world.steered(user):
                window.open("#/")
                window.see(".row .topic", page_world.STEERED[:40]).click()
                window.see(".seat.due .stream", "Two taps are fine")
                take(window, "live", dark=True)
                window.see(".ask h2")
                window.page.set_viewport_size({"width": PHONE["width"], "height": PHONE["height"]})
                window.page.reload()
                window.see(".ask h2")
                take(window, "question-phone")
                window.open("#/")
                window.see(".asks")
                take(window, "list-phone", dark=True)
            window.context.close()
        with WebServer(year) as server, chromium.chromium() as browser:
            window = Window(browser, server.address, **DESK)
            window.open("#/figures")
            window.see("main:not(:has([role=status])) .drawing")  # the index is built
            take(window, "figures")
            window.context.close()


def generate_year(place: Path) -> User:
    """A user with a year of debates, more and more of them."""
    user, dice = User(place), random.Random(5)
    (user.home / "STATE").mkdir(parents=True)
    with tempfile.TemporaryDirectory() as held:
        writer = generate_sessions.Writer(
            user.home / "STATE" / "council-sessions", generate_sessions.hold_debates(Path(held)), 5, apart=DAY
        )
    for day in range(DAYS):
        if dice.random() < 0.1 + 0.6 * day / DAYS:
            writer.write(day)
    return user


def take(window: Window, name: str, dark: bool = False) -> None:
    window.page.emulate_media(color_scheme="dark" if dark else "light")
    path = PLACE / f"{name}.png"
    window.page.screenshot(path=path, animations="disabled")
    if shrink := shutil.which("pngquant"):
        subprocess.run([shrink, "--force", "--ext", ".png", str(path)], check=False)
    print(f"{path.relative_to(ROOT)}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
