"""Writes the difference of two trees as a patch that `git apply` takes. Pure, and the same bytes everywhere."""

from __future__ import annotations

import difflib
import hashlib
import re
import zlib
from base64 import b85encode
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

PLAIN, EXECUTABLE = "100644", "100755"
LARGEST = 4_000  # lines that differ: comparing more of them takes time, so they are replaced as a whole
CONTEXT = 3
QUOTED = re.compile(rb'[\x00-\x1f"\\\x7f-\xff]')
ESCAPES = {7: b"a", 8: b"b", 9: b"t", 10: b"n", 11: b"v", 12: b"f", 13: b"r", 34: b'"', 92: b"\\"}


@dataclass(frozen=True)
class Change:
    """How one file differs. `added` and `removed` count lines, and are both 0 in a binary file."""

    path: str
    before: bytes | None
    after: bytes | None
    added: int = 0
    removed: int = 0

    @property
    def binary(self) -> bool:
        return any(b"\0" in data for data in (self.before, self.after) if data is not None)


def write(
    before: Mapping[str, bytes],
    after: Mapping[str, bytes],
    executable: Collection[str] = (),
    hash_name: str = "sha1",
) -> bytes:
    """The patch from one tree to the other. `executable` are the paths with that mode; `hash_name` is what the
    repository names its objects by."""
    return b"".join(
        _write_file(path, before.get(path), after.get(path), EXECUTABLE if path in executable else PLAIN, hash_name)
        for path in changed(before, after)
    )


def changed(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> list[str]:
    """The paths that differ, in the order of a patch."""
    differ = (path for path in before.keys() | after.keys() if before.get(path) != after.get(path))
    return sorted(differ, key=lambda path: path.encode())


def measure(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> list[Change]:
    """Each file that differs, with its counts of lines."""
    made = []
    for path in changed(before, after):
        change = Change(path, before.get(path), after.get(path))
        if not change.binary:
            blocks = _compare(_lines(change.before), _lines(change.after))
            added = sum(high - low for tag, _, _, low, high in blocks if tag != "equal")
            removed = sum(high - low for tag, low, high, _, _ in blocks if tag != "equal")
            change = Change(path, change.before, change.after, added, removed)
        made.append(change)
    return made


def name_object(data: bytes, hash_name: str) -> str:
    """The name that git gives to a file with this content."""
    return hashlib.new(hash_name, b"blob %d\0" % len(data) + data).hexdigest()


def quote(path: str) -> bytes:
    """A path as git writes it in a patch: between quotation marks if it holds anything unusual."""
    data = path.encode()
    if not QUOTED.search(data):
        return data
    escaped = QUOTED.sub(lambda found: b"\\" + ESCAPES.get(found[0][0], b"%03o" % found[0][0]), data)
    return b'"' + escaped + b'"'


def _write_file(path: str, before: bytes | None, after: bytes | None, mode: str, hash_name: str) -> bytes:
    old, new = quote(f"a/{path}"), quote(f"b/{path}")
    empty = "0" * hashlib.new(hash_name).digest_size * 2
    names = [empty if data is None else name_object(data, hash_name) for data in (before, after)]
    lines = [b"diff --git %s %s" % (old, new)]
    if before is None:
        lines.append(f"new file mode {mode}".encode())
    if after is None:
        lines.append(f"deleted file mode {mode}".encode())
    suffix = "" if before is None or after is None else f" {mode}"
    lines.append(f"index {names[0]}..{names[1]}{suffix}".encode())
    head = b"\n".join(lines) + b"\n"
    if Change(path, before, after).binary:
        return head + b"GIT binary patch\n" + _literal(after or b"") + b"\n" + _literal(before or b"") + b"\n"
    if not (before or after):  # an empty file has no lines to show
        return head
    sides = [b"/dev/null" if data is None else name for data, name in ((before, old), (after, new))]
    # A name with a space ends with a tab: else it could not be told from a time that follows it.
    marks = [b"%s%s\n" % (side, b"\t" if b" " in side else b"") for side in sides]
    return head + b"--- " + marks[0] + b"+++ " + marks[1] + _text(_lines(before), _lines(after))


def _lines(data: bytes | None) -> list[bytes]:
    lines = (data or b"").split(b"\n")
    return [line + b"\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


Block = tuple[str, int, int, int, int]


def _compare(old: Sequence[bytes], new: Sequence[bytes]) -> list[Block]:
    """What is equal and what is not, as difflib says it. What both sides begin and end with is not compared again."""
    shorter = min(len(old), len(new))
    first = next((at for at in range(shorter) if old[at] != new[at]), shorter)
    last = next((at for at in range(shorter - first) if old[-1 - at] != new[-1 - at]), shorter - first)
    middle = [one[first : len(one) - last] for one in (old, new)]
    if max(map(len, middle)) > LARGEST:
        between: list[Block] = [("replace", 0, len(middle[0]), 0, len(middle[1]))]
    else:
        between = list(difflib.SequenceMatcher(a=middle[0], b=middle[1]).get_opcodes())
    head: list[Block] = [("equal", 0, first, 0, first)] if first else []
    tail: list[Block] = [("equal", len(old) - last, len(old), len(new) - last, len(new))] if last else []
    return [*head, *((tag, first + a, first + b, first + c, first + d) for tag, a, b, c, d in between), *tail]


def _hunks(blocks: Sequence[Block]) -> Iterator[list[Block]]:
    """The blocks in groups: what changed, with a few equal lines around it."""
    hunk: list[Block] = []
    for at, (tag, a, b, c, d) in enumerate(blocks):
        around, is_last = min(b - a, CONTEXT), at == len(blocks) - 1
        if tag != "equal" or (hunk and not is_last and b - a <= 2 * CONTEXT):
            hunk.append((tag, a, b, c, d))
            continue
        if hunk:
            yield [*hunk, ("equal", a, a + around, c, c + around)]
        hunk = [] if is_last else [("equal", b - around, b, d - around, d)]
    if hunk:
        yield hunk


def _text(old: Sequence[bytes], new: Sequence[bytes]) -> bytes:
    made = []
    for hunk in _hunks(_compare(old, new)):
        (_, low, _, begin, _), (_, _, high, _, end) = hunk[0], hunk[-1]
        made.append(f"@@ -{_range(low, high)} +{_range(begin, end)} @@\n".encode())
        for tag, a, b, c, d in hunk:
            if tag == "equal":
                made += [b" " + line for line in old[a:b]]
            else:
                made += [b"-" + line for line in old[a:b]] + [b"+" + line for line in new[c:d]]
    return b"".join(line if line.endswith(b"\n") else line + b"\n\\ No newline at end of file\n" for line in made)


def _range(first: int, end: int) -> str:
    """A range of lines: the number of the first, or of the one before if there is none, and how many they are."""
    count = end - first
    start = first + 1 if count else first
    return f"{start}" if count == 1 else f"{start},{count}"


def _literal(data: bytes) -> bytes:
    """Binary content as git writes it: deflated, in lines of 52 bytes.

    It is stored, not compressed: what a compressor makes of it depends on its version.
    """
    packed = b"\x78\x01" + _stored(data) + zlib.adler32(data).to_bytes(4, "big")
    made = [b"literal %d\n" % len(data)]
    for at in range(0, len(packed), 52):
        part = packed[at : at + 52]
        size = len(part) + (64 if len(part) <= 26 else 96 - 26)
        made.append(bytes([size]) + b85encode(part, pad=True) + b"\n")
    return b"".join(made)


def _stored(data: bytes) -> bytes:
    parts = [data[at : at + 65_535] for at in range(0, len(data), 65_535)] or [b""]
    return b"".join(
        bytes([at == len(parts) - 1])
        + len(part).to_bytes(2, "little")
        + (len(part) ^ 0xFFFF).to_bytes(2, "little")
        + part
        for at, part in enumerate(parts)
    )
