"""Prints docs/reference.md from the code, so that it cannot say what is not so; `tests/test_docs.py` compares them."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import click

from council.cli import EPILOG, council
from council.config import settings
from council.engine.conditions import rule
from council.engine.orders import order
from council.engine.views import view
from council.engine.voting import METHODS
from council.speakers import registry
from council.workflow import vocabulary


def reference() -> str:
    return "\n".join(
        [
            "# Reference",
            "",
            "Made from the code by `scripts/update-golden`.",
            *section("Commands", commands()),
            *section("Rules", hooks(rule.known)),
            *section("Vote methods", [f"- `{name}`: {method.about}." for name, method in METHODS.items()]),
            *section("Orders", hooks(order.known)),
            *section("Views", hooks(view.known)),
            *section("Speakers", [f"- `{one.name}`: {one.about}." for one in registry.all_types()]),
            *section("Keys of a workflow", keys()),
            *section("Keys of the configuration", [f"`{name}`" for name in settings.KEYS]),
            *section("Exit codes", [" ".join(EPILOG.split())]),
            "",
        ]
    )


def section(title: str, lines: Any) -> list[str]:
    return ["", f"## {title}", "", *(line for one in lines for line in (one, ""))][:-1]


def commands() -> Iterator[str]:
    program = click.Context(council, info_name="council", **SETTINGS)
    for name in sorted(council.list_commands(program)):
        command = council.get_command(program, name)
        assert command is not None
        context = click.Context(command, info_name=f"council {name}", max_content_width=100, **SETTINGS)
        yield f"### council {name}\n\n```\n{command.get_help(context)}\n```"


SETTINGS: dict[str, Any] = {"help_option_names": ["-h", "--help"], "terminal_width": 100}


def hooks(known: Mapping[str, Callable[..., Any]]) -> Iterator[str]:
    for name, function in sorted(known.items()):
        takes = [str(one).partition(":")[0] for one in inspect.signature(function).parameters.values()][
            LEADING[name in rule.known] :
        ]
        told = f" ({', '.join(takes)})" if takes else ""
        yield f"- `{name}`{told}: {' '.join((function.__doc__ or '').split())}"


LEADING = {True: 1, False: 2}


def keys() -> Iterator[str]:
    for title, names in (
        ("workflow", vocabulary.WORKFLOW_KEYS),
        ("phase", vocabulary.PHASE_KEYS),
        ("step", vocabulary.STEP_KEYS),
    ):
        yield f"- {title}: {' '.join(f'`{name}`' for name in names)}"
    yield f"- seat: {' '.join(f'`{name}`' for name in vocabulary.SEAT_KEYS)}"


if __name__ == "__main__":
    print(reference(), end="")
