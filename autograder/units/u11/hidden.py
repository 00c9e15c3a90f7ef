"""Hidden checks of unit 11: other seeds, larger programs, other sizes and chips.

What needs xDSL is imported where it is used. Next room: mutants, the answers that all of these
checks are tried on.
"""

from __future__ import annotations

from dataclasses import replace

from autograder.check.framework import harder, hidden
from autograder.units.u11.checks import EACH, LEFT, right_bytes
from autograder.units.u11.checks.operations import asked, printed, refused, right_vmax, wrong_ones
from autograder.units.u11.checks.programs import straight
from autograder.units.u11.checks.tiles import CUT, LAST, SIZE, Product, products, right_tiles
from autograder.units.u11.checks.turns import FITS, right_turns
from course_lib.accelerator.chip import PRESETS
from course_lib.accelerator.compile.tiles import PIXELS_FIRST, WEIGHTS_FIRST, Tile
from course_lib.mlir.npu.example import linalg_text

SEED = 110_811
harder("u11.turns", "contents_take_turns", seed=SEED, given=straight(12), examples=12)


@hidden("u11.moved", seed=SEED)
def other_products(moved, rng):
    """Sizes that were drawn for this run."""
    for _ in range(8):
        m, k, n = (int(size) for size in rng.integers(1, 30, 3))
        tm, tn = (int(rng.integers(-(-size // 5), size + 3)) for size in (m, n))
        for outer in ("rows", "columns"):
            one = -(-m // tm) == 1 or -(-n // tn) == 1
            case = m, k, n, tm, tn, outer
            right_bytes(moved, case, counted(*case), LEFT if one else EACH)


def counted(m: int, k: int, n: int, tm: int, tn: int, outer: str) -> int:
    """What a program of the library's compiler moves, for an array that is `tn` wide."""
    from course_lib.mlir.npu import counts
    from course_lib.mlir.npu.stages import compile_npu

    chip = replace(PRESETS["npu"], cols=tn)
    order = WEIGHTS_FIRST if outer == "columns" else PIXELS_FIRST
    text = linalg_text(m, k, n, pipeline=False)
    done = compile_npu(text, chip, until="keep", without=["double_buffer"],
                       choose=lambda *_: Tile(1, tm, k, 1, order))  # fmt: skip
    return sum(counts.moved(done.modules["keep"]).values())


@hidden("u11.greatest", seed=SEED)
def other_matrices(greatest, rng):
    """Right and wrong sizes, drawn for this run."""
    for _ in range(5):
        printed(greatest, asked(rng).text())
    for text, spec, words in wrong_ones(rng, pairs=12, alone=False):
        refused(greatest, text, spec, words)


@hidden("u11.tiled", seed=SEED, spec=[SIZE, LAST, CUT])
def other_sizes(tiled, rng):
    """Sizes that were drawn for this run, on two chips."""
    for _ in range(5):
        m, k, n = (int(size) for size in rng.integers(1, 14, 3))
        right_tiles(tiled, products(Product(m, k, n)), int(rng.integers(-(-m // 4), 9)), SIZE)
    m, k, n = (int(size) for size in rng.integers((130, 5, 30), (170, 20, 70)))
    right_tiles(tiled, products(Product(m, k, n), chip='{preset = "npu"}'), 110, SIZE)
    two = products(Product(m, 5, 4), Product(3, k, 9))
    right_tiles(tiled, two, 8, CUT)


@hidden("u11.turns", seed=SEED)
def more_slots(turns, rng):
    """The visible programs with other numbers of slots."""
    for k in rng.permutation(len(FITS))[:3]:
        right_turns(turns, FITS[int(k)][0], int(rng.integers(1, 10)))


@hidden("u11.vmax", seed=SEED)
def other_windows(vmax, rng):
    """Sizes and places that were drawn for this run, on two chips."""
    for _ in range(20):
        rows, results, n = (int(size) for size in (*rng.integers(1, 16, 1), *rng.integers(1, 7, 2)))
        src = int(rng.integers(0, 1024 - rows * results * n - results * n))
        at = src + rows * results * n
        for chip in (PRESETS["teaching"], PRESETS["npu"]):
            right_vmax(vmax, (src, at, rows * results, n, rows), chip)
