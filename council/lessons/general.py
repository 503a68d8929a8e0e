"""Makes the words of a lesson general: none of its task's paths and tests, no code of more than a line or two. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from council.text import MARKER, harmless, mark_code, one_line

MOST_CODE = 2  # lines of code that a lesson may show
SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+")
MARKUP = re.compile(r"^\s*(?:#{1,6}\s+|[-*+•]\s+|\d+[.)]\s+|>\s*)+")
# A path, wherever it leads: absolute, in the home folder, or of a file with a suffix.
PATH = re.compile(r"(?<![\w/:.])(?:~|\.{1,2})?/[\w.-]+(?:/[\w.-]+)*|\b[\w.-]+(?:/[\w.-]+)+\.\w{1,5}\b")
TEST = re.compile(r"\b(?:def|class)\s+(\w*[Tt]est\w*)")
LEAST_LINE = 12  # characters of a line that give away where they are from


@dataclass(frozen=True)
class Particular:
    """What belongs to one task and to no lesson: the names of its files, the names and lines of its hidden tests."""

    names: frozenset[str] = frozenset()
    lines: frozenset[str] = frozenset()

    def is_in(self, sentence: str) -> bool:
        flat = " ".join(sentence.split())
        spoken = set(re.findall(r"[\w./-]*\w", flat))
        return bool(PATH.search(flat) or spoken & self.names or any(line in flat for line in self.lines))


def describe_task(paths: Iterable[str], hidden: Iterable[bytes]) -> Particular:
    """The names of a task's files, with and without their folders; every name and line of its hidden tests."""
    names = {name for path in paths for name in (path, path.rpartition("/")[2]) if "." in name}
    texts = [data.decode("utf-8", "replace") for data in hidden]
    lines = {" ".join(line.split()) for text in texts for line in text.splitlines()}
    tests = {name for text in texts for name in TEST.findall(text)}
    return Particular(frozenset(names | tests), frozenset(line for line in lines if len(line) >= LEAST_LINE))


def generalize(text: str, task: Particular, most: int) -> str:
    """The text as one line of at most `most` characters, without the sentences that are only about this task."""
    prose, code = [], []
    for line, is_code in mark_code([*harmless(MARKER.sub("", text)).split("\n"), ""]):
        if is_code:
            code.append(line.strip())
            continue
        prose += code[1:-1] if len(code) <= MOST_CODE + 2 else []
        prose, code = [*prose, MARKUP.sub("", line)], []
    kept = [part.strip() for part in SENTENCE.split("\n".join(prose)) if part.strip() and not task.is_in(part)]
    return one_line(" ".join(kept), most)
