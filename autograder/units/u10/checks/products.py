"""Visible checks of unit 10 about linalg on tensors. Next room: programs.py."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from autograder.check.framework import Wrong, background, checks
from autograder.check.shown import returned

TEXT = "The text of a module that computes relu(xᵀ · w)"
TYPES = "x is a tensor<KxMxf32>, w a tensor<KxNxf32>, the result a tensor<MxNxf32>"
RETURNS = "the module. Its function @main takes x and w, and returns the result"
ONLY = "At most two `linalg.generic` do all the computing"
BESIDE = "`linalg.fill`, `tensor.empty` and constants may stand beside them"
ARITH = "their bodies use operations of `arith`"
KINDS = "Each iterator type says correctly whether its loop is a reduction"
RELU = "Negative numbers become 0"
NAN = "NaN stays NaN"

background("u10.product", "So x is never transposed: the product reads it in another order",
           because="it follows from the sentence before")  # fmt: skip

SIZES = [(2, 3, 4), (1, 1, 1), (3, 1, 2), (1, 4, 1), (4, 2, 3)]
NUMBERS = {  # the sign of x, where NaN is, and the sentence
    "random numbers": (0, "", TEXT),
    "numbers that are all negative": (-1, "", RELU),
    "NaN in x": (0, "x", NAN),
    "NaN in w": (0, "w", NAN),
}
# What of the text an error is about.
ABOUT = {"may compute": ONLY, "NaN": NAN, "in the body": ARITH, "not registered": ARITH,
         "must take": TYPES}  # fmt: skip


@checks("u10.product", spec=[TEXT, TYPES, RETURNS, ONLY, BESIDE, ARITH, KINDS, RELU, NAN])
def products_of_five_sizes(product):
    """The module computes what numpy computes, whatever a new tensor contains."""
    for sizes in SIZES:
        right_product(product, *sizes)
    return f"{len(SIZES)} sizes"


def right_product(product: Any, m: int, k: int, n: int) -> None:
    """The text for these sizes is valid, labelled correctly, and computes relu(xᵀ · w)."""
    from lessons.u10.tensors import generics, mislabelled, outputs  # xDSL need not be installed

    text = product(m, k, n)
    wrong = partial(Wrong, program=f"product({m}, {k}, {n})", got=text)
    if not isinstance(text, str):
        raise wrong("The function must return text.", got=returned(text), spec=TEXT)
    rng = np.random.default_rng(m + 10 * k + 100 * n)
    for what, (sign, nan, spec) in NUMBERS.items():
        x, w = (rng.integers(-9, 10, (k, size)).astype("f4") / 4 for size in (m, n))
        if sign:
            x, w = -abs(x) - 1, abs(w) + 1
        for name, array in (("x", x), ("w", w)):
            if name == nan:
                array.flat[rng.integers(array.size)] = np.nan
        try:
            got = [np.asarray(outputs(text, [x, w], garbage)) for garbage in (5.0, -3.0)]
        except ValueError as error:
            which = next((s for word, s in ABOUT.items() if word in str(error)), RETURNS)
            raise wrong(f"The module cannot be run: {error}".rstrip(".") + ".",
                        spec=which) from None  # fmt: skip
        _same(wrong, what, got, np.maximum(x.T @ w, 0), spec)
    if len(generics(text)) > 2:
        raise wrong(f"At most two `linalg.generic` are allowed; here are {len(generics(text))}.",
                    spec=ONLY)  # fmt: skip
    for op in generics(text):
        if labels := mislabelled(op):
            raise wrong("A loop is a reduction if its variable is not an index of the result, so "
                        f"{labels[0]}.", spec=KINDS)  # fmt: skip


def _same(
    wrong: Callable[..., Wrong], what: str, got: list[np.ndarray], right: np.ndarray, spec: str
) -> None:
    first, second = got
    if first.shape != right.shape:
        raise wrong(f"The result must have the shape {right.shape}, not {first.shape}.", spec=TYPES)
    if first.dtype != right.dtype:
        raise wrong(f"The result must be a tensor of f32, not of {first.dtype}.", spec=TYPES)
    if not np.array_equal(first, second, equal_nan=True):
        raise wrong("The result depends on what an empty tensor contains.", spec=TEXT)
    differ = np.argwhere(~((first == right) | np.isnan(first) & np.isnan(right)))
    for i, j in differ.tolist()[:1]:
        raise wrong(f"With {what}, element ({i}, {j}) is {first[i, j]:g} and must be "
                    f"{right[i, j]:g}.", spec=spec)  # fmt: skip
