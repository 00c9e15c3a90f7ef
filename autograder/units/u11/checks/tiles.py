"""Visible checks of unit 11 about a product in tiles.

What needs xDSL is imported where it is used: it need not be installed.
Next room: turns.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple

from autograder.check.framework import Wrong, checks
from autograder.units.u11.checks import programs
from autograder.units.u11.checks.programs import memref, parameter
from course_lib.accelerator.chip import PRESETS

# ── tiles ──

CUT = "Cut every `npu.product` into tiles"
SUMS = "a program with products into int32 sums"
TILE = "rewritten(text, Tile()), where Tile is a pattern of yours"
SIZE = "A tile of y has `rows` rows, and as many columns as the array of the module's chip"
OF = "how many rows of x and of y a tile has"
LAST = "Where the sizes do not divide evenly, the last tiles are smaller"
ORDER = "Rows are outside: all tiles of the first rows come first, from left to right"
LOAD = (
    "For each tile, load its rows of x and its columns of w, in either order, multiply, and store "
    "the sums"
)
BUFFERS = (
    "A product has one buffer in `acts`, one in `weights` and one in `accs`, each with one slot"
)
SMALL = "The slot is as high as its largest tile"
WIDE = "in `acts` it is as wide as that tile, in the other two as wide as the array"
STAY = 'Sums stay in the cells (`"os"`)'

TEACHING = '{preset = "teaching"}'
NARROW = '{preset = "teaching", cols = 2 : i64}'


class Product(NamedTuple):
    """x[m, k] @ w[k, n]"""

    m: int
    k: int
    n: int

    def types(self, cols: int) -> tuple[str, str, str]:
        return (memref(f"{self.m}x{self.k}", "i8", "dram"),
                memref(f"{self.k}x{self.n}", "i8", "dram", f"#npu.panels<{cols}>, "),
                memref(f"{self.m}x{self.n}", "i32", "dram"))  # fmt: skip


def products(*sizes: Product, chip: str = TEACHING) -> str:
    """A function with products of these sizes, one after another, each on arrays of its own."""
    cols = 2 if chip == NARROW else PRESETS["npu"].cols if '"npu"' in chip else 4
    parameters, lines = {}, []
    for number, size in enumerate(sizes):
        x, w, y = size.types(cols)
        names = [f"{name}{number}" for name in "xwy"]
        parameters |= dict(zip(names, (x, w, y), strict=True))
        a, b, c = names
        lines.append(f"npu.product %{a}, %{b} into %{c} : {x}, {w} into {y}")
    return programs.module(parameters, *lines, chip=chip)


CASES = [
    (products(Product(8, 4, 4)), 4, LOAD),
    (products(Product(8, 4, 8)), 4, ORDER),
    (products(Product(10, 4, 4)), 4, LAST),
    (products(Product(4, 4, 6)), 4, LAST),
    (products(Product(7, 9, 5)), 3, SIZE),
    (products(Product(3, 250, 3)), 16, SMALL),
    (products(Product(3, 2, 5)), 1, SIZE),
    (products(Product(8, 4, 8), chip=NARROW), 4, SIZE),
    (products(Product(5, 6, 7), Product(6, 3, 2)), 4, CUT),
]


@checks("u11.tiled", spec=[CUT, SUMS, TILE, SIZE, OF, LAST, ORDER, LOAD, STAY, BUFFERS,
        SMALL, WIDE])  # fmt: skip
def products_in_tiles(tiled):
    """The program has the right tiles, in the right order, and computes the products."""
    for text, rows, spec in CASES:
        right_tiles(tiled, text, rows, spec)
    return f"{len(CASES)} programs"


def right_tiles(tiled: Any, text: str, rows: int, spec: str) -> None:
    """The answer does what is asked, tile by tile."""
    from lessons.u11.dialect import parsed, steps

    called = f"tiled(text, {rows}), where text is\n{text}"
    module, wrong = programs.result(lambda: tiled(text, rows), called, TILE, spec)
    tiles = [*_tiles(wrong, steps(module))]
    for number, op in enumerate(steps(parsed(text))):
        name = parameter(op.operands[2])
        mine = [tile for tile in tiles if tile.array == name]
        _right_windows(wrong, mine, op, rows)
        if [tile.array for tile in tiles[: len(mine)]] != [name] * len(mine):
            raise wrong(f"The tiles of product {number} must come one after another.", spec=ORDER)
        tiles = tiles[len(mine) :]
    programs.same_contents(wrong, text, module, spec)
    _small_buffers(wrong, module, text, rows)


class Tile(NamedTuple):
    """What one tile loads, and where it is stored: positions and sizes."""

    array: int  # which parameter y is
    x: tuple[tuple[int, ...], tuple[int, ...]]
    w: tuple[tuple[int, ...], tuple[int, ...]]
    y: tuple[tuple[int, ...], tuple[int, ...]]


def _tiles(wrong: Callable[..., Wrong], operations: list[Any]) -> Iterator[Tile]:
    """Up to each store: two loads in either order, a product, and a clear if the product adds."""
    from course_lib.mlir.npu.machine import space_of

    ends = [k for k, op in enumerate(operations, 1) if op.name == "npu.dma_store"]
    bounds = [0, *ends, *([len(operations)] if ends[-1:] != [len(operations)] else [])]
    for number, (first, end) in enumerate(pairwise(bounds)):
        tile = f"ile {number}, counted from 0,"
        four = [op for op in operations[first:end] if op.name != "npu.clear"]
        names = ", ".join(op.name.removeprefix("npu.") for op in four)
        if names != "dma_load, dma_load, matmul, dma_store":
            raise wrong(f"T{tile} must be two loads, a product and a store, but is {names}.",
                        spec=LOAD)  # fmt: skip
        loads = sorted(four[:2], key=lambda op: space_of(op.tile.type))
        if [space_of(op.tile.type) for op in loads] != ["acts", "weights"]:
            raise wrong(f"T{tile} must load into `acts` and into `weights`.", spec=LOAD)
        if (flow := four[2].dataflow.data) != "os":
            raise wrong(f'The product of t{tile} has the dataflow "{flow}".', spec=STAY)
        if four[2].overwrite is None and len(four) == end - first:
            raise wrong(f"The product of t{tile} adds to sums that nothing has set. It must "
                        "overwrite them.", spec=LOAD)  # fmt: skip
        windows: list[Any] = [tuple(map(tuple, op.window)) for op in (*loads, four[3])]
        if not all(isinstance(n, int) for window in windows for part in window for n in part):
            raise wrong(f"Positions and sizes of t{tile} must be numbers.", spec=LOAD)
        yield Tile(parameter(four[3].array), *windows)


def _right_windows(wrong: Callable[..., Wrong], tiles: list[Tile], product: Any, rows: int) -> None:
    """Every tile begins where tiles begin, is whole or ends where y does, and loads what it
    needs; they cover y, in order."""
    from course_lib.mlir.npu.machine import chip_of
    from course_lib.mlir.npu.rules import shape

    whole, depth = shape(product.y), shape(product.x)[1]
    full = (rows, chip_of(product).cols)
    for number, (_, *loads, (at, sizes)) in enumerate(tiles):
        tile = f"Tile {number}, counted from 0,"
        if any(a % most for a, most in zip(at, full, strict=True)):
            raise wrong(f"{tile} begins at {[*at]}, but tiles must begin at multiples of "
                        f"{[*full]}.", spec=SIZE)  # fmt: skip
        for a, size, most, end in zip(at, sizes, full, whole, strict=True):
            if size > most or (size < most and a + size != end):
                raise wrong(f"{tile} has the sizes {[*sizes]}, but must be {[*full]}, or smaller "
                            "where y ends.", spec=LAST)  # fmt: skip
        needs = ((at[0], 0), (sizes[0], depth)), ((0, at[1]), (depth, sizes[1]))
        for name, mine, need in zip("xw", loads, needs, strict=True):
            if mine != need:
                does, must = (f"{name}{[*one[0]]} {[*one[1]]}" for one in (mine, need))
                raise wrong(f"{tile} loads {does}, but must load {must}.", spec=LOAD)
    places = [tile.y[0] for tile in tiles]
    covered, elements = sum(h * w for *_, (_, (h, w)) in tiles), whole[0] * whole[1]
    if covered != elements:
        raise wrong(f"The tiles must cover y once. They have {covered} elements, but y has "
                    f"{elements}.", spec=CUT)  # fmt: skip
    if places != sorted(places):
        raise wrong(f"The tiles must come row by row, from left to right, but begin at {places}.",
                    spec=ORDER)  # fmt: skip


def _small_buffers(wrong: Callable[..., Wrong], module: Any, text: str, rows: int) -> None:
    """Three buffers for each product, none larger than its largest tile."""
    from course_lib.mlir.npu.machine import chip_of, space_of
    from course_lib.mlir.npu.rules import shape
    from lessons.u11.dialect import buffers, parsed, steps

    sizes = []
    for op in steps(parsed(text)):
        m, k = shape(op.operands[0])
        sizes.append((min(m, rows), k, chip_of(op).cols))
    by_space: dict[str, list[tuple[int, ...]]] = {}
    for op in buffers(module):
        by_space.setdefault(space_of(op.result.type), []).append(shape(op.result))
    needed = {"acts": [(1, h, k) for h, k, _ in sizes], "weights": [(1, k, c) for _, k, c in sizes],
              "accs": [(1, h, c) for h, _, c in sizes]}  # fmt: skip
    for space, right in needed.items():
        mine = by_space.get(space, [])
        if sorted(mine) != sorted(right):
            raise wrong(f"The buffers in {space} must be {_sizes(right)}, but are {_sizes(mine)}.",
                        spec=SMALL if len(mine) == len(right) else BUFFERS)  # fmt: skip


def _sizes(shapes: list[tuple[int, ...]]) -> str:
    return ", ".join("x".join(map(str, one)) for one in shapes) or "missing"
