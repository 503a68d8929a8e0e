"""One change at a time in the core: which of them does a test notice?

The changes are those of `scripts/mutate`, all of them. A survivor is a missing test, or a change that makes no
difference, so it is listed and not counted as wrong. This takes hours.
"""

from __future__ import annotations

from collections import Counter

import mutate
from prove import Outcome

COLUMNS = ("file", "mutants", "killed", "timeout", "survived")


def parts() -> list[str]:
    return [*mutate.core()]


def prove(part: str) -> Outcome:
    found = [*mutate.results(mutate.mutants(part), jobs=1)]
    words = Counter(result.word for result in found)
    survived = [f"`{result.mutant.name}`" for result in found if result.word == "survived"]
    return Outcome([(f"`{part}`", len(found), *(words[word] for word in mutate.WORDS))], notes=survived)
