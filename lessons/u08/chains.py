"""Two convolutions, one after the other: the nest of unit 8 that networks contain.

    chain(96, 96)                                # all of the first, then all of the second
    tiled_chain(96, 96, (8, 96))                 # the first again for each tile of the second
    chain_table(overlapped, [(8, 96), (8, 8)])   # values computed, misses

Each tile computes all the values that it reads, so what two tiles read is computed twice. Next
room: isl_schedules.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

from course_lib.cost.cache import Cache
from course_lib.draw.plots.table import table
from course_lib.ir.loops.nest import Kernel
from course_lib.ir.loops.parse import parse_kernel
from course_lib.ir.loops.walk import nest_of
from lessons.u08.stencils import missing, scheduled

Tile = tuple[int, int]  # rows and columns of the second result
SIDE, WINDOW = 96, 3
CHAIN_CACHE = Cache(16 << 10, 8)  # the second of unit 7's two


def chain(height: int, width: int) -> Kernel:
    """Two convolutions with windows of 3 × 3, without padding, of one channel."""
    more = WINDOW - 1
    return parse_kernel(f"""
kernel @chain(x: f32[{height + 2 * more},{width + 2 * more}], a: f32[3,3], b: f32[3,3],
              out: f32[{height},{width}]) {{
  local mid: f32[{height + more},{width + more}]
  for p in 0..{height + more} {{ for q in 0..{width + more} {{
    mid[p, q] = 0.0
    for u in 0..3 {{ for v in 0..3 {{ mid[p, q] += a[u, v] * x[p + u, q + v] }} }}
  }} }}
  for i in 0..{height} {{ for j in 0..{width} {{
    out[i, j] = 0.0
    for r in 0..3 {{ for s in 0..3 {{ out[i, j] += b[r, s] * mid[i + r, j + s] }} }}
  }} }}
}}""")


def tile_steps(tile: Tile) -> str:
    """The steps that cut the second result into tiles and compute the first one in each tile."""
    rows, columns = tile
    cut = f"split(i, {rows})\nsplit(j, {columns})\nreorder(io, jo, ii, ji)"
    return f"{cut}\ncompute_at(mid, jo)"


def tiled_chain(height: int, width: int, tile: Tile) -> Kernel:
    """ValueError if the tile does not divide the result."""
    if height % tile[0] or width % tile[1]:
        raise ValueError(f"a tile of {tile[0]} × {tile[1]} does not divide {height} × {width}")
    return scheduled(chain(height, width), tile_steps(tile))


def values_computed(kernel: Kernel) -> int:
    """How often the kernel computes a value of the first result."""
    return prod(loop.extent or 0 for loop in nest_of(kernel.body, "q"))


def chain_table(overlapped: Callable[..., int], tiles: Sequence[Tile]) -> Any:
    """Values of the first result by a student's count and as compiled, and misses, by tile."""
    rows: list[list[Any]] = []
    for tile in [None, *tiles]:
        kernel = tiled_chain(SIDE, SIDE, tile) if tile else chain(SIDE, SIDE)
        yours = int(overlapped(SIDE, SIDE, tile or (SIDE, SIDE), WINDOW, 1))
        name = f"{tile[0]} × {tile[1]}" if tile else "one after the other"
        rows.append([name, yours, values_computed(kernel), missing(kernel, CHAIN_CACHE)])
    heads = ["tile", "values of mid, yours", "as compiled", "misses"]
    return table(rows, heads, exact=heads[1:])
