"""The kinds of documents that a debate can produce, and what each takes from the synthesis. Nothing here writes one.

Every command imports this module, so it imports nothing heavy.
"""

from council.workflow import declare

QUESTION = declare.answer("question", "in a decision document: how the question was put")
CLEAR = declare.answer("clear", "in a decision document: `no` for a question that stayed unclear")
ASSUMED = declare.answer("assumed", "in a decision document: what was assumed about the question")
GUIDANCE = declare.answer("guidance", "from a person whose `decision` is `guide`: what to focus on from here")
CREATE_WORKFLOW = declare.answer(
    "create_workflow", "from a person: `yes` turns the decision into an issue, and says how to plan it"
)

# Which answers of the kit's workflows are a part of a record, where the workflow does not say it.
RECORD_FILLS = {
    "decision": ("chosen", "overview", "recommendation", "recommended_path"),
    "consequences": ("trade_offs",),
    "alternatives": ("rejected",),
    "dissents": ("dissent", "remaining_disagreements"),
    "risks": ("caveats",),
    "confirmation": ("acceptance",),
}
RECORD_PARTS = {
    "decision": "what was chosen, and why: the first section",
    "drivers": "what the decision had to satisfy",
    "consequences": "what follows from it",
    "alternatives": "what was considered and not chosen, and why",
    "dissents": "who still objects; what it leaves out is added from the record",
    "risks": "what can go wrong, and what is done about it",
    "confidence": "how sure it is; the count may lower it",
    "confirmation": "how to tell that it was carried out",
    "open_questions": "what nobody answered",
    "implementation_notes": "what those who build it need to know",
    "next_steps": "what happens next, in order, and who does it",
}

ADR = declare.document("adr", "an architecture decision record", parts=RECORD_PARTS, fills=RECORD_FILLS)
MADR = declare.document(
    "madr", "an architecture decision record in the form of MADR 4", parts=RECORD_PARTS, fills=RECORD_FILLS
)
SPEC = declare.document(
    "spec",
    "a specification: what each answer of the synthesis says, then as an ADR",
    parts=RECORD_PARTS,
    fills=RECORD_FILLS,
)
PLAN = declare.document(
    "plan", "a work plan: its tasks as they were written, then as an ADR", parts=RECORD_PARTS, fills=RECORD_FILLS
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
        "next_steps": "what happens next, in order, and who does it",
    },
    fills={
        "recommendation": ("chosen", "overview", "recommended_path"),
        "agreement": ("areas_of_convergence",),
        "caveats": ("risks",),
        "dissent": ("dissents", "remaining_disagreements"),
    },
)
