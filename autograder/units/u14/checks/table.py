"""Visible checks of u14.rows: small programs that a row must take, and others that it must not.

`judged` is used by the hidden checks, too. Next room: plans.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from autograder.check.framework import Wrong, background, checks
from autograder.check.shown import returned
from course_lib.accelerator.compile.partition import cover
from course_lib.ir.graph.build import gelu, relu, tanh, trace
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import Node, apply, const
from course_lib.ir.types import i8
from lessons.u14.annotate import NAMES, as_patterns, cover_report

FORM = "Return a list of two patterns, in this order"
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
background("u14.rows", "The first is for a lookup table of 256 bytes", because="why it is possible")


class Case(NamedTuple):
    """A program for a row, and whether the row takes it, without its first `left` operations, or
    nothing of it."""

    row: int
    graph: Graph
    taken: bool
    words: str
    spec: str
    left: int


W, B = const(np.ones((4, 3), np.int8)), const(np.ones(3, np.int32))
OLD, NEW = const(0.1), const(0.2)


def bytes_(x: Node, f: Callable[[Node], Node], scale: Node = OLD, new: Node = NEW) -> Node:
    return apply("quantize", f(apply("dequantize", x, scale)), new)


def dense(x: Node, weights: Any, bias: Any = None, scale: Any = None, late: bool = False,
          relu: Any = relu) -> Node:  # fmt: skip
    def biased(sums: Node) -> Node:
        return sums if bias is None else sums + bias

    first, then = (relu, biased) if late else (biased, relu)
    return rescaled(then(first(product(x, weights))), scale)


BYTES = "i8[2,4]"


def same(x: Node) -> Node:
    return x


def product(x: Node, weights: Node = W) -> Node:
    return apply("matmul", x, weights, sums="i32")


def rescaled(sums: Node, scale: Node | None = None) -> Node:
    ours = const(np.full(sums.type.dims[-1], 0.01, np.float32))
    return apply("requantize", sums, ours if scale is None else scale, axis=1)


def case(row: int, taken: bool, what: str, spec: str, program: Callable[..., Any], *types: str,
         data: str = BYTES, left: int = 0) -> Case:  # fmt: skip
    """The program as a case; `types` are those of what is computed beside `data`."""
    must = "must" if taken else "must not"
    words = f"The {('first', 'second')[row]} row {must} take {what}."
    return Case(row, trace(program, data, *types), taken, words, spec, left)


def cases() -> list[Case]:
    """What a row takes as a whole, and what it must not take: one thing wrong, then two."""
    computed = "that is computed"
    rows: list[Any] = [
        (0, True, "a gelu", GELU, lambda x: bytes_(x, gelu)),
        (0, True, "a change of the scale, without a gelu", GELU, lambda x: bytes_(x, same)),
        (0, False, "a tanh", GELU, lambda x: bytes_(x, tanh)),
        (0, False, "two gelus", GELU, lambda x: bytes_(x, lambda y: gelu(gelu(y)))),
        (0, False, "a relu", GELU, lambda x: bytes_(x, relu)),
        (0, False, "a relu behind the gelu", GELU, lambda x: bytes_(x, lambda y: relu(gelu(y)))),
        (0, False, f"a scale {computed}", SCALES, lambda x, s: bytes_(x, gelu, s), "f32[]"),
        (0, False, f"a new scale {computed}", SCALES,
         lambda x, s: bytes_(x, gelu, new=s), "f32[]"),
        (1, True, "a layer with bias and relu", RELU, lambda x: dense(x, W, B)),
        (1, True, "a layer without a bias", MISSING, lambda x: dense(x, W)),
        (1, True, "a layer without a relu", MISSING, lambda x: dense(x, W, B, relu=same)),
        (1, True, "a layer that has neither", MISSING, lambda x: dense(x, W, relu=same)),
        (1, False, "weights that are computed", CONSTANT, lambda x, w: dense(x, w, B), "i8[4,3]"),
        (1, False, f"a bias {computed}", CONSTANT, lambda x, b: dense(x, W, b), "i32[3]"),
        (1, False, f"a scale {computed}", CONSTANT, lambda x, s: dense(x, W, B, s), "f32[3]"),
        (1, False, "a bias behind the relu", CONSTANT, lambda x: dense(x, W, B, late=True)),
        (1, False, "two biases", CONSTANT, lambda x: rescaled(relu(product(x) + B + B))),
        (1, False, "two relus", RELU, lambda x: rescaled(relu(relu(product(x))))),
    ]  # fmt: skip
    alone = case(1, True, "only the layer", RELU, lambda x: dense(relu(x), W, B), left=1)
    return [*(case(*row) for row in rows), alone]


def expressions(rows: Any) -> list[Any]:
    """What the answer returned, if it can be rows of a table."""
    got = rows()
    if not isinstance(got, (list, tuple)) or len(got) != 2:
        raise Wrong("The answer must be a list of two patterns.", got=returned(got, 300), spec=FORM)
    for which, expression in zip(("first", "second"), got, strict=True):
        problem = _trouble(expression) or ("it is too long" if _size(expression) > LARGEST else "")
        if isinstance(expression, str):
            problem = "it must be a tuple, an operation with its operands"
        if problem:
            raise Wrong(f"The {which} pattern cannot be used: {problem}.",
                        got=repr(expression)[:300], spec=FORM)  # fmt: skip
        names = [name.lstrip("*") for name in _names(expression)]
        if twice := [name for name in names if names.count(name) > 1]:
            count = names.count(twice[0])
            problem = f"In the {which} pattern, `{twice[0]}` stands for {count} operands."
            raise Wrong(problem, got=repr(expression)[:300], spec=NAMED)
    return list(got)


def _trouble(expression: Any) -> str:
    if isinstance(expression, str):
        return "" if expression.strip("*") else "a name is empty"
    op, *operands = expression if isinstance(expression, (list, tuple)) and expression else [None]
    if not isinstance(op, str) or not operands:
        return f"a pattern is a name or (op, operand, ...), not {repr(expression)[:80]}"
    return next((why for part in operands if (why := _trouble(part))), "")


def _size(expression: Any) -> int:
    return 1 if isinstance(expression, str) else sum(map(_size, expression))


def _names(expression: Any) -> list[str]:
    if isinstance(expression, str):
        return [expression]
    return [n for part in expression[1:] for n in _names(part)]


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
        return f"the row has `{op}` where the program has `{node.op}`"
    if len(parts) != len(node.inputs):
        return f"`{op}` has {len(node.inputs)} operands, and {len(parts)} in the row"
    return next((why for p, i in zip(parts, node.inputs, strict=True) if (why := misfit(p, i))), "")


def judged(rows: Any, programs: Sequence[Case]) -> str:
    """Of each program is taken what must be, and nothing else."""
    got = expressions(rows)
    for case in programs:
        row = as_patterns([got[case.row]], [NAMES[case.row]])
        refusals = cover(case.graph, patterns=row)[1]
        if len(refusals) != (case.left if case.taken else len(case.graph.ops)):
            ops = ", ".join(node.op for node in case.graph.ops[case.left :])
            why = misfit(got[case.row], case.graph.outputs[0]) if case.taken else ""
            got_ = f"{row[0]}\n{why or cover_report(case.graph, [got[case.row]])}"
            due = f"takes {ops}" if case.taken else "nothing is taken"
            raise Wrong(case.words, program=case.graph, got=got_, expected=due, spec=case.spec)
    return f"{len(programs)} programs"


@checks("u14.rows", spec=[FORM, NAMED, GELU, SCALES, RELU, CONSTANT, MISSING])
def takes_what_it_must(rows):
    """Small programs, with and without what may be missing."""
    return judged(rows, cases())
