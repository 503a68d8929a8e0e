"""The keys and types of the workflow language, each with its meaning.

The loader and `lint` allow no others; docs/workflows.md lists them.
"""

from __future__ import annotations

from council.workflow.types import answer_types

WORKFLOW_KEYS = {
    "name": "the workflow's name: that of its file, in lowercase. Required",
    "description": "one sentence that helps people choose between workflows",
    "seats": "groups of seats: `{members: [architect, engineer], chair: chair}`. The first group holds the members. "
    "Required",
    "options": "names with default values, which `-o name=value` changes for one debate",
    "halt": "outcomes with rules, checked after each batch of turns: the debate ends as soon as one holds",
    "document": "the document that the synthesis becomes, and the answers that are its parts: "
    "`{kind: decision, recommendation: advice}`. This also adds the option `document`, which can choose another kind",
    "phases": "the phases, in order. Required",
}
PHASE_KEYS = {
    "name": "the phase's name, which no other phase or step may have. Required",
    "title": "the heading of its rounds in reports. Default: the name",
    "role": "what the phase is for, if the program needs to know: one of the roles below",
    "numbered": "`numbered: false`: its rounds have no number, as those of an analysis. Default: `true`",
    "rounds": "a number, or `[min, max]`; each may be the name of an option with a number. Default: 1",
    "until": "outcomes with rules, checked after each round from the minimum on: the first that holds ends the phase. "
    "If none holds by the last round, the outcome is `cap`; without `until` it is `done`",
    "when": "rules, checked before the first round: if none holds, the phase is skipped",
    "steps": "the steps of each round, in order. Default: one step with the phase's name",
}
STEP_KEYS = {
    "name": "the step's name. Required",
    "prompt": "what is asked: the name of a section or a template. Default: the step's name",
    "seats": "who speaks: a group, a seat, a list of both, or `{from: step.answer}` for the seats that a reply names, "
    "with `without: step.answer` to leave some out. `human` is a person. Default: the members",
    "order": "in which order the seats speak. Default: `parallel`",
    "sees": "which earlier turns the seats read: views, phases, steps, or a list of them. Default: `so_far`",
    "reply": "the answers that a reply ends with, each with its type. Default: none",
    "tier": "which model: a tier of Config.md. Default: `sonnet`",
    "when": "rules, checked in each round: if none holds, the step is skipped in that round",
}
# The keys that a step inherits from its phase.
INHERITED = ("prompt", "seats", "order", "sees", "reply", "tier")
SEAT_KEYS = {
    "persona": "the name of its persona. Default: the seat's name",
    "tier": "its tier, which overrides the step's",
    "speaker": "who speaks for it: `human`, or the name of a speaker",
    "gives": "what a reply of it without declared answers has to name, as in `gives: [moonshot, stepping stone]`. One "
    "that leaves something out is asked for again, once",
    "weight": "how much its vote counts, as in `weight: 2`",
    "under": "the seat above it in a tree: the order `tree` and the views `up`, `down` and `beside` follow it",
    "of": "whose work it is about: a seat, or a group. For a group, it stands for one seat for each member, named "
    "`SEAT-MEMBER`; the name of a step that casts seats stands for those who were cast",
    "run": "what a machine runs for it: a bench of Config.md, or an option that names benches",
    "tests": "which tests its bench runs: `visible`, `hidden`, `attack` or `mutants`. Default: `visible`",
}
TYPES = {
    "text": "free text; `text+` must not be empty",
    "list": "items, one per line; `list+` must not be empty",
    "code": "a code block; `code+` must not be empty",
    "integer": "a whole number",
    "0-100": "a number in a range: any two whole numbers from 0 up",
    "agree | mixed | disagree": "one of the words listed, here three",
    "yes | no ?": "any type may end with a `?`: nobody is asked again if this answer is missing",
}


def types() -> dict[str, str]:
    """Every type of answer, including those that rooms add."""
    return {**TYPES, **{name: added.about for name, added in answer_types().items()}}


VALUES = {
    "agree": "an equal answer; for a list, an equal item",
    "[agree, mixed]": "any of these",
    "any": "any answer that is not empty",
    '">= 90"': "a number: `>=`, `<=`, `>` or `<`, always in quotation marks",
    '">= target"': "the number that an option has",
}
