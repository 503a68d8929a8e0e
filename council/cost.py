"""What a debate can cost, before a cent is spent: its calls, its tokens and their price, from the workflow alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from council.workflow import Cast, Phase, Step, Workflow

TOKENS_A_WORD = Fraction(3, 2)
FRAME = 700  # rules, task, persona and format of a brief
ANSWERS = 80  # the headings and short answers below a reply
USUAL_WORDS = 200
MOST_CAST = 4


@dataclass(frozen=True)
class Rates:
    """A tier's price per million tokens, None where it is unknown, and the most tokens that one reply may take."""

    model: str
    input: float | None
    output: float | None
    max_tokens: int


@dataclass(frozen=True)
class Row:
    """The bounds of one phase. `again` are the calls that unreadable replies could add."""

    phase: str
    least: int
    most: int
    again: int
    input: int
    output: int
    usd: float | None
    bound: float | None


def bounds(workflow: Workflow, topic: str, rates: Mapping[str, Rates]) -> list[Row]:
    """A row a phase: its calls, the tokens usual at the most calls, the price, and the price that nothing can pass."""
    said = Said(tokens(topic))
    return [_phase(workflow, phase, said, rates) for phase in workflow.phases]


def tokens(text: str) -> int:
    return len(text) // 4 + 1


@dataclass
class Said:
    """How much there is to read when a turn is spoken: usually, and at the most."""

    usual: int
    most: int = 0

    def __post_init__(self) -> None:
        self.most = self.usual


def _phase(workflow: Workflow, phase: Phase, said: Said, rates: Mapping[str, Rates]) -> Row:
    least = most = again = usual_in = usual_out = 0
    usd: float | None = 0.0
    bound: float | None = 0.0
    for round in range(1, phase.most + 1):
        for step in phase.steps:
            low, high = seats(workflow, step)
            least += low if round <= phase.least and phase.when is None and step.when is None else 0
            most += high
            again += high if step.reply else 0
            rate = rates[step.tier]
            reading = 0 if _blind(step) else said.usual
            longest = 0 if _blind(step) else said.most
            reply = usual_reply(workflow, step)
            usual_in += high * (FRAME + reading)
            usual_out += high * reply
            usd = _add(usd, rate, high * (FRAME + reading), high * reply)
            tries = 2 if step.reply else 1
            bound = _add(
                bound, rate, tries * high * (FRAME + longest + rate.max_tokens), tries * high * rate.max_tokens
            )
            said.usual += high * reply
            said.most += high * rate.max_tokens
    return Row(phase.name, least, most, again, usual_in, usual_out, usd, bound)


def seats(workflow: Workflow, step: Step) -> tuple[int, int]:
    """How many may speak in a step; how many are cast while it runs is not known before. People cost nothing."""
    named = [
        seat for seat in workflow.seats(name for name in step.seats if isinstance(name, str)) if seat.speaker != "human"
    ]
    cast = any(isinstance(one, Cast) for one in step.seats)
    return len(named), len(named) + (MOST_CAST if cast else 0)


def usual_reply(workflow: Workflow, step: Step) -> int:
    _, _, high = str(workflow.options.get("words", "")).partition("-")
    words = int(high) if high.isdigit() else USUAL_WORDS
    return int(words * TOKENS_A_WORD) + ANSWERS * bool(step.reply)


def _blind(step: Step) -> bool:
    return [ref.name for ref in step.sees] == ["nothing"]


def _add(total: float | None, rate: Rates, tokens_in: int, tokens_out: int) -> float | None:
    if total is None or rate.input is None or rate.output is None:
        return None
    return total + (tokens_in * rate.input + tokens_out * rate.output) / 1_000_000
