"""The answers that the program itself reads, by their names: an example of each kind that a workflow may declare.

Each has one meaning in every workflow, so another kind is refused when a workflow is loaded. An optional room may read
a list with a kind of its own. All other answers belong to the workflow, which names them in its rules.
"""

from __future__ import annotations

from council.next.workflow import loader

TEXT, LIST, CHOICE = ("text",), ("list",), ("yes | no",)
ANSWERS = {
    "signs": ("vote",),
    "says": CHOICE,
    "recommendation": TEXT,
    "moved_by": TEXT,
    "conditions": LIST,
    "blocking": LIST,
    "rulings": LIST,
    "challenges": LIST,
    "gist": TEXT,
    # What the writer of the result gives, and those who check it.
    "title": TEXT,
    "answer": TEXT,
    "follows": ("id | none",),
    "confidence": ("high | medium | low", "0-100"),
    "accurate": CHOICE,
    "correction": LIST,
    # What a person is offered, and gives.
    "options": LIST,
    "gate": ("approve | reject | veto",),
    "decision": ("adopt | guide",),
    "option": TEXT,
    "grant": ("0-3",),
    "guidance": TEXT,
    "reason": TEXT,
    # Who is cast.
    "perspectives": LIST,
}
loader.ANSWERS.update(ANSWERS)
