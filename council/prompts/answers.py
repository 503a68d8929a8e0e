"""Reads what a person writes below a question: a letter, a word, a letter with an amendment, or words of their own.

Nothing is guessed. What names no option is kept as words, and the choice is asked for; what names two is refused. An
approval is read more strictly than anything else: only a plain yes is one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from council.errors import UsageError
from council.prompts.question import APPEAL, APPROVAL, APPROVE, REPLY, Field, Option, Question
from council.protocols.consensus import OPTION, PARTED, read_letter
from council.replies import entry, values
from council.replies.values import CONDITION
from council.text import fold, join_words, one_line

# What may stand before a letter or a word. No emoji: a cross before "approve" would change what it means.
OPENING = re.compile(r"[\s*_(\[\"'“`>]*(?:[-•]\s+)?[*_(\[\"'“`]*")
CLOSING = r"[*_)\]\"'”’`]*"
END = re.compile(r"[\s.!)*_\"'”’`\]]*")
BECAUSE = re.compile(r"\s+(?=(?:because|since|as)\b)", re.I)
TAKEN_BACK = re.compile(r"[\W_]*(?:not|never|no(?=\W*$|[,.!]|\s+wait))\b", re.I)
# What takes a yes back later on: behind a stop, or anywhere. A doubt that is none costs one more question.
WAVERING = re.compile(
    r"(?:^|[.,;:!()—–-])\s*(?:wait|cancel|scratch|actually|after|before|when|only|minus|without|maybe|perhaps"
    r"|no(?=\W*$|[,.!])|i (?:guess|suppose))\b|\bproviso\b|\?",
    re.I,
)
BETWEEN = re.compile(r"^[\s*_)\]\"'”’`.:,;–—-]+")
ALSO = re.compile(r"(?:or|and|/|&)\s+", re.I)
ENGLISH = "AI"  # letters that are words too: "A hybrid", "I think"
LONGEST = 20_000  # characters
SUFFIX = "(recommended: Enter)"  # what the screen adds to an option


def read_answer(question: Question, text: str) -> dict[str, str]:
    """The answers by name that the words mean; `find_missing` says which are still to be given.

    An empty text is the recommended option. Raises UsageError for what is not an answer, saying what would be.
    """
    text = text.strip()
    if len(text) > LONGEST:
        raise UsageError(f"this answer has {len(text):,} characters; give one of at most {LONGEST:,}")
    if not text and question.recommended:
        return dict(question.recommended.answers)
    if not re.search(r"\w", text):
        raise UsageError(f"an answer is required: {describe_choices(question)}")
    named = {option.letter for line in text.splitlines() if (option := find_choice(question, line)[0])}
    if len(named) > 1 and question.reply:
        raise UsageError(f"this names {join_words(sorted(named))}; choose one: {describe_choices(question)}")
    option, rest = find_choice(question, text)
    if option is None and question.kind != APPEAL and len(text.split()) == 1:
        option, rest = _find_by_entry(question, text), ""
    if option is None or len(named) > 1:
        return _take_own_words(question, text)
    return _take_option(question, option, rest, text)


def find_missing(question: Question, answers: Mapping[str, str]) -> tuple[Field, ...]:
    """The answers that are still to be asked for, in the order of the turn. Who settles an appeal has said enough."""
    chosen = set(answers.values())
    settled = question.kind == APPEAL and bool(answers)
    return tuple(
        field
        for field in question.fields
        if field.name not in answers
        and (bool(chosen & set(field.only_with)) if field.only_with else field.required or not settled)
    )


def compose(question: Question, answers: Mapping[str, str], brief: str) -> str:
    """The body of the turn. Raises UsageError for what is missing, or could not be read back from it."""
    if question.reply:
        return entry.build_reply(question.reply, answers.items(), brief)
    if set(answers) != {REPLY} or not answers[REPLY].strip():
        raise UsageError(f'{question.turn} asks for a reply in your own words: give one answer, "{REPLY}"')
    return answers[REPLY]


def describe_choices(question: Question) -> str:
    """`A, B or C`, or `continue, guide or end`; where there are none, what may be written."""
    own = question.kind == APPEAL
    names = [option.letter if own else option.label for option in question.options]
    if not question.reply:
        names.append("your own words")
    return " or ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def format_menu(question: Question) -> str:
    """`[C]ontinue  [G]uide  [E]nd`, or `A  B  C`; empty where there is nothing to choose from."""
    for _, kind in question.reply:
        if kind.type == "choice" and question.kind != APPEAL:
            return entry.format_menu(kind)
    return "  ".join(option.letter for option in question.options)


def find_choice(question: Question, text: str) -> tuple[Option | None, str]:
    """The option that a text begins with, by its letter or its word, and what follows."""
    start = OPENING.match(text)
    rest = text[start.end() :] if start else text
    for option in question.options:
        for word in (f"option {option.letter}", f"{option.letter}]{option.label[1:]}", option.letter, option.label):
            found = re.match(rf"({re.escape(word)}){CLOSING}(?![\w'’-])", rest, re.I)
            after = rest[found.end() :] if found else ""
            if found and (PARTED.match(rest, found.end(1)) or _may_follow(question, option, word, after)):
                return option, after
    return None, text


def _find_by_entry(question: Question, text: str) -> Option | None:
    """The option that one word names as everywhere else: by a unique prefix, or by its number."""
    for _, kind in question.reply:
        if kind.type == "choice":
            return next((one for one in question.options if one.label == entry.match_option(kind, text)), None)
    return None


def _may_follow(question: Question, option: Option, word: str, after: str) -> bool:
    """Whether these words, right behind a letter or a word, leave it the choice that was meant."""
    if END.fullmatch(after) or PARTED.match(after) or BECAUSE.match(after):
        return True
    if not after[:1].isspace():
        return False
    if CONDITION.match(after):
        return True
    if is_approving(question, option) or " " in word.removeprefix("option "):
        return False
    return len(word) > 1 or (question.kind != APPEAL and word not in ENGLISH)


def is_approving(question: Question, option: Option) -> bool:
    return question.kind == APPROVAL and (APPROVE.match(option.label) is not None or option.label == "yes")


def is_wavering(question: Question, option: Option, words: str) -> bool:
    """Whether the words behind a yes leave a doubt: a condition, a second thought, or another option."""
    others = (re.escape(one.label) for one in question.options if one is not option)
    return bool(
        CONDITION.match(f" {words}") or TAKEN_BACK.match(words) or WAVERING.search(words)
        or values.TAKEN_BACK.search(fold(words)) or re.search(rf"\b(?:{'|'.join(others)})\b", words, re.I)
    )  # fmt: skip


def _take_option(question: Question, option: Option, rest: str, text: str) -> dict[str, str]:
    """The option's answers, with the words behind it in the place where they belong."""
    answers, words = dict(option.answers), BETWEEN.sub("", rest).strip()
    if (other := find_choice(question, ALSO.sub("", words))[0]) and ALSO.match(words):
        raise UsageError(f"this names {option.label} and {other.label}; choose one: {describe_choices(question)}")
    if not words or fold(f"{option.text} {SUFFIX}").startswith(fold(words)) or fold(words) == fold(option.label):
        return answers
    if is_approving(question, option) and is_wavering(question, option, words):
        raise UsageError(
            f'"{one_line(text)}" is not a plain yes, and an approval has no conditions: approve, and give a reason '
            "without one, or reject, and say what has to change"
        )
    if not question.reply:
        return {REPLY: f"{answers[REPLY]}\n\n{text}"}
    if answers.get(OPTION) == option.letter and not BECAUSE.match(f" {words}"):
        return answers | {OPTION: text if read_letter(text)[0] == option.letter else f"{option.letter}, {words}"}
    free = [field for field in question.fields if field.type == "text" and field.name not in answers]
    if own := [field for field in free if not field.only_with or option.label in field.only_with]:
        return answers | {own[0].name: words}
    others = join_words(with_ for field in free for with_ in field.only_with) if free else ""
    advice = f"; to add words, choose {others}" if others else ""
    raise UsageError(f'"{option.label}" takes no further words{advice}')


def _take_own_words(question: Question, text: str) -> dict[str, str]:
    """The words in the answer that has room for them; what else is needed is asked for."""
    if not question.reply:
        return {REPLY: text}
    names = [field.name for field in question.fields if field.type == "text"]
    place = OPTION if OPTION in names else next(iter(names), "")
    if not place or len(text.split()) == 1:
        raise UsageError(f'"{one_line(text)}" is not one of the options: write {describe_choices(question)}')
    return {place: text}
