"""Replies in the shapes of other projects' debates and reviews, and what a careful reader takes from each of them.

An answer that a careful reader would not take from a reply is not in its row: it must be missing, and asked for again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from council.replies.parse import read
from council.workflow.model import Kind, Reply

REPLY: Reply = (
    ("stance", Kind("choice", options=("agree", "mixed", "disagree"))),
    ("vote", Kind("choice", options=("aye", "nay", "mixed"))),
    ("verdict", Kind("choice", options=("yes", "no"))),
    ("status", Kind("choice", options=("approved", "rejected"))),
    ("critical_count", Kind("integer")),
    ("score", Kind("range", low=0, high=100)),
    ("blocking", Kind("list")),
    ("path", Kind("text")),
)
PEER = '{"stance": "disagree", "blocking": ["the latency"]}'
BRIEF = f'<said by="Engineer" key="ab12">\n{PEER}\n</said by="Engineer" key="ab12">'


@dataclass(frozen=True)
class Shape:
    """A reply, and its answers. `why` names the shape."""

    why: str
    reply: str
    answers: Mapping[str, Any] = field(default_factory=dict)

    def read(self) -> dict[str, Any]:
        return dict(read(REPLY, self.reply, BRIEF).found)


SHAPES = (
    # a yes with a condition is no yes
    Shape("aye, conditional", "## Vote\nAye (conditional)", {"vote": "mixed"}),
    Shape("aye, conditional, with a full stop", "**Vote:** Aye (conditional).", {"vote": "mixed"}),
    Shape("nay, conditional", "## Vote\nNay (conditional)", {"vote": "mixed"}),
    Shape("aye for a pilot", "## Vote\nAye (pilot)", {"vote": "mixed"}),
    Shape("aye with somebody's condition", "## Vote\nAye with Tammy's condition.", {"vote": "mixed"}),
    Shape("conditional aye", "## Vote\nConditional Aye: only for reads"),
    Shape("a caveat", "## Stance\nagree with a caveat", {"stance": "mixed"}),
    Shape("yes, but, where mixed is offered", "## Stance\nagree, but the cost is open", {"stance": "mixed"}),
    Shape("yes, but, where it is not", "## Verdict\nyes, but the cost is open"),
    Shape("yes, with guardrails", "**Verdict: Yes, with guardrails**"),
    Shape("subject to", "## Stance\nagree, subject to the audit", {"stance": "mixed"}),
    Shape("pending", "## Stance\nagree - pending the audit", {"stance": "mixed"}),
    Shape("assuming", "## Stance\nAgree, assuming that the audit passes", {"stance": "mixed"}),
    Shape("as long as", "## Stance\nagree as long as it is reversible", {"stance": "mixed"}),
    Shape("only if", "## Stance\nagree only if it is reversible", {"stance": "mixed"}),
    Shape("mostly", "## Stance\nagree (mostly)", {"stance": "mixed"}),
    Shape("reservations", "## Stance\nagree, with reservations", {"stance": "mixed"}),
    Shape("a condition in the next line", "## Stance\nagree\n(subject to the audit)", {"stance": "mixed"}),
    Shape("a condition after a remark", "## Stance\nagree. Cheap enough, pending the audit"),
    Shape("a condition on nothing", "## Blocking\nNone, pending the audit", {"blocking": ("None, pending the audit",)}),
    Shape("a remark that is no condition", "## Stance\nagree (for the cost)", {"stance": "agree"}),
    Shape("the only way", "## Stance\nagree — the only way left", {"stance": "agree"}),
    # an answer that its own remark takes back
    Shape("I can't", "## Stance\nagree. I can't support the timeline"),
    Shape("I can't, typeset", "## Stance\nagree. I can’t support the timeline"),
    Shape("I don't", "## Stance\nagree. I don't think that the cache is safe"),
    Shape("it isn't", "## Stance\nagree. It isn't ready"),
    # the label and the answer in one bold span
    Shape("bold status", "**STATUS: APPROVED**", {"status": "approved"}),
    Shape("bold count", "**CRITICAL_COUNT: 0**", {"critical_count": 0}),
    Shape("bold stance", "**Stance: agree**", {"stance": "agree"}),
    Shape("bold stance with a reason", "**Stance: agree** because it is cheap", {"stance": "agree"}),
    Shape("bold stance with a condition", "**Stance: agree** with reservations", {"stance": "mixed"}),
    Shape("bold, in a list", "- **Stance: disagree**\n- **Score: 40**", {"stance": "disagree", "score": 40}),
    # signs
    Shape("a tick", "STATUS: APPROVED ✅", {"status": "approved"}),
    Shape("a cross", "**Status:** ❌ Rejected", {"status": "rejected"}),
    Shape("a cross behind", "## Vote\nNay ❌", {"vote": "nay"}),
    Shape("a thumb", "## Stance\n👎 disagree", {"stance": "disagree"}),
    Shape("a cross at a yes", "**Status:** ❌ Approved"),
    Shape("a cross between two", "## Vote\naye ❌ nay"),
    Shape("a warning", "STATUS: APPROVED ⚠️"),
    Shape("a score with a sign", "## Score\n85 🎯", {"score": 85}),
    # other forms
    Shape(
        "an object",
        '{"stance": "agree", "critical_count": 0, "blocking": []}',
        {"stance": "agree", "critical_count": 0, "blocking": ()},
    ),
    Shape(
        "an object in a fence",
        'Here it is:\n\n```json\n{"stance": "mixed",\n\n "blocking": ["cost", "risk"]}\n```',
        {"stance": "mixed", "blocking": ("cost", "risk")},
    ),
    Shape("an object as Python prints it", "{'stance': 'agree', 'path': None}", {"stance": "agree"}),
    Shape("an object in an object", '{"answers": {"verdict": true}}', {"verdict": "yes"}),
    Shape("an object that is no Python", "{'path': 'C:\\data', 'stance': 1or 2}"),
    Shape("an object of a thousand objects", '{"stance": ' + "[" * 5000),
    Shape("an object that answers twice", '{"stance": "agree", "stance": "disagree"}'),
    Shape("an object with a condition", '{"vote": "aye (conditional)"}', {"vote": "mixed"}),
    Shape("a peer's object", PEER),
    Shape(
        "a table of two columns",
        "| Question | Answer |\n|---|---|\n| **Stance** | agree |\n| Blocking | none |",
        {"stance": "agree", "blocking": ()},
    ),
    Shape("a table on its side", "| Stance | Score |\n|:---|---:|\n| agree | 90 |", {"stance": "agree", "score": 90}),
    Shape("a table about others", "| Member | Stance |\n|---|---|\n| Architect | agree |"),
    Shape(
        "a block of labels",
        "All is well.\n\n```\nSTATUS: APPROVED\nCRITICAL_COUNT: 0\n```\n\nThat is all.",
        {"status": "approved", "critical_count": 0},
    ),
    Shape("code that looks like it", "It should say:\n\n```yaml\nstance: agree\nimage: redis\n```\n\nI think."),
    # an item's own field is not the answer
    Shape(
        "an item that is fixed",
        "### 1. Guards ignored\n**Status:** **Fixed** ✅\n\n```\nSTATUS: APPROVED\nCRITICAL_COUNT: 0\n```",
        {"status": "approved", "critical_count": 0},
    ),
    Shape(
        "two items",
        "### 1. Guards\n**Status:** approved\n\n### 2. Locks\nOpen.\n\n**Status:** rejected\n\n**Critical count:** 1",
        {"critical_count": 1},
    ),
    Shape("a bullet's field", "- Guards\n  **Status:** rejected\n\n**Status:** approved", {"status": "approved"}),
    Shape(
        "points, then the answers",
        "### 1. Cost\nIt is cheap.\n\n### 2. Risk\nIt is safe.\n\n**Stance:** agree\n**Blocking:** none",
        {"stance": "agree", "blocking": ()},
    ),
)
