"""Visible checks of unit 8 about skewing a loop: the new loop runs what the old one ran.

The bodies are compared with numbers in place of variables, iteration by iteration, so no statement
may be missing, and none may run in another order. Next room: schedules.py.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from autograder.check.framework import Wrong, background, checks, shows
from autograder.check.shown import returned
from course_lib.ir.expr import Affine
from course_lib.ir.loops.nest import LOOP_KINDS, Kernel, Loop, Stmt, print_bounds
from course_lib.ir.loops.parse import parse_kernel
from course_lib.ir.loops.verify import verify_kernel
from course_lib.ir.loops.walk import loops, nest_of, rewrite, substitute

NUMBERS = "The same loop with other numbers: iteration j is now iteration j + factor * outer"
KEPT = "returns  a loop over the same variable and of the same kind"
RUNS = "It runs the same statements in the same order and touches the same elements"
STARTS = "it has one or more `starts`, of which the largest counts, and one or more `stops`"
BOUNDS = "The loop's bounds may contain the variables of all loops around it"
INNER = "loops in the body may have bounds that depend on this loop"
SIGN = "a whole number, which may be negative"
AROUND = "the variable of a loop around it"
WHATEVER = "a loop over any variable"

background("schedule.skewed", 'For example, skewed(loop, "t", 2) turns the first loop',
           because="an example")  # fmt: skip

TWO_AROUND = "for a in 0..3 { for k in 0..3 { for b in k..7 { out[b] = out[b] + x[a + b - k] } } }"
TURNED = "for i in 0..4 { for t in i..9 { out[t] = out[t - i] + x[t] } }"
SMOOTH = "for t in 0..4 { for i in 1..9 { out[i] = out[i - 1] + out[i + 1] } }"
TWO = "for t in 0..4 { for i in 1..9 { out[i] = x[t] out[i + t] = out[i] * 0.5 } }"
ALIKE = (
    "for t in 0..4 { for i in 1..9 { out[i] += x[i] out[i] += x[i] y[i, t] = out[idx[i]] "
    "out[t] = cast(index(i), f32) } }"
)
KIND = "for t in 0..4 {{ {} i in 0..9 {{ y[t, i] = y[t, i] * x[i] }} }}"
INSIDE = "for t in 0..4 {{ for i in 0..4 {{ {} j in 0..4 {{ y[i, j] = y[i, j] * x[i + j] }} }} }}"
# The nest, the factor, and the variables of the loops: "t" and "i", if none are given.
NESTS: list[tuple[Any, ...]] = [
    (SMOOTH, 1, NUMBERS),
    (SMOOTH, 2, RUNS),
    (SMOOTH, -1, SIGN),
    (SMOOTH, 0, SIGN),
    (TWO, 1, RUNS),
    (ALIKE, 2, RUNS),
    *((KIND.format(kind), 1, KEPT) for kind in LOOP_KINDS),
    *((INSIDE.format(kind), 1, RUNS) for kind in LOOP_KINDS),
    ("for t in 0..4 { for i in t..9 { out[i] = out[i] + x[i - t] } }", 1, BOUNDS),
    ("for t in 0..4 { for i in max(0, 3 - t)..min(9, 4 + 2*t) { out[i] = x[i + t] } }", 2, STARTS),
    ("for t in 0..4 { for i in 0..4 { for j in i..i + 3 { out[j] = out[i] * x[j] } } }", 1, INNER),
    ("for t in 0..4 { for i in 1..4 { for j in 0..i { out[i] = out[j] + 1.0 } } }", -2, INNER),
    (TURNED, 1, WHATEVER, "i", "t"),
    (TWO_AROUND, 2, AROUND, "a", "b"),
    (TWO_AROUND, -1, AROUND, "k", "b"),
]


@checks(
    "schedule.skewed", spec=[NUMBERS, RUNS, SIGN, KEPT, BOUNDS, STARTS, INNER, AROUND, WHATEVER]
)
def nests_of_a_few_iterations(skewed):
    """Small nests, as loops before and after."""
    for text, factor, spec, *variables in NESTS:
        skewed_well(skewed, kernel_of(text), factor, spec, *variables)
    return f"{len(NESTS)} nests"


@st.composite
def nests(draw: DrawFn, most: int = 3) -> tuple[Kernel, int, str, str]:
    """(kernel, factor, outer, var): the loop over `var` stands in one to three others, with bounds
    that may move with all of them; in it stand up to `most` statements, loops among them."""
    names = draw(st.sampled_from(["tmsij", "itmjs", "kabpq", "jsitm"]))
    around = names[: draw(st.integers(1, 3))]
    var, inner = names[3:]
    text = f"{_loop(draw, var, around, 4)} {{ {_block(draw, (*around, var), inner, most)} }}"
    for name in reversed(around):
        before = draw(st.sampled_from(["", "", f"out[{name}] = 0.5 "]))
        text = f"for {name} in {draw(st.integers(0, 1))}..3 {{ {before}{text} }}"
    kernel = _of_kinds(draw, kernel_of(text), around)
    return kernel, draw(FACTORS), draw(st.sampled_from(around)), var


FACTORS = st.one_of(st.integers(-3, 3), st.sampled_from([-17, -8, 5, 12, 100]))
WRITES = st.sampled_from([
    "out[{0}] = x[{1}] * 0.5", "out[{0}] += x[{1}]", "out[{0}] max= x[{1}] + y[{2}, {0}]",
    "y[{0}, {1}] = out[{2}]", "y[{0}, {1}] *= 2.0", "out[{0}] = x[idx[{1}]]",
    "out[idx[{1}]] = out[{0}]", "out[{0}] = cast(index({1}), f32)",
    "local LOCAL: f32[] LOCAL[] = x[{0}] out[{1}] min= LOCAL[]",
])  # fmt: skip


def _loop(draw: DrawFn, var: str, around: Sequence[str], long: int) -> str:
    """for var in max(1 + t, 2)..min(t + 5, t + 2*m + 7): one to three bounds on each side."""
    least, moves = draw(st.integers(0, 3)), _moves(draw, around)
    starts, stops = [f"{least}{moves}"], [f"{least + long}{moves}"]
    for bounds, number in ((starts, 0), (stops, 6)):
        for _ in range(draw(OTHERS)):
            bounds.append(f"{number + draw(st.integers(0, 3))}{_moves(draw, around)}")
    start = starts[0] if len(starts) == 1 else f"max({', '.join(starts)})"
    stop = stops[0] if len(stops) == 1 else f"min({', '.join(stops)})"
    return f"for {var} in {start}..{stop}"


OTHERS = st.sampled_from([0, 0, 1, 2])


def _moves(draw: DrawFn, variables: Sequence[str]) -> str:
    """Multiples of up to two of these variables, to be added to a number."""
    moved = draw(st.lists(st.sampled_from(variables), max_size=2, unique=True))
    return "".join(draw(st.sampled_from([" + ", " + 2*"])) + name for name in moved)


def _index(draw: DrawFn, around: Sequence[str]) -> str:
    """An element that moves with the loops around it, mostly with the inner ones."""
    one, other = (draw(st.sampled_from([*around[::-1]])) for _ in range(2))
    return draw(st.sampled_from([one, f"{one} + {other}", f"2*{one} + 1", f"60 - {one}", "3"]))


def _block(draw: DrawFn, around: Sequence[str], inner: str, most: int) -> str:
    """Statements, among them loops over variables whose names begin with `inner`, if any."""
    stmts = []
    for place in range(draw(st.integers(1, most))):
        name = f"{inner}{place or ''}"
        if inner and draw(st.integers(0, 2)) == 2:
            body = _block(draw, (*around, name), "", 2)
            stmts.append(f"{_loop(draw, name, around[-2:], 2)} {{ {body} }}")
        else:
            at = (_index(draw, around[-3:]) for _ in range(3))
            own = f"l{len(around)}{place}"
            stmts.append(draw(WRITES).format(*at).replace("LOCAL", own))
    return " ".join(stmts)


def _of_kinds(draw: DrawFn, kernel: Kernel, around: Sequence[str]) -> Kernel:
    """The same nest, in which loops may be of another kind where their iterations allow it."""
    for loop in loops(kernel.body):
        kind = draw(st.sampled_from([*LOOP_KINDS])) if loop.var not in around else "for"
        if kind != "for":
            other = replace(loop, kind=kind)
            body = rewrite(kernel.body, lambda s, old=loop, new=other: (new if s == old else s,))
            with contextlib.suppress(ValueError):
                kernel = verify_kernel(replace(kernel, body=body))
    return kernel


@checks("schedule.skewed", given=nests(), examples=60, what="random nests",
        spec=[NUMBERS, RUNS, INNER])  # fmt: skip
def random_nests(skewed, example):
    """The loop runs the same iterations in the same order, under the new numbers."""
    kernel, factor, outer, var = example
    skewed_well(skewed, kernel, factor, NUMBERS, outer, var)


def kernel_of(text: str) -> Kernel:
    given = "x: f32[99], y: f32[99,99], idx: i64[99], out: f32[99]"
    return parse_kernel(f"kernel @nest({given}) {{ {text} }}")


def skewed_well(
    skewed: Any, kernel: Kernel, factor: int, spec: str, outer: str = "t", var: str = "i"
) -> None:
    """The loop over `var` in that over `outer`, skewed, is a loop that does the same."""
    *around, loop = nest_of(kernel.body, var)
    program = f'skewed(loop, "{outer}", {factor}), where loop is that over {var} in\n{kernel!r}'
    wrong = partial(Wrong, program=program, spec=KEPT)
    with shows(program):
        got = skewed(loop, outer, factor)
    if not isinstance(got, Loop):
        raise wrong("The function must return a loop.", got=returned(got))
    if (got.var, got.kind) != (loop.var, loop.kind):
        raise wrong("The loop must keep its variable and its kind.",
                    got=f"{got.kind} {got.var}", expected=f"{loop.kind} {loop.var}")  # fmt: skip
    names = [other.var for other in around]
    if strange := {v for end in (*got.starts, *got.stops) for v in end.vars if v not in names}:
        raise wrong(f"The bounds of your loop contain {min(strange)}, but the loops around it run "
                    f"over {' and '.join(names)}.", got=print_bounds(got), spec=AROUND)  # fmt: skip
    for at in places(around):
        old = numbers(loop, at)
        new = [number + factor * at[outer] for number in old]
        if numbers(got, at) != new:
            runs = f"the new loop over {got.var} in {print_bounds(got)}"
            raise wrong(f"With {where(at)}, {runs} runs through the wrong numbers.",
                        got=str(numbers(got, at)), expected=str(new),
                        spec=NUMBERS if spec == RUNS else spec)  # fmt: skip
        for before, after in zip(old, new, strict=True):
            _same_work(loop, {**at, var: before}, got, {**at, var: after}, wrong, spec)


def where(at: Mapping[str, int]) -> str:
    return " and ".join(f"{name} = {value}" for name, value in at.items())


def _same_work(
    loop: Loop, old: Mapping[str, int], got: Loop, new: Mapping[str, int], wrong: Any, spec: str
) -> None:
    """The body of the new loop runs here what that of the old one runs there."""
    bodies = [substitute(one.body, {name: Affine.of(value) for name, value in at.items()})
              for one, at in ((loop, old), (got, new))]  # fmt: skip
    if bodies[0] == bodies[1]:
        return
    try:
        told, does = (list(_run(body, {})) for body in bodies)
    except KeyError as error:
        raise wrong(f"The new loop cannot run: no loop around it is over {error.args[0]}.",
                    got=Kernel("one", (), (got,)).text.strip(), spec=RUNS) from None  # fmt: skip
    if told != does:
        inside = len(bodies[0]) == len(bodies[1]) and len(told) != len(does)
        own = spec in (KEPT, SIGN, AROUND, WHATEVER)
        raise wrong(f"With {where(new)}, the new loop must run what iteration {old[loop.var]} ran.",
                    got="\n".join(does), expected="\n".join(told),
                    spec=spec if own else INNER if inside else RUNS)  # fmt: skip


def _run(body: Sequence[Stmt], at: Mapping[str, int]) -> Iterator[str]:
    """Statements in the order in which they run, as text, with numbers in place of variables."""
    numbered = {name: Affine.of(value) for name, value in at.items()}
    for stmt in body:
        if isinstance(stmt, Loop):
            yield f"{stmt.kind} {{"
            for number in numbers(stmt, at):
                yield from _run(stmt.body, {**at, stmt.var: number})
            yield "}"
        else:
            yield Kernel("one", (), substitute((stmt,), numbered)).text.strip()


def places(around: Sequence[Loop]) -> Iterator[dict[str, int]]:
    """The values of the variables of loops that stand one in another."""
    at: list[dict[str, int]] = [{}]
    for loop in around:
        at = [{**outer, loop.var: number} for outer in at for number in numbers(loop, outer)]
    yield from at


def numbers(loop: Loop, at: Mapping[str, int]) -> list[int]:
    """The values of a loop's variable, where those of the loops around it have these."""
    return [*range(*ends(loop, at))]


def ends(loop: Loop, at: Mapping[str, int]) -> tuple[int, int]:
    """Where a loop starts and stops there."""
    start = max(bound.evaluate(at) for bound in loop.starts)
    return start, min(bound.evaluate(at) for bound in loop.stops)
