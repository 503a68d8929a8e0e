"""The tasks of a work plan, read from Markdown. Pure.

Reading is strict and drops nothing: what cannot be a plan (a cycle, an id that does not exist, the same id twice) is
reported beside what was read, and the author's own words stay in the document as they are.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from heapq import heappop, heappush

from council.text import FENCE, join_words, one_line

FORMAT = """### T1: [what is done, in one line]

- Depends on: [ids of the tasks that have to be done first, such as T2, T5; or none]
- Done when: [how anybody can check that it is done]

[what else belongs to this task, in a few sentences, if anything does]"""
ID = re.compile(r"[A-Za-z]{1,5}-?\d{1,3}")
HEAD = re.compile(
    r"(?P<mark>#{1,6}[ \t]+|(?:[-*+]|\d{1,3}[.)])[ \t]+|(?=\*\*|__))"
    rf"(?:\*\*|__)?(?:Task[ \t]+)?(?P<id>{ID.pattern})"
    r"(?:\*\*|__)?[ \t]*(?:[:.)]|[—–-][ \t])[ \t]*(?P<title>.*)",
    re.I,
)
HEADING = re.compile(r"(#{1,6})[ \t]+(.*)")
DEPENDS = re.compile(r"depend(?:s on|encies|s)|blocked by", re.I)
DONE = re.compile(r"done[ -]when|definition of done|acceptance(?: criteria)?", re.I)
FIELD = re.compile(
    rf"(?P<indent>[ \t]*)(?:[-*+][ \t]+)?(?:\*\*|__)?(?:(?P<depends>{DEPENDS.pattern})|(?P<done>{DONE.pattern}))"
    r"[ \t]*(?:\*\*|__)?[ \t]*:[ \t]*(?:\*\*|__)?[ \t]*(?P<value>.*)",
    re.I,
)
ITEM = re.compile(r"(?P<indent>[ \t]*)(?:[-*+]|\d{1,3}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?(?P<value>.*)")
BETWEEN = re.compile(r"[,;&+/]|\band\b")
REMARK = re.compile(r"\([^()]*\)")
NOTHING = re.compile(r"\W*(?:(?:none|nothing|n/a|no other task)\W*)?", re.I)
MOST_CYCLES = 50  # that are named
PLACEHOLDER = re.compile(r"\[[^\]]*\]")


@dataclass(frozen=True)
class WorkItem:
    """One task. `details` is the text of its author without its title and these fields."""

    id: str
    title: str
    depends_on: tuple[str, ...] = ()
    done_when: tuple[str, ...] = ()
    details: str = ""


@dataclass(frozen=True)
class WorkPlan:
    """The tasks in their author's order, and each reason why they are not a plan."""

    tasks: tuple[WorkItem, ...] = ()
    problems: tuple[str, ...] = ()

    def in_order(self) -> tuple[WorkItem, ...]:
        """Each task after those that it depends on, otherwise in their author's order; those in a cycle come last."""
        known = {task.id for task in self.tasks}
        missing = [known.intersection(task.depends_on) for task in self.tasks]
        waiting: dict[str, list[int]] = {}
        for place, ids in enumerate(missing):
            for id in ids:
                waiting.setdefault(id, []).append(place)
        ready, ordered = [place for place, ids in enumerate(missing) if not ids], dict[int, None]()
        while ready:
            ordered[place := heappop(ready)] = None
            for other in waiting.pop(self.tasks[place].id, ()):
                missing[other].discard(self.tasks[place].id)
                if not missing[other]:
                    heappush(ready, other)
        last = (place for place in range(len(self.tasks)) if place not in ordered)
        return tuple(self.tasks[place] for place in (*ordered, *last))


def read_tasks(text: str) -> WorkPlan:
    """The plan that a text contains, with everything that is wrong with it."""
    lines, problems = list(_own_lines(text)), []
    blocks, strays = _split(lines)
    problems += [f"the heading “{one_line(stray, 60)}” has no id, such as T1" for stray in strays]
    tasks = []
    for head, block in blocks:
        task, wrong = _read_task(head, block)
        tasks.append(task)
        problems += wrong
    problems += _check(tasks) if tasks else ["it has no task; begin each one with a line such as “### T1: Title”"]
    return WorkPlan(tuple(tasks), tuple(problems))


@dataclass(frozen=True)
class _Line:
    text: str
    code: bool


def _own_lines(text: str) -> Iterator[_Line]:
    fence = ""
    for line in text.splitlines():
        found = FENCE.match(line)
        yield _Line(line, bool(fence or found))
        if found and (not fence or (found[1].startswith(fence) and not found[2].strip())):
            fence = "" if fence else found[1]


def _split(lines: Sequence[_Line]) -> tuple[list[tuple[re.Match[str], list[_Line]]], list[str]]:
    """Each task's first line with the lines below it; and headings between tasks that are no task's.

    If one task has a heading, all have; otherwise, each begins with a bullet or in bold.
    """
    heads = {at: found for at, line in enumerate(lines) if not line.code and (found := HEAD.match(line.text))}
    levels = [_level(found) for found in heads.values() if _level(found)]
    heads = {at: found for at, found in heads.items() if not levels or _level(found) == levels[0]}
    blocks: list[tuple[re.Match[str], list[_Line]]] = []
    strays = []
    for at, line in enumerate(lines):
        heading = None if line.code else HEADING.match(line.text)
        if at in heads:
            blocks.append((heads[at], []))
        elif heading and len(heading[1]) < 3:
            break  # the next answer
        elif heading and levels and len(heading[1]) < levels[0]:
            continue  # the title of several tasks
        else:
            strays += [heading[2]] if heading and levels and len(heading[1]) == levels[0] else []
            blocks[-1][1].append(line) if blocks else None
    return blocks, strays


def _level(head: re.Match[str]) -> int:
    return head["mark"].count("#")


@dataclass
class _Fields:
    """What a task's lines say, as they are read."""

    values: dict[str, list[list[str]]] = field(default_factory=dict)  # each value in its lines
    details: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, lines: Iterable[_Line]) -> _Fields:
        found, name, indent = cls(), "", 0
        for line in lines:
            given = None if line.code else FIELD.fullmatch(line.text)
            item = None if line.code else ITEM.fullmatch(line.text)
            if given:
                name = "depends" if given["depends"] else "done"
                indent = len(given["indent"].expandtabs(4))
                found.values.setdefault(name, []).extend([[given["value"]]] if given["value"].strip() else [])
            elif name and item and _belongs(item, indent, found.values[name]):
                found.values[name].append([item["value"]])
            elif name and line.text[:1].isspace() and line.text.strip() and not item and found.values[name]:
                found.values[name][-1].append(line.text.strip())
            else:
                name = ""
                found.details.append(line.text)
        return found

    def list_values(self, name: str) -> Iterator[str]:
        return map(" ".join, self.values.get(name, ()))


def _belongs(item: re.Match[str], indent: int, so_far: Sequence[list[str]]) -> bool:
    """Whether a bullet is one of the values below a field: it is deeper, or the field's own line had no value."""
    return len(item["indent"].expandtabs(4)) > indent or not so_far


def _read_task(head: re.Match[str], block: Iterable[_Line]) -> tuple[WorkItem, list[str]]:
    id, title = head["id"].upper(), re.sub(r"^(?:\*\*|__)\s*|\s*(?:\*\*|__)$", "", head["title"].strip(" \t#"))
    fields, problems = _Fields.of(block), []
    depends: list[str] = []
    for word in _split_ids(fields.list_values("depends")):
        known = ID.fullmatch(word)
        if known:
            depends.append(word.upper())
        else:
            problems.append(f"{id} depends on “{one_line(word, 60)}”, which is not the id of a task")
    done = [words for value in fields.list_values("done") if not NOTHING.fullmatch(words := value.strip())]
    if not title or PLACEHOLDER.fullmatch(title):
        problems.append(f"{id} has no title")
    if "depends" not in fields.values:
        problems.append(f"{id} does not say what it depends on; write “Depends on: none” if nothing")
    if not done or all(map(PLACEHOLDER.fullmatch, done)):
        problems.append(f"{id} does not say when it is done")
    details = "\n".join(fields.details).strip("\n")
    return WorkItem(id, one_line(title, 200), tuple(dict.fromkeys(depends)), tuple(done), details), problems


def _split_ids(values: Iterable[str]) -> Iterator[str]:
    for value in values:
        for part in BETWEEN.split(REMARK.sub("", value)):
            word = part.strip(" \t.*_`“”\"'#")
            if not NOTHING.fullmatch(word):
                yield word.removeprefix("task ").removeprefix("Task ")


# ---- what is no plan ----


def _check(tasks: Sequence[WorkItem]) -> Iterator[str]:
    ids = Counter(task.id for task in tasks)
    for id, times in ids.items():
        if times > 1:
            yield f"the id {id} is given to {times} tasks"
    for task in tasks:
        for other in task.depends_on:
            if other not in ids:
                yield f"{task.id} depends on {other}, and there is no such task"
    yield from _find_cycles({task.id: {other for other in task.depends_on if other in ids} for task in tasks})


def _find_cycles(depends: Mapping[str, Set[str]]) -> Iterator[str]:
    """Each cycle once: what is left when all tasks are taken away that need nothing, or that nothing needs."""
    left = {id: set(others) for id, others in depends.items()}
    _peel(left)
    _peel(needed := _turn_round(left))
    left = {id: others & needed.keys() for id, others in left.items() if id in needed}
    for _ in range(MOST_CYCLES):
        if not left:
            return
        path = {next(iter(left)): 0}
        while (following := min(left[next(reversed(path))])) not in path:
            path[following] = len(path)
        cycle = [*path][path[following] :]
        if len(cycle) == 1:
            yield f"{cycle[0]} depends on itself"
        else:
            yield f"{join_words(cycle)} depend on each other: {' → '.join([*cycle, cycle[0]])}"
        _peel(left, cycle)
    if left:
        yield f"{len(left)} more tasks depend on each other"


def _turn_round(depends: Mapping[str, Set[str]]) -> dict[str, set[str]]:
    """What needs each of these."""
    needed: dict[str, set[str]] = {id: set() for id in depends}
    for id, others in depends.items():
        for other in others:
            needed[other].add(id)
    return needed


def _peel(depends: dict[str, set[str]], gone: Iterable[str] = ()) -> None:
    """Take these away, those that need nothing, and then those that need nothing any more."""
    needed = _turn_round(depends)
    free = list(dict.fromkeys([*gone, *(id for id, others in depends.items() if not others)]))
    known = set(free)
    while free:
        del depends[id := free.pop()]
        for other in needed[id] - known:
            depends[other].discard(id)
            if not depends[other]:
                known.add(other)
                free.append(other)
