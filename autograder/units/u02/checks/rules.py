"""Checks of unit 2 for the passes that are lists of rules: simplify and strength.

Each line of a specification is one small program here, and so is each rule that must not apply.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from autograder.check.framework import Wrong, checks
from autograder.check.programs import graphs
from autograder.check.properties import live_ops, same_meaning, valid_graph
from autograder.units.u02.checks.shared import becomes, same_bits, special_inputs, stays
from course_lib.ir.graph.build import (
    abs,
    cast,
    maximum,
    minimum,
    neg,
    relu,
    reshape,
    select,
    sqrt,
    trace,
    transpose,
)
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.interp import run
from course_lib.ir.graph.node import apply, const

F, I, B = "f32[4]", "i32[4]", "bool[4]"
NO_MATCH = "If you use `rule(...)`: it finds nothing until your `passes.match` is written."


def _not(x: Any) -> Any:
    return apply("not", x)


# The lines of the specification of simplify: (line, before, after, types).
SIMPLER = [
    ("-(-x) -> x", lambda x: neg(neg(x)), lambda x: x, [F]),
    ("-(-x) -> x", lambda x: neg(neg(x)), lambda x: x, [I]),
    ("x * 1 -> x", lambda x: x * 1.0, lambda x: x, [F]),
    ("x * 1 -> x", lambda x: apply("mul", 1, x), lambda x: x, [I]),
    ("x / 1 -> x", lambda x: x / 1.0, lambda x: x, [F]),
    ("x / 1 -> x", lambda x: x / 1, lambda x: x, [I]),
    ("x - 0 -> x", lambda x: x - 0.0, lambda x: x, [F]),
    ("x - 0 -> x", lambda x: x - 0, lambda x: x, [I]),
    ("x * 1 -> x", lambda x: x * const(np.ones((2, 3))), lambda x: x, ["f64[2,3]"]),
    ("x - 0 -> x", lambda x: x - 0, lambda x: x, ["u8[4]"]),
    ("-(-x) -> x", lambda x: neg(neg(x)), lambda x: x, ["f16[]"]),
    ("x * -1 -> -x", lambda x: x * -1.0, lambda x: -x, [F]),
    ("x * -1 -> -x", lambda x: x * -1, lambda x: -x, [I]),
    ("x + -y -> x - y", lambda x, y: x + -y, lambda x, y: x - y, [F, F]),
    ("x + -y -> x - y", lambda x, y: -y + x, lambda x, y: x - y, [I, I]),
    ("x - -y -> x + y", lambda x, y: x - -y, lambda x, y: x + y, [F, F]),
    ("max(x, x) -> x", lambda x: maximum(x, x), lambda x: x, [F]),
    ("min(x, x) -> x", lambda x: minimum(x, x), lambda x: x, [I]),
    ("abs(abs(x)) -> abs(x)", lambda x: abs(abs(x)), lambda x: abs(x), [F]),
    ("abs(-x) -> abs(x)", lambda x: abs(neg(x)), lambda x: abs(x), [F]),
    ("relu(relu(x)) -> relu(x)", lambda x: relu(relu(x)), lambda x: relu(x), [F]),
    ("select(c, x, x) -> x", lambda c, x: select(c, x, x), lambda c, x: x, [B, F]),
    ("not not c -> c", lambda c: _not(_not(c)), lambda c: c, [B]),
    ("select(true, x, y) -> x", lambda x, y: select(const(True), x, y), lambda x, y: x, [F, F]),
    ("select(false, x, y) -> y", lambda x, y: select(const(False), x, y), lambda x, y: y, [F, F]),
    ("x + 0 -> x", lambda x: x + 0, lambda x: x, [I]),
    ("0 - x -> -x", lambda x: apply("sub", 0, x), lambda x: -x, [I]),
    ("x - x -> 0", lambda x: x - x, lambda x: apply("expand", const(0, "i32"), shape=(4,)), [I]),
    ("x * 0 -> 0", lambda x: x * 0, lambda x: apply("expand", const(0, "i32"), shape=(4,)), [I]),
    ("x ** 1 -> x", lambda x: x**1, lambda x: x, [I]),
    ("x ** 1.0 -> x", lambda x: x**1.0, lambda x: x, [F]),
    ("x + -0.0 -> x", lambda x: x + -0.0, lambda x: x, [F]),
    ("-0.0 - x -> -x", lambda x: apply("sub", -0.0, x), lambda x: -x, [F]),
]


@functools.cache
def _simpler() -> list[tuple[str, Graph, Graph]]:
    return [(line, trace(before, *types), trace(after, *types))
            for line, before, after, types in SIMPLER]  # fmt: skip


# What simplify must leave alone: (program, why, words of the specification).
INEXACT = [
    (
        lambda x: x + 0.0,
        [F],
        "x + 0.0 is 0.0 for x = -0.0.",
        "x + 0.0 is not simplified: -0.0 + 0.0 is 0.0",
    ),
    (
        lambda x: x * 0.0,
        [F],
        "x * 0.0 is NaN for infinity, and -0.0 for -1.",
        "x * 0.0 is not 0.0, and x - x is not 0.0: think of infinity and NaN",
    ),
    (
        lambda x: x - x,
        [F],
        "x - x is NaN for infinity.",
        "x - x is not 0.0: think of infinity and NaN",
    ),
    (
        lambda x: apply("sub", 0.0, x),
        [F],
        "0.0 - x is 0.0 for x = 0.0, and -x is -0.0.",
        "Every rule must be exact",
    ),
    (
        lambda x: x * const(np.ones((2, 4), np.float32)),
        [F],
        "This mul also stretches x to f32[2,4].",
        "x * 1 is not simplified where the constant stretches x to a larger shape",
    ),
    (lambda x: x / x, [F], "x / x is NaN for 0.0, infinity and NaN.", "Every rule must be exact"),
    (lambda x: x / x, [I], "0 / 0 is 0.", "Every rule must be exact"),
    (
        lambda x, y: ((x + y) - y, maximum(x, y), -(x - y)),
        [F, F],
        "y rounds x away, x may be smaller, and -(x - y) has another zero than y - x.",
        "Every rule must be exact",
    ),
    (
        lambda x: relu(abs(x)),
        [I],
        "The least i32 has no absolute value: abs gives it back, and it is negative.",
        "Every rule must be exact",
    ),
    (lambda x: x**0.0 + x**2.0, [F], "Nothing here is in the list.", "Apply these identities"),
]


@checks("passes.simplify")
def simplify_applies_each_rule(simplify):
    """Each line of the specification is applied."""
    for line, program, wanted in _simpler():
        got = valid_graph(simplify(program), program)
        lead = f"`{line}` is not applied."
        if line == SIMPLER[0][0] and len(live_ops(got)) == len(live_ops(program)):
            lead += f" {NO_MATCH}"
        becomes(lambda _, got=got: got, program, wanted, lead, spec=line)
    return f"{len(SIMPLER)} rules"


@checks("passes.simplify", spec="Every rule must be exact")
def simplify_leaves_inexact_rules_out(simplify):
    """What changes a bit for some input is not simplified."""
    for before, types, why, spec in INEXACT:
        stays(simplify, trace(before, *types), f"Nothing may go here. {why}", spec)
    return "what must stay"


@checks("passes.simplify", given=graphs(size=7), examples=15, spec="the same bits for every input")
def simplify_keeps_every_bit(simplify, graph):
    """The result computes what the program computes, bit for bit."""
    same_bits(graph, simplify(graph))


@checks("passes.simplify", spec="until none does")
def simplify_goes_on_until_nothing_matches(simplify):
    """What one rule makes is looked at again."""
    before = trace(lambda x: neg(neg(neg(neg(x * 1.0)))) / 1.0 - 0.0, F)
    becomes(simplify, before, trace(lambda x: x, F), "Everything here cancels.", "until none does")
    before = trace(lambda x, y: x - neg(y * const(-np.ones(4, np.float32))), F, F)
    wanted = trace(lambda x, y: x - y, F, F)
    becomes(simplify, before, wanted, "y * -1 is -y; --y is y.", "filled with it")
    return "rules after rules"


MOVES = "`MOVEMENT` holds the rules for reshape, transpose, expand, slice, pad, concat and cast"


@checks("passes.simplify", spec=MOVES)
def simplify_uses_the_movement_rules(simplify):
    """What moves nothing goes, and of two movements in a row one is left, as `MOVEMENT` says."""
    for before, after, why in _MOVED:
        becomes(simplify, trace(before, "f32[2,3]"), trace(after, "f32[2,3]"), why, MOVES)
    return f"{len(_MOVED)} movements"


_MOVED = [
    (lambda x: transpose(transpose(x, (1, 0)), (1, 0)), lambda x: x, "The transposes cancel."),
    (lambda x: reshape(reshape(x, (6,)), (3, 2)), lambda x: reshape(x, (3, 2)),
     "One reshape is enough."),
    (lambda x: cast(cast(x, "f64"), "f16"), lambda x: cast(x, "f16"),
     "f64 holds every f32, so one cast is enough."),
    (lambda x: cast(reshape(transpose(x, (0, 1)), (2, 3)), "f32"), lambda x: x,
     "Nothing moves here, and the type stays."),
]  # fmt: skip


# The lines of the specification of strength: (line, program, types, ops that must be gone).
CHEAPER = [
    ("x / c -> x * (1/c)", lambda x: x / 2.0, [F], "div"),
    ("x / c -> x * (1/c)", lambda x: x / -0.5, [F], "div"),
    ("x / c -> x * (1/c)", lambda x: x / const([1.0, 2.0, 4.0, -8.0]), [F], "div"),
    ("x ** 2 -> x * x", lambda x: x**2.0, [F], "pow"),
    ("x ** 2 -> x * x", lambda x: x**2, [I], "pow"),
    ("x ** 0.5 -> sqrt(x)", lambda x: abs(x) ** 0.5, [F], "pow"),
    ("x ** -0.5 -> rsqrt(x)", lambda x: (x * x) ** -0.5, [F], "pow"),
    ("x ** -1.0 -> reciprocal(x)", lambda x: x**-1.0, [F], "pow"),
    ("1.0 / x -> reciprocal(x)", lambda x: apply("div", 1.0, x), [F], "div"),
    ("1.0 / sqrt(x) -> rsqrt(x)", lambda x: apply("div", 1.0, sqrt(abs(x))), [F], "div sqrt"),
    ("x mod c -> bit_and(x, c - 1)", lambda x: apply("mod", x, 8), [I], "mod"),
    ("x mod c -> bit_and(x, c - 1)", lambda x: apply("mod", x, 16), ["u8[4]"], "mod"),
    ("x / c -> x * (1/c)", lambda x: x / 4.0, ["f64[4]"], "div"),
    ("1.0 / x -> reciprocal(x)", lambda x: apply("div", 1.0, x), ["f16[4]"], "div"),
]

# What strength must leave alone.
AS_CHEAP = [
    (lambda x: x / 10.0, [F], "1/10 is not a float.", "x / 10.0 stays: 1/10 is not a float"),
    (lambda x: x / const([2.0, 3.0, 4.0, 8.0]), [F], "1/3 is not a float.", "all powers of two"),
    (
        lambda x: x / 2,
        [I],
        "-1 / 2 is 0, and a shift gives -1.",
        "An integer division stays, even by 2",
    ),
    (
        lambda x: x * 2.0 + x**3.0,
        [F],
        "An addition is no cheaper; the cube is not in the list.",
        "x * 2 stays: x + x is exact too",
    ),
    (lambda x: sqrt(x) ** 0.5, [F], "sqrt(-0.0) is -0.0.", "And -0.0 counts as\n  negative"),
    (lambda x: x**0.5, [F], "x may be -infinity.", "x ** 0.5 stays for an unknown x"),
    (lambda x: x / float(2.0**127), [F], "1/c is subnormal.", "so small that it is subnormal"),
    (lambda x: apply("mod", x, 6), [I], "6 is not a power of two.", "all positive powers of two"),
    (lambda x: apply("mod", x, -8), [I], "-8 is negative.", "all positive powers of two"),
    (lambda x: apply("fmod", x, 8), [I], "fmod has the sign of x.", "`fmod` is not"),
]


@checks("passes.strength")
def strength_applies_each_rule(strength):
    """Each line of the specification is applied, and the result is the same."""
    for line, before, types, gone in CHEAPER:
        program = trace(before, *types)
        after = same_meaning(program, strength(program), rtol=1e-6, spec=line)
        _same_specials(program, after, line)
        left = [n for n in live_ops(after) if n.op in gone.split()]
        if left:
            hint = f" {NO_MATCH}" if line == CHEAPER[0][0] else ""
            raise Wrong(f"`{line}` is not applied.{hint}", program=program, got=after, spec=line)
    return f"{len(CHEAPER)} rules"


@checks("passes.strength")
def strength_leaves_the_rest_alone(strength):
    """Where the cheap operation gives another result, the expensive one stays."""
    for before, types, why, spec in AS_CHEAP:
        stays(strength, trace(before, *types), f"This stays as it is. {why}", spec)
    return "what must stay"


@checks("passes.strength", given=graphs(size=6, ops=("half", "relu", "add", "neg")), examples=15)
def strength_halves_exactly(strength, graph):
    """Divisions by 2.0 become multiplications, bit for bit the same, wherever they are."""
    after = same_bits(graph, strength(graph), spec="wherever the result is the same")
    if any(n.op == "div" for n in live_ops(after)):
        raise Wrong("A division by 2.0 is left.", program=graph, got=after, spec="x / c")


@checks("passes.strength", given=graphs(size=6), examples=10)
def strength_keeps_the_meaning(strength, graph):
    """The result computes what the program computes."""
    same_meaning(graph, strength(graph), spec="wherever the result is the same")


def _same_specials(before: Graph, after: Graph, spec: str) -> None:
    """Equal on -0.0, infinity and NaN; other numbers to one part in a million."""
    inputs = special_inputs(before)
    got, expected = run(after, inputs)[0], run(before, inputs)[0]
    apart = ~np.isclose(got, expected, rtol=1e-6, atol=0, equal_nan=True)
    if apart.any():
        at = tuple(int(i) for i in np.argwhere(apart)[0])
        raise Wrong(
            f"For x = {inputs[0][at]!s} it is {got[at]!s} instead of {expected[at]!s}.",
            program=before,
            got=after,
            spec=spec,
        )
