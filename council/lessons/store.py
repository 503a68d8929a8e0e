"""The folder of lessons below the user's home. Whatever writes there holds the folder's lock."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from council.config.settings import Config
from council.errors import Damaged, UsageError
from council.lessons.index import LessonIndex, place, scan
from council.lessons.lesson import FILE, REMEMBERED, Lesson, read
from council.record import files, lock
from council.text import did_you_mean

FOLDER = "LESSONS"
FORGOTTEN = ".forgotten"  # a folder of empty files: the ids of lessons that are never kept again
CAPACITY = 2_000
SHORTEST = 4  # characters of an id that are enough


@dataclass(frozen=True)
class Lessons:
    """The lessons of one user."""

    folder: Path

    def read_all(self, skipped: Callable[[str], object] = lambda _: None) -> list[Lesson]:
        """Every lesson, newest first. `skipped` is called with what is wrong with each other file."""
        found = []
        for path in self._paths():
            try:
                if not FILE.fullmatch(path.name):
                    raise Damaged(path, "council did not write this file; move it away")
                found.append(read(path))
            except (Damaged, OSError) as wrong:
                skipped(str(wrong))
        return sorted(found, key=lambda one: (one.made, one.id), reverse=True)

    def _paths(self) -> list[Path]:
        try:
            return sorted(path for path in self.folder.iterdir() if not path.name.startswith("."))
        except FileNotFoundError:
            return []

    def search(self, asked: tuple[str, ...], most: int) -> list[Lesson]:
        """The lessons nearest to these words, nearest first."""
        found = []
        for id in LessonIndex(self.folder, place(self.folder)).search(asked, most):
            with suppress(Damaged, OSError):  # removed meanwhile
                found.append(read(self.folder / f"{id}.md"))
        return found

    def find(self, word: str) -> Lesson:
        """The lesson with this id, or with an unambiguous part of it."""
        return read(self.folder / f"{self.locate(word)}.md")

    def locate(self, word: str) -> str:
        """The whole id of that lesson, which may be damaged."""
        ids = [id for id in scan(self.folder) if id == word or (len(word) >= SHORTEST and id.startswith(word))]
        if len(ids) > 1:
            raise UsageError(f'"{word}" matches {len(ids)} lessons: {", ".join(sorted(ids)[:4])}; give more of the id')
        if not ids:
            known = sorted(scan(self.folder))[:20]
            raise UsageError(f'there is no lesson "{word[:80]}" in {self.folder}; {did_you_mean(word, known)}')
        return ids[0]

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Lock the folder, and remove what killed writers left in it."""
        files.make_folder(self.folder)
        with lock.hold(self.folder):
            yield

    def add(self, lessons: Iterable[Lesson], capacity: int = CAPACITY) -> None:
        """Keep new lessons; the folder is held. Of equal words, the first lesson stays; words that were forgotten are
        not kept again. Over capacity, lessons go."""
        wanted = [one for one in lessons if not os.path.lexists(self.folder / FORGOTTEN / one.id)]
        new = {self.folder / f"{one.id}.md": one.encode() for one in wanted}
        new = {path: data for path, data in new.items() if not os.path.lexists(path)}
        files.replace_all(new)
        if new and len(scan(self.folder)) > capacity:
            worst = sorted(self.read_all(), key=lambda one: (one.wins > 0, one.uses > 0, one.made, one.id))
            for lesson in worst[: max(0, len(worst) - capacity)]:
                files.remove(self.folder / f"{lesson.id}.md")

    def count(self, ids: Iterable[str], session: str, won: bool) -> None:
        """Count a session that these lessons were shown in; the folder is held. No session counts twice."""
        for id in ids:
            with suppress(Damaged, OSError):  # forgotten since
                before = read(self.folder / f"{id}.md")
                if session not in before.shown_in:
                    shown_in = (*before.shown_in, session)[-REMEMBERED:]
                    after = replace(before, uses=before.uses + 1, wins=before.wins + won, shown_in=shown_in)
                    files.replace(self.folder / f"{id}.md", after.encode())

    def forget(self, ids: Iterable[str]) -> None:
        """Remove lessons, also from the index, and keep none with the same words again."""
        with self.hold():
            for id in ids:
                files.make_folder(self.folder / FORGOTTEN)
                files.fill(self.folder / FORGOTTEN / id, b"")
                files.remove(self.folder / f"{id}.md")
        index = place(self.folder)
        with suppress(OSError):
            index.unlink(missing_ok=True)


def of_user(settings: Config) -> Lessons:
    """The lessons in the user's home."""
    return Lessons(settings.home / FOLDER)
