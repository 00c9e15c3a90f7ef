"""Visible checks of unit 13: the products of one block of output channels.

`right_sums` and `as_asked` judge an answer, here and in the hidden checks. Next room: tiles.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st

from autograder.check.framework import Wrong, checks
from autograder.check.shown import returned
from course_lib.accelerator.chip import ACCS, ACTS, WEIGHTS, Chip
from course_lib.accelerator.isa.check import check
from course_lib.accelerator.isa.execute import Matmul, Preload
from course_lib.accelerator.isa.fault import Fault
from course_lib.accelerator.isa.instruction import Instruction
from course_lib.accelerator.isa.instructions import Halt
from course_lib.accelerator.isa.state import State
from course_lib.accelerator.isa.text import disassemble
from lessons.u13.tokens import fault_text

SUMS = ("The instructions that compute one block of output channels for one piece of image",
        "runs (offset, length) of the stretches of bytes that every sum reads, in order",
        "first the matmul for the first byte alone: k = 1")  # fmt: skip
PIECES = "Each run is cut into as few pieces as possible, of at most `rows` bytes each"
ENDS = "no piece has bytes of two runs"
ORDER = "For each piece, a preload brings its rows of weights, and then a matmul sends all pixels"
WEIGHTED = ("where the weights begin: a row of `first.n` for each byte of each run, in order",
            "rows rows of the array")  # fmt: skip
SAME = "Every matmul equals `first` except for `acts`, `k` and `add`"
ACTS_AT = "Offset 0 lies at `first.acts`"
ADD = ("The first matmul has the `add` of `first`", "all others add to what is there")
PRELOAD = ("Make each preload with `Preload(weights=..., k=..., n=first.n, pitch=first.n, "
           "origin=first.origin)`")  # fmt: skip


class Case(NamedTuple):
    """What `products` is called with, and the seed of the numbers in the memories."""

    runs: list[tuple[int, int]]
    weights: int
    first: Matmul
    rows: int
    seed: int

    def __str__(self) -> str:
        runs = f"[{', '.join(map(str, self.runs[:20]))}{', ...' * (len(self.runs) > 20)}]"
        lines = f"runs    {runs}\nweights {self.weights}\nfirst   {self.first}"
        return f"{lines}\nrows    {self.rows}"


@st.composite
def cases(draw: st.DrawFn, most: int = 3, longest: int = 9, side: int = 4) -> Case:
    """Runs, pixels and an array, all small."""
    lengths = [draw(st.integers(1, longest)) for _ in range(draw(st.integers(1, most)))]
    gaps = [draw(st.integers(-2 * longest, 3)) for _ in lengths]  # behind the one before, or not
    h, w, step = draw(st.integers(1, 2)), draw(st.integers(1, 3)), draw(st.integers(1, 5))
    first = Matmul(
        acts=draw(st.integers(0, 9)), h=h, w=w, step=step, line=w * step + draw(st.integers(0, 9)),
        k=1, n=draw(st.integers(1, side)), accs=draw(st.integers(0, 5)),
        add=draw(st.integers(0, 1)), origin=("layer",),
    )  # fmt: skip
    return Case(placed(lengths, gaps), draw(st.integers(0, 20)), first,
                draw(st.integers(1, 2 * side)), draw(st.integers(0, 999)))  # fmt: skip


def placed(lengths: Sequence[int], gaps: Sequence[int]) -> list[tuple[int, int]]:
    """Runs of these lengths, each so many bytes behind the one before."""
    runs, at = [], 0
    for length, gap in zip(lengths, gaps, strict=True):
        runs.append((max(0, at + gap), length))
        at = sum(runs[-1])
    return runs


def larger(rng: np.random.Generator) -> list[Case]:
    """Blocks of every size: arrays of up to 3,000 rows, long runs, many runs, many pixels."""
    blocks = []
    for scale, n, w in ((8, 5, 9), (30, 40, 2), (100, 7, 70), (300, 3, 2), (3000, 2, 1)):
        rows = int(rng.integers(scale, 4 * scale // 3))
        few = [rows - 1, rows, rows + 1, 3 * rows - int(rng.integers(1, rows))]
        for lengths in (few, rng.integers(1, 4, min(scale, 300)).tolist()):
            first = Matmul(acts=scale, h=3, w=w, step=2, line=2 * w + 1, k=1, n=n, accs=scale,
                           add=int(rng.integers(2)), origin=("layer",))  # fmt: skip
            gaps = rng.integers(-rows, 9, len(lengths)).tolist()
            blocks.append(Case(placed(lengths, gaps), scale, first, rows, scale))
    return blocks


def right_sums(products: Any, case: Case) -> None:
    """Wrong unless the program leaves the sums that numpy computes."""
    first, cols = case.first, max(4, case.first.n)
    pixels = first.h * first.w
    reach = max(sum(run) for run in case.runs) + first.h * first.line + first.w * first.step
    many = sum(length for _, length in case.runs) * first.n
    chip = Chip("one block", case.rows, cols, weights=case.weights + many + 4096,
                acts=first.acts + reach + 4096, accs=first.accs + pixels + 9, params=8,
                banks=(1, 1, 1))  # fmt: skip
    state, program = State(chip, np.zeros(1, np.int8)), asked(products, case)
    rng = np.random.default_rng(case.seed)
    for memory in (WEIGHTS, ACTS, ACCS):
        state.memories[memory][:] = rng.integers(-9, 10, len(state.memories[memory]))
    due = expected(case, state.memories, chip.cols)

    def wrong(problem: str, got: str) -> Wrong:
        return Wrong(problem, program=str(case), got=got, spec=doubted(case, program))

    try:
        check([*program, Halt()], chip)
        for instruction in program:
            instruction.run(state)
    except Fault as fault:
        shows = f"{shown(program)}\n{fault_text(fault)}"
        raise wrong("The chip cannot run these instructions.", shows) from None
    got = state.memories[ACCS].reshape(-1, chip.cols)
    if (got != due).any():
        row, col = np.argwhere(got != due)[0].tolist()
        problem = f"Row {row}, column {col} of the accumulators must hold {due[row, col]}."
        raise wrong(problem, f"{got[row, col]}, by this program:\n{shown(program)}")


def shown(program: Sequence[Instruction]) -> str:
    """The instructions, or the first of many."""
    more = f"... and {len(program) - 40} more" * (len(program) > 40)
    return f"{disassemble(program[:40])}{more}"


def doubted(case: Case, program: list[Any]) -> str:
    """The sentence that wrong sums go against: the first that the instructions do not keep."""
    half = len(program) // 2
    if [type(i) for i in program] != [Preload, Matmul] * half:
        return ORDER
    if half != pieces(case):
        return PIECES if half > pieces(case) else SUMS[1]
    preloads, matmuls = program[::2], program[1::2]
    sizes = [preload.k for preload in preloads]
    begins = case.weights + case.first.n * np.cumsum([0, *sizes[:-1]])
    rows = [
        (bool(matmuls[0].add) == bool(case.first.add), ADD[0]),
        (all(m.add for m in matmuls[1:]), ADD[1]),
        (sizes == [m.k for m in matmuls], ORDER),
        (sum(sizes) == sum(length for _, length in case.runs), ENDS),
        ([p.weights for p in preloads] == begins.tolist(), WEIGHTED[0]),
        (all(alike(m, case.first) for m in matmuls), SAME),
        (all((p.n, p.pitch) == (case.first.n, case.first.n) for p in preloads), PRELOAD),
        (matmuls[0].acts - case.first.acts in [offset for offset, _ in case.runs], ACTS_AT),
    ]  # fmt: skip
    return next((sentence for kept, sentence in rows if not kept), SUMS[1])


def pieces(case: Case) -> int:
    return sum(-(-length // case.rows) for _, length in case.runs)


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


def asked(products: Any, case: Case) -> list[Any]:
    got = products(list(case.runs), case.weights, case.first, case.rows)
    wrong = partial(Wrong, program=str(case))
    if not isinstance(got, (list, tuple)) or not got:
        problem = "The answer must be a list of instructions."
        raise wrong(problem, got=returned(got), spec=SUMS[0])
    for strange in [i for i in got if not isinstance(i, (Preload, Matmul))]:
        problem = "The answer must have only preloads and matmuls."
        raise wrong(problem, got=repr(strange)[:200], spec=ORDER)
    return list(got)


def as_asked(products: Any, case: Case) -> None:
    """Wrong unless the pieces and the fields are those of the text."""
    program = asked(products, case)
    many, half = pieces(case), len(program) // 2
    rows = [(
        [type(i) for i in program] == [Preload, Matmul] * half,
        "There must be a preload and then a matmul for each piece.", ORDER, ""),
        (half == many, "The number of pieces is wrong.", PIECES, f"{half} pieces"),
    ]  # fmt: skip
    for number, (preload, matmul) in enumerate(zip(program[::2], program[1::2], strict=False)):
        rows += fields(case.first, number, preload, matmul) if rows[0][0] else []
    for right, problem, spec, got in rows:
        if not right:
            raise Wrong(problem, program=str(case), spec=spec,
                        got=f"{got}\nin\n{shown(program)}" if got else shown(program),
                        expected=f"{many} pieces" if spec == PIECES else "")  # fmt: skip


def fields(first: Matmul, number: int, preload: Preload, matmul: Matmul) -> list[Any]:
    """What must hold for a preload and its matmul: whether it does, the problem, the text, and
    what shows it."""
    n = first.n
    origin = "An instruction must have the `origin` of `first`."
    return [
        (alike(matmul, first), "A matmul may differ from `first` in `acts`, `k`, `add` only.", SAME,
         f"{matmul}"),
        (matmul.origin == first.origin, origin, SAME, ""),
        (preload.origin == first.origin, origin, PRELOAD, ""),
        ((preload.n, preload.pitch) == (n, n), f"A preload must have n={n} and pitch={n}.", PRELOAD,
         f"{preload}"),
        (preload.k == matmul.k, "A preload must bring as many rows as its matmul has bytes.", ORDER,
         f"{preload}\n{matmul}"),
        (not (preload.wait or preload.signal), "A preload must have no tokens.", PRELOAD,
         f"{preload}"),
        (not number or matmul.add, "Only the first matmul may overwrite the sums.", ADD[1],
         f"{matmul}"),
    ]  # fmt: skip


def alike(matmul: Matmul, first: Matmul) -> bool:
    """Are all fields those of `first`, but `acts`, `k`, `add`? `origin` is looked at apart."""
    return replace(matmul, acts=first.acts, k=first.k, add=first.add, origin=first.origin) == first


@checks("chip.products", given=cases(), examples=60, what="random blocks",
        spec=[*SUMS, PIECES, ENDS, ORDER, PRELOAD, *WEIGHTED, ACTS_AT, *ADD])  # fmt: skip
def computes_the_sums(products, case):
    """The accumulators hold the sums afterwards."""
    right_sums(products, case)


@checks("chip.products", given=cases(), examples=60, what="random blocks",
        spec=[PIECES, ENDS, ORDER, SAME, PRELOAD, *ADD])  # fmt: skip
def cuts_as_asked(products, case):
    """The pieces, and the fields of each instruction."""
    as_asked(products, case)


@checks("chip.products", spec=[*SUMS, PIECES, ENDS, ORDER, SAME, PRELOAD, *WEIGHTED, ACTS_AT, *ADD])
def does_larger_blocks(products, rng):
    """Arrays of up to 3,000 rows, hundreds of runs, and the sums that they leave."""
    blocks = larger(rng)
    for case in blocks:
        as_asked(products, case)
        right_sums(products, case)
    return f"{len(blocks)} blocks of all sizes"
