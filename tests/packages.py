"""Packages of a few bytes, as pip wants them, for what is downloaded in Python packages."""

from __future__ import annotations

import base64
import hashlib
import zipfile
from pathlib import Path

from council.speakers.local.download import _Fetching


def wheel(folder: Path, name: str, files: dict[str, bytes]) -> str:
    """A package; its line in a lock."""
    module, info = name.replace("-", "_"), f"{name.replace('-', '_')}-1.0.dist-info"
    files = {f"{module}/{path}": data for path, data in files.items()} | {
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n".encode(),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nGenerator: a test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{path},sha256={urlsafe(data)},{len(data)}\n" for path, data in files.items())
    path = file_of(folder, name)
    with zipfile.ZipFile(path, "w") as archive:
        for inner, data in (files | {f"{info}/RECORD": f"{record}{info}/RECORD,,\n".encode()}).items():
            archive.writestr(inner, data)
    return f"{name}==1.0 --hash=sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}"


def urlsafe(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def file_of(folder: Path, name: str) -> Path:
    return folder / f"{name.replace('-', '_')}-1.0-py3-none-any.whl"


def unpack(fetching: _Fetching, pins: list[str], target: Path) -> None:
    """What pip makes of packages that it accepts, for `_Fetching.install`: the real one takes half a second each."""
    for pin in pins:
        with zipfile.ZipFile(file_of(Path(fetching.source.pip[-1]), pin.partition("==")[0])) as archive:
            archive.extractall(target)
