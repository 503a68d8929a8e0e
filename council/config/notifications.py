"""How the user wants to hear that a person is needed or a debate has ended. From the user's own Config.md alone."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from council.errors import UsageError
from council.text import did_you_mean, one_line

KEYS = ("bell", "command", "webhook", "content")


@dataclass(frozen=True)
class Notifications:
    """`command` are the words of a program, never a shell's line. Without `content`, a notification says which session
    and what state, and nothing that anybody wrote.
    """

    bell: bool = False
    command: tuple[str, ...] = ()
    webhook: str = ""
    content: bool = False

    @property
    def outside(self) -> bool:
        """Whether anything leaves this process."""
        return bool(self.command or self.webhook)


SILENT = Notifications()


def read(keys: Any, where: str) -> Notifications:
    """Refuse what could not be delivered, or would be sent in the clear."""
    if not isinstance(keys, Mapping):
        raise UsageError(f"{where} must be keys with values, as in {{bell: true}}")
    for key in keys:
        if key not in KEYS:
            raise UsageError(f'{where}: unknown key "{one_line(str(key))}"; {did_you_mean(str(key), KEYS)}')
    for key in ("bell", "content"):
        if not isinstance(keys.get(key, False), bool):
            raise UsageError(f"{where}: {key} must be true or false")
    command, webhook = keys.get("command", []), keys.get("webhook", "")
    if not isinstance(command, list) or not all(isinstance(word, str) and word for word in command):
        raise UsageError(f"{where}: command must be a list of words, as in [notify-send, council]; no shell reads it")
    if not isinstance(webhook, str):
        raise UsageError(f"{where}: webhook must be an address")
    if webhook:
        check_address(webhook, f"{where}: webhook")
    return Notifications(keys.get("bell", False), tuple(command), webhook, keys.get("content", False))


def check_address(address: str, where: str) -> None:
    """https to anywhere, or http to this machine. The address may hold a secret, so an error does not repeat it."""
    try:
        parts = urlsplit(address)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        parts, host = urlsplit(""), ""
    if not host or parts.scheme not in ("https", "http") or any(char.isspace() or ord(char) < 33 for char in address):
        raise UsageError(f"{where}: it is not an address that begins with https://")
    if parts.scheme == "http" and not _is_here(host):
        raise UsageError(f"{where}: http is only for this machine (127.0.0.1, localhost); use https")


def _is_here(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
