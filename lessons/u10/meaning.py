"""What programs of unit 10 compute: interpreters, which define what is right.

    toy_outputs(text, [a, b])      what @twice of a module in the Toy dialect returns, and prints
    toy_bill(text)                 loop nests, loads and stores that it takes, a result's elements

Next room: tensors.py.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from course_lib.mlir.toy.dialect import AddOp, MulOp, ReshapeOp, TransposeOp, shape_of
from course_lib.mlir.toy.dialect_interp import outputs
from course_lib.mlir.toy.functions import FuncOp, PrintOp, ReturnOp
from lessons.u10.dialect import parsed


def toy_outputs(text: str, arguments: Sequence[np.ndarray]) -> list[np.ndarray]:
    """What the first function of the module prints and returns, in this order."""
    return outputs(_read(text).block, arguments)


@lru_cache(maxsize=8)
def _read(text: str) -> FuncOp:
    """The module's first function, not to be changed."""
    return first_function(parsed(text))


def first_function(module: ModuleOp) -> FuncOp:
    """ValueError if there is none."""
    for op in module.ops:
        if isinstance(op, FuncOp):
            return op
    raise ValueError("the module has no function")


def operations(text: str) -> list[Operation]:
    """Those of the module's first function."""
    return [*_read(text).block.ops]


def unknown(text: str) -> list[str]:
    """The operations whose result has a shape that is not known."""
    every = operations(text)
    return [str(op) for op in every if any(shape_of(v) is None for v in op.results)]


def forgotten(text: str) -> list[str]:
    """Of these, the sums and products whose operands have known shapes."""
    return [str(op) for op in operations(text) if isinstance(op, (AddOp, MulOp))
            and shape_of(op.result) is None and None not in map(shape_of, op.operands)]  # fmt: skip


def unclear(text: str) -> list[str]:
    """Of these, all but sums and products one of whose operands has such a shape."""
    sums = [str(op) for op in operations(text) if isinstance(op, (AddOp, MulOp))]
    clear = forgotten(text)
    return [op for op in unknown(text) if op in clear or op not in sums]


def shown(text: str) -> list[tuple[str, bool]]:
    """What prints or returns something, and whether its shape is known."""
    uses = [op for op in operations(text) if isinstance(op, (PrintOp, ReturnOp))]
    return [(str(op), all(shape_of(v) is not None for v in op.operands)) for op in uses]


def toy_bill(text: str) -> tuple[int, int, int]:
    """Loop nests, loads and stores, if every operation becomes a nest that writes its result."""
    nests = loads = stores = 0
    for op in operations(text):
        if isinstance(op, (AddOp, MulOp, TransposeOp, ReshapeOp)):
            count = math.prod(shape_of(op.results[0]) or ())
            nests, stores, loads = nests + 1, stores + count, loads + count * len(op.operands)
    return nests, loads, stores
