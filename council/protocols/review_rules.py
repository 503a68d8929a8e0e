"""Rules about a review's findings."""

from __future__ import annotations

from council.engine.conditions import rule
from council.engine.scene import Scene, Verdict


@rule
def contested(scene: Scene, *, severity: str = "blocking") -> Verdict:
    """A finding of that severity is open, and somebody who did not make it disagrees."""
    from council.reviews.state import reviewed  # only reviews need it, and every plan knows every rule

    open_ = [one for one in reviewed(scene) if one.severity == severity and one.status == "contested"]
    ids = ", ".join(one.id for one in open_)
    return Verdict(bool(open_), f"{ids} contested" if open_ else f"no {severity} finding is contested", ("contested",))
