"""Options of code sessions that are `auto` until a session begins: then its task decides them."""

from __future__ import annotations

from council.candidates import base
from council.workflow import declare
from council.workflow.opening import Opening, settles

ON, OFF = "on", "off"
# A task above any of these has room for two readings, or too many hands for everybody to guess the same.
MOST_WORDS, MOST_FILES, MOST_SEATS = 80, 20, 6
CENTRAL, DECENTRAL = "central", "decentral"
SEATS_FOR_CENTRAL = 6

CLARIFY = declare.option(
    "clarify",
    "`on`, `off` or `auto`: ask what is unclear before any code is written. `auto` is on for tasks of more than "
    f"{MOST_WORDS} words, {MOST_FILES} files or {MOST_SEATS} seats",
)
HIDDEN = declare.option(
    "hidden", "`on`, `off` or `auto`: run the hidden tests at the end. `auto` is on if there are any"
)
PLANNING = declare.option(
    "planning",
    f"`{CENTRAL}`, `{DECENTRAL}` or `auto`: who plans in a tree. `auto` is {CENTRAL} from {SEATS_FOR_CENTRAL} seats on",
)


@settles(CLARIFY)
def clarify(opening: Opening) -> str:
    files = len(base.read(opening.extra).tree)
    long = len(opening.topic.split()) > MOST_WORDS
    return ON if long or files > MOST_FILES or opening.seats > MOST_SEATS else OFF


@settles(HIDDEN)
def hidden(opening: Opening) -> str:
    return ON if base.read(opening.extra).hidden else OFF


@settles(PLANNING)
def planning(opening: Opening) -> str:
    return CENTRAL if opening.seats >= SEATS_FOR_CENTRAL else DECENTRAL
