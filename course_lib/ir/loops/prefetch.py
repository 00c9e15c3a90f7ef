"""Prefetch: which lines of an operand to ask for while there is still something else to do.

    kernel @k(x: f32[9,64], w: f32[4,64,32], ..) prefetch(w, o, i) {
      for o in 0..4 {
        for r in 0..9 { for i in 0..64 { .. x[r, i] * w[o, i, l] .. } }

    a block w[o] has 2,048 elements         while it is used, w[o + 1] is fetched
    r and i run 9 * 64 = 576 times          each time, four elements of it, 2,048 / 576 rounded up

Nine rows read the block, and only the first one has to wait until it is there; the next block can
come from memory meanwhile, a little of it with each step. All at once would not do: a core can wait
for a dozen lines at a time, and stands still if it asks for more. What is asked for too early, or
behind the end of the operand, does no harm. Next room: `verify.py`.
"""

from __future__ import annotations

import math

from course_lib.ir.expr import Affine
from course_lib.ir.loops.nest import Kernel, Loop, Prefetched
from course_lib.ir.loops.walk import accesses, loops, nest_of

LINE = 64  # bytes that come into a cache together


def positions(kernel: Kernel, asked: Prefetched) -> tuple[Affine, ...]:
    """Of which elements an iteration of the loop `asked.within` fetches the line: where they are in
    the operand, row-major, by the variables of the loops around.

    ValueError where the kernel has no such operand, loops, or run of elements.
    """
    what = f"prefetch {asked.param}, {asked.loop}, {asked.within}"
    operand = next((b for b in kernel.params[:-1] if b.name == asked.param), None)
    if operand is None:
        raise ValueError(f"{what}: there is no operand {asked.param!r}")
    around, inside = _nest(kernel, asked, what)
    index = _read(inside[-1], operand.name, operand.type.dims, what)
    step = index.coefficient(around.var)
    if step <= 0:
        raise ValueError(f"{what}: {around.var} does not move along {asked.param}")
    within = (*inside, *loops(inside[-1].body))
    first = index.substitute({loop.var: loop.start for loop in within}) + step
    parts = math.prod(loop.extent or 1 for loop in inside)
    share = -(-step // parts)
    place, done = first, 1
    for loop in reversed(inside):
        place += (Affine.var(loop.var) - loop.start) * (share * done)
        done *= loop.extent or 1
    elements = LINE // operand.type.dtype.size
    return tuple(place + k for k in range(0, share, elements))


def _nest(kernel: Kernel, asked: Prefetched, what: str) -> tuple[Loop, tuple[Loop, ...]]:
    """The loop that goes from block to block, and the loops from there to the one `within`."""
    nest = nest_of(kernel.body, asked.within)
    names = [loop.var for loop in nest]
    if asked.loop not in names[:-1]:
        raise ValueError(f"{what}: there is no loop {asked.within} inside of a loop {asked.loop}")
    place = names.index(asked.loop)
    inside = nest[place + 1 :]
    for loop in nest[place:]:
        if loop.kind not in ("for", "parallel"):
            raise ValueError(f"{what}: {loop.var} is {loop.kind}, and no loop when it runs")
    for loop in inside:
        if not loop.extent or loop.start.terms:
            raise ValueError(f"{what}: the bounds of {loop.var} must be numbers")
    return nest[place], inside


def _read(loop: Loop, name: str, dims: tuple[int, ...], what: str) -> Affine:
    """Where the first read of the operand in the loop is in memory, lanes and copies left out."""
    reads = (a.indices for a in accesses((loop,)) if a.buffer == name)
    indices = next(reads, ())
    affine = [index for index in indices if isinstance(index, Affine)]
    if not affine or len(affine) < len(indices):
        raise ValueError(f"{what}: {loop.var} does not read {name} at a place that can be computed")
    place = Affine()
    for index, size in zip(affine, dims, strict=True):
        place = place * size + index
    return place
