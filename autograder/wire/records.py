"""Records on the wire: the dataclasses that are arguments and results of exercises.

    record_of("Interval", {"name": "a", "size": 4, "first": 0, "last": 2})  ->  Interval(...)

Every field must have the type that its class declares, all the way down: nothing else than such a
record can come out, so that comparing and printing it is safe. Next room: crossed.py.
"""

from __future__ import annotations

import functools
import types
import typing
from typing import Any

import numpy as np

from autograder.wire.onnx import Unsendable
from course_lib.accelerator.chip import Chip
from course_lib.accelerator.compile.product import Product
from course_lib.accelerator.compile.tiles import Tile
from course_lib.accelerator.isa.execute import Matmul, MatmulOs, Preload
from course_lib.accelerator.systolic import SystolicArray
from course_lib.ir.expr import Affine, Call, Const, Iter, Load
from course_lib.ir.loops.nest import Accumulate, Buffer, Kernel, Local, Loop, Packing, Store
from course_lib.machine.lives import Live
from course_lib.memory.liveness import Interval, Task
from course_lib.plugins.byoc import tree
from course_lib.plugins.byoc.tvm import Tvm

# By name: a class may move to another file, its name stays.
RECORDS: dict[str, type] = {
    kind.__name__: kind
    for kind in (
        *(SystolicArray, Task, Interval, Live),
        *(Chip, Product, Tile, Preload, Matmul, MatmulOs),
        *(Kernel, Buffer, Loop, Local, Store, Accumulate, Packing),
        *(Affine, Call, Const, Iter, Load),
        *(Tvm, *tree.KINDS),
    )
}
NUMBERS: dict[Any, tuple[type, ...]] = {  # what stands for a number of that type, too
    int: (int, np.integer),
    float: (float, int, np.floating, np.integer),
    bool: (bool, np.bool_),
    str: (str,),
}
LARGEST = 1 << 64  # of an integer in a record


def record_of(name: Any, fields: Any) -> Any:
    """The record; Unsendable if there is none of that name, or a field has another type."""
    if not isinstance(name, str) or name not in RECORDS:
        raise Unsendable(f"no record is called {name!r:.100}")
    hints = _hints(RECORDS[name])
    if not isinstance(fields, dict) or not hints.keys() >= fields.keys():
        raise Unsendable(f"a {name} has the fields {', '.join(hints)}")
    return RECORDS[name](**{f: _fitted(v, hints[f], f"{name}.{f}") for f, v in fields.items()})


@functools.cache
def _hints(kind: type) -> dict[str, Any]:
    return typing.get_type_hints(kind)


def _fitted(value: Any, hint: Any, where: str) -> Any:
    """The value as its field wants it: a list for a tuple, and numpy's numbers, are taken too."""
    origin, choices = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        for choice in choices:
            if (value_as := _fitted_or_none(value, choice, where)) is not None:
                return value_as
    elif origin is tuple and isinstance(value, (tuple, list)):
        if len(choices) == 2 and choices[1] is ...:
            return tuple(_fitted(part, choices[0], where) for part in value)
        if len(choices) == len(value):
            return tuple(_fitted(p, c, where) for p, c in zip(value, choices, strict=True))
    elif hint in NUMBERS and isinstance(value, NUMBERS[hint]):
        if hint is int and abs(value) > LARGEST:
            raise Unsendable(f"{where} is too large a number")
        return value if hint is float else hint(value)
    elif isinstance(hint, type) and hint not in NUMBERS and type(value) is hint:
        return value
    raise Unsendable(f"{where} cannot be of type {type(value).__name__}")


def _fitted_or_none(value: Any, hint: Any, where: str) -> Any:
    try:
        return _fitted(value, hint, where)
    except Unsendable:
        return None
