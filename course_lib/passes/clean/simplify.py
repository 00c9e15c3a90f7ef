"""Algebraic simplification: rules that make a program shorter and change no bit of its results.

    %0 = mul(%x, 1.0) : f32[4]
    %1 = neg(%0) : f32[4]           ==>     %0 = relu(%x) : f32[4]
    %2 = neg(%1) : f32[4]
    %3 = relu(%2) : f32[4]

Next room: `strength.py`, rules that replace an operation by a cheaper one.
"""

from __future__ import annotations

from course_lib.exercises import exercise
from course_lib.ir.graph.build import abs, maximum, neg, relu, select
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node, apply, const
from course_lib.ir.graph.provenance import origins
from course_lib.ir.types import DType
from course_lib.passes.clean.dce import keep
from course_lib.passes.infra.contract import contract
from course_lib.passes.infra.rewrite import rewrite
from course_lib.passes.infra.rule import rule


def whole(x: Node, *others: Node) -> bool:
    """A guard: integers have no -0.0, no infinity and no NaN, and only division rounds."""
    return not x.type.dtype.is_float


@contract(wants=["no groups"])
@exercise("passes.simplify", unit=2, points=4, baseline=keep, uses=("passes.match",), further=True)
def simplify(graph: Graph) -> Graph:
    """Apply those of these identities that are exact, wherever they match, until none does.

        x + 0    -> x        x * 1   -> x        x + -y              -> x - y
        x + -0.0 -> x        x * 0   -> 0        x - -y              -> x + y
        x - 0    -> x        x * -1  -> -x       max(x, x)           -> x
        0 - x    -> -x       x / 1   -> x        min(x, x)           -> x
        -0.0 - x -> -x       x / x   -> 1        abs(abs(x))         -> abs(x)
        x - x    -> 0        x ** 1  -> x        abs(-x)             -> abs(x)
        -(-x)    -> x        not not c -> c      relu(relu(x))       -> relu(x)
        (x * y) / y -> x     (x * 2) / 2 -> x    select(c, x, x)     -> x
                                                 select(true, x, y)  -> x
                                                 select(false, x, y) -> y

    Exact means: the same bits for every input (a NaN stays a NaN). Some lines are exact for every
    type that has the op, some for integers alone (`guard=whole`), and some for none; the answer for
    one line may differ between floats and integers. You may add further exact rules.

    Products and sums match in either order, and every number also matches a constant tensor filled
    with it; but x * 1 is not simplified where the constant stretches x to a larger shape.
    `MOVEMENT` holds the rules for reshape, transpose, expand, slice, pad, concat and cast, ready to
    use. `rule` uses `match`: until you have answered that exercise, only patterns of one op apply,
    with the operands in the order in which they are written.

    >>> from course_lib.ir.graph.build import trace
    >>> from course_lib.passes.clean.dce import dce
    >>> dce(simplify(trace(lambda x: (-(-(x * 1.0)) + 0.0) / 1.0, "f32[4]")))
    graph @main(%x0: f32[4]) -> (f32[4]) {
      %0 = constant dense<0.0> : f32[]
      %1 = add(%x0, %0) : f32[4]
      return %1
    }
    <BLANKLINE>
    """
    rules = [
        rule(lambda x: x * 1, lambda x: x),
        rule(lambda x: x / 1, lambda x: x),
        rule(lambda x: x - 0, lambda x: x),
        rule(lambda x: x * -1, lambda x: -x),
        rule(lambda x: neg(neg(x)), lambda x: x),
        rule(lambda x, y: x + -y, lambda x, y: x - y),
        rule(lambda x, y: x - -y, lambda x, y: x + y),
        rule(lambda x: x + 0, lambda x: x, guard=whole),
        rule(lambda x: 0 - x, lambda x: -x, guard=whole),
        rule(lambda x: x - x, lambda x: 0, guard=whole),
        rule(lambda x: x * 0, lambda x: 0, guard=whole),
        rule(lambda x: x**1, lambda x: x),
        rule(lambda x: x + -0.0, lambda x: x),
        rule(lambda x: -0.0 - x, lambda x: -x),
        rule(lambda x: maximum(x, x), lambda x: x),
        rule(lambda x: apply("min", x, x), lambda x: x),
        rule(lambda x: abs(abs(x)), lambda x: abs(x)),
        rule(lambda x: abs(neg(x)), lambda x: abs(x)),
        rule(lambda x: relu(relu(x)), lambda x: relu(x)),
        rule(lambda c: apply("not", apply("not", c)), lambda c: c),
        rule(lambda c, x: select(c, x, x), lambda c, x: x, types={"c": "bool[]"}),
        rule(lambda x, y: select(const(True), x, y), lambda x, y: x),
        rule(lambda x, y: select(const(False), x, y), lambda x, y: y),
    ]
    return rewrite(graph, [*rules, *MOVEMENT])


# Rules about attributes are functions of a node: its replacement, or None where they do not apply.


def moves_nothing(node: Node) -> Node | None:
    """reshape to the same shape, transpose in the old order, pad by nothing, cast to the same type.

    The same type is not enough for a slice: with step -1 it keeps the shape and turns the axis.
    """
    if len(node.inputs) != 1 or node.type != node.inputs[0].type:
        return None
    attrs = node.attrs
    idle = {
        "reshape": lambda: True,
        "expand": lambda: True,
        "cast": lambda: True,
        "concat": lambda: True,
        "pad": lambda: True,  # widths are not negative: the same shape means that all are zero
        "transpose": lambda: attrs["perm"] == tuple(range(node.type.rank)),
        "slice": lambda: min(attrs["steps"] or (1,), default=1) > 0,
    }
    return node.inputs[0] if node.op in idle and idle[node.op]() else None


def two_in_a_row(node: Node) -> Node | None:
    """reshape of reshape, expand of expand, transpose of transpose: once is enough."""
    inner = node.inputs[0] if node.inputs else node
    if node.op not in ("reshape", "expand", "transpose") or inner.op != node.op:
        return None
    attrs = dict(node.attrs)
    if node.op == "transpose":
        attrs["perm"] = tuple(inner.attrs["perm"][axis] for axis in node.attrs["perm"])
    elif node.op == "reshape":
        attrs["shape"] = node.type.shape  # a -1 was resolved already
    return apply(node.op, inner.inputs[0], origin=origins(node, inner), **attrs)


def cast_of_cast(node: Node) -> Node | None:
    """cast(cast(x)) is one cast if the type between them holds every number of x's type.

    Of what the last type does not hold, a float becomes the nearest that it does hold, and an
    integer wraps: from integer to float to integer, that type must hold every number of x's, too.
    """
    inner = node.inputs[0] if node.inputs else node
    if node.op != "cast" or inner.op != "cast":
        return None
    source = inner.inputs[0]
    old, between, new = (n.type.dtype for n in (source, inner, node))
    saturates = between.is_float and not (old.is_float or new.is_float or new.kind == "bool")
    if not lossless(old, between) or (saturates and not lossless(old, new)):
        return None
    return apply("cast", source, dtype=node.attrs["dtype"], origin=origins(node, inner))


def lossless(small: DType, large: DType) -> bool:
    """Does `large` hold every number of `small`? (f32 holds i16, not i32: it has 24 bits.)"""
    if small == large or small.kind == "bool":
        return True
    if small.is_float:
        return large.is_float and large.size > small.size
    if large.is_float:
        return 8 * small.size <= {"f16": 11, "f32": 24, "f64": 53}[large.name]
    return large.kind in (small.kind, "int") and large.size > small.size


MOVEMENT = [moves_nothing, two_in_a_row, cast_of_cast]
