"""Level 1, the values: a node *is* its value, and `apply` makes one by op name.

    x = inp("x", "f32[4]")
    y = apply("relu", x)                  # a Node : f32[4]; nothing is computed yet

A node never changes. A pass that wants a different graph makes new nodes for what differs and
shares the rest. Two nodes are equal only if they are the same object: whether two *computations*
are equal is a question for `passes/clean/cse.py`. `apply` infers the type from the op table
(`ir/registry.py`), so that an ill-typed node cannot be made. Next room: `order.py`.

Reading path, 2 of 12; next: `ir/registry.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal
from weakref import WeakSet

import numpy as np

from course_lib.arguments import takes
from course_lib.ir.arrays import aligned_copy
from course_lib.ir.registry import op as op_row
from course_lib.ir.types import DType, TensorType, dtype, f32, f64, parse_type, type_of

TRACING = ContextVar("tracing", default=False)  # does a function run on nodes? build.py: trace


@dataclass(frozen=True, eq=False)
class Node:
    """One operation and the one value that it defines.

    op      name of a row in `ops.OPS`
    inputs  the nodes whose values it reads, in order
    attrs   compile-time parameters; every attribute of the op's row is present
    type    of the value
    name    a hint for printing; need not be unique
    origin  where it came from in the user's model: torch module paths or ONNX node names
    """

    op: str
    inputs: tuple[Node, ...]
    attrs: Mapping[str, Any]
    type: TensorType
    name: str = ""
    origin: tuple[str, ...] = ()

    @property
    def value(self) -> np.ndarray:
        """The array of a constant."""
        assert self.op == "constant", f"{self.op} has no compile-time value"
        return self.attrs["value"]

    def with_inputs(self, inputs: Sequence[Node]) -> Node:
        """The same operation on other values; this very node if nothing differs."""
        inputs = tuple(inputs)
        if inputs == self.inputs:  # nodes are equal if they are the same
            return self
        if len(inputs) != len(self.inputs):
            raise ValueError(f"{self.op} has {len(self.inputs)} operands, not {len(inputs)}")
        return Node(self.op, inputs, self.attrs, self.type, self.name, self.origin)

    def __repr__(self) -> str:
        args = ", ".join(n.name or n.op for n in self.inputs)
        where = f"  # from {', '.join(self.origin)}" if self.origin else ""
        return f"{self.op}({args}) : {self.type}{where}"

    def __bool__(self) -> Literal[True]:
        """A node is an object, and so true. In a function that is traced it stands for a value, and
        a decision about that value would silently be made once, for all inputs."""
        if TRACING.get():
            raise TypeError(
                f"{self!r} has no value yet, so it is neither true nor false: `select` chooses "
                "between two values when the model runs, and `is None` asks whether there is a node"
            )
        return True

    # Arithmetic on nodes builds nodes, so that rewrites and examples read like formulas.
    __array_ufunc__ = None  # numpy's `array + node` leaves it to the node, too

    def __add__(self, other: Any) -> Node:
        return apply("add", self, other)

    def __radd__(self, other: Any) -> Node:
        return apply("add", other, self)

    def __sub__(self, other: Any) -> Node:
        return apply("sub", self, other)

    def __rsub__(self, other: Any) -> Node:
        return apply("sub", other, self)

    def __mul__(self, other: Any) -> Node:
        return apply("mul", self, other)

    def __rmul__(self, other: Any) -> Node:
        return apply("mul", other, self)

    def __truediv__(self, other: Any) -> Node:
        return apply("div", self, other)

    def __rtruediv__(self, other: Any) -> Node:
        return apply("div", other, self)

    def __pow__(self, other: Any) -> Node:
        return apply("pow", self, other)

    def __rpow__(self, other: Any) -> Node:
        return apply("pow", other, self)

    def __neg__(self) -> Node:
        return apply("neg", self)

    def __matmul__(self, other: Any) -> Node:
        return apply("matmul", self, other)

    def __rmatmul__(self, other: Any) -> Node:
        return apply("matmul", other, self)


WELL_FORMED: WeakSet[Node] = WeakSet()  # a node never changes: looking at it once is enough


@takes
def inp(name: str, type: TensorType | str) -> Node:
    """An input of a graph."""
    type = parse_type(type) if isinstance(type, str) else type
    return Node("input", (), MappingProxyType({}), type, name)


@takes
def const(value: Any, type: DType | str | None = None, name: str = "", given: bool = False) -> Node:
    """A constant from an array, a list or a number (Python floats become f32).

    The numbers are copied, unless an array that lies row after row is `given` away: nobody may
    write it then.
    ValueError if the type does not have the number.
    """
    type = dtype(type) if isinstance(type, str) else type
    if type is None and not isinstance(value, (np.ndarray, np.generic)):
        element_type = DType.of(np.asarray(value).dtype)
        type = f32 if element_type == f64 else element_type
    array = type.array(value) if type else np.asarray(value)
    kind = type_of(array)  # an array of objects has none, and must not be copied byte by byte
    if not (given and array is value and array.flags.c_contiguous):
        array = aligned_copy(array)
    array.setflags(write=False)
    return Node("constant", (), MappingProxyType({"value": array}), kind, name)


def apply(
    op: str, *operands: Any, name: str = "", origin: tuple[str, ...] = (), **attrs: Any
) -> Node:
    """A node of the named op. Operands are nodes, arrays or numbers.

    ValueError if the op is unknown, or does not take these operands or attributes.
    """
    op_row(op).check_arity(len(operands))
    frozen = {key: _frozen(value) for key, value in attrs.items()}
    return checked(op, _as_nodes(operands, op), frozen, None, name, origin)


def checked(
    op: str,
    inputs: Sequence[Node],
    attrs: Mapping[str, Any],
    declared: TensorType | None,
    name: str = "",
    origin: tuple[str, ...] = (),
) -> Node:
    """The one gate to every node that computes: by the op table, it is well formed.

    Attributes that are not given have their default. ValueError if the type is declared and is not
    what the operands give.
    """
    row = op_row(op)
    row.check_arity(len(inputs))
    full = row.complete(attrs)
    result = row.infer([i.type for i in inputs], full)
    if declared not in (None, result):
        source = "its operands give" if inputs else "it is"
        raise ValueError(f"declared {declared}, but {source} {result}")
    node = Node(op, tuple(inputs), MappingProxyType(full), result, name, origin)
    if "body" not in full:
        WELL_FORMED.add(node)
    return node


def _frozen(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return tuple(_frozen(v) for v in value)
    if isinstance(value, np.generic):
        return value.item()
    return value


def _as_nodes(operands: Sequence[Any], op: str) -> tuple[Node, ...]:
    given = [o for o in operands if isinstance(o, Node)]
    like = given[-1].type.dtype if given else None  # the last: select's first one is a bool
    nodes = []
    for operand in operands:
        if isinstance(operand, Node):
            nodes.append(operand)
        elif isinstance(operand, (bool, int, float, list, tuple, np.ndarray, np.generic)):
            scalar = isinstance(operand, (bool, int, float))
            whole = not isinstance(operand, float) or like is None or like.is_float
            if scalar and like is not None and not (whole and like.holds(operand)):
                raise ValueError(f"{op}: the number {operand} does not fit a tensor of {like}")
            nodes.append(const(operand, like if scalar else None))
        else:
            raise ValueError(
                f"{op}: an operand must be a Node, an array or a number, got {operand!r}"
            )
    return tuple(nodes)
