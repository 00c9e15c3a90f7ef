"""Visible checks of unit 10 about a lowering: matrices of Toy to linalg on tensors.

Next room: ../hidden.py.
"""

from __future__ import annotations

import re
from functools import lru_cache, partial
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from autograder.check.framework import Score, Wrong, background, checks
from autograder.check.modules import as_text
from autograder.units.u10.checks.programs import A, B, Shape, toy, typed
from autograder.units.u10.checks.transposes import arguments

LOWER = "Lower a function of Toy to linalg on tensors, with as few operations as possible"
GIVEN = "a module with one function"
CONSISTS = (
    "It consists of one or more additions, multiplications and transposes of matrices, returns the "
    "result of one of them, and all shapes are known"
)
MODULE = (
    "the text of a module. Its function @main takes the same matrices and returns the same result"
)
ONLY = "In your module, only `linalg.generic` computes something"
KINDS = "each iterator type says correctly whether its loop is a reduction"
EACH = "One `linalg.generic` for each operation of Toy earns half of the points"
THREE = "One for each addition and multiplication earns three quarters"
ONE = "that earns all points"
WORST = "The worst of several programs counts"
TWICE = "If two users need element (i, j) of a value, it is computed once"

background("u10.lowered", "One is enough ... few elements of the parameters",
           because="why there is one, which our answer shows")  # fmt: skip

PROGRAMS = [toy(lines, c=B) for lines in (
    "p = mul a b; return p",
    "t = transpose a; u = transpose b; p = mul t u; q = transpose p; return q",
    "t = transpose a; p = mul t c; q = add p t; return q",
    "t = transpose a; p = add t c; q = transpose p; r = mul q b; s = transpose r; v = mul s p; "
    "return v",
)]  # fmt: skip
CHAIN = (f"v{k + 1} = {'add' if k % 2 else 'mul'} v{k} p{k}; " for k in range(30))
PROGRAMS.append(toy(f"{''.join(CHAIN)}return v30", {"v0": A, **{f"p{k}": A for k in range(30)}}))


@st.composite
def matrices(draw: DrawFn, most: int = 5) -> str:
    """A program of additions, multiplications and transposes; of square matrices, too, of which
    one may meet its own transpose. Some results may be unused, at the end as well."""
    one = draw(st.sampled_from([(3, 3), (2, 3), (4, 1), (3, 5)]))
    names = draw(st.sampled_from(["a", "ab", "abq", "qx", "xyqz"]))
    given = {name: one if name != "q" else one[::-1] for name in names}
    shapes, lines = dict(given), []
    for k in range(draw(st.integers(1, most))):
        name = draw(st.sampled_from([*shapes][-4:]))
        op = draw(st.sampled_from(["transpose", "add", "mul"]))
        of, shape = name, shapes[name]
        if op == "transpose":
            shape = shape[::-1]
        else:
            of += " " + draw(st.sampled_from([other for other in shapes if shapes[other] == shape]))
        lines.append(f"v{k} = {op} {of}")
        shapes[f"v{k}"] = shape
    result = draw(st.sampled_from([[*shapes][-1], *[*shapes][len(given) :]]))
    text = toy("; ".join([*lines, f"return {result}"]), given)
    return text.replace("@main", draw(st.sampled_from(["@main", "@layer"])))


@checks("u10.lowered", given=matrices(), examples=25, spec=[LOWER, GIVEN, CONSISTS, MODULE, ONLY,
                                                            KINDS])  # fmt: skip
def it_computes_the_same(lowered, text):
    """@main returns what the function of Toy returns."""
    lowered_well(lowered, text)


def lowered_well(lowered: Any, text: str) -> int:
    """How many `linalg.generic` the result has, if it computes the same."""
    from lessons.u10.tensors import generics, mislabelled, outputs  # xDSL need not be installed

    got = as_text(lowered(text), text)
    given, right = _meaning(text)
    wrong = partial(Wrong, program=text, got=got)
    try:
        results = [np.asarray(outputs(got, given, garbage)) for garbage in (5.0, -3.0)]
        ops = generics(got)
    except ValueError as error:
        raise wrong(f"The module cannot be run: {error}".rstrip(".") + ".",
                    spec=ONLY if "may compute" in str(error) else MODULE) from None  # fmt: skip
    for result in results:
        if (result.shape, result.dtype) != (right.shape, right.dtype):
            kind = "x".join([*map(str, result.shape), f"f{8 * result.itemsize}"])
            raise wrong(f"@main must return {typed(right.shape)}, not a tensor<{kind}>.",
                        spec=MODULE)  # fmt: skip
        if not np.allclose(result, right, rtol=1e-12, atol=1e-12 * np.abs(right).max()):
            raise wrong("@main must return what the function of Toy returns.", spec=MODULE)
    for op in ops:
        if labels := mislabelled(op):
            raise wrong("A loop is a reduction if its variable is not an index of the result, so "
                        f"{labels[0]}.", spec=KINDS)  # fmt: skip
    return len(ops)


@lru_cache(maxsize=256)
def _meaning(text: str) -> tuple[list[np.ndarray], np.ndarray]:
    """Arguments for a function of Toy, and what it returns for them."""
    from lessons.u10.meaning import toy_outputs  # xDSL need not be installed

    given = arguments(text)
    (wanted,) = toy_outputs(text, given)
    return given, wanted


@checks("u10.lowered", spec=[TWICE, MODULE])
def values_with_two_users(lowered):
    """Of results that are each made of the one before, twice, none is computed twice."""
    for what, most, text in SHARED:
        got = as_text(lowered(text), text)
        if (count := len(re.findall(r"\barith\.(?:add|mul)f\b", got))) > most:
            raise Wrong(f"{most} {what} are enough for this program. Yours has {count:,}.",
                        program=text, got=got[:2000], spec=TWICE)  # fmt: skip
        lowered_well(lowered, text)


def _shared(op: str, depth: int, turns: int = 0, shape: Shape = A) -> str:
    """A row of results, each made of the one before twice: of 0, 1 or 2 transposes of it."""
    name, lines = "a", []
    for k in range(depth):
        sides = [f"t{number}_{k}" if number < turns else name for number in range(2)]
        lines += [f"{side} = transpose {name}" for side in sides[:turns]]
        name = f"v{k}"
        lines.append(f"{name} = {op} {' '.join(sides)}")
    return toy("; ".join([*lines, f"return {name}"]), {"a": shape})


SHARED = [
    ("additions", 14, _shared("add", 14)),
    ("additions", 14, _shared("add", 14, turns=2)),
    ("additions", 27, _shared("add", 14, turns=1, shape=(3, 3))),  # (i, j) and (j, i), but the last
    ("multiplications", 6, _shared("mul", 6)),
    ("multiplications", 11, _shared("mul", 6, turns=1, shape=(3, 3))),
]


@checks("u10.lowered", spec=[EACH, THREE, ONE, WORST, MODULE])
def few_operations_are_left(lowered):
    """Five programs, of one to thirty operations."""
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
    return Score(min(parts), f"{', '.join(counts)} linalg.generic; 1 each earns all points")
