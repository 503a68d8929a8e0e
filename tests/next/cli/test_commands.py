"""Every command on sessions that a replay held: what it prints, and the code that it ends with."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from council.next.record.session import Session
from tests.next.cli.users import User
from tests.next.protocols.held import KIT


@pytest.fixture
def held(user: User, agreed: Path) -> str:
    """The id of a debate that is over."""
    assert user.replay(agreed, "Redis or PostgreSQL?").code == 0
    return user.session.name


def test_a_debate_is_held_shown_and_kept(user: User, agreed: Path) -> None:
    ended = user.replay(agreed, "Redis or PostgreSQL?")
    assert ended.code == 0
    for line in (
        "Question    Redis or PostgreSQL?",
        "Answer      Keep PostgreSQL.",
        "Outcome     agreed (4 of 4 sign R1)",
    ):
        assert line in ended.out
    assert f"council show {user.session.name}" in ended.out
    assert "9 of 9 turns are a replay" in ended.out
    assert "replay speaks" in ended.err
    assert "04-synthesis/chair" in ended.err
    assert {"state.json", "transcript.md", "synthesis.md", "round-1.md"} <= {one.name for one in user.session.iterdir()}
    assert list((user.home / "RESEARCH").glob("*/*_COUNCIL_redis-or-postgresql.md"))


def test_every_dissent_is_in_the_result(user: User, written: Path) -> None:
    ended = user.replay(written / "dissent.yaml", "Redis or PostgreSQL?")
    assert "Objects     Designer (Aditi): the table will be full by June" in ended.out
    assert "Confidence  medium (the writer says high; what was counted allows no more)" in ended.out


def test_an_answer_without_a_majority_is_called_an_opinion(user: User, written: Path) -> None:
    ended = user.replay(written / "split.yaml", "Redis or PostgreSQL?")
    assert ended.code == 0
    assert "(the writer's opinion, as no answer leads) Keep PostgreSQL." in ended.out


def test_json_is_one_object_and_nothing_else(user: User, agreed: Path) -> None:
    ended = user.replay(agreed, "--json", "Redis or PostgreSQL?")
    assert ended.json["status"] == "complete"
    assert ended.json["outcome"]["kind"] == "agreed"


def test_quiet_leaves_the_result(user: User, agreed: Path) -> None:
    ended = user.replay(agreed, "--quiet", "Redis or PostgreSQL?")
    assert "Answer      Keep PostgreSQL." in ended.out
    assert ended.err == "replay speaks (named; free)\n"


def test_a_session_is_replayed_from_itself(user: User, held: str) -> None:
    ended = user.council("run", "--speaker", "replay", "--from", held)
    assert ended.code == 0
    first, second = user.sessions
    assert (second / "topic.md").read_bytes() == (first / "topic.md").read_bytes()
    assert [path.name for path in sorted(second.glob("turns/*/*"))] == [
        path.name for path in sorted(first.glob("turns/*/*"))
    ]


def test_the_next_debate_begins_with_what_the_last_came_to(user: User, held: str) -> None:
    assert user.council("start", "--from", held, "And how fast?").code == 0
    given = [path.read_text("utf-8") for path in user.sessions[-1].glob("attached/*")]
    assert len(given) == 1
    assert "Keep PostgreSQL." in given[0]


def test_without_a_question_it_is_the_same_one_and_no_call(user: User, agreed: Path) -> None:
    assert user.replay(agreed, "Council: Council with security: is it wise?").code == 0
    assert user.council("start", "--from", "last").code == 0
    assert (user.sessions[-1] / "topic.md").read_text("utf-8") == "Council with security: is it wise?"
    assert "security" not in json.loads((user.sessions[-1] / "metadata.json").read_text("utf-8"))["members"]
    assert user.council("start", "--from", user.sessions[0].name, "").code == 2, "an empty question is none"


def test_a_replay_that_waited_goes_on_as_it_is_printed(user: User, agreed: Path, held: str) -> None:
    for source in (agreed, held):
        ended = user.replay(Path(source), "--gate", "challenges", "Redis or PostgreSQL?")
        assert ended.code == 8, ended.err
        assert user.council("answer", "last", "--answer", "gate=approve").code == 0
        ended = user.council("recover", "last")
        assert ended.code == 0, ended.err


def test_every_json_names_the_session_alike(user: User, held: str) -> None:
    for words in (("status",), ("show",), ("next",), ("verify",), ("recover",)):
        assert user.council(*words, "--json").json["session_id"] == held, words
    assert [row["session_id"] for row in user.council("list", "--json").json] == [held]


@pytest.mark.parametrize(
    ("topic", "why"),
    [
        ("Quick council (board): Q?", "quick and board at once"),
        ("Council (patchlist, deliberative): Q?", "at once; choose one"),
        ("Council with 2 rounds: Q?", "--rounds 2"),
        ("Council (UK): who pays?", 'no workflow or mode "uk"'),
        ("Quik council: Q?", 'did you mean "quick"?'),
    ],
)
def test_a_call_of_what_there_is_not_is_refused(user: User, topic: str, why: str) -> None:
    ended = user.council("start", topic)
    assert ended.code == 2, ended
    assert why in ended.err
    assert user.sessions == []


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ((), "## Council Debate: Redis or PostgreSQL?"),
        (("synthesis",), "Keep PostgreSQL."),
        (("round", "2"), "Responses & Challenges"),
        (("01-positions/engineer",), "What engineer would do."),
        (("--html",), "<!doctype html>"),
        (("--json",), '"debate_id"'),
        (("synthesis", "--json"), '"turn": "04-synthesis/chair"'),
        (("round", "1", "--json"), '"round_number": 1'),
        (("01-positions/engineer", "--json"), '"turn": "01-positions/engineer"'),
    ],
)
def test_show_prints_the_debate_or_a_part_of_it(user: User, held: str, words: tuple[str, ...], found: str) -> None:
    ended = user.council("show", held, *words)
    assert ended.code == 0
    assert found.casefold() in ended.out.casefold()
    if words and not words[0].startswith("-"):
        assert user.council("show", *words).out == ended.out  # of the newest session


def test_show_writes_a_file_but_over_none(user: User, held: str) -> None:
    page = user.work / "debate.html"
    assert user.council("show", held, "--html", "-o", page).code == 0
    assert page.read_text("utf-8").lower().startswith("<!doctype html>")
    page.write_text("mine")
    ended = user.council("show", held, "--html", "-o", page)
    assert (ended.code, page.read_text()) == (2, "mine")
    assert "--force" in ended.err
    assert user.council("show", held, "--html", "-o", page, "--force").code == 0
    assert user.council("show", held, "-o", user.work / "no" / "folder").code == 6


def test_verify_proves_against_a_noted_head_and_finds_a_change(user: User, held: str) -> None:
    head = user.council("verify", held, "--json").json["head"]
    assert user.council("verify", held, "--head", head).code == 0
    assert user.council("verify", held, "--head", "0" * 64).code == 5
    turn = user.session / "turns" / "01-positions" / "engineer.md"
    turn.write_text(turn.read_text("utf-8").replace("What engineer", "What nobody"), "utf-8")
    ended = user.council("verify", held)
    assert ended.code == 5
    assert "01-positions" in ended.out
    for command in ("show", "build", "next"):
        ended = user.council(command, held)
        assert ended.code == 1
        assert str(user.session / "turns") in ended.err
        assert "Traceback" not in ended.err


def test_build_makes_the_same_bytes_again(user: User, held: str) -> None:
    made = {path.name: path.read_bytes() for path in user.session.glob("*.md")} | {
        "state.json": (user.session / "state.json").read_bytes()
    }
    for name in ("transcript.md", "synthesis.md", "state.json", "round-1.md"):
        (user.session / name).unlink()
    assert user.council("build", held).code == 0
    assert {name: (user.session / name).read_bytes() for name in made} == made


def test_archive_copies_the_transcript_again(user: User, held: str) -> None:
    (copy,) = (user.home / "RESEARCH").glob("*/*.md")
    data = copy.read_bytes()
    copy.unlink()
    ended = user.council("archive", held)
    assert ended.code == 0
    assert copy.read_bytes() == data


def test_list_and_status_say_where_each_session_is(user: User, held: str) -> None:
    assert user.council("start", "-w", "quick", "Yes or no?").code == 0
    listed = user.council("list", "--json").json
    assert [(row["topic"], row["status"], row["kind"]) for row in listed] == [
        ("Yes or no?", "waiting", None),
        ("Redis or PostgreSQL?", "complete", "agreed"),
    ]
    assert [row["session_id"] for row in user.council("list", "--outcome", "agreed", "--json").json] == [held]
    assert user.council("list", "-n", "1").out.count("\n") == 2
    assert user.council("status", held, "--json").json["kind"] == "agreed"
    assert f"{held}: complete (agreed)" in user.council("status", held[-8:]).out


def test_a_debate_by_hand_waits_for_replies_until_a_program_was_called(user: User) -> None:
    id = user.council("start", "--json", "Yes or no?").json["session_id"]
    ended = user.council("status", id)
    assert f"{id}: waiting for replies by hand" in ended.out
    assert f"next: `council next {id}`" in ended.err
    assert user.council("answer").code == 2, "no person is asked"
    session = Session(user.session)
    with session.hold():
        session.begin_attempt("01-positions/engineer", speaker="api")  # of a run that was killed
    assert f"{id}: interrupted" in user.council("status", id).out


def test_a_damaged_session_is_listed_and_named(user: User, held: str) -> None:
    (user.session / "metadata.json").write_text("{")
    assert user.council("list", "--json").json[0]["status"] == "damaged"
    ended = user.council("status", held)
    assert ended.code == 1
    assert "metadata.json" in ended.err


def test_a_document_is_filed_in_the_project_or_where_it_is_told(user: User, agreed: Path, held: str) -> None:
    ended = user.council("decision", held)
    assert ended.code == 2
    assert "--to" in ended.err
    assert user.council("decision", held, "--dry-run", "--to", user.work / "adr").code == 0
    assert not (user.work / "adr").exists()
    assert user.council("decision", held, "--to", user.work / "adr").code == 0
    assert user.council("decision", held, "--to", ".").code == 0
    assert len([*user.work.glob("adr-0001-*.md")]) == 1
    (filed,) = (user.work / "adr").iterdir()
    filed.write_text(filed.read_text("utf-8") + "mine\n", "utf-8")
    ended = user.council("decision", held, "--to", user.work / "adr")
    assert "--new" in ended.err
    assert filed.read_text("utf-8").endswith("mine\n")
    (user.work / ".git").mkdir()
    assert user.replay(agreed, "Redis or PostgreSQL?").code == 0
    assert user.council("decision").code == 0
    assert len([*(user.work / "docs" / "decisions").iterdir()]) == 1


def test_a_debate_by_hand_is_the_debate_of_a_run(user: User, held: str) -> None:
    said = {f"{path.parent.name}/{path.stem}": path for path in user.session.glob("turns/*/*.md")}
    bodies = {id: path.read_text("utf-8").partition("\n---\n")[2].lstrip("\n") for id, path in said.items()}
    started = user.council("start", "--json", "Redis or PostgreSQL?").json
    id = started["session_id"]
    assert [one["turn"] for one in started["due"]] == [f"01-positions/{seat}" for seat in SEATS]
    while not (due := user.council("next", id, "--json").json)["done"]:
        for one in due["due"]:
            brief = user.council("brief", id, one["turn"]).out
            assert f"council record {id} {one['turn']} --file - <<'ANSWER-" in brief
            ended = user.council("record", id, one["turn"], "--model", "m", stdin=bodies[one["turn"]])
            assert ended.out.startswith(f"recorded {one['turn']}; due now:")
    assert user.council("status", id, "--json").json["kind"] == "agreed"
    again = user.council("record", id, "01-positions/engineer", stdin="other words")
    assert again.code == 2
    assert "recorded already" in again.err


SEATS = ("architect", "designer", "engineer", "researcher")


def test_answers_can_be_given_by_name(user: User) -> None:
    id = user.council("start", "--json", "Redis or PostgreSQL?").json["session_id"]
    turn = "01-positions/engineer"
    wrong = user.council("record", id, turn, "--answer", "recomendation=x")
    assert wrong.code == 2
    assert 'did you mean "recommendation"?' in wrong.err
    given = user.council("record", id, turn, "--answer", "recommendation=Keep it.", "--answer", "normative=no")
    assert given.out.startswith(f"recorded {turn}; due now:")
    assert user.council("record", id, "01-positions/designer", "--absent", "on holiday").code == 0


def test_a_turn_is_shown_before_its_round_is_whole(user: User) -> None:
    id = user.council("start", "--json", "Redis or PostgreSQL?").json["session_id"]
    turn = "01-positions/engineer"
    assert user.council("record", id, turn, stdin="Only words.").code == 0
    assert user.council("show", id, turn).out == "Only words.\n"
    assert user.council("show", id, turn, "--json").json == {"turn": turn, "content": "Only words."}
    for seat in SEATS:
        body = "Only words.\n\n## Recommendation\nKeep it.\n\n## Normative\nno\n"
        assert user.council("record", id, f"01-positions/{seat}{'.2' * (seat == 'engineer')}", stdin=body).code == 0
    assert user.council("show", id, turn, "--json").json["answers"]["recommendation"] == "Keep it."
    assert user.council("show", id, f"{turn}.2", "--json").json["content"].startswith("Only words.")


def test_a_long_brief_comes_in_parts_that_make_it_up(user: User) -> None:
    document = user.write("long.md", "".join(f"line {number} of a long document\n" for number in range(1_500)))
    id = user.council("start", "--json", "--file", document.name, "Is it good?").json["session_id"]
    turn, whole = "01-positions/engineer", ""
    for part in range(1, 9):
        text = user.council("brief", id, turn, "--part", str(part)).out
        if "This is how to store your answer" in text:
            whole += text.partition("\n\n---\n\nThis is how")[0]
            break
        shown, _, rest = text.partition(f"\n\n---\n\nThis is part {part} of")
        assert f"`council brief {id} {turn} --part {part + 1}`" in rest
        whole += shown
    assert part > 1
    folder = user.session / "briefs" / "01-positions"
    assert whole.strip() == ((folder / "shared.md").read_text() + (folder / "engineer.md").read_text()).strip()
    assert user.council("brief", id, turn, "--part", "99").code == 2


def test_what_a_person_is_asked_is_answered_from_elsewhere(user: User, agreed: Path) -> None:
    waits = user.replay(agreed, "--gate", "positions", "Redis or PostgreSQL?")
    assert waits.code == 8
    assert "council answer" in waits.err
    id = user.session.name
    assert user.council("status", id).out.startswith(f"{id}: waiting for 01-positions-gate/human")
    for words, why in [
        ((), "nobody can be asked here"),
        (("--answer", "gate=maybe"), "approve, reject or veto"),
        (("--turn", "01-positions/architect"), "does not wait for a person"),
    ]:
        ended = user.council("answer", *words)
        assert ended.code in (2, 8)
        assert why in ended.err
    given = user.council("answer", "--answer", "gate=approve", "--by", "Ada")
    assert given.code == 0
    turn = (user.session / "turns" / "01-positions-gate" / "human.md").read_text("utf-8")
    assert 'by: "Ada"' in turn
    assert user.council("answer", id, "--answer", "gate=veto").code == 2
    assert user.council("recover", id, "--speaker", "replay", "--from", agreed).code == 0


def test_pause_needs_a_run(user: User, held: str) -> None:
    ended = user.council("pause", held)
    assert ended.code == 2
    assert "is not running" in ended.err


def test_a_sentence_calls_a_council(user: User, agreed: Path, held: str) -> None:
    assert user.council("start", "Council with security: is it safe?").code == 0
    facts = json.loads((user.sessions[-1] / "metadata.json").read_text())
    assert facts["topic"] == "is it safe?"
    assert "security" in facts["members"]
    ended = user.council("run", f"Council recovery: {held}", "--json")
    assert ended.code == 0
    assert ended.json["debate_id"] == held
    assert user.council("run", "Council with security").code == 2


def test_each_workflow_is_a_command_with_its_own_options(user: User) -> None:
    shown = user.council("board", "-h").out
    assert "-o max_rounds=10" in shown
    assert 'council board "' in shown
    ended = user.council("board", "-o", "max_round=2", "Sell it?")
    assert ended.code == 2
    assert 'did you mean "max_rounds"?' in ended.err


def test_help_is_there_for_everything(user: User) -> None:
    short = user.council("-h")
    assert short.code == 0
    assert len(short.out.splitlines()) < 30
    whole = user.council("help", "all").out
    for command in ("run", "recover", "pause", "answer", "list", "status", "show", "verify", "build", "archive"):
        assert f"\n  {command} " in whole
        assert user.council("help", command).out == user.council(command, "-h").out
    assert "130 and 143" in whole
    assert "ANTHROPIC_API_KEY" in user.council("help", "keys").out


def test_a_projects_own_workflow_is_a_command(user: User) -> None:
    text = (KIT / "Quick.md").read_text("utf-8").replace("name: quick", "name: mine", 1)
    folder = user.work / ".council" / "Workflows"
    folder.mkdir(parents=True)
    (folder / "mine.md").write_text(text, "utf-8")
    assert " mine" in user.council("--help", CI="").out
    assert "-o words=50-150" in user.council("mine", "--help", CI="").out
    assert " mine" not in user.council("--help", CI="true").out


def test_a_reply_that_is_refused_is_given_back(user: User) -> None:
    """Of two answers to one turn the first counts. The second may be nowhere else."""
    assert user.council("start", "Redis or PostgreSQL?").code == 0
    id, turn = user.session.name, "01-positions/engineer"
    mine = "## Recommendation\nWait.\n"
    assert user.council("record", id, turn, stdin=mine).code == 0
    late = user.council("record", id, turn, stdin="## Recommendation\nGo.\n")
    assert late.code == 2
    assert f"--- the reply of {turn}, which could not be stored ---\n## Recommendation\nGo.\n" in late.err
    assert "is recorded already" in late.err
    same = user.council("record", id, turn, stdin=mine)
    assert (same.code, "is recorded already" in same.err, "could not be stored" in same.err) == (2, True, False)
    early = user.council("record", id, "02-challenges/engineer", stdin="Not yet.")
    assert "could not be stored ---\nNot yet." in early.err


def test_evidence_is_given_as_facts_and_a_command_needs_its_room(user: User, agreed: Path) -> None:
    facts = user.home / "load.txt"
    facts.parent.mkdir(parents=True, exist_ok=True)
    facts.write_text("p95: 40 ms\n")
    assert user.replay(agreed, "--evidence", facts, "Redis or PostgreSQL?").code == 0
    assert "1 | p95: 40 ms" in user.council("brief", user.session.name, "01-positions/engineer").out
    refused = user.replay(agreed, "--evidence-command", "make bench", "Redis or PostgreSQL?")
    assert refused.code == 2
    assert "sandbox" in refused.err
    assert user.council("cost", "debate", "x", "--evidence", facts).code == 0
