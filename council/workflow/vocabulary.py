"""The words of the workflow language that are no functions, each with what it says.

The loader and `lint` allow these and no others; docs/workflows.md prints them.
"""

from __future__ import annotations

from council.workflow.types import answer_types

WORKFLOW_KEYS = {
    "name": "what it is called: as its file, in small letters. Needed",
    "description": "a sentence for those who choose between workflows",
    "seats": "groups of seats: `{members: [architect, engineer], chair: chair}`. The first are the members. Needed",
    "options": "names with their values, which `-o name=value` changes for one debate",
    "halt": "outcomes with rules, asked after each batch of turns: where one holds, the debate is over",
    "document": "what is made of the synthesis for the project, and which answers are its parts: "
    "`{kind: decision, recommendation: advice}`. The option `document` is then there too, and may say another kind",
    "phases": "the phases, one after the other. Needed",
}
PHASE_KEYS = {
    "name": "what it is called; no other phase or step may be called so. Needed",
    "title": "the heading of its rounds for readers. Without it: the name",
    "role": "what the phase is for, where the program has to know it: one of the roles below",
    "rounds": "a number, or `[least, most]`; either may be the name of an option that holds one. Without it: 1",
    "until": "outcomes with rules, asked after each round from the least on: the first that holds ends the phase. "
    "Where none did by the last round the outcome is `cap`; without `until` it is `done`",
    "when": "rules, asked before the first round: where none holds, the phase is skipped",
    "steps": "the steps of each round, one after the other. Without it the phase is one step of the same name",
}
STEP_KEYS = {
    "name": "what it is called. Needed",
    "prompt": "what is asked: the name of a section or of a template. Without it: the step's name",
    "seats": "who speaks: a group, a seat, a list of both, or `{from: step.answer}`, whom a reply named, and "
    "`without: step.answer` for whom to leave out. `human` is a person. Without it: the members",
    "order": "who speaks when. Without it: `parallel`",
    "sees": "what is read of earlier turns: views, phases, steps, or a list of them. Without it: `so_far`",
    "reply": "the answers that end a reply, each with its type. Without it: words alone",
    "tier": "which model: a tier of Config.md. Without it: `sonnet`",
    "when": "rules, asked in each round: where none holds, the step is skipped in this round",
}
# What a step has from its phase, where it does not say it itself.
INHERITED = ("prompt", "seats", "order", "sees", "reply", "tier")
SEAT_KEYS = {
    "persona": "whose persona it has, where that is not its own name",
    "tier": "its tier, whatever the step says",
    "speaker": "who speaks for it: `human`, or a speaker of its own",
    "weight": "how much its vote counts, as in `weight: 2`",
    "under": "reserved: under whom it stands",
    "run": "reserved: what a shell runs in its place",
}
TYPES = {
    "text": "words; `text+` must not be empty",
    "list": "items, one a line; `list+` must not be empty",
    "code": "a block of code; `code+` must not be empty",
    "integer": "a whole number",
    "0-100": "a number in a range: any two whole numbers from 0 on",
    "agree | mixed | disagree": "one of these words, or of others",
}


def types() -> dict[str, str]:
    """Every type of an answer, with those that rooms have added."""
    return {**TYPES, **{name: added.about for name, added in answer_types().items()}}


VALUES = {
    "agree": "an answer that is equal; of a list, one of its items",
    "[agree, mixed]": "one of these",
    "any": "an answer that is not empty",
    '">= 90"': "a number: `>=`, `<=`, `>`, `<`, always in quotation marks",
}
