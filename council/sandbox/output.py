"""What a command printed: counted as it comes, with only the head and the tail kept."""

from __future__ import annotations


class Kept:
    """The first and the last half of `most` bytes, however many come."""

    def __init__(self, most: int) -> None:
        self._half = max(1, most // 2)
        self._head, self._tail, self.size = bytearray(), bytearray(), 0

    def add(self, data: bytes) -> None:
        self.size += len(data)
        room = self._half - len(self._head)
        self._head += data[:room]
        self._tail += data[room:] if room else data
        if len(self._tail) > 2 * self._half:
            del self._tail[: -self._half]

    @property
    def cut(self) -> int:
        return max(0, self.size - 2 * self._half)

    def read(self) -> bytes:
        return bytes(self._head + self._tail[-self._half :])
