"""Visible checks of unit 8 about distances and conditions: orders that keep them, elimination.

Next room: schedules.py, for what changes loops or is written as loops.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from functools import cache, partial
from itertools import product
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from autograder.check.framework import Wrong, background, checks
from autograder.check.shown import returned

# ── distances and orders ──

SURVIVES = "A distance survives if the second iteration still runs later, wherever the first one is"
FIRST = "The first distance that does not survive a new order of the loops; None if all survive"
ROWS = "the coefficients of what the new loops count, outermost first: (2, 1) stands for 2*t + i"
NESTED = "False: the new loops stand one inside another"
BLOCKS = "True: each of them is also cut into blocks"
MANY = "There may be more new loops than old ones"
SIZES = "A distance must survive whatever the sizes of the blocks are"
RETURNS = "one of the distances, or None"
GIVEN = "how many iterations later the second of two iterations is"

background("u08.broken", "Two iterations never get the same numbers", because="what is given")
background("u08.broken", "In the loops as they are now, it runs later", because="what is given")

STENCIL = [(0, 1), (1, 0), (1, -1)]
ORDERS = [
    (STENCIL, [(1, 0), (0, 1)], False, None, NESTED),
    (STENCIL, [(0, 1), (1, 0)], False, (1, -1), SURVIVES),
    (STENCIL, [(1, 0), (0, 1)], True, (1, -1), SIZES),
    (STENCIL, [(1, 1), (1, 0)], True, None, ROWS),
    ([(1, 2), (1, -2), (2, 0)], [(1, 0), (1, 1)], False, None, NESTED),
    ([(1, -1), (0, 1)], [(1, 1), (1, 0)], False, None, ROWS),
    ([(3,)], [(1,)], True, None, BLOCKS),
    ([(2, -1), (3, -1), (1, -3)], [(0, 1), (1, 0)], False, (2, -1), FIRST),
    ([], [(0, 1), (1, 0)], True, None, FIRST),
    ([(1, -1), (0, 1)], [(1, 0), (1, 1), (0, 1)], False, None, MANY),
    ([(1, -1), (0, 1)], [(1, 1), (1, 0), (0, 1)], True, (1, -1), MANY),
    ([(1,), (3,)], [(0,), (2,)], True, None, MANY),
    ([(1, 0, 0, -1)], [*map(tuple, np.eye(4, dtype=int).tolist())], True, (1, 0, 0, -1), SIZES),
]


def judged(broken: Any, distances: Any, rows: Any, blocks: bool, right: Any, spec: str) -> None:
    """The answer is that distance, or None."""
    got = broken([*distances], [*rows], blocks)
    if isinstance(got, (np.ndarray, list)):
        got = tuple(got)
    if got == right:
        return
    program = f"broken({[*distances]}, {[*rows]}, {blocks})"
    if got is not None and got not in distances:
        raise Wrong("The function must return one of the distances, or None.", program=program,
                    got=returned(got), spec=RETURNS)  # fmt: skip
    before = right is None or (got is not None and distances.index(got) < distances.index(right))
    one: Any = got if before else right
    new = tuple(int(np.dot(row, one)) for row in rows)
    does, cut = "survives" if before else "does not survive", " in blocks" * blocks
    comes = f", and it stands before {got} in the list" if got is not None and not before else ""
    raise Wrong(f"The distance {one} {does}{cut}: in the new loops it is {new}{comes}.",
                program=program, got=repr(got), expected=str(right), spec=spec)  # fmt: skip


@checks("u08.broken", spec=[*dict.fromkeys(case[-1] for case in ORDERS), RETURNS, GIVEN])
def orders_of_few_loops(broken):
    """The stencil and some others, with the order, the skew and the blocks of the text."""
    for distances, rows, blocks, right, spec in ORDERS:
        judged(broken, distances, rows, blocks, right, spec)
    return f"{len(ORDERS)} orders"


@st.composite
def orders(draw: DrawFn, dims: int = 2, size: int = 3) -> tuple[Any, Any, bool]:
    """(distances, rows, blocks): distances that lead forwards, and rows that can be undone, now and
    then with one more that could be missing."""
    dims = draw(st.sampled_from([dims, dims, 1, 4, 6]))
    one = st.tuples(*[st.integers(-size, size)] * dims).filter(lambda d: d > (0,) * dims)
    distances = draw(st.lists(one, max_size=4))
    rows = [[int(i == j) for j in range(dims)] for i in draw(st.permutations(range(dims)))]
    for _ in range(draw(st.integers(0, 2)) if dims > 1 else 0):
        to, of = draw(st.permutations(range(dims)))[:2]
        factor = draw(st.integers(-2, 2))
        rows[to] = [x + factor * y for x, y in zip(rows[to], rows[of], strict=True)]
    if draw(st.integers(0, 3)) == 3:
        more = [draw(st.integers(-2, 2)) for _ in range(dims)]
        rows.insert(draw(st.integers(0, dims)), more)
    return distances, [tuple(row) for row in rows], draw(st.booleans())


@checks("u08.broken", given=orders(), examples=150, what="random orders",
        spec=[SURVIVES, FIRST, SIZES])  # fmt: skip
def it_agrees_with_running_the_loops(broken, example):
    """For blocks of one iteration, and for blocks that hold both, the second one runs later."""
    distances, rows, blocks = example
    right = next((d for d in distances if not _later(rows, d, blocks)), None)
    judged(broken, distances, rows, blocks, right, SIZES if blocks else SURVIVES)


def _later(rows: Any, distance: Sequence[int], blocks: bool) -> bool:
    """Does the iteration at that distance run later? In each loop, a block is tried that holds
    both iterations, and one that holds one."""
    second = np.array(rows) @ distance
    far = max(abs(second)) + 1
    sizes = product((1, 2 * far), repeat=len(rows)) if blocks else [(1,) * len(rows)]
    when = [[((far + at) // size).tolist() + at.tolist() for at in (0 * second, second)]
            for size in map(np.array, sizes)]  # fmt: skip
    return all(after > before for before, after in when)


# ── elimination ──

ZERO = "conditions that all have the coefficient 0 at k"
HOLD = "satisfy them exactly if there is a fraction for variable k with which all the given"
HALVES = "Values of the other variables, which may be fractions"
MEANS = "(2, -1, 5) says that 2*x - y + 5 >= 0: a coefficient for each variable, and then the"
WHICH = "the number of the variable to be eliminated, from 0 on"
OTHERS = "What the conditions say about the other variables"
SYSTEMS = [
    ([(1, -1, 0), (-1, 0, 4)], 0),
    ([(2, -1, 0), (-3, 1, 1)], 0),
    ([(2, 1), (-2, -3)], 0),
    ([(0, 0, -1), (1, 1, 0)], 0),
    ([(1, 0, 0), (-1, 0, 5), (0, 2, -1), (0, -2, 1)], 0),
    ([(1, 1, -1, 0, 2), (-1, 0, 2, -1, 5), (-2, 1, 0, 1, 0), (0, 1, 1, 1, 9)], 0),
    ([], 0),
    ([row for n in range(25) for row in ((1, 0, 24 - n), (-1, 1, 24 - n))], 0),
    ([row for n in range(25) for row in ((1, 0, n), (-1, 1, n), (0, -1, 5 + n))], 0),
]


@checks("u08.eliminate", spec=[ZERO, HOLD, HALVES, MEANS, WHICH, OTHERS])
def small_systems(eliminate):
    """A few conditions of one and of two variables."""
    for conditions, k in SYSTEMS:
        same_shadow(eliminate, conditions, k)
    return f"{len(SYSTEMS)} sets of conditions"


@st.composite
def systems(draw: DrawFn, variables: int = 3, most: int = 5) -> tuple[Any, int]:
    """(conditions, k): up to `most` conditions of one to `variables` variables. Some are about few
    of the variables or about none, and some have larger coefficients. There may be many more that
    say less, before them or after them."""
    width = draw(st.integers(1, variables))
    large = draw(st.sampled_from([3, 3, 12]))
    number = st.one_of(st.just(0), st.integers(-large, large))
    none = st.tuples(*[st.just(0)] * width, st.integers(-2, 2))
    some = st.tuples(*[number] * width, st.integers(-9, 9))
    rows = draw(st.lists(st.one_of(some, some, some, none), max_size=most))
    loose = [(*row[:-1], row[-1] + n) for n in range(draw(st.sampled_from([1, 1, 1, 9])))
             for row in rows]  # fmt: skip
    return loose[:: draw(st.sampled_from([1, -1]))], draw(st.integers(0, width - 1))


@checks("u08.eliminate", given=systems(), examples=80, what="random conditions", spec=[ZERO, HOLD])
def random_systems(eliminate, example):
    """At each point, there is a fraction for the variable exactly if your conditions hold."""
    conditions, k = example
    same_shadow(eliminate, conditions, k)


def same_shadow(eliminate: Any, conditions: Any, k: int) -> None:
    """At points of the other variables, the result holds just if some value of variable k fits."""
    wrong, got = (
        partial(Wrong, program=f"eliminate({conditions}, {k})"),
        eliminate([*conditions], k),
    )
    listed = isinstance(got, Iterable) and not isinstance(got, (str, Mapping))
    rows: list[Any] = [*got] if listed else [None]
    width = len(conditions[0]) if conditions else 0
    if not all(_numbers(row, width) for row in rows):
        raise wrong("The function must return a list of conditions, each as long as those given.",
                    got=returned(got), spec=ZERO)  # fmt: skip
    if any(row[k] for row in rows):
        raise wrong(
            "No condition of the result may contain variable k.", got=returned(rows), spec=ZERO
        )
    if not conditions:
        return
    points = _points(width - 2)
    at = np.insert(points, k, 0, axis=1)
    fits, holds = _some_value(conditions, k, at), (_values(rows, at) >= -NEARLY).all(axis=1)
    for number in np.flatnonzero(fits != holds)[:1]:
        point = points[number, :-1]
        others = ", ".join(f"{x:g}" for x in point)
        where = f"where the other variables are ({others})" if len(point) else "here"
        some, does = ("a", "do not hold") if fits[number] else ("no", "hold")
        raise wrong(f"There is {some} value for variable {k} {where}, but your conditions {does}.",
                    got=returned(rows),
                    spec=HOLD if np.equal(point, np.round(point)).all() else HALVES)  # fmt: skip


NEARLY = 1e-9


@cache
def _points(others: int) -> np.ndarray:
    """Values of so many variables and a 1 for the constant: whole numbers that are small first,
    fractions last."""
    rng = np.random.default_rng(8)
    near = np.array([*product(range(-5, 6), repeat=min(others, 2))])
    near = np.hstack([near, rng.integers(-5, 6, (len(near), others - near.shape[1]))])
    near = near[np.argsort(np.abs(near).sum(axis=1), kind="stable")]
    far = rng.integers(-60, 61, (150, others))
    points = np.vstack([near, far, near + 0.5, far / 6])
    return np.hstack([points, np.ones((len(points), 1))])


def _values(rows: Any, at: np.ndarray) -> np.ndarray:
    """What each condition gives at each point, in units of its largest number."""
    table = np.array([[float(x) for x in row] for row in rows]).reshape(-1, at.shape[1])
    return at @ (table / np.maximum(1, np.abs(table).max(axis=1, keepdims=True))).T


def _some_value(conditions: Any, k: int, at: np.ndarray) -> np.ndarray:
    """At each point: do the conditions leave a fraction for variable k, which is 0 in `at`?"""
    values = _values(conditions, at)
    slopes = _values(conditions, np.eye(at.shape[1])[[k]])[0]
    ends = -values[:, slopes != 0] / slopes[slopes != 0]
    rises = slopes[slopes != 0] > 0
    least = ends[:, rises].max(axis=1, initial=-np.inf)
    most = ends[:, ~rises].min(axis=1, initial=np.inf)
    return (least <= most + NEARLY) & (values[:, slopes == 0] >= -NEARLY).all(axis=1)


def _numbers(row: Any, width: int) -> bool:
    sized = isinstance(row, (tuple, list, np.ndarray)) and (not width or len(row) == width)
    return sized and all(isinstance(x, (int, float, Fraction, np.number)) for x in row)
