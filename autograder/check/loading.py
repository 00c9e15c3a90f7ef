"""The files of a unit or lab, imported when they are first needed.

    load_unit("checks", "u02")      # autograder/units/u02/checks.py, or all files of that folder

Next room: exemplars.py, what a unit says about right and wrong answers.
"""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
import sys

_loaded: set[str] = set()


def load_unit(room: str, key: str) -> None:
    """Import autograder/units/<key>/<room>: a file, or a folder with all its files."""
    name = f"autograder.units.{key}.{room}"
    if name in _loaded and name in sys.modules:
        return
    if importlib.util.find_spec(f"autograder.units.{key}") is None:
        return
    if importlib.util.find_spec(name) is None:
        return
    package = importlib.import_module(name)
    for module in pkgutil.iter_modules(getattr(package, "__path__", ()), f"{name}."):
        importlib.import_module(module.name)
    _loaded.add(name)
