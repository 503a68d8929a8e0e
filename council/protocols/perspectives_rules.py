"""The rule about who was cast: how many, by which names, and at least two of them opposed."""

from __future__ import annotations

from typing import Any

from council.engine.conditions import rule
from council.engine.scene import Scene, Verdict
from council.errors import UsageError
from council.protocols.perspectives import (
    ANY_NUMBER,
    faults,
    pair,
    titles,
    told,
)


@rule
def cast(scene: Scene, of: Any, *, opposed: Any = "", number: Any = "") -> Verdict:
    """Two to four perspectives were cast by the answer `of`, or as many as the option `number` says.

    With `opposed`, two of them pull in opposite directions: of two in the catalog, the catalog says so; of others, the
    answer `opposed` of the same reply, which names them."""
    if number and number not in scene.options:
        raise UsageError(f'the rule "cast" asks for the option "{number}", which the workflow does not have')
    wrong = faults(scene, of, opposed, str(scene.options[number]) if number else ANY_NUMBER)
    found = titles(scene, of)
    if wrong:
        return Verdict(False, "; ".join(wrong), tally={"unmet": wrong})
    both = pair(scene, of, opposed) if opposed else None
    against = f", {both[0]} against {both[1]}" if both else ""
    return Verdict(True, f"cast: {told(found.values())}{against}", tally={"cast": list(found)})
