"""The tiles that a kernel could have: one axis of its result in vector lanes, another one unrolled.

    conv:  for oc, oh, ow { acc = 0; for ic, kh, kw { acc += x[ic, oh+kh, ow+kw] * w[oc, ...] } }

    Tile(lane=("oc", 32), unroll=("ow", 14), pack=("w", 0))      w in blocks of 32 output channels
    Tile(lane=("ow", 28), unroll=("oc", 8))                      x and w as they lie
    Tile(lane=("oc", 16), unroll=("ow", 5), pack=.., rest=4)     14 pixels are 5 + 5 + 4

Lanes need an axis along which every operand either stands still or moves on by a few elements; a
constant operand may be rearranged so that it does. The unrolled axis is one that leaves a vector
operand where it is, so that a vector loaded once is used many times, and is unrolled no further
than the registers reach. Only what is possible is decided here; what is worth it, in `price.py`.
Next room: `price.py`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from course_lib.cost.machine import Machine
from course_lib.cost.tile import SPARE, WRITTEN_OUT, alive_in_sums, alive_in_windows, spread
from course_lib.ir.expr import Affine, Expr, Load
from course_lib.ir.loops.nest import Loop
from course_lib.schedule.reduction import Reduction, moves_with, stride, uses

CHAINS = 8  # sums side by side that keep two units busy, each with four clocks for an addition


@dataclass(frozen=True)
class Tile:
    """How to run a kernel that combines values.

    lane     the loop that becomes vector lanes, and how many of them
    unroll   the loop that is unrolled, and how often; None if there is none. If it is the same
             loop, so many vectors lie side by side
    pack     the operand and axis to store in blocks; None if it can be read as it is
    rest     what is left over of the unrolled loop, if that is a tile, too; 0: it has no more sums
             side by side than there are vectors
    """

    lane: tuple[str, int]
    unroll: tuple[str, int] | None = None
    pack: tuple[str, int] | None = None
    rest: int = 0


def candidates(
    of: Reduction, machine: Machine, constants: frozenset[str] = frozenset()
) -> Iterator[Tile]:
    """Every tile that is possible, innermost lanes first. `constants` may be put into blocks."""
    lanes = machine.lanes(of.dtype)
    for loop in reversed(of.around):
        extent = loop.extent or 0
        packs = packings(loop, of.reads, constants - in_vectors(of, loop, lanes))
        for width in widths(extent, lanes):
            accumulators = max(machine.registers - SPARE, 1) // -(-width // lanes)
            for pack in packs:
                if pack is not None and extent % width:
                    continue  # a block would be cut
                yield Tile((loop.var, width), None, pack)
                others = list(_fitting(loop, of, accumulators, -(-width // lanes), machine))
                for unroll in others or _side_by_side(loop, of, width, accumulators):
                    yield Tile((loop.var, width), unroll, pack)
                if pack is not None and loop.var == of.along:
                    for unroll, rest in _with_rests(loop, of, accumulators, width, machine):
                        yield Tile((loop.var, width), unroll, pack, rest)


def packings(
    loop: Loop, reads: tuple[Load, ...], constants: frozenset[str]
) -> list[tuple[str, int] | None]:
    """What to store in blocks so that iterations of the loop can be lanes; [] if nothing helps.

    None stands for reading everything as it is. Weights [k, n] with lanes along n can be read like
    that, but first of all in blocks, of which a tile reads one from end to end.
    """
    moving = [read for read in reads if uses(read, loop.var)]
    apart = [read for read in moving if stride(read, loop.var) is None]
    if not moving or len(apart) > 1:
        return []
    if apart:
        axes = [axis for axis, index in enumerate(apart[0].indices) if moves_with(index, loop.var)]
        possible = apart[0].buffer in constants and len(axes) == 1
        possible = possible and _in_blocks(apart[0].indices[axes[0]], loop)
        return [(apart[0].buffer, axes[0])] if possible else []
    whole = [read for read in moving if read.buffer in constants and len(read.indices) > 1
             and read.indices[-1] == Affine.var(loop.var)]  # fmt: skip
    return [*((read.buffer, len(read.indices) - 1) for read in whole[:1]), None]


def in_vectors(of: Reduction, loop: Loop, lanes: int) -> frozenset[str]:
    """The operands in which whole vectors of results lie side by side, along another loop.

    Filters oihw16i16o, for example, along `o` in a block. Lanes along the blocks would take them,
    and the result too, from as many places as there are lanes.
    """
    others = [Affine.var(o.var) for o in of.around if o != loop and (o.extent or 0) >= lanes]
    return frozenset(r.buffer for r in of.reads if r.indices and r.indices[-1] in others)


def widths(extent: int, lanes: int) -> list[int]:
    """Lanes for a loop: whole registers that divide it, else an even share, else with a rest."""
    if extent <= lanes:
        return [extent] if extent > 1 else []
    even = [w for w in (2 * lanes, lanes, lanes // 2) if w > 1 and extent % w == 0]
    share = max(d for d in range(1, lanes + 1) if extent % d == 0)
    return [w for w in even or [share if 2 * share >= lanes else lanes] if w > 1]


def unroll_factors(extent: int, most: int) -> list[int]:
    """How often a loop may be unrolled: even shares of it, and `most` with a rest."""
    if extent <= most:
        return [extent] if extent > 1 else []
    even = [d for d in range(2, most + 1) if extent % d == 0]
    return [*even, most] if most > 1 else even


def shares(extent: int, most: int) -> list[int]:
    """How often a loop may be unrolled so that what is left over is a tile, too: as often as there
    are registers, and the most of which at least half is left over. 14, of 6 at most: 6 and 5."""
    possible = [d for d in range(min(most, extent), 1, -1) if extent % d > 1]
    fair = (d for d in possible if 2 * (extent % d) >= d)
    return sorted({*(d for d in possible if d == most), *[*fair][:1]}, reverse=True)


def _with_rests(
    lane: Loop, of: Reduction, most: int, width: int, machine: Machine
) -> Iterator[tuple[tuple[str, int], int]]:
    """Loops, how often to unroll them, and what is left over.

    Of a packed operand, where results are stored as they lie in the lanes: what has to be turned on
    its way to memory needs a long unrolled loop.
    """
    vectors = -(-width // machine.lanes(of.dtype))
    packed = [read for read in of.reads if uses(read, lane.var)]
    if len(packed) == len(of.reads):
        return  # a depthwise convolution: its windows share vectors
    for loop in reversed(of.around):
        if loop is not lane and not all(uses(read, loop.var) for read in packed):
            for count in shares(loop.extent or 0, most):
                rest = (loop.extent or 0) % count
                if all(fits(of, lane, vectors, loop.var, n, machine) for n in (count, rest)):
                    yield (loop.var, count), rest


def _unrolled(lane: Loop, of: Reduction, most: int) -> Iterator[tuple[str, int]]:
    """Loops that leave a vector operand where it is, innermost first, and how often to unroll."""
    vectors = [read for read in of.reads if uses(read, lane.var)]
    for loop in reversed(of.around):
        if loop is not lane and not all(uses(read, loop.var) for read in vectors):
            extent = loop.extent or 0
            for factor in unroll_factors(extent, most):
                yield loop.var, factor
            if extent <= most and len(vectors) == len(of.reads):  # small tiles can be written out
                yield from ((loop.var, n) for n in range(2, extent) if extent % n == 0)


def _fitting(
    lane: Loop, of: Reduction, most: int, vectors: int, machine: Machine
) -> list[tuple[str, int]]:
    """The same, each only as often as the registers reach.

    A tile whose lanes do not lie side by side in the result is left as it is: it is turned on its
    way to memory, for which the unrolled loop has to be long.
    """
    unrolled: dict[tuple[str, int], None] = {}
    for var, count in _unrolled(lane, of, most):
        while not fits(of, lane, vectors, var, count, machine):
            count -= 1
        if count > 1:
            unrolled[var, count] = None
    return list(unrolled)


def fits(of: Reduction, lane: Loop, vectors: int, along: str, count: int, machine: Machine) -> bool:
    """Do the registers reach? Not asked of lanes that another loop of results is inside of."""
    return lane != of.around[-1] or alive(of, lane, vectors, along, count) <= machine.registers


def alive(of: Reduction, lane: Loop, vectors: int, along: str, count: int) -> int:
    """Vector registers that a tile needs once LLVM has written out the short loops inside."""
    if count <= 1:
        return 0
    windows = all(uses(read, lane.var) for read in of.reads)
    written = _written_out(of, count * (1 if windows else spread(vectors)))
    steps, beside, step, span = math.prod(extent for _, extent in written), 1, 1, 1
    for read in of.reads:
        if uses(read, along):
            step, span = of.window(read, along, written)
            slides = [_slides(read, var, along) for var, _ in written]
            if True in slides:
                beside = math.prod(extent for _, extent in written[slides.index(True) + 1 :])
    if not windows:
        return alive_in_sums(count, vectors, steps, beside, step, span)
    weights = steps if any(not uses(read, along) for read in of.reads) else 0
    return vectors * alive_in_windows(count, weights, beside, step, span)


def _written_out(of: Reduction, each: float) -> tuple[tuple[str, int], ...]:
    """The innermost loops over what is combined, as many as LLVM writes out if one iteration counts
    as `each` multiply-adds."""
    first = len(of.inside)
    while first and each * of.inside[first - 1][1] <= WRITTEN_OUT:
        first -= 1
        each *= of.inside[first][1]
    return of.inside[first:]


def _slides(read: Load, var: str, along: str) -> bool:
    """Do both loops move the same index, one within a window and one from window to window?"""
    return any(moves_with(index, var) and moves_with(index, along) for index in read.indices)


def _side_by_side(lane: Loop, of: Reduction, width: int, most: int) -> Iterator[tuple[str, int]]:
    """For a product of one row, which has no other loop to unroll: several vectors of lanes.

    A vector of sums waits for its last addition. Where the operands come from memory, that does not
    matter; where they are in a cache, other vectors have to fill the time.
    """
    blocks, rest = divmod(lane.extent or 0, width)
    if of.again and not rest:
        yield from ((lane.var, n) for n in range(2, min(most, CHAINS) + 1) if blocks % n == 0)


def _in_blocks(index: Affine | Expr, loop: Loop) -> bool:
    """Does a whole run of the loop read whole blocks: its variable, and multiples of its extent?"""
    if not isinstance(index, Affine) or not loop.extent or loop.start != Affine():
        return False
    rest = index - loop.var
    return all(c % loop.extent == 0 for c in (*dict(rest.terms).values(), rest.const))
