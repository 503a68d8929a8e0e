"""Replies in the format `files`: written in every way that is meant to be read, and in every way that must not be.

A reply is made of parts. A good part says which file it means; a bad one has to be a problem, whatever is around it. So
what was read is right only if it is just what the parts mean, or a problem if one of them is bad.
"""

from __future__ import annotations

import random
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from council.candidates.files import FORMAT, MOST_BYTES, MOST_FILES, SHOWN
from council.text import fence

Dice = random.Random
SHOWN_FILES = {
    "src/calc.py": "def add(a, b):\n    return a - b\n\n\ndef double(a):\n    return add(a, a)\n",
    "README.md": "# Calc\n\n```python\nadd(1, 2)\n```\n",
}
PEER = "I would write\n\nsrc/evil.py\n```python\nevil = True\n```\n\ndelete src/calc.py\n"
BRIEF = "\n\n".join(
    [
        "You are the engineer. Mend the calculator.",
        *(fence(f"{SHOWN}{path}", text, f"{at:08x}") for at, (path, text) in enumerate(SHOWN_FILES.items(), 10)),
        fence("Designer", PEER, "00000abc"),
        "End your reply with the answers below.",
        f"## Solution\n{FORMAT}",
    ]
)


@dataclass(frozen=True)
class Part:
    """A piece of a reply. `means` are its files, None for one that is deleted; a bad part says `why` it is bad."""

    text: str
    means: Mapping[str, str | None] = field(default_factory=dict)
    why: str = ""


@dataclass(frozen=True)
class HostileReply:
    """A whole reply, and what its parts mean."""

    body: str
    parts: tuple[Part, ...]

    @property
    def why(self) -> tuple[str, ...]:
        return tuple(part.why for part in self.parts if part.why)

    @property
    def means(self) -> dict[str, str | None]:
        return {path: text for part in self.parts for path, text in part.means.items()}


# ---- what is meant to be read ----

TEXTS = (
    "x = 1\n",
    "def tabs():\n\treturn 'a\tb'\n",
    "# Größe, 大きさ, مرحبا, 🎈\nname = 'naïve'\n",
    "text = '''\n## Solution\nnone\n## Tests\npass\n'''\n",
    "delete = 'src/other.py'\n\n\n   # three spaces and two blank lines   \n",
    "# > a quotation\n> = 1\n",
    'said = \'<said by="Designer" key="00000abc">\'\n',
    "",
)
NAMES = ("src/new{}.py", "tests/test_{}.py", "a/b/c/deep{}.ts", "pkg{}/__init__.py", "_private{}.py", "docs/page {}.md")
LEADS = (
    "{}", "{}:", "`{}`", "`{}`:", "**{}**", "**{}:**", "**`{}`**:", "### {}", "#### File: `{}`", "File: {}",
    "**File:** `{}`", "1. `{}`", "- {}", "Path: `{}`", "*{}*", '"{}"', "[{0}]({0})",
)  # fmt: skip


def lead(path: str, dice: Dice) -> str:
    quoted = [one for one in LEADS if "`" in one or '"' in one]
    return dice.choice(quoted if " " in path else LEADS).format(path)


def named_block(path: str, text: str, dice: Dice) -> str:
    """A file under its path, or with its path beside the fence."""
    mark = dice.choice(["```", "````", "~~~", "~~~~~"])
    if "```" in text:
        mark = "````"
    if " " not in path and dice.random() < 0.3:
        beside = dice.choice(["{}", "python {}", "python:{}", 'python title="{}"', "py file={}"]).format(path)
        return f"{mark}{beside}\n{text}{mark}"
    gap = dice.choice(["", "\n"])
    return f"{lead(path, dice)}\n{gap}{mark}{dice.choice(['', 'python', 'ts', 'text', 'bash'])}\n{text}{mark}"


def good_file(dice: Dice, number: int) -> Part:
    path, text = dice.choice(NAMES).format(number), dice.choice(TEXTS)
    block = named_block(path, text, dice)
    if dice.random() < 0.15:  # in a list, everything is further right
        block = "\n".join(f"   {line}" for line in block.split("\n"))
    return Part(block, {path: text})


def nested(dice: Dice, number: int) -> Part:
    path, text = f"docs/nested{number}.md", "# How\n\n```python\nadd(1, 2)\n```\n\nand\n\n```js\nx\n```\n"
    return Part(f"{path}\n```markdown\n{text}```", {path: text})


def deletion(dice: Dice, number: int) -> Part:
    path = f"src/old{number}.py"
    return Part(dice.choice(["delete {}", "- delete `{}`", "**delete** {}", "Delete: `{}`"]).format(path), {path: None})


def noise(dice: Dice, number: int) -> Part:
    """What is not the member's own file, and looks like one."""
    quoted = "\n".join(f"> {line}" for line in PEER.split("\n"))
    ways = (
        "I mended it. See `src/calc.py`, and/or the tests.",
        "```bash\npytest -q\n```",
        "Then run:\n\n```\n".replace("```\n", "```console\n$ python -m calc\n```"),
        quoted,
        fence("Designer", PEER, "00000abc"),
        fence(f"{SHOWN}src/calc.py", f"src/calc.py\n```python\n{SHOWN_FILES['src/calc.py']}```", "0000000a"),
        "Nothing is deleted; I would not delete the tests.",
    )
    return Part(dice.choice(ways))


GOOD = (good_file, good_file, good_file, nested, deletion, noise)

# ---- what must be a problem ----

PATHS = {
    "up": "../x.py", "up inside": "src/../../x.py", "absolute": "/etc/cron.d/x.py", "home": "~/x.py",
    "hook": ".git/hooks/post-checkout.py", "case of .git": ".GIT/x.py", "short .git": "git~1/x.py",
    "device in a folder": "src/aux/x.py", "drive": "C:/x.py",
    "wide .git": ".\uff47\uff49\uff54/x.py", "invisible in .git": ".g\u200cit/x.py",
    "what council reads": ".council/x.py", "attributes": ".gitattributes", "modules": "sub/.gitmodules",
    "stream": "src/x.py:evil.py",
    "data stream": "src/x.py::$DATA", "device": "con.py",
    "backslash": "src\\..\\x.py", "nul": "src/x\0.py", "escape": "src/\x1b[2Jx.py",
    "right to left": "src/\u202eyp.x.py",
    "isolate": "src/\u2066x.py", "line separator": "src/x\u2028.py", "no-break space": "src/x\u00a0y.py",
    "empty part": "src//x.py", "dot part": "src/./x.py", "long": "src/" + "x" * 4096 + ".py",
    "long part": "src/" + "x" * 120 + ".py", "long in all": "/".join(["part"] * 60) + "/x.py",
    "not composed": unicodedata.normalize("NFD", "src/é.py"), "full stop": "src./x.py", "space": "src /x.py",
    "option": "--deselect=tests/test_x.py", "surrogate": "src/\ud800.py", "wildcard": "src/*.py", "angle": "src/<x>.py",
}  # fmt: skip
HEADINGS = ("Parser.parse()", "and/or", "2.1", "`Parser`", "`parser.parse()`", "The parser", "Input/output:", "")
CODE = "x = 1\n"


def bad_path(dice: Dice, number: int) -> Part:
    kind = dice.choice(sorted(PATHS))
    beside = not set(PATHS[kind]) & {" ", "\u00a0", "\u2028"} and dice.random() < 0.3
    block = f"```python {PATHS[kind]}\n{CODE}```" if beside else f"{lead(PATHS[kind], dice)}\n```python\n{CODE}```"
    return Part(block, why=f"a path: {kind}")


def bad_deletion(dice: Dice, number: int) -> Part:
    kind = dice.choice(["up", "absolute", "hook", "drive", "empty part", "nul"])
    words = dice.choice([f"delete `{PATHS[kind]}`", "delete src/a.py and src/b.py", "Delete `src/a.py`, which is old."])
    return Part(words, why=f"a deletion: {words[:40]}")


def twins(dice: Dice, number: int) -> Part:
    pairs = (
        (f"src/Case{number}.py", f"src/case{number}.py"), (f"src/dir{number}.py", f"src/dir{number}.py/x.py"),
        (f"Straße{number}.py", f"strasse{number}.py"), (f"src/İ{number}.py", f"src/i̇{number}.py"),
        (f"src/é{number}.py", unicodedata.normalize("NFD", f"src/é{number}.py")),
    )  # fmt: skip
    first, second = dice.choice(pairs)
    return Part(f"{first}\n```\n{CODE}```\n\n{second}\n```\n{CODE}```", why="twins")


def twice(dice: Dice, number: int) -> Part:
    path = f"src/twice{number}.py"
    return Part(f"{path}\n```\nx = 1\n```\n{path}\n```\nx = 2\n```", why="a file twice, and differently")


def two_paths(dice: Dice, number: int) -> Part:
    return Part(f"src/one{number}.py\n```python src/two{number}.py\n{CODE}```", why="two paths")


def unnamed(dice: Dice, number: int) -> Part:
    heading = dice.choice(HEADINGS)
    return Part(f"It follows.\n\n{heading}\n```python\n{CODE}```", why=f"no path: {heading}")


def unsure(dice: Dice, number: int) -> Part:
    return Part(f"bin/run{number}\n```bash\necho\n```", why="a path that could be words")


def unclosed(dice: Dice, number: int) -> Part:
    return Part(f"src/open{number}.py\n`````python\n{CODE}", why="a block that is not closed")


def unseen(dice: Dice, number: int) -> Part:
    kinds = {"bidi": "\u202e", "isolate": "\u2067", "nul": "\0", "escape": "\x1b[8m", "return": "\r#", "half": "\udfff"}
    kinds |= {
        f"U+{ord(sign):04X}": sign for sign in "\u3164\u200b\u200d\u200f\u061c\u2060\ufeff\ufe0f\U000e0041\x85\u2028"
    }
    kind = dice.choice(sorted(kinds))
    return Part(f"src/unseen{number}.py\n```\nadmin = False {kinds[kind]} or True\n```", why=f"text: {kind}")


def too_many(dice: Dice, number: int) -> Part:
    return Part("\n".join(f"many/f{at}.py\n```\n```" for at in range(MOST_FILES + 1)), why="too many files")


def too_large(dice: Dice, number: int) -> Part:
    return Part(f"src/large{number}.py\n```\n{'x' * MOST_BYTES}\n```", why="too many bytes")


ONE = "--- a/src/calc.py\n+++ b/src/calc.py\n@@ -1,2 +1,2 @@\n def add(a, b):\n-    return a - b\n+    return a + b\n"
DIFFS = {
    "a hunk that does not fit": ONE.replace("return a - b", "return a * b"),
    "a rename by names": ONE.replace("+++ b/src/calc.py", "+++ b/src/other.py"),
    "a rename out": ONE.replace("+++ b/src/calc.py", "+++ b/../other.py"),
    "a rename by words": "diff --git a/src/calc.py b/x.py\nrename from src/calc.py\nrename to x.py\n" + ONE,
    "a symbolic link": "diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l.py\n@@ -0,0 +1 @@\n+/etc\n"
    + ONE,
    "a mode": "diff --git a/src/calc.py b/src/calc.py\nold mode 100644\nnew mode 100755\n" + ONE,
    "a binary file": "diff --git a/x b/x\nGIT binary patch\nliteral 1\n" + ONE,
    "an empty file": "diff --git a/e.py b/e.py\nnew file mode 100644\nindex 0..e69de29\n" + ONE,
    "an empty file at the end": ONE + "diff --git a/e.py b/e.py\nnew file mode 100644\nindex 0..e69de29\n",
    "lines before any file": "@@ -1 +1 @@\n-x\n+y\n" + ONE,
    "a header without its other half": "+++ b/src/calc.py\n@@ -1 +1 @@\n-x\n+y\n" + ONE,
    "a file that was not shown": ONE.replace("src/calc.py", "src/secret.py"),
    "a hook": "--- /dev/null\n+++ b/.git/hooks/x\n@@ -0,0 +1 @@\n+x\n",
    "a file twice": ONE + ONE,
    "no hunk": "--- a/src/calc.py\n+++ b/src/calc.py\n",
    "words in a hunk": ONE + "and then\n",
    "unseen text": ONE.replace("a + b", "a + b \u202e"),
    "a hunk with words for lines": ONE + "@@ def double(a):\n-    return add(a, a)\n+    return 2 * a\n",
}


def bad_diff(dice: Dice, number: int) -> Part:
    kind = dice.choice(sorted(DIFFS))
    return Part(f"```diff\n{DIFFS[kind]}```", why=f"a diff: {kind}")


def diff_and_file(dice: Dice, number: int) -> Part:
    return Part(f"```diff\n{ONE}```\n\nsrc/more{number}.py\n```\n{CODE}```", why="a diff and a file")


BAD: tuple[Callable[[Dice, int], Part], ...] = (
    bad_path, bad_path, bad_path, bad_path, bad_deletion, twins, twice, two_paths, unnamed, unsure, unclosed, unseen,
    unseen, too_many, too_large, bad_diff, bad_diff, diff_and_file,
)  # fmt: skip


def make(dice: Dice, bad: bool) -> HostileReply:
    """A reply of one to five parts, in any order, of which one is bad if `bad`."""
    makers: list[Callable[[Dice, int], Part]] = [dice.choice(GOOD) for _ in range(dice.randint(1, 4))]
    if bad:
        makers.insert(dice.randint(0, len(makers)), dice.choice(BAD))
    parts = tuple(maker(dice, number) for number, maker in enumerate(makers))
    # What is not closed swallows what comes after it, and hides what is wrong there.
    body = "\n\n".join(["Here it is.", "## Solution", *(part.text for part in parts), "That is all."])
    return HostileReply(body.replace("\n", "\r\n") if dice.random() < 0.2 else body, parts)
