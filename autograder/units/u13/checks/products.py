"""Visible checks of unit 13: the products of one block of output channels.

`right_sums` and `as_asked` judge an answer, here and in the hidden checks. Next room: tiles.py.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st

from autograder.check.framework import Wrong, checks
from course_lib.accelerator.chip import ACCS, ACTS, WEIGHTS, Chip
from course_lib.accelerator.isa.check import check
from course_lib.accelerator.isa.execute import Matmul, Preload
from course_lib.accelerator.isa.fault import Fault
from course_lib.accelerator.isa.instruction import Instruction
from course_lib.accelerator.isa.instructions import Halt
from course_lib.accelerator.isa.state import State
from course_lib.accelerator.isa.text import disassemble
from lessons.u13.tokens import found

SUMS = (
    "The instructions that compute one block of output channels for one piece of image",
    "runs (offset, length) of the stretches of bytes that every sum reads, in order",
    "first the matmul for the first byte alone: k = 1",
)
PIECES = "Each run is cut into as few pieces as possible, of at most `rows` bytes each"
ENDS = "no piece has bytes of two runs"
ORDER = "For each piece, a preload brings its rows of weights, and then a matmul sends all pixels"
WEIGHTED = (
    "where the weights begin: a row of `first.n` for each byte of each run, in order",
    "rows rows of the array",
)
SAME = "Every matmul equals `first` except for `acts`, `k` and `add`"
ACTS_AT = "Offset 0 lies at `first.acts`"
ADD = ("The first matmul has the `add` of `first`", "all others add to what is there")
PRELOAD = (
    "Make each preload with `Preload(weights=..., k=..., n=first.n, pitch=first.n, "
    "origin=first.origin)`"
)


class Case(NamedTuple):
    """What `products` is called with, and the seed of the numbers in the memories."""

    runs: list[tuple[int, int]]
    weights: int
    first: Matmul
    rows: int
    seed: int


@st.composite
def cases(draw: st.DrawFn, most: int = 3, longest: int = 9, side: int = 4) -> Case:
    """Runs, pixels and an array, all small."""
    runs, at = [], 0
    for _ in range(draw(st.integers(1, most))):
        offset = max(0, at + draw(st.integers(-2 * longest, 3)))  # behind the one before, or not
        runs.append((offset, draw(st.integers(1, longest))))
        at = offset + runs[-1][1]
    h, w = draw(st.integers(1, 2)), draw(st.integers(1, 3))
    step = draw(st.integers(1, 5))
    first = Matmul(
        acts=draw(st.integers(0, 9)), h=h, w=w, step=step, line=w * step + draw(st.integers(0, 9)),
        k=1, n=draw(st.integers(1, side)), accs=draw(st.integers(0, 5)),
        add=draw(st.integers(0, 1)), origin=("layer",),
    )  # fmt: skip
    return Case(runs, draw(st.integers(0, 20)), first, draw(st.integers(1, 2 * side)),
                draw(st.integers(0, 999)))  # fmt: skip


def right_sums(products: Any, case: Case) -> None:
    """Wrong unless the program leaves the sums that numpy computes."""
    chip = Chip("one block", case.rows, max(4, case.first.n), weights=1 << 14, acts=1 << 14,
                accs=256, params=8, banks=(1, 1, 1))  # fmt: skip
    state, program = State(chip, np.zeros(1, np.int8)), asked(products, case)
    rng = np.random.default_rng(case.seed)
    for memory in (WEIGHTS, ACTS, ACCS):
        state.memories[memory][:] = rng.integers(-9, 10, len(state.memories[memory]))
    due = expected(case, state.memories, chip.cols)
    try:
        check([*program, Halt()], chip)
        for instruction in program:
            instruction.run(state)
    except Fault as fault:
        shown = f"{disassemble(program)}\n{found(fault)}"
        raise Wrong("The chip cannot run these instructions.", program=told(case), got=shown,
                    spec=PIECES) from None  # fmt: skip
    got = state.memories[ACCS].reshape(-1, chip.cols)
    if (got != due).any():
        row, col = np.argwhere(got != due)[0].tolist()
        raise Wrong(f"Row {row}, column {col} of the accumulators must hold {due[row, col]}.",
                    program=told(case), got=f"{got[row, col]}, by this program:\n"
                    f"{disassemble(program)}", spec=doubted(case, program))  # fmt: skip


def doubted(case: Case, program: list[Any]) -> str:
    """What of the text wrong sums may go against."""
    adds = [bool(i.add) for i in program if isinstance(i, Matmul)]
    wrong = adds != [bool(case.first.add)] + [True] * (len(adds) - 1)
    return ADD[0] if wrong else SUMS[0]


def expected(case: Case, memories: dict[str, np.ndarray], cols: int) -> np.ndarray:
    """The accumulators afterwards."""
    first, acts = case.first, memories[ACTS].astype(int)
    bytes_ = np.concatenate([np.arange(o, o + many) for o, many in case.runs]) + first.acts
    matrix = memories[WEIGHTS][case.weights :][: len(bytes_) * first.n].reshape(-1, first.n)
    due = memories[ACCS].reshape(-1, cols).copy()
    for pixel in range(first.h * first.w):
        y, x = divmod(pixel, first.w)
        total = acts[bytes_ + y * first.line + x * first.step] @ matrix.astype(int)
        due[first.accs + pixel, : first.n] = total + first.add * due[first.accs + pixel, : first.n]
    return due


def asked(products: Any, case: Case) -> list[Instruction]:
    got = products(list(case.runs), case.weights, case.first, case.rows)
    if not isinstance(got, (list, tuple)) or not got:
        said = "nothing (is a `return` missing?)" if got is None else repr(got)[:200]
        raise Wrong("The answer must be a list of instructions.", program=told(case), got=said,
                    spec=SUMS[0])  # fmt: skip
    strange = [i for i in got if not isinstance(i, (Preload, Matmul))]
    if strange:
        raise Wrong("The answer must have only preloads and matmuls.", program=told(case),
                    got=repr(strange[0])[:200], spec=ORDER)  # fmt: skip
    return list(got)


def as_asked(products: Any, case: Case) -> None:
    """Wrong unless the pieces and the fields are those of the text."""
    program = asked(products, case)
    kinds = [type(i) for i in program]
    many = sum(-(-length // case.rows) for _, length in case.runs)
    if kinds != [Preload, Matmul] * (len(kinds) // 2):
        object_to(case, program, "There must be a preload and then a matmul for each piece.", ORDER)
    if len(program) != 2 * many:
        object_to(case, program, "The number of pieces is another one.", PIECES,
                  f"{len(program) // 2} pieces", f"{many} pieces")  # fmt: skip
    fields(case, program)


def fields(case: Case, program: list[Any]) -> None:
    first = case.first
    for number, (preload, matmul) in enumerate(zip(program[::2], program[1::2], strict=True)):
        if replace(matmul, acts=first.acts, k=first.k, add=first.add) != first:
            object_to(case, program, "A matmul differs from `first` in another field.", SAME,
                      str(matmul), str(first))  # fmt: skip
        if matmul.origin != first.origin or preload.origin != first.origin:
            object_to(case, program, "An instruction must have the `origin` of `first`.",
                      SAME if matmul.origin != first.origin else PRELOAD)  # fmt: skip
        if (preload.n, preload.pitch) != (first.n, first.n):
            object_to(case, program, f"A preload must have n={first.n} and pitch={first.n}.",
                      PRELOAD, str(preload))  # fmt: skip
        if preload.k != matmul.k:
            object_to(case, program, "A preload brings as many rows as its matmul has bytes.",
                      ORDER, f"{preload}\n{matmul}")  # fmt: skip
        if preload.wait or preload.signal:
            object_to(case, program, "A preload must have no tokens.", PRELOAD, str(preload))
        if number and not matmul.add:
            object_to(case, program, "Only the first matmul may overwrite the sums.", ADD[1],
                      str(matmul))  # fmt: skip


def object_to(case: Case, program: list[Instruction], problem: str, spec: str, got: str = "",
              expected: str = "") -> None:  # fmt: skip
    shown = disassemble(program)
    raise Wrong(problem, program=told(case), got=f"{got}\nin\n{shown}" if got else shown,
                expected=expected, spec=spec)  # fmt: skip


def told(case: Case) -> str:
    return (f"runs    {case.runs}\nweights {case.weights}\nfirst   {case.first}"
            f"\nrows    {case.rows}")  # fmt: skip


@checks("chip.products", given=cases(), examples=60, what="random blocks",
        spec=[*SUMS, PIECES, *WEIGHTED, ACTS_AT, *ADD])  # fmt: skip
def computes_the_sums(products, case):
    """The accumulators hold the sums afterwards."""
    right_sums(products, case)


@checks("chip.products", given=cases(), examples=60, what="random blocks",
        spec=[PIECES, ENDS, ORDER, SAME, PRELOAD, *ADD])  # fmt: skip
def cuts_as_asked(products, case):
    """The pieces, and the fields of each instruction."""
    as_asked(products, case)
