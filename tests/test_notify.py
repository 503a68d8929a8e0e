"""Notifications: delivered by a process of their own, to nobody but whom the user named, with nothing that was said."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from unittest import mock

import pytest

from council.config.notifications import Notifications, read
from council.errors import UsageError
from council.runner import notifier, notify
from tests import gates
from tests.coding import wait_until
from tests.helpers import PATIENCE, User, agreed, script
from tests.mcp_client import serving
from tests.terminal import Running
from tests.webhook import Hook

FACTS = {"event": "needed", "session": "s", "state": "waiting", "at": "now"}
REPLAY = ("--speaker", "replay", "--from", "script.yaml")
SECRET = "What nobody else may read"


@pytest.fixture
def hook() -> Iterator[Hook]:
    hook = Hook()
    thread = threading.Thread(target=hook.server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield hook
    hook.server.shutdown()
    thread.join()
    hook.server.server_close()


@pytest.fixture
def user(tmp_path: Path) -> User:
    user = User(tmp_path)
    script(user, agreed())
    return user


def wait_for(path: Path) -> str:
    until = time.monotonic() + PATIENCE
    while not (path.exists() and path.read_text("utf-8").endswith("\n")):
        assert time.monotonic() < until, f"{path.name} never came"
        time.sleep(0.01)
    return path.read_text("utf-8")


# ---- what Config.md may say ----

GOOD = [
    {}, {"bell": True}, {"command": ["notify-send", "x"]}, {"webhook": "https://example.org/hook?token=x"},
    {"webhook": "http://127.0.0.1:80/"}, {"webhook": "http://[::1]:80/"}, {"webhook": "http://localhost/x"},
]  # fmt: skip
BAD = [
    ({"bel": True}, 'did you mean "bell"'),
    ({"bell": "loud"}, "true or false"),
    ({"command": "notify-send x"}, "a list of words"),
    ({"command": [""]}, "a list of words"),
    ({"command": ["x", ["y"]]}, "a list of words"),
    ({"webhook": "http://example.org/"}, "only for this machine"),
    ({"webhook": "http://127.0.0.1.example.org/"}, "only for this machine"),
    ({"webhook": "http://localhost@example.org/"}, "only for this machine"),
    ({"webhook": "http://10.0.0.1/"}, "only for this machine"),
    ({"webhook": "ftp://example.org"}, "not an address"),
    ({"webhook": "file:///etc/passwd"}, "not an address"),
    ({"webhook": "https://"}, "not an address"),
    ({"webhook": "https://example.org:99999/"}, "not an address"),
    ({"webhook": "https://example.org/\r\nHost: x"}, "not an address"),
    ({"webhook": ["https://example.org"]}, "must be an address"),
    ("bell", "keys with values"),
]


@pytest.mark.parametrize("keys", GOOD, ids=str)
def test_what_can_be_delivered_is_taken(keys: dict[str, object]) -> None:
    assert isinstance(read(keys, "notify"), Notifications)


@pytest.mark.parametrize(("keys", "why"), BAD, ids=[str(keys)[:50] for keys, _ in BAD])
def test_what_cannot_be_delivered_safely_is_refused(keys: object, why: str) -> None:
    with pytest.raises(UsageError, match=why) as refused:
        read(keys, "notify")
    assert "token" not in str(refused.value)


# ---- delivery ----


def test_a_command_gets_the_facts_in_its_environment_and_as_json_and_no_shell_reads_it(tmp_path: Path) -> None:
    out = tmp_path / "out"
    code = "import os, sys; open(sys.argv[1], 'w').write(os.environ['COUNCIL_STATE'] + sys.stdin.read() + sys.argv[2])"
    words = [sys.executable, "-c", code, str(out), "; touch x $(id) `id`"]
    assert notifier.deliver(words, "", FACTS) == []
    assert out.read_text("utf-8") == "waiting" + json.dumps(FACTS) + words[-1]


def test_what_goes_wrong_is_said_without_the_address(hook: Hook) -> None:
    assert notifier.run(["/nowhere/program"], b"", FACTS) == "the command cannot be started: No such file or directory"
    assert notifier.run(["false"], b"", FACTS) == "the command ended with exit code 1"
    hook.code = 500
    assert notifier.post(hook.url, b"{}") == "the webhook answered with 500"
    free = Hook()
    free.server.server_close()
    assert notifier.post(free.url, b"{}") == "the webhook cannot be reached: ConnectionRefusedError"


def test_a_command_that_hangs_is_killed_with_what_it_started(tmp_path: Path) -> None:
    pids = tmp_path / "pid"
    with mock.patch.object(notifier, "PATIENCE", 0.3):
        said = notifier.run(["sh", "-c", f"sleep 600 & echo $! > {pids}; wait"], b"", FACTS)
    assert said == "the command did not end within 0.3 s"
    assert ended(int(pids.read_text("utf-8")))


def ended(pid: int) -> bool:
    """Whether a process is gone, or waits to be collected by whoever inherited it."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        try:
            if Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(") ")[2].startswith("Z"):
                return True
        except OSError:
            return True
        time.sleep(0.01)
    return False


def test_a_redirect_is_not_followed(hook: Hook) -> None:
    hook.code, hook.location = 307, f"{hook.url}/elsewhere"
    assert notifier.post(hook.url, b"{}") == "the webhook answered with 307"
    assert hook.paths == ["/hook"]


# ---- as a user ----


def test_a_run_says_that_it_needs_a_person_and_that_it_has_ended_and_nothing_else(user: User, hook: Hook) -> None:
    user.configure(f"notify: {{webhook: '{hook.url}'}}")
    assert user.council("run", "--gate", "challenges", SECRET, *REPLAY).code == 8
    (first,) = hook.wait(1)
    user.council("record", "last", "02-challenges-gate/human", "--answer", "gate=approve")
    assert user.council("recover").code == 0
    last = hook.wait(1)[-1]
    assert {**first, "at": ""} == {"event": "needed", "session": user.session.name, "state": "waiting", "at": ""}
    assert {**last, "at": ""} == {"event": "ended", "session": user.session.name, "state": "complete", "at": ""}
    assert user.council("recover").code == 0
    user.configure(f"notify: {{webhook: '{hook.url}', content: true}}")
    assert user.council("run", SECRET, *REPLAY).code == 0
    assert hook.wait(1)[-1]["topic"] == SECRET
    assert len(hook.got) == 3, "what was complete before has not ended again"


def test_by_hand_a_members_reply_tells_that_a_person_is_needed_and_a_persons_own_answer_tells_nothing(
    user: User, hook: Hook
) -> None:
    user.configure(f"notify: {{webhook: '{hook.url}'}}")
    assert user.council("start", "--gate", "challenges", SECRET).code == 0
    words, gate = agreed(), "02-challenges-gate/human"

    def answer_members() -> None:
        while members := [row["turn"] for row in user.council("next", "--json").json["due"] if not row["person"]]:
            for turn in members:
                assert user.council("record", "last", turn, stdin=words[turn]).code == 0

    answer_members()
    (first,) = hook.wait(1)
    assert (first["event"], first["state"]) == ("needed", "waiting")
    assert user.council("record", "last", gate, "--answer", "gate=approve").code == 0
    with serving(user) as server:
        for row in user.council("next", "--json").json["due"]:
            server.told("record", session=user.session.name, turn=row["turn"], reply=words[row["turn"]])
    answer_members()
    last = hook.wait(1)[-1]
    assert {**last, "at": ""} == {"event": "ended", "session": user.session.name, "state": "complete", "at": ""}
    assert user.council("next").code == 0
    assert len(hook.got) == 2


def test_a_run_that_is_stopped_sends_nothing(tmp_path: Path, hook: Hook) -> None:
    user = gates.make(tmp_path)
    user.configure(f"notify: {{webhook: '{hook.url}'}}")
    with gates.waiting(user) as run:
        assert [one["event"] for one in hook.wait(1)] == ["needed"]
        run.send_signal(signal.SIGINT)
        assert run.wait(PATIENCE) == 130
    assert user.council("record", "last", gates.GATE, "--answer", "decision=reject").code == 0
    assert len(hook.got) == 1


def test_nothing_that_fails_there_fails_or_delays_a_run(user: User) -> None:
    free = Hook()
    free.server.server_close()
    user.configure(f"notify: {{command: [sleep, '600'], webhook: '{free.url}'}}")
    began = time.monotonic()
    assert user.process("run", "Shall we?", *REPLAY).code == 0
    assert time.monotonic() - began < notifier.PATIENCE, "the command was still running then"


def test_a_process_that_goes_on_keeps_none_of_those_that_delivered(tmp_path: Path) -> None:
    said = tmp_path / "said"
    notify.send(Notifications(command=("touch", str(said))), {"event": "ended"})
    assert wait_until(said.exists)
    children = Path(f"/proc/self/task/{os.getpid()}/children")
    assert wait_until(lambda: not any("Z" in _state(child) for child in children.read_text().split()))


def _state(child: str) -> str:
    with suppress(OSError):
        return Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()[0]
    return ""


def test_two_runs_at_once_and_ctrl_c_leave_each_notification_whole(user: User, hook: Hook) -> None:
    user.configure(f"notify: {{webhook: '{hook.url}'}}")
    running = [user.spawn("run", "Shall we?", "--gate", "challenges", *REPLAY) for _ in range(2)]
    assert [run.wait(PATIENCE) for run in running] == [8, 8]
    for run in running:
        run.communicate()
    assert {got["event"] for got in hook.wait(2)} == {"needed"}
    assert len({got["session"] for got in hook.got}) == 2


def test_the_process_that_delivers_ignores_the_folder_and_ends_when_it_is_stopped(tmp_path: Path, hook: Hook) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit('taken over')", "utf-8")
    words = [sys.executable, "-I", notifier.__file__]
    order = json.dumps({"command": [], "webhook": hook.url, "facts": FACTS}).encode()
    assert subprocess.run(words, input=order, cwd=tmp_path, check=True, timeout=PATIENCE).returncode == 0
    assert hook.wait(1) == [FACTS]
    with subprocess.Popen(words, stdin=subprocess.PIPE) as waiting:
        waiting.send_signal(signal.SIGINT)
        assert waiting.stdin
        waiting.stdin.close()
        assert waiting.wait(PATIENCE) != 0


def test_a_project_names_no_command_and_no_webhook(user: User, hook: Hook) -> None:
    user.write(".council/Config.md", f"---\nnotify: {{webhook: '{hook.url}'}}\n---\n")
    assert "a project may set only protocols and limits" in user.council("run", "Shall we?", *REPLAY).err
    assert user.council("run", "Shall we?", *REPLAY, CI="1").code == 0
    assert hook.got == []


def test_the_bell_rings_only_at_a_terminal(user: User) -> None:
    user.configure("notify: {bell: true}")
    with Running(user, "run", *REPLAY, "Shall we?") as console:
        assert "\a" in console.end()[1]
    assert "\a" not in user.council("run", "Shall we?", *REPLAY).err


def test_doctor_sends_a_test_and_says_what_went_wrong(user: User, hook: Hook) -> None:
    assert "notification" not in user.council("doctor").out
    assert "-     notification: no command and no webhook" in user.council("doctor", "--notify").out
    user.configure(f"notify: {{command: ['true'], webhook: '{hook.url}'}}")
    assert "ok    notification: the command ran and the webhook took it" in user.council("doctor", "--notify").out
    hook.code = 404
    assert "FAIL  notification: the webhook answered with 404" in user.council("doctor", "--notify").out
