"""What a reply must add up to beyond its form. What is wrong is said once, with the ids that would be right."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from council.next.engine.registry import check
from council.next.engine.scene import Scene, Turn
from council.next.protocols.ids import NONE, Register, items_of, read_word
from council.next.protocols.voices import count, open_items
from council.next.replies.kinds import split_id
from council.next.text import WORD, fold, join_words
from council.next.workflow.model import Seat

MOST_ITEMS = 2  # conditions, and blocking items, of one member: of more nobody reads all
FEWEST_WORDS, SHORTEST = 3, 20  # an item that has fewer words and fewer characters is no sentence
BEGINNING = 4  # words of an item in which an id may say that it is that item
MOST_WORDS, MOST_CHARACTERS = 80, 400  # of a recommendation, and of the chair's answer
Answers = Mapping[str, Any]


@check
def signs(answers: Answers, scene: Scene, seat: Seat) -> str:
    """A text that the seat has read, or its own; and which one, if it gives a new text and signs another."""
    register, text = Register.of(scene), answers.get("recommendation", "")
    meant = register.resolve(answers, seat.name)
    if "signs" not in answers:
        return ""
    if not meant.side:
        return f"there is no {answers['signs'].side} to sign; the texts are {join_words(register.listed) or 'none'}"
    if register.is_new(text) and meant.side != "own":
        return f"you give a new text and sign {meant.side}: which is it? For your new text, write own"
    return f'say why, as in "{meant.side}: …"' if meant.side in ("none", "undecided") and not meant.why else ""


@check
def recommendation(answers: Answers, scene: Scene, seat: Seat) -> str:
    words = str(answers.get("recommendation") or "")
    is_long = len(words.split()) > MOST_WORDS or len(words) > 10 * MOST_WORDS
    return f"it has more than {MOST_WORDS} words, and others are to sign it; shorten it" if is_long else ""


@check
def conditions(answers: Answers, scene: Scene, seat: Seat) -> str:
    return check_list("conditions", "K", answers, scene, seat)


@check
def blocking(answers: Answers, scene: Scene, seat: Seat) -> str:
    return check_list("blocking", "C", answers, scene, seat)


def check_list(name: str, letter: str, answers: Answers, scene: Scene, seat: Seat) -> str:
    """Items that can mean one thing alone; and beside a signature or an answer to the question, at most two of them."""
    known, items = Register.of(scene).items, items_of(answers, name)
    lines = [(item, *split_id(item)) for item in items]
    if unknown := [id for _, id, _ in lines if id[:1] == letter and id not in known]:
        return f"not in the list above: {join_words(unknown)}"
    for item, id, words in lines:
        # `I keep K1` may be K1 itself. Further on, an item only refers to another one.
        begins = " ".join(item.split()[:BEGINNING])
        elsewhere = [one for one in names(begins, known) if one[0] == letter and not id and not seat.is_person]
        if elsewhere or (id and id[0] != letter and not words):
            return f'"{item[:60]}": if it is an item of the list above, begin it with its id, as in {letter}1'
        # In any language, it may say that there is nothing.
        if not id and len(item) < SHORTEST and len(item.split()) < FEWEST_WORDS:
            return f'"{item}": write it as a sentence; if there is none, write the English word "none" alone'
    if len(items) > MOST_ITEMS and ("signs" in answers or "says" in answers):
        return f"{len(items)} are too many: name the {MOST_ITEMS} without which you would not sign"
    return ""


@check
def rulings(answers: Answers, scene: Scene, seat: Seat) -> str:
    """Each ruling is about an item that there is. The chair rules on each blocking item that is open."""
    register = Register.of(scene)
    lines = [*map(split_id, items_of(answers, "rulings"))]
    if unknown := [id or words[:40] for id, words in lines if id not in register.items]:
        return f"{join_words(unknown)}: begin each with the id of an item above, as in K2: reject: why"
    if not is_writing(scene):
        wrong = [id for id, words in lines if not read_word(words)[0]]
        forms = 'write "- K2: reject: why", or withdrawn, stands, or same as K1 in place of reject'
        return f"{join_words(wrong)}: {forms}" if wrong else ""
    named = {id for id, _ in lines}
    left = [item.id for item in open_items(register, "C") if not named & {*register.same[item.id]}]
    return f'{join_words(left)}: say what becomes of it, as in "- {left[0]}: stands: why"' if left else ""


def is_writing(scene: Scene) -> bool:
    writer = scene.workflow.phase("synthesis")
    return writer is not None and writer.name == scene.phase


@check
def challenges(answers: Answers, scene: Scene, seat: Seat) -> str:
    """Where a challenge is demanded, each names what it challenges."""
    known = Register.of(scene).items
    without = [item for item in answers.get("challenges") or () if not names(item, known)]
    return f"begin each with the id that it challenges, as in {next(iter(known))}: why" if without and known else ""


def names(item: str, known: Collection[str]) -> list[str]:
    """The known ids anywhere in an item."""
    return [id for word in WORD.findall(item) if (id := split_id(word)[0]) in known]


@check
def follows(answers: Answers, scene: Scene, seat: Seat) -> str:
    """The chair's answer is that of the text which leads."""
    leading = count(scene).leading or NONE
    differs = answers.get("follows") not in (None, leading)
    return f"the members' text is {leading}: write your title and answer to it" if differs else ""


@check
def answer(answers: Answers, scene: Scene, seat: Seat) -> str:
    length = len(str(answers.get("answer") or ""))
    is_long = length > MOST_CHARACTERS and "title" in answers
    return f"it has {length} characters; at most {MOST_CHARACTERS} are printed above the decision" if is_long else ""


@check
def option(answers: Answers, scene: Scene, seat: Seat) -> str:
    """A person who decides names one of the options that were offered, by its letter alone."""
    letters, given = [letter for letter, _ in offered(scene)], fold(str(answers.get("option") or "")).upper()
    is_other = answers.get("decision") == "adopt" and letters and given not in letters
    return f"name one of {join_words(letters)} by its letter; your words go under Reason" if is_other else ""


def offered(scene: Scene) -> list[tuple[str, str]]:
    """The options that were offered last, with their letters."""
    turns = next(scene.moments_that_ask("options"), [])
    return list(letters_of(turns[-1]).items()) if turns else []


def letters_of(turn: Turn) -> dict[str, str]:
    """The options that a turn offers, by their letters."""
    return dict(zip("ABCDEFGH", turn.answers.get("options") or (), strict=False))
