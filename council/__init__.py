"""council: members debate a question in rounds, and everything they say becomes files.

The names in `__all__` are the public Python API (docs/python.md); everything else may change. Each is imported on
first use, so `import council` needs only the standard library.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from council.errors import CouncilError

if TYPE_CHECKING:
    from council.reports.summary import DebateResult, Totals
    from council.runner.api import ReviewFinding, ReviewResult, load_session, recover, review, run

__version__ = "0.7.0"
__all__ = [
    "CouncilError", "DebateResult", "ReviewFinding", "ReviewResult", "Totals", "__version__", "load_session", "recover",
    "review", "run",
]  # fmt: skip
_HOMES = {
    **dict.fromkeys(("DebateResult", "Totals"), "council.reports.summary"),
    **dict.fromkeys(
        ("ReviewFinding", "ReviewResult", "load_session", "recover", "review", "run"), "council.runner.api"
    ),
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
