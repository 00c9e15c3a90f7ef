"""Visible checks of unit 12, Systolic arrays: the clock of a grid, and the fault in a trace.

`same_registers` and `right_fault` judge an answer, here and in the hidden checks. Next
room: counts.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from hypothesis import strategies as st

from autograder.check.framework import TimedOut, Wrong, background, checks
from autograder.check.shown import returned
from course_lib.accelerator.array.registers import BUSY, SHIFT, Feed, Registers, after
from course_lib.accelerator.systolic import SystolicArray
from lessons.u12.grid import NAMES, Fault, Trace, multiplied, planted

SIZES = st.tuples(st.integers(1, 3), st.integers(1, 3), st.integers(0, 9999))
TRACES = st.tuples(st.integers(2, 3), st.integers(0, 9999))
LARGE_TRACES = (296, 340, 182)  # 4 x 27, 3 x 34 and 32 x 7 cells; one beyond the 20th is wrong

CLOCK = {
    "right": ("`right` takes the `right` of the neighbour", "in column 0 the operand that enters"),
    "down": ("`down` takes the `down` of the neighbour", "the operand that the cell takes in this",
             "times the weight that it holds before the clock"),
    "stay": ("Where `shift` is True, `stay` takes the `stay`", "Elsewhere `stay` keeps its weight"),
}  # fmt: skip
WHOLE = ("All cells work at once", "Return right, down and stay, in this order",
         "What the registers of a weight-stationary grid hold after the next clock")  # fmt: skip
GIVEN = ("right, down, stay [rows, cols]", "shift [rows, cols]", "enters [rows]", "weights [cols]")


LARGEST = (1, 9, 127, 1 << 14, 1 << 24)  # operands and weights; sums of 16 bits, of 31 and of 50


def random_state(rows: int, cols: int, seed: int) -> tuple[np.ndarray, ...]:
    """Registers, shifts, and what enters: small numbers or large, and no, all or some shifts."""
    rng = np.random.default_rng(seed)
    most = LARGEST[seed % len(LARGEST)]

    def drawn(*shape: int, most: int = most) -> np.ndarray:
        return rng.integers(-most, most + 1, shape)

    held = drawn(rows, cols), drawn(rows, cols, most=2 * most * most), drawn(rows, cols)
    shift = rng.random((rows, cols)) < rng.choice((0.0, 0.5, 0.5, 1.0))
    return (*held, shift, drawn(rows), drawn(cols))


def same_registers(clock: Any, state: tuple[np.ndarray, ...]) -> None:
    """Wrong unless the answer's registers are those that the library's level 0 holds."""
    program = told(state)
    with shows(program):
        answer = clock(*state)
    got = map(np.asarray, tuple_of(answer, "three arrays: right, down, stay", program, WHOLE[1]))
    right, down, stay, shift, enters, weights = state  # level 0: control bits move right, too
    bits = (BUSY | np.where(shift, SHIFT, 0)).astype(np.uint8)
    held = Registers(0, True, right, down, stay, stay, np.roll(bits, -1, 1))
    feed = Feed(enters[None], bits[None, :, 0], 0 * weights[None], weights[None], 1)
    library = after(held, feed, SystolicArray(*right.shape, dataflow="ws"))
    for name, mine in zip(NAMES, got, strict=True):
        due = getattr(library, name)
        if mine.shape != due.shape:
            raise Wrong(f"`{name}` must have the shape {list(due.shape)}, not {list(mine.shape)}.",
                        program=program, spec=WHOLE[1])  # fmt: skip
        if (mine != due).any():
            row, col = np.argwhere(mine != due)[0].tolist()
            at_the_edge = name == "right" and col == 0
            kept = name == "stay" and not shift[row, col]
            raise Wrong(f"`{name}` of cell ({row}, {col}) must be {due[row, col]}.",
                        program=program, got=f"{name} = {shown(mine)}",
                        expected=f"{name} = {shown(due)}",
                        spec=CLOCK[name][at_the_edge or kept])  # fmt: skip


def tuple_of(answer: Any, parts: str, program: str, spec: str, due: Any = "") -> Sequence[Any]:
    """The parts of an answer, three or four; Wrong if it has not so many."""
    if not isinstance(answer, (tuple, list)) or len(answer) != parts.count(",") + 1:
        raise Wrong(f"The answer must be {parts}.", program=program, got=returned(answer),
                    expected=due, spec=spec)  # fmt: skip
    return answer


@contextmanager
def shows(program: str) -> Iterator[None]:
    """An answer that raises, never ends or writes into what it was given is shown with this."""
    try:
        yield
    except (Exception, TimedOut) as error:
        error.program = program  # type: ignore[attr-defined]
        raise


def told(state: Sequence[np.ndarray]) -> str:
    return "\n".join(f"{n:<8}{shown(a)}" for n, a in zip(Trace._fields, state, strict=True))


def shown(array: np.ndarray) -> str:
    return str(np.asarray(array).tolist())[:200]


@checks("u12.clock", given=SIZES, examples=60, what="random grids",
        spec=[*CLOCK["right"], *CLOCK["down"], *CLOCK["stay"], *WHOLE, *GIVEN])  # fmt: skip
def one_clock(clock, case):
    """The registers after one clock, cell by cell."""
    same_registers(clock, random_state(*case))


@checks("u12.clock", spec=[*CLOCK["right"], *CLOCK["down"], *CLOCK["stay"]])
def large_grids(clock):
    """One clock of grids with many columns, many rows, and many of both."""
    for rows, cols in ((1, 40), (40, 1), (33, 20)):
        same_registers(clock, random_state(rows, cols, rows))
    return "grids of up to 33 x 20 cells"


@checks("u12.clock", spec=WHOLE[0])
def a_whole_product(clock):
    """A product that is clocked from the first weight to the last result."""
    rng = np.random.default_rng(12)
    for m, k, n in ((1, 1, 1), (4, 4, 4), (7, 5, 3)):
        a, b = rng.integers(-9, 10, (m, k)), rng.integers(-9, 10, (k, n))
        got, count = multiplied(clock, a, b)
        if (got != a @ b).any():
            raise Wrong("What leaves at the bottom must be the product.", program=f"a = "
                        f"{shown(a)}\nb = {shown(b)}", got=shown(got),
                        expected=shown(a @ b))  # fmt: skip
    return f"the last of 3 products took {count} clocks"


FAULT = ("In each of two clocks, one register of one cell", "Every other value follows from what",
         "Return the later of the two faults as", "clocks count from 1, rows and columns from 0",
         "Where did the chip in this trace go wrong", "Before clock 1, all registers hold 0",
         'the register is "right", "down" or "stay"',
         "The arguments are those of `clock` ... what enters in clock 1")  # fmt: skip
background("u12.fault", "You may call your `clock`.", because="a permission")


def right_fault(fault: Any, given: Trace, first: Fault, second: Fault) -> None:
    """Wrong unless the answer names the clock, the register and the cell of the second fault."""
    program, due = described(given), (second.clock, second.register, second.row, second.col)
    with shows(program):
        answer = fault(*given)
    got = tuple_of(answer, "four values: clock, register, row, column", program, FAULT[2], due)
    same = [_same(mine, part) for mine, part in zip(got, due, strict=True)]
    if all(same):
        return
    what = ("clock", "register", "row", "column")[same.index(False)]
    problem = f"This is not the {what} of the second fault."
    spec = {"clock": FAULT[1], "register": FAULT[6]}.get(what, FAULT[3])
    if what == "clock" and _same(got[0], first.clock) and _same(got[1], first.register):
        problem, spec = "This is the first fault, not the second.", FAULT[2]
    elif what == "clock" and all(same[1:]) and _same(got[0], due[0] - 1):
        spec = FAULT[3]
    raise Wrong(problem, program=program, got=returned(tuple(got)), expected=repr(due), spec=spec)


def _same(mine: Any, due: str | int) -> bool:
    wanted = str if isinstance(due, str) else (int, float, np.integer, np.floating)
    return isinstance(mine, wanted) and bool(mine == due)


def described(given: Trace) -> str:
    clocks, rows, cols = given.right.shape
    lines = [f"{clocks} clocks of {rows} x {cols} cells"]
    for number in range(min(clocks, 20)):
        for start, names in ((f"clock {number + 1:>2}", Trace._fields[3:]), (" " * 8, NAMES)):
            values = (f"{name} {shown(getattr(given, name)[number].astype(int))}" for name in names)
            lines.append("  ".join([start, *values]))
    return "\n".join([*lines, *(["and more clocks"] if clocks > 20 else [])])


@checks("u12.fault", given=TRACES, examples=40, what="traces with two faults", spec=FAULT)
def the_planted_fault(fault, trace):
    """The register that took a wrong value in the later clock."""
    size, seed = trace
    right_fault(fault, *planted(seed, size))


@checks("u12.fault", spec=FAULT)
def on_large_arrays(fault):
    """Faults in arrays with more than 16 rows and columns."""
    for seed in LARGE_TRACES:
        right_fault(fault, *planted(seed, 40))
    return f"{len(LARGE_TRACES)} traces of larger arrays"
