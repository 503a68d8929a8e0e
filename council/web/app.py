"""The application: each route takes a request apart, asks a plain function in a thread, and answers with JSON."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request as WebRequest
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from council import __version__
from council.config import places
from council.config import settings as config
from council.errors import Busy, CouncilError, Damaged, Denied, Paused, StorageError, UsageError, Waiting
from council.record import catalog
from council.record.desk import API, PAGE
from council.reports.look import stylesheet
from council.web import finding, routes
from council.web.events import EventStream, Watches
from council.web.given import Given
from council.web.guard import PAGE_TOKEN, Access, Guard
from council.web.memory import Trimmer

STATIC = Path(__file__).parent / "static"
STATUS = {UsageError: 400, Busy: 409, Waiting: 409, Damaged: 409, Paused: 409, Denied: 409, StorageError: 507}
MOST_AT_ONCE = 32  # requests that are being worked on: an answer waits for the run that takes it


class JsonAnswer(JSONResponse):
    """JSON in ASCII: a topic may have half of a letter in it, which UTF-8 cannot hold."""

    def render(self, content: Any) -> bytes:
        return json.dumps(content, allow_nan=False, separators=(",", ":")).encode()


# What each route does with the session's id, the query and the body. What only some of them need is imported by them: a
# server that lists and searches is half as large.


def show_session(id: str, _: Mapping[str, str]) -> Any:
    from council.web import views

    return views.session(locate(id))


def compare(_: str, query: Mapping[str, str]) -> Any:
    from council.web import views

    return views.compare(*(locate(query.get(name, "")) for name in ("a", "b")))


def list_gates(id: str, _: Mapping[str, str]) -> Any:
    """The questions that wait for a person, of one debate or of all that are not over."""
    folders = [locate(id)] if id else finding.find_waiting()
    if not folders:
        return {"gates": []}
    from council.web import control

    return {"gates": [one for folder in folders for one in control.ask_session(folder)]}


def list_workflows(*_: object) -> Any:
    from council.web import begin

    return {"workflows": begin.list_workflows()}


READS: Mapping[str, Callable[[str, Mapping[str, str]], Any]] = {
    "sessions": lambda _, query: finding.find_sessions(query),
    "session": show_session,
    "compare": compare,
    "gates": list_gates,
    "session_gates": list_gates,
    "stats": lambda _, query: finding.add_up(query.get("by", "workflow")),
    "decisions": lambda _, query: finding.list_decisions(query),
    "lessons": lambda _, query: finding.list_lessons(query),
    "workflows": list_workflows,
    "document": lambda *_: routes.describe(__version__),
}


def begin_debate(_: str, given: Given) -> tuple[int, Any]:
    from council.web import begin

    return begin.begin(given)


def recover(id: str, given: Given) -> tuple[int, Any]:
    from council.web import begin

    return begin.recover(locate(id), given)


def steer(call: str, id: str, given: Given) -> tuple[int, Any]:
    from council.web import control

    steering = {"answer": control.answer, "pause": control.pause, "cancel": control.cancel}
    return steering[call](locate(id), given) if call in steering else control.decide(locate(id), call, given)


CHANGES: Mapping[str, Callable[[str, Given], tuple[int, Any]]] = {
    "begin": begin_debate,
    "recover": recover,
    **{call: partial(steer, call) for call in ("answer", "approve", "reject", "veto", "pause", "cancel")},
}


def build(access: Access) -> tuple[ASGIApp, Watches]:
    """The application behind its guard, and what it watches, which has to be closed at the end."""
    watches, memory, pool = Watches(), Trimmer(), ThreadPoolExecutor(MOST_AT_ONCE, "council-serve")

    async def work(call: Callable[..., Any], *about: Any) -> Any:
        try:
            return await asyncio.get_running_loop().run_in_executor(pool, call, *about)
        finally:
            memory.soon()

    def handle(route: routes.WebRoute) -> Callable[[WebRequest], Any]:
        async def read(request: WebRequest) -> Response:
            id = request.path_params.get("id", "")
            return JsonAnswer(await work(READS[route.call], id, request.query_params))

        async def change(request: WebRequest) -> Response:
            via = PAGE if PAGE_TOKEN in request.headers else API
            given = Given(await read_json(request), via)
            status, answer = await work(CHANGES[route.call], request.path_params.get("id", ""), given)
            return JsonAnswer(answer, status)

        return read if route.call in READS else change

    async def events(request: WebRequest) -> Response:
        folder = await work(locate, request.path_params["id"])
        check_stream(request)
        return EventStream(watches.follow(folder, request.headers.get("last-event-id", "")))

    async def list_events(request: WebRequest) -> Response:
        check_stream(request)
        return EventStream(finding.follow_list(watches, finding.read_ids(request.query_params.get("ids", ""))))

    streams = {"events": events, "list_events": list_events}
    listed: list[BaseRoute] = [
        Route(one.path, streams.get(one.call) or handle(one), methods=[one.method]) for one in routes.ROUTES
    ]
    listed += [Route("/", page), Route("/static/page.css", look), Mount("/static", StaticFiles(directory=STATIC))]
    explained = {CouncilError: explain, HTTPException: refuse, Exception: apologize}
    return Guard(Starlette(routes=listed, exception_handlers=explained), access), watches


async def page(_: WebRequest) -> Response:
    return FileResponse(STATIC / "index.html")


async def look(_: WebRequest) -> Response:
    """The look of reports, which the page shares."""
    return Response(stylesheet(), media_type="text/css")


def check_stream(request: WebRequest) -> None:
    """A stream without a body would go on for nobody."""
    if request.method != "GET":
        raise HTTPException(405, "a stream is asked for with GET")


async def read_json(request: WebRequest) -> dict[str, Any]:
    try:
        found = await request.json() if await request.body() else {}
        json.dumps(found, ensure_ascii=False, allow_nan=False).encode()  # half a letter, and no number, are no JSON
    except (ValueError, RecursionError):
        raise UsageError("the body is not valid JSON") from None
    if not isinstance(found, dict):
        raise UsageError("the body must be a JSON object")
    return found


def locate(id: str) -> Path:
    """The folder of the session with this whole id, in the home or in the project."""
    settings = config.load()
    if catalog.exists(settings.sessions, id):
        return settings.sessions / id
    if catalog.ID.fullmatch(id) and (there := places.find_in_project(id)):
        return there
    raise HTTPException(404, f'there is no session "{id[:80]}"')


async def explain(_: WebRequest, failure: Exception) -> Response:
    status = next((code for kind, code in STATUS.items() if isinstance(failure, kind)), 500)
    return JsonAnswer({"error": str(failure)}, status)


async def refuse(_: WebRequest, failure: Exception) -> Response:
    assert isinstance(failure, HTTPException)
    return JsonAnswer({"error": failure.detail}, failure.status_code)


async def apologize(_: WebRequest, failure: Exception) -> Response:
    why = f"{type(failure).__name__}: {failure}"
    print(f"council: {why}", file=sys.stderr, flush=True)
    return JsonAnswer({"error": why}, 500)
