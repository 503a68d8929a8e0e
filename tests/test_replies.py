"""Reading replies as they really come: what is an answer, what is none, and what is somebody else's."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from council.protocols.dissent import disagreement, find_missing_dissent
from council.replies.parse import describe, format_heading, read
from council.reports.sources import Sources
from council.text import harmless, overlap
from council.workflow.model import Kind, Reply
from tests.growth import compare
from tests.scenes import scene, turn

STANCE = Kind("choice", options=("agree", "mixed", "disagree"))
REPLY: Reply = (
    ("stance", STANCE),
    ("score", Kind("range", low=0, high=100)),
    ("blocking", Kind("list")),
    ("path", Kind("text")),
    ("code", Kind("code")),
    ("found", Kind("integer")),
    ("clarity", Kind("range", low=0, high=1)),
    ("move_on", Kind("choice", options=("yes", "no"))),
    ("reading", Kind("choice", options=("new-ground", "on_hold", "new ground lost"))),
    ("risks", Kind("list", required=True)),
)

# Each reply as it came, and what it answers. What is not listed is not answered.
MESSY: list[tuple[str, dict[str, Any]]] = [
    # headings in all forms
    ("## Stance\nagree", {"stance": "agree"}),
    ("# Stance\nagree", {"stance": "agree"}),
    ("###### stance ######\nagree", {"stance": "agree"}),
    ("  ## STANCE  \n\n\nAgree.", {"stance": "agree"}),
    ("## Stance: agree", {"stance": "agree"}),
    ("## **Stance:** agree", {"stance": "agree"}),
    ("## 1. Stance\nagree", {"stance": "agree"}),
    ("### 2) `Stance`\nagree", {"stance": "agree"}),
    ("## ✅ Stance\nagree", {"stance": "agree"}),
    ("**Stance**\nagree", {"stance": "agree"}),
    ("**Stance:** agree", {"stance": "agree"}),
    ("**Stance**: agree", {"stance": "agree"}),
    ("***Stance:*** agree", {"stance": "agree"}),
    ("__Stance:__ agree", {"stance": "agree"}),
    ("- **Stance:** agree", {"stance": "agree"}),
    ("1. **Stance** — agree", {"stance": "agree"}),
    ("Stance: agree", {"stance": "agree"}),
    ("- Stance: agree", {"stance": "agree"}),
    ("1. Stance: agree\n2. Score: 90", {"stance": "agree", "score": 90}),
    ("**move_on:** yes", {"move_on": "yes"}),
    ("## Move-on\nyes", {"move_on": "yes"}),
    ("MOVE ON: yes", {"move_on": "yes"}),
    ("# My reply\n\nProse.\n\n## Stance\nagree\n\n# Thanks\nBye.", {"stance": "agree"}),
    # what is no heading
    ("My stance is clear: agree", {}),
    ("Stance agree", {}),
    ("##Stance\nagree", {}),
    ("The stance\nagree", {}),
    ("## Stances\nagree", {}),
    ("| Stance | agree |", {}),
    # choices
    ("## Stance\n**agree**", {"stance": "agree"}),
    ("## Stance\n`Disagree`", {"stance": "disagree"}),
    ("## Stance\n- mixed", {"stance": "mixed"}),
    ('## Stance\n"agree"', {"stance": "agree"}),
    ("## Stance\n```\nagree\n```", {"stance": "agree"}),
    ("## Stance\nAgree! The rest is detail.", {"stance": "agree"}),
    ("## Stance\nagree — it is cheap", {"stance": "agree"}),
    ("## Stance\nagree (for the cost)", {"stance": "agree"}),
    ("## Stance\n\uff21\uff27\uff32\uff25\uff25", {"stance": "agree"}),
    ("## Reading\nnew-ground", {"reading": "new-ground"}),
    ("## Reading\non_hold", {"reading": "on_hold"}),
    ("## Reading\nnew ground lost", {"reading": "new ground lost"}),
    # hedged, or nothing
    ("## Stance\nagree, but not yet", {}),
    ("## Stance\nI agree", {}),
    ("## Stance\nI cannot say that I agree yet.", {}),
    ("## Stance\nnot agree", {}),
    ("## Stance\nagree or mixed", {}),
    ("## Stance\nagree/disagree", {}),
    ("## Stance\nagree | mixed | disagree", {}),
    ("## Stance\nagree. No, wait: disagree.", {}),
    ("## Stance\nagree. Wait: disagree", {}),
    ("## Stance\nagree: unless it costs more", {"stance": "mixed"}),
    ("## Stance\nmixed. Once it is paid for I will agree.", {}),
    ("## Stance\nagreed", {}),
    ("## Stance\nstimme zu", {}),
    ("## Stance\n", {}),
    # numbers
    ("## Score\n85", {"score": 85}),
    ("## Score\n85%", {"score": 85}),
    ("## Score\n85 %", {"score": 85}),
    ("## Score\n85/100", {"score": 85}),
    ("## Score\n85 out of 100", {"score": 85}),
    ("## Score\n**85** — good enough", {"score": 85}),
    ("## Score\n- 92.5. Nearly.", {"score": 92.5}),
    ("## Score\n92,5", {"score": 92.5}),
    ("Score: 0", {"score": 0}),
    ("## Score\n101", {}),
    ("## Score\n-5", {}),
    ("## Score\n8/10", {}),
    ("## Score\n85-90", {}),
    ("## Score\n85 - 90", {}),
    ("## Score\n85, 90", {}),
    ("## Score\nabout 85", {}),
    ("## Score\neighty", {}),
    ("## Score\n92.5 overall", {}),
    ("## Score\n1.2.3", {}),
    ("## Score\n1,000", {}),
    ("## Clarity\n0.95", {"clarity": 0.95}),
    ("## Clarity\n0,95", {"clarity": 0.95}),
    ("## Clarity\n95%", {"clarity": 0.95}),
    ("## Clarity\n1", {"clarity": 1}),
    ("## Clarity\n95", {}),
    ("## Clarity\n0.9 overall", {}),
    ("## Found\n3", {"found": 3}),
    ("## Found\n0. Nothing left.", {"found": 0}),
    ("## Found\n1,000", {"found": 1000}),
    ("## Found\n2.5", {}),
    ("## Found\n3%", {}),
    ("## Found\n3 of 5", {}),
    # lists
    ("## Blocking\n- cost\n- risk", {"blocking": ("cost", "risk")}),
    ("## Blocking\n* cost\n\n* risk", {"blocking": ("cost", "risk")}),
    ("## Blocking\n1. cost\n2) risk", {"blocking": ("cost", "risk")}),
    ("## Blocking\n(a) cost\n(b) risk", {"blocking": ("cost", "risk")}),
    ("## Blocking\n- [ ] cost", {"blocking": ("[ ] cost",)}),
    ("## Blocking\n• cost\n– risk", {"blocking": ("cost", "risk")}),
    ("## Blocking\ncost\nrisk", {"blocking": ("cost", "risk")}),
    ("**Blocking:** cost", {"blocking": ("cost",)}),
    ("## Blocking\n- the cost\n  of it all\n- risk", {"blocking": ("the cost of it all", "risk")}),
    ("## Blocking\n- the cost\nof it all", {"blocking": ("the cost of it all",)}),
    ("## Blocking\n- security:\n  - no audit\n    log\n- risk", {"blocking": ("security: - no audit log", "risk")}),
    ("## Blocking\n\t- cost\n\t- risk", {"blocking": ("cost", "risk")}),
    ("## Blocking\nTwo things:\n- cost\n- risk\n\nThe rest is fine.", {"blocking": ("cost", "risk")}),
    ("## Blocking\n- cost\n\n---\n\nLet me know!", {"blocking": ("cost",)}),
    ("## Blocking\n- **Cost**: it is dear\n- *Risk*", {"blocking": ("**Cost**: it is dear", "*Risk*")}),
    ("## Blocking\n- cost\n### Why\nMoney.\n## Score\n9", {"blocking": ("cost",), "score": 9}),
    # lists of nothing
    ("## Blocking\nnone", {"blocking": ()}),
    ("## Blocking\n- None.", {"blocking": ()}),
    ("## Blocking\n**None**", {"blocking": ()}),
    ("## Blocking\n(none)", {"blocking": ()}),
    ("## Blocking\nN/A", {"blocking": ()}),
    ("## Blocking\nNothing so far.", {"blocking": ()}),
    ("## Blocking\nNo blocking issues from my side.", {"blocking": ()}),
    ("## Blocking\nNo further concerns", {"blocking": ()}),
    ("## Blocking\nNone. The plan is sound.", {"blocking": ()}),
    ("## Blocking\nNone — I see no risk.", {"blocking": ()}),
    ("## Blocking\nNone\n\nI am happy with it.", {"blocking": ()}),
    ("## Blocking\nKeine.", {"blocking": ()}),
    ("## Blocking\nNone, but the cost is open.", {"blocking": ("None, but the cost is open.",)}),
    ("## Blocking\nNone of the tests cover rollback.", {"blocking": ("None of the tests cover rollback.",)}),
    ("## Blocking\nNo rollback plan", {"blocking": ("No rollback plan",)}),
    ("## Blocking\n- none\n- cost", {"blocking": ("cost",)}),
    ("## Blocking\n-", {}),
    ("## Blocking\n\n## Score\n9", {"score": 9}),
    ("## Risks\nnone", {}),
    ("## Risks\n- churn", {"risks": ("churn",)}),
    # texts and code
    ("## Path\nFirst this.\n\n- then\n- that\n\n## Score\n9", {"path": "First this.\n\n- then\n- that", "score": 9}),
    ("## Path\nDo it.\n### Detail\nSoon.\n# End\nBye.", {"path": "Do it.\n### Detail\nSoon."}),
    ("## Path\n", {}),
    ("## Code\n```python\n# ## Stance\nagree\n```\nIt works.", {"code": "# ## Stance\nagree"}),
    ("## Code\n~~~\na\n```\nb\n~~~", {"code": "a\n```\nb"}),
    ("## Code\nx = 1", {"code": "x = 1"}),
    # only a fence of the same kind with nothing behind it closes a block
    ("## Code\n~~~\na\n```\n## Stance\nagree\n~~~", {"code": "a\n```\n## Stance\nagree"}),
    ("## Code\n```\na\n```python\n## Stance\nagree\n```", {"code": "a\n```python\n## Stance\nagree"}),
    ("## Code\n```\nx = 1\n## Stance\nagree", {"code": "x = 1\n## Stance\nagree"}),
    ("## Code\n```\n```", {}),
    ("Use ```x``` here.\n## Stance\nagree", {"stance": "agree"}),
    ("```x``` is it.\n## Stance\nagree", {"stance": "agree"}),
    # quoted, fenced, answered twice
    ("> ## Stance\n> disagree\n\n## Stance\nagree", {"stance": "agree"}),
    ("> ## Stance\n> disagree", {}),
    ("## Stance\n> disagree\n\nagree", {"stance": "agree"}),
    ("## Blocking\n> - theirs\n- mine", {"blocking": ("mine",)}),
    ("```\n## Stance\ndisagree\n```\n\n## Stance\nagree", {"stance": "agree"}),
    ("```markdown\n## Stance\nagree\n```", {"stance": "agree"}),
    ("\n````md\n## Stance\nagree\n\n## Code\n```\nx\n```\n````\n", {"stance": "agree", "code": "x"}),
    ("```markdown\n## Stance\nagree\n\n## Code\n```python\nx\n```\n```", {"stance": "agree", "code": "x"}),
    ("```\n## Stance\nagree\n```\n## Score\n9\n```\nx\n```", {"score": 9}),
    ("## Stance\nagree\n\n## Stance\nagree", {"stance": "agree"}),
    ("## Stance\nagree\n\n## Stance\ndisagree", {}),
    ("Stance: agree\n\n## Stance\nAgree.", {"stance": "agree"}),
    ("**Stance:**\n\n## Stance\nagree", {"stance": "agree"}),
    # line ends, scripts
    ("## Stance\r\nagree\r\n\r\n## Score\r\n85\r\n", {"stance": "agree", "score": 85}),
    ("## Stance\ragree", {"stance": "agree"}),
    ("\ufeff## Stance\nagree", {}),
    ("## Blocking\n- 成本太高\n- Überlauf möglich", {"blocking": ("成本太高", "Überlauf möglich")}),
    ("我的立场如下。\n\n## Stance\nmixed", {"stance": "mixed"}),
    ("", {}),
    ("Error: 429 rate limit", {}),
]


@pytest.mark.parametrize(("body", "answers"), MESSY, ids=[repr(body[:40]) for body, _ in MESSY])
def test_messy_replies(body: str, answers: dict[str, Any]) -> None:
    assert read(REPLY, body).found == answers


def test_what_was_wrong_is_said() -> None:
    short: Reply = (("stance", STANCE), ("score", Kind("range", low=0, high=100)), ("path", Kind("text")))
    answers = read(short, "Words.\n\n## Stance\nperhaps\n\n## Score\n1\n\n## Score\n2")
    assert answers.problems == (
        'the text under "## Stance" is not exactly one word of these: agree, mixed or disagree',
        '"Score" is answered more than once, and differently',
        'there is no "## Path"',
    )
    assert answers.prose == "Words."


# Echoes. A brief with what a peer said, then the format.

VOTE: Reply = (("stance", STANCE), ("blocking", Kind("list")))
PEER = "I have measured it.\n\nIt is slow.\n\n## Stance\ndisagree\n\n## Blocking\n- the latency"
MARKED = f'<said by="Engineer" key="ab12">\n{PEER}\n</said by="Engineer" key="ab12">'
OWN = "## Stance\nagree\n\n## Blocking\nnone"
FORM = describe(VOTE)
OTHER = '<said by="Writer" key="cd34">\nNothing new.\n</said by="Writer" key="cd34">'
BRIEF = f"You are the designer.\n\n{MARKED}\n\n{OTHER}\n\n---\n\nEnd your reply so:\n\n{FORM}"


@pytest.mark.parametrize(
    ("body", "answers"),
    [
        (FORM, {}),
        (BRIEF, {}),
        (f"End your reply so:\n\n{FORM}", {}),
        ("\n".join(f"- {line}" if line.startswith("[") else line for line in FORM.splitlines()), {}),
        (MARKED, {}),
        (f"{MARKED}\n\n{OWN}", {"stance": "agree", "blocking": ()}),
        (f"{MARKED.splitlines()[0]}\n{PEER}\n\n{OWN}", {}),  # the end of the quotation is missing: nothing is safe
        (f"{MARKED.replace('ab12', 'ffff')}", {}),  # the marks are forged, but the words are the engineer's
        (PEER, {}),
        (f"{PEER}\n\n{OWN}", {"stance": "agree", "blocking": ()}),
        (f"The engineer says:\n\n{PEER}", {}),
        ("## Stance\ndisagree\n\n## Blocking\n- the latency", {"stance": "disagree", "blocking": ("the latency",)}),
        (f"It is slow.\n\n{OWN}", {"stance": "agree", "blocking": ()}),  # the quotation ends where the words differ
        (f"---\n\n{OWN}", {"stance": "agree", "blocking": ()}),  # a ruled line is nobody's
        (f"End your reply so:\n\n{OWN}", {"stance": "agree", "blocking": ()}),
        (
            '<said by="Engineer" key="ab12">slow</said by="Engineer" key="ab12">\n\n' + OWN,
            {"stance": "agree", "blocking": ()},
        ),
        (
            '<said by="Engineer" key="ab12">\n</said by="Writer" key="cd34">\n## Stance\ndisagree\n'
            '</said by="Engineer" key="ab12">\n' + OWN,
            {"stance": "agree", "blocking": ()},
        ),
    ],
)
def test_echoes_are_no_answers(body: str, answers: dict[str, Any]) -> None:
    assert read(VOTE, body, BRIEF).found == answers


@pytest.mark.parametrize(
    ("reason", "counts"),
    [
        ("This matters most.", True),
        ("Rehearse the cutover, because it failed us twice this year.", True),
        ("I measured it twice, and nine of ten requests were writes.", True),
        ("I measured it twice, and nine of ten slow requests were writes.", False),
        ("I measured it for a month, and nine of ten slow requests were writes.", False),
        ("I measured it.\n\nIt is slow.", False),
    ],
)
def test_two_who_vote_alike_may_give_the_same_short_reason(reason: str, counts: bool) -> None:
    reply = f"{reason}\n\n## Stance\ndisagree\n\n## Blocking\nnone"
    brief = BRIEF.replace(PEER, reply)
    expected = {"stance": "disagree", "blocking": ()} if counts else {}
    assert read(VOTE, reply, brief).found == expected
    assert read(VOTE, f"Another thing first.\n\n{reply}", brief).found == expected


# Properties

WORDS = st.text(st.characters(categories=("Lu", "Ll", "Nd")), min_size=1, max_size=12)
LINES = (
    st.lists(st.just("x") | WORDS, min_size=1, max_size=6)
    .map(" ".join)
    .filter(lambda line: format_heading(line) != "None")
)
NAMES = st.from_regex(r"[a-z][a-z]{2,8}(_[a-z]{2,5})?", fullmatch=True)
OPTIONS = st.lists(st.from_regex(r"[a-z]{2,8}([ _-][a-z]{2,8})?", fullmatch=True), min_size=2, max_size=4, unique=True)


@st.composite
def answered(draw: st.DrawFn) -> tuple[Kind, str, Any]:
    """A kind, an answer of that kind as somebody would write it into the format, and its value."""
    named = draw(st.sampled_from(["text", "list", "code", "integer", "range", "choice"]))
    if named == "choice":
        options = tuple(draw(OPTIONS.filter(lambda given: len({one.replace("_", "") for one in given}) == len(given))))
        chosen = draw(st.sampled_from(options))
        return Kind(named, options=options), chosen, chosen
    if named == "range":
        low = draw(st.integers(0, 50))
        kind = Kind(named, low=low, high=low + draw(st.integers(1, 100)))
        value = draw(st.integers(int(kind.low), int(kind.high)))
        return kind, str(value), value
    if named == "integer":
        value = draw(st.integers(-(10**9), 10**9))
        return Kind(named), str(value), value
    if named == "list":
        items = tuple(f"item {item}" for item in draw(st.lists(LINES, max_size=4)))
        return Kind(named), "\n".join(f"- {item}" for item in items) or "none", items
    text = "\n".join(f"line {line}" for line in draw(st.lists(LINES, min_size=1, max_size=4)))
    return (Kind(named), f"```\n{text}\n```", text) if named == "code" else (Kind(named), text, text)


FORMS = st.dictionaries(NAMES, answered(), min_size=1, max_size=5).filter(
    lambda given: len({format_heading(name) for name in given}) == len(given) and not {"item", "line"} & set(given)
)


@settings(deadline=None)
@given(form=FORMS)
def test_what_describe_prints_is_no_answer(form: dict[str, tuple[Kind, str, Any]]) -> None:
    reply = tuple((name, kind) for name, (kind, _, _) in form.items())
    assert read(reply, describe(reply)).found == {}
    assert read(reply, describe(reply), describe(reply)).found == {}
    assert len(read(reply, describe(reply)).problems) == len(reply)


@settings(deadline=None)
@given(form=FORMS)
def test_a_format_that_is_filled_in_is_read_back(form: dict[str, tuple[Kind, str, Any]]) -> None:
    reply = tuple((name, kind) for name, (kind, _, _) in form.items())
    filled = "Some words first.\n\n" + "\n\n".join(
        f"## {format_heading(name)}\n{text}" for name, (_, text, _) in form.items()
    )
    wanted = {name: value for name, (_, _, value) in form.items()}
    for body in (filled, filled.replace("\n", "\r\n"), f"````markdown\n{filled}\n````"):
        answers = read(reply, body, f"The brief.\n\n{describe(reply)}")
        assert (answers.found, answers.problems) == (wanted, ())


NOISE = [
    "## Stance\n",
    "agree",
    "\n",
    "> ",
    "```",
    "- ",
    "**Blocking:**",
    " ",
    ":",
    "#",
    "\u2028",
    "\r",
    "\x00",
    "\udc80",
]


@settings(max_examples=300, deadline=None)
@given(body=st.text() | st.lists(st.sampled_from(NOISE)).map("".join), brief=st.text() | st.just(BRIEF))
def test_nothing_that_is_said_raises(body: str, brief: str) -> None:
    answers = read(REPLY, body, brief)
    assert set(answers.found) | set(answers.missing) == {name for name, _ in REPLY}
    assert not set(answers.found) & set(answers.missing)
    assert answers.found.get("stance") in (None, *STANCE.options)


# Speed: four times the text may take a little more than four times as long, and never sixteen times.

PIECES = """
> |#|# |*|**|* |`|```¶|~|-|- |_|¶| ¶|1|1,|1.|“|"|'|→|(|<said by="|agree |None |None.|I |I disagree|ly|¶¶ |- a¶|> a¶|ß
## Stance¶|**Stance:** |a: |\x1b[|\x1b]|\u00a0|\u2028
"""
PIECE = [piece.replace("¶", "\n").replace("→", "\t") for line in PIECES.split("\n")[1:-1] for piece in line.split("|")]
FRAMES = [
    "{}",
    "## Stance\n{}",
    "## Score\n{}",
    "## Blocking\n{}",
    "| a | b |\n{}x\n| c | d |",
    "# {}x",
    "**{}x",
    "- {}x",
    "{}\n## Stance\nagree",
]
READERS: dict[str, Callable[[str], object]] = {
    "read": lambda text: read.__wrapped__(REPLY, text, BRIEF),
    "disagreement": lambda text: disagreement(scene(turn("a", body=text))),
    "dissent": lambda text: find_missing_dissent(scene(turn("a", stance="disagree", blocking=("the latency",))), text),
    "overlap": lambda text: overlap(text, text),
    "harmless": harmless,
    "sources": lambda text: Sources({}, {}).cite(f"- {text}x"),
}


def grows(reader: Callable[[str], object], small: str, large: str) -> float:
    return compare(partial(reader, large), partial(reader, small), most=10)


@pytest.mark.slow
@pytest.mark.parametrize("name", READERS)
def test_reading_takes_as_long_as_the_text(name: str) -> None:
    for frame in FRAMES if name == "read" else FRAMES[:1]:
        for piece in PIECE:
            small, large = (frame.replace("{}", piece * (size // len(piece))) for size in (2_000, 8_000))
            ratio = grows(READERS[name], small, large)
            assert ratio <= 10, f"{frame!r} of {piece!r}: four times the text takes {ratio:.0f} times as long"


@pytest.mark.parametrize("piece", ["> ", "#", "**", "`", "“", "> a\n"])
def test_a_megabyte_is_read(piece: str) -> None:
    small, large = (piece * (size // len(piece)) for size in (250_000, 1_000_000))
    assert grows(READERS["read"], small, large) <= 10
