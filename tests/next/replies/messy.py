# ruff: noqa: RUF001 (letters that look like others are what is read here)
"""Replies as people and models write them, and what is read of each: its answers, or what is asked for again.

Nothing is guessed. Where two readers could differ about a reply, it is asked for again, and so is whatever would be
left out unseen. A reply that every reader would understand in the same way should be read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from council.next.replies.kinds import Kind, Signature, kind


def form_of(**declared: str) -> dict[str, Kind]:
    return {name: kind(words) for name, words in declared.items()}


DEBATE = form_of(
    signs="vote",
    recommendation="text ?",
    conditions="list ?",
    blocking="list ?",
    rulings="list ?",
    moved_by="text ?",
)
POLL = form_of(move_on="yes | no")
CHAIR = form_of(title="text", follows="id | none", areas_of_convergence="list", confidence="high | medium | low")
SCORES = form_of(stance="agree | disagree", score="0-100 ?", critical_count="integer ?", blocking="list ?")

# What a member is told, in part.
MISSING = "the heading is missing"
EMPTY = "there is nothing below the heading"
LABEL = "write this heading on a line of its own"
TWICE = "it is answered twice"
FORMAT = "it must be"
NO_ITEM = "there is no item"
ITEMS = "one item a line"
BOTH = 'items and the word "none"'

R1, R2 = Signature("R1"), Signature("R2")
TALK = "The cache hides the fault, and nobody has measured yet why the queries are slow at night."


@dataclass(frozen=True)
class Messy:
    why: str
    body: str
    found: Mapping[str, Any] = field(default_factory=dict)
    asked: Mapping[str, str] = field(default_factory=dict)
    form: Mapping[str, Kind] = field(default_factory=lambda: DEBATE)


def headed(why: str, heading: str) -> Messy:
    return Messy(why, f"{TALK}\n\n{heading}\nR2", {"signs": R2})


HEADINGS = (
    headed("as asked", "## Signs"),
    headed("another level", "#### Signs"),
    headed("capitals", "## SIGNS"),
    headed("lower case", "## signs"),
    headed("a colon", "## Signs:"),
    headed("a wide colon", "## Signs\uff1a"),
    headed("a dash", "## Signs –"),
    headed("bold", "## **Signs**"),
    headed("bold with a colon", "## **Signs:**"),
    headed("italic", "## _Signs_"),
    headed("code", "## `Signs`"),
    headed("closing hashes", "## Signs ##"),
    headed("a number", "## 1. Signs"),
    headed("a number in brackets", "## (1) Signs"),
    headed("a picture", "## ✅ Signs"),
    headed("a remark in brackets", "## Signs (required)"),
    headed("a translation in brackets", "## Signs (unterschreibt)"),
    headed("a hyphen", "**Signs** –"),
    headed("a bold label", "**Signs**"),
    headed("a bold label with its colon inside", "**Signs:**"),
    headed("a bold label with its colon outside", "**Signs**:"),
    headed("a bold label with underscores", "__Signs__:"),
    headed("a bold label of an unclosed span", "**Signs:"),
    headed("setext", "Signs\n-----"),
    headed("setext with equals signs", "Signs\n====="),
    headed("indented by three", "   ## Signs"),
    headed("wide letters", "## \uff33\uff49\uff47\uff4e\uff53"),
    headed("a space behind", "## Signs   "),
    headed("a blank line below", "## Signs\n"),
    Messy("no space behind the hashes", f"{TALK}\n\n##Signs\nR2", {}, {"signs": LABEL}),
    Messy("no mark at all", f"{TALK}\n\nSigns\nR2", {}, {"signs": LABEL}),
    Messy(
        "a list of headings",
        "- ## Signs\n\n  R2\n\n- ## Conditions\n\n  none",
        {},
        {"signs": LABEL, "conditions": LABEL},
    ),
    Messy("translated", f"{TALK}\n\n## Unterschrift\nR2", {}, {"signs": MISSING}),
    Messy("translated, with ours in brackets", f"{TALK}\n\n## 签署 (Signs)\nR2", {}, {"signs": MISSING}),
    Messy("another word", f"{TALK}\n\n## Signature\nR2", {}, {"signs": MISSING}),
    Messy("more words", f"{TALK}\n\n## What I sign\nR2", {}, {"signs": MISSING}),
    Messy("more words, far behind", f"## Signs{' ' * 200}of trouble\nR2", {}, {"signs": MISSING}),
    Messy("HTML", f"{TALK}\n\n<h2>Signs</h2>\nR2", {}, {"signs": MISSING}),
    Messy("indented by four: code", f"{TALK}\n\n    ## Signs\n    R2", {}, {"signs": MISSING}),
    Messy("a Cyrillic letter", f"{TALK}\n\n## S\u0456gns\nR2", {}, {"signs": MISSING}),
    Messy(
        "two words with a hyphen, an underscore, or none",
        "## Moved-by\n“night”\n\n## SIGNS\nR2",
        {"moved_by": "“night”", "signs": R2},
    ),
    Messy("an underscore", "## moved_by\n“night”\n\n## Signs\nR2", {"moved_by": "“night”", "signs": R2}),
    Messy(
        "a heading above all answers",
        f"{TALK}\n\n# My answers\n\n## Signs\nR2\n\n## Blocking\n- no backup",
        {"signs": R2, "blocking": ("no backup",)},
    ),
    Messy(
        "answers below each other's level",
        "# Signs\nR2\n\n## Conditions\n- K1\n\n### Blocking\nnone",
        {"signs": R2, "conditions": ("K1",), "blocking": ()},
    ),
    Messy(
        "a heading inside an answer",
        "## Recommendation\nKeep it.\n\n### Why\nIt is cheap.\n\n## Signs\nown",
        {"recommendation": "Keep it.\n\n### Why\nIt is cheap.", "signs": Signature("own")},
    ),
    Messy(
        "another heading behind an answer",
        "## Signs\nR2\n\n## Thanks\nto all of you.",
        {"signs": R2},
    ),
)

PLACES = (
    Messy("behind the heading", f"{TALK}\n\n## Signs: R2", {"signs": R2}),
    Messy("behind the heading and a dash", f"{TALK}\n\n## Signs – R2", {"signs": R2}),
    Messy("behind a bold label", f"{TALK}\n\n**Signs:** R2", {"signs": R2}),
    Messy("inside a bold label", f"{TALK}\n\n**Signs: R2**", {"signs": R2}),
    Messy(
        "a text inside a bold label",
        "**Recommendation: Keep it.**\n\n**Signs:** own",
        {"recommendation": "Keep it.", "signs": Signature("own")},
    ),
    Messy(
        "a text behind a bold heading",
        "## **Recommendation:** Keep **it**.\n\n## Signs\nown",
        {"recommendation": "Keep **it**.", "signs": Signature("own")},
    ),
    Messy("behind a bold label and a dash", f"{TALK}\n\n**Signs** — R2", {"signs": R2}),
    Messy(
        "bold labels in one paragraph",
        "**Signs:** R2\n**Conditions:** K1\n**Moved by:** none",
        {"signs": R2, "conditions": ("K1",), "moved_by": ""},
    ),
    Messy(
        "bold labels with lists",
        "**Signs:** R2\n\n**Conditions:**\n- K1\n- a drill\n\n**Blocking:** none",
        {"signs": R2, "conditions": ("K1", "a drill"), "blocking": ()},
    ),
    Messy(
        "a bold label with a sentence: it may say that there is nothing",
        "**Signs:** R2\n\n**Blocking:** No item of mine blocks.",
        {"signs": R2},
        {"blocking": ITEMS},
    ),
    Messy("a label", f"{TALK}\n\nSigns: R2", {"signs": R2}),
    Messy("a label at once", "Signs: R2", {"signs": R2}),
    Messy("a label in a list", f"{TALK}\n\n- Signs: R2", {"signs": R2}),
    Messy("a bold label in a list", f"{TALK}\n\n- **Signs:** R2", {"signs": R2}),
    Messy("a label with a remark", f"{TALK}\n\nSigns: R2, if it is cheap", {}, {"signs": LABEL}),
    Messy("a label of somebody else's", "Ada wrote:\n\nSigns: R1\n\nI do not follow her.", {}, {"signs": LABEL}),
    Messy("labels of somebody else's", "Ada wrote:\n\n- Signs: R1\n- Score: 9\n\nNo.", {}, {"signs": LABEL}),
    Messy("a label, and a rule below it", f"{TALK}\n\nSigns: R2\n\n---", {"signs": R2}),
    Messy("a label, and code below it", "Signs: R2\n\n```\nR1\n```", {}, {"signs": LABEL}),
    Messy("a label, and a quotation below it", "Signs: R2\n\n> No.", {}, {"signs": LABEL}),
    Messy("a label, and a heading below it", "Signs: R2\n\n## Or not", {}, {"signs": LABEL}),
    Messy("a label above other items", "- Signs: R2\n- and so on", {}, {"signs": LABEL}),
    Messy("two labels", "Signs: R2\n\nOr not.\n\nSigns: R1", {}, {"signs": LABEL}),
    Messy(
        "labels of answers that are words: they may be talk",
        "Signs: R2\nConditions: K1\nRecommendation: measure it first",
        {"signs": R2},
        {"conditions": LABEL, "recommendation": LABEL},
    ),
    Messy(
        "a sentence that begins like a label, above the form",
        "Recommendation: wait until it was measured.\n\n## Recommendation\nMeasure it first.\n\n## Signs\nown",
        {"recommendation": "Measure it first.", "signs": Signature("own")},
    ),
    Messy(
        "a wrapped line that begins like a label",
        "We do not agree about the two\nconditions: one of them is mine.\n\n## Signs\nR2\n\n## Conditions\n- K1",
        {"signs": R2, "conditions": ("K1",)},
    ),
    Messy("an optional answer in a list", "- Blocking: no backup\n\n## Signs\nR2", {"signs": R2}, {"blocking": LABEL}),
    Messy(
        "an optional answer in a table", "| Blocking | no backup |\n\n## Signs\nR2", {"signs": R2}, {"blocking": LABEL}
    ),
    Messy(
        "an optional answer without a space",
        "##Blocking\n- no backup\n\n## Signs\nR2",
        {"signs": R2},
        {"blocking": LABEL},
    ),
    Messy(
        "an optional answer without a mark",
        "Blocking\n\n- no backup\n\n## Signs\nR2",
        {"signs": R2},
        {"blocking": LABEL},
    ),
    Messy("a table", f"{TALK}\n\n| Signs | R2 |\n|---|---|", {}, {"signs": LABEL}),
    Messy("a table with a head", "| Answer | Value |\n|---|---|\n| Signs | R2 |", {}, {"signs": LABEL}),
    Messy("a table on its side", "| Signs | Blocking |\n|---|---|\n| R2 | none |", {}, {"signs": LABEL}),
    Messy("a table about others", "| Member | Signs |\n|---|---|\n| Ada | R2 |", {}, {"signs": MISSING}),
    Messy("an object", '{"signs": "R2"}', {}, {"signs": MISSING}),
    Messy("an object in a fence", '```json\n{"signs": "R2"}\n```', {}, {"signs": MISSING}),
    Messy("a sentence", "My signs are R2.", {}, {"signs": MISSING}),
    Messy("nothing but the answer", "R2", {}, {"signs": MISSING}),
    Messy("nothing", "", {}, {"signs": MISSING}),
    Messy("the whole reply in a fence", f"```markdown\n{TALK}\n\n## Signs\nR2\n```", {"signs": R2}),
    Messy("the whole reply in a fence without a word", f"```\n{TALK}\n\n## Signs\nR2\n```", {"signs": R2}),
    Messy("a fence with an end that is missing", f"```\n{TALK}\n\n## Signs\nR2", {"signs": R2}),
    Messy("a fence inside talk", f"I would write:\n\n```\n## Signs\nR2\n```\n\n{TALK}", {}, {"signs": MISSING}),
    Messy("a longer fence", "````\n```\n## Signs\nR2\n```\n````\n\nTalk.", {}, {"signs": MISSING}),
    Messy("tildes", "~~~\n## Signs\nR2\n~~~\n\nTalk.", {}, {"signs": MISSING}),
    Messy("an answer in a fence", "## Signs\n```\nR2\n```", {"signs": R2}),
    Messy("an answer in quotation marks", "## Signs\n“R2”", {"signs": R2}),
    Messy("an answer that is a quotation", "## Signs\n> R2", {}, {"signs": FORMAT}),
    Messy("the form as a quotation", "> ## Signs\n> R2", {}, {"signs": MISSING}),
    Messy("a quotation above the answer", "## Signs\n> Ada: R1\n\nR2", {"signs": R2}),
)

ECHOES = (
    Messy(
        "the placeholder above the answer",
        f"{TALK}\n\n## Signs\n{DEBATE['signs'].placeholder()}\nR2",
        {"signs": R2},
    ),
    Messy(
        "the placeholder above the items",
        f"## Signs\nR2\n\n## Conditions\n{DEBATE['conditions'].placeholder()}\n- K1",
        {"signs": R2, "conditions": ("K1",)},
    ),
    Messy(
        "optional headings that are not filled in",
        f"{TALK}\n\n## Signs\nR2\n\n## Conditions\n{DEBATE['conditions'].placeholder()}",
        {"signs": R2},
    ),
    Messy("a heading that is not filled in", f"## Signs\n{DEBATE['signs'].placeholder()}", {}, {"signs": MISSING}),
    Messy(
        "an optional heading with nothing below it: it may withdraw all or change nothing",
        "## Signs\nR2\n\n## Conditions\n\n## Moved by\n",
        {"signs": R2},
        {"conditions": NO_ITEM, "moved_by": EMPTY},
    ),
    Messy(
        "the format in other words",
        "## Signs\n[one id]",
        {},
        {"signs": FORMAT},
    ),
    Messy(
        "the format of a text in other words",
        "## Signs\nR2\n\n## Recommendation\n[your new text]",
        {"signs": R2},
        {"recommendation": "in place of those in brackets"},
    ),
    Messy(
        "the form, and then the reply",
        "\n\n".join(
            f"## {name}\n{DEBATE[key].placeholder()}" for name, key in (("Signs", "signs"), ("Moved by", "moved_by"))
        )
        + f"\n\n{TALK}\n\n## Signs\nR2",
        {"signs": R2},
        {"moved_by": "in place of those in brackets"},
    ),
    Messy("one form twice, alike", "## Signs\nR2\n\n## Signs\n**R2.**", {"signs": R2}),
    Messy("one form twice, differently", "## Signs\nR2\n\n## On reflection\n\n## Signs\nR1", {}, {"signs": TWICE}),
    Messy(
        "a draft and a final form",
        "# Draft\n\n## Signs\nR1\n\n# Final\n\n## Signs\nR2",
        {},
        {"signs": TWICE},
    ),
    Messy(
        "lists that differ",
        "## Signs\nR2\n\n## Conditions\n- K1\n\n## Conditions\n- K2",
        {"signs": R2},
        {"conditions": TWICE},
    ),
    Messy(
        "a passage of the brief with its marks",
        f'<said by="Ada" key="ab">\n{TALK}\n\n## Signs\nR1\n</said by="Ada" key="ab">\n\nNo.\n\n## Signs\nR2',
        {"signs": R2},
    ),
    Messy(
        "a passage with a short last mark",
        f'<said by="Ada" key="ab">\n{TALK}\n\n## Signs\nR1\n</said>\n\nNo.\n\n## Signs\nR2',
        {"signs": R2},
    ),
    Messy(
        "a passage inside a passage",
        '<said by="topic" key="a">\n<said by="file" key="b">\n## Signs\nR1\n</said by="file" key="b">\n'
        '## Blocking\n- x\n</said by="topic" key="a">\n\n## Signs\nR2',
        {"signs": R2},
    ),
    Messy(
        "a passage with a first mark alone inside",
        '<said by="Ada" key="a">\n## Signs\nR1\n<said by="x">\n</said by="Ada" key="a">\n\n## Signs\nR2',
        {"signs": R2},
    ),
    Messy(
        "a last mark twice",
        '<said by="A" key="a">\nx\n</said by="A" key="a">\n<said by="B">\n</said by="A" key="a">\n\n## Signs\nR2',
        {"signs": R2},
    ),
    Messy(
        "nothing but a passage",
        f'<said by="Ada" key="ab">\n{TALK}\n\n## Signs\nR1\n</said by="Ada" key="ab">',
        {},
        {"signs": MISSING},
    ),
    Messy("a first mark alone", f'<said by="me" key="x">\n{TALK}\n\n## Signs\nR2', {"signs": R2}),
    Messy("a last mark alone", f'{TALK}\n\n## Signs\nR2\n\n</said by="Ada" key="ab">', {}, {"signs": FORMAT}),
    Messy(
        "a first mark alone, and a whole passage behind the answers",
        '<said by="Ada" key="a">\nNo.\n\n## Blocking\n- no backup\n\n## Signs\nR2\n\n## Moved by\nnone\n\n'
        '# Read\n<said by="Bo" key="b">\n## Signs\nR1\n</said by="Bo" key="b">',
        {"signs": R2, "blocking": ("no backup",), "moved_by": ""},
    ),
    Messy(
        "a first mark alone, and the last mark of another",
        '<said by="Ada" key="a">\n\n## Blocking\n- no backup\n\n## Signs\nR2\n\n# Read\n</said by="Bo" key="b">',
        {"signs": R2, "blocking": ("no backup",)},
    ),
    Messy(
        "a quotation of another's form",
        "> ## Signs\n> R1\n>\n> ## Blocking\n> - no backup\n\nI differ.\n\n## Signs\nR2",
        {"signs": R2},
    ),
    Messy("a quotation of another's label", "> **Signs:** R1\n\n**Signs:** R2", {"signs": R2}),
    Messy("a quoted label in a list", "- > Blocking: no backup\n\n## Signs\nR2", {"signs": R2}),
    Messy(
        "another's form below a heading with a name",
        f"## Engineer\n{TALK}\n\n## Signs\nR1\n\n## Me\nI differ.\n\n## Signs\nR2",
        {},
        {"signs": TWICE},
    ),
)

LISTS = tuple(
    Messy(why, f"{TALK}\n\n## Signs\nR2\n\n## Conditions\n{below}", {"signs": R2, **found}, asked)
    for why, below, found, asked in (
        ("hyphens", "- a drill\n- a load test", {"conditions": ("a drill", "a load test")}, {}),
        ("stars", "* a drill\n* a load test", {"conditions": ("a drill", "a load test")}, {}),
        ("plus signs", "+ a drill\n+ a load test", {"conditions": ("a drill", "a load test")}, {}),
        ("numbers", "1. a drill\n2. a load test", {"conditions": ("a drill", "a load test")}, {}),
        ("numbers with brackets", "1) a drill\n2) a load test", {"conditions": ("a drill", "a load test")}, {}),
        ("round bullets", "• a drill\n• a load test", {"conditions": ("a drill", "a load test")}, {}),
        ("dashes", "– a drill\n– a load test", {"conditions": ("a drill", "a load test")}, {}),
        ("blank lines", "- a drill\n\n- a load test", {"conditions": ("a drill", "a load test")}, {}),
        ("indented", "  - a drill\n  - a load test", {"conditions": ("a drill", "a load test")}, {}),
        ("wrapped", "- a drill, by\n  all\n- a load test", {"conditions": ("a drill, by all", "a load test")}, {}),
        ("wrapped without an indent", "- a drill, by\neverybody", {"conditions": ("a drill, by everybody",)}, {}),
        ("two lists", "- a drill\n\n* a load test", {"conditions": ("a drill", "a load test")}, {}),
        ("parts", "- a drill\n  - in May\n  - in June", {"conditions": ("a drill\n- in May\n- in June",)}, {}),
        ("ids without marks", "K1\nK2: with a drill", {"conditions": ("K1", "K2: with a drill")}, {}),
        ("ids in one line", "K1, K2", {"conditions": ("K1, K2",)}, {}),
        ("ids with dashes", "K1 – as it is\nK2", {"conditions": ("K1 – as it is", "K2")}, {}),
        ("a sentence about an id", "K2 does not matter to me any more.", {}, {"conditions": ITEMS}),
        ("a check box", "- [ ] a drill", {"conditions": ("[ ] a drill",)}, {}),
        ("a list in a fence", "```\n- a drill\n- a load test\n```", {"conditions": ("a drill", "a load test")}, {}),
        ("none", "none", {"conditions": ()}, {}),
        ("None.", "None.", {"conditions": ()}, {}),
        ("none with a Chinese stop", "none。", {"conditions": ()}, {}),
        ("none in a list", "- none", {"conditions": ()}, {}),
        ("none in italics", "*none*", {"conditions": ()}, {}),
        ("none in brackets", "(none)", {"conditions": ()}, {}),
        ("a dash", "—", {"conditions": ()}, {}),
        ("n/a", "N/A", {"conditions": ()}, {}),
        ("a line above the items", "Two things:\n- a drill\n- a load test", {}, {"conditions": ITEMS}),
        ("a line that takes the items back", "I no longer ask for these:\n- K1\n- K2", {}, {"conditions": ITEMS}),
        ("a line below the items", "- a drill\n\nThe drill matters more.", {}, {"conditions": ITEMS}),
        ("a greeting below the items", "- a drill\n\nThank you all!", {}, {"conditions": ITEMS}),
        ("code beside the items", "- a drill\n\n```\nmake drill\n```", {}, {"conditions": ITEMS}),
        ("headings among the items", "### Needed\n- K1\n\n### Not needed\n- K2", {}, {"conditions": ITEMS}),
        ("a quotation beside the items", "- a drill\n\n> - a quoted one", {"conditions": ("a drill",)}, {}),
        ("none and items", "none\n- a drill", {}, {"conditions": BOTH}),
        ("items and none", "- a drill\n- none", {}, {"conditions": BOTH}),
        ("a sentence", "A drill must have been held.", {}, {"conditions": ITEMS}),
        ("a sentence that says none", "No conditions from my side.", {}, {"conditions": ITEMS}),
        ("a sentence that says none, in German", "Keine.", {}, {"conditions": ITEMS}),
        ("a sentence that says none, in Chinese", "没有条件。", {}, {"conditions": ITEMS}),
        ("a sentence that says none, in Spanish", "Ninguna por ahora.", {}, {"conditions": ITEMS}),
        ("a wrapped sentence", "A drill must have\nbeen held.", {}, {"conditions": ITEMS}),
        ("two paragraphs", "A drill.\n\nA load test.", {}, {"conditions": ITEMS}),
        ("a table", "| K1 | kept |\n|---|---|", {}, {"conditions": ITEMS}),
        ("empty items", "-\n-", {}, {"conditions": NO_ITEM}),
        ("a quotation", "> - a drill", {}, {"conditions": NO_ITEM}),
        ("a rule", "***", {}, {"conditions": NO_ITEM}),
    )
)  # fmt: skip

ENDINGS = (
    Messy("a rule behind the last answer", f"{TALK}\n\n## Signs\nR2\n\n---", {"signs": R2}),
    Messy(
        "a rule close to the answer", f"{TALK}\n\n## Signs\nR2\n---\n\n## Blocking\nnone", {"signs": R2, "blocking": ()}
    ),
    Messy(
        "rules between the answers",
        "---\n\n## Signs\nR2\n\n---\n\n## Blocking\n- x\n\n---",
        {"signs": R2, "blocking": ("x",)},
    ),
    Messy(
        "a rule behind a text",
        "## Recommendation\nKeep it.\n\nMeasure it.\n---\n## Signs\nown",
        {"recommendation": "Keep it.\n\nMeasure it.", "signs": Signature("own")},
    ),
    Messy(
        "a rule inside a text",
        "## Recommendation\nKeep it.\n\n---\n\nMeasure it.\n\n## Signs\nown",
        {"recommendation": "Keep it.\n\n---\n\nMeasure it.", "signs": Signature("own")},
    ),
    Messy("a reason below the answer", "## Signs\nR2\n\nIt is the cheapest of all.", {}, {"signs": FORMAT}),
    Messy("a reason behind the answer", "## Signs\nR2 – it is the cheapest", {}, {"signs": FORMAT}),
    Messy("a greeting below the answer", "## Signs\nR2\n\nBest wishes, Marcus", {}, {"signs": FORMAT}),
    Messy("a comment", "## Signs\nR2 <!-- sure -->", {}, {"signs": FORMAT}),
    Messy("an answer struck through", "## Signs\n~~R1~~ R2", {}, {"signs": FORMAT}),
    Messy("an answer struck through, alone", "## Signs\n~~R2~~", {}, {"signs": FORMAT}),
    Messy(
        "a mark of thought", f"<think>\nR1?\n\n## Signs\nR1\n</think>\n\n{TALK}\n\n## Signs\nR2", {}, {"signs": FORMAT}
    ),
)

LANGUAGES = (
    Messy(
        "German",
        "Der Cache verdeckt den Fehler: er heilt nichts. Bedingungen: keine.\n\n## Signs\nR2\n\n## Conditions\n"
        "- Ein Lasttest mit 180 Aufträgen je Sekunde\n\n## Moved by\n„Niemand hat gemessen.“",
        {
            "signs": R2,
            "conditions": ("Ein Lasttest mit 180 Aufträgen je Sekunde",),
            "moved_by": "„Niemand hat gemessen.“",
        },
    ),
    Messy(
        "German, none with a reason",
        "Ich bleibe dabei.\n\n## Signs\nnone: beide sind zu teuer, und R1 wurde nie gemessen",
        {"signs": Signature("none", "beide sind zu teuer, und R1 wurde nie gemessen")},
    ),
    Messy(
        "German, the word translated",
        "Ich bleibe dabei.\n\n## Signs\nkeine: beide sind zu teuer",
        {},
        {"signs": FORMAT},
    ),
    Messy("German, all headings translated", "## Unterschreibt\nR2\n\n## Bedingungen\n- K1", {}, {"signs": MISSING}),
    Messy("German, a remark", "## Signs\nR2, sofern K1 gilt", {}, {"signs": FORMAT}),
    Messy("German, quotation marks", "## Signs\n„R2“.", {"signs": R2}),
    Messy(
        "Chinese",
        "缓存掩盖了问题：没有人测量过查询为什么慢。\n\n## Signs\nR2\n\n## Conditions\n- 先做负载测试\n- K1：保留\n\n"
        "## Blocking\nnone",
        {"signs": R2, "conditions": ("先做负载测试", "K1：保留"), "blocking": ()},
    ),
    Messy(
        "Chinese, wide colons and stops",
        "我同意。\n\n## Signs\uff1a\nR2。\n\n## Rulings\n- K2：reject：太贵",
        {"signs": R2, "rulings": ("K2：reject：太贵",)},
    ),
    Messy("Chinese, none with a wide colon", "## Signs\nnone：没有人值班", {"signs": Signature("none", "没有人值班")}),
    Messy("Chinese, undecided", "## Signs\nundecided：缺少数据", {"signs": Signature("undecided", "缺少数据")}),
    Messy("Chinese, quotation marks", "## Signs\n「R2」", {"signs": R2}),
    Messy("Chinese, brackets", "## Signs\n【R2】", {"signs": R2}),
    Messy("Chinese, wide letters", "## Signs\nＲ２", {"signs": R2}),
    Messy("Chinese, a bold label", "我同意。\n\n**Signs：** R2", {"signs": R2}),
    Messy("Chinese, the word translated", "## Signs\n同意 R2", {}, {"signs": FORMAT}),
    Messy("Chinese, all headings translated", "## 签署\nR2", {}, {"signs": MISSING}),
    Messy("Chinese, an explanation", "## Signs\nR2（因为便宜）", {}, {"signs": FORMAT}),
    Messy(
        "Spanish",
        "La caché oculta el fallo; nadie lo ha medido.\n\n## Signs\nR2\n\n## Conditions\n- Una prueba de carga\n\n"
        "## Recommendation\nNone",
        {"signs": R2, "conditions": ("Una prueba de carga",), "recommendation": ""},
    ),
    Messy(
        "Spanish, undecided",
        "## Signs\nundecided: faltan las cifras de mayo",
        {"signs": Signature("undecided", "faltan las cifras de mayo")},
    ),
    Messy("Spanish, the word translated", "## Signs\nninguna: faltan cifras", {}, {"signs": FORMAT}),
    Messy("Spanish, a remark", "## Signs\nR2, con reservas", {}, {"signs": FORMAT}),
    Messy("Spanish, a heading translated", "## Firma\nR2\n\n## Condiciones\n- K1", {}, {"signs": MISSING}),
    Messy("French, spaces and quotation marks", "## Signs :\n« R2 »", {"signs": R2}),
    Messy("Arabic talk", "لم يقس أحد السبب.\n\n## Signs\nR2", {"signs": R2}),
    Messy("Arabic digits", "## Signs\nR٢", {}, {"signs": FORMAT}),
    Messy("Japanese", "誰も測っていません。\n\n## Signs\nR2\n\n## Blocking\nnone", {"signs": R2, "blocking": ()}),
)

CHARACTERS = (
    Messy("a byte order mark", "\ufeff## Signs\nR2", {"signs": R2}),
    Messy(
        "Windows lines",
        f"{TALK}\r\n\r\n## Signs\r\nR2\r\n\r\n## Blocking\r\n- a\r\n- b\r\n",
        {"signs": R2, "blocking": ("a", "b")},
    ),
    Messy("lines of old Macs", f"{TALK}\r\r## Signs\rR2\r", {"signs": R2}),
    Messy("a NUL in the answer", "## Signs\nR2\0", {}, {"signs": FORMAT}),
    Messy("a NUL in a text", "## Signs\nR2\n\n## Moved by\na\0b", {"signs": R2, "moved_by": "a\ufffdb"}),
    Messy("a space that does not break", "## Signs\n\u00a0R2\u00a0", {"signs": R2}),
    Messy("a space of no width around", "## Signs\n\u200bR2\u200b", {"signs": R2}),
    Messy("a space of no width inside", "## Signs\nR\u200b2", {}, {"signs": FORMAT}),
    Messy("a mark of direction", "## Signs\n\u202eR2", {}, {"signs": FORMAT}),
    Messy("a Cyrillic letter for the id", "## Signs\n\u042f2", {}, {"signs": FORMAT}),
    Messy(
        "a Cyrillic id of a condition",
        "## Signs\nR2\n\n## Conditions\n\u041a1",
        {"signs": R2, "conditions": ("\u041a1",)},
        {},
    ),
    Messy(
        "wide ids of conditions",
        "## Signs\nR2\n\n## Conditions\n\uff2b\uff11",
        {"signs": R2, "conditions": ("\uff2b\uff11",)},
    ),
    Messy("an accent on the id", "## Signs\nR\u03012", {}, {"signs": FORMAT}),
    Messy("a bar over the id", "## Signs\nR2\u0336", {}, {"signs": FORMAT}),
    Messy("a picture behind the id", "## Signs\nR2 ✅", {}, {"signs": FORMAT}),
    Messy("a line separator", "## Signs\nR2\u2028", {"signs": R2}),
    Messy("a form feed", "## Signs\nR2\x0c", {"signs": R2}),
    Messy("an escape sequence", "## Signs\n\x1b[1mR2\x1b[0m", {}, {"signs": FORMAT}),
)


def scored(why: str, below: str, asked: str = "", **found: Any) -> Messy:
    return Messy(why, below, found, {"stance": asked} if asked else {}, SCORES)


# Shapes of other programs' debates. Their authors saw no format.
OTHERS = (
    scored("a yes with a condition", "## Stance\nAgree (conditional)", FORMAT),
    scored("a yes with somebody's condition", "## Stance\nAgree with Tammy's condition.", FORMAT),
    scored("a yes behind its condition", "## Stance\nConditional agree: only for reads", FORMAT),
    scored("a caveat", "## Stance\nagree with a caveat", FORMAT),
    scored("yes, but", "## Stance\nagree, but the cost is open", FORMAT),
    scored("with guardrails", "**Stance: Agree, with guardrails**", FORMAT),
    scored("subject to", "## Stance\nagree, subject to the audit", FORMAT),
    scored("pending", "## Stance\nagree - pending the audit", FORMAT),
    scored("mostly", "## Stance\nagree (mostly)", FORMAT),
    scored("a condition in the next line", "## Stance\nagree\n(subject to the audit)", FORMAT),
    scored("a remark that is no condition", "## Stance\nagree (for the cost)", FORMAT),
    scored("a remark that takes it back", "## Stance\nagree. I can’t support the timeline", FORMAT),
    scored("a bold answer", "**Stance: agree**", stance="agree"),
    scored("a bold answer with a reason", "**Stance: agree** because it is cheap", FORMAT),
    scored("bold capitals", "**STANCE: AGREE**\n**CRITICAL_COUNT: 0**", stance="agree", critical_count=0),
    scored("labels in a list", "- **Stance: disagree**\n- **Score: 40**", stance="disagree", score=40),
    scored("plain labels", "STANCE: AGREE\nCRITICAL COUNT: 2", stance="agree", critical_count=2),
    scored("an exclamation mark", "## Stance\nAgree!", stance="agree"),
    scored("a question mark", "## Stance\nagree?", FORMAT),
    scored("a tick", "STANCE: AGREE ✅", LABEL),
    scored("a cross at a yes", "**Stance:** ❌ Agree", FORMAT),
    scored("a cross between two", "## Stance\nagree ❌ disagree", FORMAT),
    scored("two words", "## Stance\nagree or disagree", FORMAT),
    scored("two words with a bar", "## Stance\nagree | disagree", FORMAT),
    scored("two lines", "## Stance\nagree\ndisagree", FORMAT),
    scored("two items", "## Stance\n- agree\n- disagree", FORMAT),
    scored("a check box that is empty", "## Stance\n[ ] agree", FORMAT),
    scored("a check box in a list that is empty", "## Stance\n- [ ] agree", FORMAT),
    scored("check boxes", "## Stance\n- [x] agree\n- [ ] disagree", FORMAT),
    scored("an object as Python prints it", "{'stance': 'agree'}", MISSING),
    scored("an object of a thousand objects", '{"stance": ' + "[" * 5000, MISSING),
    scored("a block of labels", "All is well.\n\n```\nSTANCE: AGREE\n```\n\nThat is all.", MISSING),
    scored("code that looks like it", "It should say:\n\n```yaml\nstance: agree\n```", MISSING),
    scored("an item's own field", "- Guards\n  **Stance:** disagree\n\n**Stance:** agree", stance="agree"),
    scored("two items with fields", "### 1. Guards\n**Stance:** agree\n\n### 2. Locks\n**Stance:** disagree", TWICE),
    scored(
        "points, then the answers",
        "### 1. Cost\nIt is cheap.\n\n### 2. Risk\nIt is safe.\n\n**Stance:** agree\n**Blocking:** none",
        stance="agree",
        blocking=(),
    ),
    scored("for a pilot", "## Stance\nAgree (pilot)", FORMAT),
    scored("assuming", "## Stance\nAgree, assuming that the audit passes", FORMAT),
    scored("as long as", "## Stance\nagree as long as it is reversible", FORMAT),
    scored("only if", "## Stance\nagree only if it is reversible", FORMAT),
    scored("reservations", "## Stance\nagree, with reservations", FORMAT),
    scored("the only way", "## Stance\nagree — the only way left", FORMAT),
    scored("a condition after a remark", "## Stance\nagree. Cheap enough, pending the audit", FORMAT),
    scored("I can't", "## Stance\nagree. I can't support the timeline", FORMAT),
    scored("it isn't", "## Stance\nagree. It isn't ready", FORMAT),
    scored("a cross at a no", "**Stance:** ❌ Disagree", FORMAT),
    scored("a cross behind a no", "## Stance\ndisagree ❌", FORMAT),
    scored("a thumb", "## Stance\n👎 disagree", FORMAT),
    scored("a warning", "STANCE: AGREE ⚠️", LABEL),
    scored("an object in an object", '{"answers": {"stance": "agree"}}', MISSING),
    scored("an object that answers twice", '{"stance": "agree", "stance": "disagree"}', MISSING),
    scored(
        "a condition on nothing",
        "## Stance\nagree\n\n## Blocking\n- None, pending the audit",
        stance="agree",
        blocking=("None, pending the audit",),
    ),
    Messy("a score with a sign", "## Stance\nagree\n\n## Score\n85 🎯", {"stance": "agree"}, {"score": FORMAT}, SCORES),
    Messy("a score of ten", "## Stance\nagree\n\n## Score\n8.5/10", {"stance": "agree"}, {"score": FORMAT}, SCORES),
    Messy("a score as a share", "## Stance\nagree\n\n## Score\n0.9", {"stance": "agree"}, {"score": FORMAT}, SCORES),
    Messy("wide digits", "## Stance\nagree\n\n## Score\n８５％", {"stance": "agree", "score": 85}, {}, SCORES),
    Messy("one question", "Move on: yes", {"move_on": "yes"}, {}, POLL),
    Messy("one question, with two words", "**Move-on:** Yes.", {"move_on": "yes"}, {}, POLL),
    Messy("one question, answered in words", "Yes, let us move on.", {}, {"move_on": MISSING}, POLL),
    Messy("one question, with a doubt", "Move on: yes, unless Bo objects", {}, {"move_on": LABEL}, POLL),
    Messy(
        "a chair",
        "# Title\nKeep it\n\n# Follows\nR1b\n\n# Areas of convergence\n1. All agree.\n\n# Confidence\n**Medium.**",
        {"title": "Keep it", "follows": "R1b", "areas_of_convergence": ("All agree.",), "confidence": "medium"},
        {},
        CHAIR,
    ),
    Messy(
        "a chair that explains",
        "## Title\nKeep it\n\n## Follows\nR1 (Architect)\n\n## Areas of convergence\nAll agree.\n\n"
        "## Confidence\nMedium, because few were asked",
        {"title": "Keep it"},
        {"follows": FORMAT, "areas_of_convergence": ITEMS, "confidence": FORMAT},
        CHAIR,
    ),
)

GROUPS = {
    "headings": HEADINGS,
    "places": PLACES,
    "echoes": ECHOES,
    "lists": LISTS,
    "endings": ENDINGS,
    "languages": LANGUAGES,
    "characters": CHARACTERS,
    "others": OTHERS,
}
