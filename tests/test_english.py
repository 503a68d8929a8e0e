"""Plain English: phrases that we used to write, and that a native reader stumbles over.

They are looked for in what people read: the strings and docstrings of the package and the scripts, the documentation,
the prompts, the workflows, the personas and the skill. Comments and names are up to the reviewer.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

# What to look for, and what to write instead.
PHRASES = {
    r"so many": "that many, N, a number of",
    r"whoever|whomever": "anyone who, the person who, the member who",
    r"graver|gravest|as grave as": "more severe, the most severe, as severe as",
    r"anew": "again",
    r"(?:is|are|was) no \w+ of": "is not a … of",
    r"of two minds": "undecided",
    r"(?:comes?|came) of it": "the result, the outcome",
    r"hardly (?:meant|wanted)": "probably unintended",
    r"stands?(?! for\b| in for\b| out\b)": "is, is in, is written, remains; `stands for` is fine",
    r"(?:can|could|cannot|to) be had": "is available, can be reached",
    r"for good": "permanently",
    r"at the most": "at most",
    r"of a person(?!'s|a)": "a person's",
    r"sits? there": "is a member, takes part",
    r"(?:breaks?|broke|broken) off": "is interrupted",
    r"is nobody|nobody is called": "unknown, does not exist",
    r"says? by (?:its|their|his|her|name)": "names",
    r"lies (?:in|at|beside|below|there)": "is in, is at",
    r"what is so": "the facts, the state",
    r"give(?:s|n)? back": "returns",
    r"in its stead|in their stead": "instead",
    r"without (?:fault|blame)\b": "correct",
    r"is at it": "is using it, is running",
    r"of ones? own|of one's own": "your own",
    r"retyp(?:es|ed)|typed anew": "copied by hand",
    r"mends?|mended": "fix",
    r"unmistakable": "unambiguous",
    r"(?:is|are) no (?:name|number|type|share|round|choice|method)": "is not a …",
    r"(?<!there )(?:is|are) no (?:bench|confirmation|date|git|review|seat)": "is not a …",
    r"to the letter": "exactly",
}
PATTERN = re.compile("|".join(rf"(?P<p{number}>\b(?:{one})\b)" for number, one in enumerate(PHRASES)), re.I)

# Where a phrase is right, with the reason.
EXCEPTIONS = {
    **dict.fromkeys(
        (("council/protocols/settling_forms.py", word) for word in ("stand", "stands", "anew")),
        "what members write of a concern",
    ),
    (
        "scripts/record_sessions.py",
        "to be had",
    ): "the recorded sessions hold these words, and are sealed by their hashes",
    ("scripts/record_sessions.py", "whoever"): "the same",
    **dict.fromkeys(
        ((f"council/next/protocols/{name}.py", "stands") for name in ("ids", "voices", "checks")),
        "the word of a ruling",
    ),
    ("council/protocols/mind_changes.py", "stand"): "a pattern for what members write",
}

PAGES = (
    "README.md",
    "ARCHITECTURE.md",
    "AGENTS.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "CHANGELOG.md",
    "SKILL.md",
    "Config.md",
)
GENERATED = ("reference.md", "workflows.md", "mcp.md")
SCOPES = {
    **{f"council/{room.name}": [*sorted(room.rglob("*.py")), *sorted(room.rglob("*.md"))]
       for room in sorted((ROOT / "council").iterdir()) if (room / "__init__.py").is_file()},
    "council": sorted((ROOT / "council").glob("*.py")),
    "scripts": [*sorted((ROOT / "scripts").glob("*.py")), ROOT / "scripts" / "workflows.md.j2"],
    "pages": [*(ROOT / name for name in PAGES), *sorted((ROOT / ".github").rglob("*.*"))],
    "docs": [
        *(path for path in sorted((ROOT / "docs").glob("*.md")) if path.name not in GENERATED),
        *sorted((ROOT / "docs" / "compliance").glob("*.md")),
    ],
    "docs, made from the code": [ROOT / "docs" / name for name in GENERATED],
    "templates": sorted((ROOT / "templates").rglob("*.j2")),
    "Workflows": sorted((ROOT / "Workflows").glob("*.md")),
    "personas": [ROOT / "AgentPersonalities.md", *sorted((ROOT / "agents").glob("*.md"))],
}  # fmt: skip

# Still to be rewritten. Take a name out as soon as its test says so; put none in.
NOT_YET = {
    "council/reviews": "its reading and merging are rewritten later",
}


def texts(path: Path) -> Iterator[tuple[int, str]]:
    """What is read of a file: all of a page, the strings of a module; each with its first line."""
    text = path.read_text("utf-8")
    if path.suffix != ".py":
        text = text.partition("\n---\n\n## Council ")[0]  # below it, a page shows a debate as it was held
        yield from enumerate(text.splitlines(), 1)
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from enumerate(node.value.splitlines(), node.lineno)


def findings(path: Path) -> Iterator[str]:
    name = path.relative_to(ROOT).as_posix()
    for line, text in texts(path):
        for found in PATTERN.finditer(text):
            if (name, found[0].lower()) not in EXCEPTIONS:
                better = list(PHRASES.values())[int((found.lastgroup or "p0")[1:])]
                yield f'{name}:{line}: "{found[0]}" in "{text.strip()[:100]}": write {better}'


@pytest.mark.parametrize("scope", SCOPES)
def test_we_write_plain_english(scope: str) -> None:
    wrong = [one for path in SCOPES[scope] for one in findings(path)]
    if scope in NOT_YET:
        assert wrong, f"{scope} is clean now: take it out of NOT_YET"
        return
    assert not wrong, "\n" + "\n".join(wrong)


def test_exceptions_are_needed() -> None:
    unused = [
        (name, phrase)
        for name, phrase in EXCEPTIONS
        if not any(found[0].lower() == phrase for _, text in texts(ROOT / name) for found in PATTERN.finditer(text))
    ]
    assert unused == []


@pytest.mark.parametrize("text", ["It stands in the file.", "Whoever speaks", "it is no part of it", "at the most two"])
def test_phrases_are_found(text: str) -> None:
    assert PATTERN.search(text)


@pytest.mark.parametrize(
    "text", ["what the tier stands for", "It is not a part of it.", "at most two", "a standing offer"]
)
def test_plain_words_are_left_alone(text: str) -> None:
    assert not PATTERN.search(text)
