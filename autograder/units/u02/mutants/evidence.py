"""Mutants and alternatives of unit 2: programs, numbers, evidence. Next room: __init__.py."""

from __future__ import annotations

import numpy as np

from autograder.check.framework import alternative, mutant
from autograder.units.u02.exercises import CANDIDATES
from course_lib.ir.graph.build import maximum, neg, relu, trace
from course_lib.ir.graph.graph import Graph
from course_lib.ir.graph.node import apply, const


@mutant("u02.after_fold")
def already_twice():
    """cse needs no fold here."""
    return trace(lambda x: relu(x * 2.0) + relu(x * 2.0), "f32[4]")


@mutant("u02.after_fold")
def never_equal():
    two, three = const(2.0), const(3.0)
    return trace(lambda x: x * 5.0 + x * (two * three), "f32[4]")


@mutant("u02.after_fold")
def the_copy_is_dead():
    two = const(2.0)
    graph = trace(lambda x: relu(x * (two + two)), "f32[4]")
    (x,) = graph.inputs
    four = const(4.0)
    return Graph("dead", (x,), (*graph.nodes, four, x * four), graph.outputs)


@mutant("u02.after_fold")
def without_an_input():
    six = const(6.0)
    return Graph.of([], [(six * 2.0) + (six * (const(1.0) + const(1.0)))])


@mutant("u02.after_fold")
def fold_alone_finds_it():
    """fold shortens this, and cse then merges nothing."""
    return trace(lambda x: x + (const(2.0) * const(3.0)), "f32[4]")


@alternative("u02.after_fold")
def as_two_outputs():
    return trace(lambda x: (x * 6.0, x * (const(2.0) * const(3.0))), "f32[4]")


@alternative("u02.after_fold")
def with_integers():
    return trace(lambda x: (x + 5) * (x + (const(2, "i32") + const(3, "i32"))), "i32[2]")


@alternative("u02.after_fold")
def with_a_negated_constant():
    return trace(lambda x: (x - 1.0) * (x - neg(const(-1.0))), "f32[4]")


_RIGHT = {
    "x + 0.0 -> x": -0.0,
    "0.0 - x -> -x": 0.0,
    "x - x -> 0.0": float("nan"),
    "-(x - 1.0) -> 1.0 - x": 1.0,
    "(x + 1.0) - 1.0 -> x": 0.1,
    "x * 0.0 -> 0.0": float("-inf"),
    "(x * 2.0) / 2.0 -> x": -2.5e38,
    "x / 7.0 -> x * (1.0 / 7.0)": 12.0,
    "x / 10.0 -> x * 0.1": 13.0,
    "x / x -> 1.0": float("inf"),
    "1.0 / (1.0 / x) -> x": 1e-39,
    "relu(-relu(x)) -> 0.0": float("nan"),
    "sqrt(x * x) -> abs(x)": 1e30,
    "x ** 0.5 -> sqrt(x)": -0.0,
    "exp(log(x)) -> x": -2.0,
}


@mutant("u02.witnesses")
def zeros_everywhere():
    return dict.fromkeys(CANDIDATES, 0.0)


@mutant("u02.witnesses")
def without_the_last():
    return dict(list(_RIGHT.items())[:-1])


@mutant("u02.witnesses")
def a_harmless_seventh():
    return {**_RIGHT, "x / 7.0 -> x * (1.0 / 7.0)": 7.0}


@mutant("u02.witnesses")
def rules_in_another_order():
    """The right numbers at the wrong rules."""
    return dict(zip(_RIGHT, list(_RIGHT.values())[::-1], strict=True))


@mutant("u02.witnesses")
def too_small_for_f32():
    """1e-60 is 0.0 as an f32, and 0.0 + 1.0 - 1.0 is 0.0."""
    return {**_RIGHT, "(x + 1.0) - 1.0 -> x": 1e-60}


@mutant("u02.witnesses")
def breaks_one_that_holds():
    """Multiplying by 0.25 is rounded once, by 0.5 twice; but the first time nothing is lost that
    the second would have kept."""
    return {**_RIGHT, "(x * 0.5) * 0.5 -> x * 0.25": 1e-45}


@mutant("u02.witnesses")
def a_rule_of_its_own():
    return {**dict(list(_RIGHT.items())[:-1]), "x / 3.0 -> x * (1.0 / 3.0)": 5.0}


@alternative("u02.witnesses")
def as_f32():
    return {rule: np.float32(x) for rule, x in reversed(_RIGHT.items())}


@alternative("u02.witnesses")
def with_infinities():
    inf = float("inf")
    return {**_RIGHT, "x - x -> 0.0": -inf, "x * 0.0 -> 0.0": inf, "x ** 0.5 -> sqrt(x)": -inf}


@alternative("u02.witnesses")
def other_numbers():
    return {rule: np.float64(x) for rule, x in _RIGHT.items()}


@mutant("u02.sevenths")
def as_a_fraction():
    return 0.5476


@mutant("u02.sevenths")
def of_tenths():
    x = np.arange(0x3F800000, 0x40000000, dtype=np.uint32).view(np.float32)
    return float(100 * np.mean(x / np.float32(10) != x * np.float32(0.1)))


@mutant("u02.sevenths")
def about_half():
    return 50.0


@mutant("u02.sevenths")
def in_double_precision():
    """1/7 as an f64: then hardly any number differs."""
    x = np.arange(0x3F800000, 0x40000000, dtype=np.uint32).view(np.float32)
    product = (x.astype(np.float64) * (1 / 7)).astype(np.float32)
    return float(100 * np.mean(x / np.float32(7) != product))


@mutant("u02.sevenths")
def those_that_agree():
    return 45.24


@alternative("u02.sevenths")
def counted_in_parts():
    differ = 0
    for start in range(0x3F800000, 0x40000000, 1 << 20):
        x = np.arange(start, start + (1 << 20), dtype=np.uint32).view(np.float32)
        differ += int(np.sum(x / np.float32(7) != x * (np.float32(1) / np.float32(7))))
    return np.float64(100 * differ / 2**23)


@alternative("u02.sevenths")
def as_an_array():
    return np.array(54.76)


@alternative("u02.sevenths")
def rounded():
    return 54.8


@mutant("u02.broken")
def the_wrong_pass():
    return ("simplify", "a")


@mutant("u02.broken")
def only_a_consequence():
    return ("cse", "e")


@mutant("u02.broken")
def only_the_pass():
    return "cse"


@mutant("u02.broken")
def the_kept_value():
    """The value that took the other one's place."""
    return ("cse", "b")


@mutant("u02.broken")
def turned_around():
    return ("d", "cse")


@alternative("u02.broken")
def as_a_tuple():
    return ("cse", "d")


@alternative("u02.broken")
def with_spaces():
    return (" cse", "d ")


@alternative("u02.broken")
def as_a_list_with_percent_sign():
    return ["cse", "%d"]


@mutant("u02.every_pass")
def nothing_for_simplify():
    return trace(lambda x: x / relu(const(2.0)), "f32[4]")


@mutant("u02.every_pass")
def fold_eats_it_all():
    one = const(1.0)
    return trace(lambda x: relu(x) + one / const(1.0), "f32[4]")


@mutant("u02.every_pass")
def twenty_nodes():
    graph = every_pass_in_nine()
    (x,) = graph.inputs
    extra = [relu(x) for _ in range(12)]
    return Graph("long", (x,), (*graph.nodes, *extra), graph.outputs)


@mutant("u02.every_pass")
def nothing_for_strength():
    return trace(lambda x: maximum(x, x) * relu(const(2.0)), "f32[4]")


@mutant("u02.every_pass")
def nothing_for_fold():
    return trace(lambda x: maximum(x, x) / 2.0, "f32[4]")


@alternative("u02.every_pass")
def in_f64():
    return trace(lambda x: maximum(x, x) / relu(const(4.0, "f64")), "f64[2,3]")


@alternative("u02.every_pass")
def with_a_minimum():
    return trace(lambda x: apply("min", x, x) / apply("abs", const(2.0)), "f32[]")


@alternative("u02.every_pass")
def every_pass_in_nine():
    one = const(1.0)
    return trace(lambda x: (x * 1.0) ** (one + const(1.0)), "f32[4]")
