"""Mutants and alternatives of unit 2: a pass manager. Next room: machinery.py."""

from __future__ import annotations

import numpy as np

from autograder.check.framework import alternative, equivalent, mutants
from course_lib.ir.graph.graph_interp import run
from course_lib.passes.infra.manager import run_passes

# ── u02.careful ──

_EQUAL = "np.array_equal(got, before, equal_nan=got.dtype.kind == 'f')"
_STOP = "return (graph, count)"


def _equal_if(test):
    """The edit which compares two outputs in another way."""
    return (f"if not {_EQUAL}:",
            f"with np.errstate(invalid='ignore'):\n                equal = {test}\n"
            "            if not equal:")  # fmt: skip


mutants(
    "u02.careful",
    # Keeps the broken graph, and calls it the last good one.
    compares_with_the_pass_before=(
        "        graph = after", "        graph, wanted = (after, run(after, inputs))",
        _STOP, "return (after, count)"),
    the_first_output=("wanted, strict=True", "wanted[:1]"),
    close_is_enough=_equal_if("np.allclose(got, before, equal_nan=True)"),
    nan_is_not_nan=_equal_if("np.array_equal(got, before)"),
    # A NaN on either side is enough: x != x there.
    nan_is_anything=_equal_if("((got == before) | (got != got) | (before != before)).all()"),
    # The difference of two infinities is NaN, and NaN is not larger than 0.
    no_difference_is_seen=_equal_if("not (np.abs(got - before) > 0).any()"),
    # Lets the next number pass.
    up_to_one_rounding=_equal_if(
        "np.all((got == before) | (got != got) & (before != before) | (got.dtype.kind == 'f'"
        " and np.abs(got - before) <= np.spacing(np.abs(before))))"),
    # The same elements, wherever they stand.
    in_any_order=_equal_if("np.array_equal(np.sort(got), np.sort(before),"
                           " equal_nan=got.dtype.kind == 'f')"),
    # Compares where the first result is a number.
    finite_ones_alone=_equal_if(
        "np.array_equal(got[np.isfinite(before)], before[np.isfinite(before)])"),
    bits_of_zero=_equal_if("got.tobytes() == before.tobytes()"),
    on_inputs_of_its_own=(
        "    wanted = ",
        "    inputs = [np.ones(i.type.dims, i.type.dtype.numpy) for i in graph.inputs]\n"
        "    wanted = "),
    # Goes on behind it.
    skips_the_broken_one=(
        "    wanted = ", "    good = 0\n    wanted = ", _STOP, "break",
        "        graph = after", "        else:\n            graph, good = (after, good + 1)",
        "len(passes)", "good"),
    never_verified=("run_passes(graph, [one])", "one(graph)"),
    counts_from_one=(_STOP, "return (graph, count + 1)"),
)  # fmt: skip


def _same(a, b):
    return all(
        np.array_equal(x, y, equal_nan=x.dtype.kind == "f") for x, y in zip(a, b, strict=True)
    )


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
