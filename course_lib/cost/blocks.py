"""How a large matrix product is cut up so that each part stays in the cache that it is read from.

    x [m, k]  times  w [k, n]:
                                             stays in      read again for
    a tile of the result  rows x lanes       registers     each step of k
    a strip of x          rows x depth       first cache   each tile beside the last one
    a panel of w          depth x columns    second cache  each strip below the last one

>>> from course_lib.cost.machine import AVX512
>>> from course_lib.ir.types import f32
>>> blocks((1024, 1024, 1024), f32, AVX512)
Blocks(rows=14, lanes=32, depth=256, columns=128)

That is the scheme of GotoBLAS (Goto and van de Geijn, 2008), with the parts of the operands changed
over, as our matrices are row-major. Next room: `trace.py`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from course_lib.cost.machine import Machine
from course_lib.cost.tile import SPARE, instructions
from course_lib.ir.types import DType

VECTORS = 2  # vectors of w in a step, each used for every row
PANEL = 1 << 20  # bytes of a panel at most: it is a local, and locals are on the stack
DEPTH = 256  # steps of k for each update of the result; more make the panels narrow, and no faster
AWAY = 4  # vector instructions that take as long as a vector from beyond the first cache
LINE = 64  # bytes that come into a cache together
PAGE = 4096  # bytes: two addresses so far apart have the same place in a first cache, on most
WAYS = 8  # lines with the same place that a first cache holds at least
MOVE = 2  # instructions that pack a vector: a load and a store


@dataclass(frozen=True)
class Blocks:
    """Sizes in elements: of the tile of results, and of the panel of the second operand."""

    rows: int
    lanes: int
    depth: int
    columns: int

    def filled(self, width: int) -> int:
        """The lanes of a tile that is `width` wide, made so many that they fill a register."""
        vector = self.lanes // VECTORS
        if width >= vector:
            return -(-width // vector) * vector
        return 1 << (width - 1).bit_length()


def blocks(sizes: tuple[int, int, int], dtype: DType, machine: Machine) -> Blocks:
    """The blocks of a product [m, k] x [k, n], given (m, n, k).

    A strip takes half of the first cache, a panel half of the second: what streams by needs the
    rest. With several threads each has panels of its own, and an equal number of them.
    """
    m, n, k = sizes
    lanes = VECTORS * machine.lanes(dtype)
    rows = max((machine.registers - SPARE) // VECTORS, 1)
    depth = share(k, min(max(machine.cache1 // 2 // (rows * dtype.size), 1), DEPTH))
    panel = min(machine.cache2 // 2, PANEL) // (depth * dtype.size)
    most = max(panel // lanes, 1) * lanes
    panels = -(-n // most)
    panels = min(-(-panels // machine.threads) * machine.threads, -(-n // lanes))
    columns = n // panels if n % panels == 0 else -(-n // panels)
    if machine.threads == 1 or n % panels:
        columns = -(-columns // lanes) * lanes
    return Blocks(min(rows, m), lanes, depth, min(columns, n))


def share(extent: int, most: int) -> int:
    """The largest part, `most` at most, of which whole ones fill the extent; or nearly fill it."""
    if extent <= most:
        return extent
    even = [d for d in range(most // 2 + 1, most + 1) if extent % d == 0]
    return max(even) if even else math.ceil(extent / math.ceil(extent / most))


def crowded(rows: int, apart: int) -> bool:
    """Do `rows` lines, each `apart` bytes behind the last, push each other out of the first cache?

    One way is left to the other operand. A strip whose rows have room is read where it lies.

    >>> crowded(14, 4 * 512), crowded(14, 4 * 1024)
    (False, True)
    """
    places = PAGE // max(math.gcd(PAGE, apart), LINE)
    return rows > places * (WAYS - 1)


def price_of_blocks(sizes: tuple[int, int, int], of: Blocks, lanes: int) -> float:
    """Vector instructions for each multiply-add in blocks, the packing included.

    An element of w is packed once for the m rows that use it, one of x for the columns of a panel.
    """
    m, n, _ = sizes
    working = n / (n // of.lanes * of.lanes + (of.filled(n % of.lanes) if n % of.lanes else 0))
    packing = (MOVE + AWAY) / lanes * (1 / m + 1 / of.columns)
    return instructions(lanes * working, VECTORS, of.rows) + packing


def price_of_misses(depth: int, width: int, rows: float, dtype: DType, machine: Machine) -> float:
    """What a tile costs on top, in the same unit, where w is not packed.

    Its strip of w, `width` elements of each row, is read again for each tile below the last one:
    from further away, if half of the first cache, which holds whole lines, cannot keep it.
    """
    lines = -(-width * dtype.size // LINE)  # of each row
    kept = depth * lines * LINE <= machine.cache1 // 2
    return 0.0 if kept else AWAY / rows / machine.lanes(dtype)
