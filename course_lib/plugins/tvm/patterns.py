"""The chip's table of patterns as dataflow patterns of TVM.

    conv    requantize(add?(conv(x, *weights), *bias), *scale)      one row of ours
    ==>
    quantize(relu(dequantize(add(conv2d(x, weights), bias), scale, 0)), 1, 0)     and five more:
    with the addition and without, with a relu, a clip or nothing before the rounding

The structure is in the pattern. What it cannot say (an operand must be a constant, this bias has
the wrong shape, that window does not fit into the SRAMs) is asked of the same table by `accepts`,
with our graph of what was found. Next room: `partition.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from course_lib.accelerator.chip import Chip
from course_lib.accelerator.compile.layer import refused
from course_lib.accelerator.compile.partition import cover
from course_lib.accelerator.compile.support import PATTERNS, Expression, Pattern
from course_lib.plugins.tvm.package import package
from course_lib.plugins.tvm.read import read_expression

NAME = "systolic"  # of the chip, as TVM knows it: what is in front of a pattern's name
RENAMED = {"conv": "nn.conv2d", "max_pool": "nn.max_pool2d", "relu": "nn.relu",
           "gelu": "nn.gelu", "reduce_sum": "sum", "cast": "astype"}  # fmt: skip
MORE = ("reshape", "quantize", "dequantize")  # their last operand in Relax is an attribute of ours


def patterns(chip: Chip, table: Sequence[Pattern] = PATTERNS) -> list[Any]:
    """What `FuseOpsByPattern` takes: the chip's table, larger patterns first."""
    make = package().relax.transform.FusionPattern
    check = partial(accepts, chip=chip, table=table)
    return [
        make(f"{NAME}.{row.name}", pattern, {}, check)
        for row in table
        for pattern in dataflow_patterns(row.expression)
    ]


def dataflow_patterns(expression: Expression) -> Iterator[Any]:
    """Everything in Relax that one expression of the table stands for."""
    dpl = package().relax.dpl
    if isinstance(expression, str):
        yield dpl.wildcard()
        return
    op, *parts = expression
    for operands in _each(parts):
        if op == "requantize":
            yield from _rounded(_dequantized(*operands))
        elif op == "add_quantized":
            x, y, x_scale, y_scale = operands
            yield from _rounded(
                dpl.is_op("relax.add")(_dequantized(x, x_scale), _dequantized(y, y_scale))
            )
        else:
            yield _call(op.rstrip("?"), operands)
    if op.endswith("?"):
        yield from dataflow_patterns(parts[0])


def _each(parts: list[Expression]) -> Iterator[list[Any]]:
    """One pattern for each operand, in all ways. Every way has patterns of its own: TVM takes two
    uses of one pattern for two uses of one value."""
    if not parts:
        yield []
        return
    for first in dataflow_patterns(parts[0]):
        for rest in _each(parts[1:]):
            yield [first, *rest]


def _call(op: str, operands: list[Any]) -> Any:
    dpl = package().relax.dpl
    more = [dpl.wildcard()] if op in MORE else []
    return dpl.is_op(f"relax.{RENAMED.get(op, op)}")(*operands, *more)


def _dequantized(x: Any, scale: Any) -> Any:
    dpl = package().relax.dpl
    return dpl.is_op("relax.dequantize")(x, scale, dpl.wildcard())


def _rounded(x: Any) -> Iterator[Any]:
    """The ends of `write.py`: between limits, or not, and in steps of 1."""
    dpl = package().relax.dpl
    limits = (
        lambda v: dpl.is_op("relax.nn.relu")(v),
        lambda v: dpl.is_op("relax.clip")(v, dpl.wildcard(), dpl.wildcard()),
        lambda v: v,
    )
    for limited in limits:
        yield dpl.is_op("relax.quantize")(limited(x), dpl.wildcard(), dpl.wildcard())


def accepts(context: Any, chip: Chip, table: Sequence[Pattern] = PATTERNS) -> bool:
    """May the chip have what TVM has found? `context` is TVM's PatternCheckContext."""
    inside = dict(context.matched_bindings)
    root = context.matched_expr
    for var, value in inside.items():
        used = [user for user in context.var_usages.get(var, []) if user not in inside]
        if used and not value.same_as(root):
            return False  # something else reads it
    graph = read_expression(root, inside)
    matches, refusals = cover(graph, partial(refused, chip=chip), table)
    return not refusals and len(matches) == 1
