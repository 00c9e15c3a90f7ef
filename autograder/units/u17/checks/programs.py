"""Visible checks of unit 17 about programs of primitive operations. Next room: facts.py."""

from __future__ import annotations

from functools import partial
from textwrap import dedent
from typing import Any

import numpy as np

from autograder.check.alarm import alarm
from autograder.check.framework import Score, Wrong, checks
from autograder.check.shown import returned
from lessons.u17.tensors import MOVEMENT, parsed, stores, values, work

# ── windows ──

ALL = "Make all windows of k neighbours by movements alone"
GIVEN = "x has n numbers, and a window has k of them; 1 <= k <= n"
PROGRAM = "a program that reads `x`"
READS = "a program that reads `x`. Its last line has the shape n - k + 1, k"
ELEMENT = "its element (i, j) is element i + j of x"
MOVES = "Every line is one of the six movement operations, so that nothing is computed"
SIZE = "No line makes more than (k + 1) · n numbers"
SIZES = [(5, 3), (4, 2), (3, 1), (4, 4), (1, 1), (10, 3), (9, 7), (6, 2), (250, 9), (1000, 200)]


@checks("u17.windows", spec=[ALL, GIVEN, READS, ELEMENT, MOVES, SIZE])
def windows_of_several_sizes(windows):
    """Each element is the right element of x, and each line a movement."""
    for n, k in SIZES:
        right_windows(windows, n, k)
    return f"{len(SIZES)} sizes"


def right_windows(windows: Any, n: int, k: int) -> None:
    """The program for these sizes moves, and the result is all windows."""
    called = f"windows({n}, {k})"
    text = plain(windows(n, k))
    x = np.arange(1, n + 1) * 10
    known, steps = ran(text, called, x), parsed(text)
    wrong = partial(Wrong, program=called, got=text)
    for step in steps:
        if step.op not in MOVEMENT:
            raise Wrong(f"{step.op} is not a movement.", program=called, got=step.text, spec=MOVES)
    got, wanted = known[steps[-1].name], np.lib.stride_tricks.sliding_window_view(x, k)
    same_shape(wrong, got, wanted, READS)
    if not np.array_equal(got, wanted):
        i, j = np.argwhere(got != wanted)[0]
        given = ", ".join(map(str, x)) if n <= 10 else f"10, 20, ..., {x[-1]}"
        raise wrong(f"For x = [{given}], element ({i}, {j}) is {got[i, j]:g} but must be "
                    f"{wanted[i, j]}.", spec=ELEMENT)  # fmt: skip
    for name, value in known.items():
        if value.size > (k + 1) * n:
            raise wrong(f"{name} has {value.size} numbers; at most {(k + 1) * n} are allowed.",
                        spec=SIZE)  # fmt: skip


def same_shape(wrong: Any, got: np.ndarray, wanted: np.ndarray, spec: str) -> None:
    if got.shape != wanted.shape:
        raise wrong(f"The result must have the shape {wanted.shape}, not {got.shape}.", spec=spec)


def plain(text: Any) -> Any:
    """A text as it is shown: without the margin that it has in a function."""
    return dedent(text).strip() if isinstance(text, str) else text


def ran(text: Any, called: str, x: np.ndarray) -> dict[str, np.ndarray]:
    """The value of each line; Wrong if it is no program."""
    wrong = partial(Wrong, program=called, spec=PROGRAM)
    if not isinstance(text, str):
        raise wrong("The function must return a program as text.", got=returned(text))
    try:
        return values(text, {"x": x})
    except ValueError as error:
        raise wrong(f"The program cannot be run: {error}.", got=text) from None


# ── rows ──

EACH = "Normalize each row of x, in as few kernels as you can"
SHAPE = "the shape of x, both at least 2"
LAST = "Its last line is (x - m) / sqrt(v + 0.00001), where m is the mean of the element's row"
COUNTED = "tinygrad's scheduler counts the kernels"
EARN = "Three earn half of the points, and two earn all of them"
WORST = "The worst of several shapes counts"
LONG = "A program has at most 1,000 lines"
WORK = "All reductions together read at most four numbers for each number of x"
SECONDS = 30  # of processor time; ours takes less than one
SHAPES = [(2, 3), (3, 5), (4, 8), (5, 2), (16, 64)]


@checks("u17.normalized", spec=[EACH, SHAPE, PROGRAM, LAST, WORK, LONG])
def rows_are_normalized(normalized):
    """The values are right, and the work is bounded."""
    for rows, cols in SHAPES:
        right_rows(normalized, rows, cols, np.random.default_rng(rows * cols))
    return f"{len(SHAPES)} shapes"


def right_rows(normalized: Any, rows: int, cols: int, rng: Any) -> None:
    """The program of this shape computes what numpy does, and its reductions read little."""
    called, x = f"normalized({rows}, {cols})", rng.standard_normal((rows, cols)) * 2 + 1
    x[0] = 1 + (x[0] - 1) / 500  # next to the small number, the numbers hardly differ
    x[1] = -abs(x[1]) if rows > 2 else x[1, 0]
    text = plain(normalized(rows, cols))
    got = ran(text, called, x)[parsed(text)[-1].name]
    x_ = x - x.mean(axis=1, keepdims=True)
    wanted = x_ / np.sqrt((x_**2).mean(axis=1, keepdims=True) + 1e-5)
    wrong = partial(Wrong, program=called, got=text)
    same_shape(wrong, got, wanted, "Its last line is")
    if len(differ := np.argwhere(~np.isclose(got, wanted, rtol=1e-5, atol=1e-6))):
        i, j = differ[0]
        row = ", ".join(f"{one:.3f}" for one in x[i])
        raise wrong(f"In the row {row}, element {j} is {got[i, j]:.5f} but must be "
                    f"{wanted[i, j]:.5f}.", spec=LAST)  # fmt: skip
    read = work(text, {"x": x})
    if read > 4 * x.size:
        raise wrong(f"The reductions read {read} numbers, but x has only {x.size}.", spec=WORK)


@checks("u17.normalized", spec=[COUNTED, EARN, WORST])
def few_kernels(normalized):
    """tinygrad's scheduler makes few kernels of it."""
    return kernels_score(normalized, [(4, 8), (16, 64)])


def kernels_score(normalized: Any, shapes: Any) -> Score:
    with alarm(SECONDS, f"tinygrad's scheduler took over {SECONDS} seconds for these programs."):
        stored_by = {shape: stores(normalized(*shape), x=shape) for shape in shapes}
    worst = max(stored_by, key=lambda shape: len(stored_by[shape]))
    many, stored = len(stored_by[worst]), _listed(stored_by[worst])
    if many > 3:
        raise Wrong(f"tinygrad makes {many} kernels of it, which store {stored} numbers; three "
                    "earn half of the points.", program=f"normalized{worst}",
                    got=plain(normalized(*worst)), spec=EARN)  # fmt: skip
    kernels = f"{many} kernels that store" if many > 1 else "1 kernel that stores"
    return Score(1.0 if many <= 2 else 0.5,
                 f"for x of {worst[0]} × {worst[1]}, {kernels} {stored} numbers; two earn all "
                 "points")  # fmt: skip


def _listed(numbers: list[int]) -> str:
    *first, last = (f"{one:,}" for one in numbers)
    return f"{', '.join(first)} and {last}" if first else last
