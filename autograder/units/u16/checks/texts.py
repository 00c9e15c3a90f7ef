"""Visible checks of what unit 16 is handed as text: a rewrite in Relax, a kernel in Triton.

The texts run on numpy, in `lessons/u16`. Next room: autograder/units/u16/hidden/__init__.py.
"""

from __future__ import annotations

from functools import partial
from textwrap import dedent
from typing import Any

import numpy as np

from autograder.check.framework import Wrong, checks
from autograder.check.shown import returned
from lessons.u16.relax import returned as relax
from lessons.u16.texts import calls, functions
from lessons.u16.tile import Run, launch


def plain(text: Any) -> Any:
    """A text as it is shown: without the margin that it has in a function."""
    return dedent(text).strip() if isinstance(text, str) else returned(text)


# ── together ──

REWRITE = "Rewrite three dense layers that read the same value as one"
TWO = "a text with two functions of Relax, `before(x, w1, w2, w3, b1, b2, b3)` and `after`"
BEFORE = "`before` multiplies x by each matrix, in order, and adds the bias of the same number"
THREE = "three times `R.matmul` and three times `R.add`"
SUMS = "It returns the three sums"
AFTER = "`after` returns the same three values"
ONE = "has one `R.matmul` and one `R.add`"
AXES = "x has two axes or more, and its last one is multiplied"
SIZES = "The matrices are all [k, n], the biases all [n]"
PARAMETERS = ["x", "w1", "w2", "w3", "b1", "b2", "b3"]
SHAPES = [  # of x, and n
    ((2, 3), 4), ((3, 3), 3), ((1, 2), 1), ((2, 3, 4), 5), ((3, 2, 2), 2), ((2, 1, 3, 2), 3),
]  # fmt: skip


@checks("u16.together", spec=[REWRITE, TWO, BEFORE, THREE, SUMS, AFTER, ONE, AXES, SIZES])
def the_same_three_values(together):
    """Both functions compute the three layers, for x of two to four axes."""
    return same_values(together, SHAPES, np.random.default_rng(16))


def same_values(together: Any, shapes: Any, rng: np.random.Generator) -> str:
    text = together()
    wrong = partial(Wrong, program=plain(text))
    try:
        known = functions(text)
    except ValueError as error:
        raise wrong(f"The text cannot be read: {error}.", spec=TWO) from None
    for name, count in (("before", 3), ("after", 1)):
        if name not in known:
            raise wrong(f"The text must define `{name}`.", spec=TWO)
        if [one.arg for one in known[name].args.args] != PARAMETERS:
            raise wrong(f"`{name}` must have the parameters {', '.join(PARAMETERS)}.", spec=TWO)
        for op in ("R.matmul", "R.add"):
            if (found := calls(text, name).count(op)) != count:
                raise wrong(f"`{name}` must call {op} {count} times, not {found}.",
                            spec=THREE if name == "before" else ONE)  # fmt: skip
    others = sorted(set(calls(text, "before")) - {"R.matmul", "R.add"})
    if others:
        raise wrong(f"`before` must not call {', '.join(others)}.", spec=THREE)
    for shape, n in shapes:
        k = shape[-1]
        given = [rng.integers(-9, 9, size).astype(float)
                 for size in (shape, *[(k, n)] * 3, *[(n,)] * 3)]  # fmt: skip
        due = [given[0] @ w + b for w, b in zip(given[1:4], given[4:], strict=True)]
        for name, spec in (("before", BEFORE), ("after", AFTER)):
            _three(wrong, text, name, given, due, spec)
    return f"{len(shapes)} shapes"


def _three(wrong: Any, text: str, name: str, given: Any, due: Any, spec: str) -> None:
    sizes = f"x {list(given[0].shape)}, w1 {list(given[1].shape)}, b1 {list(given[4].shape)}"
    try:
        got = relax(text, name, [one.copy() for one in given])
    except ValueError as error:
        raise wrong(f"With {sizes}, `{name}` fails: {error}.", spec=AXES) from None
    if not isinstance(got, tuple) or len(got) != 3:
        raise wrong(f"`{name}` must return three values.", got=returned(got), spec=SUMS)
    for number, (have, want) in enumerate(zip(got, due, strict=True), start=1):
        if np.shape(have) != want.shape:
            raise wrong(f"With {sizes}, value {number} of `{name}` has another shape.",
                        got=f"{list(np.shape(have))}", expected=f"{list(want.shape)}",
                        spec=spec)  # fmt: skip
        if not np.array_equal(have, want):
            raise wrong(f"With {sizes}, value {number} of `{name}` has other numbers.", spec=spec)


# ── normalize ──

WRITE = "Write a Triton kernel that normalizes each row of x"
TEXT = "the text of a function `normalize(out, x, n, BLOCK: tl.constexpr)`"
ROWS = "x and out have rows of n numbers"
EACH = "Program r reads row r and writes (v - m) / sqrt(s + 0.00001) for each number v of it"
MEANS = "m is the mean of the row, and s is the mean of (v - m)²"
BLOCKS = "BLOCK is a power of two, and n or more"
INSIDE = "nothing outside of the row is read or written"
ONCE = "Each number of x is loaded once, and each of out is stored once"
RIGHT = "Results are right to 0.001, even where m is a thousand times as large as the root of s"
LAUNCHES = [  # rows, n, BLOCK, mean, and the root of s
    (1, 4, 4, 0, 1), (2, 8, 8, 3, 2), (3, 5, 8, -2, 1), (2, 1, 1, 4, 1), (2, 3, 16, 0, 1),
    (2, 781, 1024, 10, 1), (2, 64, 64, 1000, 1), (1, 200, 256, -50, 0.05), (4, 6, 8, 2, 0),
]  # fmt: skip


@checks("u16.normalize", spec=[WRITE, TEXT, ROWS, EACH, MEANS, BLOCKS, INSIDE, ONCE, RIGHT])
def rows_of_several_lengths(normalize):
    """The numbers are right, and each is moved once, in a few launches."""
    return launches(normalize, LAUNCHES, np.random.default_rng(16))


def launches(normalize: Any, cases: Any, rng: np.random.Generator) -> str:
    text = normalize()
    for rows, n, block, mean, root in cases:
        x = (mean + root * rng.normal(size=(rows, n))).astype(np.float32)
        program = f"{plain(text)}\n\nx: f32[{rows}, {n}], BLOCK = {block}, {rows} programs"
        wrong = partial(Wrong, program=program)
        try:
            run = launch(text, "normalize", rows, x.shape, x, n, block)
        except ValueError as error:
            words = str(error)
            spec = INSIDE if "touches" in words else EACH if "program " in words else TEXT
            raise wrong(f"This fails: {words}.", spec=spec) from None
        _numbers(wrong, run, x, root)
        for moved, array, verb in ((run.loaded, "x", "loaded"), (run.stored, "out", "stored")):
            if moved != x.size:
                raise wrong(f"The {x.size} numbers of {array} must be {verb} once.",
                            got=f"{moved} numbers {verb}", spec=ONCE)  # fmt: skip
    return f"{len(cases)} launches"


def _numbers(wrong: Any, run: Run, x: np.ndarray, root: float) -> None:
    exact = x.astype(float)
    centred = exact - exact.mean(1, keepdims=True)
    due = centred / np.sqrt((centred**2).mean(1, keepdims=True) + 1e-5)
    if (run.times == 0).any():
        at = np.unravel_index(int(np.argmin(run.times)), x.shape)
        raise wrong(f"Nothing is stored to out[{at[0]}, {at[1]}].", spec=EACH)
    far = ~(np.abs(run.out - due) <= 1e-3)
    if far.any():
        i, j = np.argwhere(far)[0]
        spec = RIGHT if abs(exact.mean()) > 30 * root > 0 else MEANS
        raise wrong(f"out[{i}, {j}] is not right.", got=f"{run.out[i, j]:.4f}",
                    expected=f"{due[i, j]:.4f}", spec=spec)  # fmt: skip
