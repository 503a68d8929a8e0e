"""Blocks of code in a reply, and the path that a block is for: named beside its fence, or alone on the line before it.

A word is taken for a path only if nobody could take it for anything else. `Parser.parse`, `and/or` and `2.1` are none,
so a block below such a line is a problem, and not a file of that name.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from council.text import one_line
from council.workflow.types import Unreadable

LONGEST_LINE = 5_000  # a longer line is no path, and is not worth matching
ENDINGS = frozenset(
    """
    adoc am asm astro awk bash bat bib c cc cfg cjs clj cljs cmake cmd conf cpp cs csproj css csv cts cu cxx dart
    diff ed el elm env erb erl ex exs f90 fs fsx gd go gql gradle graphql groovy h haml hbs hcl hh hpp hrl hs htm
    html hxx idl in ini ipynb java jinja jinja2 jl js json json5 jsonl jsx kt kts less lhs lisp lock lua m mak md
    mdx mjs mk ml mli mm mod mts nim nix opam org pas patch php phtml pl plist pm po pot prisma pro properties
    proto ps1 pug pxd py pyi pyx qml r rake rb rego rkt rs rst s sass sbt scala scm scss sh sln sol sql styl sum
    sv svelte svg swift tcl tex tf tfvars thrift tmpl toml toon tpl ts tsv tsx txt v vb vhd vhdl vim vue wat wgsl
    wsdl xhtml xml xsd xsl yaml yml zig zsh
    """.split()
)
WHOLE_NAMES = frozenset("Makefile Dockerfile Jenkinsfile Vagrantfile LICENSE Procfile Gemfile Rakefile Pipfile".split())
LEAD = re.compile(r"\s*(?:(?:[-*+•]|\d{1,3}[.)]|#{1,6})\s+)?")
EMPHASIS = re.compile(r"([*_]{1,3})(\S.*?):?\1")
LABEL = re.compile(r"[*_]{0,3}(?:file(?:\s?name|\s?path)?|path)[*_]{0,3}\s*:\s*[*_]{0,3}\s+", re.I)
LINK = re.compile(r"\[([^\]]+)\]\(([^)]+)\)")
QUOTED = re.compile(r"`([^`]+)`|\"([^\"`]+)\"|'([^'`]+)'")
NAMED = re.compile(r"(?:title|file|filename|path|name)=", re.I)
DOTFILE = re.compile(r"\.[a-z][\w.-]+")
OUTSIDE = ("/", "~/", "./", "../", ".git/")  # begins a path that no member may write, and nothing else
DIFFS = ("diff", "patch", "udiff")
PROSE = ("bash", "sh", "shell", "zsh", "console", "terminal", "text", "txt", "output", "log", "plaintext", "traceback")


@dataclass(frozen=True)
class Block:
    """A block of code, and the line with words before it."""

    info: str
    before: str
    lines: list[str]
    closed: bool

    @property
    def text(self) -> str:
        return "\n".join(self.lines) + "\n" if self.lines else ""

    @property
    def path(self) -> str:
        """The path that the block's info string or the line before it gives; empty if neither does."""
        beside, above = find_path_beside(self.info), find_path_alone(self.before)
        if beside and above and beside != above:
            raise Unreadable(f"a block of code has two paths, {one_line(above, 60)} and {one_line(beside, 60)}")
        return beside or above

    @property
    def may_be_file(self) -> bool:
        """Whether a reader could take it for a file, although it has no path that is surely one."""
        if self.language not in PROSE or len(self.info.split()) > 1:
            return True
        words = _without_emphasis(LEAD.sub("", self.before[:LONGEST_LINE], count=1)).strip("`\"'").split()
        return len(words) == 1 and bool(re.search(r"[./]", words[0]))

    @property
    def language(self) -> str:
        return next(iter(self.info.lower().split()), "")

    @property
    def is_diff(self) -> bool:
        return self.language in DIFFS and not self.path.endswith((".diff", ".patch"))

    def describe_open(self) -> str:
        of = f" of {one_line(self.path, 60)}" if self.path else ""
        return f"the code block{of} is not closed; a file that itself has ``` needs a fence of four backticks"


def find_path_beside(info: str) -> str:
    """The path in what follows a fence: `src/a.py`, `python src/a.py`, `python:src/a.py`, `python title="src/a.py"`."""
    words = re.sub(r"^[\w+#.-]*:(?=\S*[./])", "", info[:LONGEST_LINE]).split()
    last = NAMED.sub("", words[-1], count=1) if words else ""
    last = last.strip("\"'") if words and last != words[-1] else last
    return last if len(words) <= 2 and is_path(last) else ""


def find_path_alone(line: str) -> str:
    """The path that a line consists of, as `**src/a.py**:` or "### File: `src/a.py`"; empty if it has other words."""
    if len(line) > LONGEST_LINE:
        return ""
    rest = _without_emphasis(LEAD.sub("", line, count=1))
    label = LABEL.match(rest)
    rest = _without_emphasis(rest[label.end() :]) if label else rest
    if link := LINK.fullmatch(rest):
        rest = link.group(1) if link.group(1).strip("`") == link.group(2) else ""
    quoted = QUOTED.fullmatch(rest)
    name = next(filter(None, quoted.groups())).strip() if quoted else rest
    if label and (quoted or not re.search(r"[\s`*]", name)):  # then nothing else can be meant
        return name
    return name if is_path(name, bool(quoted)) else ""


def _without_emphasis(text: str) -> str:
    text = text.strip().removesuffix(":").rstrip()
    whole = EMPHASIS.fullmatch(text)
    return whole.group(2).strip() if whole else text


def is_path(name: str, quoted: bool = False) -> bool:
    """Whether these words are a path, and nothing else that looks like one. In quotation marks, it may have spaces."""
    folder, _, last = name.rpartition("/")
    if re.search(r"[`*]" if quoted else r"[\s`*]", name) or not last or last.endswith((")", ",", ";", "]")):
        return False
    stem, _, ending = last.rpartition(".")
    known = ending.lower() in ENDINGS or bool(folder and re.fullmatch(r"[A-Za-z]\w{0,9}", ending))
    if (stem and known) or last in WHOLE_NAMES or (folder and name.startswith(OUTSIDE)):
        return True
    return quoted and bool(folder or DOTFILE.fullmatch(last))
