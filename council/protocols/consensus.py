"""Consensus: how the scores developed, and how an unsettled question is escalated to a person."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from string import ascii_uppercase
from typing import Any

from council.engine.conditions import rule
from council.engine.facts import PromptContext, fact
from council.engine.positions import find_refs
from council.engine.refusals import refusal
from council.engine.rules import measure_repetition
from council.engine.scene import Scene, Turn
from council.replies.values import CONDITION
from council.text import fold, one_line
from council.workflow import declare
from council.workflow.model import Workflow

SAME_SHARE = 0.6  # a turn that repeats more of its words than this counts as a repetition


@fact
def measured(context: PromptContext) -> dict[str, Any]:
    """What the program measured: `measured.trajectory`, `measured.repeats`."""
    return {"trajectory": list_scores(context.scene, context.workflow), "repeats": find_repeats(context.scene)}


@fact
def thresholds(context: PromptContext) -> dict[str, str]:
    """The numbers that the workflow's rules ask for: `thresholds.target`, the score that ends this phase (or any),
    and `thresholds.gain` and `thresholds.over`, the points that count as progress, and in how many rounds."""
    asked = (name for name, _ in context.due.step.reply)
    targets = [find_target(context.workflow, name) for name in (*asked, "")]
    target = next((number for number in targets if number is not None), None)
    return {"target": "" if target is None else f"{target:g}", **find_progress(context.workflow)}


def find_target(workflow: Workflow, field: str = "") -> float | None:
    """The number that ends a phase once an answer (or this one) reaches it: `every: {satisfaction_score: ">= 90"}`."""
    ends = [condition for phase in workflow.phases for _, condition in phase.until]
    given = [ref.args for end in ends for ref in find_refs(end) if isinstance(ref.args, dict)]
    values = [value for args in given for name, value in args.items() if field in ("", name)]
    found = (re.fullmatch(r">=? ?(\d+(?:\.\d+)?)", str(value)) for value in values)
    return next((float(match[1]) for match in found if match), None)


def find_progress(workflow: Workflow) -> dict[str, str]:
    """What counts as progress to the rule that finds a debate stuck: the gain, and over how many rounds."""
    ends = (condition for phase in workflow.phases for _, condition in phase.until)
    given = (rule.arguments(ref) for end in ends for ref in find_refs(end))
    stuck = next((args for args in given if "gain" in args), {"gain": "", "over": ""})
    return {name: str(stuck[name]) for name in ("gain", "over")}


def find_score_field(workflow: Workflow, phase: str) -> str:
    """The first answer of the phase that is a number in a range; empty if there is none."""
    answers = (answer for owner, step in workflow.steps() if owner.name == phase for answer in step.reply)
    return next((name for name, kind in answers if kind.type == "range" and kind.high > 1), "")


def list_scores(scene: Scene, workflow: Workflow, phase: str = "") -> list[dict[str, Any]]:
    """The scores of each round of a phase, oldest first. A missing score is None, and counts as 0 in the mean."""
    field = find_score_field(workflow, phase or scene.phase)
    if not field:
        return []
    rows = []
    for turns in scene.rounds_that_ask(field):
        if turns[0].phase == (phase or scene.phase):
            scores = [
                {
                    "seat": turn.seat.name,
                    "by": turn.seat.label,
                    "score": turn.answers.get(field),
                    "silence": turn.describe_silence(field, short=True),
                }
                for turn in turns
            ]
            mean = sum(float(turn.answers.get(field) or 0) for turn in turns) / len(turns)
            rows.append({"round": turns[0].round, "mean": round(mean, 1), "scores": scores})
    return rows[::-1]


def find_repeats(scene: Scene) -> list[dict[str, Any]]:
    """The seats that mostly repeated their previous round in this one, with the share that they repeated."""
    now = (turn for turn in scene.turns if (turn.phase, turn.round) == (scene.phase, scene.round))
    shares = [(turn, round(measure_repetition(turn, scene) or 0.0, 2)) for turn in now]
    return [{"by": turn.seat.label, "step": turn.step, "share": share} for turn, share in shares if share > SAME_SHARE]


OPTIONS = declare.answer("options", "what a person chooses from, each with a letter")
DECISION = declare.answer("decision", "from a person: `adopt` settles what is stuck; `guide` and `end` steer a debate")
OPTION = declare.answer("option", "from a person who decides: the chosen option, by its letter or in other words")
TENSION = declare.answer("tension", "beside `options`: what cannot be settled, for the person who decides")
RECOMMENDED = declare.answer("recommendation", "beside `options`: the letter that is recommended, and why")
ADOPT = "adopt"
END = "end"


LAST = "max iterations"


LETTERED = re.compile(r"[*_(]{0,3}([A-Z])[*_]{0,2}[).:][*_]{0,2}\s+(\S.*)", re.S)


CHOICE = re.compile(r"[\W_]*(option\s+)?([a-z])(?![\w'’])(.*)", re.I | re.S)
# What follows a letter that is not the word "a" or "I": marks, also fullwidth ones, a new line, or a bracket.
PARTED = re.compile(r"[*_]{0,2}(?:[).:,;\uff0c\uff1b\uff1a\u3002\u3001]|\s[–—-]\s|—|\s*\n|\s\()")


def give_letters(items: Iterable[str]) -> dict[str, str]:
    """The options by letter: their own letters if these are unique, else A, B, C in order."""
    texts = list(items)[: len(ascii_uppercase)]
    own = [LETTERED.fullmatch(text) for text in texts]
    letters = [match.group(1) for match in own if match]
    plain = [match.group(2) if match else text for match, text in zip(own, texts, strict=True)]
    return dict(zip(letters if len(set(letters)) == len(texts) else ascii_uppercase, plain, strict=False))


def split_options(prose: str) -> dict[str, str]:
    """The options in running text: two or more lines that begin with letters of their own."""
    found = [LETTERED.fullmatch(re.sub(r"^\s*[-*+]\s+", "", line.strip())) for line in prose.splitlines()]
    options = {match.group(1): match.group(2).strip() for match in found if match}
    return options if len(options) > 1 and len(options) == sum(map(bool, found)) else {}


@dataclass(frozen=True)
class Escalation:
    """`asked` is the turn that offered the options, `answered` the person's. Either may be missing, or absent."""

    phase: str
    round: int
    asked: Turn | None
    answered: Turn | None

    @property
    def options(self) -> dict[str, str]:
        given = self.asked.answers.get(OPTIONS) if self.asked else ()
        return give_letters(given) if isinstance(given, tuple) else {}

    @property
    def adopted(self) -> bool:
        return self.answered is not None and self.answered.answers.get(DECISION) == ADOPT

    @property
    def option(self) -> str:
        """The person's choice in a word: `option B`, `option B as amended`, or else their own words."""
        letter, _ = read_letter(str(self.answered.answers.get(OPTION, "")).strip() if self.answered else "")
        amended = " as amended" if " as amended: “" in self.choice else ""
        return f"option {letter}{amended}" if letter in self.options else self.choice

    @property
    def choice(self) -> str:
        """The person's choice: `option B (its text)`, as amended if they say more, or else their own words."""
        words = str(self.answered.answers.get(OPTION, "")).strip() if self.answered else ""
        letter, more = read_letter(words)
        if letter in self.options:
            text = self.options[letter]
            chosen = f"option {letter} ({text})"
            return chosen if fold(text).startswith(fold(more)) else f"{chosen} as amended: “{words}”"
        return "" if is_no_choice(words) else words


def read_letter(words: str) -> tuple[str, str]:
    """The letter of the option that the words name, and the words after it; two empty strings if they name none."""
    match = CHOICE.fullmatch(words)
    if not match or (
        match[3].strip("*_ .:)(") and not match[1] and not PARTED.match(match[3]) and not _amends(match[3])
    ):
        return "", ""
    return match[2].upper(), re.sub(r"^[\W_]+|[\W_]+$", "", match[3])


def _amends(after: str) -> bool:
    """Whether the words behind a letter are a condition: in "A but …", the letter is no article."""
    return after[:1].isspace() and CONDITION.match(after) is not None


def is_no_choice(words: str) -> bool:
    return fold(words).rstrip(".") in ("none", "-", "")


@refusal
def option_not_offered(answers: Mapping[str, Any], scene: Scene) -> str:
    """A person cannot choose a letter that no option has, or adopt nothing."""
    if DECISION not in answers or OPTION not in answers:
        return ""
    words = str(answers[OPTION]).strip()
    _, options = find_offered_options(scene)
    letter, more = read_letter(words)
    offered = "; ".join(f"{name}) {one_line(text)}" for name, text in options.items()) or "no options"
    advice = f"offered: {offered}; give a letter, or say in your own words what applies"
    if answers[DECISION] == ADOPT and is_no_choice(words):
        return f'"{ADOPT}" settles the question, so it needs an option; {advice}'
    if letter and letter not in options and not (letter == "I" and more):
        return f"there is no option {letter}; {advice}"
    return ""


def name_kind(fired: Collection[str]) -> str:
    """Why a question was escalated, by the rules that fired. If several did, the first by name decides."""
    return next((why for name in sorted(fired) if (why := rule.traits(name).escalates)), LAST)


def find_escalations(scene: Scene) -> list[Escalation]:
    """All escalations, oldest first. Only a person decides: a model's answer of the same name is its own."""
    rounds: dict[tuple[str, int], dict[str, Turn]] = {}
    for turn in scene.turns:
        for name in {OPTIONS, DECISION} & set(turn.asked):
            if name == DECISION and not turn.seat.is_person:
                continue
            rounds.setdefault((turn.phase, turn.round), {})[name] = turn
    return [Escalation(*key, turns.get(OPTIONS), turns.get(DECISION)) for key, turns in rounds.items()]


def find_offered_options(scene: Scene) -> tuple[Turn | None, Mapping[str, str]]:
    """The options that a person chooses from in this round, else the last ones, and the turn that offered them."""
    escalations = find_escalations(scene)
    current = [one for one in escalations if (one.phase, one.round) == (scene.phase, scene.round)]
    decided = [one for one in escalations if one.answered and DECISION in one.answered.answers]
    last = (current or decided)[-1:]
    return (last[0].asked, last[0].options) if last else (None, {})


@fact
def lettered(context: PromptContext) -> str:
    """The options that a person chooses from, each with its letter."""
    turn, options = find_offered_options(context.scene)
    if turn is None or not options:
        return ""
    listed = "\n".join(f"{letter}) {text}" for letter, text in options.items())
    return context.fence(turn.seat.label, listed, turn.id)
