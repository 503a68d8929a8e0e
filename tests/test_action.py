"""The GitHub Action: a pull request chooses names of files and no more; a job without a review does not fail."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from tests import reviewing, warm
from tests.fakeapi import Answer, FakeApi
from tests.helpers import Ended, Table, User

ROOT = Path(__file__).parent.parent
SPEC = reviewing.SPEC


@pytest.fixture
def user(tmp_path: Path) -> User:
    found = User(tmp_path)
    found.write("sessions.md", SPEC)
    return found


def act(
    user: User, files: str = "sessions.md\n", replayed: bool = True, env: dict[str, str] | None = None, **given: str
) -> Ended:
    """The job's step, with the inputs that the action has by default, and these."""
    script = user.write("script.json", json.dumps(reviewing.words()))
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    (step,) = action["runs"]["steps"]
    asked = {"files": files, **({"speaker": "replay", "from": str(script)} if replayed else {})}
    asked |= {name.replace("_", "-"): value for name, value in given.items()}
    inputs = {name: asked.get(name, one.get("default", "")) for name, one in action["inputs"].items()}
    values = {name: inputs[re.findall(r"inputs\.([a-z-]+)", value)[0]] for name, value in step["env"].items()}
    own = {
        "COUNCIL_VENV": warm.venv(), "RUNNER_TEMP": str(user.root), "CI": "true",
        "GITHUB_STEP_SUMMARY": str(user.root / "summary"), "GITHUB_OUTPUT": str(user.root / "output"),
    }  # fmt: skip
    done = subprocess.run(
        [ROOT / "scripts/action"], cwd=user.work, env={**user.environment, **values, **own, **(env or {})},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    return Ended(done.returncode, done.stdout, done.stderr)


def sarif(user: User) -> list[dict[str, object]]:
    (run,) = json.loads((user.work / "council.sarif").read_text("utf-8"))["runs"]
    results: list[dict[str, object]] = run["results"]
    return results


def test_a_review_that_is_likely_to_be_dear_needs_a_limit(user: User) -> None:
    with FakeApi() as api:
        user.configure(f"endpoints: {{anthropic: {{base_url: {api.url}}}}}\nask_above: 0.001")
        key = {"ANTHROPIC_API_KEY": "k"}
        ended = act(user, replayed=False, speaker="anthropic", env=key)
        assert (ended.code, "add --max-cost USD or --yes" in ended.err, api.prompts) == (2, True, []), ended.text
        limited = act(user, replayed=False, speaker="anthropic", max_cost="0.0001", env=key)
        assert "the next call could exceed the limit of $0.0001" in limited.err, limited.text


def test_it_annotates_writes_sarif_and_fails(user: User) -> None:
    ended = act(user)
    assert ended.code == 5, ended.err
    assert ended.out.count("title=B") == 2
    assert len(sarif(user)) > 2
    assert "Take up B1 and B2 first" in (user.root / "summary").read_text()
    assert (user.root / "output").read_text() == f"session={user.session}\n"


@pytest.mark.parametrize("gate", ["high", "blocking", "never"])
def test_annotations_sarif_and_the_exit_code_say_the_same_of_each_finding(user: User, gate: str) -> None:
    ended = act(user, fail_on=gate)
    levels = {str(one["properties"]["id"]): one["level"] for one in sarif(user)}  # type: ignore[index]
    annotated = {id: level for level, id in re.findall(r"^::(\w+) [^:]*title=(\w+) ", ended.out, re.M)}
    assert annotated == {id: {"note": "notice"}.get(str(level), level) for id, level in levels.items()}
    assert ended.code == (0 if gate == "never" else 5)
    assert list(levels.values()).count("error") == {"high": 5, "blocking": 2, "never": 2}[gate]


def test_the_workflow_of_the_docs_uses_what_is_current() -> None:
    """Runners have no Node 20 any more, which checkout before 5 and codeql-action before 4 need."""
    (shown,) = re.findall(r"```yaml\n(on: pull_request.*?)```", (ROOT / "docs/review.md").read_text(), re.S)
    (job,) = yaml.safe_load(shown)["jobs"].values()
    used = dict(step["uses"].split("@") for step in job["steps"])
    assert (used["actions/checkout"], used["github/codeql-action/upload-sarif"]) == ("v7", "v4")
    inputs = yaml.safe_load((ROOT / "action.yml").read_text())["inputs"]
    (own,) = (step["with"] for step in job["steps"] if step["uses"].startswith("OWNER/"))
    assert set(own) <= set(inputs)


def test_a_baseline_that_is_none_fails_the_job_and_says_why(user: User) -> None:
    user.write("review.json", "[]")
    ended = act(user, baseline="review.json")
    assert (ended.code, "--baseline review.json: not a review" in ended.err) == (2, True), ended.text


OPTIONS = ("--patch=victim.md", "--max-cost=9", "-h", "--help", "--overlays", "--session=last", "--output=victim.md")


@pytest.mark.parametrize("names", [OPTIONS, ("--",)], ids=["options", "the end of options"])
def test_the_name_of_a_file_is_no_option(user: User, names: tuple[str, ...]) -> None:
    """Where such files are in the project, they are reviewed; where one is not, the job fails, and that is all."""
    victim = user.write("victim.md", "Precious.")
    ended = act(user, f"sessions.md\n{names[0]}\n", max_cost="0")
    assert (ended.code, f"{names[0]}: no such file" in ended.err) == (2, True)
    for name in names:
        user.write(name, "# A document\n\nOf no account.\n")
    ended = act(user, "\n".join(("sessions.md", *names, "")))
    assert ended.code == 5, ended.err
    assert (user.session / "topic.md").read_text().startswith(f"Review {', '.join(('sessions.md', *names))}\n")
    assert victim.read_text() == "Precious."


def test_an_earlier_session_is_never_reported(user: User) -> None:
    assert act(user).code == 5
    ended = act(user, "missing.md")
    assert (ended.code, "::error" in ended.out) == (2, False)


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_a_pull_request_that_changes_no_document_passes(user: User) -> None:
    own = ["-c", "user.name=a", "-c", "user.email=a@example.invalid"]
    for words in (["init", "-q"], ["add", "sessions.md"], ["commit", "-qm", "one"]):
        subprocess.run(["git", *own, *words], cwd=user.work, check=True)
    for given in ({"diff": "HEAD"}, {"files": "docs/*.md\n"}):
        ended = act(user, **given)
        assert (ended.code, "::notice title=council::There was nothing to review" in ended.out) == (0, True), ended.text
        assert sarif(user) == []
        assert "nothing to review" in (user.root / "summary").read_text()
    assert user.sessions == []


@pytest.mark.parametrize("speaker", ["auto", "anthropic"])
def test_without_a_key_the_review_is_skipped(user: User, speaker: str) -> None:
    """As in a pull request from a fork, which has no secrets; no model is fetched in its place."""
    ended = act(user, replayed=False, speaker=speaker)
    assert (ended.code, "::notice title=council::The review was skipped" in ended.out) == (0, True), ended.text
    assert sarif(user) == []
    assert user.sessions == []
    assert "skipped" in (user.root / "summary").read_text()


KEYS = "ssh-ed25519 mine\n"


@pytest.mark.parametrize("replayed", [True, False], ids=["a review", "no key"])
@pytest.mark.parametrize("way", ["file", "folder", "nothing yet"])
def test_a_link_that_a_pull_request_brought_is_not_written_through(user: User, way: str, replayed: bool) -> None:
    keys = user.root / "outside" / "authorized_keys"
    keys.parent.mkdir()
    if way != "nothing yet":
        keys.write_text(KEYS)
    if way == "folder":
        (user.work / "out").symlink_to("../outside")
    else:
        (user.work / "council.sarif").symlink_to("../outside/authorized_keys")
    ended = act(user, replayed=replayed, **({"sarif": "out/authorized_keys"} if way == "folder" else {}))
    assert (ended.code, "is a link in the project" in ended.err) == (2, True), ended.text
    assert "::notice" not in ended.out, "the job fails, and does not pass without a review"
    assert (keys.read_text() if keys.exists() else "") == ("" if way == "nothing yet" else KEYS)
    assert user.sessions == [], "nothing was spent"


@pytest.mark.parametrize("replayed", [True, False], ids=["a review", "no key"])
def test_nothing_is_written_into_the_checkout_but_the_sarif_file(user: User, replayed: bool) -> None:
    other = user.write("other.md", "Precious.")
    os.link(other, user.work / "council.sarif")
    (user.work / "STATE").symlink_to(user.root)
    (user.work / "review.md").symlink_to(other)
    act(user, replayed=replayed)
    assert {path.name for path in user.work.iterdir()} == {
        "council.sarif", "sessions.md", "script.json", "other.md", "STATE", "review.md",
    }  # fmt: skip
    assert other.read_text() == "Precious.", "another name of the same file keeps its content"
    assert json.loads((user.work / "council.sarif").read_text())["version"] == "2.1.0"


def test_a_list_that_a_pull_request_brought_is_not_taken_for_the_reviews(user: User) -> None:
    user.write("council.sarif", '{"version": "2.1.0", "runs": []}')
    assert act(user, "missing.md").code == 2
    assert not (user.work / "council.sarif").exists()


@pytest.mark.parametrize("home", ["home", "{work}/home"])
def test_a_home_in_the_checkout_is_refused(user: User, home: str) -> None:
    """There a pull request would choose the endpoint, and the first file that is written."""
    ended = act(user, env={"COUNCIL_HOME": home.format(work=user.work)})
    assert (ended.code, "COUNCIL_HOME is in the checkout" in ended.err) == (2, True), ended.text
    assert not (user.work / "home").exists()


def test_at_the_maximum_cost_what_was_found_is_still_reported(user: User) -> None:
    usage = {"input_tokens": 100, "output_tokens": 20_000}
    with FakeApi(Table(user, reviewing.words(), usage=usage)) as api:
        env = {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": api.url}
        ended = act(user, replayed=False, speaker="anthropic", max_cost="0.85", env=env)
    assert ended.code == 5, ended.text
    assert "--max-cost" in ended.err
    assert sarif(user) != []
    assert "finding" in (user.root / "summary").read_text()
    assert (user.root / "output").read_text() == f"session={user.session}\n"


def test_a_key_that_is_refused_fails_the_job(user: User) -> None:
    with FakeApi(lambda _: Answer(fault="status", status=401)) as api:
        env = {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": api.url}
        ended = act(user, replayed=False, speaker="anthropic", env=env)
    assert ended.code == 4, ended.text
    assert sarif(user) == []


def test_what_the_review_prints_is_no_command_to_the_runner(user: User) -> None:
    name = "x\n::add-mask::y.md"
    ended = act(user, "missing\r::set-output name=a::b.md\n")
    between = ended.out.split("::stop-commands::")[1].splitlines()
    assert between[1] == f"::{between[0]}::"
    assert name not in ended.out
    assert os.linesep + "::set-output" not in ended.err
