"""Checks of unit 2 for simplify: each line of its specification, and what no line allows.

Next room: untouched.py, the ops that have no line.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autograder.check.cases import for_each
from autograder.check.framework import background, checks
from autograder.check.programs import graphs
from autograder.check.properties import live_ops, valid_graph
from autograder.units.u02.checks.shared import becomes, same_bits, stays, works_in_the_compiler
from course_lib.ir.graph.build import (
    abs,
    cast,
    concat,
    maximum,
    minimum,
    neg,
    relu,
    reshape,
    select,
    sqrt,
    tanh,
    trace,
    transpose,
)
from course_lib.ir.graph.node import Node, apply, const
from course_lib.ir.types import DTYPES

F, I, B = "f32[4]", "i32[4]", "bool[4]"
NO_MATCH = "`rule(...)` finds patterns of one op only, until your `passes.match` is written."

APPLY = "Apply those of these identities that are exact, wherever they match, until none does"
TYPES = "Some lines are exact for every type that has the op"
WHOLE = "some for integers alone (`guard=whole`), and some for none"
MORE = "You may add further exact rules"
EITHER = "Products and sums match in either order, and every number also matches a constant tensor"
MOVES = "`MOVEMENT` holds the rules for reshape, transpose, expand, slice, pad, concat and cast"
EXACT = "Exact means: the same bits for every input (a NaN stays a NaN)"
STRETCHES = "x * 1 is not simplified where the constant stretches x to a larger shape"

background("passes.simplify", "the answer for one line may differ between floats and integers",
           because="follows from the two lines before it, each of which is checked")  # fmt: skip
background("passes.simplify", MORE, because="an offer: the checks look at bits, and what is left")
background("passes.simplify", "`rule` uses `match` ... in which they are written",
           because="about the stand-in of match; the grader has ours")  # fmt: skip


def _not(x: Any) -> Any:
    return apply("not", x)


# The lines of the specification of simplify: (before, after, types, line).
SIMPLER = [
    (lambda x: neg(neg(x)), lambda x: x, [F], "-(-x) -> x"),
    (lambda x: x * 1.0, lambda x: x, [F], "x * 1 -> x"),
    (lambda x: x / 1.0, lambda x: x, [F], "x / 1 -> x"),
    (lambda x: x - 0.0, lambda x: x, [F], "x - 0 -> x"),
    (lambda x: x * const(np.ones((2, 3))), lambda x: x, ["f64[2,3]"], "x * 1 -> x"),
    (lambda x: neg(neg(x)), lambda x: x, ["f16[]"], "-(-x) -> x"),
    (lambda x: x * -1.0, lambda x: -x, [F], "x * -1 -> -x"),
    (lambda x, y: x + -y, lambda x, y: x - y, [F, F], "x + -y -> x - y"),
    (lambda x, y: x - -y, lambda x, y: x + y, [F, F], "x - -y -> x + y"),
    (lambda x: maximum(x, x), lambda x: x, [F], "max(x, x) -> x"),
    (lambda x: minimum(x, x), lambda x: x, [I], "min(x, x) -> x"),
    (lambda x: abs(abs(x)), lambda x: abs(x), [F], "abs(abs(x)) -> abs(x)"),
    (lambda x: abs(neg(x)), lambda x: abs(x), [F], "abs(-x) -> abs(x)"),
    (lambda x: relu(relu(x)), lambda x: relu(x), [F], "relu(relu(x)) -> relu(x)"),
    (lambda c, x: select(c, x, x), lambda c, x: x, [B, F], "select(c, x, x) -> x"),
    (lambda c: _not(_not(c)), lambda c: c, [B], "not not c -> c"),
    (lambda x, y: select(const(True), x, y), lambda x, y: x, [F, F], "select(true, x, y) -> x"),
    (lambda x, y: select(const(False), x, y), lambda x, y: y, [F, F], "select(false, x, y) -> y"),
    (lambda x: x + 0, lambda x: x, [I], "x + 0 -> x"),
    (lambda x: apply("sub", 0, x), lambda x: -x, [I], "0 - x -> -x"),
    (lambda x: x - x, lambda x: apply("expand", const(0, "i32"), shape=(4,)), [I], "x - x -> 0"),
    (lambda x: x * 0, lambda x: apply("expand", const(0, "i32"), shape=(4,)), [I], "x * 0 -> 0"),
    (lambda x: x**1.0, lambda x: x, [F], "x ** 1 -> x"),
    (lambda x: x + -0.0, lambda x: x, [F], "x + -0.0 -> x"),
    (lambda x: apply("sub", -0.0, x), lambda x: -x, [F], "-0.0 - x -> -x"),
]


# What simplify must leave alone: (program, types, why, words of the specification).
INEXACT = [
    (lambda x: x + 0.0, [F], "x + 0.0 is 0.0 for x = -0.0.", WHOLE),
    (lambda x: x * 0.0, [F], "x * 0.0 is NaN for infinity, and -0.0 for -1.", WHOLE),
    (lambda x: x - x, [F], "x - x is NaN for infinity.", WHOLE),
    (lambda x: apply("sub", 0.0, x), [F], "0.0 - x is 0.0 for x = 0.0, and -x is -0.0.", EXACT),
    (lambda x: x * const(np.ones((2, 4), np.float32)), [F],
     "This mul also stretches x to f32[2,4].", STRETCHES),
    (lambda x: x / x, [F], "x / x is NaN for 0.0, infinity and NaN.", WHOLE),
    (lambda x: x / x, [I], "0 / 0 is 0.", WHOLE),
    (lambda x, y: (x * y) / y, [F, F], "For y = 0.0 it is NaN.", WHOLE),
    (lambda x, y: (x * y) / y, [I, I], "For y = 0 it is 0.", WHOLE),
    (lambda x: (x * 2.0) / 2.0, [F], "x * 2.0 may be infinite.", WHOLE),
    (lambda x: (x * 2) / 2, [I], "x * 2 may be too large, and then it wraps.", WHOLE),
    (lambda x, y: ((x + y) - y, maximum(x, y), -(x - y)), [F, F],
     "y rounds x away, x may be smaller, and -(x - y) has another zero than y - x.", EXACT),
    (lambda x: relu(abs(x)), [I],
     "The least i32 has no absolute value: abs gives it back, and it is negative.", EXACT),
    (lambda x: relu(neg(relu(x))), [F], "It is NaN for NaN.", EXACT),
    (lambda x, y: (x / (1.0 / y), sqrt(x) * sqrt(x)), [F, F], "Each of them is rounded twice.",
     EXACT),
]  # fmt: skip


@for_each("passes.simplify", SIMPLER, "each of the rules", spec=APPLY)
def simplify_applies_each_rule(simplify, before, after, types, line):
    """Each line of the specification is applied."""
    program = trace(before, *types)
    got = valid_graph(simplify(program), program)
    problem = f"`{line}` must be applied here, and is not."
    if line == SIMPLER[0][-1] and len(live_ops(got)) == len(live_ops(program)):
        problem += f" {NO_MATCH}"
    becomes(lambda _: got, program, trace(after, *types), problem, spec=line)


@for_each("passes.simplify", INEXACT, "programs that must stay as they are")
def simplify_leaves_inexact_rules_out(simplify, before, types, why, spec):
    """What changes a bit for some input is not simplified."""
    stays(simplify, trace(before, *types), f"Nothing may go here. {why}", spec)


@checks("passes.simplify", given=graphs(size=7), examples=15, spec=EXACT)
def simplify_keeps_every_bit(simplify, graph):
    """The result computes what the program computes, bit for bit."""
    same_bits(graph, simplify(graph), spec=EXACT)


def _full(number: float, kind: type = np.float32) -> Node:
    return const(np.full(4, number, kind))


_TURNED: list[tuple[Any, list[str], Any, str]] = [
    (lambda x: apply("mul", _full(1), x), [F], lambda x: x, EITHER),
    (lambda x: apply("mul", -1.0, x) * _full(-1), [F], lambda x: x, EITHER),
    (lambda x, y: -y + x * _full(1), [F, F], lambda x, y: x - y, EITHER),
    (lambda x: apply("add", 0, x) + _full(0, np.int32), [I], lambda x: x, EITHER),
    (lambda x: (apply("mul", 0, x), x * _full(0, np.int32)), [I],
     lambda x: [apply("expand", const(0, "i32"), shape=(4,)) for _ in range(2)], EITHER),
    (lambda x: x / _full(1) - _full(0), [F], lambda x: x, EITHER),
    (lambda x: apply("add", _full(-0.0), x) - 0.0 + -0.0, [F], lambda x: x, EITHER),
    (lambda x: apply("sub", _full(-0.0), x ** _full(1)), [F], lambda x: -x, EITHER),
    (lambda x, y: select(const(np.ones(4, bool)), x, y), [I, I], lambda x, y: x, EITHER),
]  # fmt: skip


@for_each("passes.simplify", _TURNED, "operands in either order")
def simplify_takes_either_order_and_tensors(simplify, before, types, after, spec):
    """Operands of sums and products in either order; numbers that fill a tensor."""
    problem = "Sums and products match in either order; a tensor full of 1 counts as 1."
    becomes(simplify, trace(before, *types), trace(after, *types), problem, spec)


@checks("passes.simplify", spec=[TYPES, EXACT])
def simplify_knows_every_type(simplify):
    """Each line, in each element type that has the op."""
    for kind in ("f16", "f32", "f64", "i8", "i32", "i64", "u8", "bool"):
        _both_sides(simplify, _last_lines, kind, f"Each of these lines holds for {kind}, too.")
    for kind in [name for name in DTYPES if name != "bool"]:
        _both_sides(simplify, _first_lines, kind, f"The lines about numbers hold for {kind}, too.")
    return "every element type"


def _both_sides(simplify: Any, lines: Any, kind: str, problem: str) -> None:
    before, after = (
        trace(lambda *values, s=side: [row[s] for row in lines(*values)], "bool[3]",
              f"{kind}[3]", f"{kind}[3]") for side in (0, 1)
    )  # fmt: skip
    becomes(simplify, before, after, problem, TYPES)


def _first_lines(c: Node, x: Node, y: Node) -> list[tuple[Node, Node]]:
    """The lines with numbers, for an element type; of integers those too that are theirs alone."""
    kind, whole = x.type.dtype, not x.type.dtype.is_float
    zero = apply("expand", const(0, kind), shape=x.type.shape)
    rows = [(x * 1, x), (x / 1, x), (x - 0, x), (x**1, x)]
    if kind.kind != "uint":
        rows += [(x * -1, -x), (x + -y, x - y), (x - -y, x + y), (neg(neg(y)), y)]
    rows += [(x + 0, x), (x - x, zero), (x * 0, zero)] if whole else [(x + -0.0, x)]
    return rows if kind.kind == "uint" else [*rows, (apply("sub", 0 if whole else -0.0, x), -x)]


def _last_lines(c: Node, x: Node, y: Node) -> list[tuple[Node, Node]]:
    no, yes = const(False), const(True)
    rows = [(select(c, x, x), x), (select(yes, x, y), x), (select(no, x, y), y)]
    if x.type.dtype.kind == "bool":
        return [*rows, (_not(_not(x)), x)]
    rows += [(maximum(y, y), y), (minimum(x, x), x)]
    signed = [(abs(abs(x)), abs(x)), (abs(neg(y)), abs(y)), (relu(relu(x)), relu(x))]
    return rows if x.type.dtype.kind == "uint" else rows + signed


def _layers(c: Node, x: Node) -> Node:
    """40 operations, each of which goes once the one before it is gone; a tanh is left."""
    wanted = made = tanh(x)
    for _ in range(10):
        made = select(c, maximum(made, wanted), wanted)
        made = neg(reshape(neg(made), (4,)))
    return made


# (before, types, after, why, words of the specification)
_AGAIN = [
    (lambda x: neg(neg(neg(neg(x * 1.0)))) / 1.0 - 0.0, [F], lambda x: x,
     "Everything here cancels, so nothing may be left of it.", APPLY),
    (lambda x, y: x - neg(y * const(-np.ones(4, np.float32))), [F, F], lambda x, y: x - y,
     "y * -1 is -y, and -(-y) is y.", EITHER),
    (_layers, [B, F], lambda c, x: tanh(x), "Each rule that applies here makes room for the next "
     "one.", APPLY),
]  # fmt: skip


@for_each("passes.simplify", _AGAIN, "rules that make others apply")
def simplify_goes_on_until_nothing_matches(simplify, before, types, after, why, spec):
    """What one rule makes is looked at again."""
    becomes(simplify, trace(before, *types), trace(after, *types), why, spec)


@checks("passes.simplify", spec=[MOVES, EXACT])
def simplify_uses_the_movement_rules(simplify):
    """What moves nothing goes, and of two movements in a row one is left, as `MOVEMENT` says."""
    for before, after, why in _MOVED:
        becomes(simplify, trace(before, "f32[2,3]"), trace(after, "f32[2,3]"), why, MOVES)
    for before, why in _MOVES:
        stays(simplify, trace(before, "f32[3,3]"), f"Nothing may go here. {why}", EXACT)
    return f"{len(_MOVED) + len(_MOVES)} programs that only move elements"


_MOVED = [
    (lambda x: transpose(transpose(x, (1, 0)), (1, 0)), lambda x: x, "The transposes cancel."),
    (lambda x: reshape(reshape(x, (6,)), (3, 2)), lambda x: reshape(x, (3, 2)),
     "One reshape is enough."),
    (lambda x: cast(cast(x, "f64"), "f16"), lambda x: cast(x, "f16"),
     "f64 holds every f32, so one cast is enough."),
    (lambda x: cast(reshape(transpose(x, (0, 1)), (2, 3)), "f32"), lambda x: x,
     "Nothing moves here, and the type stays."),
    (lambda x: transpose(transpose(reshape(concat([x] * 4, 0), (2, 3, 4)), (1, 0, 2)), (0, 2, 1)),
     lambda x: transpose(reshape(concat([x] * 4, 0), (2, 3, 4)), (1, 2, 0)),
     "Two transposes of three axes make one: first one order, then the other."),
    (lambda x: apply("expand", apply("expand", x, shape=(1, 2, 3)), shape=(4, 2, 3)),
     lambda x: apply("expand", x, shape=(4, 2, 3)), "One expand is enough."),
    (lambda x: concat([apply("pad", x, low=(0, 0), high=(0, 0))], 0), lambda x: x,
     "Nothing is padded, and nothing is put beside x."),
]  # fmt: skip

# What moves something: of a square, so that the type alone says nothing.
_MOVES = [
    (lambda x: transpose(x, (1, 0)), "This transposes the matrix."),
    (lambda x: transpose(reshape(transpose(x, (1, 0)), (3, 3, 1)), (1, 0, 2)),
     "Between the two transposes there is another movement, which may look at the order."),
    (lambda x: apply("slice", x, starts=(2, 0), stops=(-1, 3), steps=(-1, 1)),
     "The order of the rows is reversed."),
    (lambda x: cast(cast(x, "i32"), "f32"), "0.5 is not an i32."),
    (lambda x: cast(cast(x, "f16"), "f32"), "An f16 does not hold every f32."),
    (lambda x: cast(cast(x, "bool"), "f32"), "As bool, 2.0 is true, and that is 1.0."),
    (lambda x: reshape(transpose(x, (1, 0)), (9,)),
     "The reshape reads the numbers in another order."),
]  # fmt: skip


works_in_the_compiler("passes.simplify", APPLY)
