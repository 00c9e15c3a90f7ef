"""Which ops of ONNX and of PyTorch (ATen) come in as which op of ours.

    importers()["relu"]["ONNX"]   ->   (["Relu"], ["HardSwish", ...])     alone; among other ops

A rule of an importer is a Python function that makes nodes. Which ops it can make is read from its
code, and from that of the functions of the importers that it calls. Next: `op_pages.py`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from functools import partial
from types import CodeType, FunctionType, ModuleType
from typing import Any

from course_lib.ir.registry import OPS

OURS = ("course_lib.frontend.", "course_lib.ir.graph.build", "course_lib.ir.graph.recurrence")
Found = dict[str, dict[str, tuple[list[str], list[str]]]]


def importers() -> Found:
    """For each op and each of the two sources: whose whole rule it is, and whose rule uses it."""
    # These load onnx and torch.
    from course_lib.frontend.onnx import rules as onnx_rules
    from course_lib.frontend.torch import rules as torch_rules

    tables = {"ONNX": onnx_rules.RULES, "ATen": torch_rules.RULES}
    found: Found = {op: {source: ([], []) for source in tables} for op in OPS}
    for source, table in tables.items():
        for name, rule in sorted(table.items()):
            made = ops_of(rule) - {"constant"}
            for op in made:
                found[op][source][len(made) > 1].append(name)
    return found


def ops_of(rule: Callable[..., Any]) -> set[str]:
    """The ops that a rule can make, itself or through what it calls."""
    made: set[str] = set()
    todo: list[Any] = [rule]
    seen: set[int] = set()
    while todo:
        one = todo.pop()
        if isinstance(one, partial):
            todo += [one.func, *one.args, *one.keywords.values()]
        elif isinstance(one, str):
            made |= {one} & OPS.keys()
        elif isinstance(one, FunctionType) and id(one) not in seen:
            seen.add(id(one))
            todo += _reaches(inspect.unwrap(one))
    return made


def _reaches(function: Any) -> Iterator[Any]:
    """Names of ops that its code passes to `apply`, what it was made with, functions it calls."""
    yield from function.__defaults__ or ()
    yield from (function.__kwdefaults__ or {}).values()
    for cell in function.__closure__ or ():
        if isinstance(cell.cell_contents, (str, FunctionType)):
            yield cell.cell_contents
    for code in _codes(function.__code__):
        yield from (_called(code, function.__globals__))
        if "apply" in code.co_names:
            yield from (const for const in code.co_consts if isinstance(const, str))


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for const in code.co_consts:
        if isinstance(const, CodeType):
            yield from _codes(const)


def _called(code: CodeType, names: dict[str, Any]) -> Iterator[Any]:
    """The functions of ours that its code names, also as a part of a module: `b.relu`."""
    modules = [m for n in code.co_names if isinstance(m := names.get(n), ModuleType)]
    for name in code.co_names:
        for value in [names.get(name), *(vars(module).get(name) for module in modules)]:
            value = inspect.unwrap(value) if callable(value) else value
            if isinstance(value, FunctionType) and value.__module__.startswith(OURS):
                yield value
