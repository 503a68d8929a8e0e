"""Steering over HTTP: answers, new debates, pause, cancel and recover. Real runs, in processes of their own."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from council.web import app, routes
from tests import gates
from tests.fakeapi import FakeApi
from tests.gates import GATE, GATED, RELEASE, TEMPLATE
from tests.helpers import CODE, PATIENCE, Table, User, disputed
from tests.schemas import openapi_schema
from tests.webserver import WebServer

APPROVED = {"decision": "approve", "reason": "It is tested."}


@pytest.fixture
def user(tmp_path: Path) -> User:
    return gates.make(tmp_path)


@pytest.fixture
def server(user: User) -> Iterator[WebServer]:
    assert user.council("start", "-w", "gated", "--id", "gated", "Shall we?").code == 0
    with WebServer(user) as server:
        yield server


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebServer]:
    """A server for tests after which its one session is as it was."""
    user = gates.make(tmp_path_factory.mktemp("calm"))
    assert user.council("start", "-w", "gated", "--id", "gated", "Shall we?").code == 0
    with WebServer(user) as server:
        yield server


def post(server: WebServer, path: str, **body: Any) -> tuple[int, Any]:
    answer = server.ask("POST", path, body)
    return answer.status, answer.json


def test_a_gate_is_listed_approved_and_rejected(server: WebServer, user: User) -> None:
    (gate,) = server.ask("GET", "/api/gates").json["gates"]
    assert (gate["session"], gate["turn"], gate["kind"], gate["topic"]) == ("gated", GATE, "approval", "Shall we?")
    assert server.ask("GET", "/v1/debates/gated/gates").json["gates"] == [gate]
    status, done = post(server, "/v1/debates/gated/approve", reason="It is tested.", by="Ada")
    assert (status, done["recorded"], done["turn"], done["by"], done["via"]) == (200, True, GATE, "Ada", "api")
    assert "It is tested." in (user.session / f"turns/{GATE}.md").read_text()
    assert post(server, "/v1/debates/gated/approve", turn=GATE)[0] == 409
    status, done = post(server, "/v1/debates/gated/reject", reason="Not yet.")
    assert (status, done["turn"]) == (200, RELEASE)
    assert server.ask("GET", "/api/gates").json["gates"] == []
    assert post(server, "/v1/debates/gated/approve") == (
        409,
        {"recorded": False, "error": "no approvals are due", "gates": []},
    )


def test_a_browser_answers_with_the_token_of_the_page(server: WebServer) -> None:
    body = {"turn": GATE, "answers": APPROVED}
    assert server.ask("POST", "/api/sessions/gated/answers", body, token="").status == 401
    done = server.ask("POST", "/api/sessions/gated/answers", body, token="", X_Council_Token=server.token)
    assert (done.status, done.json["recorded"], done.json["via"]) == (200, True, "page")


def test_what_a_form_left_empty_and_may_is_nothing(server: WebServer) -> None:
    status, done = post(server, "/api/sessions/gated/answers", turn=GATE, answers={"decision": "approve"})
    assert (status, done.get("recorded")) == (200, True), done
    path = server.user.session / "turns" / f"{GATE}.md"
    assert path.read_text("utf-8").endswith("## Decision\napprove\n\n## Reason\nnone\n")


def test_a_line_is_an_answer(server: WebServer) -> None:
    path = "/api/sessions/gated/answers"
    assert post(server, path, turn=GATE, text="perhaps")[0] in (400, 422)
    status, done = post(server, path, turn=GATE, text="approve because it is tested")
    assert (status, done.get("recorded")) in ((200, True), (422, None)), done


NO_ANSWERS = (
    {}, {"turn": GATE}, {"turn": 1, "text": "A"}, {"turn": GATE, "text": "A", "answers": {"a": "b"}},
    {"turn": "../../x", "text": "A"}, {"turn": GATE, "answers": {"decision": 1}}, {"turn": GATE, "answers": ["a"]},
    {"turn": GATE, "answers": {"decision": "perhaps", "reason": "x"}}, {"turn": GATE, "text": "A", "more": 1},
    {"turn": GATE, "answers": {"decision": "approve", "other": "x"}},
    {"turn": "02-release/human", "text": "approve"},
)  # fmt: skip


def test_what_is_no_answer_changes_nothing(calm: WebServer) -> None:
    for body in NO_ANSWERS:
        status, answer = post(calm, "/api/sessions/gated/answers", **body)
        assert (status in (400, 422), "error" in answer) == (True, True), (status, answer)
    assert not (calm.user.session / "turns").exists() or not list((calm.user.session / "turns").rglob("*.md"))


def test_only_one_of_many_answers_counts(user: User) -> None:
    with WebServer(user) as server, gates.waiting(user):
        id = user.session.name

        def answer(number: int) -> tuple[int, Any]:
            return post(server, f"/api/sessions/{id}/answers", turn=GATE, answers=APPROVED, by=f"reader {number}")

        with ThreadPoolExecutor(6) as pool:
            done = list(pool.map(answer, range(6)))
        assert sorted(status for status, _ in done) == [200, 409, 409, 409, 409, 409]
        assert {body["by"] for _, body in done} == {gates.receipts(user)[GATE].by}


def test_a_run_is_paused_cancelled_and_goes_on(user: User) -> None:
    with WebServer(user) as server, gates.waiting(user) as run:
        id = user.session.name
        assert server.ask("GET", f"/api/sessions/{id}").json["state"] == "running"
        assert post(server, f"/api/sessions/{id}/recover")[0] == 409
        assert post(server, f"/api/sessions/{id}/cancel")[0] == 202
        assert run.wait(PATIENCE) == 130
        assert post(server, f"/api/sessions/{id}/cancel")[0] == 400
        assert post(server, f"/api/sessions/{id}/pause")[0] == 400
        status, done = post(server, f"/api/sessions/{id}/recover", max_cost=1)
        assert (status, done["max_cost"]) == (202, 1.0), done
        assert post(server, f"/v1/debates/{id}/reject", turn=GATE, reason="No.")[0] == 200


def test_a_debate_begins_and_survives_the_server(tmp_path: Path) -> None:
    user = User(tmp_path)
    with FakeApi(Table(user, disputed())) as api:
        env = {"ANTHROPIC_API_KEY": "sk-test", "ANTHROPIC_BASE_URL": api.url}
        user = User(tmp_path, env)
        with WebServer(user) as server:
            facts_given = {"load test.txt": "one\ntwo\n", "Schéma.sql": "create table a (b);\n"}
            about = {"topic": "Council recovery", "options": {"normative": True}, "evidence": facts_given}
            status, bounds = post(server, "/api/sessions", dry=True, **about)
            assert (status, "at most $" in bounds["cost"], bounds["calls"]) == (200, True, "9 to 14 calls"), bounds
            assert user.sessions == []
            status, made = post(server, "/api/sessions", **about)
            assert (status, made["max_cost"]) == (201, bounds["max_cost"]), made
        while user.council("status", made["session_id"], "--json").json["state"] != "complete":
            time.sleep(0.1)
        facts = json.loads((user.session / "metadata.json").read_text())
        assert (facts["topic"], facts["options"]["normative"]) == ("Council recovery", True)
        frozen = json.loads((user.session / "evidence.json").read_text("utf-8"))["evidence"]
        assert {one["name"]: f"{one['text']}\n" for one in frozen} == facts_given
        assert "2 | two" in (user.session / "briefs/01-positions/engineer.md").read_text("utf-8")


NO_DEBATES = (
    ({"topic": ""}, "topic"), ({"topic": "x", "workflow": "../x.md"}, "no workflow"),
    ({"topic": "x", "workflow": "nowhere"}, "no workflow"), ({"topic": "x", "max_cost": "1"}, "max_cost"),
    ({"topic": "x", "max_cost": True}, "max_cost"), ({"topic": "x", "options": {"--id": "y"}}, "option"),
    ({"topic": "x", "options": {"nothing": "y"}}, "nothing"), ({"topic": "x", "file": "/etc/passwd"}, "unknown"),
    ({"topic": "x", "speaker": "replay"}, "replay"), ({"topic": "x", "gates": ["nowhere"]}, "nowhere"),
    ({"topic": ["x"]}, "topic"), ({"topic": "x", "evidence": {"../x": "a"}}, "without a slash"),
    ({"topic": "x", "evidence": {"..": "a"}}, "a name"), ({"topic": "x", "evidence": {"a\nb": "a"}}, "a name"),
    ({"topic": "x", "evidence": {"a": " "}}, "empty"), ({"topic": "x", "evidence": {"a": 1}}, "must be a text"),
    ({"topic": "x", "evidence": ["/etc/passwd"]}, "an object"), ({"topic": "x", "evidence": {"a" * 61: "a"}}, "a name"),
)  # fmt: skip


def test_a_seat_with_a_paid_speaker_of_its_own_is_bounded_too(tmp_path: Path) -> None:
    user = gates.make(tmp_path)
    paid = GATED.replace("members: [architect]", "members: [{architect: {speaker: anthropic}}, engineer]").replace(
        "phases:\n", "phases:\n  - {name: idea, seats: members}\n"
    )
    user.write(".council/Workflows/Gated.md", paid)
    user.write(".council/templates/gated/idea.md.j2", TEMPLATE)
    with WebServer(user) as server:
        status, bounds = post(server, "/api/sessions", topic="x", workflow="gated", speaker="human", dry=True)
        assert (status, (bounds["max_cost"] or 0) > 0) == (200, True), bounds
        assert "nothing" not in bounds["cost"]


def test_what_cannot_begin_is_refused(calm: WebServer) -> None:
    for body, why in NO_DEBATES:
        status, answer = post(calm, "/api/sessions", **body)
        assert (status >= 400, why in answer["error"]) == (True, True), (status, answer)
    assert [path.name for path in calm.user.sessions] == ["gated"]


def test_what_is_no_json_is_refused(calm: WebServer) -> None:
    for body in (b"{", b"[]", b"\xff", b"[" * 100_000, b'"x"', b"NaN", b'{"topic": "\\ud800"}', b'{"max_cost": 1e999}'):
        head = (
            f"POST /api/sessions HTTP/1.1\r\nHost: {calm.host}\r\nAuthorization: Bearer {calm.token}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        )
        assert calm.send_raw(head.encode() + body).startswith(b"HTTP/1.1 400 "), body[:20]


def test_a_server_that_is_read_only_changes_nothing(user: User) -> None:
    assert user.council("start", "-w", "gated", "--id", "gated", "Shall we?").code == 0
    with WebServer(user, "--read-only") as server:
        for route in routes.ROUTES:
            if route.method == "POST":
                assert server.ask("POST", route.path.replace("{id}", "gated"), {}).status == 403
        assert server.ask("GET", "/api/gates").status == 200


def test_sums_are_those_of_the_index(calm: WebServer) -> None:
    (row,) = calm.ask("GET", "/api/stats?by=workflow").json["rows"]
    assert (row["name"], row["sessions"]) == ("gated", 1)
    assert calm.ask("GET", "/api/stats?by=weather").status == 400
    months = calm.ask("GET", "/api/stats?by=month").json
    assert months["rows"][0]["outcomes"] == {"": 1}, "it is not finished"
    assert "1 debate, 1 not finished" in months["picture"]


def test_a_stream_is_no_answer_to_head(calm: WebServer) -> None:
    for path in ("/api/events", "/api/sessions/gated/events"):
        assert calm.ask("HEAD", path).status == 405


# ---- the document ----


def test_the_document_describes_every_route(calm: WebServer) -> None:
    document = calm.ask("GET", "/api/openapi.json").json
    assert {(path, method.upper()) for path, of in document["paths"].items() for method in of} == {
        (route.path, route.method) for route in routes.ROUTES
    }
    ids = [one["operationId"] for of in document["paths"].values() for one in of.values()]
    assert len(set(ids)) == len(ids)
    assert {route.call for route in routes.ROUTES} == {*app.READS, *app.CHANGES, "events", "list_events"}
    openapi_schema().validate(document)
    for route in routes.ROUTES:
        jsonschema.Draft202012Validator.check_schema({"properties": dict(route.body or {})})


def test_the_page_of_the_docs_names_every_route() -> None:
    page = (CODE / "docs/window.md").read_text("utf-8")
    named = set(re.findall(r"`(GET|POST) (/[\w/{}.]+)", page))
    assert {(route.method, route.path) for route in routes.ROUTES} == named
