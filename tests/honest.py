"""Candidates and tests as people write them, which no guard may take for cheating. All of them are green."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Honest:
    """`tests` pass on `tree`. `passed` is how many count, where some are skipped or not of the file."""

    name: str
    tree: Mapping[str, str]
    tests: Mapping[str, str]
    passed: int
    bench: str = "pytest"
    base: Mapping[str, str] = field(default_factory=dict)


ADD = {"solution.py": "def add(a, b):\n    return a + b\n"}
ASYNC_PLUGIN = """
import asyncio, inspect, pytest
@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    if inspect.iscoroutinefunction(pyfuncitem.obj):
        names = pyfuncitem._fixtureinfo.argnames
        asyncio.run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names}))
        return True
def pytest_addoption(parser):
    parser.addini("async_mode", "how")
"""
PROJECTS = [
    Honest("fixtures, parametrize, classes", ADD, {"tests/test_add.py": """
import pytest
from solution import add
@pytest.fixture(params=[1, 2])
def number(request):
    yield request.param
@pytest.fixture(autouse=True, scope="module")
def ready():
    yield
@pytest.mark.parametrize(("a", "b"), [(1, 2), pytest.param(3, 4, id="big")])
def test_pair(a, b):
    assert add(a, b) == a + b
def test_number(number):
    assert add(number, 0) == number
class TestIt:
    @pytest.fixture
    def three(self):
        return 3
    def test_three(self, three):
        assert add(1, 2) == three
    class TestInner:
        def test_inner(self):
            assert add(1, 1) == 2
"""}, 6),
    Honest("what pytest gives a test", ADD, {"tests/test_add.py": """
import logging, os, sys, warnings
import pytest
import solution
from solution import add
def test_files(tmp_path, tmp_path_factory):
    (tmp_path / "a").write_text(str(add(1, 2)))
    assert (tmp_path / "a").read_text() == "3"
def test_output(capsys, caplog):
    print(add(1, 2))
    logging.getLogger("x").warning("careful")
    assert capsys.readouterr().out == "3\\n"
    assert caplog.messages == ["careful"]
def test_patching(monkeypatch):
    monkeypatch.setattr(solution, "add", lambda a, b: 0)
    monkeypatch.setattr("builtins.len", lambda x: 7)
    monkeypatch.setenv("A", "b")
    monkeypatch.setattr(os, "getcwd", lambda: "/here")
    assert solution.add(1, 2) == 0 and len([]) == 7 and os.getcwd() == "/here"
def test_warning(recwarn):
    with pytest.warns(UserWarning, match="old"):
        warnings.warn("old", UserWarning)
def test_about():
    assert 0.1 + 0.2 == pytest.approx(0.3)
    assert {"a": 0.1 + 0.2} == pytest.approx({"a": 0.3})
"""}, 5),
    Honest("subtests and unittest's ways", ADD, {"tests/test_add.py": """
import unittest
from unittest import mock
from solution import add
def setUpModule():
    global ready
    ready = 1
ready = 0
class Base(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.two = 2
    def check(self, a, b):
        self.assertEqual(add(a, b), a + b)
class TestAdd(Base):
    def test_many(self):
        for number in range(3):
            with self.subTest(number=number):
                self.check(number, self.two)
    @mock.patch("solution.add", return_value=9)
    def test_mock(self, fake):
        import solution
        self.assertEqual(solution.add(1, 1), 9)
        fake.assert_called_once_with(1, mock.ANY)
    @unittest.skip("not today")
    def test_skipped(self):
        self.fail()
    @unittest.expectedFailure
    def test_known(self):
        self.assertEqual(1, 2)
    def test_module(self):
        self.assertEqual(ready, 1)
        self.assertAlmostEqual(add(0.1, 0.2), 0.3)
        self.assertRaisesRegex(TypeError, "unsupported", add, 1, "x")
        with self.assertLogs() as logs:
            __import__("logging").warning("hm")
        self.assertIn("hm", logs.output[0])
class TestAsync(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self):
        self.one = 1
    async def test_async(self):
        self.assertEqual(add(self.one, 1), 2)
"""}, 4, "unittest"),
    Honest("subtests, inherited tests and skipped classes with pytest", ADD, {"tests/test_add.py": """
import sys
import unittest
import pytest
from solution import add
class TestSmall:
    two = 2
    def test_two(self):
        assert add(1, 1) == self.two
class TestSame(TestSmall):
    def test_more(self):
        assert add(self.two, 1) == 3
class TestSubtests(unittest.TestCase):
    def test_many(self):
        for number in range(3):
            with self.subTest(number=number):
                self.assertEqual(add(number, 1), number + 1)
@pytest.mark.skipif(sys.platform == "linux", reason="elsewhere")
class TestElsewhere:
    def test_it(self):
        assert False
@pytest.fixture
def test_case():
    return 3
def test_fixture(test_case):
    assert add(1, 2) == test_case
"""}, 5),
    Honest("signatures of functions of the tests", {"solution.py": """
import asyncio, functools, inspect
def count(function): return len(inspect.signature(function).parameters)
def is_async(function): return inspect.iscoroutinefunction(function) or asyncio.iscoroutinefunction(function)
def twice(function):
    @functools.wraps(function)
    def call(*args): return function(*args) * 2
    return call
"""}, {"tests/test_it.py": """
import pytest
from solution import count, is_async, twice
@pytest.mark.parametrize("x", [1])
def test_count(x):
    async def later(a): ...
    assert count(lambda a, b=1, *, c=2: 0) == 3 and count(later) == 1
    assert is_async(later) and not is_async(len)
    assert twice(lambda a: a)(4) == 8 and count(twice(lambda a: a)) == 1
"""}, 1),
    Honest("conftest.py and packages of tests", ADD, {
        "tests/__init__.py": "", "tests/conftest.py": "import pytest\n@pytest.fixture\ndef two():\n    return 2\n",
        "tests/helpers.py": "def same(a, b):\n    assert a == b\n",
        "tests/unit/__init__.py": "",
        "tests/unit/test_add.py": "from solution import add\nfrom ..helpers import same\nfrom tests import helpers\n"
        "def test_add(two):\n    same(add(1, two), 3)\n",
        "tests/test_add.py": "from solution import add\ndef test_add(two, three):\n    assert add(1, two) == three\n",
        "conftest.py": "import pytest\n@pytest.fixture\ndef three():\n    return 3\n",
    }, 2),
    Honest("a package of tests in a folder that is none", ADD, {
        "tests/test_it/__init__.py": "", "tests/test_it/unit/__init__.py": "TWO = 2\n",
        "tests/test_it/unit/test_add.py": "from solution import add\nfrom test_it.unit import TWO\n"
        "def test_add(tmp_path):\n    assert add(1, TWO) == 3\n",
        "tests/test_it/test_add.py": "from solution import add\nfrom . import unit\n"
        "def test_add():\n    assert add(1, unit.TWO) == 3\n",
    }, 2),
    Honest("two conftest.py without packages", ADD, {
        "tests/conftest.py": "import pytest\n@pytest.fixture\ndef two(three):\n    return three - 1\n",
        "tests/test_add.py": "from solution import add\ndef test_add(two, three):\n    assert add(1, two) == three\n",
        "conftest.py": "import pytest\n@pytest.fixture\ndef three():\n    return 3\n",
    }, 1),
    Honest("classes that are not collected beside those that are", ADD, {"tests/test_add.py": """
import unittest
from solution import add
class Adding:
    def test_small(self):
        assert add(1, 2) == 3
class Only(Adding, unittest.TestCase):
    pass
class TestBase:
    __test__ = False
    def test_base(self):
        assert add(0, 0) == 0
class TestMore(TestBase):
    __test__ = True
    def test_more(self):
        assert add(1, 1) == 2
"""}, 3),
    Honest("unittest in a package", ADD, {
        "tests/__init__.py": "", "tests/helpers.py": "TWO = 2\n",
        "tests/test_add.py": "import unittest\nfrom solution import add\nfrom .helpers import TWO\n"
        "class TestIt(unittest.TestCase):\n    def test_it(self):\n        self.assertEqual(add(1, TWO), 3)\n",
    }, 1, "unittest"),
    Honest("skipped and expected failures", ADD, {"tests/test_add.py": """
import sys
import pytest
from solution import add
@pytest.mark.skip(reason="later")
def test_later():
    assert False
@pytest.mark.skipif(sys.platform == "linux", reason="not here")
def test_windows():
    assert False
@pytest.mark.xfail(reason="known")
def test_known():
    assert add(1, 2) == 4
def test_add():
    assert add(1, 2) == 3
"""}, 1),
    Honest("src layout with data files", {
        "src/shop/__init__.py": "from shop.prices import price\n",
        "src/shop/prices.py": "import json\nfrom importlib import resources\n"
        "def price(name):\n    return json.loads(resources.files('shop').joinpath('prices.json').read_text())[name]\n",
        "src/shop/prices.json": '{"tea": 3}',
        "pyproject.toml": "[tool.pytest.ini_options]\naddopts = '--strict-markers --doctest-modules --cov=shop'\n"
        "testpaths = ['tests']\nfilterwarnings = ['error']\n"
        "junit_family = 'xunit2'\ndoctest_optionflags = 'ELLIPSIS'\n",
    }, {"tests/test_shop.py": "import pytest\nfrom shop import price\n"
        "def test_price(tmp_path):\n    assert price('tea') == 3\n"}, 1),
    Honest("processes and threads", {"solution.py": """
import subprocess, sys, threading, concurrent.futures, multiprocessing, signal, asyncio
def double(x): return 2 * x
def by_process():
    return subprocess.run([sys.executable, "-c", "print(6)"], capture_output=True, text=True).stdout.strip()
def by_thread():
    found = []
    thread = threading.Thread(target=lambda: found.append(6)); thread.start(); thread.join()
    return found
def by_pool():
    with concurrent.futures.ThreadPoolExecutor() as pool:
        return list(pool.map(double, range(3)))
def by_processes():
    with multiprocessing.get_context("fork").Pool(2) as pool:
        return pool.map(double, [1, 2])
def by_signal():
    heard = []
    before = signal.signal(signal.SIGUSR1, lambda number, frame: heard.append(number))
    signal.raise_signal(signal.SIGUSR1)
    handler = signal.getsignal(signal.SIGUSR1)
    signal.signal(signal.SIGUSR1, before)
    return heard == [signal.SIGUSR1] and callable(handler) and before == signal.SIG_DFL
async def by_async():
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", "print(6)", stdout=asyncio.subprocess.PIPE)
    out, _ = await asyncio.wait_for(process.communicate(), 20)
    return out.decode().strip()
"""}, {"tests/test_it.py": """
import asyncio, pytest, solution
def test_process(): assert solution.by_process() == "6"
def test_thread(): assert solution.by_thread() == [6]
def test_pool(): assert solution.by_pool() == [0, 2, 4]
def test_processes(): assert solution.by_processes() == [2, 4]
def test_signal(): assert solution.by_signal()
def test_async(): assert asyncio.run(solution.by_async()) == "6"
"""}, 6),
    Honest("libraries that look at frames", {"solution.py": """
import collections, contextlib, dataclasses, enum, functools, inspect, logging, traceback, typing, warnings
Point = collections.namedtuple("Point", "x y")
class Color(enum.Enum):
    RED = 1
@dataclasses.dataclass(order=True)
class Item:
    name: str
    price: float = 0.0
    def __eq__(self, other): return isinstance(other, Item) and self.name == other.name
class Money:
    def __init__(self, cents): self.cents = cents
    def __eq__(self, other): return self.cents == getattr(other, "cents", other)
    def __hash__(self): return hash(self.cents)
    def __lt__(self, other): return self.cents < other.cents
def log():
    logging.getLogger("x").warning("hm", stack_info=True)
    warnings.warn("old", DeprecationWarning, stacklevel=2)
def fail():
    try:
        1 / 0
    except ZeroDivisionError:
        return traceback.format_exc()
@contextlib.contextmanager
def within():
    yield 1
def count():
    yield from range(3)
@functools.lru_cache
def known(x): return x
def signature(): return str(inspect.signature(known))
T = typing.TypeVar("T")
class Box(typing.Generic[T]): ...
class Typed(typing.NamedTuple):
    a: int
"""}, {"tests/test_it.py": """
import pytest
from solution import *
def test_values():
    assert Point(1, 2) == (1, 2)
    assert Color.RED is Color(1)
    assert Item("a", 1) == Item("a", 2) and Item("a") != Item("b")
    assert Money(5) == Money(5) and Money(5) == 5 and not Money(5) == 6
    assert [Money(5), Money(6)] == [5, 6]
    assert Money(5) in [Money(5)] and sorted([Money(2), Money(1)]) == [Money(1), Money(2)]
    assert Typed(1) == (1,)
def test_logging():
    with pytest.warns(DeprecationWarning):
        log()
def test_rest():
    assert "ZeroDivisionError" in fail()
    with within() as one:
        assert one == 1
    assert list(count()) == [0, 1, 2]
    assert known(3) == 3 and signature() == "(x)"
"""}, 3),
    Honest("a test file with state of its own", ADD, {"tests/test_add.py": """
from solution import add
COUNT = 0
SEEN = []
def setup_module(module):
    module.EXTRA = 1
def note(x):
    global COUNT
    COUNT += 1
    SEEN.append(x)
def test_one():
    note(add(1, 2))
    assert SEEN == [3] and COUNT == 1 and EXTRA == 1
def test_two():
    note(add(1, 2))
    assert COUNT == 2
"""}, 2),
    Honest("programs and tests that replace parts of the library", {"solution.py": """
import concurrent.futures, json, logging, multiprocessing, sys, threading, time
class Loud(logging.Logger):
    def trace(self, text): self.warning(text)
logging.setLoggerClass(Loud)
logging.Logger.verbose = lambda self, text: self.info(text)
json.JSONEncoder.default = lambda self, value: str(value)
sys.excepthook = threading.excepthook = lambda *args: None
def now(): return time.time()
def double(x): return 2 * x
"""}, {"tests/test_it.py": """
import asyncio, concurrent.futures, json, logging, multiprocessing, random, tempfile, threading, time, urllib.request
from unittest import mock
import solution
def work(queue): queue.put(str(solution.double(4)))
def test_given(monkeypatch):
    monkeypatch.setattr(time, "time", lambda: 3)
    assert solution.now() == 3
def test_mocked():
    with mock.patch("time.time", return_value=4):
        assert solution.now() == 4
def test_set_by_hand():
    real = time.time
    time.time = lambda: 5
    try:
        assert solution.now() == 5
    finally:
        time.time = real
def test_other_processes():
    fork = multiprocessing.get_context("fork")
    queue = fork.Queue()
    fork.Process(target=work, args=(queue,)).start()
    assert queue.get(timeout=20) == "8"
    with concurrent.futures.ThreadPoolExecutor() as pool:
        assert pool.submit(solution.double, 2).result() == 4
def test_what_the_library_replaces_itself():
    random.seed(1)
    urllib.request.install_opener(urllib.request.build_opener())
    asyncio.set_event_loop_policy(asyncio.DefaultEventLoopPolicy())
    assert asyncio.run(asyncio.sleep(0, 1)) == 1
    assert json.dumps({1: {2}}) == '{"1": "{2}"}' and tempfile.gettempdir()
    assert isinstance(logging.getLogger("loud"), solution.Loud)
"""}, 5),
    Honest("a module named like one of the library", {"calendar.py": "def add(a, b):\n    return a + b\n"}, {
        "tests/test_add.py": "import calendar\ndef test_add():\n    assert calendar.add(1, 2) == 3\n",
    }, 1, base={"calendar.py": ""}),
    Honest("plain functions that return early", ADD, {"tests/test_add.py": """
from solution import add
def test_early():
    if add(1, 2) == 3:
        return
    assert False
def test_loop():
    for a, b in [(1, 2), (3, 4)]:
        assert add(a, b) == a + b
    else:
        return None
def test_error():
    try:
        add(1, "x")
    except TypeError:
        pass
    else:
        raise AssertionError("no error")
"""}, 3),
]  # fmt: skip
WITH_PLUGIN = Honest("async tests with a plugin of the project's environment", ADD | {"pytest.ini": ""}, {
    "tests/test_add.py": "from solution import add\nimport asyncio\nasync def test_add(tmp_path):\n"
    "    await asyncio.sleep(0)\n    assert add(1, 2) == 3\n"
}, 1, base={"pytest.ini": "[pytest]\nasync_mode = auto\nfilterwarnings = error\n"})  # fmt: skip
