"""Visible checks of what unit 16 is handed as text: a rewrite in Relax and a kernel in Triton.

The texts run on numpy, in `lessons/u16`. Next room: autograder/units/u16/hidden/__init__.py.
"""

from __future__ import annotations

from functools import partial
from textwrap import dedent
from typing import Any

import numpy as np

from autograder.check.framework import Wrong, checks
from autograder.check.shown import returned
from lessons.u16.relax import called, expression, inside, matches, on_numpy
from lessons.u16.texts import calls, functions
from lessons.u16.tile import Run, launch
from lessons.u16.wild import block_text


def plain(text: Any) -> Any:
    """A text as it is shown: without the margin that it has in a function."""
    return dedent(text).strip() if isinstance(text, str) else returned(text)


# ── attention ──

REWRITE = "Rewrite attention in Relax as one operation"
TWO = "a text with two functions, `before(q, k, v)` and `after(q, k, v)`"
BEFORE = ("`before` is what the block above computes, operation by operation, from the results of "
          "the three `reshape` to the last `permute_dims`")  # fmt: skip
RESULTS = "q, k and v are these results, [1, 128, 4, 64]"
ATTRIBUTES = ("It uses the attributes that stand there, except for the types (`out_dtype` and the "
              "constant's \"float32\"), which may be left out")  # fmt: skip
AFTER = "`after` computes the same with one `R.nn.attention` and nothing else"
LAYOUT = ("This operation takes query, key and value as [batch, tokens, heads, size] and returns "
          "such an array")  # fmt: skip
SCALE = "its products are multiplied by `scale`, which is 1 / sqrt(size) if it is not given"
SHAPES = [(1, 4, 4), (1, 2, 3), (2, 5, 2), (1, 3, 1)]  # batch, tokens, heads


@checks("u16.attention", spec=[REWRITE, TWO, BEFORE, RESULTS, ATTRIBUTES, AFTER, LAYOUT, SCALE])
def one_operation_for_attention(attention):
    """`before` stands in the block, and both functions compute the same."""
    return rewritten(attention, SHAPES, np.random.default_rng(16), {"the block": block_text()})


def rewritten(attention: Any, shapes: Any, rng: np.random.Generator, blocks: Any) -> str:
    text = attention()
    wrong = partial(Wrong, program=plain(text))
    try:
        known = functions(text)
    except ValueError as error:
        raise wrong(f"The text cannot be read: {error}.", spec=TWO) from None
    for name in ("before", "after"):
        if name not in known or [one.arg for one in known[name].args.args] != ["q", "k", "v"]:
            raise wrong(f"The text must define `{name}(q, k, v)`.", spec=TWO)
    _one_call(wrong, text)
    for batch, tokens, heads in shapes:
        given = [rng.normal(size=(batch, tokens, heads, 64)) for _ in range(3)]
        due = _attention(*given)
        for name, spec in (("before", BEFORE), ("after", AFTER)):
            _computes(wrong, text, name, given, due, spec)
    try:
        pattern = expression(text, "before")
    except ValueError as error:
        raise wrong(f"`before` must be made of operations of R: {error}.", spec=BEFORE) from None
    for title, block in blocks.items():
        whole = expression(block, "main")
        if not (count := matches(pattern, whole)):
            raise _not_there(wrong, pattern, whole, title)
    return f"{len(shapes)} shapes; it stands in the block {count} time"


def _one_call(wrong: Any, text: str) -> None:
    """`after` is one call of R.nn.attention."""
    if calls(text, "after") != ["R.nn.attention"]:
        raise wrong("`after` must call R.nn.attention once, and nothing else.",
                    got=", ".join(calls(text, "after")), spec=AFTER)  # fmt: skip
    try:
        made = expression(text, "after")
    except ValueError as error:
        raise wrong(f"`after` is not one call of R.nn.attention: {error}.", spec=AFTER) from None
    if made[:1] != ("nn_attention",):
        raise wrong("`after` must return what R.nn.attention returns.", spec=AFTER)


def _not_there(wrong: Any, pattern: Any, whole: Any, title: str) -> Wrong:
    """Names the first operation of `before` with which it no longer stands in the block."""
    for here in inside(pattern):
        if not matches(here, whole):
            other = "another" if matches(here, whole, attributes=False) else "no"
            return wrong(f"In {title}, {other} operation stands where `before` has {called(here)}.",
                         spec=ATTRIBUTES if other == "another" else BEFORE)  # fmt: skip
    return wrong(f"`before` does not stand in {title}, operation by operation.", spec=BEFORE)


def _attention(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    scores = np.einsum("bihd,bjhd->bhij", q, k) / 8
    e = np.exp(scores - scores.max(-1, keepdims=True))
    return np.einsum("bhij,bjhd->bihd", e / e.sum(-1, keepdims=True), v)


def _computes(wrong: Any, text: str, name: str, given: Any, due: np.ndarray, spec: str) -> None:
    sizes = f"q, k and v of {list(given[0].shape)}"
    try:
        got = on_numpy(text, name, [one.copy() for one in given])
    except ValueError as error:
        raise wrong(f"With {sizes}, `{name}` fails: {error}.", spec=spec) from None
    if np.shape(got) != due.shape:
        raise wrong(f"With {sizes}, the result of `{name}` has another shape.",
                    got=f"{list(np.shape(got))}", expected=f"{list(due.shape)}",
                    spec=LAYOUT)  # fmt: skip
    if not np.allclose(got, due, rtol=0, atol=1e-6):
        raise wrong(f"With {sizes}, the result of `{name}` has other numbers.",
                    spec=SCALE if name == "after" and _is_scaled(text) else spec)  # fmt: skip


def _is_scaled(text: str) -> bool:
    """If the numbers of `after` are multiplied by another scale than 1/8."""
    return dict(expression(text, "after")[2]).get("scale", 0.125) != 0.125


# ── normalize ──

WRITE = "Write a Triton kernel that normalizes each row of x"
TEXT = "the text of a function `normalize(out, x, n, BLOCK: tl.constexpr)`"
ROWS = "x and out have rows of n numbers"
EACH = "Program r reads row r and writes (v - m) / sqrt(s + 0.00001) for each number v of it"
MEANS = "m is the mean of the row, and s is the mean of (v - m)²"
BLOCKS = "A block has BLOCK lanes, a power of two and at least n"
INSIDE = "nothing outside of the row is read or written"
ONCE = "Each number of x is loaded once, and each of out is stored once"
RIGHT = "Results are right to 0.001, even where m is a thousand times as large as the root of s"
LAUNCHES = [  # rows, n, BLOCK, mean, and the root of s
    (1, 4, 4, 0, 1), (2, 8, 8, 3, 2), (3, 5, 8, -2, 1), (1, 60, 64, 0, 0.01), (2, 1, 1, 4, 1),
    (2, 3, 16, 0, 1), (2, 781, 1024, 10, 1), (1, 1500, 2048, 1, 2), (2, 2100, 8192, 3, 1),
    (4, 6, 8, 2, 0), (2, 64, 64, 1000, 1), (1, 200, 256, -50, 0.05),
]  # fmt: skip


@checks("u16.normalize", spec=[WRITE, TEXT, ROWS, EACH, MEANS, BLOCKS, INSIDE, ONCE, RIGHT])
def rows_of_several_lengths(normalize):
    """The numbers are right, and each is moved once, in a few launches."""
    return launches(normalize, LAUNCHES, np.random.default_rng(16))


def launches(normalize: Any, cases: Any, rng: np.random.Generator) -> str:
    text = normalize()
    for rows, n, block, mean, root in cases:
        x = (mean + root * rng.normal(size=(rows, n))).astype(np.float32)
        if abs(mean) <= 10 * root:
            x[:, rng.integers(n)] = 0  # a number like any other
        program = f"{plain(text)}\n\nx: f32[{rows}, {n}], BLOCK = {block}, {rows} programs"
        wrong = partial(Wrong, program=program)
        try:
            run = launch(text, "normalize", rows, x.shape, x, n, block)
        except ValueError as error:
            words = str(error)
            spec = INSIDE if "touches" in words else TEXT if "constexpr" in words else ""
            raise wrong(f"This fails: {words}.", spec=spec) from None
        _numbers(wrong, run, x, root)
        for moved, array, verb in ((run.loaded, "x", "loaded"), (run.stored, "out", "stored")):
            if moved != x.size:
                raise wrong(f"The {x.size} numbers of {array} must be {verb} once.",
                            got=f"{moved} numbers {verb}", spec=ONCE)  # fmt: skip
        if run.lanes != 2 * rows * block:
            raise wrong(f"The load and the store of a program must have {block} lanes each.",
                        got=f"{run.lanes / rows:g} together", spec=BLOCKS)  # fmt: skip
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
        spec = RIGHT if abs(exact.mean()) > 30 * root > 0 else EACH
        raise wrong(f"out[{i}, {j}] is not right.", got=f"{run.out[i, j]:.4f}",
                    expected=f"{due[i, j]:.4f}", spec=spec)  # fmt: skip
