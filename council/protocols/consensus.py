"""What consensus knows: how the scores went, and how an unsettled question is put to a person."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from string import ascii_uppercase
from typing import Any

from council.engine.facts import PromptContext, fact
from council.engine.rules import measure_repetition
from council.engine.scene import Scene, Turn
from council.text import fold
from council.workflow import declare
from council.workflow.model import Workflow

SAME_SHARE = 0.6  # of a turn's words: from there on it says the same again


@fact
def measured(context: PromptContext) -> dict[str, Any]:
    """What the program measured: `measured.trajectory`, `measured.repeats`."""
    return {"trajectory": list_scores(context.scene, context.workflow), "repeats": find_repeats(context.scene)}


def find_score_field(workflow: Workflow, phase: str) -> str:
    """The first answer of the phase that is a number in a range; empty where it asks for none."""
    fields = (
        name
        for found, step in workflow.steps()
        for name, kind in step.reply
        if found.name == phase and kind.type == "range" and kind.high > 1
    )
    return next(fields, "")


def list_scores(scene: Scene, workflow: Workflow, phase: str = "") -> list[dict[str, Any]]:
    """The scores of each round of a phase, the oldest first. Whoever gave none has None, and counts as nothing."""
    field = find_score_field(workflow, phase or scene.phase)
    if not field:
        return []
    rounds = [turns for turns in scene.rounds_that_ask(field) if turns[0].phase == (phase or scene.phase)]
    return [_round(turns, field) for turns in reversed(rounds)]


def _round(turns: tuple[Turn, ...], field: str) -> dict[str, Any]:
    scores = [{"seat": turn.seat.name, "by": turn.seat.label, "score": turn.answers.get(field)} for turn in turns]
    mean = sum(float(turn.answers.get(field) or 0) for turn in turns) / len(turns)
    return {"round": turns[0].round, "mean": round(mean, 1), "scores": scores}


def find_repeats(scene: Scene) -> list[dict[str, Any]]:
    """Who said again in this round, for the most part, what they had said in the one before, and how much of it."""
    now = (turn for turn in scene.turns if (turn.phase, turn.round) == (scene.phase, scene.round))
    shares = [(turn, round(measure_repetition(turn, scene) or 0.0, 2)) for turn in now]
    return [{"by": turn.seat.label, "step": turn.step, "share": share} for turn, share in shares if share > SAME_SHARE]


OPTIONS = declare.answer("options", "what a person chooses from, each with a letter")
DECISION = declare.answer("decision", "of a person: `adopt` settles what is stuck; `guide` and `end` steer a debate")
OPTION = declare.answer("option", "of a person who decides: which option is chosen, by its letter or in other words")
ADOPT = "adopt"


KINDS = {"share": "fundamental disagreement", "stuck": "stalemate"}


LAST = "max iterations"


LETTERED = re.compile(r"[*_(]{0,3}([A-Z])[*_]{0,2}[).:][*_]{0,2}\s+(\S.*)", re.S)


CHOICE = re.compile(r"[\W_]*(?:option\s+)?([a-z])(?:[\W_]*|(?:[).:,]|\s[–—-])[*_]{0,2}\s.*)", re.I | re.S)


def give_letters(items: Iterable[str]) -> dict[str, str]:
    """Options by letter: their own letters where each has one of its own, else in the order in which they stand."""
    texts = list(items)[: len(ascii_uppercase)]
    own = [LETTERED.fullmatch(text) for text in texts]
    letters = [match.group(1) for match in own if match]
    plain = [match.group(2) if match else text for match, text in zip(own, texts, strict=True)]
    return dict(zip(letters if len(set(letters)) == len(texts) else ascii_uppercase, plain, strict=False))


@dataclass(frozen=True)
class Escalation:
    """`asked` is the turn that put the options, `answered` the person's. Either may be missing, or absent."""

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
    def choice(self) -> str:
        """What the person chose: `option B (what it says)`, or their own words where these name no option."""
        words = str(self.answered.answers.get(OPTION, "")).strip() if self.answered else ""
        found = CHOICE.fullmatch(words)
        letter = found.group(1).upper() if found else ""
        if letter in self.options:
            return f"option {letter} ({self.options[letter]})"
        return "" if fold(words).rstrip(".") in ("none", "-") else words


def name_kind(fired: Collection[str]) -> str:
    """What it was about, by the rules that called for it: a round can be the last one, and stalled, and more."""
    return next((told for rule, told in KINDS.items() if rule in fired), LAST)


def find_escalations(scene: Scene) -> list[Escalation]:
    """All of them, the oldest first."""
    rounds: dict[tuple[str, int], dict[str, Turn]] = {}
    for name, turn in _about(scene.turns):
        rounds.setdefault((turn.phase, turn.round), {})[name] = turn
    return [Escalation(*key, turns.get(OPTIONS), turns.get(DECISION)) for key, turns in rounds.items()]


def _about(turns: Iterable[Turn]) -> Iterator[tuple[str, Turn]]:
    for turn in turns:
        yield from ((name, turn) for name in (OPTIONS, DECISION) if name in turn.asked)


def find_offered_options(scene: Scene) -> tuple[Turn | None, Mapping[str, str]]:
    """The options that a person chooses from in this round, or else chose from last, and the turn that put them."""
    every = find_escalations(scene)
    now = [one for one in every if (one.phase, one.round) == (scene.phase, scene.round)]
    before = [one for one in every if one.answered and DECISION in one.answered.answers]
    found = (now or before)[-1:]
    return (found[0].asked, found[0].options) if found else (None, {})


@fact
def lettered(context: PromptContext) -> str:
    """The options that a person is to choose from, each with its letter."""
    turn, options = find_offered_options(context.scene)
    if turn is None or not options:
        return ""
    listed = "\n".join(f"{letter}) {text}" for letter, text in options.items())
    return context.fence(turn.seat.label, listed, turn.id)
