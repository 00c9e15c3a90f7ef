"""Rules for the checks of the rewriter that the student writes.

    no_double_neg(neg(neg(x)))  ->  x          // None for any other node

Next room: evidence.py.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from autograder.wire.named import both_have
from course_lib.ir.graph.build import exp, neg, relu, tanh
from course_lib.ir.graph.node import Node, apply, const


def _of(op: str, name: str, make: Callable[..., Node]) -> Callable[[Node], Node | None]:
    """The rule that makes this of the operands of an op."""

    def rule(node: Node) -> Node | None:
        return make(*node.inputs) if node.op == op else None

    rule.__name__ = rule.__qualname__ = name
    return both_have(rule)  # type: ignore[arg-type]


relu_to_tanh = _of("relu", "relu_to_tanh", tanh)
relu_to_exp = _of("relu", "relu_to_exp", exp)
tanh_to_relu = _of("tanh", "tanh_to_relu", relu)
exp_to_negs = _of("exp", "exp_to_negs", lambda x: neg(relu(x)))  # two nodes
mul_to_max = _of("mul", "mul_to_max", lambda x, y: apply("max", x, y))
mul_to_twos = _of("mul", "mul_to_twos", lambda x, y: const(np.full(x.type.dims, 2.0, np.float32)))
# Another element type, of as many bytes; another shape, of as many elements; another size.
relu_to_integers = _of("relu", "relu_to_integers", lambda x: apply("cast", x, dtype="i32"))
relu_to_matrix = _of("relu", "relu_to_matrix", lambda x: apply("reshape", x, shape=(2, 2)))
relu_to_half = _of("relu", "relu_to_half", lambda x: apply("slice", x, starts=(0,), stops=(2,)))


@both_have
def no_double_neg(node: Node) -> Node | None:
    twice = node.op == "neg" and node.inputs[0].op == "neg"
    return node.inputs[0].inputs[0] if twice else None


@both_have
def mul_by_one(node: Node) -> Node | None:
    if node.op != "mul" or node.inputs[1].op != "constant":
        return None
    return node.inputs[0] if (node.inputs[1].value == 1).all() else None


@both_have
def two_to_three(node: Node) -> Node | None:
    """A constant full of 2.0 -> one full of 3.0."""
    if node.op != "constant" or not (node.value == 2).all():
        return None
    return const(np.full_like(node.value, 3.0))


@both_have
def countdown(node: Node) -> Node | None:
    """x * n -> x * (n - 1), until n is 0: as many replacements as the number says."""
    if node.op != "mul" or node.inputs[1].op != "constant" or node.inputs[1].value <= 0:
        return None
    return node.inputs[0] * const(node.inputs[1].value - 1)
