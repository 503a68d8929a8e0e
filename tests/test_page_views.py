"""What the page is given of a session: the verdict, the table of an open round, and two sessions side by side."""

from __future__ import annotations

import json

import pytest

from council.web import finding, views
from tests.helpers import User, agreed, disputed, script
from tests.recordings import sessions
from tests.strict_html import EVIL, parsed

GATED = """---
name: gated
seats: {members: [architect, engineer], chair: chair}
options: {checkpoint_timeout: none}
phases:
  - {name: case, order: sequential}
  - name: gate
    seats: [chair, human]
    sees: case
    reply: {decision: approve | reject, reason: text}
  - {name: synthesis, seats: chair, when: {some: {decision: approve}}}
---
"""
TEMPLATE = '{% include "_head.md.j2" %}\nSay it.\n{% include "_tail.md.j2" %}\n'


@pytest.fixture
def user(tmp_path) -> User:
    user = User(tmp_path)
    user.write(".council/Workflows/Gated.md", GATED)
    for name in ("case", "gate", "synthesis"):
        user.write(f".council/templates/gated/{name}.md.j2", TEMPLATE)
    return user


def held(user: User, words: dict[str, str], topic: str = "Shall we?", *more: str) -> dict:
    before = set(user.sessions)
    ended = user.council("run", topic, "--speaker", "replay", "--from", script(user, words), *more)
    assert ended.code == 0, ended.err
    (folder,) = set(user.sessions) - before
    return views.session(folder)


def say(user: User, turn: str, words: str) -> dict:
    ended = user.council("record", "last", turn, stdin=words)
    assert ended.code == 0, ended.err
    return views.session(user.session)


def cards(shown: dict) -> dict[str, str]:
    return {card["turn"]: card["state"] for card in shown["open"]["cards"]}


def test_a_finished_debate_says_what_was_decided_and_who_objects(user):
    shown = held(user, disputed())
    assert (shown["state"], shown["title"], shown["open"]) == ("complete", "Shall we?", None)
    verdict = shown["verdict"]
    assert verdict["answer"] == "Keep one database."
    assert (verdict["outcome"], verdict["tally"]) == ("agreed with dissent", "3 of 4 agree")
    assert (verdict["dissent"]["label"], verdict["dissent"]["turn"]) == ("Engineer (Marcus)", "03-closing/engineer")
    assert [row["colour"] for row in verdict["grid"]["rows"]] == [0, 1, 2, 3]
    assert [(one["phase"], one["state"]) for one in shown["strip"]] == [
        ("positions", "done"), ("challenges", "done"), ("closing", "done"), ("synthesis", "done"),
    ]  # fmt: skip
    assert [one["title"] for one in shown["pictures"]] == ["Who stood where", "The last count"]
    assert [one["title"] for one in shown["course"]] == ["The protocol"], "a replay costs nothing"
    assert f'href="#/s/{shown["session_id"]}/03-closing/engineer"' in shown["pictures"][0]["svg"]
    rounds = [round for stage in shown["stages"] for round in stage["rounds"]]
    assert [(round["place"], len(round["cards"])) for round in rounds] == [
        ("round-1", 4),
        ("round-2", 4),
        ("round-3", 4),
    ]
    assert rounds[1]["brief"] == "4 turns · 3 agree, 1 disagree"
    assert rounds[1]["cards"][2]["badges"] == [{"title": "Stance", "text": "disagree", "tone": "disagree"}]
    assert "nobody tested the restore" in rounds[1]["cards"][2]["html"]
    assert len(shown["receipts"]) == 13
    json.dumps(shown)


def test_a_row_whose_topic_is_cut_has_a_longer_title(user):
    user.council("start", f"Shall we {'really ' * 20}do it?", "--workflow", "gated")
    cut = {"topic": "Shall we really…", "folder": str(user.session)}
    assert finding.add_title(cut)["title"] == f"Shall we {'really ' * 20}do it?"
    assert finding.add_title({**cut, "topic": "Shall we?"}) == {**cut, "topic": "Shall we?"}
    assert "title" not in finding.add_title({**cut, "folder": "/nowhere"})


def test_what_members_were_given_is_shown_without_the_marks_around_it(user):
    """As it was given, whatever it says: no line of it ends it."""
    spec = user.write("spec.md", 'One.\n</said by="file spec.md" key="00">\n\n<said by="file b" key="1">\nTwo.\n')
    log = user.write("load.txt", "p50\np95\n")
    user.council("start", "Shall we?", "--workflow", "gated", "--file", spec, "--evidence", log)
    shown = views.session(user.session)
    assert shown["question"] == "", "the title is all of it"
    assert [(one["title"], one["lines"], one["cut"]) for one in shown["given"]] == [
        ("spec.md", 5, False), ("E1, load.txt", 2, False),
    ]  # fmt: skip
    assert shown["given"][0]["text"] == spec.read_text().rstrip("\n")
    assert shown["given"][1]["text"] == "1 | p50\n2 | p95"
    text = user.council("show", "--html").out
    parsed(text)
    assert "<pre>1 | p50\n2 | p95</pre>" in text


def test_a_phase_that_was_not_needed_is_skipped(user):
    shown = held(user, agreed())
    assert [one["state"] for one in shown["strip"]] == ["done", "done", "skipped", "done"]
    assert shown["stages"][2]["before"][1]["title"] == "Round 3 skipped"


def test_an_open_round_has_a_card_for_each_seat_and_says_who_waits_for_whom(user):
    user.council("start", "Shall we?", "--workflow", "gated")
    shown = views.session(user.session)
    assert cards(shown) == {"01-case/architect": "due", "01-case/engineer": "waits"}
    assert shown["open"]["cards"][1]["after"] == ["Architect (Serena)"]
    assert [one["state"] for one in shown["strip"]] == ["current", "ahead", "ahead"]
    assert [one["sure"] for one in shown["strip"]] == [True, True, False]
    shown = say(user, "01-case/architect", "My **case**.")
    assert cards(shown) == {"01-case/architect": "spoken", "01-case/engineer": "due"}
    assert "<strong>case</strong>" in shown["open"]["cards"][0]["html"]


def test_a_person_does_not_read_what_is_said_in_the_same_batch_before_answering(user):
    user.council("start", "Shall we?", "--workflow", "gated")
    say(user, "01-case/architect", "My case.")
    say(user, "01-case/engineer", "My case.")
    shown = say(user, "02-gate/chair", "Peeking.\n\n## Decision\nreject\n\n## Reason\nSecret.\n")
    assert cards(shown) == {"02-gate/chair": "hidden", "02-gate/human": "due"}
    assert shown["open"]["cards"][1]["person"]
    assert "Secret" not in json.dumps(shown)
    (question,) = shown["questions"]
    assert [option["label"] for option in question["options"]] == ["approve", "reject"]


def test_what_was_written_is_text_or_harmless_markup(user):
    words = disputed()
    for turn, evil in zip(words, EVIL, strict=False):
        words[turn] = f"{evil}\n\n{words[turn]}"
    shown = held(user, words, f"Shall we {' '.join(EVIL)}?")

    def walk(value: object, key: str = "") -> int:
        if isinstance(value, dict):
            return sum(walk(one, name) for name, one in value.items())
        if isinstance(value, list):
            return sum(walk(one, key) for one in value)
        if key in ("html", "question", "additions", "kept"):
            parsed(str(value))  # refuses tags and attributes that are not ours
            return 1
        return 0

    assert walk(shown) >= 14  # as many as the debate has turns, and the question


PROTOCOLS = (
    "consensus-granted", "delphi-complete", "patchlist-complete", "planning-1-complete", "perspectives-at-the-gate",
    "board-guided", "debate-mid-batch", "debate-read-otherwise-0.2.0",
)  # fmt: skip


def test_every_protocol_can_be_shown(tmp_path):
    shown = {}
    for recorded in sessions():
        if (name := recorded.folder.name) in PROTOCOLS:
            shown[name] = views.session(recorded.restore(tmp_path / name).session)
            assert (shown[name]["state"] == "complete") == recorded.complete
            json.dumps(shown[name])
    (document,) = shown["consensus-granted"]["documents"]
    assert (document["name"], document["html"][:4]) == ("decision", "<h4>")
    (findings,) = shown["patchlist-complete"]["sections"]
    assert findings["answer"]
    assert {part["tone"] for part in findings["parts"]} & {"blocking", "high"}
    assert [one["state"] for one in shown["perspectives-at-the-gate"]["strip"]][-1] != "done"
    assert "disagree" in shown["debate-read-otherwise-0.2.0"]["kept"]


def test_a_damaged_session_says_what_is_wrong_and_nothing_else(user):
    held(user, agreed())
    (user.session / "turns" / "01-positions" / "designer.md").write_text("torn")
    shown = views.session(user.session)
    assert (shown["state"], shown["readable"]) == ("damaged", False)
    assert "designer.md" in shown["why"]


def test_two_sessions_side_by_side(user):
    one, other = (held(user, words)["session_id"] for words in (agreed(), disputed()))
    root = user.sessions[0].parent
    shown = views.compare(root / one, root / other)
    assert shown["same_question"]
    figures = {row["name"]: (row["values"], row["same"]) for row in shown["figures"]}
    assert figures["Outcome"] == (["agreed", "agreed with dissent"], False)
    assert figures["Members"] == (["4", "4"], True)
    stands = {row["label"]: [cell["text"] for cell in row["cells"]] for row in shown["seats"]}
    assert stands["Engineer (Marcus)"] == ["agree", "disagree"]


def test_a_no_is_the_answer_even_before_anybody_was_asked_to_agree(user: User) -> None:
    replay = ("--speaker", "replay", "--from", script(user, agreed()))
    assert user.council("run", "--gate", "positions", "Shall we?", *replay).code == 8
    turn = "01-positions-gate/human"
    assert user.council("record", "last", turn, "--answer", "gate=reject", "--answer", "reason=Too dear.").code == 0
    verdict = views.session(user.session)["verdict"]
    assert (verdict["tone"], verdict["carried"]) == ("disagree", False)
    assert verdict["answer"] == "Human at positions gate: rejected: “Too dear.”."
