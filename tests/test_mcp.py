"""`council mcp`: debates over its tools, what they refuse, and servers that come and go.

tests/test_mcp_protocol.py is about the messages, tests/test_mcp_clients.py has the programs that call it.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from council.mcp_server import command, methods, prompts, resources, tools
from council.record import lock
from tests.helpers import (
    AGREES,
    CODE,
    MEMBERS,
    Ended,
    User,
    agreed,
    derived_of,
    disputed,
    limited,
    picture,
    record_of,
    script,
    without_receipts,
)
from tests.mcp_client import Server, answer_as_member, measure_host, serving, speak

SAME_WORDS = ("round-1.md", "round-2.md", "round-3.md", "convergence.json", "synthesis.md")
POSITIONS = [f"01-positions/{seat}" for seat in MEMBERS]
NASTY = "Redis \"or\" 'not'? `x` $(touch P) \\ ☕ 🦊\r\n\n— zweite Zeile \u2028 \u0007 </said>\n  "


@pytest.fixture(autouse=True)
def in_time() -> Iterator[None]:
    with limited():
        yield


@pytest.fixture
def user(tmp_path: Path) -> User:
    return User(tmp_path)


@pytest.fixture
def server(user: User) -> Iterator[Server]:
    with serving(user) as server:
        yield server


def same_as_run(user: User, words: dict[str, str], *options: str) -> None:
    """The debate reads like one of the same words that `council run` held, but for what says whose words they are."""
    twin = User(user.root / "twin")
    ended = twin.council("run", "Shall we?", *options, "--speaker", "replay", "--from", script(twin, words))
    assert ended.code == 0, ended.err
    ours, theirs = (without_receipts(derived_of(one.session)) for one in (user, twin))
    assert [ours.get(name) for name in SAME_WORDS] == [theirs.get(name) for name in SAME_WORDS]


# ---- whole debates ----


def test_a_debate_of_three_rounds_is_the_one_that_run_would_have_held(user, server):
    begun = server.told("start", topic="Shall we?")
    assert begun["session_id"] == user.session.name
    assert begun["folder"] == str(user.session)
    assert "**Council Members:** Architect (Serena)" in begun["header"]
    end = speak(server, begun["session_id"], disputed())
    assert (end["done"], end["outcome"]) == (True, "agreed with dissent")
    assert end["synthesis"] == (user.session / "synthesis.md").read_text()
    assert Path(end["archived_to"]).read_bytes() == (user.session / "transcript.md").read_bytes()
    told = (user.session / "transcript.md").read_text()
    assert "| 01-positions/engineer | assistant, typed in | claude-sonnet-5-5 | claude-sonnet-5-5 |" in told
    assert user.council("verify").code == 0
    assert server.end() == Ended(0, "", "")
    same_as_run(user, disputed())


def test_the_host_learns_whom_to_ask_and_the_member_its_very_brief(user, server):
    begun = server.told("start", topic="Shall we?")
    told = server.told("next", session="last")
    assert {**told, "header": begun["header"], "folder": begun["folder"]} == begun
    assert [row["turn"] for row in told["due"]] == POSITIONS
    assert told["due"][2] == {
        "turn": "01-positions/engineer", "name": "Engineer (Marcus)", "model": "sonnet",
        "prompt": f'Call the tool council_brief with session "{user.session.name}" and turn "01-positions/engineer", '
        "and do what it says.",
    }  # fmt: skip
    for row in told["due"]:
        text, _ = server.tool("brief", session="last", turn=row["turn"])
        data = server.told("brief", session="last", turn=row["turn"])
        assert data["brief"].encode() == (user.session / "briefs" / f"{row['turn']}.md").read_bytes()
        assert text == f"{data['brief']}\n\n---\n\n{data['then']}"
    again = server.told("next", session="last")
    notes = [row.pop("note") for row in again["due"]]
    assert again.pop("todo").removeprefix(told.pop("todo")).startswith(" Who has a brief already may be answering")
    assert again == told
    assert all(re.fullmatch(r"its brief was handed out \d+ (s|min) ago", note) for note in notes)


def test_words_of_members_do_not_pass_through_the_host(user, server):
    """Each member fetches its brief and stores its own answer; the host sees names, and in the end the synthesis."""
    words = {turn: f"MARKER {reply}" if "chair" not in turn else reply for turn, reply in disputed().items()}
    begun, shown = server.call("start", topic="Shall we?"), []
    told, id = begun["structuredContent"], user.session.name
    while not told["done"]:
        for row in told["due"]:
            stored = answer_as_member(server, id, row["turn"], words[row["turn"]])
            assert (stored["recorded"], "due" in stored) == (row["turn"], False)
        shown.append(server.call("next", session=id))
        told = shown[-1]["structuredContent"]
    assert len(shown) == 4
    assert "MARKER" not in json.dumps([begun, *shown[:-1]])
    assert told["synthesis"] == (user.session / "synthesis.md").read_text()
    assert 'recorded_by: "member"' in (user.session / "turns" / f"{POSITIONS[0]}.md").read_text()
    assert user.council("verify").code == 0
    same_as_run(user, words)


@pytest.mark.parametrize("reply", ["Short.", "A reason that is worth reading. " * 256])
def test_a_debate_costs_the_host_little_whatever_is_said(reply, server):
    """Three rounds of four: the host's context grows by names and prompts, not by what members say."""
    words = {turn: f"{reply}\n\n{said}" if "chair" not in turn else said for turn, said in disputed().items()}
    size, calls = measure_host(server, words)
    assert (size <= 12_000, calls) == (True, 5), size


def test_a_key_is_for_one_turn(user, server):
    server.told("start", topic="Shall we?")
    then = server.told("brief", session="last", turn=POSITIONS[1])["then"]
    key = then.partition('key "')[2].partition('"')[0]
    for wrong in (key, "", "☕"):
        told = server.refused("record", session="last", turn=POSITIONS[0], reply="Yes.", key=wrong)
        assert told == f"the key is not the one that council_brief gave for {POSITIONS[0]}; nothing was recorded"
    assert not list(user.session.rglob("turns/*/*"))
    assert server.told("record", session="last", turn=POSITIONS[1], reply="Yes.", key=key)["recorded"] == POSITIONS[1]
    assert "recorded already" in server.told("brief", session="last", turn=POSITIONS[1])["then"]


def test_a_debate_that_starts_from_another(user, server):
    first = server.told("start", topic="Shall we?")["session_id"]
    assert "no synthesis yet" in server.refused("start", topic="And then?", **{"from": first})
    speak(server, first, agreed())
    second = server.told("start", topic="And then?", **{"from": first})["session_id"]
    folder = next(folder for folder in user.sessions if folder.name == second)
    assert json.loads((folder / "metadata.json").read_text())["after"] == first
    assert "is not a session id" in server.refused("start", topic="x", **{"from": "/etc/passwd"})


def test_every_option_of_start(user, server):
    given = {"with": ["security"], "only": ["engineer", "Architect"], "mode": "patchlist", "rounds": 3}
    server.told("start", topic="Shall we?", **given)
    about = json.loads((user.session / "metadata.json").read_text())
    assert about["members"] == ["engineer", "architect", "security"]
    assert about["output_mode"] == "patchlist"
    assert about["options"] == {"patchlist": True, "three_rounds": True}
    assert about["speaker"] == "assistant"
    quick = server.told("start", topic="Shall we?", workflow="quick")
    assert "Council Quick" in quick["header"]


def test_the_third_round_that_was_asked_for_is_held(user, server):
    id = server.told("start", topic="Shall we?", rounds=3)["session_id"]
    words = agreed() | {f"03-closing/{seat}": f"The {seat} stays with it.\n\n{AGREES}" for seat in MEMBERS}
    assert speak(server, id, words)["done"]
    assert (user.session / "round-3.md").exists()


def test_where_a_debate_stands(user, server):
    id = server.told("start", topic="Shall we?")["session_id"]
    told = server.told("status")
    assert {key: told[key] for key in ("session_id", "state", "outcome", "turns", "due", "folder")} == {
        "session_id": id, "state": "waiting", "outcome": None, "turns": 0, "due": POSITIONS,
        "folder": str(user.session),
    }  # fmt: skip
    speak(server, id, agreed())
    told = server.told("status", session=id[-8:])
    assert (told["state"], told["outcome"], told["turns"], told["due"]) == ("complete", "agreed", 9, [])


def test_a_damaged_session_is_a_state_and_nothing_goes_on_with_it(user, server):
    id = server.told("start", topic="Shall we?")["session_id"]
    speak(server, id, agreed(), most=1)
    (turn,) = user.session.glob("turns/*/*.md")
    turn.write_text("torn")
    assert server.told("status")["state"] == "damaged"
    assert str(turn) in server.refused("next", session=id)
    assert turn.read_text() == "torn"


# ---- bytes ----


def test_topic_and_replies_are_stored_byte_for_byte(user, server):
    server.told("start", topic=NASTY)
    assert (user.session / "topic.md").read_bytes() == NASTY.encode()
    server.told("next", session="last")
    server.told("record", session="last", turn=POSITIONS[0], reply=NASTY)
    stored = (user.session / "turns" / f"{POSITIONS[0]}.md").read_bytes()
    assert stored.partition(b"\n---\n")[2] == NASTY.encode()
    assert not list(user.root.rglob("P"))
    assert user.council("verify").code == 0


def test_words_that_call_a_council_are_part_of_a_topic(user, server):
    server.told("start", topic="Council with security: Shall we?")
    assert (user.session / "topic.md").read_text() == "Council with security: Shall we?"


# ---- what is refused, and how ----


def test_a_turn_is_recorded_once_and_only_while_it_is_due(user, server):
    id = server.told("start", topic="Shall we?")["session_id"]
    first, later = POSITIONS[0], "02-challenges/engineer"
    due = server.told("record", session=id, turn=first, reply="Yes.")
    assert (due["session_id"], due["recorded"], due["done"]) == (id, first, False)
    assert [row["turn"] for row in due["due"]] == POSITIONS[1:]
    before = record_of(user.session)
    again = server.refused("record", session=id, turn=first, reply="No.")
    assert again == f"{first} is recorded already, and a turn is never overwritten"
    early = server.refused("record", session=id, turn=later, reply="No.")
    assert early == f"{later} is not due in session {id}; due now: {', '.join(POSITIONS[1:])}"
    assert "is not due" in server.refused("record", session=id, turn="../../metadata", reply="No.")
    assert "is not due" in server.refused("brief", session=id, turn=later)
    assert "is not due" in server.refused("brief", session=id, turn="../../metadata")
    assert record_of(user.session) == before
    user.write("reply", "No.")
    for turn, why in ((first, again), (later, early)):
        assert why in user.council("record", id, turn, "--file", "reply").err


def test_after_the_end_nothing_is_recorded(user, server):
    id = server.told("start", topic="Shall we?")["session_id"]
    speak(server, id, agreed())
    before = picture(user.session)
    told = server.refused("record", session=id, turn="03-closing/engineer", reply="No.")
    assert "due now: nothing, the debate is over" in told
    assert server.told("next", session=id)["outcome"] == "agreed"
    assert picture(user.session) == before


def test_a_session_that_is_not_there(user, server):
    assert "there is no session in" in server.refused("status")
    server.told("start", topic="Shall we?")
    for name, given in (
        ("next", {}),
        ("status", {}),
        ("brief", {"turn": POSITIONS[0]}),
        ("record", {"turn": POSITIONS[0]}),
    ):
        assert "there is no session" in server.refused(name, session="20200101-000000-00000000", **given)
        assert "is not a session id" in server.refused(name, session="../../etc", **given)


def test_a_seat_that_does_not_speak(user, server):
    server.told("start", topic="Shall we?")
    both = server.refused("record", session="last", turn=POSITIONS[0], reply="Yes.", absent="it refused")
    assert both == server.refused("record", session="last", turn=POSITIONS[0], reply=" \n")
    assert both == server.refused(
        "record", session="last", turn=POSITIONS[0], reply="Yes.", answers={"stance": "agree"}
    )
    assert "is a member's turn" in server.refused("record", session="last", turn=POSITIONS[0])
    server.told("record", session="last", turn=POSITIONS[0], absent="it refused")
    assert 'absent: "it refused"' in (user.session / "turns" / f"{POSITIONS[0]}.md").read_text()


@pytest.mark.parametrize(
    ("name", "given", "why"),
    [
        ("start", {}, "topic is missing"),
        ("start", {"topic": 5}, "topic must be a string"),
        ("start", {"topic": None}, "topic must be a string"),
        ("start", {"topic": " \n"}, "the topic is empty"),
        ("start", {"topic": "a\0b"}, "NUL"),
        ("start", {"topic": "\ud800 x"}, "topic contains half of a surrogate pair"),
        ("start", {"topic": "x" * 1_000_001}, "larger than 1 MB"),
        ("start", {"topic": "x", "topics": "y"}, 'there is no argument "topics"; did you mean "topic"?'),
        ("start", {"topic": "x", "workflow": "debat"}, 'no workflow "debat"; did you mean "debate"?'),
        ("start", {"topic": "x", "workflow": "../Workflows/Debate.md"}, "no workflow"),
        ("start", {"topic": "x", "with": "security"}, "with must be a list of strings"),
        ("start", {"topic": "x", "with": [1]}, "with must be a list of strings"),
        ("start", {"topic": "x", "with": ["\udfff"]}, "surrogate"),
        ("start", {"topic": "x", "with": ["securty"]}, 'unknown member "securty"; did you mean "security"?'),
        ("start", {"topic": "x", "only": ["chair"]}, "chair"),
        ("start", {"topic": "x", "mode": "loud"}, "mode must be deliberative or patchlist"),
        ("start", {"topic": "x", "rounds": 4}, "rounds must be 3"),
        ("start", {"topic": "x", "rounds": 3.0}, "rounds must be 3"),
        ("start", {"topic": "x", "rounds": True}, "rounds must be 3"),
        ("start", {"topic": "x", "workflow": "quick", "rounds": 3}, "three_rounds"),
        ("next", {}, "session is missing"),
        ("record", {"session": "last"}, "turn is missing"),
        ("status", {"sess": "x"}, 'did you mean "session"?'),
    ],
)
def test_arguments_that_do_not_fit_are_the_models_to_mend(name, given, why, user, server):
    assert why in server.refused(name, **given)
    assert user.sessions == []
    assert server.end() == Ended(0, "", "")


def test_a_reply_that_others_could_not_read(user, server):
    server.told("start", topic="Shall we?")
    assert "larger than 1 MB" in server.refused("record", session="last", turn=POSITIONS[0], reply="x" * 10_000_000)
    assert "surrogate" in server.refused("record", session="last", turn=POSITIONS[0], reply="\udc00")
    assert not list(user.session.rglob("turns/*/*"))


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_a_folder_that_may_not_be_written(user, server):
    user.home.mkdir(mode=0o500)
    assert "permission denied" in server.refused("start", topic="Shall we?")


def test_a_disk_that_takes_nothing(user, server):
    user.home.write_text("a file where the folder should be")
    assert str(user.home) in server.refused("start", topic="Shall we?")
    assert server.ask("ping")["result"] == {}


# ---- servers come and go ----


def test_a_killed_server_loses_nothing(user):
    """A server for each turn, killed after it; the next goes on where it stands."""
    words = disputed()
    with serving(user) as server:
        id = server.told("start", topic="Shall we?")["session_id"]
        server.process.kill()
    for _ in range(len(words)):
        with serving(user) as server:
            assert speak(server, id, words, most=1)
            server.process.kill()
    with serving(user) as server:
        assert server.told("next", session=id)["outcome"] == "agreed with dissent"
    assert user.council("verify").code == 0
    same_as_run(user, words)


def test_what_was_begun_here_is_finished_by_a_runner(user, server):
    id = server.told("start", topic="Shall we?")["session_id"]
    speak(server, id, disputed(), most=6)
    before = record_of(user.session)
    ended = user.council("recover", id, "--speaker", "replay", "--from", script(user, disputed()))
    assert ended.code == 0, ended.err
    after = record_of(user.session)
    assert {name: after[name] for name in before if name.startswith("turns/")} == {
        name: data for name, data in before.items() if name.startswith("turns/")
    }
    assert server.told("next", session=id)["done"]
    same_as_run(user, disputed())


def test_a_session_that_somebody_works_on(user, server):
    id = server.told("start", topic="Shall we?")["session_id"]
    with lock.hold(user.session) as held:
        held.note()
        for told in (
            server.refused("next", session=id),
            server.refused("record", session=id, turn=POSITIONS[0], reply="Yes."),
        ):
            assert "is in use by" in told
            assert "try again" in told
        assert server.told("status")["state"] == "running"
        held.clear()
    server.told("record", session=id, turn=POSITIONS[0], reply="Yes.")


def test_two_servers_at_one_session(user):
    """Both answer every turn at the same moment: each is recorded once, and who came late is told so."""
    words = agreed()
    with serving(user) as one, serving(user) as other, ThreadPoolExecutor(2) as both:
        id = one.told("start", topic="Shall we?")["session_id"]
        while not (told := one.told("next", session=id))["done"]:
            turn = told["due"][0]["turn"]
            given = {"session": id, "turn": turn, "reply": words[turn]}
            answers = list(both.map(lambda server, given=given: server.tool("record", **given), (one, other)))
            assert sorted(wrong for _, wrong in answers) == [False, True]
            (late,) = (text for text, wrong in answers if wrong)
            assert "recorded already" in late or "try again" in late
    assert user.council("verify").code == 0
    same_as_run(user, words)


# ---- the page about it ----

PAGE = CODE / "docs" / "mcp.md"


def tables() -> str:
    """The tools, prompts and resources as the page lists them."""
    parts = ["## The tools\n"]
    for name, tool in tools.TOOLS.items():
        rows = [
            f"| `{key}` | {kind(schema, key in tool.needs)} | {schema['description']} |"
            for key, schema in tool.takes.items()
        ]
        returns = ", ".join(f"`{key}`" for key in tool.returns["properties"])
        parts.append("\n".join([f"### {name}\n\n{tool.about}\n", "| argument | | |", "|---|---|---|", *rows, ""]))
        parts.append(f"Returns {returns}.\n")
    rows = [
        f"| `{name}` | {', '.join(map(argument, prompt.takes, [prompt] * 9))} | {prompt.about} |"
        for name, prompt in prompts.PROMPTS.items()
    ]
    parts.append("\n".join(["## The prompts\n", "| prompt | arguments | |", "|---|---|---|", *rows, ""]))
    addresses = {resources.LIST: "The newest sessions."} | {
        f"council://session/{{session}}/{name}": about for name, about in resources.DOCUMENTS.items()
    }
    rows = [f"| `{address}` | {about} |" for address, about in addresses.items()]
    parts.append("\n".join(["## The resources\n", "| address | |", "|---|---|", *rows, ""]))
    return "\n".join(parts)


def kind(schema: Any, needed: bool) -> str:
    words = ", ".join(f"`{word}`" for word in schema.get("enum", ()))
    words = words or {"array": "a list", "object": "texts by name"}.get(schema["type"], "text")
    return f"{words}{', needed' if needed else ''}"


def argument(name: str, prompt: prompts.Prompt) -> str:
    return f"`{name}`{' (needed)' if name in prompt.needs else ''}"


@pytest.mark.golden
def test_the_page_lists_the_tools():
    head, mark, _ = PAGE.read_text("utf-8").partition("\n## The tools\n")
    made = f"{head}\n{tables()}" if mark else head
    if os.environ.get("COUNCIL_UPDATE_GOLDEN"):
        PAGE.write_text(made, "utf-8")
    assert PAGE.read_text("utf-8") == made, "run scripts/update-golden and read the difference"


def test_the_pages_configuration_starts_the_server():
    shown = PAGE.read_text("utf-8").partition("```json\n")[2].partition("```")[0]
    assert json.loads(shown) == {"mcpServers": {"council": {"command": "council", "args": [command.mcp.name]}}}


def test_the_schemas_are_plain_and_small(server):
    """What every client can show: objects of strings, integers and lists of strings, all of them explained."""
    listed = server.ask("tools/list")["result"]["tools"]
    assert [tool["name"] for tool in listed] == [
        f"council_{one}" for one in ("start", "next", "brief", "record", "status")
    ]
    for tool in listed:
        schema = tool["inputSchema"]
        assert (schema["type"], schema["additionalProperties"]) == ("object", False)
        assert set(schema["required"]) <= set(schema["properties"])
        assert all(one["description"] for one in schema["properties"].values())
        assert {one["type"] for one in schema["properties"].values()} <= {"string", "integer", "array", "object"}
        jsonschema.Draft202012Validator.check_schema(schema)
        jsonschema.Draft202012Validator.check_schema(tool["outputSchema"])
    assert len(json.dumps(listed, separators=(",", ":")).encode()) <= LARGEST_LIST


LARGEST_LIST = 4_800  # bytes, about 1,200 tokens, which every conversation pays for


def test_nothing_lets_the_host_play_a_member():
    """Neither the instructions, nor a prompt, nor what the tools say."""
    unwrapped = " ".join(methods.INSTRUCTIONS.split())
    assert "The host never answers a brief and never writes a member's reply" in unwrapped
    assert "say that you cannot hold a council here" in unwrapped
    for text in (methods.INSTRUCTIONS, prompts.RULES, *(tool.about for tool in tools.TOOLS.values())):
        assert "otherwise yourself" not in text
        assert "by yourself" not in text
