"""Mutants and alternatives of unit 2: a pass manager. Next room: machinery.py."""

from __future__ import annotations

import numpy as np

from autograder.check.framework import alternative, equivalent, mutant
from course_lib.ir.graph.graph_interp import run
from course_lib.passes.infra.manager import run_passes

# ── u02.careful ──


def _same(a, b):
    return all(
        np.array_equal(x, y, equal_nan=x.dtype.kind == "f") for x, y in zip(a, b, strict=True)
    )


@mutant("u02.careful")
def compares_with_the_pass_before(graph, passes, inputs):
    """Keeps the broken graph, and calls it the last good one."""
    for count, one in enumerate(passes):
        before, graph = graph, run_passes(graph, [one])
        if not _same(run(before, inputs), run(graph, inputs)):
            return graph, count
    return graph, len(passes)


@mutant("u02.careful")
def the_first_output(graph, passes, inputs):
    wanted = run(graph, inputs)
    for count, one in enumerate(passes):
        after = run_passes(graph, [one])
        if not _same(run(after, inputs)[:1], wanted[:1]):
            return graph, count
        graph = after
    return graph, len(passes)


@mutant("u02.careful")
def close_is_enough(graph, passes, inputs):
    wanted = run(graph, inputs)
    for count, one in enumerate(passes):
        after = run_passes(graph, [one])
        got = run(after, inputs)
        if not all(np.allclose(a, b, equal_nan=True) for a, b in zip(got, wanted, strict=True)):
            return graph, count
        graph = after
    return graph, len(passes)


@mutant("u02.careful")
def nan_is_not_nan(graph, passes, inputs):
    wanted = run(graph, inputs)
    for count, one in enumerate(passes):
        after = run_passes(graph, [one])
        if not all(np.array_equal(a, b) for a, b in zip(run(after, inputs), wanted, strict=True)):
            return graph, count
        graph = after
    return graph, len(passes)


def _comparing(same, graph, passes, inputs):
    wanted = run(graph, inputs)
    for count, one in enumerate(passes):
        after = run_passes(graph, [one])
        if not all(same(a, b) for a, b in zip(run(after, inputs), wanted, strict=True)):
            return graph, count
        graph = after
    return graph, len(passes)


@mutant("u02.careful")
def nan_is_anything(graph, passes, inputs):
    """A NaN on either side is enough: x != x there."""
    return _comparing(
        lambda a, b: bool(((a == b) | (a != a) | (b != b)).all()), graph, passes, inputs
    )


@mutant("u02.careful")
def no_difference_is_seen(graph, passes, inputs):
    """The difference of two infinities is NaN, and NaN is not larger than 0."""
    with np.errstate(invalid="ignore"):
        return _comparing(lambda a, b: not (np.abs(a - b) > 0).any(), graph, passes, inputs)


@mutant("u02.careful")
def up_to_one_rounding(graph, passes, inputs):
    """Lets the next number pass."""

    def same(a, b):
        near = a.dtype.kind == "f" and np.abs(a - b) <= np.spacing(np.abs(b))
        return bool(np.all((a == b) | ((a != a) & (b != b)) | near))

    with np.errstate(invalid="ignore"):
        return _comparing(same, graph, passes, inputs)


@mutant("u02.careful")
def in_any_order(graph, passes, inputs):
    """The same elements, wherever they stand."""

    def same(a, b):
        return np.array_equal(np.sort(a), np.sort(b), equal_nan=a.dtype.kind == "f")

    return _comparing(same, graph, passes, inputs)


@mutant("u02.careful")
def finite_ones_alone(graph, passes, inputs):
    """Compares where the first result is a number."""

    def same(a, b):
        return np.array_equal(a[np.isfinite(b)], b[np.isfinite(b)])

    return _comparing(same, graph, passes, inputs)


@mutant("u02.careful")
def on_inputs_of_its_own(graph, passes, inputs):
    ones = [np.ones(i.type.dims, i.type.dtype.numpy) for i in graph.inputs]
    return _comparing(lambda a, b: _same([a], [b]), graph, passes, ones)


@mutant("u02.careful")
def skips_the_broken_one(graph, passes, inputs):
    """Goes on behind it."""
    wanted, good = run(graph, inputs), 0
    for one in passes:
        after = run_passes(graph, [one])
        if _same(run(after, inputs), wanted):
            graph, good = after, good + 1
    return graph, good


@mutant("u02.careful")
def never_verified(graph, passes, inputs):
    wanted = run(graph, inputs)
    for count, one in enumerate(passes):
        after = one(graph)
        try:
            if not _same(run(after, inputs), wanted):
                return graph, count
        except Exception:
            return graph, count
        graph = after
    return graph, len(passes)


@mutant("u02.careful")
def counts_from_one(graph, passes, inputs):
    after, count = plainly(graph, passes, inputs)
    return after, min(count + 1, len(passes))


@mutant("u02.careful")
def bits_of_zero(graph, passes, inputs):
    wanted = [a.tobytes() for a in run(graph, inputs)]
    for count, one in enumerate(passes):
        after = run_passes(graph, [one])
        if [a.tobytes() for a in run(after, inputs)] != wanted:
            return graph, count
        graph = after
    return graph, len(passes)


@alternative("u02.careful")
def plainly(graph, passes, inputs):
    wanted, count = run(graph, inputs), 0
    for one in passes:
        after = run_passes(graph, [one])
        if not _same(run(after, inputs), wanted):
            break
        graph, count = after, count + 1
    return graph, count


@alternative("u02.careful")
def with_a_list_of_graphs(graph, passes, inputs):
    good = [graph]
    for one in passes:
        after = run_passes(good[-1], [one])
        if not _same(run(after, inputs), run(graph, inputs)):
            break
        good.append(after)
    return good[-1], len(good) - 1


@alternative("u02.careful")
def by_recursion(graph, passes, inputs):
    if not passes:
        return graph, 0
    after = run_passes(graph, passes[:1])
    if not _same(run(after, inputs), run(graph, inputs)):
        return graph, 0
    last, count = by_recursion(after, passes[1:], inputs)
    return last, count + 1


equivalent("u02.careful", "zip(run(after, inputs), wanted", "zip(",
           because="in which order outputs are compared is free")  # fmt: skip
equivalent("u02.careful", "np.array_equal(got, before", "np.array_equal(before, got",
           because="equal is equal in both directions")  # fmt: skip
