"""Downloads released files of packages from the index that pip uses, and reads them. No code of a package is run.

pip itself would run a source package's build to learn its dependencies, outside of any sandbox.
"""

from __future__ import annotations

import hashlib
import html
import os
import re
import ssl
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from urllib.parse import urljoin, urlsplit
from urllib.request import Request, urlopen

from council.candidates.base import is_inside
from council.errors import CouncilError, UsageError
from council.lab.sets.task import Say
from council.record import files

INDEX = "https://pypi.org/simple"
LINK = re.compile(r"""<a\s[^>]*href=["']([^"']+)["']""", re.I)
SUM = re.compile(r"sha256=([0-9a-f]{64})")
MOST_BYTES = 24_000_000
MOST_FILES = 5_000
PATIENCE = 60.0


def cache() -> Path:
    data = Path(os.environ.get("XDG_DATA_HOME") or "")
    return (data if data.is_absolute() else Path.home() / ".local/share") / "council" / "sets"


def fetch(name: str, version: str, ending: str, say: Say, sha256: str = "") -> bytes:
    """The released file of that version, from the cache or from the index; its hash is what the index says, or ours."""
    kept = cache() / f"{_plain(name)}-{version}{ending}"
    if kept.is_file():
        data = kept.read_bytes()
        known = sha256 or files.read(kept.with_name(f"{kept.name}.sha256"), 200).decode().strip()
        if hashlib.sha256(data).hexdigest() == known:
            return data
    say(f"fetching {name} {version}")
    url, known = _find(name, version, ending)
    known = sha256 or known
    data = _download(url)
    if hashlib.sha256(data).hexdigest() != known:
        raise CouncilError(f"{kept.name} from {urlsplit(url).hostname} does not have its sha256 {known[:12]}…")
    files.make_folder(kept.parent)
    files.replace(kept.with_name(f"{kept.name}.sha256"), f"{known}\n".encode())
    files.replace(kept, data)
    return data


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "_", name).lower()


def _find(name: str, version: str, ending: str) -> tuple[str, str]:
    """The address of a released file, and its hash."""
    page = f"{_index().rstrip('/')}/{re.sub(r'[-_.]+', '-', name).lower()}/"
    page += "index.html" if page.startswith("file:") else ""
    listed = _download(page).decode("utf-8", "replace")
    for href in map(html.unescape, LINK.findall(listed)):
        address, _, fragment = urljoin(page, href).partition("#")
        file = urlsplit(address).path.rpartition("/")[2]
        found = SUM.search(fragment)
        if found and file.endswith(ending) and _plain(file).startswith(f"{_plain(name)}_{_plain(version)}"):
            rest = file[len(name) + 1 : -len(ending)]
            if rest == version or rest.startswith(f"{version}-"):
                return address, found.group(1)
    raise UsageError(f"the index has no {name} {version} as {ending}")


def _index() -> str:
    """The index that pip is set to use."""
    if url := os.environ.get("PIP_INDEX_URL"):
        return url
    command = [sys.executable, "-I", "-m", "pip", "config", "get", "global.index-url"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip() or INDEX


def _download(url: str) -> bytes:
    if urlsplit(url).scheme not in ("https", "http", "file"):
        raise UsageError(f"{url}: not an address of an index")
    trusted = ssl.create_default_context(cafile=os.environ.get("PIP_CERT"))
    try:
        with urlopen(Request(url, headers={"Accept": "text/html"}), timeout=PATIENCE, context=trusted) as answer:
            data: bytes = answer.read(MOST_BYTES + 1)
    except (OSError, ValueError) as failure:
        raise CouncilError(f"{urlsplit(url).hostname}: {failure}; try again later") from failure
    if len(data) > MOST_BYTES:
        raise UsageError(f"{urlsplit(url).path} is larger than {MOST_BYTES:,} bytes")
    return data


def unpack(packed: bytes) -> dict[str, bytes]:
    """The plain files of a source package, without its top folder. Links, devices and paths that lead out are left."""
    found, size = {}, 0
    for path, data in _members(packed):
        inner = path.partition("/")[2]
        if inner and is_inside(path):
            found[inner], size = data, size + len(data)
        if len(found) > MOST_FILES or size > MOST_BYTES:
            raise UsageError(f"the package has more than {MOST_FILES:,} files or {MOST_BYTES:,} bytes")
    return found


def _members(packed: bytes) -> Iterator[tuple[str, bytes]]:
    if zipfile.is_zipfile(BytesIO(packed)):
        with zipfile.ZipFile(BytesIO(packed)) as archive:
            for info in archive.infolist():
                if not info.is_dir() and info.file_size <= MOST_BYTES:
                    yield info.filename, archive.read(info)
        return
    try:
        with tarfile.open(fileobj=BytesIO(packed), mode="r:*") as tar:
            for member in tar:
                if member.isreg() and member.size <= MOST_BYTES and (data := tar.extractfile(member)):
                    yield member.name, data.read()
    except (tarfile.TarError, EOFError, OSError) as failure:
        raise CouncilError(f"the package cannot be unpacked: {failure}") from failure
