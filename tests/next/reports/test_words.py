"""Members' words can be nothing but words: in every derived file, whatever they are."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from council.next.engine.planner import Due
from council.next.engine.scene import Recorded
from council.next.errors import UsageError
from council.next.record.session import Session
from council.next.replies.kinds import Items, Text
from council.next.reports import render as rendering
from council.next.reports.build import build, page
from council.next.reports.documents import KINDS, document_of
from council.next.reports.render import KIT, in_cell, in_json, in_line, in_markdown, render
from tests.next.protocols.held import Held
from tests.next.reports.debates import begin, hold

READER = MarkdownIt("commonmark", {"html": True}).enable("table")
STRUCTURE = ("heading_open", "html_block", "html_inline", "link_open", "image", "front_matter")
BITS = (
    "` `` ``` ~~~ <b> </b> <script>alert(1)</script> <!-- --> <http://a.b> [a](http://x) ![i](http://y) # ## === --- "
    "*** > - * 1. | || \\ \\\\ & &lt; words **Engineer:** ```js {{ x }} {% y %} \x1b[31m \u202e é 会议 🛡️ \0 \x85 \u2028"
).split(" ")
ENDS = ("\n", "\n\n", " ", "", "\r\n", "\r", "    ", "\t", "\n    ", "\n> ", "\n- ", "]: /url\n", "\n---\n", "\n```\n")


def words(rng: random.Random, most: int = 14) -> str:
    return "".join(rng.choice(BITS) + rng.choice(ENDS) for _ in range(rng.randint(1, most)))


def structure(text: str) -> Counter[str]:
    """How often a Markdown reader that takes HTML finds what makes a document's shape."""
    tokens = READER.parse(text)
    return Counter(one.type for one in every(tokens) if one.type in STRUCTURE or (one.type == "hr" and not one.level))


def every(tokens: list[Token]) -> Iterator[Token]:
    for one in tokens:
        yield one
        yield from one.children or ()


def test_words_in_a_place_of_their_own_leave_the_file_as_it_is() -> None:
    rng = random.Random(1)
    for _ in range(3_000):
        said = words(rng)
        text = f"# Ours\n\n{in_markdown(said)}\n\n## Ours too <i>x</i>\n"
        assert structure(text) == Counter(heading_open=2, html_inline=2), repr(said)


def test_words_in_a_list_in_a_quotation_and_in_a_line_leave_the_file_as_it_is() -> None:
    rng = random.Random(2)
    for _ in range(2_000):
        said = words(rng)
        item = in_markdown(said).replace("\n", "\n  ")
        quote = rendering.in_quote(said)
        text = (
            f"- {item}\n\n# Ours\n\n{quote}\n\n- **x:** {in_line(said)}\n\n{in_line(said)}\n\n# Ours {in_line(said)}\n"
        )
        assert structure(text) == Counter(heading_open=2), repr(said)
        table = READER.parse(f"| a | b |\n| --- | --- |\n| {in_cell(said)} | end |\n")
        assert [one.type for one in table].count("td_open") == 2, repr(said)


def shown(text: str) -> str:
    """What a reader of the rendered Markdown sees, without its spacing."""
    parts = (
        one.content for one in every(READER.parse(text)) if one.type in ("text", "code_inline", "fence", "code_block")
    )
    return "".join("".join(parts).split())


@pytest.mark.parametrize(
    "said",
    [
        "# A heading that is none",
        "Adds <10ms, and `List[int]` stays; a < b > c, #12 and C# stay.",
        "See [the page](http://x) and ![a picture](http://y).",
        "<details><summary>Hidden</summary>",
        "a `b` c ` d",
        "[ref]: http://x",
        "Title\n===",
        "a\n\n---\n\nb",
        "```\n# code <b> [a](b)\n```",
        "3. three",
    ],
)
def test_words_read_as_they_were_written(said: str) -> None:
    plain = "".join(said.replace("```", "").replace("`L", "L").replace("]`", "]").replace("`b`", "b").split())
    plain = plain.removeprefix("3.")
    assert shown(in_markdown(said)) == plain
    harmless = "Two *words* with `code`, a - b, 3. and (1) and [x]."
    assert in_markdown(harmless) == harmless
    assert in_line(harmless) == harmless


def test_a_fence_that_is_not_closed_is_closed() -> None:
    assert in_markdown("```js\n# x") == "```js\n# x\n```"
    assert in_markdown("~~~~\n```\n~~~\nx") == "~~~~\n```\n~~~\nx\n~~~~"


def test_front_matter_holds_one_value_whatever_it_is() -> None:
    import yaml

    for said in ('a": b', "x\n---\n# y", "\x1b[31m\x85", "会议: [x]"):
        assert yaml.safe_load(f"key: {in_json(said)}\nother: 1") == {"key": rendering.printable(said), "other": 1}


@pytest.mark.parametrize("shape", ["`" * 30_000, "`" + "a`" * 15_000, "<a" * 15_000, "[](" * 10_000, "\\" * 30_000])
def test_escaping_takes_time_that_is_linear(shape: str) -> None:
    runs = " ".join("`" * length for length in range(1, 240))
    for said in (shape, runs, (shape + "\n") * 3):
        assert in_markdown(said)
        assert in_line(said)


# ---- whole files ----


def hostile(session: Session, rng: random.Random) -> Session:
    """A debate in which everybody says anything."""
    voice = Held(session.workflow)

    def speak(due: Due) -> Recorded:
        voice.plan = session.plan
        if rng.random() < 0.05:
            return Recorded("", absent=words(rng, 4))
        body = voice.reply(due).body
        for name, kind in due.step.reply.items():
            if isinstance(kind, Text | Items) and rng.random() < 0.8:
                heading = f"## {name.replace('_', ' ').capitalize()}\n"
                start = body.find(heading)
                own = words(rng, 5).replace("\r", "\n")
                given = f"{heading}- {' '.join(own.split())} x" if isinstance(kind, Items) else f"{heading}{own} x"
                body = f"{body[:start]}{given}\n\n{body[start:].partition(chr(10) * 2)[2]}" if start >= 0 else body
        return Recorded(f"{words(rng)}\n\n{body}", by=words(rng, 2) if due.seat.is_person else "")

    return hold(session, speak)


HOSTILE = ("Debate", "Board", "Consensus", "Delphi")


@pytest.mark.parametrize("name", HOSTILE)
def test_every_file_has_only_our_structure(name: str, tmp_path: Path) -> None:
    rng = random.Random(name)
    options: dict[str, Any] = {"Consensus": {"max_rounds": "2", "analysis": False}, "Board": {"max_rounds": "2"}}.get(
        name, {}
    )
    session = begin(tmp_path, name, ["architect", "designer", "engineer"], f"Why?\n\n{words(rng)}\n", options=options)
    hostile(session, rng)
    build(session)
    for path in (*session.folder.glob("round-*.md"), session.folder / "transcript.md", session.folder / "synthesis.md"):
        if path.exists():
            check_file(path.read_text("utf-8"), session)
    for kind in KINDS:
        try:
            text = document_of(session, kind)
        except UsageError:
            continue
        matter, _, body = text.removeprefix("---\n").partition("\n---\n")
        assert matter
        check_file(body, session)
    check_page(page(session))


def check_file(text: str, session: Session) -> None:
    """Every heading is one of ours, and nothing is HTML, a link or an open fence."""
    tokens = READER.parse(text)
    kinds = {one.type for one in every(tokens)}
    assert not kinds & {"html_block", "html_inline", "link_open", "image"}
    ours = ours_of(session)
    for place, one in enumerate(tokens):
        if one.type == "heading_open":
            assert any(name in tokens[place + 1].content for name in ours), tokens[place + 1].content
    last = next(line for line in reversed(text.splitlines()) if line.strip())
    assert any(last in one.content for one in tokens if one.type == "inline") or tokens[-1].type != "fence"


def ours_of(session: Session) -> set[str]:
    labels = {turn.seat.label for turn in session.plan.scene.turns}
    titles = {phase.title or phase.name.replace("-", " ").capitalize() for phase in session.workflow.phases}
    written = {in_line(session.outcome.title)} if session.outcome.title else set()
    parts = {name.replace("_", " ").capitalize() for step in session.workflow.steps() for name in step.reply}
    fixed = (
        "Council ;Question;Votes;Receipts;Conditions;Decision;Dissents;Next Steps;Context;Considered;Confidence;Record;"
        "Members' Check;Perspectives;Points of;Key Tensions;Recommendation;Caveats;Dissenting;Carry out;"
        "More Information;Consequences;ADR;Of no single"
    )
    return {*labels, *titles, *written, *parts, *fixed.split(";")}


def check_page(text: str) -> None:
    """The page has only our tags, and leads only to its own parts."""
    from html.parser import HTMLParser

    allowed = (
        "html head meta title style body header h1 h2 h3 h4 p span nav ul ol li a main section details summary article "
        "div strong table thead tbody tr th td dl dt dd footer em code pre blockquote br"
    ).split()
    seen: list[str] = []
    places: list[str] = []
    links: set[str] = set()

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            seen.append(tag)
            assert tag in allowed, tag
            for name, value in attrs:
                assert name in KNOWN, name
                assert name != "href" or str(value).startswith("#")
                places.extend([str(value)] if name == "id" else [])
                links.update({str(value)[1:]} if name == "href" else ())

    Reader().feed(text)
    assert len(places) == len({*places})
    assert links <= {*places}
    assert seen.count("h1") == seen.count("main") == seen.count("title") == 1


KNOWN = (
    "lang charset name content http-equiv class id href dir aria-label aria-hidden scope tabindex role open start style"
).split()


def test_templates_of_the_kit_print_nothing_unescaped() -> None:
    for path in KIT.glob("*.j2"):
        text = path.read_text("utf-8")
        assert "safe" not in text.replace("unsafe-inline", ""), path
        assert "autoescape" not in text, path


def test_what_a_template_lacks_is_an_error_that_names_it() -> None:
    with pytest.raises(UsageError, match=r"adr.md.j2: 'colour' is undefined"):
        render("adr.md.j2", {}, "{{ colour }}")
    with pytest.raises(UsageError, match="unsafe"):
        render("adr.md.j2", {"outcome": {}}, "{{ outcome.__class__.__mro__ }}")
    assert render("adr.md.j2", {"x": "<b># y\n\n# z"}, "{{ x }}!") == "\\<b>\\# y \\# z!"
    for filtered in ("x | block", "[x] | map('block') | list"):
        endless = f"{{% for a in range(99999) %}}{{% if {filtered} %}}{{% endif %}}{{% endfor %}}"
        with pytest.raises(UsageError, match="does not come to an end"):
            render("adr.md.j2", {"x": "A" * 100_000}, endless)
