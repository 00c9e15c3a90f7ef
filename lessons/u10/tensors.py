"""linalg on tensors, run one point of a loop nest at a time: what a `linalg.generic` means.

    outputs(text, x, w)      what @main returns; ValueError, in words, for what cannot be run
    parses(text)             is it a module at all?

An empty tensor holds `garbage`: what reads it before it is written is found by running it twice.
Next room: scalars.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np
from xdsl.context import Context
from xdsl.dialects import arith, builtin, func, linalg, tensor
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr
from xdsl.utils.exceptions import ParseError, VerifyException

from course_lib.mlir.reading import Reader
from lessons.u10.dialect import limited
from lessons.u10.scalars import FLOATS, as_type, computed

DIALECTS = (builtin.Builtin, func.Func, arith.Arith, tensor.Tensor, linalg.Linalg)
POINTS = 4_000  # of a loop nest
Values = dict[SSAValue, Any]


@lru_cache(maxsize=8)
def main_of(text: str) -> func.FuncOp:
    """@main of a module, not to be changed. ValueError if there is none, or something in it is
    not valid."""
    limited(text)
    context = Context()
    for dialect in DIALECTS:
        context.load_dialect(dialect)
    try:
        module = Reader(context, text, "module").parse_module()
        for op in module.walk():
            if isinstance(op, linalg.ops.GenericOp):
                _lengths(op)
        module.verify()
    except (ParseError, VerifyException, RecursionError) as error:
        raise ValueError(f"this is not a valid module: {error}") from None
    for op in module.ops:
        if isinstance(op, func.FuncOp) and op.sym_name.data == "main" and len(op.body.blocks) == 1:
            return op
    raise ValueError("the module has no function @main with one block")


def parses(text: str) -> str:
    """Whether a text is a valid module with a function @main; if not, why not, and where."""
    try:
        main_of(text)
    except ValueError as error:
        return str(error)
    return "a valid module with a function @main"


def outputs(text: str, arguments: Sequence[np.ndarray], garbage: float) -> np.ndarray:
    """What @main returns for these arguments."""
    main = main_of(text)
    if len(main.body.block.args) != len(arguments):
        raise ValueError(f"@main must take {len(arguments)} tensors")
    values: Values = dict(zip(main.body.block.args, arguments, strict=True))
    for value, array in values.items():
        _fits(value, array)
    for op in main.body.block.ops:
        if isinstance(op, func.ReturnOp):
            if len(op.operands) != 1:
                raise ValueError("@main must return one tensor")
            return values[op.operands[0]]
        _run(op, values, garbage)
    raise ValueError("@main must end in a return")


def _run(op: Operation, values: Values, garbage: float) -> None:
    match op:
        case arith.ConstantOp(value=builtin.DenseIntOrFPElementsAttr() as numbers):
            kind = numbers.get_element_type()
            filled = np.array([as_type(n, kind) for n in numbers.get_values()], _number(op.result))
            shape = _shape(op.result)
            values[op.result] = (
                np.full(shape, filled) if filled.size == 1 else filled.reshape(shape)
            )
        case arith.ConstantOp():
            values[op.result] = computed(op, [])
        case tensor.EmptyOp():
            kind = op.tensor.type.element_type
            values[op.tensor] = np.full(
                _shape(op.tensor), as_type(garbage, kind), _number(op.tensor)
            )
        case linalg.ops.FillOp():
            given, target = (values[v] for v in (op.inputs[0], op.outputs[0]))
            values[op.results[0]] = np.full_like(target, given)
        case linalg.ops.GenericOp():
            values[op.results[0]] = _generic(op, values)
        case _:
            raise ValueError(f"only linalg.generic may compute something here, got {op.name}")


def _generic(op: linalg.ops.GenericOp, values: Values) -> np.ndarray:
    """The points in the order of their numbers; the last operand is what is written."""
    if len(op.outputs) != 1:
        raise ValueError("a linalg.generic must have one result here")
    operands = [values[v] for v in op.operands]
    maps = [dims_of(m.data) for m in op.indexing_maps]
    for value, array, dims in zip(op.operands, operands, maps, strict=True):
        if not isinstance(array, np.ndarray) or array.ndim != len(dims):
            raise ValueError(f"a map gives {len(dims)} indices for a {value.type}")
    result = operands[-1].copy()
    operands[-1] = result
    for point in product(*map(range, _sizes(op, operands, maps))):
        at = [tuple(point[d] for d in dims) for dims in maps]
        scalars = [array[index] for array, index in zip(operands, at, strict=True)]
        result[at[-1]] = _body(op, scalars, values)
    return result


def dims_of(map: Any) -> tuple[int, ...]:
    """(d0, d1, d2) -> (d2, d0)   is   (2, 0). ValueError for anything but dimensions."""
    if not all(isinstance(one, AffineDimExpr) for one in map.results):
        raise ValueError(f"every index in a map must be one of the loops here, got {map}")
    return tuple(one.position for one in map.results)


def _lengths(op: linalg.ops.GenericOp) -> None:
    """ValueError if two operands disagree on how far a loop runs: in words, before xDSL says it."""
    known: dict[int, tuple[int, str]] = {}
    for value, map in zip(op.operands, op.indexing_maps, strict=False):
        sizes = value.type.get_shape() if isinstance(value.type, builtin.TensorType) else ()
        name = f"%{value.name_hint}" if value.name_hint else f"a {value.type}"
        for size, one in zip(sizes, map.data.results, strict=False):
            if isinstance(one, AffineDimExpr):
                before, other = known.setdefault(one.position, (size, name))
                if before != size:
                    raise ValueError(
                        f"loop d{one.position} runs to {before} by the map of {other}, and to "
                        f"{size} by that of {name}"
                    )


def _sizes(op: linalg.ops.GenericOp, operands: list[Any], maps: list[tuple[int, ...]]) -> list[int]:
    """How far each loop runs."""
    sizes: dict[int, int] = {}
    for array, dims in zip(operands, maps, strict=True):
        for size, dim in zip(array.shape, dims, strict=True):
            if sizes.setdefault(dim, size) != size:
                raise ValueError(
                    f"d{dim} runs to {sizes[dim]} in one operand, to {size} in another"
                )
    count = len(op.iterator_types.data)
    if sorted(sizes) != [*range(count)]:
        raise ValueError("each loop must be an index of some operand")
    if np.prod([*sizes.values()]) > POINTS:
        raise ValueError(f"a loop nest has at most {POINTS:,} points here")
    return [sizes[dim] for dim in range(count)]


def _body(op: linalg.ops.GenericOp, scalars: list[Any], outside: Values) -> np.float32:
    block = op.body.block
    values: Values = {}
    values.update(zip(block.args, scalars, strict=True))
    for inner in block.ops:
        given = [values[v] if v in values else outside[v] for v in inner.operands]
        if isinstance(inner, linalg.ops.YieldOp):
            return given[0]
        values[inner.results[0]] = computed(inner, given)
    raise ValueError("the body of a linalg.generic must end in linalg.yield")


def _number(value: SSAValue) -> Any:
    """numpy's type for the elements of a tensor; integers are Python's."""
    kind = value.type.element_type if isinstance(value.type, builtin.TensorType) else value.type
    return FLOATS.get(kind, object)


def _shape(value: SSAValue) -> tuple[int, ...]:
    if not isinstance(value.type, builtin.TensorType) or not value.type.has_static_shape():
        raise ValueError(f"every tensor has a known shape here, got {value.type}")
    return value.type.get_shape()


def _fits(value: SSAValue, array: np.ndarray, what: str = "take") -> None:
    wanted = "x".join([*map(str, array.shape), f"f{8 * array.itemsize}"])
    if _shape(value) != array.shape or _number(value) != array.dtype:
        raise ValueError(f"@main must {what} a tensor<{wanted}>, not a {value.type}")


def generics(text: str) -> list[linalg.ops.GenericOp]:
    """Those of @main."""
    return [op for op in main_of(text).body.block.ops if isinstance(op, linalg.ops.GenericOp)]


def mislabelled(op: linalg.ops.GenericOp) -> list[str]:
    """What is wrong with the kinds of loops: a sum is a loop without an index in the result."""
    written = dims_of(op.indexing_maps.data[-1].data)
    kinds = [one.data.value for one in op.iterator_types]
    right = ["parallel" if dim in written else "reduction" for dim in range(len(kinds))]
    wrong = [d for d, (k, r) in enumerate(zip(kinds, right, strict=True)) if k != r]
    return [f"d{d} is not a {kinds[d]} loop" for d in wrong]
