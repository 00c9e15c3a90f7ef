"""Functions that both ends have: they cross as a name, and run where they are called.

    @both_have
    def no_double_neg(node): ...        ->  "autograder.units.u02.checks.rules:no_double_neg"

Any other function that the grader passes to an answer is called in the grader: a message there and
one back for each call. This is for those that students have as well, whose calls nobody counts and
whose names give nothing away. What an answer returns is judged as ever.

Next room: crossed.py.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from types import FunctionType
from typing import Any

_named: dict[str, FunctionType] = {}


def both_have(function: FunctionType) -> FunctionType:
    """The function itself. Its module is part of a student's edition."""
    _named[_name(function)] = function
    return function


def name_of(value: Any) -> str | None:
    """The name under which the other end has this very function; None if it has not."""
    if isinstance(value, FunctionType) and _named.get(_name(value)) is value:
        return _name(value)
    return None


def function_named(name: str) -> Callable[..., Any]:
    importlib.import_module(name.partition(":")[0])
    return _named[name]


def _name(function: FunctionType) -> str:
    return f"{function.__module__}:{function.__qualname__}"
