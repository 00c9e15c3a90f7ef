"""THE op table: everything known about an op is one row.

    OPS["matmul"].infer([f32[2,3], f32[3,4]], {})  ->  f32[2,4]

The verifier, both interpreters, the cost model, lowering, code generation and the documentation
(`python -m course_lib ops`) all read these rows. The rows themselves are in `ops/`, one file for
each kind of op. Next room: `ir/graph/build.py`, which makes nodes.

Reading path, 3 of 12; next: `ir/expr.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from course_lib.ir.attributes import REQUIRED, Attr, Attrs
from course_lib.ir.expr import LoopForm
from course_lib.ir.types import TensorType

KINDS = {
    "source": "where values come from",
    "elementwise": "one result element from one element of each operand (numpy broadcasting)",
    "reduction": "many elements combined into one along some axes",
    "contraction": "multiply and accumulate, or combine, over windows or inner axes",
    "movement": "the same elements in other places",
    "composite": "defined by other ops; `decompose` spells it out",
    "control": "a whole graph inside",
}


def one_flop_per_element(out: TensorType, ins: Sequence[TensorType], attrs: Attrs) -> int:
    return out.numel


def no_flops(out: TensorType, ins: Sequence[TensorType], attrs: Attrs) -> int:
    return 0


@dataclass(frozen=True)
class Op:
    """One row.

    arity      number of operands: an int, or (least, most) where `most` may be None
    attrs      the attributes: what each may be, and its default
    infer      (operand types, attrs) -> result type; raises ValueError with words for a student
    evaluate   (arrays, attrs) -> array: the meaning, in numpy
    loops      (result type, operand types, attrs) -> loop forms; None if it must be decomposed,
               or has no loops at all (then the CPU target calls `evaluate`)
    decompose  (operand nodes, attrs) -> node: the same value in simpler ops
    flops      floating-point operations, a multiply-add counted as two
    """

    name: str
    kind: str
    arity: int | tuple[int, int | None]
    doc: str
    infer: Callable[[Sequence[TensorType], Attrs], TensorType]
    evaluate: Callable[[Sequence[np.ndarray], Attrs], np.ndarray]
    attrs: Mapping[str, Attr] = field(default_factory=dict)
    loops: Callable[[TensorType, Sequence[TensorType], Attrs], list[LoopForm]] | None = None
    decompose: Callable[[Sequence[Any], Attrs], Any] | None = None
    flops: Callable[[TensorType, Sequence[TensorType], Attrs], int] = one_flop_per_element

    def check_arity(self, count: int) -> None:
        least, most = (self.arity, self.arity) if isinstance(self.arity, int) else self.arity
        if count < least or (most is not None and count > most):
            wanted = f"{least}" if least == most else f"{least} to {most or 'any number of'}"
            raise ValueError(f"{self.name} takes {wanted} operands, got {count}")

    def complete(self, given: Attrs) -> dict[str, Any]:
        """The given attributes with the defaults filled in, in the order of the row.

        ValueError if one is unknown, is missing, or cannot have its value.
        """
        if not self.attrs and not given:
            return {}
        if not given.keys() <= self.attrs.keys():
            unknown = min(given.keys() - self.attrs.keys())
            known = ", ".join(self.attrs) or "none"
            raise ValueError(f"{self.name} has no attribute {unknown!r}; it has: {known}")
        full = {name: given.get(name, attr.default) for name, attr in self.attrs.items()}
        for name, value in full.items():
            if value is REQUIRED:
                raise ValueError(f"{self.name} needs the attribute {name!r}")
            self.attrs[name].check(value, f"{self.name}: {name}")
        return full


OPS: dict[str, Op] = {}


def register(row: Op) -> Op:
    assert row.name not in OPS, f"{row.name} is in the table twice"
    assert row.kind in KINDS, row.kind
    OPS[row.name] = row
    return row


def op(name: str) -> Op:
    """The row of an op, by name."""
    if not isinstance(name, str) or name not in OPS:
        raise ValueError(f"unknown op {name!r}; `python -m course_lib ops` lists the known ones")
    return OPS[name]


def flops(node: Any) -> int:
    """Floating-point operations that a node performs."""
    return op(node.op).flops(node.type, [i.type for i in node.inputs], node.attrs)


def traffic(node: Any) -> int:
    """Bytes that a node reads and writes if it runs as a kernel of its own."""
    if node.op in ("input", "constant"):
        return 0
    distinct = dict.fromkeys(node.inputs)
    return node.type.nbytes + sum(i.type.nbytes for i in distinct)


def normal_axis(axis: int, rank: int, what: str) -> int:
    """Count a negative axis from the end; complain if it is out of range."""
    if not -rank <= axis < rank:
        raise ValueError(f"{what}: axis {axis} is out of range for rank {rank}")
    return axis + rank if axis < 0 else axis


def normal_axes(axes: Sequence[int] | None, rank: int, what: str) -> tuple[int, ...]:
    """Sorted, non-negative, without repeats; None means all axes.

    A number has no axes, yet frameworks let it be reduced along axis 0 or -1: nothing to do.
    """
    if axes is None or (rank == 0 and set(axes) <= {0, -1}):
        return tuple(range(rank))
    normal = sorted(normal_axis(a, rank, what) for a in axes)
    if len(set(normal)) != len(normal):
        raise ValueError(f"{what}: an axis is named twice in {tuple(axes)}")
    return tuple(normal)
