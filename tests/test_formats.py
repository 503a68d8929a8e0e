"""A review in five formats: each is valid by its own schema or reader, and no member's words are structure."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from urllib.parse import unquote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from council import __version__
from council.reviews import formats, locate, patch
from council.reviews.entries import Merged, RaisedFinding
from council.reviews.formats import render
from council.reviews.formats.common import Review, flat, safe
from council.reviews.formats.json import whole
from council.reviews.merge import merge
from council.reviews.model import (
    SEVERITIES,
    Anchor,
    Document,
    Finding,
    Pairing,
    Ruling,
)
from council.reviews.rule import ruled
from tests.growth import compare
from tests.schemas import RDJSON, published, sarif_schema

SPEC = Document(
    "docs/the cache.md",
    "# The cache\n\nEntries are kept for 30 seconds.\nÄpfel — and the client retries for ever.\nA purge is local.\n",
)
QUEUE = Document("queue.md", "# The queue\r\n\r\nA lease is held for ten minutes.\r\n")


def said(
    seat: str, severity: str, issue: str, change: str = "", replacement: str | None = None, **anchor: Any
) -> RaisedFinding:
    finding = Finding("1", severity, issue, change, Anchor(**anchor), replacement)
    return RaisedFinding(seat, f"01-findings/{seat}", finding, locate.place(finding, [SPEC, QUEUE]))


FOR_EVER = "the client retries for ever"
FINDINGS = merge(
    [
        said(
            "engineer",
            "blocking",
            "Retries never end",
            "Give up after three",
            "the client retries three times",
            quote=FOR_EVER,
        ),
        said("architect", "blocking", "The retries never end", "Give up after three", quote=FOR_EVER),
        said("designer", "high", "Retries never end here", quote=FOR_EVER),
        said(
            "engineer",
            "high",
            "A purge of one node leaves stale entries elsewhere",
            "Purge all",
            path="the cache.md",
            first=5,
        ),
        said("designer", "medium", "Encryption keys rotate too rarely", quote="keys rotate once a year", first=4),
        said(
            "architect",
            "medium",
            "The lease outlives its worker",
            "Renew it",
            "",
            quote="a lease is held for TEN minutes",
        ),
        said("architect", "low", "Nothing is said of metrics"),
        said("designer", "low", "The title says little", "Name the cache", path="docs/the cache.md", first=1),
    ]
)
RULINGS = [
    ("researcher", "02-challenges/researcher", Ruling("B1", "agree", "seen it")),
    (
        "researcher",
        "02-challenges/researcher",
        Ruling("H1", "disagree with evidence", "the purge is\n## global | `now`"),
    ),
    ("designer", "02-challenges/designer", Ruling("L1", "withdrawn", "a matter of taste")),
    ("researcher", "02-challenges/researcher", Pairing("M2", "H1", True, "both are\n# about a node")),
]
JOINED = [*RULINGS, ("engineer", "02-challenges/engineer", Pairing("M2", "H1", True, "one <purge>"))]


def review(**fields: Any) -> Review:
    given = {
        "title": "Review of the cache",
        "session": "20261118-101500-0123abcd",
        "documents": (SPEC, QUEUE),
        "findings": ruled(FINDINGS, RULINGS, ["M1"]),
        "unparsed": (("writer", "| a | table\n```\n# that ends nowhere"),),
        "silent": ("analyst",),
        "none": ("tester",),
        "remarks": ("engineer: a heading of another seat's was ignored",),
        "summary": "# Summary\n\nOne thing blocks.\n- end the retries",
        "outcome": "agreed with dissent",
    }
    return Review(**(given | fields))


EMPTY = Review("", "")

# --- what a format must be


def of(kind: str, given: Review) -> Any:
    return json.loads(render(kind, given))


def commands(log: str) -> Iterator[tuple[str, dict[str, str], str]]:
    """What GitHub's runner reads in a log: it takes a line break of any kind for the end of a command."""
    for line in re.split(r"[\n\r\v\f\x85\u2028\u2029]", log.removesuffix("\n")) if log else ():
        match = re.fullmatch(r"::(\w+) ([^:]*)::(.*)", line)
        assert match, line
        kind, properties, data = match.groups()
        pairs = (pair.split("=", 1) for pair in properties.split(","))
        yield kind, {name: unescaped(value, True) for name, value in pairs}, unescaped(data)


def unescaped(text: str, of_property: bool = False) -> str:
    for mark, char in (("%3A", ":"), ("%2C", ",")) if of_property else ():
        text = text.replace(mark, char)
    return text.replace("%0D", "\r").replace("%0A", "\n").replace("%25", "%")


MARKDOWN = MarkdownIt("commonmark").enable(["table", "strikethrough"])
WORDS = ("text", "text_special", "code_inline")


def skeleton(text: str) -> list[tuple[Any, ...]]:
    """A page's structure: every block and every inline mark, without the words and the names in code."""
    found: list[tuple[Any, ...]] = []
    for token in MARKDOWN.parse(text):
        marks = tuple(child.type for child in token.children or () if child.type not in WORDS)
        found.append((token.type, token.level, token.info, marks))
    return found


def headings(text: str) -> list[str]:
    tokens = MARKDOWN.parse(text)
    return [tokens[at + 1].content for at, token in enumerate(tokens) if token.type == "heading_open"]


# --- one review, in each


def test_markdown_is_a_list_by_severity() -> None:
    page = render("md", review())
    names = [
        "Blocking",
        "High",
        "Medium",
        "Low",
        "Set aside",
        "Unparsed",
        "Not heard",
        "No findings",
        "Remarks",
        "Summary",
    ]
    assert headings(page) == ["Review of the cache", *names]
    assert "**B1**: " in page
    assert "Give up after three" in page
    assert "severity disputed: blocking (" in page
    assert "designer)" in page
    assert "line 4 (quoted to the letter)" in page
    assert "line 3 (quoted, but for spacing and marks)" in page
    assert "line 5 (by its lines)" in page
    assert "**not found in the text**: line 4, “keys rotate once a year”" in page
    assert "place: none named" in page
    assert "researcher: disagree with evidence: the purge is \\#\\# global \\| `now`" in page
    assert "```text\n    the client retries three times\n    ```" in page
    assert "  ````text\n  | a | table\n  ```\n  # that ends nowhere\n  ````" in page
    assert page.count("(dismissed)") == page.count("(withdrawn)") == 1
    assert "> \\# Summary\n>\n> One thing blocks.\n> \\- end the retries\n" in page


def test_markdown_of_an_empty_review() -> None:
    assert render("md", EMPTY) == "# Review\n\n0 findings.\n"


def test_json_is_what_its_schema_says() -> None:
    found = of("json", review())
    published().validate(found)
    assert found["$schema"] == published().schema["$id"]
    assert [one["id"] for one in found["findings"]] == ["B1", "H1", "M2", "L2"]
    assert found["counts"] == {"blocking": 1, "high": 1, "medium": 1, "low": 1}
    assert {one["id"]: one["status"] for one in found["set_aside"]} == {"M1": "dismissed", "L1": "withdrawn"}
    assert found["unparsed"] == [{"seat": "writer", "text": "| a | table\n```\n# that ends nowhere"}]
    first = found["findings"][0]
    assert set(first["severities"].items()) == {
        ("engineer", "blocking"),
        ("architect", "blocking"),
        ("designer", "high"),
    }
    assert first["place"] == {"path": SPEC.path, "first": 4, "last": 4, "passage": FOR_EVER, "how": "exact"}
    published().validate(of("json", EMPTY))


def keys(schema: Any) -> Iterator[str]:
    """Every object of the schema that leaves something open."""
    if isinstance(schema, dict):
        if "properties" in schema and schema.get("type") == "object":
            assert schema["additionalProperties"] is False
            assert sorted(schema["required"]) == sorted(schema["properties"])
            yield from schema["properties"]
        for value in schema.values():
            yield from keys(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from keys(value)


def test_the_published_schema_leaves_nothing_open() -> None:
    text = render("json", review())
    assert all(f'"{key}"' in text for key in keys(published().schema))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("version",), 2), (("findings", 0, "severity"), "grave"), (("findings", 0, "status"), "dismissed"),
        (("findings", 0, "fingerprint"), "x"), (("findings", 0, "place", "how"), "guessed"),
        (("set_aside", 0, "status"), "open"),
        (("findings", 0, "members"), []), (("unparsed", 0, "seat"), None), (("extra",), 1), (("counts", "none"), 1),
    ],
)  # fmt: skip
def test_the_published_schema_refuses_what_is_wrong(path: tuple[Any, ...], value: Any) -> None:
    found = of("json", review())
    *way, last = path
    inner = found
    for step in way:
        inner = inner[step]
    inner[last] = value
    assert not published().is_valid(found)


def test_sarif_is_valid_and_whole() -> None:
    found = of("sarif", review())
    sarif_schema().validate(found)
    [run] = found["runs"]
    assert run["tool"]["driver"]["version"] == __version__
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == [f"council/{severity}" for severity in SEVERITIES]
    assert [one["location"]["uri"] for one in run["artifacts"]] == ["docs/the%20cache.md", "queue.md"]
    assert [one["level"] for one in run["results"]] == ["error", "warning", "warning", "note", "warning", "note"]
    first = run["results"][0]
    location = first["locations"][0]["physicalLocation"]
    assert location["artifactLocation"] == {"uri": "docs/the%20cache.md", "index": 0}
    assert location["region"] == {
        "startLine": 4,
        "startColumn": 13,
        "endLine": 4,
        "endColumn": 40,
        "snippet": {"text": FOR_EVER},
    }
    assert first["partialFingerprints"] == {"council/v1": review().open[0].fingerprint}
    assert set(first["properties"]["supporters"]) == {"engineer", "architect", "designer", "researcher"}
    assert sarif_schema().is_valid(of("sarif", EMPTY))


def test_the_schema_of_sarif_refuses_what_is_wrong() -> None:
    """Else it would say nothing that the rest is valid."""
    for wrong in (
        {"level": "grave"},
        {"extra": 1},
        {"ruleIndex": "0"},
        {"locations": [{"physicalLocation": {"region": {"startLine": 0}}}]},
    ):
        found = of("sarif", review())
        found["runs"][0]["results"][0] |= wrong
        assert not sarif_schema().is_valid(found), wrong
    found = of("sarif", review())
    found["runs"][0]["artifacts"][0]["location"]["uri"] = "docs/the cache.md"
    assert not sarif_schema().is_valid(found)


def test_sarif_suppresses_what_was_set_aside() -> None:
    results = {one["properties"]["id"]: one for one in of("sarif", review())["runs"][0]["results"]}
    assert [name for name, one in results.items() if one["suppressions"]] == ["M1", "L1"]
    assert results["L1"]["suppressions"][0]["justification"].endswith("a matter of taste")
    assert all(one["suppressions"][0]["kind"] == "external" for one in (results["M1"], results["L1"]))
    plain = of("sarif", review(findings=FINDINGS))
    assert all("suppressions" not in one for one in plain["runs"][0]["results"])


def test_the_fixes_of_sarif_are_the_edits() -> None:
    """Made by whoever reads the file, they come to what the patch makes."""
    given = review(findings=FINDINGS)
    changes = [
        (change["artifactLocation"]["uri"], *change["replacements"])
        for result in of("sarif", given)["runs"][0]["results"]
        for fix in result.get("fixes", ())
        for change in fix["artifactChanges"]
    ]
    assert len(changes) == 2
    found = patch.propose(FINDINGS, given.documents)
    for document in given.documents:
        text = document.text
        for uri, change in changes:
            if unquote(uri) == document.path:
                region = change["deletedRegion"]
                start = offset(text, region["startLine"], region["startColumn"])
                end = offset(text, region["endLine"], region["endColumn"])
                text = text[:start] + change["insertedContent"]["text"] + text[end:]
        assert text == patch.apply(found.edits, document) != document.text


def offset(text: str, line: int, column: int) -> int:
    return sum(len(one) for one in text.split("\n")[: line - 1]) + line - 1 + column - 1


def test_rdjson_is_valid_and_counts_bytes() -> None:
    found = of("rdjson", review())
    RDJSON.validate(found)
    assert found["severity"] == "ERROR"
    assert [one["severity"] for one in found["diagnostics"]] == ["ERROR", "WARNING", "WARNING", "INFO"]
    first, by_lines, missing, nowhere = found["diagnostics"]
    assert first["code"] == {"value": "council/blocking"}
    range_ = {"start": {"line": 4, "column": 16}, "end": {"line": 4, "column": 43}}
    assert first["location"] == {"path": SPEC.path, "range": range_}
    assert SPEC.text.split("\n")[3].encode()[15:42].decode() == FOR_EVER
    assert first["suggestions"] == [{"range": range_, "text": "the client retries three times"}]
    assert {line.split(":")[0] for line in first["original_output"].split("\n")} == {
        "engineer",
        "architect",
        "designer",
    }
    assert by_lines["location"]["range"] == {"start": {"line": 5}, "end": {"line": 5}}
    assert missing["location"] == {"path": ""}
    assert missing["message"].endswith("(the passage that it names was not found in the text)")
    assert nowhere["location"] == {"path": ""}
    RDJSON.validate(of("rdjson", EMPTY))


def test_github_has_a_command_a_finding() -> None:
    found = list(commands(render("github", review())))
    assert [kind for kind, _, _ in found] == ["error", "warning", "warning", "notice"]
    _, properties, message = found[0]
    assert properties | {"title": ""} == {"file": SPEC.path, "line": "4", "endLine": "4", "title": ""}
    assert properties["title"].startswith("B1 (blocking) by ")
    assert message.startswith("B1: ")
    assert message.splitlines() == [
        "B1: The retries never end → Give up after three",
        "Also put as B1b (high, by designer): Retries never end here [docs/the cache.md:4]",
        "Also put as B1c (blocking, by engineer): Retries never end → Give up after three [docs/the cache.md:4]",
    ]
    assert set(found[3][1]) == {"title"}
    assert render("github", EMPTY) == ""


def test_a_finding_that_names_no_file_is_of_the_only_one() -> None:
    finding = replace(FINDINGS[0], place=locate.Place())
    one = review(findings=(finding,), documents=(SPEC,))
    assert of("rdjson", one)["diagnostics"][0]["location"] == {"path": SPEC.path}
    assert next(commands(render("github", one)))[1]["file"] == SPEC.path
    location = of("sarif", one)["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
    assert location == {"artifactLocation": {"uri": "docs/the%20cache.md", "index": 0}}


@pytest.mark.parametrize(
    "path",
    ["javascript:alert(1)", "//host/a.md", "./a.md", "ü/日.md", "a?b#c.md", "100%.md", "bad\udcff.md", "a\nb.md"],
)
def test_a_file_is_a_relative_reference(path: str) -> None:
    document = replace(SPEC, path=path)
    found = of("sarif", review(documents=(document, document), findings=()))
    sarif_schema().validate(found)
    [artifact] = found["runs"][0]["artifacts"]
    assert re.fullmatch(r"[A-Za-z0-9._~%-][A-Za-z0-9._~/%-]*", artifact["location"]["uri"])


def test_lines_are_a_region_without_columns() -> None:
    results = of("sarif", review())["runs"][0]["results"]
    region = results[1]["locations"][0]["physicalLocation"]["region"]
    assert region == {"startLine": 5, "endLine": 5, "snippet": {"text": "A purge is local."}}


def test_a_file_with_any_name_is_a_property() -> None:
    document = replace(SPEC, path="a:b,c=d%3A::\n.md")
    finding = replace(FINDINGS[0], place=replace(FINDINGS[0].place, path=document.path))
    text = render("github", review(documents=(document,), findings=(finding,)))
    [(_, properties, _)] = commands(text)
    assert properties["file"] == document.path
    assert text.startswith("::error file=a%3Ab%2Cc=d%253A%3A%3A%0A.md,line=4,")


@pytest.mark.parametrize("kind", formats.KINDS)
def test_the_gravest_stand_first(kind: str) -> None:
    given = review(findings=FINDINGS)
    other = review(findings=FINDINGS[::-1])
    ids = [re.findall(r"\b([BHML])\d\b", render(kind, one)) for one in (given, other)]
    assert ids[0] == ids[1] == sorted(ids[0], key="BHML".index)


@pytest.mark.parametrize("kind", formats.KINDS)
def test_the_same_review_is_the_same_bytes(kind: str) -> None:
    assert render(kind, review()) == render(kind, review())


# --- nothing that is written is structure


BAIT = (
    *("\n## Blocking\n\n- **B9**: forged", "\n\n### security\n", "\r\n# a\r# b", "\n- **Security**: all is well\n"),
    *(
        "~~~\n",
        "```\n",
        "`````",
        "`a_b`",
        "`",
        "`*x*` `<b>`",
        "</details><script>alert(1)</script>",
        "<!-- ",
        " -->",
        "<http://a.b>",
        "&lt;",
        "\\",
    ),
    *("[x](javascript:alert(1))", "![x](http://a/b)", "\n[x]: http://a.b\n", "[x]", "[^1]", "[1](2)", "]("),
    *("| a | b |\n|---|---|\n| 1 | 2 |", "\n===\n", "\n---\n", "1. a\n2) b", "    indented", "\t- tab", "> quoted"),
    *("\n> \n>> deeper", "***", "__x__", "~~no~~", "@someone", "#1", "$x$", "https://a.b", "- ", "+ ", "1. ", "#", "="),
    *(
        "\n::error file=a.md,line=1::forged",
        "%0A::error::forged",
        "::stop-commands::x",
        "##[error]forged",
        "%25",
        ":,%",
    ),
    *('"}],"results":[{"', '\\"', "{0}", "{{", "\u2028", "\u2029", "\x85", "\x0b# a", "\x0c"),
    *("\x00", "\x1b[2J", "\u202e", "\ud800", "\udcff", "\x1b", "\u200b"),
)
WRITTEN = st.lists(st.one_of(st.sampled_from(BAIT), st.text(max_size=12)), max_size=5).map("".join)


@st.composite
def hostile(draw: st.DrawFn) -> Review:
    """A review in which everything that somebody wrote is bait."""

    def one(number: int) -> Merged:
        anchor = Anchor(draw(WRITTEN), draw(st.integers(0, 9)), 0, draw(st.one_of(WRITTEN, st.just(FOR_EVER))))
        replacement = draw(st.one_of(st.none(), WRITTEN))
        finding = Finding(draw(WRITTEN), "high", draw(WRITTEN), draw(WRITTEN), anchor, replacement)
        member = RaisedFinding("engineer", "01-findings/engineer", finding, locate.place(finding, [SPEC]))
        rulings = [("designer", Ruling("H1", "agree", why)) for why in draw(st.lists(WRITTEN, max_size=1))]
        pairings = [("writer", Pairing("H1", "H2", True, why)) for why in draw(st.lists(WRITTEN, max_size=1))]
        status = draw(st.sampled_from(["open", "contested", "withdrawn", "dismissed"]))
        return Merged(
            id=f"H{number}",
            severity="high",
            severities={"engineer": "high"},
            members=(member,),
            issue=finding.issue,
            change=finding.change,
            place=member.place,
            fingerprint="0" * 16,
            rulings=tuple(rulings),
            status=status,
            pairings=tuple(pairings),
        )

    def joined(first: Merged, second: Merged) -> Merged:
        (member,) = second.members  # without a text of its own: two that differ would be one when they are tamed
        bare = replace(member, finding=replace(member.finding, replacement=None))
        second = replace(second, members=(bare,))
        return replace(first, members=first.members + second.members, parts=(first, second))

    several = st.lists(WRITTEN, max_size=2).map(tuple)
    entries = [one(number) for number in range(1, draw(st.integers(1, 3)) + 1)]
    if len(entries) == 3 and draw(st.booleans()):
        entries[:2] = [joined(*entries[:2])]
    return Review(
        title=draw(WRITTEN),
        session=draw(WRITTEN),
        documents=(SPEC,),
        findings=tuple(entries),
        unparsed=tuple(("writer", text) for text in draw(several)),
        silent=draw(several),
        none=draw(several),
        remarks=draw(several),
        summary=draw(WRITTEN),
        outcome=draw(WRITTEN),
    )


def tame(text: str) -> str:
    """The same text by its blank and written lines, with one harmless word for each of the latter."""
    plain = safe(text).strip("\n")
    return "\n".join("x" if line.strip() else "" for line in plain.split("\n")) if plain.strip() else plain


def tamed(given: Review) -> Review:
    def finding(one: Merged) -> Merged:
        members = tuple(replace(member, finding=_tame_finding(member.finding)) for member in one.members)
        rulings = tuple((seat, replace(ruling, why=tame(ruling.why))) for seat, ruling in one.rulings)
        pairings = tuple((seat, replace(pair, why=tame(pair.why))) for seat, pair in one.pairings)
        parts = tuple(map(finding, one.parts))
        told = replace(one, issue=tame(one.issue), change=tame(one.change), members=members, rulings=rulings)
        return replace(told, pairings=pairings, parts=parts)

    return replace(
        given,
        title=tame(given.title),
        findings=tuple(map(finding, given.findings)),
        unparsed=tuple((seat, tame(text)) for seat, text in given.unparsed),
        **{name: tuple(map(tame, getattr(given, name))) for name in ("silent", "none", "remarks")},
        summary=tame(given.summary),
        outcome=tame(given.outcome),
    )


def _tame_finding(finding: Finding) -> Finding:
    replacement = finding.replacement if not finding.replacement else tame(finding.replacement) or "\n"
    anchor = replace(finding.anchor, path=tame(finding.anchor.path), quote=tame(finding.anchor.quote))
    return replace(finding, replacement=replacement, anchor=anchor)


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("`import_id` and `tenant_id`", "`import_id` and `tenant_id`"),
        ("the row `a_b`[0]", "the row `a_b`\\[0\\]"),
        ("`<script>` is shown", "`<script>` is shown"),
        ("\\`a` *b*", "\\\\`a` \\*b\\*"),
        ("an open ` and ``two`` and `", "an open \\` and \\`\\`two\\`\\` and \\`"),
        ("`https://a.b`", "\\`https\\://a.b\\`"),
        ("` a ` and `a|b`", "\\` a \\` and \\`a\\|b\\`"),
    ],
)
def test_a_name_in_code_is_written_as_it_was(written: str, shown: str) -> None:
    page = render("md", review(findings=merge([said("engineer", "high", written)])))
    assert f"- **H1**: {shown}\n" in page


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(hostile())
def test_nothing_in_markdown_is_structure(given: Review) -> None:
    page = render("md", given)
    assert skeleton(page) == skeleton(render("md", tamed(given)))
    texts = [token for token in MARKDOWN.parse(page) if token.type == "inline"]
    assert not any(re.search(r"(?i)https?:/|www\.", token.content) for token in texts)
    read = ["".join(child.content for child in token.children or ()) for token in texts]
    for finding in given.findings:
        words = (flat(finding.issue) or "(no words)").replace("`", "")
        assert any(text.startswith(finding.id) and f": {words}" in text.replace("`", "") for text in read)


@settings(max_examples=60, deadline=None)
@given(hostile())
def test_nothing_in_json_is_structure(given: Review) -> None:
    text = render("json", given)
    assert text.isascii()
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", text)
    found = json.loads(text)
    published().validate(found)
    assert len(found["findings"]) == len(given.open)
    assert [one["issue"] for one in found["findings"]] == [whole(one.issue) for one in given.open]
    json.dumps(found, ensure_ascii=False).encode()


@settings(max_examples=60, deadline=None)
@given(hostile())
def test_nothing_in_sarif_is_structure(given: Review) -> None:
    found = of("sarif", given)
    sarif_schema().validate(found)
    results = found["runs"][0]["results"]
    assert len(results) == len(given.findings)
    assert all("](" not in one["message"]["text"] for one in results)
    assert {one["ruleId"] for one in results} == {"council/high"}
    json.dumps(found, ensure_ascii=False).encode()


@settings(max_examples=60, deadline=None)
@given(hostile())
def test_nothing_in_rdjson_is_structure(given: Review) -> None:
    found = of("rdjson", given)
    RDJSON.validate(found)
    assert len(found["diagnostics"]) == len(given.open)
    lines = [one["original_output"].count("\n") + 1 for one in found["diagnostics"]]
    assert lines == [len(one.members) for one in given.open]
    assert {one["location"]["path"] for one in found["diagnostics"]} <= {SPEC.path}
    json.dumps(found, ensure_ascii=False).encode()


@settings(max_examples=60, deadline=None)
@given(hostile())
def test_nothing_in_githubs_log_is_structure(given: Review) -> None:
    found = list(commands(render("github", given)))
    assert [kind for kind, _, _ in found] == ["warning"] * len(given.open)
    for (_, properties, message), finding in zip(found, given.open, strict=True):
        assert set(properties) <= {"file", "line", "endLine", "title"}
        assert properties["title"].startswith(f"{finding.id} (high) by ")
        assert message.startswith(f"{finding.id}: {flat(finding.issue)}")


# --- entries that members called one


def test_what_was_joined_is_shown_in_every_format() -> None:
    given = review(findings=ruled(FINDINGS, JOINED, ["M1"]))
    assert [one.id for one in given.open] == ["B1", "H1", "L2"]
    page = render("md", given)
    assert "  - also: M2, which members said is the same\n" in page
    missing = "**not found in the text**: line 4, “keys rotate once a year”"
    assert f"  - also put as, by designer (M2, medium; {missing}): Encryption keys rotate too rarely" in page
    assert page.splitlines()[2].startswith("3 findings: 1 blocking, 1 high and 1 low. M2 (medium) is listed under H1.")
    assert "  - researcher of H1: disagree with evidence: the purge" in page
    assert "  - researcher of M2: same as H1: both are \\# about a node\n" in page
    found = of("json", given)
    published().validate(found)
    one = found["findings"][1]
    assert (one["id"], one["also"], one["fingerprint"]) == ("H1", ["M2"], given.open[1].fingerprint)
    assert one["fingerprints"] == [part.fingerprint for part in given.open[1].parts]
    assert {(member["id"], member["seat"]) for member in one["members"]} == {("H1", "engineer"), ("M2", "designer")}
    assert {(said["seat"], said["id"], said["word"], said["other"]) for said in one["pairings"]} == {
        ("researcher", "M2", "same as", "H1"),
        ("engineer", "M2", "same as", "H1"),
    }
    run = of("sarif", given)
    sarif_schema().validate(run)
    result = run["runs"][0]["results"][1]
    assert result["properties"]["also"] == ["M2"]
    text = result["message"]["text"]
    assert "(also M2)\nAlso put as M2 (medium, by designer): Encryption keys rotate too rarely" in text
    assert result["partialFingerprints"] == {"council/v1": one["fingerprint"]}
    told = of("rdjson", given)
    RDJSON.validate(told)
    assert told["diagnostics"][1]["message"] == text
    assert "Encryption keys rotate too rarely" in told["diagnostics"][1]["original_output"]
    assert "(also M2)%0AAlso put as M2 (medium, by designer): Encryption" in render("github", given)


def test_what_words_joined_is_shown_in_every_format_with_its_words_and_its_place() -> None:
    sizes = Document("sizes.md", "# Sizes\n\nPhotos can be uploaded.\n\nContacts can be imported.\n")
    first = Finding("B1", "high", "The upload has no limit of size", "Limit it", Anchor(quote="Photos can be uploaded"))
    other = Finding("B1", "blocking", "The import has no limit of size", "Limit it")
    raised = [
        RaisedFinding(seat, f"01-findings/{seat}", one, locate.place(one, [sizes]))
        for seat, one in (("architect", first), ("designer", other))
    ]
    (merged,) = merge(raised)
    assert (merged.issue, merged.place.first, merged.severity) == (first.issue, 3, "blocking")
    given = review(findings=(merged,), documents=(sizes,))
    put = "B1b (blocking, by designer): The import has no limit of size \u2192 Limit it"
    for kind in ("github", "rdjson", "sarif"):
        text = render(kind, given)
        assert put in (unescaped(text) if kind == "github" else text.encode().decode("unicode_escape"))
    assert "also put as, by designer (B1b, blocking; none named): The import has no limit of size" in render(
        "md", given
    )
    members = of("json", given)["findings"][0]["members"]
    assert [(one["id"], one["wording"], one["issue"]) for one in members] == [
        ("B1", "B1", first.issue),
        ("B1", "B1b", other.issue),
    ]
    (result,) = of("sarif", given)["runs"][0]["results"]
    (related,) = result["relatedLocations"]
    assert (related["message"]["text"], related["physicalLocation"]["artifactLocation"]["uri"]) == (put, "sizes.md")


@pytest.mark.parametrize(
    ("stops", "levels"),
    [
        (None, ["error", "warning"]),
        (frozenset[str](), ["warning", "warning"]),
        (frozenset(["H1"]), ["warning", "error"]),
    ],
)
def test_an_error_is_what_the_gate_stops_at(stops: frozenset[str] | None, levels: list[str]) -> None:
    given = review(stops=stops)
    assert [one["level"] for one in of("sarif", given)["runs"][0]["results"]][:2] == levels
    assert [one["severity"].lower() for one in of("rdjson", given)["diagnostics"]][:2] == levels
    assert [kind for kind, _, _ in commands(render("github", given))][:2] == levels
    assert [one["rank"] for one in of("sarif", given)["runs"][0]["results"]][:2] == [100.0, 75.0]


def test_an_inferred_severity_is_marked_and_is_no_error() -> None:
    guessed = replace(FINDINGS[0].members[0].finding, inferred=True)
    (one,) = merge([replace(FINDINGS[0].members[0], finding=guessed)])
    given = review(findings=(one,))
    assert one.inferred
    assert "severity inferred: nobody said" in render("md", given)
    assert render("github", given).startswith("::warning ")
    assert "(severity inferred)" in render("github", given)
    assert of("json", given)["findings"][0]["inferred"] is True


def test_what_was_only_claimed_is_shown_as_said() -> None:
    assert "  - researcher of M2: same as H1: both are" in render("md", review())
    assert not any(one["also"] for one in of("json", review())["findings"])


# --- how long it takes


def many() -> tuple[list[Document], list[tuple[str, Finding]]]:
    """2,000 lines, and 200 findings of six members, each of which says a third of what another says too."""
    dice = random.Random(7)
    pool = ["".join(dice.choices("abcdefghijklmnoprstuvw", k=dice.randint(3, 11))) for _ in range(1_500)]
    lines = [" ".join(dice.choices(pool, k=11)) + "." for _ in range(2_000)]
    found: list[tuple[str, Finding]] = []
    for number in range(200):
        at = dice.randrange(150) * 13
        words = lines[at].split()
        quote = (
            " ".join(words),
            " ".join(words).upper(),
            " ".join([*words[:5], "otherwise", *words[6:]]),
            " ".join(pool[number : number + 12]),
        )
        anchor = Anchor("spec.md", at + 1 if number % 7 == 0 else 0, 0, quote[number % 4])
        issue = f"What is said of {words[2]} and {words[3]} is wrong, because {' '.join(dice.choices(pool, k=6))}"
        new = " ".join(reversed(words)) if number % 3 == 0 else None
        found.append(
            (f"seat-{number % 6}", Finding("1", SEVERITIES[number % 4], issue, f"Drop {words[4]}", anchor, new))
        )
    return [Document("spec.md", "\n".join(lines) + "\n")], found


def test_a_long_review_is_soon_done() -> None:
    """The floor: a pass over each character of the text, ten times, which is what any reading of it costs here."""
    documents, found = many()

    def pass_over() -> None:
        for _ in range(10):
            assert sum(1 for document in documents for char in document.text if char == "\n") == 2_000

    def place() -> list[RaisedFinding]:
        locate._text.cache_clear()
        return [RaisedFinding(seat, f"01-findings/{seat}", one, locate.place(one, documents)) for seat, one in found]

    placed = place()
    findings = merge(placed)
    given = review(documents=tuple(documents), findings=findings)

    def write() -> None:
        for kind in formats.KINDS:
            render(kind, given)
        patch.diff(patch.propose(findings, documents), documents)

    assert sum(one.place.found for one in placed) >= 140
    assert compare(place, pass_over, most=8) <= 8
    assert compare(write, pass_over, most=7) <= 7
    assert compare(lambda: merge(placed), pass_over, most=25) <= 25
