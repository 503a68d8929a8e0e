"""Debates to look at on the page: one that is over, and one that asks a person how it should go on.

The words were written for this; `scripts/screenshots` shows the same debates in the docs.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

from tests.fakeapi import Answer, FakeApi, Request
from tests.helpers import CODE, Table, User

FEW, PACE = 4, 0.1  # pieces of a reply, and seconds between them
WORDS, SLOW = 30, 0.1  # of the one to be watched
EXAMPLE = CODE / "docs" / "example-script.yaml"
OVER = "Should we put Redis in front of PostgreSQL?"
STEERED = "Should the app let people cancel their subscription in two taps?"
CHECKPOINT = "02-debate-r01-5-checkpoint/human"
GUIDANCE = "Ask what the support team hears on the phone."
DECISION = "Two taps, with the pause offered on the first of them."
ANALYSIS = """Two sides are honest about different things here.

## Question
{topic}

## Clear
yes

## Ask
none

## Assumed
- The law allows either.

## Perspectives
- Trust: people stay where leaving is easy.
- Revenue: a pause that is offered at the right moment keeps a third of those who leave.

## Opposed
Trust and Revenue, over the pause."""
EVALUATED = """Both accept two taps; they differ on what the first one shows.

## Reading
{reading}

## Off topic
none

## Muted
none

## Gist
{gist}"""
SYNTHESIS = """## Arguments
- Trust: whoever can leave comes back; a quarter of our new customers are former ones.
- Revenue: of those who saw the pause, a third took it.

## Trade offs
- The pause keeps some, and annoys some who are sure.

## Agreement
- Two taps, and no phone call.

## Tensions
- Whether the pause is an offer or an obstacle.

## Recommendation
Two taps, with the pause offered on the first of them. Measure for a quarter how many take it, and how many come back.

## Confidence
medium

## Caveats
- The figure of a third is from one month.

## Dissent
Revenue would offer the pause twice.

## Acceptance
- Whoever cancels needs no more than two taps."""
ARGUED = {
    "01-2-argue/trust": """\
People who find the door remember that they found it. Support answers four hundred mails a month from people who
could not, and each of them has told somebody. **Two taps**, and a sentence that says what happens to their
data.""",
    "01-2-argue/revenue": """\
A third of those who saw the pause last month took it. Two taps are fine, as long as the first of them shows the
pause, with its price of nothing. Whoever is sure taps again.""",
    "01-3-rebut/trust": """\
A pause that stands in the way is a wall with a poster on it. Show it beside the button, not before it, and I
can accept it.""",
    "01-3-rebut/revenue": """\
Beside the button nobody reads it. The first tap is the moment at which people still think, and they lose one
second.""",
    "02-2-argue/trust": """\
On the phone, people ask one thing: is it really over? So the second tap must end it, with a date. If the pause
is one line above the button, and not a page before it, I have no objection.""",
    "02-2-argue/revenue": """\
One line above the button is what I asked for. I would still show it again in the mail that confirms it, for
those who were angry that day.""",
    "02-3-rebut/trust": "Not in the mail: whoever has left does not want to be asked again.",
    "02-3-rebut/revenue": "Then only above the button. I would have liked both.",
}


def steered_words() -> dict[str, str]:
    """The words of the models. Those of the person are not here: the run waits for them."""
    words = {"01-analysis-r01-1-analyze/moderator": ANALYSIS.format(topic=STEERED), "03-synthesis/moderator": SYNTHESIS}
    words |= {f"02-debate-r{place}": said for place, said in ARGUED.items()}
    gists = ("Neither has said what support hears.", "They agree on two taps and one line.")
    for round, (reading, gist) in enumerate(zip(("new ground", "agreement"), gists, strict=True), 1):
        place = f"02-debate-r{round:02}"
        words[f"{place}-1-frame/moderator"] = "What does the first of the two taps show?"
        words[f"{place}-4-evaluate/moderator"] = EVALUATED.format(reading=reading, gist=gist)
    return words


def hold_example(user: User) -> str:
    """A debate that is over; its id."""
    before = set(user.sessions)
    ended = user.council("run", OVER, "--speaker", "replay", "--from", EXAMPLE)
    assert ended.code == 0, ended.err
    return (set(user.sessions) - before).pop().name


@contextmanager
def steered(user: User, until: Mapping[str, Callable[[], bool]] | None = None) -> Iterator[subprocess.Popen[bytes]]:
    """A debate in a process of its own, word by word, one seat slowly. It waits where a person has to decide. `until`
    keeps turns from ending before somebody has seen them.
    """
    table = Table(user, steered_words(), chunks=FEW, delay=PACE)

    def speak(request: Request) -> Answer:
        said = replace(table(request), until=(until or {}).get(table.turn(request.text)))
        return replace(said, chunks=WORDS, delay=SLOW) if said.text == ARGUED["01-2-argue/trust"] else said

    with FakeApi(speak) as api:
        user.configure(f"endpoints:\n  anthropic: {{base_url: {api.url}}}\nretry: {{budget: 0}}")
        key = {"ANTHROPIC_API_KEY": "sk-ant-of-the-tests"}
        with user.spawn("run", STEERED, "--workflow", "perspectives", "--wait", env=key) as run:
            try:
                yield run
            finally:
                run.kill()
