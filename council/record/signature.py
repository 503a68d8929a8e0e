"""Signs the head of a session with an SSH key, and checks the signature, both by OpenSSH's `ssh-keygen`."""

from __future__ import annotations

import subprocess
from pathlib import Path

from council.errors import Damaged, UsageError
from council.record import chain, files
from council.record.session import Session

NAMESPACE = "council-session"  # a signature for another purpose is none for this one
NAME = "head.sig"
SECONDS = 300  # for a passphrase, or a touch of a hardware key


def path_of(folder: Path) -> Path:
    return folder / NAME


def sign(session: Session, key: Path) -> Path:
    """Sign the head, and store the signature in the session. The session must be locked."""
    done = _keygen("-Y", "sign", "-f", str(key.absolute()), "-n", NAMESPACE, given=_message(session))
    if done.returncode:
        raise UsageError(f"ssh-keygen did not sign with {key}: {_last_line(done)}")
    path = path_of(session.folder)
    session.replace(path, done.stdout)
    return path


def check(session: Session, signers: Path) -> str:
    """The signer, if the file of allowed signers has the key that signed this head."""
    path, allowed = path_of(session.folder), str(signers.absolute())
    if not signers.is_file():
        raise UsageError(f"{signers}: no such file; it lists the keys you trust, as `man ssh-keygen` describes")
    try:
        files.read(path)
    except FileNotFoundError:
        raise Damaged(path, f"the session is not signed; `council attest {session.id} --sign KEY` signs it") from None
    found = _keygen("-Y", "find-principals", "-s", str(path), "-f", allowed, given=b"")
    signer = found.stdout.decode("utf-8", "replace").partition("\n")[0].strip()
    if found.returncode or not signer:
        raise Damaged(path, f"not signed with a key that {signers} lists")
    how = ("-Y", "verify", "-f", allowed, "-I", signer, "-n", NAMESPACE, "-s", str(path))
    done = _keygen(*how, given=_message(session))
    if done.returncode:
        raise Damaged(path, f"not a signature of this session's head by {signer}: {_last_line(done)}")
    return signer


def _message(session: Session) -> bytes:
    return f"{chain.head(session)}\n".encode()


def _keygen(*arguments: str, given: bytes) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(
            ["ssh-keygen", *arguments], input=given, capture_output=True, timeout=SECONDS, check=False
        )
    except FileNotFoundError:
        raise UsageError("ssh-keygen was not found; install OpenSSH 8.2 or later") from None
    except subprocess.TimeoutExpired:
        raise UsageError(f"ssh-keygen did not answer within {SECONDS} s") from None


def _last_line(done: subprocess.CompletedProcess[bytes]) -> str:
    lines = (done.stderr or done.stdout).decode("utf-8", "replace").strip().splitlines()
    return lines[-1] if lines else f"it ended with {done.returncode}"
