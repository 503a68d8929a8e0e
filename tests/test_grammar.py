"""Whatever a grammar allows, the reader of replies can read: shown by strings drawn from it, with no model at hand."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from council.config import personas
from council.replies.parse import describe, format_heading, read
from council.speakers.local.grammar import MOST_WORDS, gbnf
from council.workflow.model import Kind, Reply

OPENINGS = ("Seen as a whole, this", "What Marcus leaves out is", "I would change my mind if")
KINDS = {
    "stance": Kind("choice", ("agree", "mixed", "disagree")),
    "move_on": Kind("choice", ("yes", "no")),
    "ruling": Kind("choice", ("no opinion", "no", "send it back")),
    "blocking": Kind("list"),
    "risks": Kind("list", required=True),
    "why": Kind("text"),
    "path-forward": Kind("text", required=True),
    "patch": Kind("code"),
    "votes": Kind("integer"),
    "score": Kind("range", low=0, high=100),
    "likelihood": Kind("range", low=0, high=1),
    "grade": Kind("range", low=1, high=6),
    "budget": Kind("range", low=250, high=90000),
}
TOKEN = re.compile(r'\s*(?:"((?:[^"\\]|\\.)*)"|\[((?:[^\]\\]|\\.)*)\]|([a-z]+)|(\{\d+,\d+\}|[?+*])|([()|]))')


class Grammar:
    """GBNF without recursion, which is all that is needed: as a pattern to match, and to draw strings from."""

    def __init__(self, text: str) -> None:
        lines = (line.split(" ::= ", 1) for line in text.strip().splitlines())
        self.rules = {name: list(self.tokens(body)) for name, body in lines}
        self.pattern = re.compile(self.regex("root"))

    def tokens(self, body: str) -> Iterator[tuple[str, str]]:
        place = 0
        while place < len(body.rstrip()):
            match = TOKEN.match(body, place)
            assert match, body[place:]
            place = match.end()
            kind = ("literal", "class", "rule", "repeat", "mark")[(match.lastindex or 0) - 1]
            yield kind, match.group(match.lastindex or 0)

    def regex(self, name: str) -> str:
        parts = []
        for kind, value in self.rules[name]:
            match kind:
                case "literal":
                    parts.append(f"(?:{re.escape(unescaped(value))})")
                case "class":
                    parts.append(f"[{value}]")
                case "rule":
                    parts.append(self.regex(value))
                case _:
                    parts.append("(?:" if value == "(" else value)
        return f"(?:{''.join(parts)})"

    def draw(self, dice: random.Random, name: str = "root") -> str:
        return self.some(dice, self.rules[name])

    def some(self, dice: random.Random, tokens: list[tuple[str, str]]) -> str:
        """One of the alternatives."""
        alternatives: list[list[list[tuple[str, str]]]] = [[]]
        at = 0
        while at < len(tokens):
            end = closing(tokens, at)
            if tokens[at] == ("mark", "|"):
                alternatives.append([])
            else:
                alternatives[-1].append(tokens[at:end])
            at = end
        return "".join(self.piece(dice, piece) for piece in dice.choice(alternatives))

    def piece(self, dice: random.Random, tokens: list[tuple[str, str]]) -> str:
        """A name, a literal, a class or a group, as often as the sign behind it says."""
        kind, sign = tokens[-1]
        if kind != "repeat":
            return self.once(dice, tokens)
        low, high = (0, 1) if sign == "?" else map(int, sign[1:-1].split(","))
        times = dice.choice([low, high, dice.randint(low, high)])
        return "".join(self.once(dice, tokens[:-1]) for _ in range(times))

    def once(self, dice: random.Random, tokens: list[tuple[str, str]]) -> str:
        kind, value = tokens[0]
        if kind == "rule":
            return self.draw(dice, value)
        if kind == "class":
            return dice.choice(letters(value))
        return unescaped(value) if kind == "literal" else self.some(dice, tokens[1:-1])


def closing(tokens: list[tuple[str, str]], at: int) -> int:
    """Where the piece that begins here ends: behind its closing bracket, and behind the sign that repeats it."""
    depth = 0
    while True:
        depth += {("mark", "("): 1, ("mark", ")"): -1}.get(tokens[at], 0)
        at += 1
        if depth == 0:
            return at + (tokens[at : at + 1] != [] and tokens[at][0] == "repeat")


def unescaped(text: str) -> str:
    return text.replace(r"\n", "\n").replace(r"\"", '"').replace("\\\\", "\\")


@cache
def letters(inside: str) -> str:
    pattern, known = re.compile(f"[{inside}]"), map(chr, range(0x20, 0x500))
    return "".join(letter for letter in known if pattern.match(letter))


def drawn(reply: Reply, openings: tuple[str, ...], seed: object) -> str:
    grammar = Grammar(gbnf(reply, openings))
    text = grammar.draw(random.Random(repr(seed)))
    assert grammar.pattern.fullmatch(text)
    return text


def check(reply: Reply, text: str, brief: str) -> None:
    answers = read(reply, text, brief)
    assert answers.problems == (), text
    for name, kind in reply:
        assert_is(kind, answers.found[name])
        stands = text.partition(f"## {format_heading(name)}\n")[2].partition("\n\n## ")[0]
        if kind.type in ("choice", "integer"):
            assert str(answers.found[name]) == stands
        if kind.type == "list":
            assert len(answers.found[name]) == (0 if stands == "none" else stands.count("\n") + 1)


def assert_is(kind: Kind, value: Any) -> None:
    match kind.type:
        case "choice":
            assert value in kind.options
        case "range":
            assert kind.low <= value <= kind.high
        case "list":
            assert len(value) in ((1, 2, 3) if kind.required else (0, 1, 2, 3))
        case "code" | "text":
            assert value.strip()


@pytest.mark.parametrize("openings", [(), OPENINGS], ids=["free", "held"])
@pytest.mark.parametrize("name", KINDS)
def test_every_kind_can_be_read(name: str, openings: tuple[str, ...]) -> None:
    reply = ((name, KINDS[name]),)
    for seed in range(12):
        check(reply, drawn(reply, openings, (name, seed)), describe(reply))


@pytest.mark.parametrize("seed", range(60))
def test_every_combination_can_be_read_by_somebody_who_read_others(seed: int) -> None:
    dice = random.Random(seed)
    reply = tuple((name, KINDS[name]) for name in dice.sample(list(KINDS), dice.randint(1, 6)))
    openings = dice.choice([(), OPENINGS[:1], OPENINGS])
    brief = f"{drawn(reply, openings, 'another')}\n\n{describe(reply)}\n"
    check(reply, drawn(reply, openings, seed), brief)


NOTHING = ("none", "None so far.", "no risks, as far as I can tell", "n/a", "Nothing blocks me at all here.")


@pytest.mark.parametrize("text", NOTHING)
def test_no_item_says_that_there_is_none(text: str) -> None:
    grammar = Grammar(gbnf((("risks", KINDS["risks"]),), OPENINGS[:1]))
    before = f"{OPENINGS[0]} binds two parts of it for good.\n\n## Risks\n- "
    assert grammar.pattern.fullmatch(f"{before}The two of them fail on the same night.")
    assert not grammar.pattern.fullmatch(before + text)


@pytest.mark.parametrize("opening", ["## Stance", "> I said:", "- **Stance:** agree", 'a "quoted" \\ word', "one\ntwo"])
def test_no_opening_can_be_taken_for_an_answer(opening: str) -> None:
    reply = (("stance", KINDS["stance"]),)
    text = drawn(reply, (opening,), 1)
    assert text.count("\n") == 3
    check(reply, text, describe(reply))


def test_without_answers_it_is_prose() -> None:
    assert drawn((), OPENINGS, 1).startswith(OPENINGS[0])
    assert drawn((), (), 1).endswith(".")
    assert drawn((("why", KINDS["why"]),), (), 1).startswith("## Why\n")


DEBATERS = ("architect", "designer", "engineer", "researcher", "security", "intern", "writer")


def test_every_member_of_a_debate_has_openings() -> None:
    """A seat without them says all in the words of its own that the grammar leaves free."""
    known = personas.load()
    for name in DEBATERS:
        for kind in ("openings", "answers", "closing"):
            assert len(known[name][kind].split("|")) == 3, (name, kind)
    for persona in known.values():
        assert "{other}" not in persona.get("openings", "")


def test_whoever_is_to_be_cast_comes_from_the_catalog():
    reply = (("perspectives", KINDS["risks"]),)
    grammar = gbnf(reply, OPENINGS[:1], casts={"perspectives": ("Time to Market", "Fewer Parts")})
    assert '"- " ("Time to Market" | "Fewer Parts") ": " clause' in grammar
    before = f"{OPENINGS[0]} binds two parts of it for good.\n\n## Perspectives\n"
    pattern = Grammar(grammar).pattern
    two = "- Time to Market: It has to be out in the month of May.\n- Fewer Parts: There is less to run in the night."
    assert pattern.fullmatch(before + two)
    assert not pattern.fullmatch(before + two.replace("Fewer Parts", "Fewer Things"))
    assert not pattern.fullmatch(before + two.partition("\n")[0])


def test_the_genitive_of_a_name_is_a_word_of_its_own() -> None:
    """Otherwise the embedded model wrote "Redis'use": it had no way to leave a word after an apostrophe."""
    pattern = Grammar(gbnf((), OPENINGS[:1])).pattern
    assert pattern.fullmatch(f"{OPENINGS[0]} depends on Redis' use of the memory.")
    assert not pattern.fullmatch(f"{OPENINGS[0]} depends on ' use of the memory.")


ITEM = f"{OPENINGS[0]} binds two parts of it for good.\n\n## Risks\n- "


@pytest.mark.parametrize(
    ("reply", "openings", "before"),
    [((), OPENINGS[:1], f"{OPENINGS[0]} "), ((), (), ""), ((("risks", KINDS["risks"]),), OPENINGS[:1], ITEM)],
    ids=["opening", "sentence", "item"],
)
def test_a_sentence_ends_after_a_word_and_has_room_for_what_a_model_wants_to_say(
    reply: Reply, openings: tuple[str, ...], before: str
) -> None:
    """With 30 words, the embedded model glued the next ones to the last: nothing but letters was allowed there."""
    pattern = Grammar(gbnf(reply, openings)).pattern
    longest = " ".join(["However", *["on"] * MOST_WORDS])
    assert MOST_WORDS == 45
    assert pattern.fullmatch(f"{before}{longest}.")
    assert not pattern.fullmatch(f"{before}{longest} on.")
    assert not pattern.fullmatch(before + longest)
    assert not pattern.fullmatch(f"{before}{longest} .")
