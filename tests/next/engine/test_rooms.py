"""Optional rooms: a name that the core does not have is found in a room, and a room is imported only then."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from council.next import extras, rooms
from council.next.engine import registry
from council.next.engine.planner import Due
from council.next.engine.scene import Scene
from council.next.errors import UsageError
from council.next.replies import kinds
from council.next.workflow.loader import load
from council.next.workflow.model import Ref
from tests.next.debates import hold, workflow_of

TOYS = Path(__file__).parent.parent / "toyrooms"
DOTS = "Talk.\n\n## Throw\n• • • • • •"


@pytest.fixture
def toys(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The room is there, and nothing of it has been imported."""
    monkeypatch.setattr(extras, "__path__", [*extras.__path__, str(TOYS)])
    rooms.of_the_kit.cache_clear()
    yield
    for words in (registry.rules, registry.orders, registry.views, registry.checks, kinds.NAMED):
        for name in ("everybody_laughs", "backwards", "first_words", "dice", "throw"):
            words.pop(name, None)
    for name in [name for name in sys.modules if name.startswith("council.next.extras.toys")]:
        del sys.modules[name]
    rooms.of_the_kit.cache_clear()


PHASES = [
    {
        "name": "play",
        "rounds": ["1", "3"],
        "order": "backwards",
        "sees": "first_words",
        "reply": {"throw": "dice"},
        "until": {"over": {"everybody_laughs": {"at": "five"}}},
    }
]


@pytest.mark.usefixtures("toys")
def test_every_word_of_a_room_is_found_by_its_name() -> None:
    seats = {"members": ["ada", {"bo": {"hat": "red"}}]}
    workflow = workflow_of(PHASES, seats=seats)
    asked: list[Due] = []

    def speak(due: Due) -> str:
        asked.append(due)
        return DOTS

    plan = hold(workflow, speak)
    assert [due.seat.name for due in asked] == ["bo", "ada"]
    assert [len(due.sees) for due in asked] == [0, 1]
    assert workflow.members[1].get("hat") == "red"
    assert plan.scene.ended == {"play": "over"}
    assert plan.notes[-1].verdict.reason == "laughing at five"
    assert (rooms.has("toys"), rooms.has("boys")) == (True, False)
    assert rooms.names("rule")["everybody_laughs"] == "toys"


@pytest.mark.usefixtures("toys")
def test_a_check_of_a_room_sends_a_reply_back() -> None:
    plan = hold(workflow_of(PHASES), lambda due: DOTS if due.first else DOTS.replace("• •", "•", 1))
    assert all(turn.first for turn in plan.scene.turns)


def test_without_the_room_its_words_are_unknown() -> None:
    with pytest.raises(UsageError, match='no order "backwards"'):
        hold(workflow_of([{"name": "play", "order": "backwards"}]), lambda due: DOTS)
    with pytest.raises(UsageError, match='"dice" is not a kind of answer'):
        workflow_of(PHASES)
    with pytest.raises(UsageError, match='unknown key "hat"'):
        load("---\nname: x\nseats: {a: [{b: {hat: red}}]}\nphases: [{name: p}]\n---\n", "x")


def test_a_debate_of_the_core_imports_no_room() -> None:
    code = (
        "import sys\n"
        "from council.next.workflow.loader import load\n"
        "from council.next.engine.planner import plan\n"
        "text = '---\\nname: x\\nseats: {a: [b, c]}\\n'\n"
        "text += 'phases: [{name: p, until: {q: {some: {r: s}}}, reply: {r: s | t}}]\\n---\\n'\n"
        "assert plan(load(text, 'x'), {}).due\n"
        "rooms = [name for name in sys.modules if '.extras.' in name or name.endswith('.room')]\n"
        "heavy = {'anthropic', 'click', 'jinja2', 'markdown_it', 'importlib.metadata'} & {*sys.modules}\n"
        "print(*rooms, *heavy)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "\n", "")


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ({"some": "yes"}, 'the rule "some" takes arguments by name'),
        ({"last_round": "2"}, 'the rule "last_round" takes no arguments'),
        ({"stuck": {"fild": "x"}}, 'has no argument "fild"; did you mean "field"?'),
        ({"stuck": {"gain": "1"}}, 'needs the argument "field"'),
        ({"vote": {}}, 'needs the argument "field"'),
    ],
)
def test_arguments_are_checked_against_the_functions_signature(words: dict[str, object], problem: str) -> None:
    ((name, args),) = words.items()
    with pytest.raises(UsageError) as refused:
        list(registry.rules.arguments(Ref(name, args)))
    assert problem in str(refused.value)


def test_arguments_are_given_with_their_declarations() -> None:
    found = list(registry.rules.arguments(Ref("vote", {"field": "pick", "among": {"some": {"x": "y"}}})))
    assert [(name, one.annotation, value) for name, one, value in found] == [
        ("field", "Answer", "pick"),
        ("among", "Condition | list[str] | str", {"some": {"x": "y"}}),
    ]
    assert [name for name, *_ in registry.rules.arguments(Ref("split", "pick"))] == ["field"]
    assert [name for name, *_ in registry.rules.arguments(Ref("some", {"ready": "yes"}))] == ["ready"]


# What optional rooms may use of these rooms. A name that nobody uses here is no reason to remove it.
OFFERED = {
    "replies.kinds": "Kind Text Items Code Number Choice Unreadable answer kind",
    "replies.markdown": "Block scan code_blocks",
    "replies.read": "read heading describe",
    "replies.write": "write escape unescape",
    "engine.planner": "Plan Due Note RETRY plan",
    "engine.scene": "Scene Turn Verdict Seen Recorded",
    "engine.views": "look",
    "engine.conditions": "judge matches fraction",
    "engine.voting": "count read METHODS",
    "engine.registry": "rule order view check section finished Place",
    "protocols.outcome": "Outcome",
    "protocols.voices": "count",
}


@pytest.mark.parametrize("module", OFFERED)
def test_what_optional_rooms_may_use_is_there(module: str) -> None:
    found = importlib.import_module(f"council.next.{module}")
    assert [name for name in OFFERED[module].split() if not hasattr(found, name)] == []


def test_a_scene_has_what_optional_rooms_read_of_it() -> None:
    fields = (
        "turns moments phase round cap topic frozen attached options elected kept latest last_words named newest rng"
    )
    assert {*fields.split()} <= {*dir(Scene(workflow_of([{"name": "talk"}])))}
