"""Options of the test suite; and asserts of the helper modules explain themselves as those of the tests do."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import HealthCheck, settings

pytest.register_assert_rewrite("tests")

from tests import rooms  # noqa: E402 (its asserts, too)

gc.disable()  # until everything is collected: nothing of that is garbage

# What council obeys of its environment. A test that is about one of these sets it itself.
OBEYED = (
    "CI",
    "COUNCIL_CLAUDE",
    "COUNCIL_GGUF",
    "COUNCIL_HOME",
    "COUNCIL_SPEAKER",
    "NO_COLOR",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
)


@pytest.fixture(autouse=True)
def no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test shows does not depend on who calls it: a person, or CI, which sets CI."""
    for name in {*OBEYED} & os.environ.keys():
        monkeypatch.delenv(name)


@pytest.fixture(autouse=True, scope="session")
def no_waiting_for_disks() -> Iterator[None]:
    """No test pulls the plug, so none waits in this process until the disk has what was written: that would be most of
    the suite's time. What the disk is asked to do, and in which order, is what test_crash.py looks at."""
    with mock.patch.object(os, "fsync", os.fstat):  # it refuses what is no open file, too
        yield


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--fast", action="store_true", help="only the pure rooms, and of those no test that is slow")

    parser.addoption("--full", action="store_true", help="also the tests that are too long for every run")


def pytest_configure(config: pytest.Config) -> None:
    """With --fast, properties are tried on fewer examples, where the test does not say on how many."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # by a shell that runs this in the background
        signal.signal(signal.SIGINT, signal.default_int_handler)  # and so do the processes that tests interrupt
    # How busy a machine is says nothing about a property.
    patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.register_profile("patient", patient)
    settings.register_profile("fast", patient, max_examples=15)
    settings.load_profile("fast" if config.getoption("--fast") else "patient")


def pytest_collection_finish(session: pytest.Session) -> None:
    gc.freeze()  # and no full collection looks through it
    gc.set_threshold(50_000)  # of all that tests make, little is in cycles
    gc.enable()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """With --fast, modules of other rooms are not even imported."""
    pure = {rooms.module(name) for name in rooms.PURE}
    if config.getoption("--fast") and collection_path.name.startswith("test_") and collection_path not in pure:
        return True
    return None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--full"):
        full = [item for item in items if item.get_closest_marker("full")]
        items[:] = [item for item in items if item not in full]
        config.hook.pytest_deselected(items=full)
    if config.getoption("--fast"):
        slow = [item for item in items if item.get_closest_marker("slow")]
        items[:] = [item for item in items if item not in slow]
        config.hook.pytest_deselected(items=slow)
