"""What a reply must add up to beyond its form. What is wrong is said once, with the ids that would be right."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from council.next.engine.registry import check
from council.next.engine.scene import Scene, Turn
from council.next.protocols.ids import NONE, Register, items_of, read_word
from council.next.protocols.voices import count, open_items
from council.next.replies.kinds import split_id
from council.next.replies.read import heading
from council.next.text import WORD, fold, join_words
from council.next.workflow.model import Seat

MOST_ITEMS = 2  # conditions, and blocking items, of one member: of more nobody reads all
FEWEST_WORDS, SHORTEST = 3, 20  # an item that has fewer words and fewer characters is no sentence
MOST_WORDS, MOST_CHARACTERS = 80, 400  # of a recommendation, and of the chair's answer
Problems = dict[str, str]


def problem(name: str, what: str) -> Problems:
    return {name: f'"## {heading(name)}": {what}'}


@check
def signs(answers: Mapping[str, Any], scene: Scene, seat: Seat) -> Problems:
    """A text that the seat has read, or its own; and which one, if it gives a new text and signs another."""
    register, text = Register.of(scene), answers.get("recommendation", "")
    meant = register.resolve(answers, seat.name)
    if "signs" not in answers:
        return {}
    if not meant.side:
        texts = join_words(register.listed) or "none"
        return problem("signs", f"there is no {answers['signs'].side} to sign; the texts are {texts}")
    if register.is_new(text) and meant.side != "own":
        return problem("signs", f"you give a new text and sign {meant.side}: which is it? For your new text, write own")
    if meant.side in ("none", "undecided") and not meant.why:
        return problem("signs", f'say why, as in "{meant.side}: …"')
    return {}


@check
def recommendation(answers: Mapping[str, Any], scene: Scene, seat: Seat) -> Problems:
    words = str(answers.get("recommendation") or "")
    if len(words.split()) > MOST_WORDS or len(words) > 10 * MOST_WORDS:
        return problem("recommendation", f"it has more than {MOST_WORDS} words, and others are to sign it; shorten it")
    return {}


@check
def conditions(answers: Mapping[str, Any], scene: Scene, seat: Seat) -> Problems:
    return few("conditions", "K", answers, scene)


@check
def blocking(answers: Mapping[str, Any], scene: Scene, seat: Seat) -> Problems:
    return few("blocking", "C", answers, scene)


def few(name: str, letter: str, answers: Mapping[str, Any], scene: Scene) -> Problems:
    """Items that can mean one thing alone; and beside a signature or an answer to the question, at most two of them."""
    known, items = Register.of(scene).items, items_of(answers, name)
    ids = [id for id, _ in map(split_id, items) if id[:1] == letter]
    if unknown := [id for id in ids if id not in known]:
        return problem(name, f"not in the list above: {join_words(unknown)}")
    for item in items:
        id, words = split_id(item)
        if (id[:1] != letter and id and not words) or (not id and any(one[0] == letter for one in names(item, known))):
            return problem(
                name, f'"{item[:60]}": if it is an item of the list above, begin it with its id, as in {letter}1'
            )
        if not id and len(item) < SHORTEST and len(item.split()) < FEWEST_WORDS:  # it may say "nothing" in any language
            return problem(
                name, f'"{item}": write it as a sentence; if there is none, write the English word "none" alone'
            )
    if len(items) > MOST_ITEMS and ("signs" in answers or "says" in answers):
        return problem(name, f"{len(items)} are too many: name the {MOST_ITEMS} without which you would not sign")
    return {}


@check
def rulings(answers: Mapping[str, Any], scene: Scene, seat: Seat) -> Problems:
    """Each ruling is about an item that there is. The chair rules on each blocking item that is open."""
    register = Register.of(scene)
    lines = [*map(split_id, items_of(answers, "rulings"))]
    unknown = [id or words[:40] for id, words in lines if id not in register.items]
    if unknown:
        return problem(
            "rulings", f"{join_words(unknown)}: begin each with the id of an item above, as in K2: reject: why"
        )
    if not is_writing(scene):
        wrong = [id for id, words in lines if not read_word(words)[0]]
        forms = 'write "- K2: reject: why", or withdrawn, stands, or same as K1 in place of reject'
        return problem("rulings", f"{join_words(wrong)}: {forms}") if wrong else {}
    named = {id for id, _ in lines}
    left = [item.id for item in open_items(register, "C") if not named & {*register.same[item.id]}]
    wanted = f'say what becomes of it, as in "- {left[0]}: stands: why"' if left else ""
    return problem("rulings", f"{join_words(left)}: {wanted}") if left else {}


def is_writing(scene: Scene) -> bool:
    writer = scene.workflow.phase("synthesis")
    return writer is not None and writer.name == scene.phase


@check
def challenges(answers: Mapping[str, Any], scene: Scene, seat: Seat) -> Problems:
    """Where a challenge is demanded, each names what it challenges."""
    known = Register.of(scene).items
    without = [item for item in answers.get("challenges") or () if not any(names(item, known))]
    if without and known:
        return problem("challenges", f"begin each with the id that it challenges, as in {next(iter(known))}: why")
    return {}


def names(item: str, known: Collection[str]) -> list[str]:
    """The known ids anywhere in an item."""
    return [id for word in WORD.findall(item) if (id := split_id(word)[0]) in known]


@check
def follows(answers: Mapping[str, Any], scene: Scene, seat: Seat) -> Problems:
    """The chair's answer is that of the text which leads."""
    leading = count(scene).leading or NONE
    if answers.get("follows") not in (None, leading):
        return problem("follows", f"the members' text is {leading}: write your title and answer to it")
    return {}


@check
def answer(answers: Mapping[str, Any], scene: Scene, seat: Seat) -> Problems:
    length = len(str(answers.get("answer") or ""))
    if length > MOST_CHARACTERS and "title" in answers:
        return problem(
            "answer", f"it has {length} characters; at most {MOST_CHARACTERS} are printed above the decision"
        )
    return {}


@check
def option(answers: Mapping[str, Any], scene: Scene, seat: Seat) -> Problems:
    """A person who decides names one of the options that were offered, by its letter alone."""
    letters = [letter for letter, _ in offered(scene)]
    if answers.get("decision") == "adopt" and letters and fold(str(answers.get("option") or "")).upper() not in letters:
        return problem("option", f"name one of {join_words(letters)} by its letter; your words go under Reason")
    return {}


def offered(scene: Scene) -> list[tuple[str, str]]:
    """The options that were offered last, with their letters."""
    turns = next(scene.moments_that_ask("options"), [])
    return list(letters_of(turns[-1]).items()) if turns else []


def letters_of(turn: Turn) -> dict[str, str]:
    """The options that a turn offers, by their letters."""
    return dict(zip("ABCDEFGH", turn.answers.get("options") or (), strict=False))
