"""A session is finished by the program that it began with, whatever is edited, deleted or updated meanwhile.

What an earlier version derived is shown as such, and never as damaged.
"""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Iterable
from pathlib import Path

import pytest

from council.prompts import brief as briefs
from council.record import files, metadata, session
from council.record.turn_file import sha256
from tests import helpers
from tests.copies import driven
from tests.fakeapi import FakeApi
from tests.forgery import reseal
from tests.helpers import CODE, Ended, Table, User, agreed, disputed, script
from tests.recordings import Recorded, done, finish, sessions, spoken

MEMBERS = ("architect", "engineer")
OPEN = "02-challenges/engineer"
LATER = "0.9.0"


def start(user: User, *words: str, missing: str = OPEN) -> Ended:
    """A debate that pauses, because one turn is not in the script; then the script is whole."""
    replies = agreed(MEMBERS)
    only = [word for member in MEMBERS for word in ("--only", member)]
    partial = script(user, {turn: said for turn, said in replies.items() if turn != missing})
    ended = user.council("run", "Shall we?", *only, *words, "--speaker", "replay", "--from", partial)
    assert ended.code == (4 if helpers.package() == "council" else 3), ended.text
    script(user, replies)
    return ended


def recover(user: User) -> None:
    done(user.council("recover", "last", "--speaker", "replay", "--from", user.work / "script.yaml"))
    done(user.council("verify"))


def overlay(user: User, name: str, text: str) -> Path:
    path = user.settings / "templates" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


def kit(name: str) -> str:
    return (helpers.kit() / "templates" / name).read_text("utf-8")


def change_every_template(user: User) -> None:
    """One word more in each, in the user's overlay."""
    templates = helpers.kit() / "templates"
    for path in templates.rglob("*.md.j2"):
        overlay(user, path.relative_to(templates).as_posix(), "Indeed. " + path.read_text("utf-8"))


# ---- personas ----


def test_a_seat_speaks_with_the_persona_that_it_borrows(tmp_path: Path) -> None:
    """It is frozen with the session, and two seats that borrow the same one are told apart by their names."""
    user = User(tmp_path)
    seats = "architect, {skeptic: {persona: researcher}}, {doubter: {persona: researcher}}"
    user.write("odd.md", f"---\nname: odd\nseats: {{members: [{seats}]}}\nphases: [{{name: positions}}]\n---\n")
    done(user.council("start", "Shall we?", "--workflow", "odd.md"))
    assert set(json.loads((user.session / "program.json").read_bytes())["personas"]) == {"architect", "researcher"}
    done(user.council("next"))
    for seat in ("skeptic", "doubter"):
        brief = (user.session / "briefs" / "01-positions" / f"{seat}.md").read_text("utf-8")
        assert f"You are {seat.title()}.\nYour perspective focuses on: data, precedent" in brief


def test_a_seat_is_described_once_and_named_in_other_groups(tmp_path: Path) -> None:
    user = User(tmp_path)
    seats = "{members: [architect, {owner: {persona: engineer, tier: opus}}], defence: owner}"
    phases = "[{name: positions, seats: defence}]"
    user.write("odd.md", f"---\nname: odd\nseats: {seats}\nphases: {phases}\n---\n")
    assert "no problems found" in done(user.council("lint", "odd.md")).out
    done(user.council("start", "Shall we?", "--workflow", "odd.md"))
    assert "- Owner: model opus, prompt: " in user.council("next").out


def test_a_member_keeps_what_the_workflow_says_of_it(tmp_path: Path) -> None:
    """Its tier and its weight: one of two votes counts for three, so two thirds agree."""
    user = User(tmp_path)
    seats = "architect, {skeptic: {persona: researcher, tier: opus, weight: 3}}"
    phase = "{name: vote, reply: {choice: a | b}, until: {won: {vote: {field: choice, method: 2/3}}}}"
    user.write(
        "odd.md", f"---\nname: odd\nseats: {{members: [{seats}]}}\nphases: [{phase}]\n---\n# Prompts\n## vote\nA?"
    )
    path = script(user, {"01-vote/architect": "## Choice\na", "01-vote/skeptic": "## Choice\nb"})
    done(user.council("run", "Shall we?", "-w", "odd.md", "--speaker", "replay", "--from", path))
    assert user.council("show").text.count("| 01-vote/skeptic | replay | claude-opus-5-5 |") == 1
    assert user.session.joinpath("metadata.json").read_text("utf-8").count("claude-opus-5-5") == 1
    assert "**Vote ended (won):** b with 3 of 4." in (user.session / "transcript.md").read_text("utf-8")
    done(user.council("verify"))
    ended = user.council(
        "run", "Shall we?", "-w", "odd.md", "--only", "skeptic,architect", "--speaker", "replay", "--from", path
    )
    assert "Skeptic" in done(ended).out, "a seat of the workflow's own is called by its name"


# ---- templates ----


def test_a_changed_template_does_not_change_a_debate_that_began(tmp_path: Path) -> None:
    user = User(tmp_path)
    start(user)
    before = spoken(user.session)
    assert f"briefs/{OPEN}.md" in before, "the brief of the missing turn is written"
    change_every_template(user)
    recover(user)
    after = spoken(user.session)
    assert {name: after.get(name) for name in before} == before
    assert [name for name, data in after.items() if name.startswith("briefs/") and b"Indeed." in data] == []


def test_the_next_debate_uses_the_changed_template(tmp_path: Path) -> None:
    user = User(tmp_path)
    change_every_template(user)
    start(user)
    assert "Indeed." in (user.session / "briefs" / f"{OPEN}.md").read_text("utf-8")


def test_an_overlay_that_is_deleted_after_the_start(tmp_path: Path) -> None:
    user = User(tmp_path)
    path = overlay(user, "_tail.md.j2", "{% include 'mine.md.j2' %}\n" + kit("_tail.md.j2"))
    own = overlay(user, "mine.md.j2", "Answer in verse.")
    start(user)
    path.unlink()
    own.unlink()
    recover(user)
    written = [path.read_text("utf-8") for path in user.session.glob("briefs/0[12]-*/*.md")]
    assert len(written) == 4
    assert all("Answer in verse." in text for text in written)


def test_only_what_the_workflow_can_reach_is_frozen(tmp_path: Path) -> None:
    user = User(tmp_path)
    start(user)
    found = json.loads((user.session / "program.json").read_text("utf-8"))
    assert {"positions.md.j2", "challenges.md.j2", "synthesis.md.j2", "_head.md.j2", "_tail.md.j2"} <= set(
        found["templates"]
    )
    assert [name for name in found["templates"] if name.startswith(("board-", "delphi/", "consensus/"))] == []
    assert all(sha256(one["text"].encode()) == one["sha256"] for one in found["templates"].values())
    assert list(found["personas"]) == ["architect", "engineer", "chair"]
    facts = json.loads((user.session / "metadata.json").read_text("utf-8"))
    assert facts["files"]["program.json"] == sha256((user.session / "program.json").read_bytes())
    assert "seats" not in facts


def test_a_computed_include_freezes_every_template(tmp_path: Path) -> None:
    """Nobody can say what it will need, so a template that is reached only later is there too."""
    user = User(tmp_path)
    overlay(user, "positions.md.j2", "{% include 'kind-' ~ phase ~ '.md.j2' %}\n" + kit("positions.md.j2"))
    part = overlay(user, "kind-positions.md.j2", "Be brief.")
    start(user, missing="01-positions/engineer")
    part.unlink()
    recover(user)
    assert "Be brief." in (user.session / "briefs/01-positions/engineer.md").read_text("utf-8")


def test_a_broken_template_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    user = User(tmp_path)
    overlay(user, "synthesis.md.j2", "{% if %}")
    ended = user.council("run", "Shall we?", "--speaker", "replay", "--from", script(user, agreed()))
    assert ended.code == 2
    assert "the template synthesis.md.j2: " in ended.err
    assert user.sessions == []


def test_a_replay_takes_over_the_program_of_its_source(tmp_path: Path) -> None:
    user = User(tmp_path)
    path = overlay(user, "_tail.md.j2", "Answer in verse.\n" + kit("_tail.md.j2"))
    start(user)
    recover(user)
    path.unlink()
    source = user.session
    done(user.council("run", "--speaker", "replay", "--from", source.name, "--pace", "none"))
    (again,) = [one for one in user.sessions if one != source]
    assert (again / "program.json").read_bytes() == (source / "program.json").read_bytes()
    assert "Answer in verse." in (again / "briefs" / f"{OPEN}.md").read_text("utf-8")


def test_a_template_that_is_no_file_is_passed_over(tmp_path: Path) -> None:
    """A link that leads nowhere, and a folder: else the template behind them would be missing from the program."""
    user = User(tmp_path)
    overlay(user, "debate/positions.md.j2", "").unlink()
    (user.settings / "templates/debate/positions.md.j2").symlink_to(tmp_path / "nowhere")
    (user.settings / "templates/debate/challenges.md.j2").mkdir()
    start(user)
    recover(user)
    found = json.loads((user.session / "program.json").read_text("utf-8"))
    assert {"positions.md.j2", "challenges.md.j2"} <= set(found["templates"])


def test_a_long_template(tmp_path: Path) -> None:
    user = User(tmp_path)
    overlay(user, "_tail.md.j2", "Indeed. " * 130_000 + kit("_tail.md.j2"))
    start(user)
    assert (user.session / "program.json").stat().st_size > 1_000_000
    recover(user)


def test_a_program_that_could_not_be_read_again_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    user = User(tmp_path)
    monkeypatch.setattr(files, "LARGEST", 1_000_000)
    overlay(user, "_tail.md.j2", "x" * (files.LARGEST + 1))
    ended = user.council("run", "Shall we?", "--speaker", "replay", "--from", script(user, agreed()))
    assert ended.code == 2
    assert "program.json would have 1,0" in ended.err
    assert user.sessions == []


def test_a_brief_that_could_not_be_read_again_is_refused(tmp_path: Path) -> None:
    user = User(tmp_path)
    overlay(user, "_tail.md.j2", "{{ 'x' * " + str(files.LARGEST + 1) + " }}")
    ended = user.council("run", "Shall we?", "--speaker", "replay", "--from", script(user, agreed()))
    assert ended.code == 2
    assert "it makes too much text" in ended.err
    assert list(user.session.glob("briefs/*/*")) == []


def test_a_session_continues_on_another_machine(tmp_path: Path) -> None:
    """With other templates, in another home, after a run that ended there without saying so."""
    user, other = User(tmp_path / "here"), User(tmp_path / "there")
    start(user)
    (user.session / "runner.json").write_text('{"pid": 1, "host": "here", "boot": "1"}')
    shutil.copytree(user.session, other.home / "STATE" / "council-sessions" / user.session.name)
    change_every_template(other)
    before = spoken(other.session)
    script(other, agreed(MEMBERS))
    recover(other)
    recover(user)
    after = spoken(other.session)
    assert {name: after.get(name) for name in before} == before
    briefs = {name: data for name, data in after.items() if name.startswith("briefs/")}
    assert briefs == {name: data for name, data in spoken(user.session).items() if name.startswith("briefs/")}
    assert user.council("show").out.count("Indeed. ") == other.council("show").out.count("Indeed. ")


# ---- personas ----


def test_a_changed_persona_does_not_change_a_debate_that_began(tmp_path: Path) -> None:
    user = User(tmp_path)
    start(user)
    before = spoken(user.session)
    people = (helpers.kit() / "AgentPersonalities.md").read_text("utf-8")
    (user.settings / "AgentPersonalities.md").parent.mkdir(parents=True, exist_ok=True)
    (user.settings / "AgentPersonalities.md").write_text(people.replace("Serena", "Selma").replace("You ", "We "))
    recover(user)
    after = spoken(user.session)
    assert {name: after.get(name) for name in before} == before
    assert [name for name, data in after.items() if b"Selma" in data] == []


# ---- the file itself ----


@pytest.mark.parametrize("how", ["edited", "deleted", "emptied"])
def test_a_program_that_is_not_as_it_was_is_damaged(how: str, tmp_path: Path) -> None:
    user = User(tmp_path)
    start(user)
    path = user.session / "program.json"
    if how == "deleted":
        path.unlink()
    else:
        path.write_text(path.read_text("utf-8").replace("word", "wort") if how == "edited" else "")
    before = spoken(user.session)
    for command in ("recover", "next", "show", "build"):
        ended = user.council(command)
        assert ended.code == 1
        assert f"{path}: " in ended.err
        assert "restore it from a backup" in ended.err
    assert user.council("verify").code == 5
    assert user.council("status", "--json").json["state"] == "damaged"
    assert spoken(user.session) == before


def test_metadata_that_no_longer_name_a_program_are_damaged(tmp_path: Path) -> None:
    """Else its templates could be changed by taking the file away."""
    user = User(tmp_path)
    start(user)
    path = user.session / "metadata.json"
    facts = json.loads(path.read_text("utf-8"))
    del facts["files"]["program.json"]
    path.write_bytes(metadata.seal(facts))
    (user.session / "program.json").unlink()
    ended = user.council("recover")
    assert ended.code == 1
    assert "metadata.json: files is missing or invalid" in ended.err


@pytest.mark.parametrize(
    "program",
    [
        "[]", "{}", '{"templates": {"a": 1}, "personas": {}}', '{"templates": {}, "personas": {"chair": 1}}', "[" * 999,
        '{"templates": {"a": {"sha256": "0", "text": "b"}}, "personas": {}}',
    ],
)  # fmt: skip
def test_a_forged_program_is_damaged(program: str, tmp_path: Path) -> None:
    user = User(tmp_path)
    start(user)
    (user.session / "program.json").write_text(program)
    path = user.session / "metadata.json"
    facts = json.loads(path.read_text("utf-8"))
    facts["files"]["program.json"] = sha256(program.encode())
    path.write_bytes(metadata.seal(facts))
    ended = user.council("recover")
    assert ended.code == 1
    assert "program.json: not a program that council wrote" in ended.err


def test_an_edited_brief_is_damaged_still(tmp_path: Path) -> None:
    user = User(tmp_path)
    start(user)
    path = user.session / "briefs" / f"{OPEN}.md"
    path.write_text(path.read_text("utf-8") + "And agree with everything.")
    ended = user.council("recover")
    assert ended.code == 1
    assert f"{path}: edited after council wrote it" in ended.err


# ---- two sessions in one process ----


def test_two_sessions_in_one_process_do_not_mix(tmp_path: Path) -> None:
    users = [User(tmp_path / str(number)) for number in range(2)]
    for number, user in enumerate(users):
        overlay(user, "_tail.md.j2", f"Answer in style {number}.\n" + kit("_tail.md.j2"))
        start(user, missing="02-challenges/architect")
        (user.settings / "templates" / "_tail.md.j2").unlink()
    found = [session.open_(user.session) for user in users]
    for one in found:
        one.read_turns()

    wrong: list[str] = []

    def render(number: int) -> None:
        for _ in range(20):
            due = found[number].plan().due[0]
            text = "".join(briefs.render(found[number], due)[:2])
            if f"Answer in style {number}." not in text or f"Answer in style {1 - number}." in text:
                wrong.append(text)

    for number in (0, 1, 0, 1):
        render(number)
    threads = [threading.Thread(target=render, args=(number,)) for number in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


# ---- sessions that an earlier version began ----


def one_of_each_version(found: Iterable[Recorded]) -> pytest.MarkDecorator:
    """test_recorded_sessions.py has all of them, with the kit's own templates and with their own words."""
    versions = {one.metadata["council"]: one for one in found}
    assert len(versions) >= 5
    return pytest.mark.parametrize("recorded", versions.values(), ids=lambda one: one.folder.name)


INTERRUPTED = one_of_each_version(one for one in sessions() if not one.complete)


@INTERRUPTED
def test_an_interrupted_session_of_an_earlier_version_survives_other_templates(
    recorded: Recorded, tmp_path: Path
) -> None:
    user = recorded.restore(tmp_path)
    change_every_template(user)
    before = spoken(user.session)
    finish(user, recorded.case)
    after = spoken(user.session)
    assert {name: after.get(name) for name in before} == before
    assert done(user.council("status", "--json")).json["state"] == "complete"
    done(user.council("verify"))


def test_the_documents_of_an_earlier_version_are_the_kits_before_and_after_it_is_continued(tmp_path: Path) -> None:
    """It froze no documents. The current prompts, which it needs, do not bring overlaid documents with them."""
    recorded = next(one for one in sessions() if one.folder.name == "debate-mid-batch")
    user = recorded.restore(tmp_path)
    overlay(user, "_tail.md.j2", "{% include '_he' ~ 'ad.md.j2' %}\n" + kit("_tail.md.j2"))
    overlay(user, "documents/transcript.md.j2", "Our own.\n" + kit("documents/transcript.md.j2"))
    finish(user, recorded.case)
    assert "Our own." not in (user.session / "transcript.md").read_text("utf-8")
    assert done(user.council("verify", "--json")).json["outdated"] == []


def test_a_pending_brief_of_an_earlier_version_is_what_is_sent(tmp_path: Path) -> None:
    """It was on disk before anybody was asked, and nobody can make it again."""
    recorded = next(one for one in sessions() if one.folder.name == "debate-mid-batch")
    user = recorded.restore(tmp_path)
    (turn, *_) = recorded.case["due"]
    path = user.session / "briefs" / f"{turn}.md"
    path.write_text("What is your position?", "utf-8")
    with FakeApi(Table(user, recorded.case["words"])) as api:
        user.configure(f"endpoints: {{anthropic: {{base_url: {api.url}}}}}\nretry: {{budget: 0}}")
        user.council("recover", "last")
        assert "What is your position?" in [request.text for request in api.prompts]


# ---- what an earlier version derived ----


COMPLETE = one_of_each_version(one for one in sessions() if one.complete and not one.case.get("kept"))


@COMPLETE
def test_other_words_of_an_earlier_version_are_no_damage(recorded: Recorded, tmp_path: Path) -> None:
    user = recorded.restore(tmp_path)
    change_wording(user, "transcript.md", "round-1.md")
    by = f"made by council {recorded.metadata['council']}"
    found = done(user.council("verify", "--json")).json
    assert found["findings"] == []
    assert any("transcript.md" in one and by in one for one in found["outdated"])
    assert by in done(user.council("verify")).out
    status = done(user.council("status", "--json")).json
    assert status["state"] == "complete"
    assert status["why"].endswith(by)
    done(user.council("build"))
    done(user.council("archive"))
    assert done(user.council("verify", "--json")).json["outdated"] == []


def test_a_file_that_is_missing_is_damage_in_any_version(tmp_path: Path) -> None:
    recorded = next(one for one in sessions() if one.complete)
    user = recorded.restore(tmp_path)
    (user.session / "transcript.md").unlink()
    ended = user.council("verify")
    assert ended.code == 5
    assert "transcript.md: it is missing" in ended.out


def change_wording(user: User, *names: str) -> None:
    """The derived files and the archived copy as another version would have worded them."""
    for name in names:
        path = user.session / name
        path.write_text(path.read_text("utf-8").replace("## ", "## Notes on "), "utf-8")
    facts = json.loads((user.session / "metadata.json").read_text("utf-8"))
    if archived := facts.get("archived_to"):
        shutil.copyfile(user.session / "transcript.md", user.root / archived.removeprefix("~/"))
    for key in {"derived", "archived"} & facts.keys():  # a version after 0.1.0 says what it wrote
        hashes = {name: sha256((user.session / name).read_bytes()) for name in facts[key]["files"]}
        reseal(user.session, **{key: {**facts[key], "files": hashes}})


@pytest.fixture(scope="module")
def later(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of council of a later version, whose transcripts say something else."""
    root = tmp_path_factory.mktemp("later")
    for name in ("council", "templates", "Workflows", "agents"):
        shutil.copytree(CODE / name, root / name)  # with what Python has compiled
    for name in ("Config.md", "AgentPersonalities.md", "SKILL.md"):
        shutil.copyfile(CODE / name, root / name)
    replace(root / "council/__init__.py", f'__version__ = "{version()}"', f'__version__ = "{LATER}"')
    whole = "markdown.whole(self.debate)"
    replace(root / "council/reports/derived.py", whole, f'"Later.\\n" + {whole}')
    replace(root / "council/prompts/facts.py", "place.capitalize()", "place.upper()")
    return root


def version() -> str:
    import council

    return council.__version__


def replace(path: Path, old: str, new: str) -> None:
    text = path.read_text("utf-8")
    assert text.count(old) == 1
    path.write_text(text.replace(old, new), "utf-8")


def test_a_later_version_says_who_made_a_session_and_renews_it(later: Path, tmp_path: Path) -> None:
    user = User(tmp_path)
    start(user)
    recover(user)

    with driven(later, user) as copy:
        found = done(copy.run("verify", "--json")).json
        assert found["findings"] == []
        assert [one.partition("council-sessions/")[2] or one for one in found["outdated"]]
        assert all(f"made by council {version()}" in one for one in found["outdated"])
        assert done(copy.run("status", "--json")).json["state"] == "complete"
        tampered = user.session / "transcript.md"
        whole = tampered.read_bytes()
        tampered.write_bytes(whole + b"And more.\n")
        assert copy.run("verify").code == 5, "these bytes are nobody's"
        tampered.write_bytes(whole)
        copy.ok("build")
        copy.ok("archive")
        assert done(copy.run("verify", "--json")).json["outdated"] == []
    ended = user.council("verify", "--json")
    assert done(ended).json["findings"] == [], "the earlier version knows the later one's files by their hashes"
    assert all(f"made by council {LATER}" in one for one in ended.json["outdated"])


def test_a_build_that_is_interrupted_by_a_crash_leaves_no_damage(later: Path, tmp_path: Path) -> None:
    """The new files are there, and the metadata is as it was just before they were written."""
    user = User(tmp_path)
    start(user)
    recover(user)
    path = user.session / "metadata.json"
    stamp = json.loads(path.read_text("utf-8"))["derived"]
    with driven(later, user) as copy:
        copy.ok("archive")
        facts = json.loads(path.read_text("utf-8"))
        before = {"derived": stamp, "archived": {**stamp, "files": {"transcript.md": stamp["files"]["transcript.md"]}}}
        path.write_bytes(metadata.seal({**facts, **before, "deriving": facts["derived"]}))
        for found in (copy.run("verify", "--json"), user.council("verify", "--json")):
            assert done(found).json["findings"] == []
    assert done(user.council("status", "--json")).json["state"] == "complete"


def test_a_later_version_finishes_an_interrupted_session(later: Path, tmp_path: Path) -> None:
    user = User(tmp_path)
    start(user)
    before = spoken(user.session)
    with driven(later, user) as copy:
        copy.ok("recover", "last", "--speaker", "replay", "--from", user.work / "script.yaml")
        copy.ok("verify")
    after = spoken(user.session)
    assert {name: after.get(name) for name in before} == before
    assert [name for name, data in after.items() if name.startswith("briefs/") and b"POSITIONS" in data] != []


def test_a_lost_turn_is_damage_though_the_files_are_as_they_were_made(tmp_path: Path) -> None:
    """The stamp names the turns that the files were derived from."""
    user = User(tmp_path)
    path = script(user, disputed(MEMBERS))
    only = [word for member in MEMBERS for word in ("--only", member)]
    done(user.council("run", "Shall we?", *only, "--speaker", "replay", "--from", path))
    (user.session / f"turns/{OPEN}.md").unlink()
    assert user.council("verify").code == 5
    assert user.council("status", "--json").json["state"] == "damaged"
