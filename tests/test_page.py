"""The page in a real Chromium: a debate is watched, steered and read; on a phone, with keys alone, and by axe-core.

At full size, and in motion, by `scripts/prove window`. One browser for all of it, and no request, script or error that
is not ours.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from threading import Event
from typing import Any

import pytest

from tests import asking, chromium, page_world
from tests.chromium import Window, needs_chromium
from tests.gates import GATE
from tests.helpers import PATIENCE, User
from tests.neighbours import LONG_COOKIES, ODD_COOKIES, run_neighbour, run_proxy, serve_behind
from tests.page_world import CHECKPOINT, DECISION, GUIDANCE, STEERED
from tests.webserver import WebServer, opened

pytestmark = needs_chromium


@pytest.fixture(scope="module")
def world(tmp_path_factory) -> User:
    """A user with two debates that are over. They are held before the browser starts, which keeps a loop running."""
    user = User(tmp_path_factory.mktemp("world"))
    for _ in range(2):
        page_world.hold_example(user)
    return user


@pytest.fixture(scope="module")
def browser(world) -> Iterator[Any]:
    with chromium.chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def served(world) -> Iterator[WebServer]:
    with WebServer(world) as server:
        yield server


def open_window(browser: Any, address: str, *size: int, **how: Any) -> Window:
    """For a user who wants no motion: to draw that would take most of the time."""
    return Window(browser, address, *size, reduced_motion="reduce", **how)


def test_a_debate_is_watched_steered_and_read(tmp_path, browser) -> None:
    user, spoke, waited, second = User(tmp_path), Event(), Event(), Event()
    until = {  # a seat goes on until the page has shown what is there only while it speaks
        "02-debate-r01-2-argue/trust": spoke.is_set,
        "02-debate-r01-3-rebut/trust": waited.is_set,
        "02-debate-r02-2-argue/trust": second.is_set,
    }
    with WebServer(user) as server:
        window = open_window(browser, server.address)
        window.see("h2", "No debates yet")
        with page_world.steered(user, until) as run:
            window.see(".row .topic", STEERED[:40]).click()
            window.see(".seat.due .stream", "People who find the door")
            spoke.set()
            window.see(".seat.waits .says", "waits for")
            window.see(".strip li.current", "Debate")
            waited.set()
            window.see(".ask h2")
            window.see(".ask label", "Guide").click()
            window.see(".ask textarea").fill(GUIDANCE)
            window.see(".ask .send", "Guide").click()
            window.see(".answered", "Recorded.")
            window.see(".round-head", "round 2")
            second.set()
            window.see(".ask", "Follow Up").press("n")  # whether it should become a workflow: a letter chooses
            window.page.keyboard.press("Enter")
            window.see("h1.answer", DECISION)
            assert run.wait(PATIENCE) == 0
        assert GUIDANCE in (user.session / "turns" / f"{CHECKPOINT}.md").read_text("utf-8")
        window.see(".document summary", "Decision").click()
        window.see(".document .panel", "Two taps, and no phone call")
        window.close()


def test_with_keys_alone(world, served, browser) -> None:
    window = open_window(browser, served.address)
    press = window.page.keyboard.press
    window.see(".row")
    press("/")
    window.page.keyboard.type("pg_stat_statements")
    window.see(".hit mark")
    press("Enter")
    window.see(".rows [data-stop]:focus")
    press("Enter")
    window.see("h1.answer", "Run EXPLAIN")
    assert any(folder.name in window.page.url for folder in world.sessions)
    press("?")
    window.see("dialog[open]", "next debate or turn")
    press("Escape")
    for _ in range(40):  # the links and controls before the round
        if window.page.evaluate("document.activeElement.closest('#round-1 > summary') !== null"):
            break
        press("Tab")
    press("Enter")
    press("j")
    assert window.page.evaluate("document.activeElement.id") == "01-positions/architect"
    press("g")
    window.see(".row")
    press("n")
    window.see(".begin textarea:focus")
    window.close()


AXE = chromium.find_axe()


@pytest.mark.skipif(AXE is None, reason="axe-core could not be had from npm (COUNCIL_TEST_AXE)")
def test_nobody_is_kept_out(world, served, browser) -> None:
    """On a phone, in the dark and in the light: nothing is wider than the screen, and axe-core finds no barrier."""
    assert AXE is not None
    over, other = (folder.name for folder in world.sessions)
    routes = {
        "#/": ".row", f"#/s/{over}": ".answer", f"#/compare/{over}/{other}": ".figures", "#/new": ".choice",
        "#/figures": ".drawing",
    }  # fmt: skip
    window = open_window(browser, served.address, 360, 780, color_scheme="dark")
    for scheme in ("dark", "light"):
        window.page.emulate_media(color_scheme=scheme)
        for route, there in routes.items():
            window.open(route)
            window.see(there)
            window.page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
            window.page.wait_for_function("() => new Promise(requestAnimationFrame)")
            assert window.find_barriers(AXE) == [], f"{route}, {scheme}"
            assert window.overflow <= 0, route
    window.close()


@pytest.mark.parametrize("cookies", [ODD_COOKIES, LONG_COOKIES], ids=["odd", "long"])
def test_the_token_is_kept_for_this_port_alone(world, served, browser, cookies) -> None:
    """Another server on this machine is told nothing of it, and its cookies lock nobody out."""
    over = world.sessions[-1].name
    with run_neighbour(cookies) as neighbour:
        window = open_window(browser, served.address)
        window.see(".row")
        assert window.page.url == f"http://{served.host}/#/", "the address has lost it"
        page, other = window.context.new_page(), f"http://127.0.0.1:{neighbour.port}/"
        page.goto(other)
        stored = page.evaluate("JSON.stringify([document.cookie, {...localStorage}, {...sessionStorage}])")
        assert served.token not in stored + "".join(neighbour.heard)
        assert len(window.context.cookies()) == len(cookies), "Chromium keeps them, for every port"
        for address in (f"http://{served.host}/#/s/{over}", f"http://{served.host}/#token={'x' * 43}"):
            page.goto(other)
            page.evaluate("(address) => { location.href = address }", address)  # a link that somebody else made
            page.wait_for_url(f"http://{served.host}/#/**")
            page.locator("h1.answer, .row").first.wait_for()
        window.page.reload()  # the token of that link is not valid here, so it has replaced none
        window.see(".row")
        window.close()


def test_the_browser_that_was_started_is_let_in(world, browser) -> None:
    with opened(world) as (_, printed, given):
        page = browser.new_context().new_page()
        page.set_default_timeout(chromium.WAIT)
        page.goto(given)
        page.locator(".row").first.wait_for()
        assert page.url == printed.partition("#")[0] + "#/"
        page.context.close()


def test_without_the_token_the_page_says_where_it_is(served, browser) -> None:
    window = open_window(browser, f"http://{served.host}/")
    window.see("h1", "This page is locked")
    window.see(".empty p", "open the address that council serve printed")
    window.page.goto(served.address)  # pasted into the same tab
    window.see(".row")
    window.forgive("401")
    window.close()


def test_the_page_works_behind_a_proxy_of_another_user(tmp_path, browser) -> None:
    user = User(tmp_path)
    asking.hold_gates(user, "asked")
    with run_proxy() as proxy, serve_behind(user, proxy) as server:
        window = open_window(browser, f"http://127.0.0.1:{proxy.port}/#token={server.token}")
        window.see(".row .topic", "Shall we, asked?").click()
        window.see(".ask h2", "Gate").press("r")
        window.page.keyboard.press("Enter")
        window.see(".answered", "Recorded.")
        window.see(".slot-rounds", "Reject")
        window.close()


def test_a_row_that_changes_while_it_is_pressed_is_opened(tmp_path, browser) -> None:
    user = User(tmp_path)
    assert user.council("start", "Shall we?", "--id", "pressed").code == 0
    with WebServer(user) as server:
        window = open_window(browser, server.address)
        row, asked = window.see(".row .topic"), list[str]()
        row.hover()
        window.page.mouse.down()
        window.page.on("response", lambda answer: asked.append(answer.url))
        assert user.council("record", "pressed", "01-positions/engineer", stdin="Yes.").code == 0
        window.wait_until(lambda: any("/api/sessions?" in url for url in asked))
        window.page.wait_for_function("() => new Promise(requestAnimationFrame)")
        window.page.mouse.up()
        window.see("h1.answer", "Shall we?")
        window.close()


def test_what_a_read_only_server_would_refuse_is_not_offered(world, browser) -> None:
    with WebServer(world, "--read-only") as server:
        window = open_window(browser, server.address)
        window.see(".row")
        assert not window.page.locator("#begin").is_visible()
        window.close()


def test_a_limit_that_is_no_amount_is_refused_and_nothing_begins(tmp_path, browser) -> None:
    user = User(tmp_path, {"ANTHROPIC_API_KEY": "sk-ant-of-the-tests"})
    with WebServer(user) as server:
        window = open_window(browser, server.address)
        window.open("#/new")
        window.see("#elsewhere summary").click()
        window.see("#elsewhere dd", "needs a document")
        window.see(".begin textarea").fill("Shall we?")
        window.see("#more summary").click()
        window.see("#most").fill("1,50")
        window.see(".bound", "such as 1.50")
        window.see(".begin footer .button").click()
        window.see(".wrong", "such as 1.50")
        assert user.sessions == []
        window.forgive("400")
        window.close()


def test_evidence_is_pasted_and_read_in_the_browser(tmp_path, browser) -> None:
    """What is begun has the texts under their names; what is no text is refused where it was chosen."""
    user = User(tmp_path)
    notes, binary = user.write("notes.txt", "one\ntwo\n"), user.write("binary", b"\xff\x00")
    sent: list[Any] = []
    with WebServer(user) as server:
        window = open_window(browser, server.address)
        window.page.route("**/api/sessions", lambda route: answer_begin(route, sent))
        window.open("#/new")
        window.see("#topic").fill("Shall we?")
        window.see("#evidence summary").click()
        window.page.set_input_files("#fact-files", [str(binary), str(notes), str(notes)])
        window.see("#evidence .wrong", "binary is not a text file")
        window.see(".given li", "notes.txt (2)")
        window.see('[aria-label="Remove notes.txt (2)"]').click()
        window.see("#fact-text").fill("four\n")
        window.see("#fact-name").fill("2026")
        window.see(".name-of button").click()
        window.see(".given li:first-child", "E12026")
        window.see("#fact-text").fill("three\n")
        window.page.evaluate(
            "for (let press = 0; press < 3; press++) document.querySelector('form.begin').requestSubmit()"
        )
        window.see(".begin > .last .wrong", "as asked")
        (body,) = (one for one in sent if not one["dry"])
        assert list(body["evidence"].items()) == [
            ("2026", "four\n"),
            ("notes.txt", "one\ntwo\n"),
            ("pasted.txt", "three\n"),
        ]
        window.page.route("**/api/sessions", lambda route: route.abort())
        window.see(".begin footer .button").click()
        window.see(".begin > .last .wrong", "may have begun")
        window.forgive("400", "ERR_FAILED")
        window.close()


def answer_begin(route: Any, sent: list[Any]) -> None:
    """Notes what the page would have begun, and refuses it."""
    sent.append(body := route.request.post_data_json)
    if body["dry"]:
        return route.fulfill(json={"cost": "nothing", "calls": "1 call"})
    return route.fulfill(status=400, json={"error": "not begun, as asked"})


def test_the_list_is_narrowed_and_the_counts_stay(served, browser) -> None:
    window = open_window(browser, served.address)
    window.see(".chip", "Finished 2").click()
    window.see('.chip[aria-pressed="true"]', "Finished 2")
    window.see(".chip", "All 2")
    assert window.page.locator(".row").count() == 2
    window.close()


def test_a_lost_answer_and_another_tab_are_told_apart(tmp_path, browser) -> None:
    user = User(tmp_path)
    asking.hold_gates(user, "lost", "late", "twice")
    with WebServer(user) as server:
        window = open_window(browser, server.address)
        window.open("#/s/lost")
        window.page.route("**/answers", asking.lose)
        window.see(".ask h2", "Gate").press("r")
        window.page.keyboard.press("Enter")
        window.see(".answered", "This may be your answer")
        window.page.unroute("**/answers")
        late: list[Any] = []  # the page hears that the debate went on before it hears that its answer was lost
        window.page.route("**/answers", lambda route: (route.fetch(), late.append(route)))
        window.open("#/s/late")
        window.see(".ask h2", "Gate").press("r")
        window.page.keyboard.press("Enter")
        window.see(".slot-rounds", "Reject")
        window.wait_until(lambda: bool(late))
        late.pop().abort()
        window.see(".answered", "This may be your answer")
        window.page.unroute("**/answers")
        tabs = (window.page, window.context.new_page())
        tabs[1].goto(window.page.url)
        for tab in tabs:
            tab.evaluate("() => { location.hash = '#/s/twice' }")
            tab.locator(f".ask h2[id='ask-{GATE}']").wait_for()
            tab.keyboard.press("r")
        for tab in tabs:  # the second may have heard of the first's answer already, and then has no question any more
            tab.evaluate("() => document.querySelector('.ask')?.requestSubmit()")
        said = sorted(tab.locator(".answered").inner_text() for tab in tabs)
        assert "in another tab of yours" in said[0]
        assert "Recorded." in said[1]
        window.forgive("ERR_FAILED", "409")
        window.close()


def test_a_view_that_comes_late_draws_over_nothing(world, browser) -> None:
    """Its question would be one that nobody hears of any more."""
    over, held = world.sessions[-1].name, list[Any]()

    def hold(route: Any) -> None:
        held.append(route)

    with WebServer(world) as server:
        window = open_window(browser, server.address)
        window.see(".row")
        window.page.route(f"**/api/sessions/{over}", hold)
        window.open(f"#/s/{over}")
        window.wait_until(lambda: bool(held))
        window.open("#/")
        window.see(".row")
        with window.page.expect_response(f"**/api/sessions/{over}"):
            held.pop().continue_()
        window.page.evaluate("() => new Promise((done) => setTimeout(done, 200))")
        assert window.page.locator(".debate").count() == 0
        assert window.page.locator(".row").count() > 0
        window.close()


def test_a_turn_has_an_address_and_a_lost_server_is_said(world, browser) -> None:
    over = world.sessions[-1].name
    with WebServer(world) as server:
        window = open_window(browser, server.address)
        window.see(".row")
        window.open(f"#/s/{over}/03-closing/researcher")
        turn = window.see('[id="03-closing/researcher"]', "I would be glad to be wrong")
        assert turn.evaluate("(one) => one === document.activeElement")
        window.see(".drawn a[href$='/02-challenges/designer']").click()
        window.see('[id="02-challenges/designer"].meant')
        assert re.search(r"\* council$|council$", window.page.title())
        answer_late(window, over, server.ask("GET", f"/api/sessions/{over}").json)
        server.process.kill()
        window.see("#connection", "Disconnected")
        with WebServer(world, "--port", str(server.port)) as again:
            window.see("#connection", "was started again")
            window.page.goto(again.address)  # in the same tab, which loads nothing: only what is behind the # differs
            window.page.locator("#connection").wait_for(state="hidden")
            assert window.page.url.endswith(f"#/s/{over}"), "where it was, without the token"
            window.forgive("net::ERR_", "401")  # however far a request had come when the server was killed
            window.close()


def test_a_stream_goes_on_where_it_was_cut_off(tmp_path, browser) -> None:
    """The server is killed while a seat speaks, and started again with a token of the user's own."""
    user, fixed, spoke, asked = User(tmp_path), "a-token-that-is-known-to-the-tests-only", Event(), list[Any]()
    words = page_world.ARGUED["01-2-argue/trust"]
    with page_world.steered(user, {"02-debate-r01-2-argue/trust": spoke.is_set}):
        with WebServer(user, fixed=fixed) as server:
            window = open_window(browser, f"http://{server.host}/#token={fixed}")
            window.see(".row").click()
            window.see(".seat.due .stream", "People who find the door")
            window.page.on("request", lambda request: asked.append(request) if "/events" in request.url else None)
        window.see("#connection", "Disconnected")
        with WebServer(user, "--port", str(server.port), fixed=fixed):
            window.page.locator("#connection").wait_for(state="hidden")
            window.wait_until(lambda: stream_text(window) == " ".join(words.split()))
            assert re.match(r"\d+\.[0-9a-f]{8}", asked[-1].headers["last-event-id"])
            spoke.set()
            window.see(".ask h2")
            window.forgive("net::ERR_")
            window.close()


def stream_text(window: Window) -> str:
    return " ".join(window.page.locator(".stream").first.inner_text().split())


def answer_late(window: Window, id: str, debate: dict[str, Any]) -> None:
    """The page asks twice how a debate is, and the first answer comes last: it is dropped."""
    asked: list[Any] = []

    def tell(route: Any) -> None:
        asked.append(route)
        if len(asked) != 2:
            route.fulfill(json=debate | {"state": "running" if len(asked) == 1 else "complete"})

    window.open("#/")
    window.see(".row")
    window.page.route(f"**/api/sessions/{id}/*", lambda route: route.fulfill(status=202, json={}))
    window.page.route(f"**/api/sessions/{id}", tell)
    window.open(f"#/s/{id}")
    window.see(".controls").get_by_text("Pause").click()  # it asks how it is now, and so does the second press of this:
    window.see(".controls").get_by_text("Cancel").evaluate("(button) => { button.click(); button.click(); }")
    window.see(".state", "Finished")
    asked[1].fulfill(json=debate | {"state": "running"})
    window.page.wait_for_function(
        "() => new Promise(requestAnimationFrame).then(() => new Promise(requestAnimationFrame))"
    )
    window.see(".state", "Finished")
    window.page.unroute_all()
