"""Rules for the checks of the rewriter that the student writes.

    no_double_neg(neg(neg(x)))  ->  x          // None for any other node

Next room: evidence.py.
"""

from __future__ import annotations

import numpy as np

from autograder.wire.named import both_have
from course_lib.ir.graph.build import exp, neg, relu, tanh
from course_lib.ir.graph.node import Node, apply, const


@both_have
def no_double_neg(node: Node) -> Node | None:
    if node.op == "neg" and node.inputs[0].op == "neg":
        return node.inputs[0].inputs[0]
    return None


@both_have
def relu_to_tanh(node: Node) -> Node | None:
    return tanh(node.inputs[0]) if node.op == "relu" else None


@both_have
def relu_to_exp(node: Node) -> Node | None:
    return exp(node.inputs[0]) if node.op == "relu" else None


@both_have
def tanh_to_relu(node: Node) -> Node | None:
    return relu(node.inputs[0]) if node.op == "tanh" else None


@both_have
def exp_to_negs(node: Node) -> Node | None:
    """exp(x) -> neg(relu(x)): a rule that makes two nodes."""
    return neg(relu(node.inputs[0])) if node.op == "exp" else None


@both_have
def mul_by_one(node: Node) -> Node | None:
    if node.op != "mul" or node.inputs[1].op != "constant":
        return None
    return node.inputs[0] if (node.inputs[1].value == 1).all() else None


@both_have
def mul_to_max(node: Node) -> Node | None:
    return apply("max", *node.inputs) if node.op == "mul" else None


@both_have
def mul_to_twos(node: Node) -> Node | None:
    """x * y -> 2.0 everywhere: a rule that makes a constant."""
    return const(np.full(node.type.dims, 2.0, np.float32)) if node.op == "mul" else None


@both_have
def two_to_three(node: Node) -> Node | None:
    """A constant full of 2.0 -> one full of 3.0."""
    if node.op != "constant" or not (node.value == 2).all():
        return None
    return const(np.full_like(node.value, 3.0))


@both_have
def relu_to_integers(node: Node) -> Node | None:
    """Another element type, of as many bytes."""
    return apply("cast", node.inputs[0], dtype="i32") if node.op == "relu" else None


@both_have
def relu_to_matrix(node: Node) -> Node | None:
    """Another shape, of as many elements."""
    return apply("reshape", node.inputs[0], shape=(2, 2)) if node.op == "relu" else None


@both_have
def relu_to_half(node: Node) -> Node | None:
    """The first two elements: another size."""
    return apply("slice", node.inputs[0], starts=(0,), stops=(2,)) if node.op == "relu" else None


@both_have
def countdown(node: Node) -> Node | None:
    """x * n -> x * (n - 1), until n is 0: as many replacements as the number says."""
    if node.op != "mul" or node.inputs[1].op != "constant" or node.inputs[1].value <= 0:
        return None
    return node.inputs[0] * const(node.inputs[1].value - 1)
