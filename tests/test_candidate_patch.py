"""Patches of candidates: real git applies them, and gets the very tree that they were written from."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from council.candidates import patch
from tests.repositories import git, lay, read_files

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")

LONG = "".join(f"line {number}\n" for number in range(40))
BEFORE = {
    "src/a.py": LONG,
    "no newline": "one\ntwo",
    'quo"te\\d\nname.txt': "odd\n",
    "naïve ü.txt": "ü\n",
    "gone.txt": "away\n",
    "empty": "",
    "run.sh": "#!/bin/sh\necho one\n",
    "dos.txt": "a\r\nb\r\n",
    "folder": "a file that becomes a folder\n",
    "image.bin": "\0\1\2" * 50_000,
    "gone.bin": "\0gone",
    "same": "same\n",
}
AFTER = {
    "src/a.py": LONG.replace("line 3\n", "line three\n")
    .replace("line 30\n", "")
    .replace("line 39\n", "line 39\nnew\n"),
    "no newline": "one\ntwo\nthree",
    'quo"te\\d\nname.txt': "odd\nodder",
    "naïve ü.txt": "ö\n",
    "empty": "now it has a line\n",
    "run.sh": "#!/bin/sh\necho two\n",
    "dos.txt": "a\r\nc\r\n",
    "folder/inside.py": "x = 1\n",
    "new\tfile with spaces.py": "y = 2\n",
    "new empty": "",
    "image.bin": "\0\2\1" * 50_000,
    "new.bin": "\0" * 65_536,
    "same": "same\n",
}


def encode(tree: Mapping[str, str]) -> dict[str, bytes]:
    return {path: text.encode() for path, text in tree.items()}


@pytest.mark.parametrize("hash_name", ["sha1", "sha256"])
def test_git_applies_every_kind_of_change(tmp_path: Path, hash_name: str) -> None:
    before, after = encode(BEFORE), encode(AFTER)
    git(tmp_path, "init", "-q", f"--object-format={hash_name}")
    lay(tmp_path, before)
    (tmp_path / "run.sh").chmod(0o755)
    git(tmp_path, "add", "-A")
    made = patch.write(before, after, {"run.sh"}, hash_name)
    git(tmp_path, "apply", "--check", "--index", stdin=made)
    git(tmp_path, "apply", "--index", "--whitespace=nowarn", stdin=made)
    assert read_files(tmp_path) == after
    assert os.access(tmp_path / "run.sh", os.X_OK)
    git(tmp_path, "apply", "--reverse", "--index", stdin=made)
    assert read_files(tmp_path) == before


def test_a_patch_of_text_is_the_one_that_git_writes(tmp_path: Path) -> None:
    before, after = ({k: v for k, v in encode(one).items() if "bin" not in k} for one in (BEFORE, AFTER))
    git(tmp_path, "init", "-q")
    lay(tmp_path, before)
    (tmp_path / "run.sh").chmod(0o755)
    git(tmp_path, "add", "-A")
    tree = git(tmp_path, "write-tree").decode().strip()
    git(tmp_path, "apply", "--cached", "--whitespace=nowarn", stdin=patch.write(before, after, {"run.sh"}))
    theirs = git(tmp_path, "diff", "--cached", "--full-index", "--no-renames", tree)
    assert re.sub(rb"(?m)^(@@ .* @@) .*$", rb"\1", theirs) == patch.write(before, after, {"run.sh"})


@settings(max_examples=25, deadline=None)
@given(st.lists(st.sampled_from("abc\n"), max_size=60), st.lists(st.sampled_from("abc\n"), max_size=60))
def test_git_applies_whatever_the_two_texts_are(before: list[str], after: list[str]) -> None:
    old, new = ("".join(one).encode() for one in (before, after))
    made = patch.write({"f": old}, {"f": new})
    with tempfile.TemporaryDirectory() as place:
        (Path(place) / "f").write_bytes(old)
        if old != new:
            git(Path(place), "apply", "--whitespace=nowarn", stdin=made)
        assert (Path(place) / "f").read_bytes() == new


def test_counts_of_lines() -> None:
    counts = {one.path: (one.added, one.removed) for one in patch.measure(encode(BEFORE), encode(AFTER))}
    assert counts["src/a.py"] == (2, 2)
    assert counts["no newline"] == (2, 1)
    assert counts["gone.txt"] == (0, 1)
    assert counts["image.bin"] == (0, 0)
    assert "same" not in counts


def test_two_large_texts_that_have_nothing_in_common() -> None:
    old, new = ("".join(f"{word} {number % 7}\n" for number in range(200_000)).encode() for word in ("old", "new"))
    made = patch.write({"f": old}, {"f": new})
    assert made.count(b"\n-old") == made.count(b"\n+new") == 200_000
