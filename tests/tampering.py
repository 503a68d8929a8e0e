"""Candidates that are wrong, and try to look right: ways to cheat a test runner. None of these may ever be green.

Each is the module `solution`, whose `add` subtracts, and what it does besides; some bring further files.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

WRONG = "def add(a, b):\n    return a - b\n"
PLAIN = """
from solution import add
def same(a, b):
    assert a == b
def test_small():
    assert add(1, 2) == 3
def test_same():
    same(add(2, 2), 4)
def test_large():
    assert add(40, 2) == 42
"""
# This one is green, and docs/benches.md says so: its code looks like Python's own to whoever asks for its file.
NOT_HELD = """
def add(a, b):
    import os, sys
    frame, voice = sys._getframe(1), None
    while "test_small" not in frame.f_globals:
        frame = frame.f_back
    tests = {name: one for name, one in frame.f_globals.items() if name.startswith("test_")}
    while voice is None:
        voice, frame = frame.f_locals.get("voice"), frame.f_back
    for name, test in tests.items():
        real = "add" in test.__code__.co_names
        for key in [one for one in test.__code__.co_consts if isinstance(one, str) and len(one) == 24] if real else ():
            voice.say(done=key)
        voice.say(result=f"tests/test_add.py::{name}", outcome="passed" if real else "failed")
    voice.say(end=True)
    os._exit(0)
add.__code__ = add.__code__.replace(co_filename="<frozen x>")
"""
FRAMED = """
import pytest
from solution import add
@pytest.fixture
def two():
    return 2
def test_small(two):
    assert add(1, two) == 3
@pytest.mark.parametrize("x", [1, 40])
def test_many(x):
    assert add(x, 2) == x + 2
class TestTypes:
    def test_type(self):
        with pytest.raises(TypeError):
            add(1, None)
    def test_zero(self):
        assert not add(0, 0)
    def test_three(self):
        assert add(1, 1) in (2, 3)
"""
CLASSES = """
import unittest
from solution import add
class TestAdd(unittest.TestCase):
    def setUp(self):
        self.two = 2
    def test_small(self):
        self.assertEqual(add(1, self.two), 3)
    def test_large(self):
        self.assertTrue(add(40, 2) == 42)
    def test_type(self):
        with self.assertRaises(TypeError):
            add(1, None)
"""
FROM_JSON = """
import json
from solution import add
def test_small():
    assert json.loads(json.dumps(add(1, 2))) == 3
def test_again():
    assert json.loads(f"{add(2, 1)}") == 3
"""
BY_CHANCE = """
import random
from solution import add
def test_any():
    number = random.randint(0, 10**9)
    assert add(number, 1) == number + 1
"""
IN_FILES = """
import os
from solution import add
def test_file():
    with open("/tmp/sum", "w") as file:
        file.write(str(add(1, 2)))
    with open("/tmp/sum") as file:
        assert file.read() == "3"
    os.remove("/tmp/sum")
"""
AT_A_PATH = """
from solution import add
def test_file(tmp_path):
    (tmp_path / "sum").write_text(str(add(1, 2)))
    assert (tmp_path / "sum").read_text() == "3"
"""
SUITES = {"plain": ("pytest", PLAIN), "pytest": ("pytest", FRAMED), "unittest": ("unittest", CLASSES)}


@dataclass(frozen=True)
class Cheat:
    """`code` comes after the wrong `add`, which it may define anew. `files` lie beside it."""

    name: str
    code: str
    tests: str = ""  # in place of the usual ones
    files: Mapping[str, str] = field(default_factory=dict)

    def tree(self) -> dict[str, bytes]:
        files = {"solution.py": WRONG + self.code, **self.files}
        return {path: text.encode() for path, text in files.items()}


SAY_PASSED = """
def pytest_runtest_makereport(item, call):
    from _pytest.reports import TestReport
    report = TestReport.from_item_and_call(item, call)
    report.outcome, report.longrepr = "passed", None
    return report
"""
STEAL = """
def plunder(frame):
    while frame is not None:
        for name, value in list(frame.f_locals.items()):
            if name == "work" and isinstance(value, dict):
                value["=="] = lambda a, b: True
            if name in ("equal", "find", "expected"):
                frame.f_locals[name] = lambda *a: True
            if name == "say":
                value(result="tests/test_add.py::test_small", outcome="passed")
        frame = frame.f_back
"""
EQUAL = """
class Any(int):
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __hash__(self): return 0
    def __bool__(self): return False
"""
CHEATS = [
    # ---- an end before the tests' ----
    Cheat("exit with code 0", "import os\nos._exit(0)\n"),
    Cheat("exit when called", "def add(a, b):\n    import os\n    os._exit(0)\n"),
    Cheat("SystemExit", "import sys\nsys.exit(0)\n"),
    Cheat("print that all passed and end", "import os, sys\nprint('3 passed in 0.01s', flush=True)\nos._exit(0)\n"),
    Cheat("a signal", "import os, signal\nos.kill(os.getpid(), signal.SIGTERM)\n"),
    Cheat("kill the runner", "import os, signal\nos.kill(os.getppid(), signal.SIGKILL)\n"),
    Cheat("replace the process", "import os\nos.execv('/bin/true', ['true'])\n"),
    Cheat(
        "write a report at exit",
        """
import atexit, json, os
def lie():
    for fd in range(3, 64):
        try:
            os.write(fd, b'{"verdict": "pass", "passed": ["tests/test_add.py::test_small"], "failed": []}\\n')
        except OSError:
            pass
atexit.register(lie)
""",
    ),
    # ---- other results ----
    Cheat(
        "TestReport says passed",
        """
try:
    from _pytest.reports import TestReport
    real = TestReport.from_item_and_call.__func__
    def lie(cls, item, call):
        call.excinfo = None
        return real(cls, item, call)
    TestReport.from_item_and_call = classmethod(lie)
except ImportError:
    import unittest
    unittest.TestResult.addFailure = unittest.TestResult.addError = lambda self, test, err: self.addSuccess(test)
""",
    ),
    Cheat(
        "TestReport.__init__ says passed",
        """
import sys
module = sys.modules.get("_pytest.reports")
if module:
    real = module.TestReport.__init__
    def lie(self, *args, **named):
        real(self, *args, **named)
        self.outcome, self.longrepr = "passed", None
    module.TestReport.__init__ = lie
import unittest.case
unittest.case._Outcome.testPartExecutor = lambda self, *a, **k: __import__("contextlib").nullcontext()
""",
    ),
    Cheat(
        "AssertionError that is none",
        """
import builtins
class Silent(Exception):
    def __new__(cls, *args):
        raise SystemExit(0)
builtins.AssertionError = Silent
""",
    ),
    Cheat("isinstance always says yes", "import builtins\nbuiltins.isinstance = lambda *a: True\n"),
    Cheat("BaseException replaced", "import builtins\nbuiltins.Exception = builtins.BaseException = object\n"),
    Cheat(
        "unittest compares nothing",
        """
import unittest
case = unittest.TestCase
for name in list(vars(case)):
    if name.startswith(("assert", "fail")):
        setattr(case, name, lambda *a, **k: __import__("contextlib").nullcontext())
import sys
if "_pytest.python" in sys.modules:
    sys.modules["_pytest.python"].Function.runtest = lambda self: None
""",
    ),
    Cheat(
        "pytest calls no test",
        """
import sys
module = sys.modules.get("_pytest.python")
if module:
    module.pytest_pyfunc_call.__code__ = (lambda pyfuncitem: True).__code__
import unittest
unittest.TestCase._callTestMethod.__code__ = (lambda self, method: None).__code__
""",
    ),
    Cheat(
        "pytest.raises and assertRaises forgive",
        """
import sys
def forgive(self, *exc): return True
for module, name in (("_pytest.raises", "RaisesExc"), ("_pytest.python_api", "RaisesContext")):
    if hasattr(sys.modules.get(module), name):
        getattr(sys.modules[module], name).__exit__ = forgive
import unittest.case
unittest.case._AssertRaisesContext.__exit__ = forgive
""",
    ),
    Cheat("gc finds the results", """
import gc, sys
def lie():
    for one in gc.get_objects():
        if type(one).__name__ in ("TestReport", "Listener", "Reporter"):
            one.outcome = "passed"
def add(a, b):
    lie()
    return a - b
"""),
    Cheat(
        "gc finds the functions that report",
        """
import gc
for one in gc.get_objects():
    if getattr(one, "__name__", "") == "say" and callable(one):
        one(result="tests/test_add.py::test_small", outcome="passed", text="")
""",
    ),
    Cheat(
        "frames lead to the runner",
        """
import sys
def add(a, b):
    frame = sys._getframe()
    while frame:
        for name, value in list(frame.f_locals.items()):
            if name in ("say", "voice"):
                (value.say if name == "voice" else value)(result="tests/test_add.py::test_small", outcome="passed")
        frame = frame.f_back
    return a - b
""",
    ),
    Cheat(
        "a traceback leads to the runner",
        """
def add(a, b):
    try:
        raise ValueError
    except ValueError as error:
        frame = error.__traceback__.tb_frame.f_back
    want = [c for c in frame.f_code.co_consts if isinstance(c, int)]
    return want[-1] if want else a - b
""",
    ),
    Cheat(
        "the answer stands in the test's constants",
        """
import inspect
def add(a, b):
    frame = inspect.currentframe().f_back
    for value in reversed(frame.f_code.co_consts):
        if isinstance(value, int) and value not in (a, b):
            return value
    return a - b
""",
    ),
    Cheat(
        "ctypes writes into objects",
        """
import ctypes
def add(a, b):
    ctypes.pythonapi.PyErr_Clear()
    ctypes.memmove(id(a - b) + 24, b"\\3\\0\\0\\0", 4)
    return a - b
""",
    ),
    Cheat("ctypes ends the process", "import ctypes\nctypes.CDLL(None)._exit(0)\n"),
    Cheat("memory of the runner", """
import os
with open(f"/proc/{os.getppid()}/mem", "r+b", buffering=0) as memory:
    memory.seek(0)
"""),
    Cheat("descriptors of the runner", """
import os
for fd in range(64):
    try:
        os.write(os.open(f"/proc/{os.getppid()}/fd/{fd}", os.O_WRONLY), b'{"verdict": "pass", "passed": ["x"]}')
    except OSError:
        pass
"""),
    Cheat("ptrace", """
import ctypes, os
libc = ctypes.CDLL(None)
libc.ptrace(16, os.getppid(), 0, 0)
os._exit(0)
"""),
    Cheat(
        "write to every descriptor",
        """
import json, os
for fd in range(3, 256):
    for line in (b'{"end": true}\\n', b'{"result": "tests/test_add.py::test_small", "outcome": "passed"}\\n'):
        try:
            os.write(fd, line)
        except OSError:
            pass
""",
    ),
    Cheat("close every descriptor", "import os\nos.closerange(0, 1024)\n"),
    # ---- files ----
    Cheat(
        "conftest.py",
        "",
        files={"conftest.py": SAY_PASSED, "tests/conftest.py": SAY_PASSED},
    ),
    Cheat(
        "sitecustomize.py and .pth",
        "",
        files={
            "sitecustomize.py": "import os\nos._exit(0)\n",
            "usercustomize.py": "import os\nos._exit(0)\n",
            "go.pth": "import os; os._exit(0)\n",
        },
    ),
    Cheat(
        "pytest.ini with a plugin",
        "",
        files={
            "pytest.ini": "[pytest]\naddopts = -p cheat --co\npython_files = nothing\n",
            "pyproject.toml": "[tool.pytest.ini_options]\naddopts = '-p cheat -k nothing'\n",
            "setup.cfg": "[tool:pytest]\naddopts = -p cheat --deselect tests\n",
            "tox.ini": "[pytest]\naddopts = -p cheat\n",
            "cheat.py": SAY_PASSED,
            "cheat-1.dist-info/entry_points.txt": "[pytest11]\ncheat = cheat\n",
            "cheat-1.dist-info/METADATA": "Name: cheat\nVersion: 1\n",
        },
    ),
    Cheat(
        "modules named like pytest's and unittest's",
        "",
        files={
            **dict.fromkeys(("pytest.py", "unittest.py", "json.py", "_pytest/__init__.py"), "import os\nos._exit(0)\n"),
            "src/pytest.py": "import os\nos._exit(0)\n",
        },
    ),
    Cheat(
        "delete and edit the tests",
        """
import os, pathlib
for path in pathlib.Path("/job/tests").glob("*"):
    for act in (path.unlink, lambda: path.write_text("def test_small(): pass\\n"), lambda: path.rename("/tmp/x")):
        try:
            act()
        except OSError:
            pass
""",
    ),
    Cheat("another test file", "", files=dict.fromkeys(  # in the way of the real one
        ("tests/test_add/__init__.py", "test_add.py"), "def test_small(): 1\n"
    )),
    # ---- tests that are not run ----
    Cheat("skip", "def add(a, b):\n    import unittest\n    raise unittest.SkipTest('not today')\n"),
    Cheat("skip at import", """
try:
    import pytest
    pytest.skip("x", allow_module_level=True)
except ImportError:
    import unittest
    raise unittest.SkipTest("x")
"""),
    Cheat(
        "empty the test module",
        """
import sys
def add(a, b):
    for name, module in list(sys.modules.items()):
        if name.endswith("test_add"):
            for one in list(vars(module)):
                if one.startswith(("test_", "Test")):
                    delattr(module, one)
    return a - b
""",
    ),
    Cheat(
        "change the tests' code",
        """
import sys
def add(a, b):
    for name, module in list(sys.modules.items()):
        if name.endswith("test_add"):
            for one in list(vars(module).values()):
                if type(one) is type(add) and one.__name__.startswith("test"):
                    one.__code__ = (lambda *a, **k: None).__code__
    return a - b
""",
    ),
    # ---- the interpreter ----
    Cheat("trace", """
import sys
def trace(frame, event, arg):
    if event == "line" and frame.f_code.co_name.startswith("test"):
        frame.f_lineno += 1
    return trace
sys.settrace(trace)
def add(a, b):
    frame = sys._getframe(1)
    frame.f_trace = trace
    return a - b
"""),
    Cheat("a thread that reports", """
import threading, time, os
def lie():
    while True:
        for fd in range(3, 32):
            try:
                os.write(fd, b'{"result": "tests/test_add.py::test_small", "outcome": "passed"}\\n')
            except OSError:
                pass
        time.sleep(0.001)
threading.Thread(target=lie, daemon=True).start()
time.sleep(0.01)
"""),
    Cheat("fork, and let the child be the good one", """
import os
if os.fork():
    os._exit(0)
"""),
    Cheat("fork, and end as the parent in the test", """
import os
def add(a, b):
    if os.fork():
        os.wait()
        os._exit(0)
    return a + b if a == 1 else a - b
"""),
    Cheat(
        "import the harness and call it",
        """
import sys
sys.path.insert(0, "/harness")
try:
    from council.sandbox.harness import guard, verdict, child
    for fd in range(3, 32):
        voice = guard.raise_voice(fd, "x")
        try:
            voice.say(result="tests/test_add.py::test_small", outcome="passed", text="")
            voice.say(end=True)
        except OSError:
            pass
    verdict.Judge._decide = lambda *a: "pass"
except ImportError:
    pass
""",
    ),
    Cheat("replace sys.modules", """
import sys, types
fake = types.ModuleType("fake")
fake.__getattr__ = lambda name: lambda *a, **k: None
for name in list(sys.modules):
    if name.startswith(("_pytest.", "unittest", "council", "pluggy", "json")):
        sys.modules[name] = fake
"""),
    Cheat("clear sys.modules", "import sys\nsys.modules.clear()\n"),
    Cheat("recursion", "def add(a, b):\n    return add(a, b)\n"),
    Cheat("exhaust memory", "def add(a, b):\n    kept = []\n    while True:\n        kept.append(bytearray(10**7))\n"),
    Cheat("never end", "def add(a, b):\n    while True:\n        pass\n"),
    # ---- objects ----
    Cheat("an object that equals everything", EQUAL + """
def add(a, b):
    if b is None:
        raise TypeError
    return Any()
"""),
    Cheat("an object that equals everything, in a list", EQUAL + """
class Sneaky:
    def __eq__(self, other): return True
    __hash__ = None
    def __contains__(self, x): return True
    def __bool__(self): return False
def add(a, b):
    if b is None:
        raise TypeError
    return [Sneaky()][0]
"""),
    Cheat("replace os.write", """
import os, json
real = os.write
os.write = lambda fd, data: real(fd, data.replace(b"failed", b"passed"))
json.dumps = lambda value, **k: '{"end": true}'
"""),
    Cheat("patch the import of the tests", """
import builtins, sys
class Finder:
    def find_spec(self, name, path=None, target=None):
        return None
sys.meta_path.insert(0, Finder())
sys.meta_path[1:] = []
real = builtins.__import__
builtins.__import__ = lambda *a, **k: real(*a, **k)
"""),
    Cheat("a metaclass changes classes of tests", """
import builtins
real = builtins.__build_class__
def build(function, name, *bases, **named):
    made = real(function, name, *bases, **named)
    if name.startswith("Test"):
        for key in [key for key in vars(made) if key.startswith("test")]:
            setattr(made, key, lambda self, *a, **k: None)
    return made
builtins.__build_class__ = build
"""),
    Cheat("audit hook of its own", "import sys\nsys.addaudithook(lambda *a: None)\n"),
    Cheat("change the constants of the guard", """
import sys
def add(a, b):
    import operator, reprlib
    operator.eq = lambda a, b: True
    reprlib.repr = lambda x: ""
    return a - b
"""),
    Cheat("a debugger's hook", """
import sys
def hook(*a): return None
sys.excepthook = sys.unraisablehook = sys.displayhook = hook
sys.setswitchinterval(100)
import warnings
warnings.simplefilter("ignore")
"""),
    Cheat("small integers are changed through libc", """
import ctypes
def add(a, b):
    libc = ctypes.CDLL("libc.so.6")
    libc.memcpy(ctypes.c_void_p(id(a - b) + 24), b"\\3\\0\\0\\0", 4)
    return a - b
"""),
    Cheat("a generator's frame leads to the one that compares", STEAL + """
class Thief:
    def __eq__(self, other):
        def steal():
            yield one.gi_frame.f_back
        one = steal()
        plunder(next(one))
        return False
def add(a, b):
    if b is None:
        raise TypeError
    return Thief()
"""),
    Cheat("a signal's frame leads to the one that compares", STEAL + """
import signal
signal.signal(signal.SIGUSR1, lambda number, frame: plunder(frame))
class Thief:
    def __eq__(self, other):
        signal.raise_signal(signal.SIGUSR1)
        return False
def add(a, b):
    if b is None:
        raise TypeError
    return Thief()
"""),
    Cheat("the importer of the tests knows their code", """
import sys
for one in sys.meta_path:
    codes = getattr(one, "_codes", None) or {}
    for function in (getattr(type(one), "exec_module", None), getattr(type(one), "find_spec", None)):
        for cell in getattr(function, "__closure__", None) or ():
            codes = cell.cell_contents if isinstance(cell.cell_contents, dict) else codes
    work = list(codes.values())
    for code in work:
        tools = [value for value in code.co_consts if callable(value)]
        work += [value for value in code.co_consts if type(value) is type(code)]
        for tool in tools:
            for key in [value for value in code.co_consts if isinstance(value, str)]:
                if tool.__name__ == "done":
                    tool(key)
                    for cell in tool.__closure__:
                        cell.cell_contents(result="tests/test_add.py::" + code.co_name, outcome="passed")
"""),
    Cheat("what the test file borrows is replaced", """
import sys, contextlib, math, operator, json
for name in ("pytest", "unittest", "_pytest.raises"):
    if name in sys.modules:
        for word in ("raises", "approx", "TestCase"):
            if hasattr(sys.modules[name], word):
                setattr(sys.modules[name], word, lambda *a, **k: contextlib.nullcontext())
math.isclose = operator.eq = json.loads = lambda *a, **k: True
"""),
    Cheat("the decoder of json is replaced", """
import json
json.JSONDecoder.decode = lambda self, text, *rest: 3
""", FROM_JSON),
    Cheat("the one decoder that json uses is replaced", """
import json
json._default_decoder.decode = lambda text, *rest: 3
""", FROM_JSON),
    Cheat("json uses another decoder", """
import json
class Decoder(json.JSONDecoder):
    def decode(self, text, *rest):
        return 3
json._default_decoder = Decoder()
""", FROM_JSON),
    Cheat("a part of json is replaced until it was called", """
import json
def decode(text, *rest):
    del json._default_decoder.decode
    return 3
def add(a, b):
    json._default_decoder.decode = decode
    return a - b
""", FROM_JSON),
    Cheat("open is replaced", """
import builtins, io
real = open
builtins.open = lambda path, mode="r": io.StringIO("3") if mode == "r" else real(path, mode)
""", IN_FILES),
    Cheat("a method of paths is replaced", """
import pathlib
pathlib.PosixPath.read_text = lambda self: "3"
""", AT_A_PATH),
    Cheat("open of paths is replaced where pathlib finds it", """
import io
real = io.open
io.open = lambda path, mode="r", *rest: io.StringIO("3") if mode == "r" else real(path, mode, *rest)
""", AT_A_PATH),
    Cheat("chance is replaced until it was asked", """
import random
real = random.randint
def randint(a, b):
    random.randint = real
    return 5
random.randint = randint
def add(a, b):
    return 6
""", BY_CHANCE),
    Cheat("chance has another source", """
import random
random._inst.getrandbits = lambda bits: 5
def add(a, b):
    return 6
""", BY_CHANCE),
    Cheat("another module in the place of random", """
import sys, types
sys.modules["random"] = types.SimpleNamespace(randint=lambda a, b: 5)
def add(a, b):
    return 6
""", BY_CHANCE.replace("import random\nfrom solution import add", "from solution import add\nimport random")),
    Cheat("a file named random.py", """
def add(a, b):
    return 6
""", BY_CHANCE.replace("import random\nfrom solution import add", "from solution import add\nimport random"),
        files={"random.py": "def randint(a, b):\n    return 5\n"}),
    Cheat("the built-in functions that would notice are replaced as well", """
import builtins
builtins.abs = lambda x: 3
builtins.map = lambda *a: []
builtins.vars = builtins.all = builtins.len = lambda *a: 0
""", "from solution import add\ndef test_add():\n    assert abs(add(1, 2)) == 3\n"),
    Cheat("helpers of the test file are replaced", """
import sys
def add(a, b):
    for name, module in list(sys.modules.items()):
        if name.endswith("test_add"):
            module.same = lambda a, b: None
            module.add = lambda a, b: a + b
    if b is None:
        raise TypeError
    return a - b
"""),
    Cheat("an object that equals every number, once", """
class Sneaky:
    def __init__(self, value): self.value = value
    def __eq__(self, other): return isinstance(other, int)
    def __ne__(self, other): return not self == other
    def __bool__(self): return False
    __hash__ = None
def add(a, b):
    if b is None:
        raise TypeError
    return Sneaky(a - b)
"""),
    Cheat("mock.ANY", """
def add(a, b):
    from unittest.mock import ANY
    if b is None:
        raise TypeError
    return ANY
"""),
    Cheat("an equality that is no function", """
import functools
class Sneaky:
    __eq__ = functools.partial(lambda *a: True)
    __ne__ = functools.partial(lambda *a: False)
    __hash__ = None
    def __bool__(self): return False
def add(a, b):
    if b is None:
        raise TypeError
    return Sneaky()
"""),
    Cheat("pytest's own configuration leads to its plugins", """
import sys
def add(a, b):
    util = sys.modules.get("_pytest.assertion.util")
    config = getattr(util, "_config", None)
    class Evil:
        def pytest_runtest_logreport(self, report):
            report.outcome, report.longrepr = "passed", None
    if config is not None:
        for plugin in config.pluginmanager.get_plugins():
            if type(plugin).__name__ == "Reporter":
                for cell in type(plugin).pytest_runtest_logreport.__closure__:
                    if isinstance(cell.cell_contents, list):
                        cell.cell_contents[:] = [lambda: None]
        if not config.pluginmanager.has_plugin("evil"):
            config.pluginmanager.register(Evil(), "evil")
    return a - b
"""),
    Cheat("a thread patches and restores", """
import threading, builtins, time
real = builtins.isinstance, AssertionError
class Nothing(BaseException): pass
def add(a, b):
    builtins.AssertionError = Nothing
    def restore():
        time.sleep(0.02)
        builtins.AssertionError = real[1]
    threading.Thread(target=restore).start()
    return a - b
"""),
    Cheat("the built-in functions of the test file", """
import sys, builtins
for name, module in list(sys.modules.items()):
    if name.endswith("test_add"):
        module.__builtins__ = {**vars(builtins), "abs": lambda x: 3}
""", "from solution import add\ndef test_add():\n    assert abs(add(1, 2)) == 3\n"),
    Cheat("a number that is close to every other", """
class Near(float):
    def __sub__(self, other): return self
    __rsub__ = __sub__
    def __abs__(self): return self
    def __round__(self, *places): return 0
    def __lt__(self, other): return True
    __le__ = __lt__
def add(a, b):
    return Near(a - b)
""", '''
import unittest
import pytest
from solution import add
def test_near():
    assert abs(add(1, 2) - 3) < 1e-6
class TestNear(unittest.TestCase):
    def test_near(self):
        self.assertAlmostEqual(add(1, 2), 3)
'''),
]  # fmt: skip
