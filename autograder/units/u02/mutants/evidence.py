"""Mutants and alternatives of unit 2: programs, numbers, evidence. Next room: __init__.py."""

from __future__ import annotations

import numpy as np

from autograder.check.framework import alternatives, mutants
from autograder.units.u02.exercises import CANDIDATES
from course_lib.exercises import slot
from course_lib.ir.graph.build import maximum, neg, relu, trace
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import apply, const

# ── u02.after_fold ──

mutants(
    "u02.after_fold",
    # cse needs no fold here.
    already_twice=lambda: trace(lambda x: relu(x * 2.0) + relu(x * 2.0), "f32[4]"),
    never_equal=("6.0", "5.0"),
    # fold shortens this, and cse then merges nothing.
    fold_alone_finds_it=lambda: trace(lambda x: x + (const(2.0) * const(3.0)), "f32[4]"),
    the_copy_is_dead=(
        "x * 6.0 + relu", "relu", "return trace", "graph = trace", "'f32[4]')", "'f32[4]')\n"
        "    dead = (six := const(6.0), graph.inputs[0] * six)\n"
        "    return Graph('dead', graph.inputs, (*graph.nodes, *dead), graph.outputs)"),
    without_an_input=lambda: Graph.of(
        [], [((six := const(6.0)) * 2.0) + (six * (const(1.0) + const(1.0)))]),
)  # fmt: skip


alternatives(
    "u02.after_fold",
    as_two_outputs=lambda: trace(lambda x: (x * 6.0, x * (const(2.0) * const(3.0))), "f32[4]"),
    with_integers=lambda: trace(
        lambda x: (x + 5) * (x + (const(2, "i32") + const(3, "i32"))), "i32[2]"),
    with_a_negated_constant=lambda: trace(lambda x: (x - 1.0) * (x - neg(const(-1.0))), "f32[4]"),
)  # fmt: skip

# ── u02.witnesses ──

_INF, _NAN = float("inf"), float("nan")
_NUMBERS = (-0.0, 0.0, _NAN, 1.0, 0.1, -_INF, -2.5e38, 12.0, 13.0, _INF, 1e-39, _NAN, 1e30, -0.0,
            -2.0)  # fmt: skip
_RIGHT = dict(zip(slot("u02.witnesses").reference(), _NUMBERS, strict=True))
_BUT_THE_LAST = dict(list(_RIGHT.items())[:-1])

mutants(
    "u02.witnesses",
    zeros_everywhere=lambda: dict.fromkeys(CANDIDATES, 0.0),
    without_the_last=lambda: _BUT_THE_LAST,
    a_harmless_seventh=lambda: {**_RIGHT, "x / 7.0 -> x * (1.0 / 7.0)": 7.0},
    # The right numbers at the wrong rules.
    rules_in_another_order=lambda: dict(zip(_RIGHT, list(_RIGHT.values())[::-1], strict=True)),
    # 1e-60 is 0.0 as an f32, and 0.0 + 1.0 - 1.0 is 0.0.
    too_small_for_f32=lambda: {**_RIGHT, "(x + 1.0) - 1.0 -> x": 1e-60},
    # Multiplying by 0.25 is rounded once, by 0.5 twice; but the first time nothing is lost that
    # the second would have kept.
    breaks_one_that_holds=lambda: {**_RIGHT, "(x * 0.5) * 0.5 -> x * 0.25": 1e-45},
    a_rule_of_its_own=lambda: {**_BUT_THE_LAST, "x / 3.0 -> x * (1.0 / 3.0)": 5.0},
)
alternatives(
    "u02.witnesses",
    as_f32=lambda: {rule: np.float32(x) for rule, x in reversed(_RIGHT.items())},
    with_infinities=lambda: {**_RIGHT, "x - x -> 0.0": -_INF, "x * 0.0 -> 0.0": _INF,
                             "x ** 0.5 -> sqrt(x)": -_INF},
    other_numbers=lambda: {rule: np.float64(x) for rule, x in _RIGHT.items()},
)  # fmt: skip

# ── u02.sevenths ──

mutants(
    "u02.sevenths",
    as_a_fraction=("100 * differ", "differ"),
    of_tenths=("np.float32(7), np.float32(1) / np.float32(7)", "np.float32(10), np.float32(0.1)"),
    about_half=lambda: 50.0,
    # 1/7 as an f64: then hardly any number differs.
    in_double_precision=("x * seventh", "(x.astype(np.float64) * (1 / 7)).astype(np.float32)"),
    those_that_agree=lambda: 45.24,
)


alternatives(
    "u02.sevenths",
    counted_in_parts=(
        "1 << 15", "1 << 20", "np.count_nonzero(x / seven != x * seventh)",
        "int(np.sum(x / seven != x * seventh))", "return 100 * differ / (last - first)",
        "return np.float64(100 * differ / 2 ** 23)"),
    as_an_array=lambda: np.array(54.76),
    rounded=lambda: 54.8,
)  # fmt: skip

# ── u02.broken ──

mutants(
    "u02.broken",
    the_wrong_pass=lambda: ("simplify", "a"),
    only_a_consequence=lambda: ("cse", "e"),
    only_the_pass=lambda: "cse",
    # The value that took the other one's place.
    the_kept_value=lambda: ("cse", "b"),
    turned_around=lambda: ("d", "cse"),
)
alternatives(
    "u02.broken",
    as_a_tuple=lambda: ("cse", "d"),
    with_spaces=lambda: (" cse", "d "),
    as_a_list_with_percent_sign=lambda: ["cse", "%d"],
)

# ── u02.every_pass ──


mutants(
    "u02.every_pass",
    twenty_nodes=("maximum(x, x) / relu(two)",
                  "[maximum(x, x) / relu(two), *(relu(x) for _ in range(15))]"),
    nothing_for_simplify=("maximum(x, x)", "x"),
    fold_eats_it_all=("maximum(x, x) / relu(two)", "relu(x) + const(1.0) / const(1.0)"),
    nothing_for_strength=("/ relu(two)", "* relu(two)"),
    nothing_for_fold=("relu(two)", "2.0"),
)  # fmt: skip
alternatives(
    "u02.every_pass",
    in_f64=lambda: trace(lambda x: maximum(x, x) / relu(const(4.0, "f64")), "f64[2,3]"),
    with_a_minimum=lambda: trace(lambda x: apply("min", x, x) / apply("abs", const(2.0)), "f32[]"),
    every_pass_in_nine=lambda: trace(lambda x: (x * 1.0) ** (const(1.0) + const(1.0)), "f32[4]"),
)
