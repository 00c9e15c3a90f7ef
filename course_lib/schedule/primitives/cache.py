"""cache: the tile of an operand that a loop body reads is copied into a local first.

>>> from course_lib.ir.loops.parse import parse_kernel
>>> columns = parse_kernel('''
... kernel @columns(x: f32[6,64], out: f32[64]) {
...   for no in 0..2 { for k in 0..6 { for nb in 0..8 { for ni in 0..4 {
...     out[ni + 4*nb + 32*no] += x[k, ni + 4*nb + 32*no]
...   } } } }
... }''')
>>> cache(columns, "x", "no", 1, 4)
kernel @columns(x: f32[6,64], out: f32[64]) {
  for no in 0..2 {
    local x_tile: f32[8,6,4]
    for x0 in 0..6 {
      for x1o in 0..8 {
        for x1i in 0..4 {
          x_tile[x1o, x0, x1i] = x[x0, 32*no + x1i + 4*x1o]
        }
      }
    }
    for k in 0..6 {
      for nb in 0..8 {
        for ni in 0..4 {
          out[4*nb + ni + 32*no] += x_tile[nb, k, ni]
        }
      }
    }
  }
}
<BLANKLINE>

What lies apart in the operand lies side by side in the tile, in the order in which it is read: that
is how GotoBLAS packs the panels of a matrix product, and it pays where the tile is read many times.
In blocks the axes stand as `pack` has them: the number of the block first, the inside last.

It is illegal if the loop writes the buffer, for the copy would be out of date, and where the tile
has no size in numbers.

>>> cache(parse_kernel('''
... kernel @copy(out: f32[9]) { for i in 0..8 { out[i + 1] = out[i] } }'''), "out", "i")
Traceback (most recent call last):
ValueError: cache out, i: the loop writes out

Next room: `promote.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from course_lib.arguments import takes
from course_lib.ir.expr import Affine, Load, literal
from course_lib.ir.loops.nest import Buffer, Kernel, Local, Loop, Stmt, Store
from course_lib.ir.loops.walk import accesses, fresh_name, loops, names_of, on_loads, statements
from course_lib.ir.types import TensorType
from course_lib.schedule.primitives.at import Place, affine, at_loop, copying, inside_of, region
from course_lib.schedule.primitives.pack import quotient

Part = list[tuple[Affine, int]]  # along each axis: the first element, and how many


@takes
def cache(
    kernel: Kernel, buffer: str, var: str, axis: int | None = None, factor: int = 1
) -> Kernel:
    """Copy what one iteration of `var` reads of a buffer to a local, where its body begins.

    axis, factor   this axis in blocks of that many elements; without them, the tile lies as the
                   buffer does. What the last block has too much is 0.

    The local is called `<buffer>_tile`. The loops that copy are named after the axes, `<buffer>0`,
    `<buffer>1`, and as `split` names them where an axis is in blocks: `<buffer>1o`, `<buffer>1i`,
    `<buffer>1t` for the rest, `<buffer>1z` for the zeros.
    """
    what = f"cache {buffer}, {var}"
    if buffer not in kernel.buffers:
        raise ValueError(f"{what}: kernel @{kernel.name} has no {buffer!r}")
    source = kernel.buffers[buffer]
    if axis is not None and not (0 <= axis < source.type.rank and factor >= 1):
        raise ValueError(f"{what}: {buffer} has {source.type.rank} axes, got {axis} by {factor}")
    taken = set(names_of(kernel))

    def cached(loop: Loop) -> tuple[Stmt, ...]:
        touched = [a for a in accesses(loop.body) if a.buffer == buffer]
        if any(a.way == "write" for a in touched):
            raise ValueError(f"{what}: the loop writes {buffer}")
        if not touched or Local(source) in statements(loop.body):
            raise ValueError(f"{what}: the loop reads no {buffer} that was there before")
        inside = loops(loop.body)
        part = region([affine(a.indices, what) for a in touched], inside, what)
        shape = in_blocks(tuple(size for _, size in part), axis, factor)
        tile = Buffer(fresh_name(f"{buffer}_tile", taken), TensorType(source.type.dtype, shape))
        copies = _copies(source, tile, part, axis, factor, taken)

        def load(e: Load) -> Load:
            if e.buffer != buffer:
                return e
            place = inside_of(e.indices, part, what)
            return replace(e, buffer=tile.name, indices=_blocked(place, axis, factor, inside, what))

        body = (Local(tile), *copies, *on_loads(loop.body, load))
        return (replace(loop, body=body),)

    return at_loop(kernel, var, cached)


def in_blocks(sizes: Sequence[int], axis: int | None, factor: int) -> tuple[int, ...]:
    """The shape of a tile of which one axis is in blocks: how many first, the inside last."""
    if axis is None:
        return tuple(sizes)
    return (-(-sizes[axis] // factor), *sizes[:axis], *sizes[axis + 1 :], factor)


def _blocked(
    place: Place, axis: int | None, factor: int, inside: Sequence[Loop], what: str
) -> Place:
    """Where an element of the tile lies, given where it is along each axis."""
    if axis is None:
        return place
    outer, inner = quotient(place[axis], factor, inside, what)
    return (outer, *place[:axis], *place[axis + 1 :], inner)


def _copies(
    source: Buffer, tile: Buffer, part: Part, axis: int | None, factor: int, taken: Collection[str]
) -> tuple[Stmt, ...]:
    """The loops that fill the tile, in the order of the source."""
    done: list[Stmt] = []
    for begin, runs in _runs(part[axis][1] if axis is not None else 0, factor):
        nest, place = [], []
        for k, (_, size) in enumerate(part):
            position = Affine((), begin if k == axis else 0)
            for end, count, step in runs if k == axis else [("", size, 1)] if size > 1 else []:
                var = f"{source.name}{k}{end}"
                nest.append(Loop(var, Affine(), Affine((), count), ()))
                position = position + Affine.var(var) * step
            place.append(position)
        there = tuple(p + first for p, (first, _) in zip(place, part, strict=True))
        here = _blocked(tuple(place), axis, factor, nest, "cache")
        padding = axis is not None and begin == part[axis][1]
        dtype = source.type.dtype
        value = literal(0, dtype) if padding else Load(source.name, there, dtype)
        done += copying(nest, Store(tile.name, here, value), taken)
    return tuple(done)


def _runs(size: int, factor: int) -> list[tuple[int, list[tuple[str, int, int]]]]:
    """An axis in blocks: where a run of elements begins, and its loops as (end of the name,
    iterations, step). Whole blocks, then what there is of the last one, then what is missing."""
    if not size:
        return [(0, [])]
    whole, rest = divmod(size, factor)
    runs = [
        (0, [("o", whole, factor), ("i", factor, 1)]),
        (whole * factor, [("t", rest, 1)]),
        (size, [("z", -size % factor, 1)]),
    ]
    return [(begin, loops) for begin, loops in runs if all(count for _, count, _ in loops)]
