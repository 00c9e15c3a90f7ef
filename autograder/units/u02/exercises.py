"""Unit 2, Rewrites: the exercises that are no function of the library, and what they talk about.

`CANDIDATES` and `PASSES_ON`, the dumps in evidence.py, the programs in programs.py and the other
compilers in peers.py are given to the student; the bodies of the exercises are our answers and
never ship. Next room: autograder/units/u02/checks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autograder.check.rubrics import Rubric, Sample
from course_lib.exercises import exercise
from course_lib.ir.graph.build import abs, exp, log, maximum, neg, relu, sqrt, trace
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.graph_interp import run
from course_lib.ir.graph.node import Node, const
from course_lib.passes.clean.dce import keep
from course_lib.passes.infra.manager import Pass, run_passes

__all__ = ["apply_rules", "careful"]  # exercises of another file

# Operations that are left after the passes of the core, with our functions plugged in.
# tests/units/test_u02.py computes them again.
REFERENCE_OPS = {"mlp": 8, "block": 58, "resnet18": 129, "mobilenet_v2": 312, "decoder": 133}

# Thirty rules for floats, some of which hold: before, after.
CANDIDATES: dict[str, tuple[Callable[[Node], Any], Callable[[Node], Any]]] = {
    "x + 0.0 -> x": (lambda x: x + 0.0, lambda x: x),
    "x + -0.0 -> x": (lambda x: x + -0.0, lambda x: x),
    "x - 0.0 -> x": (lambda x: x - 0.0, lambda x: x),
    "0.0 - x -> -x": (lambda x: 0.0 - x, lambda x: -x),
    "-0.0 - x -> -x": (lambda x: -0.0 - x, lambda x: -x),
    "x - x -> 0.0": (lambda x: x - x, lambda x: 0.0),
    "x + x -> x * 2.0": (lambda x: x + x, lambda x: x * 2.0),
    "-(-x) -> x": (lambda x: neg(neg(x)), lambda x: x),
    "-(x - 1.0) -> 1.0 - x": (lambda x: -(x - 1.0), lambda x: 1.0 - x),
    "x - 1.0 -> x + -1.0": (lambda x: x - 1.0, lambda x: x + -1.0),
    "(x + 1.0) - 1.0 -> x": (lambda x: (x + 1.0) - 1.0, lambda x: x),
    "x * 1.0 -> x": (lambda x: x * 1.0, lambda x: x),
    "x * 0.0 -> 0.0": (lambda x: x * 0.0, lambda x: 0.0),
    "x * -1.0 -> -x": (lambda x: x * -1.0, lambda x: -x),
    "(x * 2.0) * 4.0 -> x * 8.0": (lambda x: (x * 2.0) * 4.0, lambda x: x * 8.0),
    "(x * 0.5) * 0.5 -> x * 0.25": (lambda x: (x * 0.5) * 0.5, lambda x: x * 0.25),
    "(x * 2.0) / 2.0 -> x": (lambda x: (x * 2.0) / 2.0, lambda x: x),
    "x / 1.0 -> x": (lambda x: x / 1.0, lambda x: x),
    "x / 4.0 -> x * 0.25": (lambda x: x / 4.0, lambda x: x * 0.25),
    "x / 7.0 -> x * (1.0 / 7.0)": (lambda x: x / 7.0, lambda x: x * (1.0 / 7.0)),
    "x / 10.0 -> x * 0.1": (lambda x: x / 10.0, lambda x: x * 0.1),
    "x / x -> 1.0": (lambda x: x / x, lambda x: 1.0),
    "1.0 / (1.0 / x) -> x": (lambda x: 1.0 / (1.0 / x), lambda x: x),
    "abs(-x) -> abs(x)": (lambda x: abs(-x), lambda x: abs(x)),
    "abs(x) + 0.0 -> abs(x)": (lambda x: abs(x) + 0.0, lambda x: abs(x)),
    "relu(abs(x)) -> abs(x)": (lambda x: relu(abs(x)), lambda x: abs(x)),
    "relu(-relu(x)) -> 0.0": (lambda x: relu(-relu(x)), lambda x: 0.0),
    "sqrt(x * x) -> abs(x)": (lambda x: sqrt(x * x), lambda x: abs(x)),
    "x ** 0.5 -> sqrt(x)": (lambda x: x**0.5, lambda x: sqrt(x)),
    "exp(log(x)) -> x": (lambda x: exp(log(x)), lambda x: x),
}

# Operations for which a zero of the other sign, in an operand, changes at most signs of zeros.
PASSES_ON = frozenset((
    "add", "sub", "mul", "neg", "abs", "relu", "max", "min", "conv", "matmul", "max_pool",
    "reduce_sum", "reduce_max", "mean", "reshape", "transpose", "expand", "slice", "pad",
))  # fmt: skip


@exercise("u02.after_fold", unit=2, points=2, kind="inverse")
def after_fold() -> Graph:
    """A program in which cse finds nothing alone, but finds something after fold.

    Alone, cse leaves as many operations as the program has. On fold's result, it leaves fewer
    operations than fold did. Dead operations do not count. At most 12 operations; at least one
    input.
    """
    two, three = const(2.0), const(3.0)
    return trace(lambda x: x * 6.0 + relu(x * (two * three)), "f32[4]")


@exercise("u02.witnesses", unit=2, points=2, kind="inverse", further=True)
def witnesses() -> dict[str, float]:
    """For each rule of CANDIDATES that some float breaks, give one such float.

    A dict from the rule's text to an f32 number for which its two sides differ, such as
    {"x + 0.0 -> x": ...}. A rule that holds for every number is not in it. Two results differ if
    their bits differ, as those of 0.0 and -0.0 do. Two NaNs count as equal.
    """
    return {
        "x + 0.0 -> x": -0.0,
        "0.0 - x -> -x": 0.0,
        "x - x -> 0.0": float("inf"),
        "-(x - 1.0) -> 1.0 - x": 1.0,
        "(x + 1.0) - 1.0 -> x": 1e-9,
        "x * 0.0 -> 0.0": -1.0,
        "(x * 2.0) / 2.0 -> x": 3e38,
        "x / 7.0 -> x * (1.0 / 7.0)": 3.0,
        "x / 10.0 -> x * 0.1": 9.0,
        "x / x -> 1.0": 0.0,
        "1.0 / (1.0 / x) -> x": 1e-40,
        "relu(-relu(x)) -> 0.0": float("nan"),
        "sqrt(x * x) -> abs(x)": 1e-30,
        "x ** 0.5 -> sqrt(x)": float("-inf"),
        "exp(log(x)) -> x": -1.0,
    }


@exercise("u02.drop_zeros", unit=2, points=3, further=True, baseline=keep)
def drop_zeros(graph: Graph) -> Graph:
    """Replace `add(x, 0.0)` by x wherever no output can show the difference.

    The two differ only for x = -0.0, and then only in the sign of a zero. That sign is *hidden* if
    the addition is not an output and each of its users hides it. A user hides it if one of the
    first two lines says so:

    - `add(y, c)` or `add(c, y)` hides it if c is a constant, and no element of c is -0.0. Both
      zeros of y give the same sum.
    - An operation in PASSES_ON, such as any `add`, hides it if the sign of its own result is
      hidden.
    - Every other operation may show it: 1 / y is infinite, with y's sign.

    The addition goes if the sign is hidden, if either operand is a constant full of 0.0, and if the
    other has the type of the result. Every bit of every result stays the same. If you know more
    than these three lines say, more additions may go. What is dead afterwards is left for `dce`.

    Linear time: each node and each edge is looked at once.
    """
    users, outputs = graph.users(), set(graph.outputs)
    hidden: set[Node] = set()
    for node in reversed(graph.nodes):
        if node not in outputs and all(_hides(user, node, hidden) for user in users[node]):
            hidden.add(node)

    def visit(node: Node, inputs: tuple[Node, ...]) -> Node:
        if node.op == "add" and node in hidden:
            for x, other in (inputs, inputs[::-1]):
                if x.type == node.type and _full_of_zeros(other):
                    return x
        return node.with_inputs(inputs)

    return graph.rebuild(visit)


def _hides(user: Node, node: Node, hidden: set[Node]) -> bool:
    """Does this user give the same results, or hidden ones, for both zeros of `node`?"""
    others = [i for i in user.inputs if i is not node and i.op == "constant"]
    if user.op == "add" and any(not _minus_zeros(c.value).any() for c in others):
        return True
    return user.op in PASSES_ON and user in hidden


def _full_of_zeros(node: Node) -> bool:
    if node.op != "constant":
        return False
    return not node.value.any() and not _minus_zeros(node.value).any()


def _minus_zeros(value: np.ndarray) -> np.ndarray:
    return (value == 0) & np.signbit(value)


@exercise("u02.sevenths", unit=2, points=1, kind="number", further=True)
def sevenths() -> float:
    """For how many of the 2**23 f32 numbers from 1 (included) to 2 (not included) does x * (1/7)
    differ from x / 7? Answer in percent, to three digits. 1/7 is an f32 too, as a compiler would
    store it.
    """
    seven, seventh = np.float32(7), np.float32(1) / np.float32(7)
    first, last, some = 0x3F800000, 0x40000000, 1 << 15  # as many numbers as stay in the cache
    differ = 0
    for bits in range(first, last, some):
        x = np.arange(bits, bits + some, dtype=np.uint32).view(np.float32)
        differ += np.count_nonzero(x / seven != x * seventh)
    return 100 * differ / (last - first)


@exercise("u02.broken", unit=2, points=2, kind="evidence", further=True)
def broken() -> tuple[str, str]:
    """Which pass is broken, and which value did it replace by one that is not equal?

    Give the pass by the name of its dump, and the value by its name in the dump before that,
    without the %: ("fold", "eight"). A value that was replaced only because one of its operands was
    does not count.
    """
    return ("cse", "d")


@exercise("u02.every_pass", unit=2, points=3, kind="budget", further=True)
def every_pass() -> Graph:
    """A program that all five passes change, one after the other, with as few nodes as you can.

    fold, simplify, strength, cse and dce run in this order, each on the result of the one before,
    and each of them changes the program: `same_program(before, after)` is false five times.

    All nodes count: inputs, constants and operations. 16 is the bound, 5 is the best we know; every
    node above 5 costs a tenth of the points, down to half of them.
    """
    two = const(2.0)
    return trace(lambda x: maximum(x, x) / relu(two), "f32[4]")


@exercise("u02.zero", unit=2, points=2, kind="explain")
def zero() -> Rubric:
    """onnxruntime replaces `x + 0.0` by `x` for floats, and LLVM does not. Should our compiler have
    the rule? For which x does the result change, and how could a user of a network ever notice?
    What would the compiler have to prove, or the user have to allow, so that the rule may be
    applied? Three to five sentences.
    """
    return Rubric(
        criteria="1 point: names -0.0 as the only x whose result changes (x + 0.0 gives 0.0; NaN "
        "and infinity stay), and says where it can show: the sign of a zero, 1/x, copysign, a "
        "comparison of bits. 1 point: gives a sound condition: x cannot be -0.0 (it comes from abs "
        "or exp, or something was added to 0.0 before); or no later operation tells the two zeros "
        "apart; or the user allows it (a fast-math or no-signed-zeros flag). Half a point off for "
        "claiming that the difference is a rounding error.",
        samples=(
            Sample(2, "Only x = -0.0 changes: -0.0 + 0.0 is 0.0, and without the addition it stays "
                   "-0.0. You see it if something divides by the result (inf against -inf) or "
                   "looks at sign bits; a batch norm with a nonzero shift hides it. The rule is "
                   "allowed if the compiler can show that x is never -0.0 or that no user of the "
                   "value distinguishes zeros, or if the user compiles with a no-signed-zeros "
                   "flag."),
            Sample(1, "It is wrong for negative zero, since -0.0 + 0.0 = 0.0. That never matters "
                   "in a neural network, so the rule can always be added."),
            Sample(0, "Adding 0.0 rounds the number a little, so the results would be slightly "
                   "different in the last digits. You would need higher precision."),
        ),
    )  # fmt: skip


@exercise("u02.careful", unit=2, points=2, further=True)
def careful(graph: Graph, passes: Sequence[Pass], inputs: Sequence[Any]) -> tuple[Graph, int]:
    """Run `passes` in order, and stop before the first that changes what the program computes.

    Run each pass through `run_passes([one])`, which raises where a graph does not verify; let it.
    Then run the new program on `inputs` and compare it with the first program, `graph`: every
    output must have the same elements. NaN is the same as NaN here, and 0.0 the same as -0.0.

    Return the last graph whose outputs are right, and how many passes made it: if every pass is
    good, that is all of them. No pass runs after the first that is not.
    """
    wanted = run(graph, inputs)
    for count, one in enumerate(passes):
        after = run_passes(graph, [one])
        for got, before in zip(run(after, inputs), wanted, strict=True):
            if not np.array_equal(got, before, equal_nan=got.dtype.kind == "f"):
                return graph, count
        graph = after
    return graph, len(passes)


@exercise("u02.apply_rules", unit=2, points=2, further=True)
def apply_rules(graph: Graph, rules: Sequence[Callable[[Node], Node | None]]) -> Graph:
    """Apply rules in one walk from the inputs to the outputs: the heart of `rewrite`.

    A rule is a function: it takes a node and returns the node to put in its place, or None where it
    does not apply. Each node, with its new operands, is offered to the rules in their order, and
    the first that returns a node *of the same type* wins; a replacement of another type counts as
    None. The replacement is offered to all the rules again, until none applies. (Its operands are
    not: what is new below it is left as the rule made it.)

    Rules that undo each other never come to rest. If a node has been replaced 100 times and a rule
    still applies, raise ValueError. Nodes that nothing reads are left for `dce`: those that were
    dead before, and those that only a replaced node read.
    """

    def visit(node: Node, inputs: tuple[Node, ...]) -> Node:
        rewritten = node.with_inputs(inputs)
        for _ in range(100):
            new = _first(rules, rewritten)
            if new is None:
                return rewritten
            rewritten = new
        if _first(rules, rewritten) is not None:
            raise ValueError(f"the rules still apply after 100 replacements of {node!r}")
        return rewritten

    return graph.rebuild(visit)


def _first(rules: Sequence[Callable[[Node], Node | None]], node: Node) -> Node | None:
    for rule in rules:
        new = rule(node)
        if new is not None and new.type == node.type:
            return new
    return None
