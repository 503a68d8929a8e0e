"""The core's facts about what was said: the transcript, what can be signed, what blocks, scores, a person's words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from council.next.engine.rules import repetition
from council.next.engine.scene import Seen
from council.next.errors import UsageError
from council.next.prompts.facts import Context, shared_fact
from council.next.protocols.checks import offered as offered_options
from council.next.protocols.ids import Item
from council.next.protocols.outcome import read_acts
from council.next.protocols.voices import count
from council.next.replies.write import write
from council.next.text import one_line
from council.next.workflow.model import Workflow

LONGEST_LINE = 1_200  # characters of an item in a list; the whole of it stands in the transcript
MUCH = 0.6  # of a turn's words that stood in the seat's turn before


@shared_fact
def transcript(c: Context) -> list[dict[str, str]]:
    """What the turn reads: `place`, `by`, `text` between marks, and the turn's `id`."""
    several = {one.name for one in c.workflow.phases if c.workflow.span(one)[1] > 1}
    titles = {one.name: one.title or one.name.replace("-", " ").capitalize() for one in c.workflow.phases}
    passages = []
    for seen in c.due.sees:
        turn, label = seen.turn, seen.label or seen.turn.seat.label
        place = titles[turn.phase] + (f", round {turn.round}" if turn.phase in several or turn.round > 1 else "")
        words = words_of(seen, c.workflow)
        passages.append({"place": place, "by": label, "text": c.fence(label, words, turn.id), "id": turn.id})
    return passages


def words_of(seen: Seen, workflow: Workflow) -> str:
    """What a reader sees of a turn. Two tries are one reply: what could be read of either, and the rest as it is."""
    turn = seen.turn
    if seen.gist:
        return turn.gist
    if turn.absent:
        return f"(absent: {turn.absent})"
    reply = next(one.reply for one in workflow.steps() if one.name == turn.step and {*one.reply} == {*turn.asked})
    if turn.first and turn.first.body != turn.said.body:
        with suppress(UsageError):  # what cannot be written so that it reads back is shown as it was said
            return "\n\n".join([write(reply, turn.answers, turn.prose), *turn.unread.values()])
    return turn.text


# ---- what goes by an id ----


@shared_fact
def recommendations(c: Context) -> list[dict[str, Any]]:
    """What can be signed: `id`, `by`, `text`, and who signs it in the last vote (`signers`)."""
    signers = count(c.scene).sides if not c.is_anonymous else {}
    return [
        {**describe(c, item), "signers": [c.readable[one] for one in signers.get(item.id, ()) if one in c.readable]}
        for item in map(c.register.items.__getitem__, c.register.listed)
        if item.by.seat in c.readable
    ]


@shared_fact
def conditions(c: Context) -> list[dict[str, Any]]:
    return list(open_items(c, "K"))


@shared_fact
def blocking(c: Context) -> list[dict[str, Any]]:
    return list(open_items(c, "C"))


def open_items(c: Context, letter: str) -> Iterator[dict[str, Any]]:
    """The items that somebody lists: who, for which text, what it is the same as, and who rejects it and why."""
    sides = {one.seat: one.side for one in count(c.scene).voices if one.side in c.register.items}
    for item in c.register.by_letter[letter]:
        holders = [seat for seat in item.holders if seat in c.readable]
        if not holders:
            continue
        about, labels = describe(c, item), " and ".join(c.readable[seat] for seat in holders)
        against = {one.seat: one.text for one in c.register.rejections(item.id) if one.seat in c.readable}
        first = c.register.same[item.id][0]
        yield {
            **about,
            "by": labels if item.by.seat in holders else f"{about['by']}, kept by {labels}",
            "to": sides.get(holders[0], "") if letter == "K" else "",
            "same": first if first != item.id else "",
            "rejected": [
                {"by": c.readable[seat], "why": one_line(text.partition(":")[2], LONGEST_LINE)}
                for seat, text in against.items()
            ],
        }


def describe(c: Context, item: Item) -> dict[str, Any]:
    """The item, and whose it is under the name that this reader knows."""
    owner = c.readable.get(item.by.seat, "another member" if c.is_anonymous else item.by.label)
    return {"id": item.id, "by": owner, "text": one_line(item.by.text, LONGEST_LINE)}


@shared_fact
def tally(c: Context) -> str:
    """The last vote in a sentence. Where authors are hidden, so is the count."""
    return "" if c.is_anonymous or not c.readable else count(c.scene).sentence


@shared_fact
def leading(c: Context) -> str:
    """The id of the text that leads, or the answer that does; else `none`."""
    return count(c.scene).leading or "none"


# ---- what the program measured ----


@shared_fact
def target(c: Context) -> str:
    """The score that every seat has to reach, where one is compared."""
    found = c.register.target
    return "" if found is None else f"{found:g}"


@shared_fact
def scores(c: Context) -> list[dict[str, Any]]:
    """For each round the scores of the members and their mean, the oldest first."""
    field = c.register.asked
    if c.is_anonymous or not c.readable or c.register.target is None:
        return []
    rows = []
    for turns in c.scene.moments_that_ask(field):
        given = [turn.answers.get(field) for turn in turns]
        heard = [float(one) for one in given if one is not None]
        lines = [
            f"{turn.seat.label} {turn.silence(field) if one is None else f'{one:g}'}"
            for turn, one in zip(turns, given, strict=True)
        ]
        mean = f"{sum(heard) / len(turns):.1f}"
        rows.append({"round": turns[0].round, "lines": lines, "mean": mean, "is_over": turns[0].round < c.scene.round})
    return rows[::-1]


@shared_fact
def repeats(c: Context) -> list[dict[str, Any]]:
    """Who mostly repeats its own turn of the round before: `by` and `percent`."""
    turns = [turn for turn in c.scene.turns if (turn.phase, turn.round) == (c.scene.phase, c.scene.round)]
    shares = [(turn, part) for turn in turns if (part := repetition(turn, c.scene)) is not None and part > MUCH]
    return [{"by": turn.seat.label, "step": turn.step, "percent": round(100 * part)} for turn, part in shares]


@shared_fact
def raised(c: Context) -> list[dict[str, int]]:
    """For each round of this phase: how many texts, conditions and blocking items are new, and who was moved."""
    turns = c.scene.named(c.due.phase.name)
    rounds = {turn.id: turn.round for turn in turns}
    news = Counter((rounds[item.by.turn], id[0]) for id, item in c.register.items.items() if item.by.turn in rounds)
    news.update((turn.round, "moved") for turn in turns if turn.answers.get("moved_by"))
    kinds = {"texts": "R", "conditions": "K", "blocking": "C", "moved": "moved"}
    return [
        {"round": number, **{name: news[number, kind] for name, kind in kinds.items()}}
        for number in sorted({*rounds.values()})
    ]


@shared_fact
def unmet(c: Context) -> list[str]:
    """What was wrong with the round before, as the phase's endings judged it."""
    return [one_line(str(item), LONGEST_LINE) for item in c.scene.judged.tally.get("wrong", ())]


# ---- what a person said, and is asked ----


@shared_fact
def offered(c: Context) -> list[dict[str, str]]:
    """The options that were offered to a person last, by their letters."""
    return [{"letter": letter, "text": one_line(item, LONGEST_LINE)} for letter, item in offered_options(c.scene)]


@shared_fact
def guidance(c: Context) -> list[dict[str, str]]:
    """What persons decided and said so far, in their own words."""
    return [
        {"by": act.by.label, "what": act.what, "option": act.option, "text": one_line(act.by.text, LONGEST_LINE)}
        for act in read_acts(c.scene)
        if act.what != "absent" and act.by.seat in c.readable
    ]
