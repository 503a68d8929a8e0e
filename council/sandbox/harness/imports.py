"""Imports a test file as pytest does: by its name in the outermost package that it is in."""

from __future__ import annotations

import importlib
import os
import sys
import types


def import_file(path: str) -> types.ModuleType:
    folder, name = os.path.split(f"/job/{path.removesuffix('.py')}")
    while os.path.exists(f"{folder}/__init__.py"):  # noqa: PTH110 - pathlib is slow to import
        folder, inner = os.path.split(folder)
        name = f"{inner}.{name}"
    if folder not in sys.path:
        sys.path.insert(0, folder)
    return importlib.import_module(name)
