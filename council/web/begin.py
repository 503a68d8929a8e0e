"""Begins debates and goes on with them, each in a process of its own, which does not end with the server."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from council.checks import cost
from council.cli.cost import as_data
from council.config import command_line, overlays, places
from council.config import settings as config
from council.config.settings import Config
from council.errors import Busy, Paused, UsageError
from council.record import files, lock
from council.runner import debate, evidence, material, price, start
from council.runner.start import Request
from council.speakers import select
from council.terminal import watch
from council.text import one_line
from council.web.control import read_session
from council.web.given import Given, Json
from council.workflow import gates
from council.workflow.loader import load
from council.workflow.model import Seat, Workflow

SOON = 30.0  # seconds that a process may take until its session is there, or held
LOOK = 0.02
PROGRAM = "import sys; sys.path.insert(0, sys.argv.pop(1)); from council.cli import main; sys.exit(main())"


def recover(folder: Path, given: Given) -> tuple[int, Json]:
    """Go on with a debate, for at most `max_cost` dollars in all, or else the bound of the whole debate."""
    given.refuse_others("max_cost", "speaker", "by")
    session, settings = read_session(folder), config.load()
    session.refuse_kept()
    if lock.is_held(folder):
        raise Busy(f"{folder.name} is running already")
    name = debate.choose_again(session, given.take("speaker", str), settings).name
    bound = watch.bound_usage(session, settings, name)
    costs = is_paid(session.workflow, name)
    most = limit_cost(given, name, costs, bound.usd if bound else None)
    words = ["recover", folder.name, f"--speaker={name}", *money(most)]
    launch(words, b"", lambda: lock.is_held(folder))
    return 202, {"session_id": folder.name, "max_cost": most}


def begin(given: Given) -> tuple[int, Json]:
    """A new debate; with `dry`, only what it can cost."""
    given.refuse_others("topic", "workflow", "options", "gates", "evidence", "speaker", "max_cost", "dry", "by")
    settings, dry = config.load(), given.take("dry", bool, False)
    request = read_request(given)
    if not dry:
        material.check_topic(request.topic)
    choice = debate.choose_speaker(request, given.take("speaker", str), settings)
    if choice.question or choice.speaker.download():
        raise UsageError(f"{choice.name} has to be set up first, in a terminal: `council run --speaker {choice.name}`")
    facts, costs, bound = bound_cost(request, settings, choice.name)
    most = limit_cost(given, choice.name, costs and not dry, bound)
    facts |= {"speaker": choice.name, "max_cost": most}
    if dry:
        return 200, facts
    id = f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(4)}"
    chosen = [f"--option={name}={_as_word(value)}" for name, value in (request.options or {}).items()]
    words = [
        "run",
        f"--id={id}",
        f"--workflow={request.workflow}",
        f"--speaker={choice.name}",
        *chosen,
        *money(most),
        "-",
    ]
    with tempfile.TemporaryDirectory(prefix="council-evidence-") as folder:  # until it is frozen; for its user alone
        words[-1:-1] = write_evidence(Path(folder), request.evidence_texts)
        # Without the prefix, a topic such as "Council recovery" would be a call.
        launch(words, files.encode(f"Council: {request.topic}"), lambda: places.exists(settings, id))
    return 201, facts | {"session_id": id}


def write_evidence(folder: Path, texts: Iterable[tuple[str, str]]) -> Iterator[str]:
    """What was pasted or uploaded, as files under the names that it was given. A page names no file of this machine."""
    for number, (name, text) in enumerate(texts, 1):
        path = folder / str(number) / name
        path.parent.mkdir()
        path.write_bytes(files.encode(text))
        yield f"--evidence={path}"


def read_request(given: Given) -> Request:
    name = given.take("workflow", str, "debate").lower()
    overlays.workflow_text(name) if name in overlays.workflows() else _refuse(name)
    options = {
        key: value if isinstance(value, bool) else given.check(key, value)
        for key, value in given.take("options", dict, {}).items()
    }
    if any("=" in key or key.startswith("-") for key in options):
        raise UsageError("the name of an option has no = and no hyphen at its beginning")
    if after := given.listed("gates"):
        options[gates.AFTER] = ",".join(after)
    texts = tuple(given.words("evidence").items())
    evidence.gather((), (), texts)  # refused now, in words that name no file
    return Request(given.take("topic", str, ""), name, options=options, find_files=False, evidence_texts=texts)


def _refuse(name: str) -> None:
    raise UsageError(f'there is no workflow "{one_line(name, 80)}"; known: {", ".join(sorted(overlays.workflows()))}')


def _as_word(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def bound_cost(request: Request, settings: Config, speaker: str) -> tuple[Json, bool, float | None]:
    """What a debate can cost: in words, as `council cost --json`, whether anything, and in dollars if it does."""
    found = start.workflow_of(start.with_settings(request, settings))
    rows = price.bound(request, found, settings)
    data, bound = as_data(found, rows), cost.sum_bounds(rows)
    priced = is_paid(found, speaker)
    totals = data["totals"]
    calls = f"{totals['least']} to {totals['most']}" if totals["least"] < totals["most"] else f"{totals['most']}"
    said = {
        "cost": cost.format_bounds(bound) if priced else f"costs nothing with {speaker}",
        "calls": f"{calls} calls", "bounds": data,
    }  # fmt: skip
    return said, priced, bound.usd if priced else None


def is_paid(workflow: Workflow, speaker: str) -> bool:
    """Whether any call of the debate costs: a seat may name a speaker of its own."""
    seats = (*workflow.all_seats(), Seat("cast", ""))
    return any(select.speaker_of(seat, speaker).costs for seat in seats)


def limit_cost(given: Given, speaker: str, costs: bool, bound: float | None) -> float | None:
    """What may be spent: what the user says, or else the bound that was shown. What costs has a limit."""
    most = given.body.get("max_cost")
    if most is not None:
        if isinstance(most, bool) or not isinstance(most, int | float) or not 0 <= most < 1e9:
            raise UsageError("max_cost must be an amount in dollars, such as 1.50")
        return float(most)
    if bound is None and costs:
        raise UsageError(f"what {speaker} costs is not known, so say how much it may be: max_cost")
    return bound


def money(most: float | None) -> list[str]:
    return [] if most is None else [f"--max-cost={most:f}"]


def launch(words: list[str], topic: bytes, ready: Callable[[], bool]) -> None:
    """Start council in a session of its own, and return when it has what it needs to be found; else say why not."""
    environment = {**os.environ, command_line.CALLED_AS: sys.argv[0]}
    top = str(Path(__file__).resolve().parent.parent.parent)
    command = [sys.executable, "-I", "-c", PROGRAM, top, *words[:1], "--wait", "--quiet", *words[1:]]
    with tempfile.TemporaryFile() as stdin, tempfile.TemporaryFile() as stderr:
        stdin.write(topic)
        stdin.seek(0)
        process = subprocess.Popen(
            command, stdin=stdin, stdout=subprocess.DEVNULL, stderr=stderr, env=environment, start_new_session=True
        )
        threading.Thread(target=process.wait, daemon=True).start()  # nobody else waits for it
        until = time.monotonic() + SOON
        while not ready() and time.monotonic() < until:
            if process.poll() is not None:
                if process.returncode and not ready():
                    raise Paused(read_complaint(stderr))
                return
            time.sleep(LOOK)
        if not ready():
            raise Busy(f"it has not begun within {SOON:g} seconds, and may still do so; look at the list")


def read_complaint(stderr: IO[bytes]) -> str:
    """Why council did not begin: the sentence that a terminal would show."""
    stderr.seek(0)
    lines = stderr.read().decode("utf-8", "replace").splitlines()
    wrong = next((line for line in lines if line.startswith("council: ")), lines[-1] if lines else "it did not begin")
    return one_line(wrong.removeprefix("council: "), 500)


# ---- what can be begun ----


def list_workflows() -> list[Json]:
    """The workflows for the form, with the phases after which a person may have to approve; `refused` is why one cannot
    be begun from here."""
    found = []
    for name in sorted(overlays.workflows()):
        try:
            workflow = load(*overlays.workflow_text(name))
        except UsageError:
            continue  # `council lint` says what is wrong with it
        options = {key: value for key, value in workflow.options.items() if isinstance(value, bool | str)}
        phases = [phase.name for phase in workflow.phases]
        found.append(
            {
                "name": name,
                "description": workflow.description,
                "phases": phases,
                "options": options,
                "refused": explain_refusal(workflow),
            }
        )
    return found


def explain_refusal(workflow: Workflow) -> str:
    """A page has no document to attach, and no project; empty if neither is needed."""
    try:
        start.check_project(workflow, Request(""))
    except UsageError as why:
        return str(why)
    return material.needs_documents(workflow)
