"""The kinds of documents that a debate can produce, and what each takes from the synthesis. Nothing here writes one.

Every command imports this module, so it imports nothing heavy.
"""

from council.workflow import declare

QUESTION = declare.answer("question", "in a decision document: how the question was put")
ASSUMED = declare.answer("assumed", "in a decision document: what was assumed about the question")
GUIDANCE = declare.answer("guidance", "from a person whose `decision` is `guide`: what to focus on from here")
CREATE_WORKFLOW = declare.answer("create_workflow", "from a person: `yes` turns the decision into an issue")

ADR = declare.document(
    "adr",
    "an architecture decision record",
    parts={
        "implementation_notes": "a section of its own",
        "open_questions": "a section of its own",
        "dissents": "below the dissent that the record lists",
    },
)
DECISION = declare.document(
    "decision",
    "a decision between perspectives, and an issue if a person asks for one",
    parts={
        "arguments": "the key arguments of each perspective",
        "trade_offs": "what each perspective accepts",
        "agreement": "points of agreement",
        "tensions": "key tensions",
        "recommendation": "the recommendation",
        "confidence": "how sure it is",
        "caveats": "what it depends on",
        "dissent": "the dissenting view",
        "acceptance": "in the issue, the criteria of acceptance",
    },
)
