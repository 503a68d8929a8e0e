"""What the requests ask for to the letter: names of files and keys, headings, and words in briefs."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from council.config import overlays, personas
from tests.helpers import User, agreed, disputed, script

TOPIC = "Which queue do we put before the importer, and who looks after it?"
ROUNDS = {"01-positions": "Initial Positions", "02-challenges": "Responses & Challenges", "03-closing": "Synthesis"}


@pytest.fixture(scope="module")
def user(tmp_path_factory: pytest.TempPathFactory) -> User:
    """Somebody who has held a debate of two rounds, and one of three."""
    user = User(tmp_path_factory.mktemp("asked"))
    for words, name in ((agreed(), "two"), (disputed(), "three")):
        held = user.council("run", "--speaker=replay", f"--id={name}", "--from", script(user, words), TOPIC)
        assert held.code == 0, held.err
    return user


def folder(user: User, name: str) -> Path:
    return user.home / "STATE" / "council-sessions" / name


# ---- debate ----


def test_the_metadata_of_a_debate(user: User) -> None:
    found = json.loads((folder(user, "two") / "metadata.json").read_text("utf-8"))
    for key, value in {
        "session_id": "two",
        "topic": TOPIC,
        "members": ["architect", "designer", "engineer", "researcher"],
        "output_mode": "deliberative",
        "rounds_planned": "adaptive",
        "rounds_completed": 2,
    }.items():
        assert found[key] == value
    assert found["started_at"][:10] <= found["completed_at"][:10]
    assert Path(found["archived_to"].replace("~", str(user.root))).is_file()
    begun = user.council("start", TOPIC).out
    assert re.search(r"^\*\*Session ID:\*\* \d{8}-\d{6}-[0-9a-f]{8}$", begun, re.M)


def test_the_heading_of_a_debate(user: User) -> None:
    begun = user.council("start", "--id=heading", TOPIC).out
    assert begun.startswith(
        f"## Council Debate: {TOPIC}\n\n**Session ID:** heading\n"
        "**Council Members:** Architect (Serena), Designer (Aditi), Engineer (Marcus), Researcher (Ava)\n"
        "**Rounds:** 2-3 (adaptive based on convergence)\n**Output:** "
    )


def test_each_round_has_a_file_and_one_that_was_not_needed_has_none(user: User) -> None:
    for name, rounds in (("two", 2), ("three", 3)):
        session = folder(user, name)
        assert [path.name for path in sorted(session.glob("round-*.md"))] == [
            f"round-{n + 1}.md" for n in range(rounds)
        ]
        transcript = (session / "transcript.md").read_text("utf-8")
        for number, title in enumerate([*ROUNDS.values()][:rounds], 1):
            text = (session / f"round-{number}.md").read_text("utf-8")
            assert f"### Round {number}: {title}\n" in text
            icons = ("🏛️ Architect (Serena)", "🎨 Designer (Aditi)", "⚙️ Engineer (Marcus)", "🔍 Researcher (Ava)")
            assert [f"**{icon}:**" for icon in icons if f"**{icon}:**" not in text] == []
            assert f"### Round {number}: {title}\n" in transcript
        assert ("**Round 3 skipped:**" in transcript) is (rounds == 2)
        assert "\n### Council Synthesis\n" in transcript


def test_the_convergence_check_has_the_three_keys(user: User) -> None:
    two, three = (json.loads((folder(user, name) / "convergence.json").read_text()) for name in ("two", "three"))
    assert (two["converged"], two["reason"], two["proceed_to_round3"]) == (True, "4/4 agree", False)
    assert (three["converged"], three["proceed_to_round3"]) == (False, True)


def test_the_archive_is_named_by_time_and_topic(user: User) -> None:
    names = sorted(path.relative_to(user.home).as_posix() for path in (user.home / "RESEARCH").rglob("*.md"))
    slug = "which-queue-do-we-put-before-the-importer-and-who-"
    place = re.compile(r"RESEARCH/(\d{4}-\d\d)/\1-\d\d-\d{6}_COUNCIL_(.+?)(_\w+)?\.md")
    found = [place.fullmatch(name) for name in names]
    assert len(slug) == 50
    assert [bool(one and slug.startswith(one[2])) for one in found] == [True, True], names
    text = next((user.home / "RESEARCH").rglob("*.md")).read_text("utf-8")
    assert text.index("### Round 1") < text.index("### Round 2") < text.index("### Council Synthesis")


@pytest.mark.parametrize(
    ("turn", "words"),
    [
        (
            "01-positions/architect",
            "You are Serena Blackwood, Architect of this council. | Now: initial positions | first person | "
            "from your own perspective | specific and substantive: 50-150 words | Your perspective focuses on: | "
            "your key concern, your recommendation, or an insight | You will answer them in the next round",
        ),
        (
            "02-challenges/engineer",
            "Now: responses and challenges | The architect would keep one database. | I disagree with Marcus's point | "
            "Challenge assumptions, add what is missing, build on what you agree with. Keep your own perspective. | "
            "in 50-150 words | genuine friction | a security or compliance problem, or a step that cannot be undone",
        ),
        (
            "03-closing/designer",
            "The architect would keep one database. | The architect sees no reason against it. | in 50-150 words | "
            "Where does the council agree? | Where do you still disagree | your final recommendation | "
            "forced consensus is worse than acknowledged tension",
        ),
    ],
)
def test_a_brief_says_who_and_what(turn: str, words: str, user: User) -> None:
    brief = " ".join((folder(user, "three") / "briefs" / f"{turn}.md").read_text("utf-8").split())
    assert [one for one in words.split(" | ") if one not in brief] == []


def test_the_list_of_a_patchlist_is_asked_for_in_its_form(user: User) -> None:
    user.council("start", "--id=patchlist", "--mode=patchlist", TOPIC)
    brief = user.council("brief", "patchlist", "01-positions/architect").out
    assert "**BLOCKING:**\n- B1: [issue] → [proposed change]\n\n**HIGH:**\n- H1: " in brief
    assert "**MEDIUM/LOW:**\n- M1: [issue]\n" in brief


def test_the_seats_have_the_names_and_tiers_that_were_asked_for() -> None:
    asked = {
        "architect": ("Serena Blackwood", None, "system design, patterns, scalability, long-term architectural"),
        "designer": ("Aditi Sharma", None, "user experience, accessibility, user needs, interface implications"),
        "engineer": ("Marcus Webb", None, "implementation reality, tech debt, maintenance burden, practical"),
        "researcher": ("Ava Chen", None, "data, precedent, external examples, what others have done"),
        "security": ("Rook Blackburn", None, ""),
        "intern": ("Dev Patel", "haiku", "fresh eyes"),
        "writer": ("Emma Hartley", "haiku", "communication"),
    }
    known = personas.load()
    for seat, (name, tier, focus) in asked.items():
        assert (known[seat]["name"], known[seat].get("tier")) == (name, tier)
        assert str(known[seat]["focus"]).startswith(focus)


# ---- perspectives ----


def test_a_perspective_is_told_what_it_stands_for(user: User) -> None:
    """Its priorities and trade-offs from the catalog, and what the moderator said of it."""
    user.council(
        "start", "--id=cast", "--workflow=perspectives", "--no-checkpoints", "Redis or PostgreSQL for caching?"
    )
    analysis = {
        "question": "Which?",
        "clear": "yes",
        "ask": "none",
        "assumed": "none",
        "perspectives": "- Performance Advocate: p99 of the cart\n- Simplicity Advocate: one store less",
        "opposed": "Performance Advocate and Simplicity Advocate, over a second store.",
    }
    user.council("record", "cast", "01-analysis-r01-1-analyze/moderator", stdin=form(analysis))
    user.council("record", "cast", "02-debate-r01-1-frame/moderator", stdin="Which one carries the cart?")
    brief = user.council("brief", "cast", "02-debate-r01-2-argue/performance-advocate").out
    assert "You are Performance Advocate" in brief
    assert "Your perspective focuses on: latency, throughput" in brief
    assert "What you would accept in exchange: " in brief
    assert "You argue for this: p99 of the cart" in brief


def form(answers: dict[str, str]) -> str:
    return "\n\n".join(f"## {name.capitalize()}\n{value}" for name, value in answers.items())


# ---- what prompts say, where nothing but a prompt can ask for it ----

PROMPTS = {
    "consensus/impact": "If you are unsure about one, include it",
    "consensus/propose": (
        "Propose the design from your own perspective | why this score; what is good about it, and what worries you | "
        "everything that keeps you below | what exactly would raise your score | latency, throughput, size, cost | "
        '"Add 50 ms at the 99th percentile", not "slower" | For every problem, propose a solution. | '
        "Design your own part; of another's part, say what you need from it. | do not stay just below | "
        "what is left is a matter of taste"
    ),
    "consensus/escalate": (
        "who holds which view, with their reason and score, one line each | two to four | "
        "argued for a way between them, that is an option too | doubts that the feature is needed | begin with its name"
    ),
    "consensus/synthesis": (
        "the design as a whole | one item per specialist | as they were last agreed | each number with its unit and "
        "its window | what the people who build it need to know | what was asked and not answered"
    ),
    "perspectives/analyze": (
        '("it has to be out in May" favours what is simple) | two for a choice between two things, three or four where '
        "more is at stake | A perspective is something to care about, not a person or a job | Use those of the "
        "catalog that fit | the one question to the person that would help most"
    ),
    "perspectives/frame": (
        "Put the question to the perspectives | Summarize the last round | If a person gave guidance, repeat it in "
        "their words | Call back perspectives that left the question | what has to be said in this round"
    ),
    "perspectives/rebut": (
        "Take the strongest points against you, say whose they are | Concede explicitly what you cannot answer"
    ),
    "perspectives/evaluate": (
        "acknowledge each other's points and recommend the same | the same arguments return | one side prevails and "
        "the others concede what matters | each perspective that left the question in this round"
    ),
    "perspectives/synthesis": (
        "at least one for every perspective | what each perspective would accept, or accepted | what all perspectives "
        "agree on | what stayed contested | what you recommend, why, and what would change it | high, medium or low | "
        "The conditions under which this would not hold | who would still decide otherwise"
    ),
    "_board": (
        'Say why: "I think X, because Y". | If you see a problem, you have to raise it. | your dissent goes into the '
        "document | Do not give in to save time, or to anybody's rank or title. | Stay within the topic | write no code"
    ),
    "board-positions": "Write your position on the topic, with its reasons | Nobody sees the others' positions yet.",
    "board-respond": (
        "What do you agree with, and why? What do you reject, and why? | at least one, to a point of another member | "
        "those that the others have missed so far | your formal dissent | A round that only repeats the previous one"
    ),
    "board-review": "has nothing new been said | With two or more | a person has to decide the direction",
    "board-synthesize": "the approach, and why this one",
    "_board_synthesis": (
        "each alternative that was argued for, who argued for it, and why it was not taken | one item each, first the "
        "owner's name | what to do about it or what to watch, and who raised it | high, medium or low"
    ),
    "board-check": (
        "does it report what was said? | neither left out nor softened | There is one round of corrections."
    ),
}


@pytest.mark.parametrize("name", PROMPTS)
def test_a_prompt_says_what_was_asked(name: str) -> None:
    text = " ".join((overlays.kit_folder() / "templates" / f"{name}.md.j2").read_text("utf-8").split())
    assert [one for one in PROMPTS[name].split(" | ") if one.lower() not in text.lower()] == []


def test_contrarian_and_moonshot_say_what_was_asked() -> None:
    said = personas.load()
    contrarian, moonshot = (" ".join(str(said[one]["perspective"]).split()) for one in ("contrarian", "moonshot"))
    assert "argue the other side, on purpose" in contrarian
    assert "imagine that the decision has failed" in contrarian
    assert "If everybody agrees, it is your task to say why they should not" in contrarian
    assert "what larger aim it belongs to" in moonshot
    assert "always give two versions" in moonshot
