"""What a request gives: the body of anything but a GET, taken apart by name and kind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from council.config import identity
from council.errors import UsageError
from council.record.desk import API, PAGE
from council.text import one_line

Json = dict[str, Any]


@dataclass(frozen=True)
class Given:
    """The body of a request: what is in it, by name and kind."""

    body: Mapping[str, Any]
    via: str = PAGE

    def take(self, name: str, kind: type, otherwise: Any = None) -> Any:
        value = self.body.get(name, otherwise)
        if value is otherwise or (isinstance(value, kind) and not (kind is not bool and isinstance(value, bool))):
            return value
        raise UsageError(f"{name} must be {KINDS[kind]}")

    def words(self, name: str) -> dict[str, str]:
        """An object of texts."""
        found = self.take(name, dict, {})
        return {key: self.check(f"{name}: {key}", value) for key, value in found.items()}

    def listed(self, name: str) -> list[str]:
        return [self.check(name, one) for one in self.take(name, list, [])]

    def check(self, name: str, value: Any) -> str:
        if not isinstance(value, str):
            raise UsageError(f"{name} must be a text")
        return value

    def refuse_others(self, *known: str) -> None:
        if unknown := set(self.body) - set(known):
            raise UsageError(f"unknown: {one_line(', '.join(sorted(unknown)), 200)}; known: {', '.join(known)}")

    @property
    def by(self) -> str:
        """Who answers: this machine's user, unless a program says so."""
        return (self.take("by", str, "") if self.via == API else "") or identity.user_name()


KINDS = {str: "a text", dict: "an object", list: "a list", bool: "true or false", float: "a number"}
