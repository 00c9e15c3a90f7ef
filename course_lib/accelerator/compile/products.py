"""The products of one block of output channels for one piece of image: where the array works.

    first = Matmul(acts=0, h=1, w=9, step=8, line=72, k=1, n=4, accs=0)
    products([(0, 8)], 0, first, rows=4)
    ->   preload weights=0 k=4 ...;  matmul acts=0 ... k=4
         preload weights=16 k=4 ...; matmul acts=4 ... k=4 add=1

`runs` are the stretches of bytes that a sum reads (`product.py`). Next room: `tokens.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from course_lib.accelerator.compile.walk import spans
from course_lib.accelerator.isa.execute import Matmul, MatmulOs, Preload
from course_lib.accelerator.isa.instruction import Instruction
from course_lib.exercises import exercise


def sums_stay(
    runs: list[tuple[int, int]], weights: int, first: Matmul, rows: int
) -> list[Instruction]:
    """The same products output-stationary: one `matmul_os` for each run, which brings its weights
    along; as many pixels at a time as the array has rows."""
    instructions: list[Instruction] = []
    for y, h, x, w in _areas(first, rows):
        at, add = weights, first.add
        for offset, length in runs:
            instructions.append(MatmulOs(
                acts=first.acts + y * first.line + x * first.step + offset, h=h, w=w,
                step=first.step, line=first.line, k=length, n=first.n, weights=at,
                pitch=first.n, accs=first.accs + y * first.w + x, add=add, origin=first.origin,
            ))  # fmt: skip
            at, add = at + length * first.n, 1
    return instructions


@exercise("chip.products", unit=13, points=4, baseline=sums_stay)
def products(
    runs: list[tuple[int, int]], weights: int, first: Matmul, rows: int
) -> list[Instruction]:
    """The instructions that compute one block of output channels for one piece of image.

    runs      (offset, length) of the stretches of bytes that every sum reads, in order;
              the offsets may go down
    weights   where the weights begin: a row of `first.n` for each byte of each run, in order
    first     the matmul for the first byte alone: k = 1
    rows      rows of the array

    Each run is cut into as few pieces as possible, of at most `rows` bytes each; no piece has bytes
    of two runs. For each piece, a preload brings its rows of weights, and then a matmul sends all
    pixels through them. Every matmul equals `first` except for `acts`, `k` and `add`. Offset 0 lies
    at `first.acts`. The first matmul has the `add` of `first`; all others add to what is there.
    Make each preload with `Preload(weights=..., k=..., n=first.n, pitch=first.n,
    origin=first.origin)`; `origin` names the layer for error messages.
    """
    program: list[Instruction] = []
    add, n = first.add, first.n
    for offset, length in runs:
        for at, end in spans(length, rows):
            k = end - at
            program.append(Preload(weights=weights, k=k, n=n, pitch=n, origin=first.origin))
            program.append(replace(first, acts=first.acts + offset + at, k=k, add=add))
            weights, add = weights + k * n, 1
    return program


def _areas(first: Matmul, rows: int) -> Iterator[tuple[int, int, int, int]]:
    """(y, h, x, w) of pieces with at most `rows` pixels."""
    if first.h * first.w <= rows:
        yield 0, first.h, 0, first.w
        return
    for y in range(first.h):
        for x, end in spans(first.w, rows):
            yield y, 1, x, end - x
