"""The source of a function as a reader wants to see it: a lambda alone, a ufunc by its name.

    source_of(np.add)   ->   np.add

Next: `op_pages.py`, which shows what an op means.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np


def source_of(function: Callable[..., Any]) -> str:
    """Its text. What a function of our own calls in its file is not shown."""
    if isinstance(function, np.ufunc):
        return f"np.{function.__name__}"
    if isinstance(function, partial):
        given = [getattr(a, "__name__", repr(a)) for a in function.args]
        given += [f"{k}={getattr(v, '__name__', repr(v))}" for k, v in function.keywords.items()]
        return source_of(function.func) + f"\n\n# with {', '.join(given)}"
    function = inspect.unwrap(function)
    module = inspect.getmodule(function)
    if module is not None and module.__name__.startswith("numpy"):
        return f"np.{function.__name__}"
    if function.__name__ != "<lambda>":
        return textwrap.dedent(inspect.getsource(function)).strip()
    return _lambda(function)


def _lambda(function: Callable[..., Any]) -> str:
    """Of a lambda, `getsource` gives whole lines of the call around it."""
    code = function.__code__  # type: ignore[attr-defined]
    tree = ast.parse(inspect.getsource(inspect.getmodule(function)))  # type: ignore[arg-type]
    parameters = list(code.co_varnames[: code.co_argcount])
    for node in ast.walk(tree):
        if not isinstance(node, ast.Lambda) or node.lineno != code.co_firstlineno:
            continue
        if [a.arg for a in node.args.args] == parameters:
            return ast.unparse(node)
    raise ValueError(f"no lambda in line {code.co_firstlineno} of {code.co_filename}")
