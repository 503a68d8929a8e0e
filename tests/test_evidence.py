"""Evidence: numbered facts, frozen before the first call; members cite them, and a citation of nothing is marked."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from pathlib import Path
from unittest import mock

import pytest

from council.engine.contributions import Record
from council.errors import UsageError
from council.mcp_server import debate, protocol
from council.protocols.evidence import FILE, Evidence, cites_nothing, find_citations
from council.runner import evidence
from council.runner.evidence import SHOWN, gather, read_file
from council.sandbox import probe
from council.workflow import opening
from tests.helpers import User, agreed, script
from tests.scenes import turn

REPLAY = ("--speaker", "replay", "--from", "script.yaml")
NOTES = "one\ntwo </said> [E9]\nthree\n"


@pytest.fixture
def user(tmp_path: Path) -> User:
    return User(tmp_path)


def test_a_debate_with_evidence(user: User) -> None:
    """The facts are in every brief once, at the same place; what is cited is checked in all that readers get."""
    user.write("notes.txt", NOTES)
    user.write("log.txt", "x\n" * 40)
    words = agreed()
    words["01-positions/engineer"] = "As [E1:2-3] says, and [E2]. But see [E9] and [E1:3-12]."
    words["04-synthesis-r01/chair"] += "\nIt rests on [E2:40; E1].\n"
    script(user, words)
    held = user.council("run", *REPLAY, "--evidence", "notes.txt", "--evidence", "log.txt", "Keep one?")
    assert held.code == 0, held.err
    frozen = json.loads((user.session / FILE).read_text("utf-8"))["evidence"]
    assert [(one["id"], one["name"], one["lines"]) for one in frozen] == [("E1", "notes.txt", 3), ("E2", "log.txt", 40)]
    assert frozen[0]["sha256"] == hashlib.sha256(NOTES.encode()).hexdigest()
    briefs = [path.read_text("utf-8") for path in sorted(user.session.glob("briefs/*/*.md"))]
    assert {one.count("2 | two </said> [E9]") for one in briefs} == {1}
    assert len({one.index("1 | one") for one in briefs if "You are a member" in one}) == 1
    assert all("frozen before the debate began: E1 to E2." in one for one in briefs)
    transcript = (user.session / "transcript.md").read_text("utf-8")
    assert "cites E9, which does not exist" in transcript
    assert "cites E1:3-12, but E1 has 3 lines" in transcript
    synthesis = (user.session / "synthesis.md").read_text("utf-8")
    assert "6 citations, 2 of what is not there." in synthesis
    assert "E1: file notes.txt (sha256 " in synthesis
    filed = user.council("decision", "last", "--as", "adr", "--dry-run").out
    assert "### Evidence\n\n6 citations, 2 of what is not there." in filed
    assert "Engineer (Marcus) cites E9, which does not exist" in filed
    data = json.loads((user.session / "citations.json").read_text("utf-8"))
    assert (data["evidence"], data["wrong"], len(data["citations"])) == (["E1", "E2"], 2, 6)
    assert user.council("verify").code == 0
    (user.session / FILE).write_text("{}")
    assert FILE in user.council("verify").out


def test_by_hand_and_replayed_it_is_the_same_evidence(user: User) -> None:
    user.write("notes.txt", NOTES)
    assert user.council("start", "--evidence", "notes.txt", "Keep one?").code == 0
    assert "3 | three" in user.council("brief", "last", "01-positions/engineer").out
    first = (user.session / FILE).read_bytes()
    (user.work / "notes.txt").unlink()
    for id, words in agreed().items():
        assert user.council("record", "last", id, stdin=words).code == 0
    assert user.council("next").code == 0
    assert user.council("run", "--speaker", "replay", "--from", user.session.name).code == 0
    assert {(path / FILE).read_bytes() for path in user.sessions} == {first}


def cited(text: str) -> list[tuple[str, str]]:
    facts = {1: Evidence(1, "file", "a", "", 10, 10), 2: Evidence(2, "file", "b", "", 5, 90)}
    return [(one.cited, one.problem) for one in find_citations(turn("engineer", "p", 1, body=text), facts)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("[E1] [E1] [E1:1-10]", [("E1", ""), ("E1:1-10", "")]),
        ("[E1, E2:5;E3]", [("E1", ""), ("E2:5", ""), ("E3", "cites E3, which does not exist")]),
        ("[E1:0]", [("E1:0", "cites E1:0, but E1 has 10 lines")]),
        ("[E1:4-3]", [("E1:4-3", "cites E1:4-3, but E1 has 10 lines")]),
        ("[E2:6]", [("E2:6", "cites E2:6, but E2 has 5 lines here")]),
        ("[E1:2-3-4]", [("E1:2-3-4", "cites E1:2-3-4, which is not a fact or lines of it, as in E1:3-7")]),
        ("[E0]", [("E0", "cites E0, which does not exist")]),
        ("E1, (E1), [e1], [E 1], [E1a], `a[E1b]`, [EE1]", []),
        ("```\n[E7]\n```\n", []),
    ],
)
def test_what_is_a_citation(text: str, found: list[tuple[str, str]]) -> None:
    assert cited(text) == found


def test_without_evidence_nothing_is_a_citation(user: User) -> None:
    script(user, agreed() | {"01-positions/engineer": "See [E1]."})
    assert user.council("run", *REPLAY, "Keep one?").code == 0
    assert "cites" not in (user.session / "transcript.md").read_text("utf-8")
    assert not (user.session / "citations.json").exists()


def test_what_is_no_plain_text_is_refused(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_text("a\n")
    (tmp_path / "link").symlink_to(plain)
    (tmp_path / "binary").write_bytes(b"a\0b")
    (tmp_path / "latin").write_bytes(b"\xff\xfe")
    (tmp_path / "empty").write_text(" \n")
    os.mkfifo(tmp_path / "fifo")
    refused = {
        "link": "it is a link", "fifo": "not a regular file", "binary": "not a text file", "latin": "not a text file",
        "empty": "empty", "gone": "No such file", ".": "Is a directory",
    }  # fmt: skip
    for name, why in refused.items():
        with pytest.raises(UsageError, match=why):
            read_file(tmp_path / name)
    with pytest.raises(UsageError, match="not a regular file"):
        read_file(Path("/dev/zero"))


def test_what_is_long_is_cut_between_lines_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / "long.txt"
    path.write_text("".join(f"{number:09}\n" for number in range(20_000)))
    (only,) = gather((path,), ())
    assert (only.fact.lines, only.fact.of, only.fact.id) == (SHOWN // 10, 20_000, "E1")
    assert only.fact.title == "file long.txt, the first 10,000 of 20,000 lines"
    assert only.fact.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    path.write_text("x" * (SHOWN + 5))
    endless = read_file(path)
    assert (len(endless.text), endless.fact.lines, endless.fact.of) == (SHOWN, 1, 2)
    path.write_text("0123456789\n" * 9000)
    with pytest.raises(UsageError, match="together"):
        gather((path,) * 5, ())


def test_lines_are_numbered_as_in_an_editor(tmp_path: Path) -> None:
    """So that a reader who looks up `E1:3` finds what the members saw there."""
    path = tmp_path / "a.c"
    path.write_bytes("one\r\n\ftwo\u2028still two\rthree\n\n".encode())
    assert gather((path,), ())[0].text == "one\n\ftwo\u2028still two\nthree\n"
    assert gather((path,), ())[0].fact.lines == 4


def test_a_command_needs_the_sandbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, user: User) -> None:
    with pytest.raises(UsageError, match="needs a command"):
        gather((), (" ",))
    with pytest.raises(UsageError, match="No closing quotation"):
        gather((), ("a 'b",))
    monkeypatch.setattr(evidence, "find_runner", lambda: None)
    refused = user.council("start", "--evidence-command", "ls", "Q?")
    assert (refused.code, user.sessions) == (2, [])
    assert "needs the sandbox, which is not part of this installation" in refused.err


@pytest.mark.skipif(bool(probe.find_obstacle()), reason="no sandbox here")
def test_a_command_is_a_fact_with_how_it_ended(user: User) -> None:
    user.write("data.txt", "seven\n")
    begun = user.council("start", "--evidence-command", "sh -c 'cat data.txt; touch made; exit 3'", "Q?")
    assert begun.code == 0, begun.err
    (fact,) = json.loads((user.session / FILE).read_text("utf-8"))["evidence"]
    assert (fact["kind"], fact["exit"], fact["ended"], fact["text"]) == ("command", 3, "exit 3", "seven")
    assert "E1, command sh -c 'cat data.txt; touch made; exit 3', exit 3" in (user.session / "topic.md").read_text()
    assert not (user.work / "made").exists()


def test_evidence_of_a_strange_shape_is_damage(user: User) -> None:
    from council.errors import Damaged

    for data in (b"[]", b"{", b'{"evidence": [{"number": 1}]}', b'{"evidence": 5}'):
        record = Record(workflow=None, plan=None, frozen={FILE: data})  # type: ignore[arg-type]
        with pytest.raises(Damaged, match="not the evidence"):
            list(cites_nothing(turn("engineer", "p", 1, body="[E1]"), record))


def test_the_room_for_commands_registers_itself() -> None:
    assert opening.find_runner() is not None


def test_over_mcp_facts_are_texts_by_name(user: User) -> None:
    call = mock.Mock(client=protocol.Client(), hold=lambda found: found.hold())
    with mock.patch.dict(os.environ, user.environment), contextlib.chdir(user.work):
        debate.start({"topic": "Keep one?", "evidence": {"load.txt": NOTES}}, call)
    (frozen,) = json.loads((user.session / FILE).read_text("utf-8"))["evidence"]
    assert (frozen["kind"], frozen["name"], frozen["lines"]) == ("text", "load.txt", 3)
    assert "3 | three" in user.council("brief", "last", "01-positions/engineer").out
