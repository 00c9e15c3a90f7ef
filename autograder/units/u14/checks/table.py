"""Visible checks of u14.rows: small programs that a row must take, and others that it must not.

`judged` is used by the hidden checks, too. Next room: plans.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from autograder.check.framework import Wrong, background, checks
from course_lib.accelerator.compile.partition import cover
from course_lib.ir.graph.build import gelu, relu, tanh, trace
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node, apply, const, inp
from course_lib.ir.types import i8
from lessons.u14.annotate import NAMES, as_patterns, said

FORM = "Return a list of two expressions, in this order"
NAMED = "In each, a name stands for one operand"
GELU = "An i8 value becomes a float, may go through a gelu, and becomes i8 again"
SCALES = "both scales are constants"
RELU = "a dense layer whose relu comes before the rescaling"
CONSTANT = (
    "The weights, the bias and the scale are constants, and the bias is added before the relu"
)
MISSING = "The bias may be missing, and so may the relu"
LARGEST = 20  # names and operations in an expression

background("u14.rows", "Write two rows for the table of a newer chip", because="the title")
background(
    "u14.rows", "The first is for a lookup table of 256 bytes", because="why such a row is possible"
)


class Case(NamedTuple):
    """A program for a row, and whether the row takes all of it or nothing."""

    row: int
    graph: Graph
    taken: bool
    words: str
    spec: str


def table_of_bytes(x: Node, f: Callable[[Node], Node], scale: Any = 0.1, new: Any = 0.2) -> Node:
    y = f(apply("dequantize", x, scale if isinstance(scale, Node) else const(scale)))
    return apply("quantize", y, new if isinstance(new, Node) else const(new))


def dense(x: Node, weights: Any, bias: Any = None, late: bool = False, activation: bool = True,
          scale: Any = None) -> Node:  # fmt: skip
    total = apply("matmul", x, weights, sums="i32")
    if activation and late:
        total = relu(total)
    total = total if bias is None else total + bias
    if activation and not late:
        total = relu(total)
    scale = const(np.full(total.type.dims[-1], 0.01, np.float32)) if scale is None else scale
    return apply("requantize", total, scale, axis=1)


W, B = const(np.ones((4, 3), np.int8)), const(np.ones(3, np.int32))
SCALE, BYTES, MATRIX = inp("s", "f32[]"), "i8[2,4]", "i8[4,3]"


def same(x: Node) -> Node:
    return x


def product(x: Node) -> Node:
    return apply("matmul", x, W, sums="i32")


def rescaled(sums: Node) -> Node:
    return apply("requantize", sums, const(np.full(3, 0.01, np.float32)), axis=1)


def cases() -> list[Case]:
    """What a row takes as a whole, and what it must not take."""
    return [*_of_bytes(), *_of_layers(), *_of_two()]


ONE, TWO = "The first row", "The second row"


def _of_bytes() -> list[Case]:
    def lookup(f: Any, *types: str) -> Graph:
        return trace(f, BYTES, *types)

    return [
        Case(0, lookup(lambda x: table_of_bytes(x, gelu)), True, f"{ONE} must take a gelu.", GELU),
        Case(0, lookup(lambda x: table_of_bytes(x, same)), True,
             f"{ONE} must take a change of the scale, without a gelu.", GELU),
        Case(0, lookup(lambda x: table_of_bytes(x, tanh)), False,
             f"{ONE} must not take a tanh.", GELU),
        Case(0, lookup(lambda x, s: table_of_bytes(x, gelu, scale=s), "f32[]"), False,
             f"{ONE} must not take a scale that is computed.", SCALES),
        Case(0, lookup(lambda x, s: table_of_bytes(x, gelu, new=s), "f32[]"), False,
             f"{ONE} must not take a new scale that is computed.", SCALES),
    ]  # fmt: skip


def _of_layers() -> list[Case]:
    return [
        Case(1, trace(lambda x: dense(x, W, B), BYTES), True,
             f"{TWO} must take a layer with bias and relu.", RELU),
        Case(1, trace(lambda x: dense(x, W), BYTES), True,
             f"{TWO} must take a layer without a bias.", MISSING),
        Case(1, trace(lambda x: dense(x, W, B, activation=False), BYTES), True,
             f"{TWO} must take a layer without a relu.", MISSING),
        Case(1, trace(lambda x: dense(x, W, activation=False), BYTES), True,
             f"{TWO} must take a layer that has neither.", MISSING),
        Case(1, trace(lambda x, w: dense(x, w, B), BYTES, MATRIX), False,
             f"{TWO} must not take weights that are computed.", CONSTANT),
        Case(1, trace(lambda x, b: dense(x, W, b), BYTES, "i32[3]"), False,
             f"{TWO} must not take a bias that is computed.", CONSTANT),
        Case(1, trace(lambda x, s: dense(x, W, B, scale=s), BYTES, "f32[3]"), False,
             f"{TWO} must not take a scale that is computed.", CONSTANT),
        Case(1, trace(lambda x: dense(x, W, B, late=True), BYTES), False,
             f"{TWO} must not take a bias that is added after the relu.", CONSTANT),
    ]  # fmt: skip


def _of_two() -> list[Case]:
    """One thing too many, or in the wrong place."""
    refused = [
        (0, "two gelus", GELU, lambda x: table_of_bytes(x, lambda y: gelu(gelu(y)))),
        (0, "a relu", GELU, lambda x: table_of_bytes(x, relu)),
        (0, "a relu behind the gelu", GELU, lambda x: table_of_bytes(x, lambda y: relu(gelu(y)))),
        (1, "two biases", CONSTANT, lambda x: rescaled(relu(product(x) + B + B))),
        (1, "two relus", RELU, lambda x: rescaled(relu(relu(product(x))))),
    ]
    return [
        Case(row, trace(f, BYTES), False, f"{(ONE, TWO)[row]} must not take {what}.", spec)
        for row, what, spec, f in refused
    ]


def expressions(rows: Any) -> list[Any]:
    """What the answer returned, if it can be rows of a table."""
    got = rows()
    if not isinstance(got, (list, tuple)) or len(got) != 2:
        said_ = "nothing (is a `return` missing?)" if got is None else repr(got)[:300]
        raise Wrong("The answer must be a list of two expressions.", got=said_, spec=FORM)
    for which, found in zip(("first", "second"), got, strict=True):
        problem = "it must be an operation with its operands" if isinstance(found, str) else ""
        if (
            problem := problem
            or _trouble(found)
            or ("it is too long" if _size(found) > LARGEST else "")
        ):
            raise Wrong(f"The {which} expression cannot be used: {problem}.",
                        got=repr(found)[:300], spec=FORM)  # fmt: skip
        names = [name.lstrip("*") for name in _names(found)]
        if twice := [name for name in names if names.count(name) > 1]:
            count = names.count(twice[0])
            raise Wrong(
                f"In the {which} expression, `{twice[0]}` stands for {count} operands.",
                got=repr(found)[:300],
                spec=NAMED,
            )
    return list(got)


def _trouble(found: Any) -> str:
    if isinstance(found, str):
        return "" if found.strip("*") else "a name is empty"
    if not isinstance(found, (list, tuple)) or len(found) < 2 or not isinstance(found[0], str):
        return f"an expression is a name or (op, operand, ...), not {repr(found)[:80]}"
    return next((why for part in found[1:] if (why := _trouble(part))), "")


def _size(found: Any) -> int:
    return 1 if isinstance(found, str) else sum(map(_size, found))


def _names(found: Any) -> list[str]:
    return [found] if isinstance(found, str) else [n for part in found[1:] for n in _names(part)]


def misfit(expression: Any, node: Node) -> str:
    """Where an expression stops looking like the program that ends with this node; "" if it fits
    everywhere."""
    if isinstance(expression, str):
        here = f"but a {node.op} of type {node.type} stands there"
        if expression.startswith("*"):
            return "" if node.op == "constant" else f"`{expression}` must be a constant, {here}"
        return "" if node.type.dtype == i8 else f"`{expression}` stands for an i8 value, {here}"
    op, *parts = expression
    if op.endswith("?") and node.op != op[:-1]:
        return misfit(parts[0], node)
    if node.op != op.rstrip("?"):
        return f"the row has `{op}` where the program has {node.op}"
    if len(parts) != len(node.inputs):
        return f"`{op}` has {len(node.inputs)} operands, and {len(parts)} in the row"
    return next((why for p, i in zip(parts, node.inputs, strict=True) if (why := misfit(p, i))), "")


def judged(rows: Any, found: Sequence[Case]) -> str:
    """Each program is taken as a whole, or not at all."""
    got = expressions(rows)
    for case in found:
        row = as_patterns([got[case.row]], [NAMES[case.row]])
        matches, refusals = cover(case.graph, patterns=row)
        if (case.taken and (refusals or not matches)) or (not case.taken and matches):
            ops = ", ".join(node.op for node in case.graph.ops)
            why = misfit(got[case.row], case.graph.outputs[0]) if case.taken else ""
            raise Wrong(case.words, program=case.graph,
                        got=f"{row[0]}\n{why or said(case.graph, [got[case.row]])}",
                        expected=f"takes {ops}" if case.taken else "nothing is taken",
                        spec=case.spec)  # fmt: skip
    return f"{len(found)} programs"


@checks("u14.rows", spec=[FORM, NAMED, GELU, SCALES, RELU, CONSTANT, MISSING])
def takes_what_it_must(rows):
    """Small programs, with and without what may be missing."""
    return judged(rows, cases())
