"""Visible checks of unit 8. Here: iterations that touch the same element.

Next room: orders.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from autograder.check.framework import Wrong, background, checks
from autograder.check.shown import returned
from autograder.check.steps import with_steps
from course_lib.ir.expr import Affine
from course_lib.ir.loops.nest import Kernel
from course_lib.ir.loops.polyhedra.dependences import dependences
from course_lib.ir.loops.polyhedra.domains import Statement, statements_of
from lessons.u08.stencils import FIVE, five

KINDS = {("write", "read"): "flow", ("read", "write"): "anti", ("write", "write"): "output"}


def whole(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


# ── five nests ──

FORM = 'for each name of a nest, "a" to "e", either (kind, first, second) or None'
VALUES = "The iterations are tuples of the loop variables' values, outermost first"
RUNS = "In the nest as it is written, the first iteration runs before the second"
TOUCH = "Both touch the same element of `out`"
DOES = "the kind says what they do with it"
THREE = 'The kind is "flow", "anti" or "output"'
FIND = "find two iterations that must stay in order, if there are any"
NONE = "None means that all iterations may run in any order"

background("u08.witnesses", "If there are several such pairs, any of them is right",
           because="every pair is looked at by itself")  # fmt: skip


@checks("u08.witnesses", spec=[FORM, VALUES, RUNS, TOUCH, DOES, NONE, THREE, FIND])
def the_pairs_meet(witnesses):
    """Each pair touches an element in this order and in this way; None, where there is no pair."""
    got = witnesses()
    if not isinstance(got, Mapping) or set(got) != set(FIVE):
        raise Wrong(
            'The answer must be a dict with the keys "a" to "e".', got=returned(got), spec=FORM
        )
    for name, kernel in five().items():
        if got[name] is None:
            if dependences(kernel.body):
                raise Wrong(f"In nest {name}, there are two iterations that must stay in order.",
                            program=FIVE[name], got="None", spec=NONE)  # fmt: skip
        else:
            _meet(name, kernel, got[name])
    return "five nests"


def _meet(name: str, kernel: Kernel, answer: Any) -> None:
    wrong = partial(Wrong, program=FIVE[name], got=returned(answer))
    if not isinstance(answer, (tuple, list)) or len(answer) != 3:
        raise wrong(f"For nest {name}, the answer must be (kind, first, second) or None.",
                    spec=FORM)  # fmt: skip
    kind, *ends = answer
    if kind not in KINDS.values():
        raise wrong(f"For nest {name}, {kind!r} is not one of the three kinds.", spec=THREE)
    (statement,) = statements_of(kernel.body)
    first, second = (_iteration(name, statement, end) for end in ends)
    if first >= second:
        raise wrong(f"In nest {name}, {first} does not run before {second}.", spec=RUNS)
    touched = [_elements(statement, end) for end in (first, second)]
    both = [(a, b, x) for (a, x), (b, y) in product(*touched) if x == y]
    if not both:
        where = [f"{end} touches {', '.join(sorted({text for _, text in its}))}"
                 for end, its in zip((first, second), touched, strict=True)]  # fmt: skip
        raise wrong(f"In nest {name}, these two iterations touch no element of `out` in common.",
                    got=" and ".join(where), spec=TOUCH)  # fmt: skip
    if kind not in [KINDS.get((a, b)) for a, b, _ in both]:
        done = "; ".join(f"{first} {a}s {x} and {second} {b}s it" for a, b, x in both)
        raise wrong(f"In nest {name}, the kind of that pair is not {kind}.", got=done, spec=DOES)


def _iteration(name: str, statement: Statement, end: Any) -> tuple[int, ...]:
    values = (end,) if whole(end) else end
    sized = isinstance(values, (tuple, list, np.ndarray)) and len(values) == len(statement.vars)
    if sized and all(map(whole, values)):
        at = dict(zip(statement.vars, map(int, values), strict=True))
        if all(condition.evaluate(at) >= 0 for condition in statement.domain):
            return tuple(at.values())
    runs = " and ".join(f"{loop.var} runs from {loop.start} to {loop.stop - 1}"
                        for loop in statement.around)  # fmt: skip
    raise Wrong(f"Nest {name} has no such iteration: {runs}.", program=FIVE[name],
                got=returned(end), spec=VALUES)  # fmt: skip


def _elements(statement: Statement, end: Sequence[int]) -> list[tuple[str, str]]:
    """(how, element) of `out` for each access of an iteration."""
    at = dict(zip(statement.vars, end, strict=True))
    touched = [access for access in statement.accesses if access.buffer == "out"]
    places = [[str(i.evaluate(at)) for i in access.indices if isinstance(i, Affine)]
              for access in touched]  # fmt: skip
    return [(access.way, f"out[{', '.join(place)}]") for access, place in
            zip(touched, places, strict=True)]  # fmt: skip


# ── one pair of accesses ──

SAME = "(i, j) with a*i + b == c*j + d, or None if there are none"
ASKED = "Do the accesses out[a*i + b] and out[c*j + d] ever touch the same element"
RANGE = "both i and j run from 0 to n - 1"
SIGNS = "a and c are not 0, and all may be negative"
ANY = "If there are several, any of them is right"
FAST = "The loops may be long and the numbers large, so trying one iteration after another"


def right_pair(meet: Any, case: tuple[int, int, int, int, int], there: bool, spec: str) -> None:
    """The answer is a pair that meets, if there is one, and None if not."""
    a, b, c, d, n = case
    got, wrong = meet(*case), partial(Wrong, program=f"meet{case}")
    if got is None:
        if there:
            raise wrong("There are two iterations that touch the same element, so None is wrong.",
                        got="None", spec=spec)  # fmt: skip
        return
    if not isinstance(got, (tuple, list, np.ndarray)) or len(got) != 2 or not all(map(whole, got)):
        raise wrong("The function must return a pair of whole numbers, or None.", got=returned(got),
                    spec=SAME)  # fmt: skip
    i, j = map(int, got)
    if a * i + b != c * j + d:
        raise wrong("The two accesses must touch the same element.", spec=SAME,
                    got=f"i = {i} touches out[{a * i + b}], and j = {j} touches out[{c * j + d}]",
                    )  # fmt: skip
    if not (0 <= i < n and 0 <= j < n):
        raise wrong(f"Both i and j must be from 0 to {n - 1}.", got=f"({i}, {j})", spec=RANGE)


@st.composite
def accesses(draw: DrawFn, size: int = 9, most: int = 12) -> tuple[int, int, int, int, int]:
    """(a, b, c, d, n): small numbers, so that there are often few pairs or none."""
    factor = st.integers(-size, size).filter(bool)
    offset = st.integers(-3 * size, 3 * size)
    return draw(factor), draw(offset), draw(factor), draw(offset), draw(st.integers(1, most))


@checks("u08.meet", given=accesses(), examples=150, what="random accesses",
        spec=[ASKED, SAME, RANGE, SIGNS, ANY])  # fmt: skip
def it_agrees_with_all_pairs(meet, case):
    """The answer is what trying all pairs of iterations says."""
    a, b, c, d, n = case
    there = not {a * i + b for i in range(n)}.isdisjoint(c * j + d for j in range(n))
    right_pair(meet, case, there, SAME)


@checks("u08.meet", spec=FAST)
def long_loops_take_no_longer(meet, rng):
    """Loops of up to 10**18 iterations, and numbers to match."""
    far = 10**17
    for case, there in (((1, 0, 1, far + 1, 10**18), True), ((-1, 0, 1, -far - 1, 10**16), False),
                        *(large(rng) for _ in range(100))):  # fmt: skip
        few = with_steps(meet, 2_000, f"meet{case}", "are iterations tried one after another?")
        right_pair(few, case, there, FAST)


def large(rng: np.random.Generator) -> tuple[tuple[int, int, int, int, int], bool]:
    """(a, b, c, d, n) with large numbers, and whether they meet: at a pair that was drawn first,
    often at an end of the loops, or one element beside it, where short loops are tried."""
    n = int(rng.choice([1, 2, 7, 30, 10**6, 10**12, 10**18]))
    a, c = (int(rng.integers(1, 10 ** rng.integers(1, 16))) * int(rng.choice([-1, 1]))
            for _ in range(2))  # fmt: skip
    b = int(rng.integers(-(10**17), 10**17))
    i, j = (int(rng.choice([0, n - 1, int(rng.integers(n))])) for _ in range(2))
    near = int(rng.integers(-2, 3)) * max(abs(a), abs(c)) if n <= 30 else 0
    d = a * i + b - c * j + near
    there = not near or any((a * k + b - d) % c == 0 and 0 <= (a * k + b - d) // c < n
                            for k in range(n))  # fmt: skip
    return (a, b, c, d, n), there
