"""The page in a real Chromium, at full size: hostile words in every text, a rebound name, how soon."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from prove import Outcome

from council.record import live
from tests import chromium, page_world
from tests.chromium import Window
from tests.helpers import User, disputed, script
from tests.strict_html import EVIL
from tests.webserver import WebServer

TRIES = 20
ENDS_WITH = "(end) => document.querySelector('.stream')?.textContent.endsWith(end)"
IS_MARKED = "(word) => [...document.querySelectorAll('mark')].some((one) => one.textContent.toLowerCase() === word)"
WIDTHS = (360, 768, 1280, 1600)
# Runs as soon as it is markup somewhere: it would be a request, a dialog or an error, which a Window collects.
BAIT = "<img src=//evil.example/{0} onerror=alert({0})><script>alert({0})</script><svg onload=alert({0})>{1}"


def prove(part: str) -> Outcome:
    if why := chromium.missing():
        return Outcome([(part, "a real Chromium", "it is there", why, 1, 0)], [why])
    with TemporaryDirectory(prefix="council-proof-") as place:
        return PARTS[part](User(Path(place)))


def row(promise: str, tried: str, expected: str, held: list[bool], wrong: list[str], seen: str = "") -> Outcome:
    good = sum(held)
    return Outcome([(promise, tried, expected, seen or f"{good} times", len(held), good)], wrong)


@contextmanager
def served(user: User, *more: str) -> Iterator[tuple[WebServer, Any]]:
    with WebServer(user) as server, chromium.chromium(*more) as browser:
        yield server, browser


# ---- nothing that was written runs ----


def run_hostile(user: User) -> Outcome:
    """300 payloads: topics, positions, replies, lists and the synthesis of 20 debates, at four widths."""
    payloads = [BAIT.format(number, EVIL[number % len(EVIL)]) for number in range(300)]
    ids, left = [], list(payloads)
    while left:
        words = disputed()
        again = {f"{turn}.2": said for turn, said in words.items()}  # a payload may hide the answers
        for turn in list(words):
            words[turn] = f"{left.pop() if left else ''}\n\n{words[turn]}"
        words |= again
        topic = f"Shall we {left.pop() if left else 'not'}?"
        ended = user.council("run", topic, "--speaker", "replay", "--from", script(user, words))
        assert ended.code == 0, ended.err
    ids = [folder.name for folder in user.sessions]
    wrong, held = [], list[bool]()
    with served(user) as (server, browser):
        for at, id in enumerate(ids):
            window = Window(browser, server.address, WIDTHS[at % len(WIDTHS)])
            for route, there in ((f"#/s/{id}", "h1.answer"), ("#/", ".row"), (f"#/compare/{id}/{ids[0]}", ".figures")):
                window.open(route)
                window.see(there)
            wrong += [f"{id}: {one}" for one in window.wrong] + [f"{id}: too wide"] * (window.overflow > 0)
            held += [not window.wrong] * (len(payloads) // len(ids))
            window.context.close()
    return row("what members wrote is text", f"{len(payloads)} payloads in {len(ids)} debates",
               "no script, dialog, request, refusal by the policy or wide page", held, wrong)  # fmt: skip


def run_rebound(user: User) -> Outcome:
    """A foreign name that resolves to this machine: Chromium sends its own Host, and gets nothing."""
    page_world.hold_example(user)
    with served(user, "--host-resolver-rules=MAP evil.example 127.0.0.1") as (server, browser):
        page = browser.new_context().new_page()
        page.set_extra_http_headers({"X-Council-Token": server.token})
        paths = (f"/#token={server.token}", "/api/sessions", "/static/app.js")
        codes = [page.goto(f"http://evil.example:{server.port}{path}").status for path in paths]
    wrong = [f"{path}: {code}" for path, code in zip(paths, codes, strict=True) if code != 421]
    tried = "DNS rebinding by Chromium's host mapping"
    return row("a rebound name gets nothing", tried, "421", [code == 421 for code in codes], wrong)


# ---- how soon ----


def run_words(user: User) -> Outcome:
    """From a piece in the live file to the DOM, on this machine as busy as it is."""
    user.council("start", "Shall we?")
    waits = []
    with served(user) as (server, browser):
        window = Window(browser, server.address)
        window.see(".row").click()
        window.see(".seat.due")
        file = live.LiveFile(user.session, "01-positions/architect")
        for number in range(TRIES):
            window.page.wait_for_timeout(number * 61.8 % 100)  # out of step with the server's looks, as a model is
            began = time.monotonic()
            file.append(f" word{number}.")
            window.page.wait_for_function(ENDS_WITH, arg=f"word{number}.", polling=5)
            waits.append((time.monotonic() - began) * 1000)
        file.remove()
        window.context.close()
    return timed("a word is on the page soon after it was written", waits, 75, 150)


def run_search(user: User) -> Outcome:
    for _ in range(5):
        page_world.hold_example(user)
    waits = []
    with served(user) as (server, browser):
        window = Window(browser, server.address)
        window.see(".row")
        for number in range(TRIES):
            word = ("pg_stat_statements", "afternoon")[number % 2]
            window.page.fill("#q", word[:-1])
            window.see(".row")
            began = time.monotonic()
            window.page.fill("#q", word)
            window.page.wait_for_function(IS_MARKED, arg=word, polling=5)
            waits.append((time.monotonic() - began) * 1000)
        window.context.close()
    return timed("hits are there as one types", waits, 100, 250)


def timed(promise: str, waits: list[float], median: float, most: float) -> Outcome:
    middle, high = statistics.median(waits), sorted(waits)[int(len(waits) * 0.95) - 1]
    expected = f"median ≤ {median:.0f} ms, 95 % ≤ {most:.0f} ms on a quiet machine"
    good = middle <= median and high <= most
    seen = f"median {middle:.0f} ms, 95 % {high:.0f} ms"
    return row(
        promise, f"{len(waits)} times", expected, [good] * len(waits), [] if good else [f"{promise}: {seen}"], seen
    )


PARTS: dict[str, Callable[[User], Outcome]] = {
    "hostile words": run_hostile,
    "a rebound name": run_rebound,
    "words, how soon": run_words,
    "hits, how soon": run_search,
}


def parts() -> list[str]:
    return list(PARTS)
