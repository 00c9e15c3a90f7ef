"""Pairs of a pattern and a node for the checks of match: some that fit, some that do not.

Next room: simplify.py.
"""

from __future__ import annotations

import itertools

import numpy as np

from autograder.units.u02.checks.merged import ATTRIBUTED
from course_lib.ir.graph.build import neg, relu, select, softmax
from course_lib.ir.graph.node import Node, apply, const, inp
from course_lib.ir.types import Sym, TensorType, f32

Pairs = list[tuple[Node, Node, str, str]]  # (pattern, node, why, words of the specification)

WHETHER = "How `node` matches `pattern`, or None if it does not"
VARIABLE = "An *input* of the pattern is a variable"
ANY = "It matches any node of its element type (whatever its shape and whatever its name)"
NUMBER = "It matches a constant of any shape, of the same element type"
ELEMENTS = "all of whose elements are that number"
NUMBER_OF = "`number_of` says which it is"
A_NUMBER = "A *constant* of the pattern is a number"
SAME_OP = "Any other pattern node matches a node of the same op with equal attributes"
AS_MANY = "as many operands, if the operands match in turn"
INNER = "Types of inner nodes are not compared"
EITHER = "The operands of a COMMUTATIVE op match in either order"
TWICE = "A pattern node that is used twice must match one and the same node both times"

A, B, K = inp("a", "f32[]"), inp("b", "f32[]"), inp("k", "i32[]")
P, Q = inp("p", "f32[1]"), inp("q", "f32[1]")
C, E = inp("c", "bool[]"), inp("e", "bool[4]")
TWIN, WIDE = inp("x", "f32[4,4]"), inp("m", "f32[2,2]")  # another x; a matrix of the pattern
X, Y, Z = inp("x", "f32[4,4]"), inp("y", "f32[4,4]"), inp("z", "i32[2]")


def _row(*operands: Node) -> Node:
    return apply("concat", *operands, axis=0)


PAIRS_THAT_FIT: Pairs = [
    (A + B, X + X, "Two variables may stand for one value.", VARIABLE),
    (neg(A), neg(softmax(X)), "A variable matches any operation.", ANY),
    (A + B, X + const(np.ones((4, 4), np.float32)), "A variable matches a constant, too.", ANY),
    (inp("x", "f32[3,3]"), inp("x", "f32[]"),
     "A variable matches a value of any shape and any name, even its own name.", ANY),
    (A, relu(X), "A pattern may be a variable and nothing else.", VARIABLE),
    (A - inp("a", "f32[]"), X - Y, "The pattern has two variables that are called a: two "
     "nodes are two variables, whatever their names.", VARIABLE),
    (A - A, (r := relu(X)) - r, "Both operands are the same node.", TWICE),
    (neg(A) - A, neg(X) - X, "The variable stands for x in both places.", TWICE),
    (neg(A), neg(inp("e", "f32[0,4]")), "A value without elements is a value.", ANY),
    (neg(A), neg(inp("s", TensorType(f32, (Sym.named("n"), 4)))), "Its size is not known yet.",
     ANY),
    (A * 1.0, X * const(np.ones((4, 4), np.float32)), "A tensor full of 1.0 is the number 1.0.",
     NUMBER),
    (A * 1.0, apply("mul", 1.0, X), "mul is commutative, in a pattern with a number too.",
     EITHER),
    (K + const(0, "i32"), Z + const([0, 0], "i32"), "Integers are numbers, too.", NUMBER),
    (A + const(np.nan), X + const(np.full(4, np.nan, np.float32)),
     "number_of compares bytes, and so NaN is NaN.", NUMBER_OF),
    (A * const([2.0]), X * const([2.0] * 4), "An f32[1] holds one number, too.", NUMBER),
    (const(2.0), const([2.0, 2.0]), "A pattern may be a number and nothing else.", A_NUMBER),
    (select(const(True), A, B), select(const([True] * 4), X, Y), "True is a number, too.",
     NUMBER),
    (neg(relu(inp("m", "f32[3,3]"))), neg(relu(inp("n", "f32[2]"))), "Shapes of inner nodes do "
     "not count.", INNER),
    (_row(P, Q), _row(X, X), "Equal attributes.",
     SAME_OP),
    (select(C, A, B), select(E, X, Y), "Three operands.", AS_MANY),
    (_row(P, Q, P, Q, neg(P)), _row(X, Y, X, Y, neg(X)), "Five operands.", AS_MANY),
]  # fmt: skip

PAIRS_THAT_DIFFER: Pairs = [
    (A - A, X - Y, "One variable stands for one value.", TWICE),
    (A - A, X - TWIN, "Two inputs with one name and one type are two values.", TWICE),
    ((r := relu(A)) * r, relu(X) * relu(X), "Two relu of x are two nodes.", TWICE),
    ((two := const(2.0)) * A + two * B, const(2.0) * X + const(2.0) * Y,
     "The pattern has one node 2.0, and the program has two.", TWICE),
    (neg(A), neg(inp("k", "i32[4,4]")), "f32 is not i32.", ANY),
    (neg(A), neg(inp("d", "f64[4]")), "f32 is not f64.", ANY),
    (neg(K), neg(inp("w", "i64[]")), "i32 is not i64.", ANY),
    (K, X, "A variable of i32 does not match an f32.", ANY),
    (A - 1.0, X - 2.0, "1.0 is not 2.0.", ELEMENTS),
    (A * 1.0, X * const(np.nextafter(np.float32(1), np.float32(2))),
     "The next number after 1.0 is not 1.0.", ELEMENTS),
    (A + 0.0, X + 1e-30, "1e-30 is small, but it is not 0.0.", ELEMENTS),
    (A + 0.0, X + -0.0, "0.0 is not -0.0: the bytes differ.", NUMBER_OF),
    (A * 2.0, X * Y, "A number matches only a constant.", A_NUMBER),
    (A * const([2.0]), X * const([2.0, 2.0, 2.0, 3.0]), "Not all elements are 2.0.", ELEMENTS),
    (const(0, "i32"), const(0.0),
     "0 : i32 and 0.0 : f32 have the same bytes, but different types.", NUMBER),
    *((A * 2.0, inp("r", "f32[4]") * const(row), "Not all elements are 2.0.", ELEMENTS)
      for row in ([3.0, 2.0, 2.0, 2.0], [2.0, 3.0, 2.0, 2.0], [2.0, 2.0, 3.0, 2.0],
                  [2.0, 2.0, 2.0, 3.0], [[2.0] * 4, [2.0, 3.0, 2.0, 2.0], [2.0] * 4])),
    (inp("l", "i64[]") + const(2**53, "i64"), inp("m", "i64[2]") + const([2**53 + 1], "i64"),
     "As floats, 2**53 and 2**53 + 1 are equal; they are i64.", ELEMENTS),
    (inp("d", "f64[]") * const(np.float64(0.1)),
     inp("f", "f64[2]") * const(np.nextafter(np.full(2, 0.1), 1)),
     "As f32 these numbers are equal; they are f64.", ELEMENTS),
    (const(0.0), const(np.zeros((0,), np.float32)),
     "A constant without elements holds no number.", NUMBER_OF),
    (A - B, X + Y, "sub is not add.", SAME_OP),
    (A + B, X - Y, "add matches add.", SAME_OP),
    (_row(P, Q), _row(X, Y, X),
     "The pattern has two operands, not three.", AS_MANY),
    (_row(P, Q), _row(X),
     "The pattern has two operands, not one.", AS_MANY),
    (_row(neg(P), Q), _row(X, neg(Y)),
     "concat does not commute.", EITHER),
    (neg(WIDE) @ WIDE, X @ neg(X), "matmul does not commute.", EITHER),
    (select(C, neg(A), B), select(E, X, neg(X)), "select does not commute.", EITHER),
    (select(C, A, A), select(E, X, Y), "The last operands differ.", TWICE),
    *((_row(P, P, P, P, P), _row(*[X] * k, Y, *[X] * (4 - k)),
       "One of the five operands is another one.", TWICE)
      for k in range(1, 5)),
    (_row(P, P, P, P, neg(P)), _row(X, X, X, X, X), "The last operand must be a neg.", AS_MANY),
    (_row(P, P, P, P), apply("concat", X, X, X, X, axis=1), "They run along other axes.",
     SAME_OP),
    *((apply(op, inp("p", kind), **mine), apply(op, inp("x", kind), **other), why, SAME_OP)
      for op, kind, attrs, why in ATTRIBUTED for mine, other in itertools.permutations(attrs, 2)),
]  # fmt: skip
