"""Tells the parent when the candidate reaches for what is not its own: frames and code of the tests, the interpreter's
memory, the runner's descriptors. It is told before it happens, and an audit hook cannot be taken away.
"""

from __future__ import annotations

import sys
import threading
import types
from collections.abc import Callable
from typing import Any

GUARDED = ("/harness/",)
GUARDED_PARTS = ("/_pytest/", "/unittest/", "/pluggy/")
# Functions of the standard library that hand out frames. Others, as `namedtuple`, only look at them.
GIVES_FRAMES = frozenset(
    "currentframe stack trace getouterframes getinnerframes walk_stack walk_tb getargvalues getframeinfo "
    "_task_get_stack get_stack".split()
)
# They look at a function's code, and do not hand it out.
READS_CODE = frozenset("signature getfullargspec iscoroutinefunction isgeneratorfunction isasyncgenfunction".split())
HAS_FRAME = ("tb_frame", "gi_frame", "cr_frame", "ag_frame")
# Modules that reach the interpreter's memory, or another interpreter that nobody watches.
UNSAFE = frozenset(
    "_testcapi _testinternalcapi _testmultiphase _xxsubinterpreters _interpreters _interpchannels _signal _imp "
    "cffi _cffi_backend".split()
)
REFUSED = frozenset(
    "sys._current_frames sys._current_exceptions gc.get_objects gc.get_referrers gc.get_referents sys.settrace "
    "sys.setprofile sys.addaudithook sys.monitoring.register_callback ctypes.cdata ctypes.cdata/buffer "
    "ctypes.string_at ctypes.wstring_at ctypes.memoryview_at ctypes.call_function ctypes.dlopen ctypes.dlsym".split()
)


def watch(say: Callable[..., None], trusted: tuple[str, ...], tests: frozenset[str], parent: int) -> None:
    """`tests` are the files of the tests, as code names them; `trusted` the folders of Python and of the tools."""
    sys.addaudithook(_Watch(say, trusted, tests, parent).hear)


class _Watch:
    def __init__(self, say: Callable[..., None], trusted: tuple[str, ...], tests: frozenset[str], parent: int) -> None:
        self._say, self._trusted, self._tests, self._parent = say, trusted, tests, parent
        self._busy: set[int] = set()
        self._whose, self._frame_at = threading.get_ident, sys._getframe
        self._concerns: dict[str, Callable[[str, tuple[Any, ...]], str]] = {
            "compile": self._compile, "code.__new__": self._compile, "function.__new__": self._function,
            "open": self._open, "os.kill": self._signal, "os.killpg": self._signal, "sys._getframe": self._frame,
            "object.__getattr__": self._read, "object.__setattr__": self._change, "object.__delattr__": self._change,
            "import": self._import, **dict.fromkeys(REFUSED, self._refused),
        }  # fmt: skip

    def hear(self, event: str, args: tuple[Any, ...]) -> None:
        concern, who = self._concerns.get(event), self._whose()
        if concern is None or who in self._busy:
            return
        self._busy.add(who)
        try:
            if (reason := concern(event, args)) and self._path() is not None:
                self._say(tampered=f"the candidate {reason}")
        finally:
            self._busy.discard(who)

    def _path(self) -> list[str] | None:
        """The functions that the candidate's code called on the way to the event, the first one first; None if it is
        not the cause.
        """
        names: list[str] = []
        frame: types.FrameType | None = self._frame_at(2)
        while frame is not None:
            code = frame.f_code
            if self._is_own(code.co_filename):
                return names[::-1]
            if self._is_guarded_file(code.co_filename):
                here = code.co_filename == __file__
                if not here:
                    return None
            else:
                names.append(code.co_name)
            frame = frame.f_back
        return None

    def _is_own(self, file: str) -> bool:
        """Whether code is the candidate's, by its file's name."""
        return file not in self._tests and not file.startswith((*self._trusted, "<frozen "))

    def _is_guarded_file(self, file: str) -> bool:
        return file in self._tests or file.startswith(GUARDED) or any(part in file for part in GUARDED_PARTS)

    def _is_guarded(self, thing: Any) -> bool:
        for name in ("f_code", "__code__", "gi_code", "cr_code", "ag_code"):
            if isinstance(code := getattr(thing, name, None), types.CodeType):
                return self._is_guarded_file(code.co_filename)
        return isinstance(thing, types.CodeType) and self._is_guarded_file(thing.co_filename)

    # What is wrong about an event, if the candidate is its cause.

    def _compile(self, event: str, args: tuple[Any, ...]) -> str:
        """Code in the name of somebody else's file would be taken for theirs."""
        name = args[1] if len(args) > 1 else ""
        if not isinstance(name, str) or name.startswith("<") or self._is_own(name):
            return ""
        return "" if self._is_import() else f"made code in the name of {name}"

    def _is_import(self) -> bool:
        """Whether the candidate only imports what is somebody else's, whose code does what it must."""
        return any(one.startswith(("_find_and_load", "import_module")) for one in self._path() or ())

    def _function(self, event: str, args: tuple[Any, ...]) -> str:
        return "took a test's code" if args and self._is_guarded(args[0]) else ""

    def _open(self, event: str, args: tuple[Any, ...]) -> str:
        path = args[0].decode("utf-8", "replace") if isinstance(args[0], bytes) else args[0]
        if not isinstance(path, str) or not path.startswith("/proc/"):
            return ""
        return f"opened {path}" if path.endswith(("/mem", "/environ")) or "/fd/" in path else ""

    def _signal(self, event: str, args: tuple[Any, ...]) -> str:
        return "sent a signal to the test runner" if args and args[0] in (self._parent, 1, 0, -1) else ""

    def _frame(self, event: str, args: tuple[Any, ...]) -> str:
        path = self._path()
        return "walked the frames of its callers" if path is not None and _gives_frames(path) else ""

    def _read(self, event: str, args: tuple[Any, ...]) -> str:
        if args[1] in HAS_FRAME or (args[1] == "f_code" and self._is_guarded(args[0])):
            return self._frame(event, args)
        if not self._is_guarded(args[0]) or (path := self._path()) is None or READS_CODE.intersection(path[:1]):
            return ""
        return f"read {args[1]} of a test"

    def _change(self, event: str, args: tuple[Any, ...]) -> str:
        function = args[0]
        if not isinstance(function, types.FunctionType) or self._is_own(function.__code__.co_filename):
            return ""
        if self._is_import() and not self._is_guarded(function):  # `types.coroutine` changes functions of asyncio
            return ""
        return f"changed {args[1]} of {function.__module__}.{function.__qualname__}"

    def _import(self, event: str, args: tuple[Any, ...]) -> str:
        path = self._path()
        directly = path is not None and all("import" in name or "_load" in name or "find" in name for name in path)
        return f"imported {args[0]}" if args[0] in UNSAFE and directly else ""

    def _refused(self, event: str, args: tuple[Any, ...]) -> str:
        """Code in C can change anything in the process, and nobody sees it."""
        return f"called {event}{' of ' + str(args[0]) if event == 'ctypes.dlopen' and args else ''}"


def _gives_frames(path: list[str]) -> bool:
    return not path or path[0] in GIVES_FRAMES
