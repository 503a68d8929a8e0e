"""A handler of a signal is given the frame that it interrupts, from where it could look around in the test runner.

Here it is given none.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]
import signal
from collections.abc import Callable
from typing import Any, cast

from council.sandbox.harness.guard import bind


def shield() -> None:
    handlers: dict[int, tuple[Any, Any]] = {}

    def install(number: int, handler: Any) -> Any:
        real, before = cast("Callable[[int, Any], Any]", "the real one"), look_up(number)
        if callable(handler) and handler is not signal.default_int_handler:
            handlers[number] = handler, _without_frame(handler)
            real(number, handlers[number][1])
        else:
            real(number, handler)
        return before

    def look_up(number: int) -> Any:
        now = get_handler(number)
        own, given = handlers.get(number, (None, None))
        return own if given is not None and now is given else now

    # A constant of a function's code is not read without being seen; its closure is.
    install.__code__ = bind(install.__code__, {"the real one": _signal.signal})
    get_handler = _signal.getsignal
    _signal.signal, _signal.getsignal = install, look_up
    for wrapper in (signal.signal, signal.getsignal):
        vars(wrapper).pop("__wrapped__", None)


def _without_frame(handler: Callable[[int, Any], Any]) -> Callable[[int, Any], Any]:
    return lambda number, _frame: handler(number, None)
