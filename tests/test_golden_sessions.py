"""Whole debates as they end on disk, for each outcome of each protocol: golden files under `tests/sessions/`.

The facts (`convergence.json`) of all of them, and the documents of one debate per protocol: wording changes few files.

Scripted members answer over the fake API; a person's words are recorded where the debate waits for them. Only what
differs from run to run is taken out: ids, times and hashes of briefs.
"""

from __future__ import annotations

import json
import os
import re
import secrets
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import pytest

from tests import schemas
from tests.fakeapi import Answer, FakeApi
from tests.helpers import Table, User
from tests.recordings import turns_of
from tests.scripted import Played, names, played

GOLDEN = Path(__file__).parent / "sessions"
PROTOCOLS = ("board", "consensus", "delphi", "perspectives")
DEBATES = [name for name in names() if name.split("/")[0] in PROTOCOLS]
WHOLE = {"board/fundamental", "consensus/granted", "delphi/persuaded", "perspectives/guided"}
SHOWN = (
    "transcript.md",
    "convergence.json",
    "state.json",
    "decision.md",
    "issue.md",
)  # of the others, convergence.json alone
TOPIC = "Shall we?"
DAY = re.compile(r"\b20\d\d-\d\d-\d\d\b")
HEAD = re.compile(r"(head:\W*)[0-9a-f]{64}", re.I)
UPDATE = "COUNCIL_UPDATE_GOLDEN"


def held(user: User, debate: Played) -> Path:
    """The debate over the API, each of a person's turns by `record`, and that a writer is absent; the session's
    folder."""
    people = {due.id for batch in debate.batches for due in batch if due.of_a_person}
    said = {id: one.body for id, one in debate.said.items()}
    silent = {id: [Answer("", stop="refusal")] for id, one in debate.said.items() if one.absent}
    table = Table(user, said, silent, usage={"input_tokens": 100, "output_tokens": 10})
    with FakeApi(table) as api:
        user.configure(f"endpoints: {{anthropic: {{base_url: {api.url}}}}}")
        ended = user.council(*begin(debate))
        while due := user.council("status", "--json").json["due"]:
            (turn,) = due
            away = debate.said[turn].absent
            given = [*(("--by", "Ann Example") if turn in people else ()), *(("--absent", away) if away else ())]
            assert user.council("record", "last", turn, *given, stdin=said[turn]).code == 0
            ended = user.council("recover")
    assert ended.code == 0 or "no decision: " in ended.err, ended.err
    assert sorted(table.asked) == sorted(said.keys() - people), "each is asked once, and nobody for a person"
    return user.session


def begin(debate: Played) -> Iterator[str]:
    workflow = debate.script.workflow
    yield from ("run", "--workflow", workflow.name, "--speaker", "anthropic")
    yield from (f"--only={seat.name}" for seat in workflow.members)
    yield from (f"-o{name}={str(value).lower()}" for name, value in workflow.options.items())
    yield TOPIC


def shown(session: Path, files: tuple[str, ...]) -> dict[str, str]:
    """The files for readers, without what no two runs share."""
    found = {name: (session / name).read_text("utf-8") for name in files if (session / name).exists()}
    own = re.compile(r"^(head|decided_by|heard): .*$", re.M)
    found = {name: own.sub(r"\1: <\1>", text) for name, text in found.items()}
    return {
        name: HEAD.sub(r"\1<head>", re.sub(r"\d{4}-\d\d-\d\d\b", "<day>", text.replace(session.name, "<id>")))
        for name, text in found.items()
    }


@pytest.mark.parametrize("name", DEBATES)
def test_golden_session(name: str, tmp_path: Path) -> None:
    user, debate, real = User(tmp_path, {"ANTHROPIC_API_KEY": "k"}), played(name), secrets.token_hex
    seeded = mock.patch.object(secrets, "token_hex", lambda size=None: debate.script.seed if size == 16 else real(size))
    with seeded:
        session = held(user, debate)
    made = shown(session, SHOWN if name in WHOLE else ("convergence.json",))
    assert json.loads((session / "convergence.json").read_text("utf-8"))["phases"] == debate.end.scene.outcomes
    assert turns_of(session) == set(debate.said)
    assert user.council("verify").code == 0
    schemas.state().validate(json.loads((session / "state.json").read_text("utf-8")))
    folder = GOLDEN / name.replace("/", "-")
    if os.environ.get(UPDATE):
        folder.mkdir(parents=True, exist_ok=True)
        for path in folder.iterdir():
            path.unlink()
        for file, text in made.items():
            (folder / file).write_text(text, encoding="utf-8")
    golden = {path.name: path.read_text("utf-8") for path in sorted(folder.glob("*"))}
    assert made == golden, f"{name}: what a reader is shown has changed; {UPDATE}=1 writes it anew, then read the diff"


def test_each_golden_session_is_of_a_script() -> None:
    assert {path.name for path in GOLDEN.iterdir()} == {name.replace("/", "-") for name in DEBATES}
    whole = {path.parent.name for path in GOLDEN.glob("*/transcript.md")}
    assert whole == {name.replace("/", "-") for name in WHOLE}
    assert {name.split("/")[0] for name in WHOLE} == set(PROTOCOLS), "a transcript of each protocol"
