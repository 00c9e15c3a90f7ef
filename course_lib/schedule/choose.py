"""Which primitives to apply to which kernel: a plain, sane schedule without any search.

    conv:    for oc, oh, ow { acc = 0; for ic, kh, kw { acc += x * w }; out = acc }
    ==>      parallel oc/32 { for oh { for ow/14 {
                 14 x 32 accumulators in registers
                 for ic, kh, kw { 14 times: one x, 32 lanes of w } } } }

The rule: one axis of the result becomes the lanes of vectors, a second one that does not move the
vector operand is unrolled, so that a vector loaded once is used many times; the tile of both fills
the registers. What has no such axis keeps its loops, and LLVM vectorizes the innermost one. The
outermost loop may run on several threads. Next room: `schedule.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from course_lib.cost.machine import Machine
from course_lib.ir.expr import Affine, Expr, Load, loads
from course_lib.ir.loops.nest import (
    Accumulate,
    Kernel,
    Local,
    Loop,
    Stmt,
    Store,
    Write,
    accumulators,
    statements,
)
from course_lib.schedule.primitives import annotate, conflict, pack, sink, split, store_rows

MAX_STRIDE = 4  # a vector load may pick every second, third or fourth element


@dataclass(frozen=True)
class Tile:
    """How to run a kernel that combines values.

    lane   the loop that becomes vector lanes, and how many of them
    row    the loop that is unrolled, and how often; None if there is none
    pack   the operand and axis to store in blocks; None if it can be read as it is
    """

    lane: tuple[str, int]
    row: tuple[str, int] | None = None
    pack: tuple[str, int] | None = None


def choose(kernel: Kernel, machine: Machine, constants: frozenset[str] = frozenset()) -> Kernel:
    """A schedule for one kernel. The parameters in `constants` may be rearranged beforehand."""
    tile = find_tile(kernel, machine, constants)
    if tile is not None:
        kernel = apply_tile(kernel, tile)
    return parallel_outside(kernel)


def apply_tile(kernel: Kernel, tile: Tile) -> Kernel:
    """Split, sink and annotate; afterwards the reduction holds a tile of accumulators."""
    lane, width = tile.lane
    if tile.row is not None:
        row, count = tile.row
        kernel = sink(split(kernel, row, count), f"{row}i")
    kernel = sink(split(kernel, lane, width), f"{lane}i")
    kernel = annotate(kernel, f"{lane}i", "vector")
    if tile.row is not None:
        kernel = annotate(kernel, f"{tile.row[0]}i", "unroll")
    if tile.row is not None and _steps(kernel, f"{tile.row[0]}i") == 1:
        kernel = store_rows(kernel, f"{lane}i", f"{tile.row[0]}i")
    if tile.pack is not None:
        kernel = pack(kernel, *tile.pack, width)
    return kernel


def _steps(kernel: Kernel, var: str) -> int:
    """How many elements apart the results of neighbouring iterations lie."""
    last = [s.indices[-1] for s in statements(kernel.body[-1:])
            if isinstance(s, Store) and s.buffer == kernel.out.name and s.indices]  # fmt: skip
    return last[0].coefficient(var) if last and isinstance(last[0], Affine) else 0


def parallel_outside(kernel: Kernel) -> Kernel:
    """The outermost loops, if they are all there is at the top, may run on several threads.

    A nest that is small beside another one, such as the border of an image, is not worth it.
    """
    outermost = [stmt for stmt in kernel.body if isinstance(stmt, Loop)]
    if len(outermost) < len(kernel.body) or any(conflict(loop) for loop in outermost):
        return kernel
    most = max((_iterations(loop) for loop in outermost), default=0)
    kinds = ["parallel" if 10 * _iterations(loop) >= most else loop.kind for loop in outermost]
    body = (replace(loop, kind=kind) for loop, kind in zip(outermost, kinds, strict=True))
    return replace(kernel, body=tuple(body))


def _iterations(loop: Loop) -> int:
    """How often the innermost bodies run, roughly: a ragged loop counts once."""
    inside = sum(_iterations(stmt) for stmt in loop.body if isinstance(stmt, Loop))
    return (loop.extent or 1) * max(inside, 1)


def find_tile(kernel: Kernel, machine: Machine, constants: frozenset[str]) -> Tile | None:
    """The tile for the one reduction of a kernel, or None if no axis suits vector lanes."""
    sums = accumulators(kernel)
    if len(sums) != 1:
        return None
    (acc,) = sums
    around = _result_loops(kernel, acc)
    reads = _accumulated(kernel)
    if not around or not reads:
        return None
    lanes = machine.lanes(kernel.buffers[acc].type.dtype)
    best = None
    for loop in reversed(around):
        blocked = _suits_lanes(loop, reads, kernel, constants)
        width = _width(loop.extent or 0, lanes)
        if blocked is None or width < 2:
            continue
        pack_axis = blocked if isinstance(blocked, tuple) else None
        if pack_axis and (loop.extent or 0) % width:
            continue
        inside = best and best.pack and best.lane[1] >= lanes and best.pack[0]
        if pack_axis and pack_axis[0] == inside:
            continue  # the weights lie in blocks already, and an inner loop goes along a block
        if not (loop.extent or 0) % width:
            pack_axis = pack_axis or _weights(loop, reads, constants)
        free = (machine.registers - 4) // -(-width // lanes)
        row = _row(loop.var, around, reads, free)
        tile = Tile((loop.var, width), row, pack_axis)
        if best is None or _work(tile) > _work(best):
            best = tile
    return best


def _work(tile: Tile) -> int:
    """Accumulators that the tile keeps in registers: more means each load is used more often."""
    return tile.lane[1] * (tile.row[1] if tile.row else 1)


def _result_loops(kernel: Kernel, acc: str) -> list[Loop]:
    """The loops around the accumulator, outermost first. Others may fill a border before."""
    found: list[Loop] = []
    body: tuple[Stmt, ...] = kernel.body[-1:]
    while len(body) == 1 and isinstance(body[0], Loop):
        found.append(body[0])
        body = body[0].body
    return found if any(isinstance(s, Local) and s.buffer.name == acc for s in body) else []


def _accumulated(kernel: Kernel) -> list[Load]:
    """The memory reads of the statement that combines values; of all, if it reads temporaries."""
    params = {b.name for b in kernel.params}
    writes = [s for s in statements(kernel.body) if isinstance(s, Write)]
    reads = [e for s in writes if isinstance(s, Accumulate) for e in loads(s.value)]
    if all(e.buffer in params for e in reads):
        return reads
    return [e for s in writes for e in loads(s.value) if e.buffer in params]


def _suits_lanes(
    loop: Loop, reads: list[Load], kernel: Kernel, constants: frozenset[str]
) -> bool | tuple[str, int] | None:
    """Can neighbouring iterations be lanes? True: as they are; (operand, axis): after packing."""
    to_pack: tuple[str, int] | None = None
    moved = False
    for read in reads:
        if not all(isinstance(i, Affine) for i in read.indices):
            return None
        steps = [i.coefficient(loop.var) for i in read.indices if isinstance(i, Affine)]
        where = [axis for axis, step in enumerate(steps) if step]
        if not where:
            continue
        moved = True
        last = len(steps) - 1
        if where == [last] and 0 < steps[last] <= MAX_STRIDE:
            continue
        packable = read.buffer in constants and len(where) == 1 and not to_pack
        if not packable or not _in_blocks(read.indices[where[0]], loop):
            return None
        to_pack = (read.buffer, where[0])
    return (to_pack or True) if moved else None


def _weights(loop: Loop, reads: list[Load], constants: frozenset[str]) -> tuple[str, int] | None:
    """Weights [k, n] with lanes along n: in blocks, one tile reads them from end to end."""
    for read in reads:
        last = len(read.indices) - 1
        if read.buffer in constants and last > 0 and read.indices[last] == Affine.var(loop.var):
            return read.buffer, last
    return None


def _in_blocks(index: Affine | Expr, loop: Loop) -> bool:
    """Does a whole run of the loop read whole blocks: its variable, and multiples of its extent?"""
    if not isinstance(index, Affine) or not loop.extent or loop.start != Affine():
        return False
    rest = index - loop.var
    return all(c % loop.extent == 0 for c in (*dict(rest.terms).values(), rest.const))


def _row(lane: str, around: list[Loop], reads: list[Load], most: int) -> tuple[str, int] | None:
    """The loop to unroll: the innermost one that leaves some vector operand where it is."""
    vectors = [e for e in reads if _uses(e, lane)]
    for loop in reversed(around):
        if loop.var != lane and any(not _uses(e, loop.var) for e in vectors):
            count = _rows(loop.extent or 0, most)
            return (loop.var, count) if count > 1 else None
    return None


def _uses(load: Load, var: str) -> bool:
    return any(isinstance(i, Affine) and i.coefficient(var) for i in load.indices)


def _width(extent: int, lanes: int) -> int:
    """Lanes for a loop: whole registers if they divide it, else an even share, else with a rest."""
    if extent <= lanes:
        return extent
    for width in (2 * lanes, lanes, lanes // 2):
        if width and extent % width == 0:
            return width
    best = max(d for d in range(1, lanes + 1) if extent % d == 0)
    return best if 2 * best >= lanes else lanes


def _rows(extent: int, most: int) -> int:
    """How often to unroll: the largest even share; if all are small, `most` and a rest."""
    if extent <= most:
        return extent
    best = max((d for d in range(1, most + 1) if extent % d == 0), default=1)
    return best if 3 * best >= most else most
