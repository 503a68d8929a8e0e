"""Words as models may give them: a NUL, a megabyte, a template; and a key that stands nowhere."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.fakeapi import Answer, FakeApi
from tests.helpers import no_traceback
from tests.next.cli import scripts
from tests.next.cli.users import User

Q = "Redis or PostgreSQL?"
KEY = "sk-ant-SECRET-0123456789"


def changed(user: User, agreed: Path, turn: str, old: str, new: str) -> Path:
    """A script with other words in one turn."""
    turns: dict[str, Any] = yaml.safe_load(agreed.read_text("utf-8"))
    assert old in turns[turn]
    return user.write("changed.yaml", yaml.safe_dump({**turns, turn: turns[turn].replace(old, new)}))


def test_a_nul_is_stored_as_it_came_and_shown_to_nobody(user: User, agreed: Path) -> None:
    script = changed(user, agreed, "01-positions/architect", "What architect", "Wh\0at arch\0itect")
    assert user.replay(script, Q).code == 0
    turn = user.session / "turns/01-positions/architect.md"
    assert turn.read_bytes().count(b"\0") == 2
    assert user.council("status", "--json").json["kind"] == "agreed"
    head = user.council("verify", "--json").json["head"]
    for words in (("show",), ("show", "synthesis"), ("show", "--html"), ("show", "--json"), ("list",), ("build",)):
        ended = user.council(*words)
        assert ended.code == 0
        assert "\0" not in ended.out
    for path in (*user.session.glob("*.md"), user.session / "state.json"):
        assert b"\0" not in path.read_bytes(), path
    assert user.council("verify", "--head", head).code == 0
    again = user.council("run", "--speaker", "replay", "--from", user.session.name, "--json")
    assert again.json["outcome"]["kind"] == "agreed"
    assert (user.sessions[-1] / "turns/01-positions/architect.md").read_bytes().count(b"\0") == 2


def test_a_nul_in_a_file_or_over_an_api_is_the_same(user: User) -> None:
    reply = "Talk a\0b.\n\n## Recommendation\nKeep\0it.\n\n## Normative\nno\n"
    id = user.council("start", "--json", Q).json["session_id"]
    assert user.council("record", id, "01-positions/engineer", "--file", user.write("r.md", reply)).code == 0
    with FakeApi(lambda _: Answer(reply)) as api:
        user.council("run", Q, "--max-calls", "1", ANTHROPIC_API_KEY=KEY, ANTHROPIC_BASE_URL=api.url)
    turns = [path for session in user.sessions for path in session.glob("turns/*/*.md")]
    assert len(turns) == 2
    assert {path.read_bytes().partition(b"\n---\n")[2] for path in turns} == {reply.encode()}
    for path in turns:
        session = path.parents[2].name
        id = f"01-positions/{path.stem}"
        assert user.council("show", session, id, "--json").json == {"turn": id, "content": reply}
        assert "\0" not in user.council("show", session, id).out
        assert user.council("verify", session).code == 0


def test_a_huge_reply_is_kept_and_shown_whole(user: User, agreed: Path) -> None:
    """70 kB in a turn, of which nothing is cut in the transcript, on the page or in a later brief."""
    words = " ".join(f"word{number}" for number in range(8_000))
    script = changed(user, agreed, "01-positions/architect", "architect speaks", f"{words} architect speaks")
    assert user.replay(script, Q).code == 0
    for name in ("transcript.md", "round-1.md", "state.json", "turns/01-positions/architect.md"):
        assert words in (user.session / name).read_text("utf-8"), name
    assert words in (user.session / "briefs/02-challenges/shared.md").read_text("utf-8")
    assert words in user.council("show", "--html").out


@pytest.mark.parametrize(("status", "text"), [(200, "Yes."), (401, ""), (429, ""), (500, "")])
def test_the_key_is_in_no_file_and_no_output(status: int, text: str, user: User) -> None:
    answer = Answer(text) if status == 200 else Answer(fault="status", status=status, message=f"no {KEY} here")
    user.configure("retry: {first_wait: 0.01, most_wait: 0.01, budget: 0.02}")
    with FakeApi(lambda _: answer) as api:
        env = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": api.url}
        said = [user.council("run", Q, *more, **env).text for more in ((), ("--json",))]
        said += [user.council(*words, **env).text for words in (("doctor",), ("config", "--all"), ("recover",))]
        assert api.requests
        assert {request.headers["x-api-key"] for request in api.requests} == {KEY}
    files = [path for path in user.root.rglob("*") if path.is_file()]
    assert any(path.name == "metadata.json" for path in files)
    for found in (*said, *(path.read_bytes().decode("utf-8", "replace") for path in files)):
        assert "SECRET" not in found


EVIL = ("{{ 'A' * 3000000000 }}", "{{ nothing.here }}", "{{ ''.__class__.__mro__ }}", "{% include 'none.md.j2' %}")


@pytest.mark.parametrize("evil", EVIL)
def test_a_documents_template_that_fails_costs_no_debate(evil: str, user: User, tmp_path: Path) -> None:
    script = scripts.script(tmp_path / "consensus.yaml", {}, "Consensus")
    (user.work / ".git").mkdir()
    user.write(".council/templates/report/adr.md.j2", evil)
    ended = user.council("run", "-w", "consensus", "--speaker", "replay", "--from", script, "--no-input", Q)
    assert ended.code == 0
    assert "the adr was not filed: the template adr.md.j2: " in ended.err
    assert f"council decision {user.session.name}` tries again" in ended.err
    assert "Answer      Keep PostgreSQL." in ended.out
    assert not [*(user.work / "docs").rglob("*.md")]
    (user.work / ".council/templates/report/adr.md.j2").unlink()
    assert user.council("decision").code == 0
    assert len([*(user.work / "docs/decisions").iterdir()]) == 1
    assert json.loads((user.session / "state.json").read_bytes())["status"] == "complete"


def test_a_home_whose_name_is_no_utf8_works_in_every_command(tmp_path: Path, agreed: Path) -> None:
    user = User(Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9 and more")))
    assert user.replay(agreed, Q).code == 0
    for words in (
        *(("list",), ("list", "--json"), ("status",), ("status", "--json"), ("show",), ("show", "--json")),
        *(("show", "--html"), ("show", "-o", "t.md"), ("verify",), ("build",), ("archive",), ("config", "--all")),
        *(("decision", "--to", "adr"), ("recover",), ("start", Q), ("next",), ("lint",), ("cost",)),
    ):
        ended = user.process(*words)
        assert ended.code == 0, (words, ended)
        no_traceback(ended)
    missing = user.process("run", "--speaker", "replay", "--from", b"caf\xe9.yaml", Q)
    assert missing.code == 2
    no_traceback(missing)


def test_a_wrong_configuration_is_named_by_every_command(user: User, agreed: Path) -> None:
    assert user.replay(agreed, "--id", "mine", Q).code == 0
    user.configure("limts: {max_cost: 1}")
    of_a_session = "status show recover next verify build answer decision pause archive".split()
    others = (
        ("start", Q),
        ("run", Q),
        ("list",),
        ("lint",),
        ("cost",),
        ("diagram", "board"),
        ("config",),
        ("specialists",),
    )
    for words in (*((name, "mine") for name in of_a_session), *others):
        ended = user.council(*words)
        assert ended.code == 2, words
        no_traceback(ended)
        assert 'config/council/Config.md: unknown key "limts"; did you mean "limits"?' in ended.err
    for words in (("doctor",), ("help", "all"), ("completion", "bash")):
        no_traceback(user.council(*words))
