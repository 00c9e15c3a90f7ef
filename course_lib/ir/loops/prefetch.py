"""Prefetch: which lines of an operand to ask for while there is still something else to do.

    kernel @k(x: f32[9,64], w: f32[4,64,32], ..) prefetch(w, o, i) {
      for o in 0..4 {
        for r in 0..9 { for i in 0..64 { .. x[r, i] * w[o, i, l] .. } }

    a block w[o] has 2,048 elements         while it is used, w[o + 1] is fetched
    r and i run 9 * 64 = 576 times          each time, the line that is four elements further on

Nine rows read the block, and the first one has to wait where it is not there yet. The next block
can come meanwhile, a little of it with each step. (2,048 / 576 is rounded up to 4, so the last
steps ask for the beginning of the block after that.) All at once would not do: a core can wait for
a few dozen lines at a time, and stops if it asks for more. What is asked for too early, or behind
the end of the operand, does no harm. Next room: `verify.py`.
"""

from __future__ import annotations

import math

from course_lib.ir.expr import Affine
from course_lib.ir.loops.nest import Kernel, Loop, Prefetched
from course_lib.ir.loops.walk import accesses, extreme, loops, nest_of

LINE = 64  # bytes that come into a cache together
MOST = 16  # lines that one iteration may ask for


def positions(kernel: Kernel, asked: Prefetched) -> tuple[Affine, ...]:
    """Where the lines lie that one iteration of the loop `asked.within` asks for: elements of the
    operand, row-major, by the variables of the loops around.

    The first read in that loop tells what a block is. ValueError where the kernel has no such
    operand or loops, or where what an iteration of `asked.loop` reads is not a run of its own.
    """
    what = f"prefetch {asked.param}, {asked.loop}, {asked.within}"
    operand = next((b for b in kernel.params[:-1] if b.name == asked.param), None)
    if operand is None:
        raise ValueError(f"{what}: there is no operand {asked.param!r}")
    outside, around, inside = _nest(kernel, asked, what)
    index = _read(inside[-1], operand.name, operand.type.dims, what)
    step = index.coefficient(around.var)
    if step <= 0:
        raise ValueError(f"{what}: {around.var} does not move along {asked.param}")
    running = (*inside, *loops(inside[-1].body))
    first, last = (extreme(index, running, sign) for sign in (-1, +1))
    if first.terms != last.terms or not {*first.vars} <= {loop.var for loop in (*outside, around)}:
        raise ValueError(f"{what}: how much of {asked.param} is read depends on other loops")
    block = last.const - first.const + 1
    if block > step:
        raise ValueError(
            f"{what}: the blocks of {asked.param} overlap, or lie in between each other"
        )
    parts = math.prod(loop.extent or 1 for loop in inside)
    elements, share = LINE // operand.type.dtype.size, -(-block // parts)
    if share > MOST * elements:
        raise ValueError(
            f"{what}: each iteration would have to ask for {share // elements:,} lines"
        )
    place, done = first + step, 1
    for loop in reversed(inside):
        place += (Affine.var(loop.var) - loop.start) * (share * done)
        done *= loop.extent or 1
    return tuple(place + k for k in range(0, share, elements))


def _nest(
    kernel: Kernel, asked: Prefetched, what: str
) -> tuple[tuple[Loop, ...], Loop, tuple[Loop, ...]]:
    """The loops outside, the one that goes from block to block, and the others up to `within`."""
    nest = nest_of(kernel.body, asked.within)
    names = [loop.var for loop in nest]
    if asked.loop not in names[:-1]:
        raise ValueError(f"{what}: there is no loop {asked.within} inside of a loop {asked.loop}")
    place = names.index(asked.loop)
    for loop in nest:
        if loop.kind not in ("for", "parallel"):
            raise ValueError(
                f"{what}: {loop.var} is {loop.kind}: when the code runs, it is no loop"
            )
    for loop in nest[place + 1 :]:
        if not loop.extent or loop.start.terms:
            raise ValueError(f"{what}: the bounds of {loop.var} must be numbers")
    return nest[:place], nest[place], nest[place + 1 :]


def _read(loop: Loop, name: str, dims: tuple[int, ...], what: str) -> Affine:
    """Where in the operand, in elements, the loop reads it first."""
    reads = (a.indices for a in accesses((loop,)) if a.buffer == name)
    indices = next(reads, ())
    affine = [index for index in indices if isinstance(index, Affine)]
    if not affine or len(affine) < len(indices):
        raise ValueError(f"{what}: {loop.var} does not read {name} at a place that can be computed")
    place = Affine()
    for index, size in zip(affine, dims, strict=True):
        place = place * size + index
    return place
