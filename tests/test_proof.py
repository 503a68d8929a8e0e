"""What `verify` proves: by itself, against a noted head, and against a signed one."""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from council.errors import Damaged
from council.record.session import Session
from council.record.signature import NAMESPACE
from council.reports import verify
from tests.forgeries import allow, make_key
from tests.forgery import FIRST, LAST, LATER, WORDS, Forger, forge_everything, hold, reseal
from tests.helpers import User, disputed
from tests.recordings import RECORDED, Recorded, done


def head_of(user: User) -> str:
    head: str = json.loads(done(user.council("attest", "--json")).out)["head"]
    return head


@pytest.fixture
def user(tmp_path: Path) -> User:
    return hold(tmp_path)


# ---- a noted head ----


def test_a_noted_head_is_found_again(user: User) -> None:
    head = head_of(user)
    ended = done(user.council("verify", "--head", head))
    assert f"head: {head}\nproven: the session is as it was when this head was noted\n" in ended.out
    assert user.council("verify", "--head", head[:10]).code == 2


def test_a_forger_who_computes_every_hash_again_is_found_by_the_head_alone(user: User) -> None:
    head = head_of(user)
    forge_everything(user, LAST, "Keep one database.", "Keep ten databases.")
    assert "ten databases" in done(user.council("show")).out
    assert "it does not find a forger" in done(user.council("verify")).out
    ended = user.council("verify", "--head", head)
    assert ended.code == 5
    assert f"not the noted {head}: something that it covers was changed, or turns were added since" in ended.out


def test_other_words_than_the_later_briefs_quote_are_found_without_a_head(user: User) -> None:
    forger = Forger(user.session)
    forger.rewrite(FIRST, lambda receipt, body: (receipt, body.replace("database", "warehouse")))
    forger.rechain()
    assert user.council("build").code == 0
    ended = user.council("verify")
    assert ended.code == 5
    assert "briefs/02-challenges/architect.md: does not follow from the program and the turns before it" in ended.out


def test_the_head_of_a_debate_that_went_on_does_not_cover_the_rest(tmp_path: Path) -> None:
    user = hold(tmp_path, {turn: said for turn, said in WORDS.items() if turn != LAST}, code=4)
    head = head_of(user)
    done(user.council("verify", "--head", head))
    (user.work / "script.yaml").write_text(json.dumps(WORDS))
    done(user.council("recover", "--from", "script.yaml"))
    ended = user.council("verify", "--head", head)
    assert ended.code == 5
    assert f"the noted head is the one before {LAST}; what followed is not covered by it" in ended.out
    assert "council build" not in ended.err, "nothing is wrong that it could renew"


def test_a_head_in_the_middle_of_a_round_accuses_nobody_when_the_debate_goes_on(tmp_path: Path) -> None:
    user = hold(tmp_path, {turn: said for turn, said in WORDS.items() if turn not in (LATER, LAST)}, code=4)
    head, key = head_of(user), make_key(tmp_path, "ann")
    done(user.council("attest", "--sign", key))
    (user.work / "script.yaml").write_text(json.dumps(WORDS))
    done(user.council("recover", "--from", "script.yaml"))
    ended = user.council("verify", "--head", head)
    assert ended.code == 5
    assert "was changed, or turns were added since" in ended.out
    assert user.council("verify", "--signers", allow(tmp_path, key)).code == 5
    out = done(user.council("verify")).out
    assert "the head is signed" not in out, "the signature is of an earlier head"
    assert "head.sig was not checked: --signers FILE checks by whom it is, and whether of this head" in out


STRANGE = ("notes.txt", ".lock", "runner.json", "attempts/01-positions/architect.jsonl", "turns/.x.md.1.council-temp")


@pytest.mark.parametrize("name", STRANGE)
def test_with_a_head_everything_in_the_folder_must_be_proven(name: str, user: User) -> None:
    head, path = head_of(user), user.session / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("words")
    if name == "runner.json" or name.startswith("attempts"):
        path.write_text("{}") if name == "runner.json" else path.write_text("")
    assert user.council("verify").code == 0
    ended = user.council("verify", "--head", head)
    assert ended.code == 5
    assert name.split("/", maxsplit=1)[0] in ended.out


def test_a_brief_of_nobody_is_found(user: User) -> None:
    (user.session / "briefs" / "01-positions" / "intern.md").write_text("Say that it is fine.")
    ended = user.council("verify")
    assert ended.code == 5
    assert "briefs/01-positions/intern.md: no turn of this debate has this brief" in ended.out


@pytest.mark.parametrize("key", ["derived", "archived"])
def test_stamps_of_derived_files_are_compared(key: str, user: User) -> None:
    head, path = head_of(user), user.session / "metadata.json"
    stamp = json.loads(path.read_bytes())[key]
    reseal(user.session, **{key: {**stamp, "files": {}}})
    assert f"{key} does not follow from the turns" in user.council("verify").out
    reseal(user.session, **{key: {**stamp, "council": "9.9.9"}})
    assert user.council("verify").code == 0
    assert user.council("verify", "--head", head).code == 5
    done(user.council("archive"))
    done(user.council("verify", "--head", head))


def test_a_file_with_the_stamp_of_this_version_must_be_what_this_version_makes(user: User) -> None:
    from council.record.turn_file import sha256

    path = user.session / "transcript.md"
    path.write_text("Everybody agreed.")
    stamp = json.loads((user.session / "metadata.json").read_bytes())["derived"]
    reseal(user.session, derived={**stamp, "files": {**stamp["files"], path.name: sha256(path.read_bytes())}})
    assert "transcript.md: it does not follow from the turns" in user.council("verify").out


def test_completion_facts_of_a_debate_that_is_not_over_are_found(tmp_path: Path) -> None:
    user = hold(tmp_path, {turn: said for turn, said in WORDS.items() if turn != LAST}, code=4)
    reseal(user.session, outcome="agreed", archived_to="/elsewhere")
    ended = user.council("verify")
    assert ended.code == 5
    assert "outcome and archived_to: the debate was not finished" in ended.out


@pytest.mark.parametrize("place", ["~nosuchuser/x", "a\0b", 7])
def test_an_archive_nowhere_is_damage_and_no_crash(place: object, user: User) -> None:
    reseal(user.session, archived_to=place)
    for command in ("verify", "status", "show"):
        ended = user.council(command)
        assert ended.code in (1, 5)
        assert "archived_to is missing or invalid" in ended.text


# ---- sessions of earlier versions ----


def test_a_session_without_a_chain_says_so(tmp_path: Path) -> None:
    user = Recorded(RECORDED / "debate-complete").restore(tmp_path)
    out = done(user.council("verify")).out
    assert "no chain recorded: recorded by an earlier version of council\n" in out
    assert "the briefs were not rendered again: the session was begun by council 0.1.0" in out
    head = head_of(user)
    assert user.council("verify", "--head", head).code == 5, "what that version derived is not proven"
    done(user.council("archive"))
    done(user.council("verify", "--head", head))


# ---- a signed head ----


def test_a_signature_is_checked_against_the_allowed_signers(user: User, tmp_path: Path) -> None:
    key, stranger = make_key(tmp_path, "ann"), make_key(tmp_path, "eve")
    out = done(user.council("attest", "--sign", key)).out
    assert f"signed: {user.session / 'head.sig'}" in out
    ended = done(user.council("verify", "--signers", allow(tmp_path, key)))
    assert "signed by: ann@example.org\nproven: the session is as it was when this head was signed\n" in ended.out
    assert "--signers FILE checks by whom" in done(user.council("verify")).out
    done(user.council("attest", "--sign", stranger))
    ended = user.council("verify", "--signers", allow(tmp_path, key))
    assert ended.code == 5
    assert "head.sig: not signed with a key that" in ended.out


def test_an_unsigned_session_does_not_pass_for_a_signed_one(user: User, tmp_path: Path) -> None:
    ended = user.council("verify", "--signers", allow(tmp_path, make_key(tmp_path, "ann")))
    assert ended.code == 5
    assert "the session is not signed" in ended.out
    assert user.council("verify", "--signers", tmp_path / "nobody").code == 2
    assert user.council("attest", "--sign", tmp_path / "nobody").code == 2


def test_a_signature_of_another_session_is_none_of_this_one(user: User, tmp_path: Path) -> None:
    key, other = make_key(tmp_path, "ann"), hold(tmp_path / "other")
    done(other.council("attest", "--sign", key))
    (user.session / "head.sig").write_bytes((other.session / "head.sig").read_bytes())
    ended = user.council("verify", "--signers", allow(tmp_path, key))
    assert ended.code == 5
    assert "not a signature of this session's head by ann@example.org" in ended.out


def test_a_signature_for_another_purpose_is_none_of_a_session(user: User, tmp_path: Path) -> None:
    key = make_key(tmp_path, "ann")
    how = ["ssh-keygen", "-Y", "sign", "-f", str(key), "-n"]
    for namespace, code in (("git", 5), (NAMESPACE, 0)):
        done_ = subprocess.run([*how, namespace], input=f"{head_of(user)}\n".encode(), capture_output=True, check=True)
        (user.session / "head.sig").write_bytes(done_.stdout)
        assert user.council("verify", "--signers", allow(tmp_path, key)).code == code
    assert user.council("verify", "--signers", allow(tmp_path, key, 'namespaces="git" ')).code == 5


def test_a_damaged_session_is_not_attested(user: User) -> None:
    (user.session / "round-1.md").write_text("Everybody agreed.")
    ended = user.council("attest")
    assert ended.code == 5
    assert "is not attested" in ended.err


def test_a_receipt_may_be_forged_with_the_chain_and_only_the_head_tells(user: User) -> None:
    head = head_of(user)
    forger = Forger(user.session)
    forger.rewrite(LAST, lambda receipt, body: (replace(receipt, answered="claude-opus-5-5"), body))
    forger.rechain()
    done(user.council("archive"))
    done(user.council("verify"))
    assert user.council("verify", "--head", head).code == 5


# ---- beside a run ----


@pytest.mark.parametrize("moment", ["open_", "check_turns", "read_turns", "plan"])
def test_a_debate_that_goes_on_meanwhile_is_not_called_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    """Whatever has been read when a run ends the debate, `status` and `verify` find nothing wrong."""
    script = tmp_path / "replies.json"
    script.write_text(json.dumps(disputed()))
    user = User(tmp_path)
    assert user.council("run", "Shall we?", "--speaker", "replay", "--from", script, "--max-calls", "6").code == 3
    folder = user.session
    before = tmp_path / "before"
    shutil.copytree(folder, before)
    assert user.council("recover", "--speaker", "replay", "--from", script, "--max-calls", "100").code == 0
    after = tmp_path / "after"
    shutil.copytree(folder, after)

    def lay(state: Path) -> None:
        shutil.rmtree(folder)
        shutil.copytree(state, folder)

    place = verify.session if moment == "open_" else Session
    real = getattr(place, moment)

    def goes_on(*given: Any) -> Any:
        found = real(*given)
        found = [*found] if moment == "check_turns" else found
        lay(after)
        return found

    lay(before)
    assert [*verify.verify(folder)] == []
    monkeypatch.setattr(place, moment, goes_on)
    assert verify.status(folder).state != "damaged"
    lay(before)
    assert [one for one in verify.verify(folder) if isinstance(one, Damaged)] == []
