"""The prompts that a client offers its user as commands, and the completion of their arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from council.mcp_server.calls import ClientCall
from council.mcp_server.protocol import BAD_PARAMS, Refused
from council.text import did_you_mean, one_line

MOST_VALUES = 100  # the protocol allows no more
RULES = (
    "Follow what the tools say to do next. Ask every member in a separate context, and never answer for one yourself; "
    "if you have no subagents, say that you cannot hold a council here."
)


@dataclass(frozen=True)
class Prompt:
    """A prompt: `takes` has what each argument is, `needs` the required ones, `write` the text."""

    about: str
    takes: dict[str, str]
    needs: tuple[str, ...]
    write: Callable[[dict[str, str]], str]


def write_council(given: dict[str, str]) -> str:
    workflow = f', workflow "{given["workflow"]}"' if given.get("workflow") else ""
    members = f", with {', '.join(given['members'].replace(',', ' ').split())}" if given.get("members") else ""
    how = f"call council_start{workflow}{members}, and this topic, word for word"
    return f"Hold a council debate: {how}:\n\n{given['topic']}"


def write_review(given: dict[str, str]) -> str:
    topic = given.get("topic") or "Review this document."
    return (
        f'Have the council review a document: call council_start with mode "patchlist", the topic "{topic}", and in '
        f"document this text, word for word:\n\n{given['document']}"
    )


def write_recover(given: dict[str, str]) -> str:
    return f"Continue the council debate {given.get('session') or 'last'}: call council_next with that session."


PROMPTS = {
    "council": Prompt(
        "Debate a question among members with different perspectives.",
        {"topic": "The question", "workflow": "The protocol (default: debate)", "members": "Members to add"},
        ("topic",),
        write_council,
    ),
    "review": Prompt(
        "Have several reviewers find what is wrong with a document.",
        {"document": "The text of the document", "topic": "What to look at"},
        ("document",),
        write_review,
    ),
    "recover": Prompt(
        "Continue a debate that was interrupted.",
        {"session": "The session's id (default: the newest)"},
        (),
        write_recover,
    ),
}


def list_prompts(_: ClientCall) -> dict[str, Any]:
    return {"prompts": [describe(name, prompt) for name, prompt in PROMPTS.items()]}


def describe(name: str, prompt: Prompt) -> dict[str, Any]:
    takes = [
        {"name": key, "description": about, "required": key in prompt.needs} for key, about in prompt.takes.items()
    ]
    return {"name": name, "description": prompt.about, "arguments": takes}


def get_prompt(call: ClientCall) -> dict[str, Any]:
    name, given = call.params.get("name"), call.params.get("arguments")
    given = {} if given is None else given
    if not isinstance(name, str) or name not in PROMPTS:
        raise Refused(BAD_PARAMS, f'there is no prompt "{one_line(str(name))}"; {did_you_mean(str(name), PROMPTS)}')
    prompt = PROMPTS[name]
    if not isinstance(given, dict) or not all(isinstance(value, str) for value in given.values()):
        raise Refused(BAD_PARAMS, "arguments must be an object of strings")
    for key in given.keys() - prompt.takes.keys():
        raise Refused(BAD_PARAMS, f'there is no argument "{one_line(key)}"; {did_you_mean(key, prompt.takes)}')
    for key in prompt.needs:
        if not given.get(key, "").strip():
            raise Refused(BAD_PARAMS, f"{key} is missing")
    content = {"type": "text", "text": f"{prompt.write(given)}\n\n{RULES}"}
    return {"description": prompt.about, "messages": [{"role": "user", "content": content}]}


# ---- completion ----


def complete(call: ClientCall) -> dict[str, Any]:
    """The values that an argument of a prompt, or of a resource's address, can have."""
    reference, argument = call.params.get("ref"), call.params.get("argument")
    if not isinstance(reference, dict) or not isinstance(argument, dict):
        raise Refused(BAD_PARAMS, "ref and argument must be objects")
    name, typed = argument.get("name"), argument.get("value")
    if not isinstance(name, str) or not isinstance(typed, str):
        raise Refused(BAD_PARAMS, "the argument must have a name and a value")
    found = [value for value in list_values(name) if value.startswith(typed)]
    values = found[:MOST_VALUES]
    return {"completion": {"values": values, "total": len(found), "hasMore": len(found) > len(values)}}


def list_values(argument: str) -> Iterable[str]:
    """By name: an argument means the same wherever it is."""
    from council.config import overlays, personas
    from council.config import settings as config
    from council.record import catalog

    match argument:
        case "session":
            return catalog.all_ids(config.load().sessions)
        case "workflow":
            return sorted(overlays.workflows())
        case "members":
            return sorted(personas.load())
    return ()
