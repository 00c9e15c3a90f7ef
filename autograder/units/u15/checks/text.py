"""Visible checks of unit 15: a function of torch as text, and how many graphs Dynamo makes of it.

The text is read before it runs (`lessons/u15/text.py`); it runs here, in the process that judges.
Next room: evidence.py.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from autograder.check.alarm import alarm
from autograder.check.framework import Score, Wrong, checks
from autograder.check.shown import returned
from lessons.u15.text import SCALED, graphs, made, told

TEXT = "the text of a function `scaled(x, w)` that returns and prints what the one above does"
RETURNS = "that returns and prints what the one above does"
POINTS = "One graph in a call earns all points, and two earn half of them"
FINITE = "for finite numbers and sizes other than 0"
USES = "The function may use what the one above uses, and `torch.where`"
ONE = "one definition without loops, of at most 40 lines"
FEWER = "so that Dynamo captures it in fewer graphs"
SECONDS = 60  # of processor time; ours takes two, most of them to import torch
# Rows, columns of x and of w, and by what the numbers are multiplied; what all numbers of h are.
SIZES = [(4, 3, 5, 0.1), (4, 3, 5, 2.0), (7, 2, 3, 1.0), (1, 1, 1, 3.0), (3, 4, 2, -1.0),
         (2, 8, 4, 0.6), (5, 2, 2, 1.2), (3, 3, 3, 6.0)]  # fmt: skip
LEVELS = [0.0, 0.4999, 0.5, 0.5001, 3.9999, 4.0, 7.999, 8.0, 8.001]


@checks("u15.repaired", spec=[TEXT, RETURNS, USES, ONE, FINITE])
def does_what_the_function_does(repaired):
    """The result and what is printed are the same, for inputs of all kinds."""
    text = read(repaired())
    for sizes in SIZES:
        same_result(text, *inputs(sizes, np.random.default_rng(15)))
    for level in LEVELS:
        same_result(text, np.full((2, 1), level, np.float32), np.ones((1, 2), np.float32))
    return f"{len(SIZES) + len(LEVELS)} inputs"


@checks("u15.repaired", spec=[POINTS, FEWER])
def few_graphs(repaired):
    """Dynamo makes few graphs of it."""
    rng = np.random.default_rng(0)
    return graphs_score(read(repaired()), [inputs(sizes, rng) for sizes in SIZES])


def graphs_score(text: str, given: Sequence[tuple[np.ndarray, np.ndarray]]) -> Score:
    """The points for the graphs that a call of the function compiles: for the inputs for which they
    are most."""
    most = 1
    with alarm(SECONDS, f"Dynamo took over {SECONDS} seconds."):
        for x, w in given:
            many = graphs(text, x, w)
            if not 1 <= many <= 2:
                why = "two earn half of the points" if many else "its operations must be in a graph"
                raise Wrong(f"Dynamo makes {many} graphs of it for {_sizes(x, w)}; {why}.",
                            program=text, got=f"{many} graphs", spec=POINTS)  # fmt: skip
            most = max(most, many)
    return Score(1.0 if most == 1 else 0.5, f"{most} graph{'s' * (most > 1)}; one earns all points")


def _sizes(x: np.ndarray, w: np.ndarray) -> str:
    return f"x of {x.shape[0]} × {x.shape[1]} and w of {w.shape[0]} × {w.shape[1]}"


def read(text: Any) -> str:
    """A text that may run; Wrong for any other answer."""
    if not isinstance(text, str):
        raise Wrong("The answer must be the text of a function.", got=returned(text), spec=TEXT)
    try:
        made(text)
    except ValueError as error:
        alone = re.search("definition|lines|loop|functions|begin", str(error))
        raise Wrong(f"The text cannot be used: {error}.", got=text[:2000],
                    spec=ONE if alone else USES) from None  # fmt: skip
    return text


def inputs(sizes: tuple[int, int, int, float], rng: Any) -> tuple[np.ndarray, np.ndarray]:
    rows, inner, columns, scale = sizes
    x = rng.standard_normal((rows, inner)) * scale
    return x.astype(np.float32), rng.standard_normal((inner, columns)).astype(np.float32)


def same_result(text: str, x: np.ndarray, w: np.ndarray) -> None:
    """The text and the function above return and print the same for these inputs."""
    said = f"scaled(x, w) for {_sizes(x, w)}"
    wrong = partial(Wrong, program=text)
    right, printed = told(made(SCALED), x, w)
    try:
        with alarm(SECONDS, f"The function took over {SECONDS} seconds."):
            got, also = told(made(text), x, w)
    except Exception as error:  # whatever torch makes of it
        raise wrong(f"{said} raises {type(error).__name__}: {str(error)[:200]}",
                    spec=RETURNS) from None  # fmt: skip
    if also != printed:
        raise wrong(f"{said} must print the same.", got=also[:500] or "nothing", expected=printed,
                    spec=RETURNS)  # fmt: skip
    if not hasattr(got, "shape") or tuple(got.shape) != tuple(right.shape):
        raise wrong(f"{said} must return a tensor of {tuple(right.shape)}.",
                    got=returned(getattr(got, "shape", got)), spec=RETURNS)  # fmt: skip
    mine, due = np.asarray(got, np.float64), np.asarray(right, np.float64)
    if not np.allclose(mine, due, rtol=1e-4, atol=1e-6):
        i, j = np.argwhere(~np.isclose(mine, due, rtol=1e-4, atol=1e-6))[0]
        level = f", all numbers of x @ w {x[0, 0]:g}" if x.shape[1] == w[0, 0] == 1 else ""
        raise wrong(f"{said}{level}: element ({i}, {j}) is {mine[i, j]:.5g} but must be "
                    f"{due[i, j]:.5g}.", spec=RETURNS)  # fmt: skip
