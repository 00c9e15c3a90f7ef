"""Checks of unit 2 for simplify: each line of its specification, and what no line allows.

Next room: untouched.py, the ops that have no line.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

import numpy as np

from autograder.check.cases import for_each
from autograder.check.framework import background, checks
from autograder.check.programs import graphs
from autograder.check.properties import live_ops, valid_graph
from autograder.units.u02.checks.shared import becomes, compiles, same_bits, stays
from course_lib.ir.graph.build import abs, maximum, minimum, neg, relu, reshape, select, tanh, trace
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node, apply, const

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


def _zero(x: Node) -> Node:
    return apply("expand", const(0, x.type.dtype), shape=x.type.shape)


WHOLES = ("i32", "i8", "i16", "i64", "u8", "u16", "u32", "u64")
FLOATING = ("f32", "f16", "f64")
SIGNED = (*FLOATING, *WHOLES[:4])
NUMBERS = (*FLOATING, *WHOLES)

# The lines of the specification of simplify: (before, after, types for which it is exact, line). In
# each, x and y are values of that type, and c is a truth value.
SIMPLER: list[tuple[Any, Any, tuple[str, ...], str]] = [
    (lambda x: neg(neg(x)), lambda x: x, SIGNED, "-(-x) -> x"),
    (lambda x: x * 1, lambda x: x, NUMBERS, "x * 1 -> x"),
    (lambda x: x / 1, lambda x: x, NUMBERS, "x / 1 -> x"),
    (lambda x: x - 0, lambda x: x, NUMBERS, "x - 0 -> x"),
    (lambda x: x * -1, lambda x: -x, SIGNED, "x * -1 -> -x"),
    (lambda x, y: x + -y, lambda x, y: x - y, SIGNED, "x + -y -> x - y"),
    (lambda x, y: x - -y, lambda x, y: x + y, SIGNED, "x - -y -> x + y"),
    (lambda x: maximum(x, x), lambda x: x, NUMBERS, "max(x, x) -> x"),
    (lambda x: minimum(x, x), lambda x: x, NUMBERS, "min(x, x) -> x"),
    (lambda x: abs(abs(x)), abs, SIGNED, "abs(abs(x)) -> abs(x)"),
    (lambda x: abs(neg(x)), abs, SIGNED, "abs(-x) -> abs(x)"),
    (lambda x: relu(relu(x)), relu, SIGNED, "relu(relu(x)) -> relu(x)"),
    (lambda c, x: select(c, x, x), lambda c, x: x, (*NUMBERS, "bool"), "select(c, x, x) -> x"),
    (lambda x: _not(_not(x)), lambda x: x, ("bool",), "not not c -> c"),
    (lambda x, y: select(const(True), x, y), lambda x, y: x, (*NUMBERS, "bool"),
     "select(true, x, y) -> x"),
    (lambda x, y: select(const(False), x, y), lambda x, y: y, (*NUMBERS, "bool"),
     "select(false, x, y) -> y"),
    (lambda x: x + 0, lambda x: x, WHOLES, "x + 0 -> x"),
    (lambda x: apply("sub", 0, x), lambda x: -x, WHOLES[:4], "0 - x -> -x"),
    (lambda x: x - x, _zero, WHOLES, "x - x -> 0"),
    (lambda x: x * 0, _zero, WHOLES, "x * 0 -> 0"),
    (lambda x: x**1, lambda x: x, NUMBERS, "x ** 1 -> x"),
    (lambda x: x + -0.0, lambda x: x, FLOATING, "x + -0.0 -> x"),
    (lambda x: apply("sub", -0.0, x), lambda x: -x, FLOATING, "-0.0 - x -> -x"),
]  # fmt: skip


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
    (lambda x, y: (x / (1.0 / y), apply("sqrt", x) * apply("sqrt", x)), [F, F],
     "Each of them is rounded twice.", EXACT),
]  # fmt: skip


@for_each("passes.simplify", SIMPLER, "the {} rules", spec=APPLY)
def simplify_applies_each_rule(simplify, before, after, kinds, line):
    """Each line of the specification is applied."""
    for kind in [k for k in kinds if k in (kinds[0], "i32")]:
        problem = f"`{line}` must be applied here, and is not."
        program, wanted = (_of_lines([(before, side)], kind) for side in (before, after))
        got = valid_graph(simplify(program), program)
        if line == SIMPLER[0][-1] and len(live_ops(got)) == len(live_ops(program)):
            problem += f" {NO_MATCH}"
        becomes(lambda _, got=got: got, program, wanted, problem, spec=line)


def _of_lines(rows: Sequence[tuple[Any, Any]], kind: str) -> Graph:
    """The second of each pair, on values of this type: on those that the first one takes."""
    types = {"c": "bool[4]", "x": f"{kind}[4]", "y": f"{kind}[4]"}
    takes = [list(inspect.signature(first).parameters) for first, _ in rows]
    names = [name for name in types if any(name in some for some in takes)]

    def make(*values: Node) -> list[Node]:
        given = dict(zip(names, values, strict=True))
        return [second(*(given[name] for name in some))
                for some, (_, second) in zip(takes, rows, strict=True)]  # fmt: skip

    return trace(make, *(types[name] for name in names))


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
    for kind in (*NUMBERS, "bool"):
        lines = [(before, after) for before, after, kinds, _ in SIMPLER if kind in kinds]
        before, after = _of_lines([(one, one) for one, _ in lines], kind), _of_lines(lines, kind)
        becomes(simplify, before, after, f"Each of these lines holds for {kind}, too.", TYPES)
    return "every element type"


def _layers(c: Node, x: Node) -> Node:
    """40 operations, each of which goes once the one before it is gone; a tanh is left."""
    wanted = value = tanh(x)
    for _ in range(10):
        value = select(c, maximum(value, wanted), wanted)
        value = neg(reshape(neg(value), (4,)))
    return value


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


compiles("passes.simplify", APPLY)
