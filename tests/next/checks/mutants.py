"""Workflows of the kit with mistakes in them, as people make them and as nobody would."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import yaml

from council.next.schema import load_yaml
from tests.next.protocols.held import KIT

# Values that stand where others should: numbers of every size, words of other places, empty and nested ones.
ODD: list[Any] = [
    *(
        "",
        " ",
        "none",
        "any",
        "own",
        "human",
        "shared",
        "~",
        "yes",
        "true",
        "x" * 41,
        "a b",
        "../x",
        "é",
        "=",
        "\u202e",
    ),
    *(
        "0",
        "-1",
        "1.5",
        "99",
        "100",
        "1e400",
        "nan",
        "inf",
        "1e-99999999",
        "9" * 5_000,
        "3/0",
        "2/3",
        "seven",
        "\uff11",
    ),
    *(">= 90", ">= many", "> ", "vote", "list+", "0-100", "5-2", "a | b", "| |", "R1", "id | none", "0-" + "9" * 5_000),
    *(True, False, [], {}, [[]], [{}], {"": ""}, {"a": "b", "c": "d"}, ["5", "2"], ["1", "2", "3"]),
    *({"all": []}, {"not": {}}, {"all": [{"not": "last_round"}]}, {"some": {"scene": "x"}}, {"option": {"name": "x"}}),
    *({"from": "x"}, {"from": "poll.move_on"}, {"share": {"at": "2/3"}}, {"vote": {"field": "signs", "among": {}}}),
    *(
        {"vote": {"field": "gist", "among": {"some": {"a": "b"}, "every": {}}}},
        {"anonymous": "anonymous"},
        {"of": "members"},
    ),
    *(
        {"fading": {"keep": {"1": "many"}}},
        {"stuck": {"field": "gist", "over": "1"}},
        {"moved": {"field": "confidence"}},
    ),
    *(
        {"engineer": {"weight": "heavy"}},
        {"engineer": {"tier": ["opus"]}},
        {"x": {"of": "x"}},
        {"ended": {"synthesis": "any"}},
    ),
]


def read(name: str) -> dict[str, Any]:
    """The frontmatter of a workflow of the kit."""
    head = (KIT / f"{name}.md").read_text("utf-8").split("\n---\n")[0].removeprefix("---\n")
    found: dict[str, Any] = load_yaml(head, name)
    return found


def mutate(program: dict[str, Any], rng: random.Random) -> str:
    """The program with one to three mistakes, as a file."""
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        places = [*walk(program)]
        within, key = rng.choice(places)
        _, other = rng.choice(places)
        match rng.randrange(6):
            case 0:
                del within[key]
            case 1:
                within[key] = rng.choice(ODD)
            case 2:
                source, at = rng.choice(places)
                within[key] = yaml.safe_load(yaml.safe_dump(source[at]))
            case 3 if isinstance(within, dict):
                within[str(other)] = within.pop(key)
            case 4 if isinstance(within, list):
                within.insert(rng.randrange(len(within) + 1), rng.choice(ODD))
            case _ if isinstance(within[key], str) and within[key]:
                word = within[key]
                at = rng.randrange(len(word))
                within[key] = word[:at] + rng.choice(("", word[at] * 2, "x")) + word[at + 1 :]
            case _:
                within[key] = [within[key]]
    return f"---\n{yaml.safe_dump(program, sort_keys=False, allow_unicode=True, default_style=None)}---\n"


def walk(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every place in a program: what holds it, and its key there."""
    for key in list(value) if isinstance(value, dict) else range(len(value)):
        yield value, key
        if isinstance(value[key], dict | list):
            yield from walk(value[key])
