"""Every command does what its help says; a debate can be begun, carried on and ended by anybody, in any order."""

from __future__ import annotations

import json
import os
import pty
import re
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest

from council import __version__, cli
from council.cli.command import Command
from council.cli.context import State
from tests.fakeapi import FakeApi
from tests.helpers import (
    CODE,
    MEMBERS,
    Ended,
    Table,
    User,
    agreed,
    derived_of,
    disputed,
    no_traceback,
    picture,
    record_of,
    run_line,
    script,
    without_receipts,
)

KEY = "sk-ant-of-the-tests"
SAME_WORDS = ("round-1.md", "round-2.md", "round-3.md", "convergence.json", "synthesis.md")


@pytest.fixture
def user(tmp_path) -> User:
    return User(tmp_path, {"ANTHROPIC_API_KEY": KEY})


@pytest.fixture
def finished(user) -> User:
    ended = user.council("run", "Shall we?", "--speaker", "replay", "--from", script(user, disputed()))
    assert ended.code == 0, ended.err
    return user


@pytest.fixture
def begun(user) -> User:
    """A debate by hand in which nobody has spoken yet."""
    assert user.council("run", "Shall we?", "--speaker", "assistant").code == 8
    return user


def ok(ended: Ended) -> Ended:
    no_traceback(ended)
    assert ended.code == 0, ended.err
    return ended


def api_for(user: User, words: dict[str, str]) -> FakeApi:
    return FakeApi(Table(user, words))


def configure(user: User, api: FakeApi) -> None:
    user.configure(f"endpoints:\n  anthropic: {{base_url: {api.url}}}\nretry: {{budget: 0}}")


# ---- help ----

PROGRAM_CONTEXT = click.Context(cli.council, info_name="council", obj=State())
NAMES = sorted(cli.council.list_commands(PROGRAM_CONTEXT))


def command_named(name: str) -> Command:
    command = cli.council.get_command(PROGRAM_CONTEXT, name)
    assert isinstance(command, Command)
    return command


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_every_command_has_help(name, flag, user):
    command = command_named(name)
    ended = ok(user.council(name, flag))
    assert ended.out.startswith(f"Usage: council {name}")
    assert str(command.help).split("\n")[0].split(",")[0] in " ".join(ended.out.split())
    for option in command.params:
        assert getattr(option, "hidden", False) or option.opts[-1].lstrip("-").upper() in ended.out.upper()
    assert user.sessions == []


def test_the_program_tells_its_commands_exit_codes_and_version(user):
    text = ok(user.council("help", "all")).out
    assert all(f"  {name} " in text for name in NAMES)
    assert "8 waiting for a person" in text
    assert ok(user.council("--version")).out == f"council {__version__}\n"


# ---- what is there ----


def test_status(finished):
    id = finished.session.name
    assert ok(finished.council("status")).out == f"{id}: complete (agreed with dissent)\n"
    row = ok(finished.council("status", id[-8:], "--json")).json
    assert {key: row[key] for key in row if key != "due"}.items() >= {
        "session_id": id, "state": "complete", "why": "agreed with dissent", "topic": "Shall we?",
        "outcome": "agreed with dissent", "turns": 13, "usd": 0.0,
    }.items()  # fmt: skip
    assert row["due"] == []


def test_status_of_a_debate_by_hand(begun):
    due = [f"01-positions/{seat}" for seat in MEMBERS]
    ended = ok(begun.council("status"))
    assert ended.out == f"{begun.session.name}: waiting (for {', '.join(due)})\n"
    assert ok(begun.council("status", "--json")).json["due"] == due


def test_list(finished):
    assert finished.council("run", "And we?", "--speaker", "assistant").code == 8
    rows = ok(finished.council("list", "--json")).json
    assert sorted(row["session_id"] for row in rows) == sorted(folder.name for folder in finished.sessions)
    assert {row["topic"]: row["state"] for row in rows} == {"Shall we?": "complete", "And we?": "waiting"}
    assert len(ok(finished.council("list")).out.splitlines()) == 3, "a header, and a line each"
    assert len(ok(finished.council("list", "-n", "1")).out.splitlines()) == 2


def test_an_empty_list_says_how_to_begin(user):
    ended = ok(user.council("list"))
    assert ended.out == ""
    assert "council run" in ended.err
    assert ok(user.council("list", "--json")).json == []


def test_show(finished):
    assert ok(finished.council("show")).out.rstrip() == (finished.session / "transcript.md").read_text().rstrip()


def test_show_of_what_is_not_over(begun):
    text = ok(begun.council("show")).out
    assert "*(This debate is not finished: positions waits for Architect" in text


def test_verify(finished):
    id = finished.session.name
    correct, head, *rest = ok(finished.council("verify")).out.splitlines()
    assert correct == f"{id}: every receipt, hash, brief and derived file is correct"
    assert re.fullmatch("head: [0-9a-f]{64}", head)
    assert [line.split(" ")[:4] for line in rest] == ["this finds what is".split(), "it does not find".split()]
    assert ok(finished.council("verify", "--json")).json == {
        "session_id": id, "head": head.removeprefix("head: "), "findings": [], "outdated": [], "not_ours": [],
        "not_covered": [], "typed": [], "by_member": [], "by_machine": [], "unchained": [], "signer": None,
    }  # fmt: skip
    (finished.session / "round-1.md").write_text("another")
    (finished.session / "mine.txt").touch()
    ended = finished.council("verify", "--json")
    assert ended.code == 5
    (finding,) = ended.json["findings"]
    assert "round-1.md" in finding
    assert ended.json["not_ours"] == ["mine.txt"]


def test_verify_looks_at_the_archive_too(finished):
    (archived,) = (finished.home / "RESEARCH").rglob("*.md")
    archived.write_text("another")
    ended = finished.council("verify")
    assert ended.code == 5
    assert archived.name in ended.out
    again = Path(ok(finished.council("archive")).out.strip())
    assert again.read_bytes() == (finished.session / "transcript.md").read_bytes()
    assert archived.read_text() == "another", "whatever stands there, it is not overwritten"
    ok(finished.council("verify"))


def test_build_makes_the_same_bytes_again(finished):
    before = derived_of(finished.session)
    record = record_of(finished.session)
    for name in before:
        (finished.session / name).unlink()
    printed = ok(finished.council("build")).out.splitlines()
    assert sorted(Path(path).name for path in printed) == sorted(before)
    assert derived_of(finished.session) == before
    assert record_of(finished.session) == record


def test_archive_makes_one_copy(finished):
    archive = finished.home / "RESEARCH"
    before = picture(archive)
    ok(finished.council("archive"))
    assert picture(archive) == before
    (copy,) = archive.rglob("*.md")
    assert copy.name.endswith("_COUNCIL_shall-we.md")
    copy.unlink()
    ok(finished.council("archive"))
    assert picture(archive) == before


def test_archive_of_what_is_not_over_is_refused(begun):
    ended = begun.council("archive")
    assert ended.code == 2
    assert "the debate is not finished" in ended.err
    assert not list((begun.home / "RESEARCH").rglob("*.md"))


def test_recover_of_what_is_over_changes_nothing(finished):
    before = picture(finished.home)
    ok(finished.council("recover", "--from", finished.work / "script.yaml"))
    assert picture(finished.home) == before


# ---- the kit ----


def test_lint(user):
    assert "debate: no problems found" in ok(user.council("lint")).out
    assert ok(user.council("lint", "debate", "quick")).out == "debate: no problems found\nquick: no problems found\n"
    bad = "---\nname: bad\nseats: {members: [nobody]}\nphases:\n  - {name: positions, sees: nothin, tier: sonet}\n---\n"
    ended = user.council("lint", user.write("bad.md", bad))
    assert ended.code == 2
    assert 'did you mean "sonnet"?' in ended.out
    assert 'did you mean "nothing"?' in ended.out
    assert 'persona "nobody" does not exist' in ended.out
    assert "3 problems, see above" in ended.err


def test_cost(user):
    rows = {row["phase"]: row for row in ok(user.council("cost", "--json")).json["steps"]}
    assert [(row["least"], row["most"], row["again"]) for row in rows.values()] == [
        (4, 4, 0), (4, 4, 4), (0, 4, 4), (1, 2, 2),
    ]  # fmt: skip
    assert all(0 < row["usd"] < row["bound"] for row in rows.values())
    text = ok(user.council("cost")).out
    assert "9 to 14 calls, and up to 10 more" in text
    assert "\n12 calls, and up to 12 more" in ok(user.council("cost", "tree")).out
    more = ok(user.council("cost", "debate", "A topic", "--with", "security", "--json")).json["steps"]
    assert [row["most"] for row in more] == [5, 5, 5, 2]
    fewer = ok(user.council("cost", "quick", "--only", "engineer", "--json")).json["steps"]
    assert [row["most"] for row in fewer] == [1, 2]


@pytest.mark.parametrize("workflow", ["debate", "board", "consensus", "code", "perspectives"])
def test_costs_fit_80_columns(user, workflow):
    lines = ok(user.council("cost", workflow)).out.splitlines()
    assert max(map(len, lines)) <= 80
    table = lines[: next(number for number, line in enumerate(lines) if " calls, and up to" in line)]
    assert len(set(map(len, table))) == 1, "the columns line up"


def test_the_cost_of_a_model_without_a_price_is_unknown(user):
    user.configure("tiers:\n  haiku: {endpoint: ollama, model: qwen}")
    assert "unknown" in ok(user.council("cost")).out
    assert [row["usd"] is None for row in ok(user.council("cost", "--json")).json["steps"]] == [
        False,
        True,
        False,
        False,
    ]


def test_doctor(user, monkeypatch):
    lines = ok(user.council("doctor")).out.splitlines()
    assert all(line.startswith(("ok    ", "-     ")) for line in lines)
    assert any("speaker: anthropic" in line for line in lines)
    assert any("ANTHROPIC_API_KEY is set" in line for line in lines)
    monkeypatch.setattr("council.speakers.local.download.obstacle", lambda: "There is no model on this machine.")
    ended = user.council("doctor", ANTHROPIC_API_KEY="")
    assert ended.code == 4
    assert "FAIL  speaker" in ended.out
    assert "council doctor" in ended.last
    assert not user.sessions


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(shell, user):
    text = ok(user.council("completion", shell)).out
    assert f"_COUNCIL_COMPLETE={shell}_complete" in text


@pytest.fixture
def installed(user) -> User:
    """`council` on the PATH."""
    command = user.root / "bin" / "council"
    command.parent.mkdir()
    command.write_text(f"#!/bin/sh\nexec '{sys.executable}' -c '{run_line()}' \"$@\"\n")
    command.chmod(0o755)
    path = f"{command.parent}{os.pathsep}{os.environ['PATH']}"
    return User(user.root, {**user.env, "PATH": path, "PYTHONPATH": str(CODE)})


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("council rec", ["record", "recover"]),
        ("council st", ["start", "stats", "status"]),
        ("council completion ", ["bash", "fish", "zsh"]),
        ("council run --mode p", ["patchlist"]),
        ("council run --quo", ["--quorum"]),
    ],
)
def test_bash_completes(typed, offered, installed):
    words = typed.split(" ")
    code = f"""
        eval "$(council completion bash)"
        function=$(complete -p council | sed 's/.* -F \\([^ ]*\\) .*/\\1/')
        COMP_WORDS=({" ".join(word or "''" for word in words)}) COMP_CWORD={len(words) - 1}
        $function council
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    done = subprocess.run(
        ["bash", "-c", code], env=installed.environment, capture_output=True, text=True, timeout=60, check=True
    )
    assert sorted(done.stdout.split()) == offered


# ---- by hand ----


def by_hand(user: User, words: dict[str, str]) -> list[str]:
    """`next` and `record` until nothing is due; the turns in the order recorded."""
    recorded: list[str] = []
    while due := ok(user.council("next", "--json")).json["due"]:
        for row in due:
            assert Path(row["brief"]).read_text()
            reply = user.write("reply.md", words[row["turn"]])
            ok(user.council("record", user.session.name, row["turn"], "--file", reply, "--model", "some-model"))
            recorded.append(row["turn"])
    return recorded


@pytest.mark.parametrize("words", [agreed(), disputed()], ids=["agreed", "disputed"])
def test_the_loop_by_hand_gives_what_a_replay_of_the_same_words_gives(words, begun, tmp_path):
    assert by_hand(begun, words) == list(dict.fromkeys(sorted(words)))
    assert begun.council("status").out.split()[1] == "complete"
    ok(begun.council("verify"))
    assert len(list((begun.home / "RESEARCH").rglob("*.md"))) == 1
    twin = User(tmp_path / "twin")
    ok(twin.council("run", "Shall we?", "--speaker", "replay", "--from", script(twin, words)))
    assert without_receipts(derived_of(begun.session)) == without_receipts(derived_of(twin.session))
    told = (begun.session / "transcript.md").read_text()
    assert "| some-model |" in told
    assert told.count("*(entered by hand (no API receipt))*") == len(words) - 1
    assert told.count("| assistant, typed in |") == len(words)
    assert ok(begun.council("verify", "--json")).json["typed"] == sorted(words)


def test_next_prints_what_is_due_and_writes_the_briefs(begun):
    id = begun.session.name
    told = ok(begun.council("next", id)).out
    assert told.count(f"prompt: Run `council brief {id} 01-positions/") == 4
    prompt = f"Run `council brief {id} 01-positions/architect` and do what it prints."
    assert f"\n- Architect (Serena): model sonnet, prompt: {prompt}\n" in told
    found = ok(begun.council("next", id, "--json")).json
    assert found["done"] is False
    assert found["archived_to"] is None
    assert {key: found["due"][0][key] for key in ("turn", "seat", "name", "tier", "model", "person")} == {
        "turn": "01-positions/architect", "seat": "architect", "name": "Architect (Serena)", "tier": "sonnet",
        "model": "claude-sonnet-5-5", "person": False,
    }  # fmt: skip


def test_next_when_all_is_said(finished):
    found = ok(finished.council("next", "--json")).json
    assert (found["done"], found["due"]) == (True, [])
    assert Path(found["archived_to"]).exists()
    told = ok(finished.council("next")).out
    assert told.startswith("**Outcome:** agreed with dissent (3 of 4 agree)\n")
    assert told.endswith("Nothing is due: the debate is over.\n")


def test_one_turn_and_the_synthesis_are_shown_alone(finished):
    turn = "01-positions/engineer"
    data = (finished.session / f"turns/{turn}.md").read_text().partition("\n---\n")[2]
    assert ok(finished.council("show", "last", turn)).out == data + "\n"
    synthesis = (finished.session / "synthesis.md").read_text()
    assert ok(finished.council("show", "last", "synthesis")).out == synthesis
    ended = finished.council("show", "last", "01-positions/nobody")
    assert (ended.code, "is not recorded in" in ended.err, turn in ended.err) == (2, True, True)
    assert finished.council("show", "last", turn, "--json").code == 2


def test_a_synthesis_that_is_not_written_yet(begun):
    ended = begun.council("show", "last", "synthesis")
    assert (ended.code, "has no synthesis yet" in ended.err) == (2, True)


@pytest.mark.parametrize("way", ["file", "dash", "stdin"])
def test_a_reply_is_recorded_byte_for_byte(way, begun):
    reply = "  My words,\r\n\twith a tab and no end of line: 規 \u2028 — “”"
    place = begun.write("reply.md", reply)
    given = {"file": ("--file", str(place)), "dash": ("--file", "-"), "stdin": ()}[way]
    stdin = b"" if way == "file" else reply.encode()
    ok(begun.council("record", "last", "01-positions/engineer.md", *given, stdin=stdin))
    data = (begun.session / "turns/01-positions/engineer.md").read_bytes()
    assert data.endswith(b"\n---\n" + reply.encode())
    ok(begun.council("verify"))


@pytest.mark.parametrize(
    ("session", "turn", "stdin", "says"),
    [
        ("last", "01-positions/architect", b"Again.", "is recorded already, and a turn is never overwritten"),
        ("last", "02-challenges/engineer", b"Too soon.", "is not due in session"),
        ("last", "01-positions/security", b"Nobody.", "is not due in session"),
        ("last", "../../evil", b"Evil.", "is not due in session"),
        ("last", "01-positions/engineer", b"", "the reply is empty"),
        ("last", "01-positions/engineer", b" \n\t", "the reply is empty"),
        ("last", "01-positions/engineer", b"caf\xe9", "not valid UTF-8"),
        ("20200101-000000-00000000", "01-positions/engineer", b"Words.", "there is no session"),
    ],
)
def test_what_record_refuses(session, turn, stdin, says, begun):
    ok(begun.council("record", "last", "01-positions/architect", stdin=b"First."))
    before = picture(begun.home)
    ended = begun.council("record", session, turn, stdin=stdin)
    no_traceback(ended)
    assert ended.code == 2
    assert says in ended.err
    assert picture(begun.home) == before


def test_a_reply_file_that_is_missing(begun):
    ended = begun.council("record", "last", "01-positions/engineer", "--file", "none.md")
    assert ended.code == 2
    assert "none.md: No such file" in ended.err


def test_absence_is_recorded_by_hand_and_never_agrees(begun):
    words = agreed()
    for row in ok(begun.council("next", "--json")).json["due"]:
        ok(begun.council("record", "last", row["turn"], stdin=words[row["turn"]]))
    for row in ok(begun.council("next", "--json")).json["due"]:
        more = ("--absent", "on holiday") if row["seat"] == "designer" else ()
        ok(begun.council("record", "last", row["turn"], *more, stdin=words[row["turn"]]))
    facts = json.loads((begun.session / "convergence.json").read_text())
    assert facts["stances"]["designer"] is None
    assert facts["missing"] == ["designer"]
    assert facts["converged"] is False


def test_run_by_hand_says_how_to_go_on(user):
    ended = user.council("run", "Shall we?", "--speaker", "assistant")
    assert ended.code == 8
    assert ended.last.endswith(f"go on with: council next {user.session.name}")
    assert (user.session / "briefs/01-positions/engineer.md").exists()
    assert not (user.session / "turns").exists()


# ---- begun by one, ended by another ----


def test_begun_by_hand_ended_by_a_replay(begun):
    words = disputed()
    ok(begun.council("record", "last", "01-positions/engineer", stdin=words["01-positions/engineer"]))
    ok(begun.council("recover", "--speaker", "replay", "--from", script(begun, words)))
    facts = json.loads((begun.session / "metadata.json").read_text())
    assert (facts["speaker"], facts["continued_by"]) == ("assistant", "replay")
    transcript = (begun.session / "transcript.md").read_text()
    assert "| 01-positions/engineer | assistant, typed in |" in transcript
    assert "| 01-positions/architect | replay |" in transcript
    ok(begun.council("verify"))


def test_begun_by_hand_ended_by_an_api(begun):
    words = agreed()
    ok(begun.council("record", "last", "01-positions/engineer", stdin=words["01-positions/engineer"]))
    with api_for(begun, words) as api:
        configure(begun, api)
        ok(begun.council("recover", "--speaker", "anthropic"))
    assert len(api.prompts) == 8
    ok(begun.council("verify"))


def test_begun_by_an_api_ended_by_hand(user, tmp_path):
    words = disputed()
    answers = Table(user, words)
    answers.words = {turn: said if turn.startswith("01") else "" for turn, said in words.items()}
    with FakeApi(answers) as api:
        configure(user, api)
        assert user.council("run", "Shall we?").code == 3
    assert user.council("status").out.split()[1] == "paused"
    assert user.council("recover", "--speaker", "assistant").code == 8
    assert by_hand(user, words) == [turn for turn in sorted(words) if not turn.startswith("01")]
    twin = User(tmp_path / "twin")
    ok(twin.council("run", "Shall we?", "--speaker", "replay", "--from", script(twin, words)))
    assert without_receipts(derived_of(user.session)) == without_receipts(derived_of(twin.session))


def test_a_recovery_is_asked_for_in_words(begun):
    words = script(begun, agreed())
    ended = begun.council("run", f"Council recovery: {begun.session.name}", "--speaker", "replay", "--from", words)
    ok(ended)
    assert len(begun.sessions) == 1


@pytest.mark.parametrize("named", [lambda id: id, lambda id: id[:17], lambda _: "last"])
def test_a_replay_of_a_session_says_so(finished, named):
    first = finished.session
    ok(finished.council("run", "x", "--speaker", "replay", "--from", named(first.name)))
    (again,) = (folder for folder in finished.sessions if folder != first)
    assert (again / "topic.md").read_text() == "Shall we?"
    assert f"**Replay of:** {first.name}" in (again / "transcript.md").read_text()
    ours, theirs = derived_of(again), derived_of(first)
    assert [ours[name] for name in SAME_WORDS] == [theirs[name] for name in SAME_WORDS]


def test_a_debate_by_hand_is_finished_with_the_words_of_a_session_named_by_a_part_of_its_id(finished):
    first = finished.session
    assert finished.council("run", "Shall we?", "--speaker", "assistant", "--id", "second").code == 8
    ok(finished.council("recover", "second", "--speaker", "replay", "--from", first.name[:17]))
    lost = finished.council("recover", "second", "--speaker", "replay", "--from", "lost.yaml")
    assert (lost.code, "lost.yaml: no such file" in lost.err) == (2, True), lost.text


def test_a_debate_by_hand_that_is_over_is_recovered_without_a_speaker(begun):
    for turn, words in agreed().items():
        ok(begun.council("record", "last", turn, stdin=words))
    ok(begun.council("next"))
    (begun.session / "synthesis.md").unlink()
    again = begun.council("recover", ANTHROPIC_API_KEY="")
    ok(again)
    assert "speaker: assistant (the debate is over, so nobody has to speak)" in again.err
    assert (begun.session / "synthesis.md").is_file()


# ---- a person at the table ----

JUDGED = """---
name: judged
seats: {members: [architect, engineer]}
phases:
  - {name: positions, sees: nothing}
  - {name: ruling, seats: human, reply: {ruling: go | stop}}
---
"""
RULING = '{% include "_head.md.j2" %}\nRule.\n{% include "_tail.md.j2" %}\n'
WORDS = {"01-positions/architect": "Build it.", "01-positions/engineer": "Test it."}
TYPED = "I have heard both.\n\n## Ruling\ngo"


@pytest.fixture
def judged(user) -> User:
    user.write(".council/Workflows/Judged.md", JUDGED)
    user.write(".council/templates/ruling.md.j2", RULING)
    return user


def test_a_person_is_waited_for_without_a_terminal(judged):
    with api_for(judged, WORDS) as api:
        configure(judged, api)
        ended = judged.council("run", "Shall we?", "--workflow", "judged")
        no_traceback(ended)
        assert ended.code == 8
        assert ended.last.endswith(f"go on with: council next {judged.session.name}")
        assert judged.council("status").out.endswith(": waiting (for 02-ruling/human)\n")
        (row,) = ok(judged.council("next", "--json")).json["due"]
        assert (row["turn"], row["person"]) == ("02-ruling/human", True)
        ok(judged.council("record", "last", "02-ruling/human", stdin=TYPED))
    assert judged.council("status").out.split()[1] == "complete"
    assert "| 02-ruling/human | human | - |" in (judged.session / "transcript.md").read_text()


def test_a_person_is_asked_on_a_terminal(judged):
    code, seen = at_a_terminal(judged, b"g\n")
    assert code == 0, seen
    assert "Build it." in seen, "what the members said stands above"
    text = (judged.session / "turns/02-ruling/human.md").read_text()
    assert text.endswith("\n---\n## Ruling\ngo\n")
    assert 'speaker: "human"' in text
    assert judged.council("status").out.split()[1] == "complete"


def test_a_person_who_types_nothing_is_waited_for(judged):
    code, seen = at_a_terminal(judged, b"\x04")
    assert code == 8, seen
    assert judged.council("status").out.split()[1] == "waiting"
    assert not (judged.session / "turns/02-ruling").exists()


def at_a_terminal(user: User, typed: bytes) -> tuple[int, str]:
    """A debate on a terminal, where this is typed once the question is there; the exit code and what was shown."""
    ours, theirs = pty.openpty()
    with api_for(user, WORDS) as api:
        configure(user, api)
        process = user.spawn("run", "Shall we?", "-w", "judged", stdin=theirs, stdout=theirs, stderr=theirs)
        os.close(theirs)
        seen, asked = b"", False
        while piece := read(ours):
            seen += piece
            if not asked and b"[G]o  [S]top\r\n> " in seen:
                asked = True
                os.write(ours, typed)
        os.close(ours)
        return process.wait(timeout=60), seen.decode()


def read(terminal: int) -> bytes:
    """What a terminal shows next; nothing once nobody writes to it any more."""
    try:
        return os.read(terminal, 65536)
    except OSError:
        return b""
