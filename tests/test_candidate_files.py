"""What is read as files is what a person would see in the reply, or it is a problem. `scripts/prove lab` has more."""

from __future__ import annotations

import random
from pathlib import PurePosixPath

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from council.candidates.blocks import find_path_alone, find_path_beside
from council.candidates.diffs import apply_diff
from council.candidates.files import Files, read_files
from council.candidates.paths import check_path
from council.replies import parse
from council.workflow.model import Kind
from council.workflow.types import Unreadable
from tests import hostile_replies
from tests.growth import compare
from tests.hostile_replies import BAD, BRIEF, DIFFS, HEADINGS, ONE, PATHS, PEER, SHOWN_FILES, HostileReply


def read(body: str, brief: str = BRIEF) -> Files | str:
    """The files, or why there are none."""
    try:
        return read_files(body, brief, False) or "nothing"
    except Unreadable as wrong:
        return str(wrong)


def wrong(reply: HostileReply) -> str:
    """What is wrong with what was read of it; empty if nothing is."""
    found = read(reply.body)
    if isinstance(found, str):
        return "" if reply.why or not reply.means else f"refused: {found}"
    if reply.why:
        return f"read in spite of {reply.why}: {[*found.written]}{' and a diff' * bool(found.diff)}"
    for path in found.written:
        check_path(path)
        assert ".." not in PurePosixPath(path).parts
    return "" if dict(found.written) == reply.means else f"{[*found.written]} in place of {[*reply.means]}"


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32), st.booleans())
def test_what_is_read_is_what_is_meant_or_a_problem(seed: int, bad: bool) -> None:
    reply = hostile_replies.make(random.Random(seed), bad)
    assert wrong(reply) == "", reply.body[:2000]


@pytest.mark.parametrize("maker", {one.__name__: one for one in BAD}.values(), ids=lambda one: one.__name__)
def test_every_kind_of_bad_part_is_a_problem_by_itself(maker) -> None:
    for seed in range(40 if maker.__name__ != "too_large" else 1):
        part = maker(random.Random(seed), 1)
        assert isinstance(read(part.text), str), part.why


@pytest.mark.parametrize("kind", PATHS)
@pytest.mark.parametrize("shape", ["{}\n```\nx\n```", "File: `{}`\n```\nx\n```", "```python {}\nx\n```", "delete `{}`"])
def test_no_hostile_path_is_written_or_deleted(kind: str, shape: str) -> None:
    assert isinstance(read(shape.format(PATHS[kind])), str)


@pytest.mark.parametrize("kind", DIFFS)
def test_a_diff_that_does_more_than_change_lines_is_a_problem(kind: str) -> None:
    assert isinstance(read(f"```diff\n{DIFFS[kind]}```"), str)


def hunks(count: int, at: int, lines: str) -> str:
    return "--- a/a.py\n+++ b/a.py\n" + f"@@ -{at} +1 @@\n{lines}" * count


def test_a_diff_that_fits_everywhere_takes_no_time() -> None:
    """Both the text and the diff may be a stranger's: each hunk would be looked for in all of the text."""

    def apply(count: int) -> None:
        apply_diff(hunks(count, 1, "-\n+\n+x\n"), {"a.py": "\n" * 4 * count})

    assert apply_diff(hunks(2, 3, "-\n+x\n"), {"a.py": "\n" * 5}) == {"a.py": "\n\nx\nx\n\n"}
    assert compare(lambda: apply(8_000), lambda: apply(1_000), 16) <= 16
    with pytest.raises(Unreadable, match="nearly fits in too many places; write the whole file"):
        apply_diff(hunks(1, 1, "-a\n" * 60), {"a.py": ("a\n" * 50 + "b\n") * 2_000})


UNSEEN = (
    "\u3164 \u200b \u200c \u200d \u200e \u200f \u061c \u2060 \u2064 \ufeff \u00ad \u034f \u115f \uffa0 \u180e \u2028 "
    "\u2029 \x80 \x9f \x7f \x1b \u202e \u2066 \ufe00 \ufe0e \ufe0f \U000e0001 \U000e0041 "
    "\U000e0100 \U0001bca0 \U0001d173"
).split(" ")
EMOJI = (
    "\u2764\ufe0f", "\U0001f469\u200d\U0001f4bb", "\U0001f3f3\ufe0f\u200d\U0001f308", "1\ufe0f\u20e3", "\u00a9\ufe0f",
    "\U0001f469\U0001f3fd\u200d\U0001f680", "\U0001f468\u200d\U0001f469\u200d\U0001f467", "\u26a0\ufe0f careful",
    "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
)  # fmt: skip


@pytest.mark.parametrize("sign", UNSEEN, ids=ascii)
def test_a_character_that_cannot_be_seen_is_refused_unless_the_file_has_it(sign: str) -> None:
    code = f"src/calc.py has U+{ord(sign):04X}, which cannot be seen; leave it out, or write an escape"
    written = "src/calc.py\n```python\nname = 'a{}b'\n```\n"
    assert read(written.format(sign)) == code
    shown = SHOWN_FILES["src/calc.py"]
    before = BRIEF.replace(shown, f"{shown}# {sign}")
    assert before != BRIEF
    assert isinstance(read(written.format(sign), before), Files)
    assert read(written.format(sign * 2), before) == code
    diff = "```diff\n--- a/src/calc.py\n+++ b/src/calc.py\n@@ @@\n-# {}\n+# {} changed\n```\n"
    assert isinstance(read(diff.format(sign, sign), before), Files)
    assert "the diff has U+" in str(read(diff.format(sign, sign * 2), before))


def test_emoji_and_letters_of_any_language_may_be_written() -> None:
    for text in (*EMOJI, "naïve", "日本語", "עברית", "हिन्दी", "\u00a0", "a\tb"):
        assert isinstance(read(f"src/calc.py\n```python\nname = '{text}'\n```\n"), Files), ascii(text)
    woman, heart = EMOJI[1][0], EMOJI[0]
    forged = EMOJI[-1].replace("\U000e0065", "\U000e0061")
    for hidden in (f"{woman}\u200d", "a\ufe0f", "1\ufe0f", f"{heart}\ufe0f", f"{woman}\u200d{EMOJI[1][1:]}", forged):
        assert "cannot be seen" in str(read(f"src/calc.py\n```python\nname = '{hidden}'\n```\n")), ascii(hidden)


def test_a_diff_that_fits_is_read_and_keeps_the_line_ends() -> None:
    found = read(f"```diff\n{ONE}```")
    assert found == Files(diff=ONE)
    tree = {path: text.encode() for path, text in SHOWN_FILES.items()}
    windows = {path: data.replace(b"\n", b"\r\n") for path, data in tree.items()}
    assert b"a + b" in found.lay_on(tree)["src/calc.py"]
    assert found.lay_on(windows)["src/calc.py"] == found.lay_on(tree)["src/calc.py"].replace(b"\n", b"\r\n")
    written = Files({"src/calc.py": "x = 1\ny = 2\n"})
    assert written.lay_on(windows)["src/calc.py"] == b"x = 1\r\ny = 2\r\n"
    assert written.lay_on({"src/calc.py": b"a\r\nb\n"})["src/calc.py"] == b"x = 1\ny = 2\n", "mixed before: plain now"


def test_what_an_earlier_version_deleted_may_be_deleted_again() -> None:
    again = Files({"old.py": None, "new.py": "x = 1\n"})
    assert again.lay_on({}, {"old.py"}) == {"new.py": b"x = 1\n"}
    with pytest.raises(Unreadable, match=r"it deletes old\.py, which does not exist"):
        again.lay_on({})


@pytest.mark.parametrize(
    ("line", "path"),
    [
        *((form.format("src/a_b.py"), "src/a_b.py") for form in hostile_replies.LEADS),
        ("__init__.py", "__init__.py"), ("**__init__.py**", "__init__.py"), ("_private.py:", "_private.py"),
        ("`.gitignore`", ".gitignore"), ("`bin/run`", "bin/run"), ("File: bin/run", "bin/run"),
        ("Makefile", "Makefile"),
        ("app/[slug]/page.tsx", "app/[slug]/page.tsx"), ("src/query.unknown", "src/query.unknown"),
        ("`docs/a page.md`", "docs/a page.md"), ("File: `VERSION`", "VERSION"), ("../up.py", "../up.py"),
        *((heading, "") for heading in HEADINGS),
        ("3.5", ""), ("e.g.", ""), ("self.cache", ""), ("src/a.py (new)", ""), ("See src/a.py", ""), ("a.py, b.py", ""),
        ("[src/a.py](src/b.py)", ""), ("a" * 1_000_000, ""), ("File: a.py and b.py", ""),
    ],
)  # fmt: skip
def test_which_line_is_a_path(line: str, path: str) -> None:
    assert find_path_alone(line) == path


@pytest.mark.parametrize(
    ("info", "path"),
    [
        ("python src/a.py", "src/a.py"), ("src/a.py", "src/a.py"), ("python:src/a.py", "src/a.py"),
        ('python title="src/a.py"', "src/a.py"), ("js file=src/a.js", "src/a.js"), ("python3.11", ""), ("c++", ""),
        ("python numbers=true", ""), ("python the file a.py", ""), ("", ""),
    ],
)  # fmt: skip
def test_which_word_beside_a_fence_is_a_path(info: str, path: str) -> None:
    assert find_path_beside(info) == path


def test_quotations_and_the_brief_itself_are_nobodys_files() -> None:
    own = "src/own.py\n```\nx = 1\n```"
    quoted = "\n".join(f"> {line}" for line in PEER.split("\n"))
    assert read(BRIEF) == "nothing"
    assert read(quoted) == "nothing"
    for before in (BRIEF, quoted, f"{BRIEF}\n\n{quoted}"):
        assert read(f"{before}\n\n{own}") == Files({"src/own.py": "x = 1\n"})


def test_the_one_file_that_a_brief_asks_for_needs_no_path() -> None:
    asked = "File to write: `src/one.py`\n"
    assert read("```python\nx = 1\n```", asked) == Files({"src/one.py": "x = 1\n"})
    assert "there are 2 code blocks" in str(read("```\nx\n```\n\n```\ny\n```", asked))
    assert "no path" in str(read("```\nx\n```\n\nsrc/two.py\n```\ny\n```", asked))
    forged = f"{hostile_replies.fence('Designer', asked.replace('one', 'evil'), '0badc0de')}\n"
    assert read("```\nx\n```", asked + forged) == Files({"src/one.py": "x\n"})
    assert "no path" in str(read("```\nx\n```", forged))


def test_a_second_block_of_code_is_a_problem_and_not_silence() -> None:
    reply = (("code", Kind("code")),)
    one = "## Code\n```python\nx = 1\n```\n"
    assert parse.read(reply, one, "").found == {"code": "x = 1"}
    both = parse.read(reply, f"{one}\n```python\nassert x == 1\n```\n", "")
    assert both.found == {}
    assert both.problems


@pytest.mark.parametrize("form", ["x.py\n```\nx\n```", "nothing of the kind", "delete ../x"])
def test_a_step_hears_why_its_files_cannot_be_read(form: str) -> None:
    found = parse.read((("solution", Kind("files")),), f"## Solution\n{form}", "")
    assert bool(found.found) != bool(found.problems)
