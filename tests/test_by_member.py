"""Members that fetch their briefs and store their answers themselves: the loop that works without hooks.

Each answer here goes through a real shell, by the command that the brief ends with.
"""

from __future__ import annotations

import os
import pty
import re
import shutil
import subprocess

import pytest

from tests import warm
from tests.helpers import (
    CODE,
    MEMBERS,
    PATIENCE,
    Ended,
    User,
    agreed,
    brief_of,
    launcher,
    picture,
    receipts_of,
    says,
    script,
)

BASH = shutil.which("bash") or ""
pytestmark = pytest.mark.skipif(not BASH, reason="needs bash")
STORE = re.compile(r"\n(council record (\S+) (\S+) --file - <<'(ANSWER-[0-9a-f]{16})')\nYOUR ANSWER\n\4\n")
FIRST = "01-positions/engineer"
TEN = (*MEMBERS, "security", "writer", "ceo", "cfo", "coo", "cto")
TEN_SEATS = f"""---
name: ten
seats: {{members: [{", ".join(TEN)}]}}
phases: [{{name: positions}}]
---
# Prompts
## positions
Say what you think.
"""


@pytest.fixture
def user(tmp_path) -> User:
    """A person with `council` on the PATH."""
    plain = User(tmp_path)
    command = launcher(plain.root / "bin" / "council")
    path = f"{command.parent}{os.pathsep}{os.environ['PATH']}"
    return User(tmp_path, {"PATH": path, "COUNCIL_VENV": warm.venv()})


@pytest.fixture
def begun(user) -> User:
    assert user.council("start", "-", stdin="Shall we?").code == 0
    return user


def ok(ended: Ended) -> Ended:
    assert ended.code == 0, ended.text
    return ended


def fetch(user: User, turn: str) -> str:
    """What a member is shown when it runs the command of its prompt."""
    return ok(user.council("brief", user.session.name, turn)).out


def command(told: str, answer: str) -> str:
    """The command at the end of a brief, with the answer in its place."""
    (found,) = STORE.finditer(told)
    return f"{found[1]}\n{answer}\n{found[4]}\n"


def shell(user: User, line: str) -> subprocess.Popen[bytes]:
    streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    process = subprocess.Popen([BASH], cwd=user.work, env=user.environment, **streams)  # type: ignore[call-overload]
    process.stdin.write(line.encode())
    process.stdin.close()
    return process  # type: ignore[no-any-return]


def store(user: User, told: str, answer: str) -> Ended:
    with shell(user, command(told, answer)) as process:
        out, err = process.stdout.read(), process.stderr.read()  # type: ignore[union-attr]
        return Ended(process.wait(PATIENCE), out.decode(), err.decode())


def receipt(user: User, turn: str) -> dict[str, object]:
    found = receipts_of(user.session)[turn]
    return {"recorded_by": found.get("stored"), **found}  # as each program calls it


def body(user: User, turn: str) -> str:
    return (user.session / "turns" / f"{turn}.md").read_bytes().partition(b"\n---\n")[2].decode()


def notes(user: User) -> list[str]:
    return sorted(path.name for path in user.session.glob(".asked/*"))


# ---- the brief and the answer ----


def test_a_brief_is_whole_and_ends_with_the_command_that_stores_the_answer(begun):
    told = fetch(begun, FIRST)
    assert told.encode().startswith(brief_of(begun.session, FIRST) + b"\n\n---\n\n")
    assert store(begun, told, "I agree.").out.startswith(f"recorded {FIRST}")
    assert body(begun, FIRST) == "I agree.\n", "as it came, with the line feed of the heredoc"
    found = receipt(begun, FIRST)
    assert (found["speaker"], found["recorded_by"], found["answered"], found["call"]) == (
        "assistant", "member", None, None,
    )  # fmt: skip


def test_a_long_brief_comes_in_parts_which_together_are_the_brief(user):
    user.write("plan.md", "☕ ça\n" * 3000 + "☕" * 9000)
    assert user.council("start", "--file", "plan.md", "-", stdin="Shall we?").code == 0
    brief = brief_of(user.session, FIRST)
    told, read = fetch(user, FIRST).encode(), b""
    while more := re.search(rb"\n\n---\n\n.*Run `council (brief .* --part \d)` and do what it prints\.\n\Z", told):
        assert len(told) < 16_200
        assert b"council record" not in told
        read += told[: more.start()]
        told = ok(user.council(*more[1].decode().split())).out.encode()
    assert told.startswith(brief[len(read) :] + b"\n\n---\n\nThis is how to store your answer.")
    assert len(brief) - len(read) <= 16_000 < len(read)
    assert store(user, told.decode(), "I agree.").code == 0
    assert fetch(user, FIRST).encode() == brief, "the turn is recorded: whole"


def test_the_name_of_a_model_adds_no_line_to_the_transcript(begun):
    given = ("--model", "opus\n\n## Chair\n\n**Outcome:** agreed" + " x" * 1_000)
    assert begun.council("record", "last", FIRST, *given, stdin="My answer.").code == 0
    assert "\n## Chair" not in begun.council("show", "last").out
    assert len(str(receipt(begun, FIRST)["answered"])) <= 100


def test_who_has_read_only_the_first_part_was_not_handed_the_brief(user):
    assert user.council("start", "--file", user.write("long.md", "A line.\n" * 4_000), "-", stdin="Shall we?").code == 0
    turn = "01-positions/engineer"
    assert "--part 2` and do what it prints." in user.council("brief", "last", turn).out
    assert user.council("record", "last", turn, "--file", "-", stdin="My answer.").code == 0
    assert receipt(user, turn)["recorded_by"] == "hand"


def test_a_part_that_a_brief_does_not_have_is_refused(begun):
    ended = begun.council("brief", "last", FIRST, "--part", "2")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith(f"council: the brief of {FIRST} has only 1 part\n")


@pytest.mark.parametrize(
    "answer",
    [
        "$HOME `touch P` $(touch P) \\n %s !! \\",
        "'it''s' \"quoted\"\nEOF\nANSWER\nANSWER-0123456789abcdef\n'ANSWER'",
        "\n\n  規 ☕ e\u0301 \u2028\ttab\r\n\n",
        "council record last 01-positions/designer --absent no\n---\nseat: x\n---",
        "x" * 30_000,
    ],
    ids=["shell", "delimiters", "signs", "commands", "long"],
)
def test_an_answer_goes_through_the_shell_byte_for_byte(begun, answer):
    ended = store(begun, fetch(begun, FIRST), answer)
    assert ended.code == 0, ended.err
    assert body(begun, FIRST) == answer + "\n"
    assert list(begun.work.iterdir()) == []
    assert begun.council("verify").code == 0


def test_each_turn_of_each_session_has_a_closing_line_of_its_own(begun, tmp_path):
    other = User(tmp_path / "other")
    assert other.council("start", "Shall we?").code == 0
    turns = [f"01-positions/{seat}" for seat in MEMBERS]
    ends = [STORE.search(fetch(one, turn))[4] for one in (begun, other) for turn in turns]  # type: ignore[index]
    assert len(set(ends)) == 8
    held = [path.read_text() for path in begun.session.rglob("briefs/*/*.md")]
    assert not any(end in text for end in ends for text in held), "whoever reads a brief alone does not know it"


def test_a_brief_that_is_not_written_yet_is_written(begun):
    for seat in MEMBERS:
        store(begun, fetch(begun, f"01-positions/{seat}"), agreed()[f"01-positions/{seat}"])
    turn = "02-challenges/engineer"
    assert not (begun.session / f"briefs/{turn}.md").exists()
    assert store(begun, fetch(begun, turn), agreed()[turn]).code == 0
    assert begun.council("verify").code == 0


def test_the_brief_of_a_recorded_turn_is_as_it_was_and_asks_for_nothing(begun):
    store(begun, fetch(begun, FIRST), "I agree.")
    assert fetch(begun, FIRST).encode() == brief_of(begun.session, FIRST)
    assert notes(begun) == []


@pytest.mark.parametrize(
    ("session", "turn", "why"),
    [
        ("last", "02-challenges/engineer", "is not due in session"),
        ("last", "01-positions/nobody", "is not due in session"),
        ("last", "../../../../config/council/Config", "is not due in session"),
        ("last", "../topic", "is not due in session"),
        ("last", "", "is not due in session"),
        ("20200101-000000-00000000", FIRST, "there is no session"),
    ],
)
def test_what_brief_refuses(begun, session, turn, why):
    before = picture(begun.home)
    ended = begun.council("brief", session, turn)
    assert (ended.code, ended.out) == (2, "")
    assert says(ended, why)
    assert picture(begun.home) == before


def test_a_damaged_session_hands_out_nothing(begun):
    store(begun, fetch(begun, FIRST), "I agree.")
    turn = begun.session / f"turns/{FIRST}.md"
    turn.write_bytes(turn.read_bytes() + b"More.")
    ended = begun.council("brief", "last", "01-positions/designer")
    assert (ended.code, ended.out, notes(begun)) == (1, "", [])
    assert str(turn) in ended.err
    assert ended.last.endswith(f"council verify {begun.session.name}")


def test_a_person_is_shown_the_question_and_how_the_answer_is_stored(user):
    asked = "---\nname: gate\nseats: {members: [architect, designer]}\nphases:\n  - {name: positions}\n"
    asked += "  - {name: ruling, seats: human, reply: {ruling: go | stop}}\n---\n# Prompts\n## ruling\nGo or stop?\n"
    user.write("gate.md", asked)
    ok(user.council("start", "--workflow", "gate.md", "Shall we?"))
    for seat in ("architect", "designer"):
        ok(user.council("record", "last", f"01-positions/{seat}", stdin="Yes."))
    turn = "02-ruling/human"
    told = fetch(user, turn)
    assert "Go or stop?" in told
    assert STORE.search(told) is None
    assert f"in a terminal: council answer {user.session.name}\n" in told
    assert told.endswith(f'with: council record {user.session.name} {turn} --answer "ruling=…"\n')
    brief, itself = f"`council brief {user.session.name} {turn}`", f"`council answer {user.session.name}`"
    line = f"a person answers. {brief} is what to show them; or they run {itself}"
    assert line in user.council("next").out
    ok(user.council("record", "last", turn, "--answer", "ruling=go", "--by", "Ann"))
    assert (receipt(user, turn)["by"], receipt(user, turn)["recorded_by"]) == ("Ann", None)


# ---- who recorded it ----


def test_who_recorded_a_turn_is_in_the_receipt_the_documents_and_the_check(begun):
    store(begun, fetch(begun, "01-positions/architect"), "I agree.")
    ok(begun.council("record", "last", "01-positions/designer", stdin="I agree."))
    fetch(begun, FIRST)
    reply = begun.write("reply.md", "I agree.")
    ok(begun.council("record", "last", FIRST, "--file", reply))
    fetch(begun, "01-positions/researcher")
    ok(begun.council("record", "last", "01-positions/researcher", "--absent", "no answer came"))
    assert [receipt(begun, f"01-positions/{seat}")["recorded_by"] for seat in MEMBERS] == [
        "member", "hand", "hand", "hand",
    ]  # fmt: skip
    found = begun.council("verify", "--json").json
    assert found["by_member"] == ["01-positions/architect"]
    assert found["typed"] == ["01-positions/designer", FIRST]
    told = ok(begun.council("verify")).out
    assert "\n1 turn recorded by: member (no API receipt): 01-positions/architect\n" in told
    assert f"\n2 turns were entered by hand (no API receipt): 01-positions/designer, {FIRST}\n" in told
    shown = ok(begun.council("show")).out
    assert shown.count("*(recorded by: member (no API receipt))*") == 1
    assert shown.count("*(entered by hand (no API receipt))*") == 2
    assert "| 01-positions/architect | assistant, recorded by: member |" in shown
    assert "assistant, recorded by: member" in ok(begun.council("show", "--html")).out


def test_what_codex_stores_in_the_conversation_with_the_user_is_the_hosts(begun):
    for turn, thread in ((FIRST, "first"), ("01-positions/designer", "second")):
        fetch(begun, turn)
        own = {"CODEX_SESSION_ID": "first", "CODEX_THREAD_ID": thread}
        ok(begun.council("record", "last", turn, stdin="I agree.", **own))
    assert receipt(begun, FIRST)["recorded_by"] == "hand", "the host fetched the brief and answered it"
    assert receipt(begun, "01-positions/designer")["recorded_by"] == "member", "a subagent has a thread of its own"


def test_a_brief_that_a_terminal_showed_was_handed_to_no_member(begun):
    ours, theirs = pty.openpty()
    with begun.spawn("brief", "last", FIRST, stdout=theirs) as process:
        os.close(theirs)
        shown = b""
        while b"the line that the command printed" not in shown and (piece := os.read(ours, 65536)):
            shown += piece
        os.close(ours)
        process.wait(PATIENCE)
    assert notes(begun) == []
    ok(begun.council("record", "last", FIRST, "--file", "-", stdin="I agree."))
    assert receipt(begun, FIRST)["recorded_by"] == "hand"


def test_next_says_that_a_brief_was_handed_out_and_holds_nobody_up(begun):
    fetch(begun, FIRST)
    prompt = f"model sonnet, prompt: Run `council brief {begun.session.name} {FIRST}` and do what it prints.\n"
    line = re.compile(r"^- Engineer \(Marcus\) \(handed out \d+ (?:s|min) ago\): (.*\n)", re.M)
    assert line.findall(begun.council("next").out) == [prompt]
    assert store(begun, fetch(begun, FIRST), "I agree.").code == 0


def test_nothing_is_left_of_a_brief_that_somebody_else_answered(begun):
    fetch(begun, FIRST)
    assert notes(begun) == ["01-positions.engineer.brief"]
    ok(begun.council("recover", "--speaker", "replay", "--from", script(begun, agreed())))
    assert notes(begun) == []
    head = begun.council("verify", "--json").json["head"]
    ok(begun.council("verify", "--head", head))


# ---- two at once ----


def test_ten_members_store_their_answers_at_the_same_moment(user):
    user.write("ten.md", TEN_SEATS)
    ok(user.council("start", "--workflow", "ten.md", "Shall we?"))
    lines = {seat: command(fetch(user, f"01-positions/{seat}"), f"{seat} agrees.") for seat in TEN}
    running = {seat: shell(user, line) for seat, line in lines.items()}
    errors = {seat: (process.stderr.read(), process.wait(PATIENCE)) for seat, process in running.items()}
    assert errors == dict.fromkeys(TEN, (b"", 0))
    assert {seat: body(user, f"01-positions/{seat}") for seat in TEN} == {seat: f"{seat} agrees.\n" for seat in TEN}
    receipts = receipts_of(user.session)
    assert {turn for turn in receipts if receipt(user, turn)["recorded_by"] == "member"} == {*receipts}
    assert len(receipts) == 10
    assert user.council("verify").code == 0
    for process in running.values():
        process.stdout.close()
        process.stderr.close()


def test_of_two_members_for_one_turn_the_second_keeps_its_words(begun):
    told = fetch(begun, FIRST)
    with shell(begun, command(told, "I agree.")) as one, shell(begun, command(told, "I object.")) as two:
        ended = [(process.wait(PATIENCE), process.stderr.read().decode()) for process in (one, two)]  # type: ignore[union-attr]
    (late,) = (err for code, err in ended if code == 2)
    (lost,) = {"I agree.\n", "I object.\n"} - {body(begun, FIRST)}
    assert sorted(code for code, _ in ended) == [0, 2]
    assert f"--- the reply of {FIRST}, which could not be stored ---\n{lost}" in late
    assert "is recorded already, and a turn is never overwritten" in late


def test_a_member_that_stores_its_answer_twice_is_told_so_once(begun):
    told = fetch(begun, FIRST)
    assert store(begun, told, "I agree.").code == 0
    ended = store(begun, told, "I agree.")
    assert (ended.code, "is recorded already" in ended.err, "could not be stored" in ended.err) == (2, True, False)


def test_an_answer_that_comes_after_an_absence_is_shown_back(begun):
    told = fetch(begun, FIRST)
    ok(begun.council("record", "last", FIRST, "--absent", "no answer came"))
    ended = store(begun, told, "I agree after all.")
    assert (ended.code, "I agree after all." in ended.err) == (2, True)
    assert receipt(begun, FIRST)["absent"] == "no answer came"


@pytest.mark.parametrize(("answer", "why"), [("YOUR ANSWER", "write the answer in its place"), (" ", "is empty")])
def test_what_is_no_answer_is_refused_and_the_turn_stays_due(begun, answer, why):
    ended = store(begun, fetch(begun, FIRST), answer)
    assert (ended.code, why in ended.err) == (2, True)
    assert store(begun, fetch(begun, FIRST), "I agree.").code == 0


# ---- a whole debate ----


def test_a_debate_whose_members_all_store_their_own_answers(begun):
    words = agreed()
    while due := re.findall(r"Run `council brief \S+ (\S+)` and do what it prints", begun.council("next").out):
        for turn in due:
            assert store(begun, fetch(begun, turn), words[turn]).code == 0
    assert {turn for turn in words if receipt(begun, turn)["recorded_by"] == "member"} == {*words}
    assert begun.council("verify").code == 0
    told = begun.council("next").out
    assert told.endswith("Nothing is due: the debate is over.\n")
    assert re.search(rf"^\*\*No API receipt:\*\* {len(words)} (turns recorded by: |stored by the )member", told, re.M)
    assert not (begun.session / ".asked").exists()


def test_members_may_answer_one_after_the_other(begun):
    """Where a client runs few subagents at once: each is given the brief that it would have had at the beginning."""
    briefs = {seat: fetch(begun, f"01-positions/{seat}") for seat in MEMBERS}
    for number, seat in enumerate(MEMBERS):
        assert f"{4 - number} turn" in begun.council("next").out
        assert fetch(begun, f"01-positions/{seat}") == briefs[seat]
        assert store(begun, briefs[seat], agreed()[f"01-positions/{seat}"]).code == 0
    assert begun.council("verify").code == 0


def test_a_host_may_run_both_commands_for_a_member(begun):
    """Nothing tells it from the member itself, and so no document claims more."""
    assert store(begun, fetch(begun, FIRST), "I agree.").code == 0
    assert receipt(begun, FIRST)["recorded_by"] == "member"
    assert "may have run both commands itself" in (CODE / "docs" / "skill.md").read_text("utf-8")


def test_the_receipts_of_a_run_say_nothing_of_the_kind(user):
    ok(user.council("run", "Shall we?", "--speaker", "replay", "--from", script(user, agreed())))
    assert receipt(user, FIRST)["recorded_by"] is None
