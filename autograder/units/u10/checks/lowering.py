"""Visible checks of unit 10 about a lowering: matrices of Toy to linalg on tensors.

Next room: ../hidden.py.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from autograder.check.framework import Score, Wrong, background, checks
from autograder.units.u10.checks.programs import A, B, Shape, as_text, both, ends, main, turned

LOWER = "Lower a function of Toy to linalg on tensors, with as few operations as possible"
GIVEN = "a module with one function, which returns a matrix"
CONSISTS = (
    "It consists of additions, multiplications and transposes of matrices, and all shapes are known"
)
MODULE = (
    "the text of a module. Its function @main takes the same matrices and returns the same result"
)
ONLY = "In your module, only `linalg.generic` computes something"
EACH = "One for each operation of Toy earns half of the points"
THREE = "One for each addition and multiplication earns three quarters"
ONE = "that earns all points"
WORST = "The worst of several programs counts"
TWICE = "If two users need element (i, j) of a value, it is computed once"

background("u10.lowered", "One is enough ... few elements of the parameters",
           because="why there is one, which our answer shows")  # fmt: skip

PROGRAMS = [
    main(both("p", "mul", "a", "b", A, A, A), ends("p", A), result=A),
    main(turned("t", "a"), turned("u", "b"), both("p", "mul", "t", "u"), turned("q", "p", B, A),
         ends("q", A), result=A),
    main(turned("t", "a"), both("p", "mul", "t", "c"), both("q", "add", "p", "t"), ends("q"), c=B),
    main(turned("t", "a"), both("p", "add", "t", "c"), turned("q", "p", B, A),
         both("r", "mul", "q", "b", A, A, A), turned("s", "r"), both("v", "mul", "s", "p"),
         ends("v"), c=B),
]  # fmt: skip


@st.composite
def matrices(draw: DrawFn, most: int = 7, squares: bool = True) -> str:
    """A program of additions, multiplications and transposes; of square matrices, too, of which
    one may meet its own transpose."""
    square = squares and draw(st.booleans())
    one, other = ((3, 3), (3, 3)) if square else (A, B)
    values: list[tuple[str, Shape]] = [("a", one), ("b", one), ("c", other)]
    lines: list[str] = []
    for k in range(draw(st.integers(1, most))):
        name, shape = draw(st.sampled_from(values[-5:]))
        op = draw(st.sampled_from(["transpose", "add", "mul"]))
        if op == "transpose":
            shape = shape[::-1]
            lines.append(turned(f"v{k}", name, shape[::-1], shape))
        else:
            right = draw(st.sampled_from([n for n, s in values if s == shape]))
            lines.append(both(f"v{k}", op, name, right, shape, shape, shape))
        values.append((f"v{k}", shape))
    name, shape = values[-1]
    return main(*lines, ends(name, shape), result=shape, c=other, a=one, b=one)


@checks("u10.lowered", given=matrices(), examples=40, spec=[LOWER, GIVEN, CONSISTS, MODULE, ONLY])
def it_computes_the_same(lowered, text):
    """@main returns what the function of Toy returns."""
    lowered_well(lowered, text)


def lowered_well(lowered: Any, text: str) -> int:
    """How many `linalg.generic` the result has, if it computes the same."""
    from autograder.units.u10.answers.tensors import generics, outputs

    got = as_text(lowered(text), text)
    given, wanted = _meaning(text)
    try:
        results = [np.asarray(outputs(got, given, garbage)) for garbage in (5.0, -3.0)]
        count = len(generics(got))
    except ValueError as error:
        raise Wrong(f"The module cannot be run: {error}".rstrip(".") + ".", program=text, got=got,
                    spec=ONLY if "may compute" in str(error) else MODULE) from None  # fmt: skip
    for result in results:
        if result.shape != wanted.shape or not np.allclose(result, wanted):
            raise Wrong("@main must return what the function of Toy returns.", program=text,
                        got=got, spec=MODULE)  # fmt: skip
    return count


@lru_cache(maxsize=256)
def _meaning(text: str) -> tuple[list[np.ndarray], np.ndarray]:
    """Arguments for a function of Toy, and what it returns for them."""
    from autograder.units.u10.answers.meaning import toy_outputs

    rng = np.random.default_rng(2)
    shapes = re.findall(r"%[abc]: tensor<(\d+)x(\d+)xf64>", text)
    given = [rng.standard_normal((int(m), int(n))) for m, n in shapes]
    (wanted,) = toy_outputs(text, given)
    return given, wanted


@checks("u10.lowered", spec=TWICE)
def values_with_two_users(lowered):
    """Of 14 sums, each the double of the one before, none is computed twice."""
    names = ["a", *(f"v{k}" for k in range(14))]
    lines = [both(new, "add", old, old, A, A, A) for old, new in pairwise(names)]
    text = main(*lines, ends(names[-1], A), result=A)
    got = as_text(lowered(text), text)
    if (count := len(re.findall(r"\barith\.addf\b", got))) > 14:
        raise Wrong(f"14 additions are enough for this program. Yours has {count:,}.",
                    program=text, got=got[:2000])  # fmt: skip
    lowered_well(lowered, text)


@checks("u10.lowered", spec=[EACH, THREE, ONE, WORST])
def few_operations_are_left(lowered):
    """Four programs, of one to five operations."""
    return score(lowered, PROGRAMS)


def score(lowered: Any, programs: list[str]) -> Score:
    """The part of the points for the worst of these programs."""
    parts, counts = [], []
    for text in programs:
        count = lowered_well(lowered, text)
        elementwise = text.count("toy.add") + text.count("toy.mul")
        every = elementwise + text.count("toy.transpose")
        bounds = ((1, 1.0), (elementwise, 0.75), (every, 0.5))
        parts.append(next((part for bound, part in bounds if count <= bound), 0.25))
        counts.append(str(count))
    return Score(min(parts), f"{', '.join(counts)} linalg.generic, where 1 each earns all points")
