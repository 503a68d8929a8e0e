"""A person answers on the page, in a real Chromium: every kind of question, with the mouse and with keys; answers that
are lost on their way; two browsers and two tabs at once; a list of many debates."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from generate_sessions import generate
from prove import Outcome

from council.record import turn_file
from tests import asking, chromium
from tests.asking import APPEAL, APPROVAL, TURN
from tests.chromium import Window
from tests.gates import GATE
from tests.helpers import User
from tests.webserver import WebServer

ROUNDS = int(os.environ.get("COUNCIL_PROOF_ROUNDS", "50"))
LISTED = 90
TOGETHER = "(at) => setTimeout(() => document.querySelector('.ask').requestSubmit(), at - Date.now())"
UNFOLDS = "document.activeElement.matches('.more button')"
ROWS = "document.querySelectorAll('.row').length"
FOCUS = "[...document.querySelectorAll('.row')].indexOf(document.activeElement)"


def prove(part: str) -> Outcome:
    if why := chromium.missing():
        return Outcome([(part, "a real Chromium", "it is there", why, 1, 0)], [why])
    with TemporaryDirectory(prefix="council-proof-") as place:
        promise, expected, attempt = PARTS[part]
        seen = list(attempt(User(Path(place))))
    held = sum(good for _, good in seen)
    wrong = [f"{part}: {what}" for what, good in seen if not good]
    return Outcome([(promise, part, expected, f"{held} times", len(seen), held)], wrong)


Seen = Iterator[tuple[str, bool]]


@contextmanager
def served(user: User) -> Iterator[tuple[WebServer, Any, Window]]:
    with WebServer(user) as server, chromium.chromium() as browser:
        yield server, browser, Window(browser, server.address)


def body(user: User, id: str, turn: str) -> str:
    (folder,) = (one for one in user.sessions if one.name == id)
    path = folder / "turns" / f"{turn}.md"
    return turn_file.decode(path.read_bytes(), path)[1] if path.exists() else ""


def fits(window: Window) -> bool:
    window.page.set_viewport_size({"width": 360, "height": 740})
    window.page.wait_for_timeout(100)
    wide = window.overflow
    window.page.set_viewport_size({"width": 1280, "height": 900})
    return wide <= 0


def answer_each(user: User) -> Seen:
    """An approval of code, an appeal in three ways, free words."""
    code, free, appeals = asking.hold_code(user), asking.hold_free(user), [asking.hold_appeal(user) for _ in range(3)]
    with served(user) as (_, _, window):
        press = window.page.keyboard.press

        def ask(id: str) -> Any:
            window.open(f"#/s/{id}")
            return window.see(".ask h2")

        ask(code)
        shown = window.page.locator(".exhibit").inner_text()
        yield (
            "the diff, the tests and the hash of what is approved",
            all(word in shown for word in ("+    return a + b", "passed", "complexity", "hash")),
        )
        yield "no code above it", "```" not in window.page.locator(".ask").inner_text()
        yield "a phone is wide enough for code", fits(window)
        press("Enter")
        yield "Enter approves nothing that nobody chose", body(user, code, APPROVAL) == ""
        window.see(".choice", "Approve").click()
        window.see(".ask .send").click()
        window.see(".answered", "Recorded.")
        yield "a click approves", "## Approval\napprove" in body(user, code, APPROVAL)

        ask(appeals[0])
        yield "a phone is wide enough for an appeal", fits(window)
        window.see(".ask h2").click()
        press("Enter")
        window.see(".answered", "Recorded.")
        yield "Enter takes the recommendation", "## Option\nA\n" in body(user, appeals[0], APPEAL)
        ask(appeals[1])
        press("b")
        press("Enter")
        window.see(".answered", "Recorded.")
        yield "a letter chooses", "## Option\nB\n" in body(user, appeals[1], APPEAL)
        ask(appeals[2])
        press("a")
        window.see(".ask textarea").fill("A, but only for a month. ¿<b>Ja</b>?")
        window.see(".ask .send").click()
        window.see(".answered", "Recorded.")
        yield (
            "an amendment is recorded word for word",
            "only for a month. ¿<b>Ja</b>?" in body(user, appeals[2], APPEAL),
        )

        ask(free)
        words = "I think *so*.\n\n## Hm\n\n- a\n- b <script>alert(1)</script>"
        window.see(".ask textarea").fill(words)
        press("Enter")
        yield "Enter in a text is a new line", body(user, free, TURN) == ""
        window.see(".ask .send").click()
        window.see(".answered", "Recorded.")
        yield "free words are recorded as they are", body(user, free, TURN).strip() == f"{words}".strip()
        yield "nothing that the page may not do", not window.wrong


def lose_before(route: Any) -> None:
    route.abort()


def lose_answers(user: User) -> Seen:
    """The server's answer, or the request itself, never arrives."""
    asking.hold_gates(user, "lost", "never")
    with served(user) as (_, _, window):
        for id, arrives in (("lost", True), ("never", False)):
            window.open(f"#/s/{id}")
            window.see(".ask h2", "Gate")
            window.page.route("**/answers", asking.lose if arrives else lose_before)
            window.page.keyboard.press("r")
            window.see(".ask textarea").fill("Not before the tests are there.")
            window.see(".ask .send").click()
            if arrives:
                said = window.see(".answered").inner_text()
                yield "it may be yours", "This may be your answer" in said
                yield "what was typed is there", window.see(".answered textarea").input_value().startswith("Not before")
            else:
                window.see(".ask .wrong", "does not answer")
                kept = window.see(".ask textarea").input_value()
                yield "the form keeps what was typed", kept == "Not before the tests are there."
                window.page.unroute("**/answers")
                window.see(".ask .send").click()
                window.see(".answered", "Recorded.")
            yield f"one turn: {id}", "Not before the tests" in body(user, id, GATE)


def answer_together(user: User) -> Seen:
    """Two browsers, which press the button in the same millisecond."""
    ids = [f"gate-{number}" for number in range(ROUNDS)]
    asking.hold_gates(user, *ids)
    with served(user) as (server, browser, first):
        windows = (first, Window(browser, server.address))
        for id in ids:
            for window in windows:
                window.open(f"#/s/{id}")
                window.see(f".ask h2[id*='{GATE}']")
                window.page.keyboard.press("r")
            at = windows[0].page.evaluate("Date.now() + 100")
            for window in windows:
                window.page.evaluate(TOGETHER, at)
            said = [window.see(".answered").inner_text() for window in windows]
            recorded, told = (sum(word in one for one in said) for word in ("Recorded.", "Answered by"))
            yield f"{id}: {said}", (recorded, told) == (1, 1) and "reject" in body(user, id, GATE)


def answer_in_two_tabs(user: User) -> Seen:
    ids = [f"gate-{number}" for number in range(min(ROUNDS, 10))]
    asking.hold_gates(user, *ids)
    with served(user) as (server, _, window):
        tabs = (window.page, window.context.new_page())
        tabs[1].goto(f"http://127.0.0.1:{server.port}/")
        for id in ids:
            for tab in tabs:
                tab.evaluate("(route) => { location.hash = route }", f"#/s/{id}")
                tab.locator(f".ask h2[id*='{GATE}']").wait_for()
                tab.keyboard.press("r")
            at = tabs[0].evaluate("Date.now() + 100")
            for tab in tabs:
                tab.evaluate(TOGETHER, at)
            for tab in tabs:
                tab.locator(".answered").wait_for()
            said = [tab.locator(".answered").inner_text() for tab in tabs]
            yield f"{id}: {said}", sum("in another tab of yours" in one for one in said) == 1


def list_many(user: User) -> Seen:
    """Pages of 30, with keys; and what was unfolded stays when something changes."""
    asking.hold_gates(user, "old")
    generate(LISTED, user.sessions[0].parent, names=())
    with served(user) as (_, _, window):
        page = window.page
        window.see(".row")
        for _ in range(60):
            if page.evaluate(UNFOLDS):
                break
            page.keyboard.press("j")
        yield "keys reach the end of a page, and what unfolds the next one", page.evaluate(UNFOLDS)
        page.keyboard.press("Enter")
        page.wait_for_function(f"() => {ROWS} > 30")
        page.wait_for_function(f"() => {FOCUS} === 30")
        yield "the focus is on the first new row", True
        for _ in range(29):
            page.keyboard.press("j")
        yield "keys go on in the new page", page.evaluate(FOCUS) == 59
        at = page.evaluate("document.activeElement.dataset.id")
        asking.hold_gates(user, "new")
        window.see(".asks strong", "Shall we, new?")
        page.wait_for_function(f"() => {ROWS} >= 60")
        yield "what was unfolded stays", page.evaluate(ROWS) >= 60
        yield "so does the focus", page.evaluate("document.activeElement.dataset.id") == at
        yield "nothing that the page may not do", not window.wrong


PARTS: dict[str, tuple[str, str, Callable[[User], Seen]]] = {
    "every kind of question": (
        "a person answers on the page",
        "recorded as meant, and nothing by accident",
        answer_each,
    ),
    "answers that are lost": (
        "a person is told what became of an answer",
        "one turn, and nothing typed is lost",
        lose_answers,
    ),
    "two browsers at once": ("one answer counts, and the other is told", "one recorded, one told who", answer_together),
    "two tabs at once": ("one answer counts, and the other is told", "another tab of yours", answer_in_two_tabs),
    f"a list of {LISTED}": ("a long list is read with keys", "no row and no focus is lost", list_many),
}


def parts() -> list[str]:
    return list(PARTS)
