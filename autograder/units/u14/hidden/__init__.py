"""Hidden checks of unit 14: layers, programs and costs that are drawn for the run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from autograder.check.framework import harder, hidden
from autograder.units.u14.checks import as_it_must, table
from autograder.units.u14.checks.costs import scored
from autograder.units.u14.checks.plans import programs
from autograder.units.u14.checks.table import CONSTANT, GELU, MISSING, same
from course_lib.accelerator.chip import PRESETS
from course_lib.exercises import slot
from course_lib.ir.graph.build import gelu, relu, sigmoid
from course_lib.ir.graph.node import Node, const
from lessons.u14.offload import drawn, total
from lessons.u14.tables import one_at_a_time

SEED = 141_402

harder("u14.merged", "random_programs", seed=SEED, given=programs(22), examples=80)


@hidden("u14.least", seed=SEED)
def other_layers(least, rng):
    """Layers and chips that were drawn for this run."""
    for number in range(60):
        m, k, n = (int(x) for x in rng.integers(1, 20_000 if number % 3 == 0 else 400, 3))
        m = 1 if number % 5 == 0 else m
        chip = replace(PRESETS[str(rng.choice(["npu", "teaching"]))],
                       rows=int(rng.integers(1, 300)), cols=int(rng.integers(1, 70)),
                       dma_bytes=int(rng.choice([1, 3, 4, 8, 16, 40, 256])))  # fmt: skip
        as_it_must(least, (m, k, n), chip, slot("u14.least").reference(m, k, n, chip))
    return "60 layers"


@hidden("u14.chosen", seed=SEED)
def other_programs(chosen, rng):
    """Six programs that were drawn for this run, on which one operation at a time stops early."""
    cases, best = [], []
    while len(cases) < 6:
        case = drawn(rng, int(rng.integers(16, 36)))
        fewest = total(*case, set(slot("u14.chosen").reference(*case)))
        if fewest < 0.97 * total(*case, one_at_a_time(*case)):
            cases.append(case)
            best.append(fewest)
    return scored(chosen, cases, best)


@hidden("u14.rows", seed=SEED)
def whole_models(rows, rng):
    """Several layers in a row, of which a row takes all or none."""

    def layer(x: Node, bias: bool, activation: bool, late: bool = False) -> Node:
        weights = const(rng.integers(-9, 9, (6, 6)).astype(np.int8))
        biases = const(rng.integers(-9, 9, 6).astype(np.int32)) if bias else None
        return table.dense(x, weights, biases, late=late, relu=relu if activation else same)

    def lookup(x: Node, f: Callable[[Node], Node]) -> Node:
        return table.bytes_(x, f, *(const(rng.uniform(0.1, 1)) for _ in range(2)))

    def thrice(row: int, taken: bool, what: str, spec: str, f: Any, *more: Any) -> table.Case:
        def program(x: Node) -> Node:
            return f(f(f(x, *more), *more), *more)

        return table.case(row, taken, what, spec, program, data="i8[3,6]")

    cases = [
        *(thrice(1, True, "three layers in a row", MISSING, layer, bias, active)
          for bias in (False, True) for active in (False, True)),
        thrice(1, False, "layers whose bias is added after the relu", CONSTANT,
               layer, True, True, True),
        thrice(0, True, "three gelus in a row", GELU, lookup, gelu),
        thrice(0, True, "three changes of the scale", GELU, lookup, same),
        thrice(0, False, "a sigmoid", GELU, lookup, sigmoid),
    ]  # fmt: skip
    return table.judged(rows, cases)
