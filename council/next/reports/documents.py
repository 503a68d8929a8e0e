"""The documents that a debate can end in. Each kind declares which facts it needs, and is refused without them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from council.next.errors import UsageError
from council.next.record.catalog import next_command
from council.next.record.session import Session
from council.next.reports.build import view
from council.next.reports.render import in_json, render
from council.next.reports.state import state
from council.next.text import did_you_mean, fold, join_words, one_line, slug

LONGEST_TITLE = 100
# Each kind of document, whose template is KIND.md.j2, with the facts that it needs.
KINDS = {
    "adr": ("an answer",),
    "madr": ("an answer", "options to choose from"),
    "decision": ("an answer", "perspectives", "points of agreement"),
    "spec": ("an answer", "components", "acceptance tests"),
    "plan": ("an answer", "tasks"),
    "issue": ("an answer", "next steps"),
}
NUMBERED = ("adr", "madr")  # these take the next number of their folder
# The answers of the synthesis that state a fact, of which one is enough.
STATED = {
    "an answer": ("answer",),
    "perspectives": ("arguments",),
    "points of agreement": ("agreement", "areas_of_convergence"),
    "components": ("components",),
    "acceptance tests": ("acceptance_tests",),
    "tasks": ("tasks",),
    "next steps": ("next_steps", "acceptance", "implementation_notes", "tasks"),
}


def document_of(session: Session, kind: str = "", number: str = "", follows: str = "", template: str = "") -> str:
    """The document of a debate that is over. `template` is the text of a project's own template for this kind."""
    now = state(session)
    chosen = choose(now, kind or session.workflow.document or "adr", session)
    data = {
        **view(now),
        "number": number,
        "title": title_of(now),
        "date": date_of(now),
        "written": now["synthesis"]["answers"],
        "by_perspective": by_perspective(now),
        "attached": [*session.attached],
        "follows_document": follows,
    }
    text = render(f"{chosen}.md.j2", data, template)
    return with_matter(text, matter_of(now, chosen, session))


def choose(now: Mapping[str, Any], name: str, session: Session) -> str:
    """The kind of this name. Raises UsageError where this debate cannot fill it, or nothing may be filed."""
    if now["status"] != "complete":
        raise UsageError(f"{now['debate_id']} is not over; `{next_command(session)}` continues it")
    if not now["outcome"]["status"]:
        raise UsageError(f"the debate was stopped ({now['outcome']['reason']}), so there is nothing to file")
    if name not in KINDS:
        raise UsageError(f'there is no document "{name}"; {did_you_mean(name, KINDS)}')
    known = facts_of(now)
    if lacking := [need for need in KINDS[name] if need not in known]:
        others = [kind for kind, needs in KINDS.items() if known.issuperset(needs)]
        instead = f"; it can be filed as {join_words(others)}" if others else ""
        raise UsageError(f"{name} needs {join_words(lacking)}, which this debate does not have{instead}")
    return name


def facts_of(now: Mapping[str, Any]) -> set[str]:
    """What this debate has of all that a document can need."""
    written, texts = now["synthesis"]["answers"] if now["synthesis"] else {}, now["outcome"]["recommendations"]
    found = {fact for fact, names in STATED.items() if any(written.get(name) for name in names)}
    found |= {"perspectives"} if texts else set()
    return found | ({"options to choose from"} if max(len(texts), len(now["options"])) > 1 else set())


def title_of(now: Mapping[str, Any]) -> str:
    """The title that the writer gave, or else the question."""
    return str(now["outcome"]["title"] or question_of(now)).rstrip(" .,;:")


def question_of(now: Mapping[str, Any]) -> str:
    """The first line of the question that has words."""
    worded = (line for line in str(now["prompt"]).splitlines() if any(map(str.isalnum, line)))
    return one_line(next(worded, str(now["workflow"])), LONGEST_TITLE)


def date_of(now: Mapping[str, Any]) -> str:
    """The day of the last word, in UTC. It is a part of names, so no session may make it a path."""
    return slug(str(now["last_turn_at"] or now["started_at"] or ""), 10)


def by_perspective(now: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What the writer says of each perspective: the items that begin with its name. Items of no name come last."""
    written = now["synthesis"]["answers"] if now["synthesis"] else {}
    labels = {seat["seat"]: seat["name"] for seat in now["perspectives"]} | {"": ""}
    owners = {fold(word): seat for seat in labels for word in (seat, labels[seat], seat.replace("-", " "))}
    found: dict[str, dict[str, list[str]]] = {seat: {"arguments": [], "trade_offs": []} for seat in labels}
    for name in ("arguments", "trade_offs"):
        for item in map(str, written.get(name) or ()):
            label, _, words = item.partition(":")
            owner = owners.get(fold(label), "")
            found[owner][name].append(words.strip() if owner else item)
    return [
        {"name": labels[seat], "seat": seat, **lists} for seat, lists in found.items() if seat or any(lists.values())
    ]


def matter_of(now: Mapping[str, Any], kind: str, session: Session) -> dict[str, Any]:
    """How the document came about. A key without a value is left out."""
    outcome, totals = now["outcome"], now["totals"]
    facts = {
        "session": now["debate_id"],
        "document": kind,
        "head": now["head"],
        "outcome": outcome["kind"],
        "decided_by": outcome["decided_by"] or None,
        "date": date_of(now),
        "members": [seat["name"] for seat in now["perspectives"]],
        "models": [*outcome["models"]] or None,
        "calls": totals["calls"],
        "usd": "unknown" if totals["usd"] is None else totals["usd"],
        "replayed_turns": now["replayed"] or None,
        "absent": [one["turn"] for one in outcome["absent"]] or None,
        "follows": session.program.get("after") or None,
    }
    return {name: value for name, value in facts.items() if value is not None}


def with_matter(text: str, facts: Mapping[str, Any]) -> str:
    """The document with these facts as front matter. Keys that its template has itself come first, and win.

    Which session and kind it is of is ours to say: by that it is found again."""
    own, close, body = text.lstrip("\n").partition("\n---\n")
    if not close or own.split("\n", 1)[0] != "---":  # it has none, or does not close it
        own, body = "---", text.lstrip("\n")
    kept = [line for line in own.splitlines()[1:] if line.partition(":")[0] not in ("session", "document")]
    taken = {line.partition(":")[0] for line in kept}
    kept += [f"{key}: {in_json(value)}" for key, value in facts.items() if key not in taken]
    return "\n".join(["---", *kept, "---", body])
