"""`--json` of list, status, show and cost is what docs/cli.schema.json says, in every state of a session."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path

import jsonschema
import pytest

from tests.helpers import MEMBERS, User, disputed, script
from tests.schemas import DOCS, SCHEMA, check


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    with pytest.raises(jsonschema.ValidationError):
        check("list", [{"session_id": "x"}])


@pytest.fixture
def user(tmp_path: Path) -> User:
    return User(tmp_path)


@pytest.fixture
def finished(user: User) -> User:
    ended = user.council("run", "Shall we?", "--speaker", "replay", "--from", script(user, disputed()))
    assert ended.code == 0, ended.err
    return user


def test_a_complete_session(finished: User) -> None:
    (row,) = finished.council("list", "--json").json
    check("list", [row])
    assert (row["folder"], row["workflow"], row["members"]) == (str(finished.session), "debate", list(MEMBERS))
    assert row["totals"]["calls"] == row["turns"] == 13
    started, completed = map(datetime.fromisoformat, (row["started_at"], row["completed_at"]))
    assert started.tzinfo is not None
    assert started <= completed
    assert Path(row["archived_to"]).is_file()
    status = finished.council("status", "--json").json
    check("status", status)
    assert {key: status[key] for key in row if key != "age"} == {key: row[key] for key in row if key != "age"}
    shown = finished.council("show", "--json").json
    check("show", shown)
    assert {key: shown[key] for key in row if key != "age"} == {key: row[key] for key in row if key != "age"}
    assert shown["question"] == "Shall we?"
    assert [round["phase"] for round in shown["rounds"]] == ["positions", "challenges", "closing"]
    stances = {turn["seat"]: turn["answers"]["stance"] for turn in shown["rounds"][1]["turns"]}
    assert stances == {seat: "disagree" if seat == "engineer" else "agree" for seat in MEMBERS}
    assert "Keep one database." in shown["synthesis"]
    assert shown["verdict"]["answer"] == "Keep one database."
    assert shown["verdict"]["carried"] is True
    assert shown["verdict"]["dissent"]["label"] == "Engineer (Marcus)"
    assert len(shown["receipts"]) == 13


def test_a_session_that_waits(user: User) -> None:
    assert user.council("start", "Shall we?").code == 0
    for command in ("list", "status", "show"):
        found = user.council(command, "--json").json
        check(command, found)
        row = found[0] if command == "list" else found
        assert (row["state"], row["outcome"], row["completed_at"], len(row["due"])) == ("waiting", None, None, 4)


def test_a_damaged_session(finished: User) -> None:
    (finished.session / "metadata.json").write_text("{}")
    (row,) = finished.council("list", "--json").json
    check("list", [row])
    assert (row["state"], row["workflow"], row["members"], row["totals"]) == ("damaged", None, [], None)
    ended = finished.council("status", "--json")
    check("status", ended.json)
    assert ended.code == 1


@pytest.mark.parametrize("workflow", ["debate", "board", "perspectives"])
def test_cost(workflow: str, user: User) -> None:
    found = user.council("cost", workflow, "--json").json
    check("cost", found)
    assert found["workflow"] == workflow
    for key in ("least", "most", "again", "input", "output", "most_input", "most_output"):
        assert found["totals"][key] == sum(step[key] for step in found["steps"])
    assert found["totals"]["usd"] == pytest.approx(sum(step["usd"] for step in found["steps"]))


def test_show_writes_json_into_a_file_and_over_its_own(finished: User) -> None:
    for _ in range(2):
        assert finished.council("show", "--json", "-o", "debate.json").code == 0
    check("show", json.loads((finished.work / "debate.json").read_text("utf-8")))
    finished.write("mine.json", "{}")
    assert finished.council("show", "--json", "-o", "mine.json").code == 2
    assert finished.council("show", "--json", "--html").code == 2


def test_the_page_names_every_key_of_a_session() -> None:
    page = (DOCS / "cli-json.md").read_text("utf-8")
    assert [key for key in SCHEMA["$defs"]["session"]["properties"] if f"`{key}`" not in page] == []
