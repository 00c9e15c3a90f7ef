"""Hidden checks of unit 12: other seeds, larger grids, other products."""

from __future__ import annotations

from hypothesis import strategies as st

from autograder.check.framework import Score, Wrong, harder, hidden
from autograder.units.u12.answers.grid import planted
from autograder.units.u12.checks import found
from autograder.units.u12.checks.counts import (
    SHADOW,
    WORDS,
    asked,
    cycles_on,
    letters,
    worth,
)
from autograder.units.u12.checks.packed import described, together
from course_lib.accelerator.systolic import SystolicArray
from course_lib.exercises import slot

SEED = 121_907
LARGE = st.integers(10_000, 1 << 30)

harder("u12.clock", "one_clock", seed=SEED, examples=100,
       given=st.tuples(st.integers(1, 7), st.integers(1, 7), LARGE))  # fmt: skip


@hidden("u12.fault", seed=SEED)
def other_faults(fault, rng):
    """Traces of larger arrays, with faults that were drawn for this run."""
    for seed in rng.integers(1 << 30, size=60).tolist():
        found(fault, *planted(seed, 6))
    return "60 traces"


@hidden("u12.clocks", seed=SEED)
def other_arrays(clocks, rng):
    """Arrays, folds and waits that were drawn for this run."""
    due = slot("u12.clocks").reference
    for folds, time, rows, cols, wait in rng.integers(1, 40, (60, 5)).tolist():
        for shadow in (False, True):
            case = folds, time, rows, cols, shadow, wait
            got = asked(clocks, case)
            right = due(folds, time, SystolicArray(rows, cols, False, "ws", shadow), wait)
            if got != right:
                raise Wrong("The clocks must be counted exactly.", program=WORDS.format(*case),
                            got=f"{got:,.10g} clocks", spec=SHADOW[1])  # fmt: skip
    return "120 arrays"


@hidden("u12.which", seed=SEED)
def other_reports(which, rng):
    """Products that were drawn for this run, with numbers around those that definitions give."""
    due = slot("u12.which").reference
    for m, k, n, rows, cols in rng.integers(1, 12, (12, 5)).tolist():
        makes = [r for r in range(1, 400) if due(m, k, n, rows, cols, r)]
        for reported in {near for r in makes for near in (r, r + 1)}:
            case = m, k, n, rows, cols, reported
            if (got := letters(which, case)) != due(*case):
                raise Wrong("Name all definitions that give this number, and no others.",
                            got=got or "no definition",
                            program=f"[{m}, {k}] x [{k}, {n}] on {rows} x {cols} cells, "
                            f"{reported} cycles reported")  # fmt: skip
    return "12 products"


@hidden("u12.choose", seed=SEED)
def other_products(choose, rng):
    """Cycles of products that were drawn for this run."""
    best, shares = slot("u12.choose").reference, []
    for cells in (64, 96, 210, 256, 720, 1024):
        for m, k, n in rng.integers(1, 900, (4, 3)).tolist():
            fewest = cycles_on(best, m, k, n, cells)
            shares.append(fewest / cycles_on(choose, m, k, n, cells))
    mean, fraction = worth(shares)
    return Score(fraction, f"fewest / yours: {mean:.3f} on average over 24 other products")


@hidden("u12.pack", seed=SEED)
def other_layers(pack, rng):
    """Layers and arrays that were drawn for this run."""
    best = slot("u12.pack").reference
    for channels, m, window, rows, cols in rng.integers(1, 60, (40, 5)).tolist():
        for dataflow, shadow in (("ws", True), ("ws", False), ("os", False)):
            layer = channels, m, window, rows, cols, dataflow, shadow
            fewest, cycles = together(best, layer), together(pack, layer)
            if cycles > fewest:
                raise Wrong("A different number of channels in a product takes fewer cycles.",
                            program=described(layer), got=f"{cycles:,} cycles",
                            expected=f"{fewest:,} cycles")  # fmt: skip
    return "120 layers"
