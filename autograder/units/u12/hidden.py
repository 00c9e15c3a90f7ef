"""Hidden checks of unit 12: other seeds, larger grids, other products."""

from __future__ import annotations

from hypothesis import strategies as st

from autograder.check.framework import harder, hidden
from autograder.units.u12.checks import counts, right_fault
from autograder.units.u12.checks import rows as row_checks
from course_lib.accelerator.systolic import SystolicArray
from course_lib.exercises import slot
from lessons.u12.grid import planted

SEED = 121_907
LARGE = st.integers(10_000, 1 << 30)

harder("u12.clock", "one_clock", seed=SEED, examples=100,
       given=st.tuples(st.integers(1, 7), st.integers(1, 7), LARGE))  # fmt: skip


@hidden("u12.fault", seed=SEED)
def other_faults(fault, rng):
    """Traces of larger arrays, with faults that were drawn for this run."""
    for seed in rng.integers(1 << 30, size=60).tolist():
        right_fault(fault, *planted(seed, 6))
    return "60 traces"


@hidden("u12.clocks", seed=SEED)
def other_arrays(clocks, rng):
    """Arrays, folds and waits that were drawn for this run: streams about as long as loads, too."""
    due = slot("u12.clocks").reference
    for number in range(40):
        folds, time, rows, cols, wait = (int(x) for x in rng.integers(1, 40, 5))
        if number % 4 == 0:
            folds = int(rng.integers(2, 10**9))
        if number % 3 == 0:
            time = max(1, wait * rows + int(rng.integers(-2, 3)))
        if number % 5 == 0:
            cols = int(rng.integers(1000, 70_000))
        if number % 8 == 0:
            time, wait = (int(x) for x in rng.integers(1, (10**9, 10**7)))
        for shadow in (False, True):
            array = SystolicArray(rows, cols, False, "ws", shadow)
            case = folds, time, rows, cols, shadow, wait
            counts.exactly(clocks, case, due(folds, time, array, wait))
    return "80 arrays"


@hidden("u12.which", seed=SEED)
def other_reports(which, rng):
    """Products that were drawn for this run, with numbers around those that definitions give."""
    due = slot("u12.which").reference
    for case in rng.integers(1, 12, (12, 5)).tolist():
        numbers = set(counts.counts_of(*case).values())
        for reported in sorted({near for r in numbers for near in (r, r + 1)}):
            counts.named(which, (*case, reported), due(*case, reported))
    return "12 products"


KEPT = (("ws", True), ("ws", False), ("os", False), ("is", True), ("is", False))


@hidden("u12.pack", seed=SEED)
def other_layers(pack, rng):
    """Layers and arrays that were drawn for this run: few pixels or many, and any dataflow."""
    best = slot("u12.pack").reference
    for number in range(80):
        channels, m, window, rows, cols = (int(x) for x in rng.integers(1, 60, 5))
        if number % 4 == 0:
            channels, rows, cols = 5 * channels, rows * 8, cols * 8
        if number % 4 == 1:
            m, cols = m % 4 + 1, cols % 4 + 1
        if number % 4 == 2:
            m, rows = m * 20, rows % 10 + 1
        layer = channels, m, window, rows, cols, *KEPT[number % len(KEPT)]
        counts.takes_the_fewest(pack, layer, counts.together(best, layer))
    return "80 layers"


@hidden("u12.rows", seed=SEED)
def other_depthwise_layers(rows, rng):
    """Layers that were drawn for this run."""
    for channels, height, width, window, columns in rng.integers(1, 40, (60, 5)).tolist():
        layer = channels, height, width, window % 7 + 1, columns
        row_checks.reads(rows, layer, row_checks.due(layer), row_checks.QUESTION)
    return "60 layers"
