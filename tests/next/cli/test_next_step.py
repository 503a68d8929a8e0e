"""What comes next, in the words of every command: a hint that is followed never leads back to where it was given."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.next.cli.users import Running, User

Q = "Redis or PostgreSQL?"
SEATS = ("architect", "designer", "engineer", "researcher")
TURN = "01-positions/architect"
GOOD = "## Recommendation\nKeep it.\n\n## Normative\nno\n"


@pytest.fixture
def begun(user: User) -> str:
    """The id of a debate by hand, with a gate after its positions."""
    id: str = user.council("start", "--json", "--gate", "positions", Q).json["session_id"]
    return id


def test_a_debate_by_hand_goes_on_by_hand(user: User, begun: str) -> None:
    go_on = f" next {begun}"
    assert f"{go_on}`" in user.council("status", begun).err
    for words in (("decision", "--to", "x"), ("archive",), ("answer", begun)):
        ended = user.council(*words)
        assert (ended.code, go_on in ended.err) == (2, True), ended
    again = user.council("start", "--id", begun, Q)
    assert (again.code, f" status {begun}`" in again.err) == (2, True)
    for seat in SEATS:
        assert user.council("record", begun, f"01-positions/{seat}", stdin=GOOD).code == 0
    assert f" answer {begun}`" in user.council("status", begun).err
    assert f"{go_on}` goes on" in user.council("answer", "--answer", "gate=approve").err


def test_a_person_at_a_members_seat_is_asked_by_recover(user: User) -> None:
    how = ("--speaker", "human", "-w", "quick", "--only", "architect,designer")
    with Running(user, "run", *how, Q) as run:
        run.until(r"Blocking\r\n[^>]*> ")
        run.type("\x03")
        code, rest = run.end()
    id = user.session.name
    assert (code, f" recover {id} --speaker human" in rest) == (130, True)
    asked = user.council("answer", id)
    assert (asked.code, f" recover {id} --speaker human`" in asked.err) == (2, True)
    nobody = user.council("recover", id, "--speaker", "human")
    assert nobody.code == 8
    assert f"record {id} {TURN}`" in nobody.err
    with Running(user, "recover", id, "--speaker", "human") as run:
        run.until(r"Blocking\r\n[^>]*> ")
        run.type("\x04")
        assert run.end()[0] == 8


def test_a_reply_is_given_in_one_way(user: User, begun: str) -> None:
    file = user.write("real.md", GOOD)
    for words in (
        ("--absent", "gone", "-f", file),
        ("-f", file, "--answer", "normative=no"),
        ("--absent", "x", "-f", "-"),
    ):
        ended = user.council("record", begun, TURN, *words)
        assert (ended.code, "exclude one another" in ended.err) == (2, True), ended
    assert not [*user.session.glob("turns/*/*")]


def test_a_second_try_says_what_is_still_wrong(user: User, begun: str) -> None:
    file = user.write("bad.md", "Only words.\n")
    first = user.council("record", begun, TURN, "-f", file)
    assert f"recorded {TURN}, but is asked for once more" in first.out
    again = user.council("record", begun, TURN, "-f", file)
    assert again.code == 2
    assert f'{TURN}.2 is due, because of it: "## Recommendation"' in again.err
    other = user.write("other.md", "Other words.\n")
    assert "Other words." not in user.council("record", begun, TURN, "-f", other).err
    assert "Other words." in user.council("record", begun, TURN, stdin=b"Other words.\n").err
    # The second try adds to the first: only what neither gives is missing.
    second = user.council("record", begun, f"{TURN}.2", stdin="## Recommendation\nKeep it.\n")
    assert "cannot be read as a whole" in second.out
    assert "Normative" in second.out
    assert '"## Recommendation"' not in second.out


def test_a_round_that_is_not_whole_is_counted_and_named(user: User, begun: str) -> None:
    assert user.council("record", begun, TURN, stdin=GOOD).code == 0
    assert "Also on record, but not shown until" in (shown := user.council("show")).err
    assert TURN in shown.err
    told = user.council("status", begun).out
    assert "1 turn on record; due: 01-positions/designer" in told
    facts = user.council("status", begun, "--json").json
    assert (facts["turns"], len(facts["due"])) == (1, 3)


@pytest.mark.parametrize(
    ("more", "by"),
    [
        ((), "replies that were recorded by hand; who wrote them is not known"),
        (("--model", "m"), "models alone (m)"),
        (("--by", "Jane Doe"), "a person"),
    ],
)
def test_a_document_says_who_decided_as_far_as_it_is_known(
    user: User, agreed: Path, more: tuple[str, ...], by: str
) -> None:
    assert user.replay(agreed, Q).code == 0
    said = {f"{path.parent.name}/{path.stem}": path.read_text() for path in user.session.glob("turns/*/*.md")}
    id = user.council("start", "--json", Q).json["session_id"]
    while due := user.council("next", id, "--json").json["due"]:
        for one in due:
            body = said[one["turn"]].partition("\n---\n")[2].lstrip("\n")
            assert user.council("record", id, one["turn"], *more, stdin=body).code == 0
    assert f"**Decided by:** {by}" in user.council("decision", id, "--to", "x", "--dry-run").out
    if "--by" in more:
        turn = next(one for one in user.sessions if one.name == id).joinpath("turns", f"{TURN}.md").read_text()
        assert ('by: "Jane Doe"' in turn, 'speaker: "human"' in turn) == (True, True)
        both = user.council("record", id, TURN, "--by", "Ada", "--model", "m", stdin="x")
        assert both.code == 2


@pytest.mark.parametrize(
    ("words", "option"),
    [
        (("--gate", "positions"), "gate"),
        (("--with", "security"), "with"),
        (("--evidence", "x.md"), "evidence"),
        (("--model", "opus"), "model"),
        (("-w", "quick"), "workflow"),
    ],
)
def test_a_replay_refuses_what_would_have_no_effect(
    user: User, agreed: Path, words: tuple[str, ...], option: str
) -> None:
    assert user.replay(agreed, Q).code == 0
    first = user.session.name
    ended = user.council("run", "--speaker", "replay", "--from", first, *words)
    assert ended.code == 2
    assert "leave out" in ended.err
    assert option in ended.err
    assert len(user.sessions) == 1
    assert user.council("run", "--speaker", "replay", "--from", first, "-w", "debate").code == 0


def test_a_pager_shows_looks_and_no_escape_sequences(user: User, agreed: Path) -> None:
    assert user.replay(agreed, Q).code == 0
    for given, wanted in ((None, "FRX"), ("-i", "-i")):
        env = {"PAGER": "sh -c 'cat > /dev/null; echo less is $LESS'", **({"LESS": given} if given else {})}
        with Running(user, "show", rows=10, **env) as run:
            assert f"less is {wanted}" in run.end()[1]
